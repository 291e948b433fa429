//! Changes to the text of a `types.json` or `teams.json`. Pure: a text goes in
//! and the new one comes out, and whatever was not asked to change is there
//! byte for byte. A text that can't be understood is never changed.

mod style;

use std::ops::Range;

use serde_json::{Map, Value};

use self::style::{Style, write_value};
use super::check::{self, Fault, quote};
use super::parse::split_mark;
use super::scan::{self, Member};
use super::{Kind, read};
use crate::diagnostic::Diagnostic;
use crate::names::EntryName;

/// Why a text was not changed. Places in the diagnostics have no file yet.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The text can't be read as a whole: to write it would lose all of it.
    #[error("the file is damaged, so it is left as it is: {}", .0.message)]
    Damaged(Diagnostic),
    /// The entry is there but can't be read.
    #[error("the entry can't be read, so it is left as it is: {}", .0.message)]
    Unreadable(Diagnostic),
    /// The fields that were to be set are not right.
    #[error("{}", .0.message)]
    Invalid(Diagnostic),
}

impl EditError {
    /// What is wrong, with line and column where it is about the text.
    pub fn diagnostic(&self) -> &Diagnostic {
        match self {
            Self::Damaged(diagnostic) | Self::Unreadable(diagnostic) | Self::Invalid(diagnostic) => {
                diagnostic
            }
        }
    }
}

/// The text with these fields of an entry set. Other fields of the entry, and
/// all other entries, stay as they are; `null` resets a field. For
/// `tool_permission` an object sets the categories in it and keeps the others.
/// An entry that is not there is added at the end, in the manner of the rest,
/// and `None` is a file that is not there.
///
/// # Errors
/// See [`EditError`].
pub fn set_entry(
    text: Option<&str>,
    kind: Kind,
    name: &EntryName,
    fields: &[(&str, Value)],
) -> Result<String, EditError> {
    let fields = validate(kind, name, fields)?;
    let (mark, body) = split_mark(text.unwrap_or("{}\n"));
    let found = find(body, kind, name)?;
    let style = Style::of(body);
    let mut splices = Splices::default();
    if let Some(fault) = found.fault {
        return Err(EditError::Unreadable(fault));
    }
    if let Some(index) = found.at {
        set_fields(body, &style, found.members[index].value.start, &fields, &mut splices);
    } else {
        let mut entry = Map::new();
        if !found.keyed {
            entry.insert("name".to_owned(), name.as_str().into());
        }
        entry.extend(fields);
        let key = found.keyed.then_some(name.as_str());
        let top = scan::skip_space(body, 0);
        add_members(body, &style, top, &[(key, &Value::Object(entry))], &mut splices);
    }
    Ok(mark.to_owned() + &splices.apply(body))
}

/// The text without an entry; `None` if it has none of this name. One that
/// can't be read goes too: that is what was asked for.
///
/// # Errors
/// [`EditError::Damaged`].
pub fn remove_entry(text: &str, kind: Kind, name: &EntryName) -> Result<Option<String>, EditError> {
    let (mark, body) = split_mark(text);
    let found = find(body, kind, name)?;
    let Some(index) = found.at else { return Ok(None) };
    let begin = |member: &Member| member.key.start;
    let gone = match (index.checked_sub(1), found.members.get(index + 1)) {
        (Some(before), _) => found.members[before].value.end..found.members[index].value.end,
        (None, Some(after)) => begin(&found.members[index])..begin(after),
        (None, None) => {
            let end = found.members[index].value.end;
            scan::skip_space(body, 0) + 1..scan::skip_space(body, end)
        }
    };
    let mut splices = Splices::default();
    splices.replace(gone, String::new());
    Ok(Some(mark.to_owned() + &splices.apply(body)))
}

/// A text that was understood, and where in it an entry is.
struct Found {
    members: Vec<Member>,
    /// The file is an object and not a list.
    keyed: bool,
    /// The index of the entry.
    at: Option<usize>,
    /// What is wrong with the entry.
    fault: Option<Diagnostic>,
}

