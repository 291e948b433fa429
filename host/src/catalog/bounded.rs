//! Reads a file whole, but only if it is a regular file of bearable size: a
//! pipe would hang us, and a device has no end.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

use crate::diagnostic::Diagnostic;

/// The largest file that is read, in bytes.
pub const LARGEST_FILE: u64 = 64 * 1024 * 1024;

/// The bytes of a file; `None` when there is none. Links are followed; one
/// that leads nowhere is not "no file".
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>, Diagnostic> {
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return match path.symlink_metadata() {
                Ok(_) => Err(Diagnostic::new("unreadable", "it is a link that leads nowhere").file(path)),
                Err(_) => Ok(None),
            };
        }
        Err(error) => return Err(unreadable(path, &error)),
    };
    acceptable(path, &metadata)?;
    let file = open(path).map_err(|error| unreadable(path, &error))?;
    // Another process may have put something else there since.
    acceptable(path, &file.metadata().map_err(|error| unreadable(path, &error))?)?;
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default() + 1);
    file.take(LARGEST_FILE + 1).read_to_end(&mut bytes).map_err(|error| unreadable(path, &error))?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(too_large(path));
    }
    Ok(Some(bytes))
}

fn acceptable(path: &Path, metadata: &Metadata) -> Result<(), Diagnostic> {
    if metadata.is_dir() {
        return Err(Diagnostic::new("not-a-file", "it is a folder, not a file").file(path));
    }
    if !metadata.is_file() {
        return Err(Diagnostic::new("not-a-file", "it is not a regular file").file(path));
    }
    if metadata.len() > LARGEST_FILE {
        return Err(too_large(path));
    }
    Ok(())
}

/// Opens without waiting, should it be a pipe by now.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        options.custom_flags(flags.bits().cast_signed());
    }
    options.open(path)
}

fn too_large(path: &Path) -> Diagnostic {
    let limit = LARGEST_FILE / 1024 / 1024;
    Diagnostic::new("too-large", format!("it is larger than {limit} MiB")).file(path)
}

pub(super) fn unreadable(path: &Path, error: &io::Error) -> Diagnostic {
    Diagnostic::new("unreadable", format!("it can't be read: {error}")).file(path)
}
