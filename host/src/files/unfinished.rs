//! A file that is being written, beside the one it will be.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use tempfile::NamedTempFile;

use super::fault::{step, write};
use super::{FileError, create_folder, settle};

/// How the name of a file begins that is still being written.
const UNFINISHED: &str = ".replio-";

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
        let mut builder = tempfile::Builder::new();
        builder.prefix(UNFINISHED);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // Never wider than those of the file that it replaces, and else as
            // any program would make it; the user's umask takes from it.
            builder.permissions(permissions.clone().unwrap_or(fs::Permissions::from_mode(0o666)));
        }
        let file = step("write in", folder, || builder.tempfile_in(folder))?;
        let unfinished = Self { file: Some(file) };
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
            let path = entry.path();
            let _ = step("remove", &path, || fs::remove_file(&path));
        }
    }
}
