//! The one place that writes files. A file is written whole or not at all, and
//! whoever reads one to change it holds a lock until it is written. Whoever
//! changes a file clears up what killed writers left in its folder.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::diagnostic::Diagnostic;

mod fault;
mod folder;
mod lock;
mod read;
mod unfinished;

use fault::step;
use unfinished::Unfinished;

pub use folder::{TEMPORARY, TemporaryFolder, create_folder, move_folder, remove_folder, temporary_folder};
pub use lock::Lock;
pub use read::{ReadError, read_regular_file};
pub use unfinished::remove_unfinished;

/// What could not be done to which file.
#[derive(Debug, thiserror::Error)]
#[error("can't {action} {}: {error}", path.display())]
pub struct FileError {
    action: &'static str,
    path: PathBuf,
    #[source]
    error: io::Error,
}

impl FileError {
    fn new(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self { action, path: path.to_owned(), error }
    }

    /// The system's error.
    pub fn io(&self) -> &io::Error {
        &self.error
    }
}

impl From<FileError> for Diagnostic {
    fn from(error: FileError) -> Self {
        let help = match error.error.kind() {
            io::ErrorKind::PermissionDenied => "check who owns the folder and whether you may write to it",
            io::ErrorKind::ReadOnlyFilesystem => {
                "the file system is read-only; choose another folder with REPLIO_HOME or --path"
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                "make room on the disk; nothing was changed"
            }
            io::ErrorKind::WouldBlock => "another replio holds the lock; wait for it to end, or end it",
            io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory | io::ErrorKind::AlreadyExists => {
                "something else has that name; move it out of the way"
            }
            _ => "nothing was changed; mend the cause and try again",
        };
        Self::new("file-error", error.to_string()).help(help)
    }
}

/// Writes a file whole: beside it first, then moved over it. A link is followed
/// and stays a link; an existing file's permissions stay.
///
/// # Errors
/// When the system refuses; what was there before is then untouched.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let existing = fs::metadata(path).ok().map(|existing| existing.permissions());
    Unfinished::write(path, bytes, existing)?.replace(path)
}

/// Writes a file that must not be there yet.
///
/// # Errors
/// When it is there, or the system refuses.
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    Unfinished::write(path, bytes, None)?.name_new(path)
}

/// Writes a file that nobody may change afterwards, into a folder that is not
/// used yet.
///
/// # Errors
/// When it is there already, or the system refuses.
pub fn write_read_only(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let file = step("write", path, || File::create_new(path))?;
    fault::write(path, &file, bytes)?;
    let mut permissions = file.metadata().map_err(FileError::new("read", path))?.permissions();
    permissions.set_readonly(true);
    step("set the permissions of", path, || file.set_permissions(permissions))?;
    step("save", path, || file.sync_all())
}

/// Removes a file; one that is not there is no error.
///
/// # Errors
/// When the system refuses.
pub fn remove_file(path: &Path) -> Result<(), FileError> {
    if let Some(folder) = path.parent() {
        remove_unfinished(folder);
    }
    match step("remove", path, || fs::remove_file(path)) {
        Err(error) if error.io().kind() != io::ErrorKind::NotFound => Err(error),
        _ => {
            settle(path);
            Ok(())
        }
    }
}

/// Refuses a folder that is a link: what is removed in it would be removed
/// somewhere else.
///
/// # Errors
/// When it is one.
pub fn refuse_link(path: &Path) -> Result<(), FileError> {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_symlink() => {
            Err(FileError::new("use", path)(io::Error::other("it is a link, and must be a folder")))
        }
        _ => Ok(()),
    }
}

/// Makes a change of names in a folder last through a loss of power. Some file
/// systems can't, and then there is nothing to be done about it.
fn settle(path: &Path) {
    let Some(folder) = path.parent() else { return };
    let _ = step("settle", folder, || File::open(folder)?.sync_all());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_must_be_new_is_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("skills/a.md");
        write_new(&path, b"first").unwrap();
        assert_eq!(write_new(&path, b"second").unwrap_err().io().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"first");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing is left behind");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link_and_permissions_stay() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_whole(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
