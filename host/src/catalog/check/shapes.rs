//! The shape of each field: texts, lists of texts, permissions, stages, loops.
//! `null` is right everywhere but where a value is required.

use serde_json::{Map, Value};

use super::{Fault, Ignored, MOST_IGNORED, is_metadata, quote};
use crate::catalog::scan::Step;
use crate::catalog::{Action, Category, Reference};
use crate::names::nearest;

const STAGE_FIELDS: [&str; 4] = ["type", "task_hint", "handoff_note", "skills"];
const LOOP_FIELDS: [&str; 4] = ["from", "until", "max_iterations", "verdict"];

pub(super) fn text(code: &'static str, what: &str, value: &Value) -> Result<(), Fault> {
    match value {
        Value::Null | Value::String(_) => Ok(()),
        other => Err(Fault::wrong(code, what, "a text", other)),
    }
}

pub(super) fn texts(what: &str, value: &Value) -> Result<(), Fault> {
    let list = match value {
        Value::Null => return Ok(()),
        Value::Array(list) => list,
        other => return Err(Fault::wrong("wrong-type", what, "a list of texts", other)),
    };
    match list.iter().position(|item| !item.is_string()) {
        Some(at) => {
            let what = format!("{what} must be a list of texts, and element {}", at + 1);
            Err(Fault::wrong("wrong-type", &what, "one", &list[at]).inside(Step::Index(at)))
        }
        None => Ok(()),
    }
}

pub(super) fn permission(value: &Value) -> Result<(), Fault> {
    let map = match value {
        Value::Null => return Ok(()),
        Value::Object(map) => map,
        other => {
            let expected = "an object from category to action";
            return Err(Fault::wrong("wrong-type", "tool_permission", expected, other));
        }
    };
    for (category, action) in map.iter().filter(|(key, _)| !is_metadata(key)) {
        if let Err(unknown) = category.parse::<Category>() {
            let message = format!("{} is no permission category; {unknown}", quote(category));
            let fault = Fault::new("unknown-permission", message).suggest(unknown.nearest);
            return Err(fault.on_key().key(category));
        }
        let what = format!("tool_permission.{category}");
        match action {
            Value::Null => {}
            Value::String(word) => {
                if let Err(unknown) = word.parse::<Action>() {
                    let message = format!("{what} is {}; {unknown}", quote(word));
                    let fault = Fault::new("unknown-action", message).suggest(unknown.nearest);
                    return Err(fault.key(category));
                }
            }
            other => {
                let fault = Fault::wrong("unknown-action", &what, "allow, ask or deny", other);
                return Err(fault.key(category));
            }
        }
    }
    Ok(())
}

pub(super) fn stages(value: &Value, ignored: &mut Vec<Ignored>) -> Result<(), Fault> {
    let list = match value {
        Value::Null => return Ok(()),
        Value::Array(list) => list,
        other => return Err(Fault::wrong("bad-stage", "stages", "a list", other)),
    };
    for (at, stage) in list.iter().enumerate() {
        let number = at + 1;
        let step = Step::Index(at);
        match stage {
            Value::String(_) => reference("bad-stage", &format!("stage {number}"), Some(stage))
                .map_err(|fault| fault.inside(step))?,
            Value::Object(map) => {
                let path = [Step::Key("stages".to_owned()), step.clone()];
                ignore(map, "stages", &STAGE_FIELDS, &path, ignored);
                stage_object(number, map).map_err(|fault| fault.inside(step))?;
            }
            other => {
                let what = format!("stage {number}");
                let expected = "the name of an agent type, or an object with `type`";
                return Err(Fault::wrong("bad-stage", &what, expected, other).inside(step));
            }
        }
    }
    Ok(())
}

fn stage_object(number: usize, map: &Map<String, Value>) -> Result<(), Fault> {
    required(map, "bad-stage", &format!("stage {number}"), "type")?;
    for name in ["task_hint", "handoff_note"] {
        let value = map.get(name).unwrap_or(&Value::Null);
        text("bad-stage", &format!("{name} of stage {number}"), value).map_err(|fault| fault.key(name))?;
    }
    texts(&format!("skills of stage {number}"), map.get("skills").unwrap_or(&Value::Null))
        .map_err(|fault| Fault { code: "bad-stage", ..fault }.key("skills"))
}

pub(super) fn team_loop(value: &Value, ignored: &mut Vec<Ignored>) -> Result<(), Fault> {
    let map = match value {
        Value::Null => return Ok(()),
        Value::Object(map) => map,
        other => {
            let expected = "an object with `from` and `until`";
            return Err(Fault::wrong("bad-loop", "loop", expected, other));
        }
    };
    ignore(map, "loop", &LOOP_FIELDS, &[Step::Key("loop".to_owned())], ignored);
    required(map, "bad-loop", "loop", "from")?;
    required(map, "bad-loop", "loop", "until")?;
    let fault = match (map.get("max_iterations"), map.get("verdict")) {
        (Some(other), _) if !other.is_null() && !is_count(other) => {
            Fault::wrong("bad-loop", "max_iterations of the loop", "a whole number from 1 on", other)
                .key("max_iterations")
        }
        (_, Some(Value::String(verdict))) if verdict.trim().is_empty() => {
            let message = "the verdict of the loop must not be empty: every answer would match it";
            Fault::new("bad-loop", message).key("verdict")
        }
        (_, Some(other)) => {
            return text("bad-loop", "the verdict of the loop", other).map_err(|fault| fault.key("verdict"));
        }
        _ => return Ok(()),
    };
    Err(fault)
}

fn is_count(value: &Value) -> bool {
    value.as_u64().is_some_and(|count| count >= 1 && u32::try_from(count).is_ok())
}

/// A field that has to be there and to name an agent type.
fn required(map: &Map<String, Value>, code: &'static str, what: &str, field: &str) -> Result<(), Fault> {
    match map.get(field) {
        None => {
            let known = map.keys().map(String::as_str).filter(|key| !is_metadata(key));
            let fault = Fault::new(code, format!("{what} has no `{field}`"));
            Err(match nearest(field, known) {
                Some(near) => fault.help(format!("is {} meant to be `{field}`?", quote(near))),
                None => fault,
            })
        }
        value => reference(code, &format!("{field} of {what}"), value).map_err(|fault| fault.key(field)),
    }
}

fn reference(code: &'static str, what: &str, value: Option<&Value>) -> Result<(), Fault> {
    match value.unwrap_or(&Value::Null) {
        Value::String(name) => match name.parse::<Reference>() {
            Ok(_) => Ok(()),
            Err(_) => Err(Fault::new(code, format!("{what} is {}, which can't be a name", quote(name)))
                .help("a name has letters, digits, '.', '_' and '-'; `plugin/name` is that plugin's own")),
        },
        other => Err(Fault::wrong(code, what, "the name of an agent type", other)),
    }
}

/// Notes the keys of an inner object that nobody knows.
fn ignore(
    map: &Map<String, Value>,
    outer: &str,
    known: &'static [&'static str],
    path: &[Step],
    ignored: &mut Vec<Ignored>,
) {
    for key in map.keys().filter(|key| !known.contains(&key.as_str()) && !is_metadata(key)) {
        if ignored.len() >= MOST_IGNORED {
            return;
        }
        let mut path = path.to_vec();
        path.push(Step::Key(key.clone()));
        let nearest = nearest(key, known.iter().copied());
        ignored.push(Ignored { name: format!("{outer}.{key}"), path, nearest });
    }
}
