//! Folders: making, moving and removing them, one step at a time.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::fault::step;
use super::{FileError, settle};

/// How the names of folders begin that [`temporary_folder`] makes.
pub const TEMPORARY: &str = "replio-";

/// Makes a folder, and those above it.
///
/// # Errors
/// When the system refuses.
pub fn create_folder(path: &Path) -> Result<(), FileError> {
    if path.is_dir() {
        return Ok(());
    }
    let act = || step("make the folder", path, || fs::create_dir(path));
    let made = match (act(), path.parent()) {
        (Err(error), Some(above)) if error.io().kind() == io::ErrorKind::NotFound => {
            create_folder(above)?;
            act()
        }
        (made, _) => made,
    };
    // Another process may have been faster.
    if path.is_dir() { Ok(()) } else { made }
}

/// A folder that is removed with all in it when this value is dropped.
#[derive(Debug)]
pub struct TemporaryFolder {
    path: PathBuf,
}

impl TemporaryFolder {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // What can't be removed is left for whoever sweeps the folder around it.
        let _ = remove_folder(&self.path);
    }
}

/// Makes a folder with a name of its own.
///
/// # Errors
/// When the system refuses.
pub fn temporary_folder(within: &Path) -> Result<TemporaryFolder, FileError> {
    let make = || tempfile::Builder::new().prefix(TEMPORARY).tempdir_in(within);
    Ok(TemporaryFolder { path: step("make a folder in", within, make)?.keep() })
}

/// Moves a folder to a place on the same file system. Where something is there
/// already, the two change places, so that there is always one or the other;
/// where the system can't do that, what was there is removed first.
///
/// # Errors
/// When the system refuses.
pub fn move_folder(from: &Path, to: &Path) -> Result<(), FileError> {
    const ACTION: &str = "move into place";
    if let Some(above) = to.parent() {
        create_folder(above)?;
    }
    if to.symlink_metadata().is_err() {
        step(ACTION, to, || fs::rename(from, to))?;
    } else if let Err(error) = step(ACTION, to, || exchange(from, to)) {
        if !matches!(error.io().kind(), io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput) {
            return Err(error);
        }
        remove_folder(to)?;
        step(ACTION, to, || fs::rename(from, to))?;
    }
    settle(to);
    Ok(())
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn exchange(_one: &Path, _other: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Removes a folder and all in it; one that is not there is no error. A link is
/// removed and not followed.
///
/// # Errors
/// When the system refuses.
pub fn remove_folder(path: &Path) -> Result<(), FileError> {
    removal::remove(path).or_else(|error| match error.io().kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    })
}

#[cfg(unix)]
mod removal {
    use std::ffi::{CStr, CString, OsStr};
    use std::io;
    use std::os::fd::{AsFd, BorrowedFd};
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, openat, unlinkat};
    use rustix::io::Errno;

    use super::{FileError, step};

    pub(super) fn remove(path: &Path) -> Result<(), FileError> {
        let name = CString::new(path.as_os_str().as_bytes())
            .map_err(|error| FileError::new("remove", path)(io::Error::other(error)))?;
        remove_in(CWD, &name, path)
    }

    /// Removes what has this name in an open folder. Each folder is opened by
    /// name from the one around it, and links are never followed, so that
    /// nobody who swaps one for the other meanwhile has us remove elsewhere.
    fn remove_in(around: BorrowedFd<'_>, name: &CStr, path: &Path) -> Result<(), FileError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let flag = match openat(around, name, flags, Mode::empty()) {
            Ok(folder) => {
                let names = names_in(folder.as_fd())
                    .map_err(|error| FileError::new("look into", path)(error.into()))?;
                for name in names {
                    remove_in(folder.as_fd(), &name, &path.join(OsStr::from_bytes(name.as_bytes())))?;
                }
                AtFlags::REMOVEDIR
            }
            Err(Errno::NOTDIR | Errno::LOOP) => AtFlags::empty(),
            Err(error) => return Err(FileError::new("remove", path)(error.into())),
        };
        let unlink = || match unlinkat(around, name, flag) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        };
        step("remove", path, unlink)
    }

    fn names_in(folder: BorrowedFd<'_>) -> Result<Vec<CString>, Errno> {
        let mut names = Vec::new();
        for entry in Dir::read_from(folder)? {
            let entry = entry?;
            if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
                names.push(entry.file_name().to_owned());
            }
        }
        Ok(names)
    }
}

#[cfg(not(unix))]
mod removal {
    use std::fs;
    use std::path::Path;

    use super::{FileError, step};

    pub(super) fn remove(path: &Path) -> Result<(), FileError> {
        step("remove", path, || {
            if fs::symlink_metadata(path)?.is_dir() {
                fs::remove_dir_all(path)
            } else {
                fs::remove_file(path)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_made_with_those_above_them_and_never_over_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b/c");
        create_folder(&deep).unwrap();
        create_folder(&deep).unwrap();
        assert!(deep.is_dir());
        fs::write(folder.path().join("file"), "").unwrap();
        for path in ["file", "file/below", "file/below/deeper"] {
            let error = create_folder(&folder.path().join(path)).unwrap_err();
            assert!(
                matches!(error.io().kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory),
                "{error}"
            );
        }
    }

    #[test]
    fn a_temporary_folder_goes_with_all_in_it() {
        let around = tempfile::tempdir().unwrap();
        let temporary = temporary_folder(around.path()).unwrap();
        fs::create_dir_all(temporary.path().join("a/b")).unwrap();
        fs::write(temporary.path().join("a/b/c"), "").unwrap();
        drop(temporary);
        assert_eq!(fs::read_dir(around.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_takes_the_place_of_whatever_is_there() {
        let around = tempfile::tempdir().unwrap();
        let (new, place) = (around.path().join("new"), around.path().join("deep/place"));
        for number in 0..4 {
            match number {
                0 => {}
                1 => assert!(place.join("0").exists()),
                2 => fs::remove_dir_all(&place).unwrap(),
                _ => {
                    fs::remove_dir_all(&place).unwrap();
                    fs::write(&place, "a file").unwrap();
                }
            }
            fs::create_dir(&new).unwrap();
            fs::write(new.join(number.to_string()), "").unwrap();
            move_folder(&new, &place).unwrap();
            assert_eq!(fs::read_dir(&place).unwrap().count(), 1, "{number}");
            assert!(place.join(number.to_string()).exists());
            remove_folder(&new).unwrap();
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_removed_and_not_followed() {
        use std::os::unix::fs::symlink;
        let around = tempfile::tempdir().unwrap();
        let (kept, gone) = (around.path().join("kept"), around.path().join("gone"));
        fs::create_dir(&kept).unwrap();
        fs::write(kept.join("file"), "").unwrap();
        fs::create_dir(&gone).unwrap();
        symlink(&kept, gone.join("to a folder")).unwrap();
        symlink("nowhere", gone.join("to nothing")).unwrap();
        remove_folder(&gone).unwrap();
        assert!(!gone.exists());
        symlink(&kept, &gone).unwrap();
        remove_folder(&gone).unwrap();
        assert!(gone.symlink_metadata().is_err());
        assert!(kept.join("file").exists());
        remove_folder(&gone).unwrap();
        remove_folder(&kept.join("file")).unwrap();
        assert!(!kept.join("file").exists());
    }
}
