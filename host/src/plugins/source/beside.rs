//! The signature that lies beside a library: its path with `.minisig` after
//! it. Where the path is a link, it may also lie beside the library itself.

use std::io;
use std::path::{Path, PathBuf};

use crate::files::{ReadError, read_regular_file};
use crate::plugins::signature::{LARGEST_SIGNATURE, Signature, SignatureError};

/// A signature and the file that it was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignatureFile {
    /// The file.
    pub path: PathBuf,
    /// What it holds.
    pub signature: Signature,
}

/// The signature beside a library; `None` where there is none. One that is
/// there and can't be read is an error, so that nobody can make it count as
/// none.
pub(super) fn signature_beside(library: &Path) -> Result<Option<SignatureFile>, (PathBuf, SignatureError)> {
    let beside = |library: &Path| {
        let mut path = library.as_os_str().to_owned();
        path.push(".minisig");
        PathBuf::from(path)
    };
    let path = beside(library);
    if let Some(found) = read(path.clone())? {
        return Ok(Some(found));
    }
    match library.canonicalize().map(|library| beside(&library)) {
        Ok(other) if other != path => read(other),
        _ => Ok(None),
    }
}

fn read(path: PathBuf) -> Result<Option<SignatureFile>, (PathBuf, SignatureError)> {
    let content = match read_regular_file(&path, LARGEST_SIGNATURE) {
        Ok(Some(content)) => content,
        Ok(None) => return Ok(None),
        // No file can have this name.
        Err(ReadError::System(error)) if error.kind() == io::ErrorKind::InvalidFilename => return Ok(None),
        Err(error) => return Err((path, SignatureError::Unreadable(error.to_string()))),
    };
    match Signature::parse(&content) {
        Ok(signature) => Ok(Some(SignatureFile { path, signature })),
        Err(error) => Err((path, error)),
    }
}
