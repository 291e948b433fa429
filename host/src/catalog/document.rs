//! Other JSON files of ours, read as strictly as the catalog's.

use std::path::Path;

use serde_json::Value;

use super::{bounded, parse};
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

/// The JSON document in a text.
///
/// # Errors
/// As [`read_document`], without the file.
pub fn parse_document(text: &str) -> Result<Value, Diagnostic> {
    parse::parse(text)
}
