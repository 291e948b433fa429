//! A library on its way into the store: on disk, so that it can be tried out,
//! but nothing speaks of it yet. Each one is in a folder of its own with a lock
//! that its maker holds, so that what a killed run left behind can be told from
//! what is being worked on, and stands in nobody's way.

use std::path::{Path, PathBuf};

use crate::files::{self, FileError, Lock, TemporaryFolder};
use crate::plugins::digest::Digest;
use crate::plugins::inspect::read_library;

/// A staged library. Removed when it is dropped, unless it was kept.
#[derive(Debug)]
pub struct Staged {
    library: PathBuf,
    content: PathBuf,
    _lock: Lock,
    _folder: TemporaryFolder,
}

impl Staged {
    /// A library that is only tried out, in the system's folder for such.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn elsewhere(file_name: &str, bytes: &[u8]) -> Result<Self, FileError> {
        Self::in_folder(&std::env::temp_dir(), file_name, bytes, None)
    }

    /// `store` keeps others from sweeping until the folder has its own lock.
    pub(super) fn in_folder(
        staging: &Path,
        file_name: &str,
        bytes: &[u8],
        store: Option<Lock>,
    ) -> Result<Self, FileError> {
        if store.is_some() {
            files::create_folder(staging)?;
        }
        let folder = files::temporary_folder(staging)?;
        let lock = Lock::file(&folder.path().join("lock"))?;
        drop(store);
        let content = folder.path().join("content");
        files::create_folder(&content)?;
        let library = content.join(file_name);
        files::write_read_only(&library, bytes)?;
        Ok(Self { library, content, _lock: lock, _folder: folder })
    }

    /// The library.
    pub fn library(&self) -> &Path {
        &self.library
    }

    pub(super) fn keep_as(self, folder: &Path, sha256: &Digest) -> Result<(), FileError> {
        let is_there = self.library.file_name().is_some_and(|name| {
            read_library(&folder.join(name)).is_ok_and(|there| Digest::of(&there) == *sha256)
        });
        if is_there {
            return Ok(());
        }
        // What is there under this name and is not the library was put there,
        // or damaged, by hand. It goes when this value is dropped.
        files::move_folder(&self.content, folder)
    }
}

/// Removes what runs that have ended left behind. The store is locked, so no
/// folder is being made meanwhile, and one without a lock was never finished.
pub(super) fn sweep(staging: &Path) {
    let Ok(folders) = std::fs::read_dir(staging) else { return };
    for folder in folders.flatten() {
        let path = folder.path();
        if !folder.file_name().as_encoded_bytes().starts_with(files::TEMPORARY.as_bytes()) {
            continue;
        }
        if Lock::is_free(&path.join("lock")).unwrap_or(true) {
            let _ = files::remove_folder(&path);
        }
    }
}
