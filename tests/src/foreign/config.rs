//! A project's `config.json`, beside the user's own, which stands after a NUL.

use replio::catalog::{parse_document, position_of_key};
use replio::config::{Matter, matters};
use replio::diagnostic::Diagnostic;
use serde_json::{Map, Value};

/// The two files.
///
/// # Panics
/// When what must hold doesn't.
pub fn config_json(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (text, global) = text.split_once('\0').unwrap_or((text, "{}"));
    let (Some(local), Some(global)) = (object(text), object(global)) else { return };
    let found = matters(&local, &global);
    for matter in &found {
        assert!(!matter.why.is_empty());
        let position = position_of_key(text, &matter.path);
        let at = Diagnostic::new("matter", matter.key()).at(position.line, position.column);
        super::check_place(&at, text.as_bytes());
    }
    // What the user has already is nothing new, and what was not found can wait.
    assert_eq!(matters(&local, &local), []);
    assert_eq!(matters(&without(local, &found), &global), []);
}

fn object(text: &str) -> Option<Map<String, Value>> {
    match parse_document(text) {
        Ok(Value::Object(object)) => Some(object),
        Ok(_) => None,
        Err(error) => {
            super::check_place(&error, text.as_bytes());
            None
        }
    }
}

/// The settings that are left when these are not made.
fn without(mut settings: Map<String, Value>, found: &[Matter]) -> Map<String, Value> {
    for matter in found {
        match (settings.get_mut(matter.path[0]), matter.path.get(1)) {
            (Some(Value::Object(inner)), Some(key)) => drop(inner.shift_remove(*key)),
            _ => drop(settings.shift_remove(matter.path[0])),
        }
    }
    settings
}
