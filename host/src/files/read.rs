//! Reads a file whole, but only if it is a regular file of bearable size: a
//! pipe would hang us, and a device has no end.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// How often to look for a file that comes and goes.
const MOST_LOOKS: usize = 100;

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The system refuses.
    #[error("it can't be read: {0}")]
    System(#[from] io::Error),
    /// It is a link to nothing.
    #[error("it is a link that leads nowhere")]
    DeadLink,
    /// It is a folder.
    #[error("it is a folder, not a file")]
    Folder,
    /// It is a pipe, a socket or a device.
    #[error("it is not a regular file")]
    Special,
    /// It has more bytes than are allowed: it has these.
    #[error("it is too large: {0} bytes")]
    TooLarge(u64),
}

/// The bytes of a file of at most `largest` bytes; `None` when there is none.
/// Links are followed; one that leads nowhere is not "no file".
///
/// # Errors
/// When it can't be read, or is nothing that should be.
pub fn read_regular_file(path: &Path, largest: u64) -> Result<Option<Vec<u8>>, ReadError> {
    for _ in 0..MOST_LOOKS {
        match read_once(path, largest) {
            // Another process takes it away, or has just made it: either way
            // the next look tells.
            Err(ReadError::System(error)) if error.kind() == io::ErrorKind::NotFound => {
                match path.symlink_metadata() {
                    Ok(metadata) if metadata.is_symlink() => return Err(ReadError::DeadLink),
                    Ok(_) => {}
                    Err(_) => return Ok(None),
                }
            }
            read => return read.map(Some),
        }
    }
    Err(ReadError::System(io::ErrorKind::NotFound.into()))
}

fn read_once(path: &Path, largest: u64) -> Result<Vec<u8>, ReadError> {
    let metadata = std::fs::metadata(path)?;
    acceptable(&metadata, largest)?;
    let file = open(path)?;
    // Another process may have put something else there since.
    acceptable(&file.metadata()?, largest)?;
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default() + 1);
    file.take(largest + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > largest {
        return Err(ReadError::TooLarge(bytes.len() as u64));
    }
    Ok(bytes)
}

fn acceptable(metadata: &Metadata, largest: u64) -> Result<(), ReadError> {
    if metadata.is_dir() {
        return Err(ReadError::Folder);
    }
    if !metadata.is_file() {
        return Err(ReadError::Special);
    }
    if metadata.len() > largest {
        return Err(ReadError::TooLarge(metadata.len()));
    }
    Ok(())
}

/// Opens without waiting, should it be a pipe by now.
pub(super) fn open(path: &Path) -> io::Result<File> {
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
