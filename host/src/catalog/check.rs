//! Whether the fields of one entry have the right shape, and what exactly is
//! wrong with the one that has not.

mod shapes;

use serde_json::{Map, Value};

use super::Kind;
use super::scan::Step;
use crate::diagnostic::Diagnostic;
use crate::names::nearest;

/// How many unknown fields of one entry, and of one file, are told.
pub(super) const MOST_IGNORED: usize = 50;

/// What is wrong with an entry, and on the way to which value.
#[derive(Debug, Clone)]
pub(super) struct Fault {
    pub(super) code: &'static str,
    pub(super) message: String,
    pub(super) help: Option<String>,
    pub(super) path: Vec<Step>,
    /// The key is at fault, not its value.
    pub(super) on_key: bool,
}

impl Fault {
    pub(super) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), help: None, path: Vec::new(), on_key: false }
    }

    /// A value that is not what it has to be.
    pub(super) fn wrong(code: &'static str, what: &str, expected: &str, found: &Value) -> Self {
        Self::new(code, format!("{what} must be {expected}, not {}", described(found)))
    }

    fn suggest(mut self, nearest: Option<&str>) -> Self {
        self.help = nearest.map(|nearest| format!("did you mean `{nearest}`?"));
        self
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    fn on_key(mut self) -> Self {
        self.on_key = true;
        self
    }

    /// The same fault, seen from the value around it.
    fn inside(mut self, step: Step) -> Self {
        self.path.insert(0, step);
        self
    }

    fn key(self, key: &str) -> Self {
        self.inside(Step::Key(key.to_owned()))
    }

    pub(super) fn diagnostic(self) -> Diagnostic {
        let diagnostic = Diagnostic::new(self.code, self.message);
        match self.help {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        }
    }
}

/// A field that nobody knows.
#[derive(Debug, Clone)]
pub(super) struct Ignored {
    /// Its name, with the field that it is inside: `stages.hint`.
    pub(super) name: String,
    pub(super) path: Vec<Step>,
    /// The known one that was probably meant.
    pub(super) nearest: Option<&'static str>,
}

/// The fields of an entry after the check.
pub(super) struct Checked {
    /// The known fields.
    pub(super) fields: Map<String, Value>,
    pub(super) ignored: Vec<Ignored>,
    /// One for each field at fault.
    pub(super) faults: Vec<Fault>,
}

/// Checks all fields of an entry and drops what is not one.
pub(super) fn entry(kind: Kind, mut fields: Map<String, Value>) -> Checked {
    let (mut ignored, mut faults) = (Vec::new(), Vec::new());
    let mut foreign = false;
    for (name, value) in &fields {
        if kind.fields().contains(&name.as_str()) {
            if let Err(fault) = field(name, value, &mut ignored) {
                faults.push(fault);
            }
            continue;
        }
        foreign = true;
        if name != "name" && !is_metadata(name) && ignored.len() < MOST_IGNORED {
            ignored.push(Ignored {
                name: name.clone(),
                path: vec![Step::Key(name.clone())],
                nearest: nearest(name, kind.fields().iter().copied()),
            });
        }
    }
    if foreign {
        fields.retain(|name, _| kind.fields().contains(&name.as_str()));
    }
    Checked { fields, ignored, faults }
}

fn field(name: &str, value: &Value, ignored: &mut Vec<Ignored>) -> Result<(), Fault> {
    match name {
        "skills" | "tags" => shapes::texts(name, value),
        "tool_permission" => shapes::permission(value),
        "stages" => shapes::stages(value, ignored),
        "loop" => shapes::team_loop(value, ignored),
        _ => shapes::text("wrong-type", name, value),
    }
    .map_err(|fault| fault.key(name))
}

/// Whether a key carries no data: `$schema`, `$comment`.
pub(super) fn is_metadata(key: &str) -> bool {
    key.starts_with('$')
}

/// A text from outside in a message: quoted, escaped, and not too long.
pub(super) fn quote(text: &str) -> String {
    const LONGEST: usize = 64;
    let short: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    let dots = if text.chars().nth(LONGEST).is_some() { "…" } else { "" };
    format!("`{short}{dots}`")
}

/// `a team`, `an agent type`.
pub(super) fn article(noun: &str) -> String {
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {noun}")
}

fn described(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the text {}", quote(text)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}
