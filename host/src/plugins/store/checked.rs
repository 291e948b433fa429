//! Which store files have been read and found right, by what the system says
//! of them, so that not every start reads every library. A change of a file's
//! content changes its change time, which no program sets back, so the note no
//! longer fits and the file is read again. (On some file systems in memory a
//! change through a mapping that was there before does not; but store files are
//! read-only, and it is their owner who can map them for writing.)

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::Broken;
use crate::files;
use crate::plugins::digest::Digest;
use crate::plugins::inspect::{InspectError, read_library};

/// A file that was changed less than this before it was read may change again
/// within the same tick of the clock, so nothing is noted about it.
const SETTLED: Duration = Duration::from_secs(2);
const MOST_NOTES: usize = 1000;

/// The notes, kept in a file that may be deleted at any time.
#[derive(Debug, Default)]
pub struct CheckedFiles {
    path: Option<PathBuf>,
    notes: BTreeMap<PathBuf, Note>,
    changed: bool,
}

/// What was seen of a file when it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    sha256: Digest,
    file: FileIdentity,
}

/// Which file it is, and in which state: another file, or this one with another
/// content, has another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileIdentity {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl CheckedFiles {
    /// The notes in the global folder. Notes that can't be read are no notes.
    pub fn read(global: &Path) -> Self {
        let path = global.join("cache").join("checked-files.json");
        let notes = crate::catalog::read_document(&path)
            .ok()
            .flatten()
            .and_then(|document| serde_json::from_value(document).ok())
            .unwrap_or_default();
        Self { path: Some(path), notes, changed: false }
    }

    /// Notes that are kept in memory alone: every file is read.
    pub fn none() -> Self {
        Self::default()
    }

    /// Makes sure that a file is there with this digest, and says which it was,
    /// where the system can tell.
    ///
    /// # Errors
    /// When it is not, or can't be read.
    pub fn check(&mut self, file: &Path, sha256: &Digest) -> Result<Option<FileIdentity>, Broken> {
        let metadata = match std::fs::symlink_metadata(file) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Broken::Missing),
            Err(error) => return Err(Broken::Unreadable(error.to_string())),
        };
        // As it was before it is read: what is put there meanwhile is another one.
        let identity = FileIdentity::of(&metadata);
        let before = identity.map(|file| Note { sha256: *sha256, file });
        if before.is_some() && self.notes.get(file) == before.as_ref() && File::open(file).is_ok() {
            return Ok(identity);
        }
        let bytes = read_library(file).map_err(|error| match error {
            InspectError::Read { error, .. } => Broken::Unreadable(error.to_string()),
            other => Broken::Unreadable(other.to_string()),
        })?;
        let found = Digest::of(&bytes);
        if found != *sha256 {
            return Err(Broken::Changed { expected: *sha256, found: found.short() });
        }
        let settled = metadata.modified().is_ok_and(is_settled)
            && identity.as_ref().is_some_and(FileIdentity::is_settled);
        if let (true, Some(note)) = (settled && self.path.is_some(), before) {
            self.notes.insert(file.to_owned(), note);
            self.changed = true;
        }
        Ok(identity)
    }

    /// Writes the notes, if there are new ones. They only save time, so it is
    /// no error when they can't be written.
    pub fn save(&mut self) {
        let Some(path) = self.path.as_ref().filter(|_| self.changed) else { return };
        self.changed = false;
        if self.notes.len() > MOST_NOTES {
            self.notes.retain(|file, _| file.exists());
        }
        if let Ok(text) = serde_json::to_vec(&self.notes) {
            let _ = files::write_whole(path, &text);
        }
    }
}

fn is_settled(at: SystemTime) -> bool {
    SystemTime::now().duration_since(at).is_ok_and(|age| age >= SETTLED)
}

impl FileIdentity {
    /// That of an open file, or of a path.
    #[cfg(unix)]
    pub fn of(metadata: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        metadata.is_file().then(|| Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        })
    }

    /// Other systems have no change time that can't be set, so nothing is noted.
    #[cfg(not(unix))]
    pub fn of(_metadata: &Metadata) -> Option<Self> {
        None
    }

    fn is_settled(&self) -> bool {
        let changed = u64::try_from(self.changed.0).ok().map(Duration::from_secs);
        changed.and_then(|changed| SystemTime::UNIX_EPOCH.checked_add(changed)).is_some_and(is_settled)
    }
}
