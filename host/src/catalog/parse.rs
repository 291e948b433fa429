//! JSON, strictly: a key that stands twice in one object is an error, and an
//! error says where it is.

use std::cell::Cell;
use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::{Map, Number, Value};

use super::check::quote;
use super::position::position_of;
use super::scan;
use crate::diagnostic::Diagnostic;

/// A value takes many times the memory of the two bytes that it may be
/// written with. No file that people or programs write comes near.
const MOST_VALUES: usize = 4_000_000;
const TOO_MANY: &str = "it holds more than four million values";

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// The mark, when the text begins with one, and the text after it.
pub(super) fn split_mark(text: &str) -> (&str, &str) {
    match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => (BYTE_ORDER_MARK, rest),
        None => ("", text),
    }
}

/// The text of a file without its byte-order mark.
///
/// # Errors
/// The first byte that is not UTF-8.
pub(super) fn decode(mut bytes: Vec<u8>) -> Result<String, Diagnostic> {
    if bytes.starts_with(BYTE_ORDER_MARK.as_bytes()) {
        bytes.drain(..BYTE_ORDER_MARK.len());
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let position = position_of(error.as_bytes(), valid);
        let byte = error.as_bytes().get(valid).copied().unwrap_or_default();
        Diagnostic::new("not-utf8", format!("the byte 0x{byte:02x} is not UTF-8"))
            .help("save the file as UTF-8")
            .at(position.line, position.column)
    })
}

/// The value of a whole text, which has no byte-order mark.
///
/// # Errors
/// A text that is not JSON, or nested too deep, or repeats a key.
pub(super) fn parse(text: &str) -> Result<Value, Diagnostic> {
    let (repeated, count) = (Cell::new(false), Cell::new(0));
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = Strict { repeated: &repeated, count: &count }
        .deserialize(&mut deserializer)
        .and_then(|value| deserializer.end().map(|()| value))
        .map_err(|error| damage(text, &error))?;
    if repeated.get()
        && let Some(key) = scan::repeated_key(text, scan::skip_space(text, 0))
    {
        let position = position_of(text.as_bytes(), key.start);
        let name = scan::literal(text, &key);
        return Err(Diagnostic::new("repeated-key", format!("the key {} stands twice here", quote(&name)))
            .help("keep one of the two")
            .at(position.line, position.column));
    }
    Ok(value)
}

fn damage(text: &str, error: &serde_json::Error) -> Diagnostic {
    let whole = error.to_string();
    let message = whole.rsplit_once(" at line ").map_or(whole.as_str(), |(message, _)| message);
    let (code, message, help) = if message == TOO_MANY {
        ("too-large", TOO_MANY.to_owned(), None)
    } else if message.starts_with("recursion limit") {
        ("too-deep", "it is nested deeper than 127 levels".to_owned(), None)
    } else if text.trim().is_empty() {
        ("bad-json", "it is empty, which is not JSON".to_owned(), Some("write {} into it, or delete it"))
    } else if error.classify() == Category::Eof {
        ("bad-json", format!("it ends too early: {message}"), None)
    } else {
        ("bad-json", format!("it is not JSON: {message}"), None)
    };
    // The parser counts bytes; people and editors count characters.
    let line = error.line().max(1);
    let bytes = text.split('\n').nth(line - 1).unwrap_or_default().as_bytes();
    let column = position_of(bytes, error.column().saturating_sub(1)).column;
    let diagnostic = Diagnostic::new(code, message).at(line, column);
    match help {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

/// Builds a `Value` and notes whether a key was repeated. It goes on after
/// one, so that a mistake of syntax further down is still the first to be told.
#[derive(Clone, Copy)]
struct Strict<'cell> {
    repeated: &'cell Cell<bool>,
    count: &'cell Cell<usize>,
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.count.set(self.count.get() + 1);
        if self.count.get() > MOST_VALUES {
            return Err(D::Error::custom(TOO_MANY));
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(element) = elements.next_element_seed(self)? {
            list.push(element);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            if map.insert(key, members.next_value_seed(self)?).is_some() {
                self.repeated.set(true);
            }
        }
        Ok(Value::Object(map))
    }
}
