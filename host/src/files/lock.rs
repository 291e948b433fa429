//! Locks between processes.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use super::FileError;
use super::fault::step;

/// How long to wait for another process that holds a lock.
const PATIENCE: Duration = Duration::from_mins(1);

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
        Self::take(step("open the lock", path, || open_lock(path, true))?, path)
    }

    /// Locks a folder for a change of the files in it.
    ///
    /// # Errors
    /// As for [`Lock::file`].
    pub fn folder(path: &Path) -> Result<Self, FileError> {
        // A folder can be locked itself on Unix, which leaves no file behind.
        Self::take(File::open(path).map_err(FileError::new("open the folder", path))?, path)
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

#[cfg(test)]
mod tests {
    use super::*;

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
