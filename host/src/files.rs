//! The one place that writes files. A file is written whole or not at all, and
//! whoever reads one to change it holds a lock until it is written.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::diagnostic::Diagnostic;

mod read;

pub use read::{ReadError, read_regular_file};

/// How the name of a file begins that is still being written.
const UNFINISHED: &str = ".replio-";

/// How the names of folders begin that [`temporary_folder`] makes.
pub const TEMPORARY: &str = "replio-";
/// How long to wait for another process that holds a lock.
const PATIENCE: Duration = Duration::from_mins(1);

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

/// Makes a folder, and those above it.
///
/// # Errors
/// When the system refuses.
pub fn create_folder(path: &Path) -> Result<(), FileError> {
    fs::create_dir_all(path).map_err(FileError::new("make the folder", path))
}

/// Writes a file whole: beside it first, then moved over it. A link is followed
/// and stays a link; an existing file's permissions stay.
///
/// # Errors
/// When the system refuses; what was there before is then untouched.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let existing = fs::metadata(path).ok().map(|existing| existing.permissions());
    let temporary = write_beside(path, bytes, existing.clone())?;
    if let Some(existing) = existing {
        // The umask may have taken from them.
        fs::set_permissions(temporary.path(), existing)
            .map_err(FileError::new("set the permissions of", path))?;
    }
    temporary.persist(path).map_err(|error| FileError::new("replace", path)(error.error))?;
    settle(path);
    Ok(())
}

/// Writes a file that must not be there yet.
///
/// # Errors
/// When it is there, or the system refuses.
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    write_beside(path, bytes, None)?
        .persist_noclobber(path)
        .map_err(|error| FileError::new("write", path)(error.error))?;
    settle(path);
    Ok(())
}

/// Writes a file that nobody may change afterwards, into a folder that is not
/// used yet.
///
/// # Errors
/// When it is there already, or the system refuses.
pub fn write_read_only(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let mut file = File::create_new(path).map_err(FileError::new("write", path))?;
    file.write_all(bytes).map_err(FileError::new("write", path))?;
    let mut permissions = file.metadata().map_err(FileError::new("read", path))?.permissions();
    permissions.set_readonly(true);
    file.set_permissions(permissions).map_err(FileError::new("set the permissions of", path))?;
    file.sync_all().map_err(FileError::new("write", path))
}

/// Makes a folder with a name of its own, which is removed when the value is
/// dropped.
///
/// # Errors
/// When the system refuses.
pub fn temporary_folder(within: &Path) -> Result<tempfile::TempDir, FileError> {
    tempfile::Builder::new()
        .prefix(TEMPORARY)
        .tempdir_in(within)
        .map_err(FileError::new("make a folder in", within))
}

/// Moves a folder to a place where nothing may be, and which is on the same
/// file system.
///
/// # Errors
/// When the system refuses.
pub fn move_folder(from: &Path, to: &Path) -> Result<(), FileError> {
    if let Some(above) = to.parent() {
        create_folder(above)?;
    }
    std::fs::rename(from, to).map_err(FileError::new("move into place", to))?;
    settle(to);
    Ok(())
}

/// Removes a file; one that is not there is no error.
///
/// # Errors
/// When the system refuses.
pub fn remove_file(path: &Path) -> Result<(), FileError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(FileError::new("remove", path)(error)),
        _ => {
            settle(path);
            Ok(())
        }
    }
}

/// Removes a folder and all in it; one that is not there is no error. A link is
/// removed and not followed.
///
/// # Errors
/// When the system refuses.
pub fn remove_folder(path: &Path) -> Result<(), FileError> {
    let result = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match result {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(FileError::new("remove", path)(error)),
        _ => Ok(()),
    }
}

/// A lock between processes, held until it is dropped. The system gives it up
/// when its holder ends, however it ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Locks a file that exists for nothing else, and makes it when needed.
    ///
    /// # Errors
    /// When the system refuses, or another process holds it for a minute.
    pub fn file(path: &Path) -> Result<Self, FileError> {
        let file = open_lock(path, true).map_err(FileError::new("open the lock", path))?;
        Self::take(file, path)
    }

    /// Locks a folder for a change of the files in it.
    ///
    /// # Errors
    /// As for [`Lock::file`].
    pub fn folder(path: &Path) -> Result<Self, FileError> {
        // A folder can be locked itself on Unix, which leaves no file behind.
        let lock = Self::take(File::open(path).map_err(FileError::new("open the folder", path))?, path)?;
        remove_unfinished(path, Duration::from_mins(1));
        Ok(lock)
    }

    /// Whether the lock at this path is held by nobody; `None` where there is
    /// no such file.
    pub fn is_free(path: &Path) -> Option<bool> {
        let file = open_lock(path, false).ok()?;
        Some(file.try_lock().is_ok())
    }

    fn take(file: File, path: &Path) -> Result<Self, FileError> {
        let started = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::WouldBlock) if started.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(FileError::new("lock", path)(io::ErrorKind::WouldBlock.into()));
                }
                Err(TryLockError::Error(error)) => return Err(FileError::new("lock", path)(error)),
            }
        }
    }
}

/// Opens a lock file, but nothing else that might have its name: a link could
/// lead out of the folder, and a pipe would hang.
fn open_lock(path: &Path, create: bool) -> io::Result<File> {
    let mut options = File::options();
    options.create(create).truncate(false).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        options.custom_flags(flags.bits().cast_signed());
    }
    let file = options.open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a regular file")) }
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

/// Removes what writes that were killed left in a folder, when it is at least
/// this old: nobody takes longer to write a file. What can't be removed is left
/// for the next time.
pub fn remove_unfinished(folder: &Path, age: Duration) {
    let is_old = |metadata: io::Result<fs::Metadata>| {
        let written = metadata.and_then(|metadata| metadata.modified());
        written.is_ok_and(|written| written.elapsed().is_ok_and(|elapsed| elapsed >= age))
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().as_encoded_bytes().starts_with(UNFINISHED.as_bytes());
        if is_ours && is_old(entry.metadata()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn write_beside(
    path: &Path,
    bytes: &[u8],
    permissions: Option<fs::Permissions>,
) -> Result<tempfile::NamedTempFile, FileError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    create_folder(folder)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(UNFINISHED);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Never wider than those of the file that it replaces, and else as any
        // program would make it; the user's umask takes from it.
        builder.permissions(permissions.unwrap_or(fs::Permissions::from_mode(0o666)));
    }
    #[cfg(not(unix))]
    let _ = permissions;
    let mut temporary = builder.tempfile_in(folder).map_err(FileError::new("write in", folder))?;
    temporary.write_all(bytes).map_err(FileError::new("write", path))?;
    temporary.as_file().sync_all().map_err(FileError::new("write", path))?;
    Ok(temporary)
}

/// Makes a change of names in a folder last through a loss of power. Some file
/// systems can't, and then there is nothing to be done about it.
fn settle(path: &Path) {
    if let Some(folder) = path.parent()
        && let Ok(folder) = File::open(folder)
    {
        let _ = folder.sync_all();
    }
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

    #[test]
    fn the_second_to_ask_for_a_lock_waits_for_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let first = Lock::file(&path).unwrap();
        let other = path.clone();
        let second = std::thread::spawn(move || Lock::file(&other).map(drop).is_ok());
        std::thread::sleep(Duration::from_millis(60));
        assert!(!second.is_finished());
        drop(first);
        assert!(second.join().unwrap());
    }
}