fn find(body: &str, kind: Kind, name: &EntryName) -> Result<Found, EditError> {
    let values = read::top_level(body).map_err(EditError::Damaged)?;
    let top = scan::skip_space(body, 0);
    let members: Vec<Member> = scan::members(body, top).collect();
    let keyed = body.as_bytes().get(top) == Some(&b'{');
    let label = |(key, value): &(Option<String>, Value)| match key {
        Some(key) => key == name.as_str(),
        None => value.get("name").and_then(Value::as_str) == Some(name.as_str()),
    };
    let at = values.iter().position(label);
    let fault = at.and_then(|index| {
        let (key, value) = values.into_iter().nth(index)?;
        let fault = read::fault_of(kind, key.as_deref(), value)?;
        let offset = scan::locate(body, members[index].value.start, &fault.path, fault.on_key);
        let position = super::position::position_of(body.as_bytes(), offset);
        Some(fault.diagnostic().at(position.line, position.column))
    });
    Ok(Found { members, keyed, at, fault })
}

/// The fields as one object, each once.
fn validate(kind: Kind, name: &EntryName, fields: &[(&str, Value)]) -> Result<Map<String, Value>, EditError> {
    let map: Map<String, Value> =
        fields.iter().map(|(field, value)| ((*field).to_owned(), value.clone())).collect();
    let checked = check::entry(kind, map.clone());
    let fault = checked.faults.into_iter().next().map(Fault::diagnostic).or_else(|| {
        let (field, _) = fields.iter().find(|(field, _)| !kind.fields().contains(field))?;
        Some(Diagnostic::new("unknown-field", format!("it has no field {}", quote(field))))
    });
    match fault {
        None => Ok(map),
        Some(fault) => {
            let message = format!("{} `{name}` is not written: {}", kind.described(), fault.message);
            Err(EditError::Invalid(Diagnostic { message, ..fault }))
        }
    }
}

/// Sets members of the object at `open`: in place where they are, at the end
/// where they are not.
fn set_fields(body: &str, style: &Style, open: usize, fields: &Map<String, Value>, splices: &mut Splices) {
    let mut missing = Vec::new();
    for (field, value) in fields {
        let Some(member) = scan::member(body, open, field) else {
            missing.push((Some(field.as_str()), value));
            continue;
        };
        match value {
            Value::Object(categories)
                if field == "tool_permission" && body[member.value.clone()].starts_with('{') =>
            {
                set_fields(body, style, member.value.start, categories, splices);
            }
            _ => {
                let mut written = String::new();
                let shape = style.shape_of(body, open);
                write_value(&mut written, value, style, &shape.inside());
                splices.replace(member.value, written);
            }
        }
    }
    add_members(body, style, open, &missing, splices);
}

/// Adds members at the end of the object, or elements at the end of the list,
/// that begins at `open`.
fn add_members(
    body: &str,
    style: &Style,
    open: usize,
    added: &[(Option<&str>, &Value)],
    splices: &mut Splices,
) {
    if added.is_empty() {
        return;
    }
    let shape = style.shape_of(body, open);
    let last = scan::members(body, open).last();
    let mut written = String::new();
    for (index, (key, value)) in added.iter().enumerate() {
        if index > 0 || last.is_some() {
            written.push(',');
        }
        shape.separate(&mut written, index == 0 && last.is_none());
        if let Some(key) = key {
            written.push_str(&Value::from(*key).to_string());
            written.push_str(&style.colon);
        }
        write_value(&mut written, value, style, &shape.inside());
    }
    let at = match &last {
        Some(last) => last.value.end,
        None => open + 1,
    };
    // Where something stands before the closing bracket, it serves as before.
    if last.is_none() && !body[at..scan::skip_space(body, at)].contains('\n') {
        shape.close(&mut written);
    }
    splices.replace(at..at, written);
}

/// Replacements in a text, applied together.
#[derive(Default)]
struct Splices(Vec<(Range<usize>, String)>);

impl Splices {
    fn replace(&mut self, range: Range<usize>, with: String) {
        self.0.push((range, with));
    }

    fn apply(mut self, body: &str) -> String {
        self.0.sort_by_key(|(range, _)| (range.start, range.end));
        let mut changed = String::with_capacity(body.len() + 256);
        let mut from = 0;
        for (range, with) in self.0 {
            changed.push_str(&body[from..range.start]);
            changed.push_str(&with);
            from = range.end;
        }
        changed + &body[from..]
    }
}
