//! Files of ours for others to read: JSON documents as strictly as the catalog's
//! own, and texts as they stand.

use std::path::Path;

use serde_json::Value;

use super::position::position_of;
use super::scan::{self, Step};
use super::{Position, bounded, parse};
use crate::diagnostic::Diagnostic;

/// The JSON document in a file; `None` when there is no file.
///
/// # Errors
/// When it is no regular file, too large, not UTF-8, not JSON, nested too deep,
/// or repeats a key. The diagnostic has the file and, where there is one, the
/// position.
pub fn read_document(path: &Path) -> Result<Option<Value>, Diagnostic> {
    let Some(bytes) = bounded::read(path)? else { return Ok(None) };
    let text = parse::decode(bytes).map_err(|error| error.file(path))?;
    parse::parse(&text).map(Some).map_err(|error| error.file(path))
}

/// The text of a file as it stands, a byte-order mark too; `None` when there is
/// no file.
///
/// # Errors
/// When it is no regular file, too large, or not UTF-8. The diagnostic has the
/// file and, where there is one, the position.
pub fn read_text(path: &Path) -> Result<Option<String>, Diagnostic> {
    let Some(bytes) = bounded::read(path)? else { return Ok(None) };
    decode_text(bytes).map(Some).map_err(|error| error.file(path))
}

/// The text in these bytes as it stands, a byte-order mark too.
///
/// # Errors
/// When they are not UTF-8, with the position.
pub fn decode_text(bytes: Vec<u8>) -> Result<String, Diagnostic> {
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) => parse::decode(error.into_bytes()),
    }
}

/// The JSON document in a text.
///
/// # Errors
/// As [`read_document`], without the file.
pub fn parse_document(text: &str) -> Result<Value, Diagnostic> {
    parse::parse(text)
}

/// Where in the text of a document a key stands: `["tool_permission", "bash"]`.
/// As far along as the path exists.
pub fn position_of_key(text: &str, path: &[&str]) -> Position {
    let steps: Vec<Step> = path.iter().map(|key| Step::Key((*key).to_owned())).collect();
    position_of(text.as_bytes(), scan::locate(text, scan::skip_space(text, 0), &steps, true))
}
