//! Reads a file of the catalog, with what is wrong with it as a diagnostic.

use std::io;
use std::path::Path;

use crate::diagnostic::Diagnostic;
use crate::files::{ReadError, read_regular_file};

/// The largest file that is read, in bytes.
pub const LARGEST_FILE: u64 = 64 * 1024 * 1024;

/// The bytes of a file; `None` when there is none.
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>, Diagnostic> {
    read_regular_file(path, LARGEST_FILE).map_err(|error| {
        let message = match &error {
            ReadError::TooLarge(_) => format!("it is larger than {} MiB", LARGEST_FILE / 1024 / 1024),
            error => error.to_string(),
        };
        let code = match error {
            ReadError::System(_) | ReadError::DeadLink => "unreadable",
            ReadError::Folder | ReadError::Special => "not-a-file",
            ReadError::TooLarge(_) => "too-large",
        };
        Diagnostic::new(code, message).file(path)
    })
}

pub(super) fn unreadable(path: &Path, error: &io::Error) -> Diagnostic {
    Diagnostic::new("unreadable", format!("it can't be read: {error}")).file(path)
}
