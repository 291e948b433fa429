//! A file that is being written, beside the one it will be. Its writer holds a
//! lock on it, so that whoever next changes something in the folder can tell
//! what is being written from what a killed writer left there.

use std::fs::{self, File, TryLockError};
use std::path::Path;
use std::time::Duration;

use tempfile::NamedTempFile;

use super::fault::{step, write};
use super::read::open;
use super::{FileError, create_folder, settle};

/// How the name of a file begins that is still being written.
const UNFINISHED: &str = ".replio-";

/// Nobody takes longer to write a file. This counts where files can't be locked.
const LONGEST: Duration = Duration::from_mins(1);

/// A file with all of its content, but not yet its name. Removed when it is
/// dropped before it has that.
pub(super) struct Unfinished {
    /// `None` once it has its name.
    file: Option<NamedTempFile>,
}

impl Unfinished {
    /// Writes what is to be at this path.
    pub(super) fn write(
        path: &Path,
        bytes: &[u8],
        permissions: Option<fs::Permissions>,
    ) -> Result<Self, FileError> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        create_folder(folder)?;
        remove_unfinished(folder);
        let unfinished = Self::create(folder, permissions.clone())?;
        if let Some(file) = &unfinished.file {
            write(path, file.as_file(), bytes)?;
            if let Some(permissions) = permissions {
                // The umask may have taken from them.
                step("set the permissions of", path, || fs::set_permissions(file.path(), permissions))?;
            }
            step("save", path, || file.as_file().sync_all())?;
        }
        Ok(unfinished)
    }

    /// Makes an empty one, and locks it.
    fn create(folder: &Path, permissions: Option<fs::Permissions>) -> Result<Self, FileError> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(UNFINISHED);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // Never wider than those of the file that it replaces, and else as
            // any program would make it; the user's umask takes from it.
            builder.permissions(permissions.unwrap_or(fs::Permissions::from_mode(0o666)));
        }
        #[cfg(not(unix))]
        let _ = permissions;
        loop {
            let unfinished = Self { file: Some(step("write in", folder, || builder.tempfile_in(folder))?) };
            let Some(file) = &unfinished.file else { continue };
            // Someone who clears up may find it before it is locked.
            let is_taken = matches!(file.as_file().try_lock(), Err(TryLockError::WouldBlock));
            if !is_taken && file.path().exists() {
                return Ok(unfinished);
            }
        }
    }

    /// Gives it its name, and so takes the place of what is there.
    pub(super) fn replace(mut self, path: &Path) -> Result<(), FileError> {
        self.name("replace", path, |file| file.persist(path))
    }

    /// Gives it its name, which nothing may have.
    pub(super) fn name_new(mut self, path: &Path) -> Result<(), FileError> {
        self.name("write", path, |file| file.persist_noclobber(path))
    }

    fn name(
        &mut self,
        action: &'static str,
        path: &Path,
        name: impl FnOnce(NamedTempFile) -> Result<fs::File, tempfile::PersistError>,
    ) -> Result<(), FileError> {
        step(action, path, || match self.file.take().map(name) {
            Some(Err(failed)) => {
                self.file = Some(failed.file);
                Err(failed.error)
            }
            _ => Ok(()),
        })?;
        settle(path);
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(Ok((_, path))) = self.file.take().map(NamedTempFile::keep) {
            // What can't be removed is left for the next time.
            let _ = step("remove", &path, || fs::remove_file(&path));
        }
    }
}

/// Removes what writes that were killed left in a folder. What can't be removed
/// is left for the next time.
pub fn remove_unfinished(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().as_encoded_bytes().starts_with(UNFINISHED.as_bytes());
        if is_ours && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            let path = entry.path();
            // Locked until it is removed, so that nobody locks it as theirs.
            let file = open(&path).ok();
            let is_abandoned = match file.as_ref().map(File::try_lock) {
                Some(Ok(())) => true,
                Some(Err(TryLockError::WouldBlock)) => false,
                Some(Err(TryLockError::Error(_))) | None => is_old(&path),
            };
            if is_abandoned {
                let _ = step("remove", &path, || fs::remove_file(&path));
            }
        }
    }
}

fn is_old(path: &Path) -> bool {
    let written = fs::symlink_metadata(path).and_then(|metadata| metadata.modified());
    written.is_ok_and(|written| written.elapsed().is_ok_and(|age| age >= LONGEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_being_written_stays_and_what_nobody_writes_any_more_goes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let unfinished = Unfinished::write(&path, b"new", None).unwrap();
        fs::write(folder.path().join(".replio-killed"), "half").unwrap();
        fs::create_dir(folder.path().join(".replio-folder")).unwrap();
        remove_unfinished(folder.path());
        assert!(!folder.path().join(".replio-killed").exists());
        unfinished.replace(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
