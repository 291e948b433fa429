//! The plugin store of one scope: `plugins.lock`, and the libraries it speaks
//! of, each in a folder named by its digest and never written again.

use std::path::{Path, PathBuf};

use crate::catalog::Scope;
use crate::diagnostic::Diagnostic;
use crate::files::{self, FileError, Lock};
use crate::paths::{self, Places};
use crate::plugins::digest::Digest;
use crate::plugins::lockfile::{Build, Lockfile};

mod checked;
mod staged;

pub use checked::{CheckedFiles, FileIdentity};
pub use staged::Staged;

/// A plugin store; its folder need not exist.
#[derive(Debug, Clone)]
pub struct Store {
    scope: Scope,
    /// The folder of the scope: `~/.config/replio` or `.replio`.
    home: PathBuf,
}

/// Why an installed library can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// It is gone.
    #[error("its library is missing from the store")]
    Missing,
    /// It is there, and can't be read.
    #[error("its library can't be read: {0}")]
    Unreadable(String),
    /// It is not what was installed.
    #[error("its library in the store was changed: its digest is {found} and not {}", expected.short())]
    Changed {
        /// What was installed.
        expected: Digest,
        /// What is there, shortened.
        found: String,
    },
}

impl Store {
    /// The store in the folder of a scope.
    pub fn new(scope: Scope, home: PathBuf) -> Self {
        Self { scope, home }
    }

    /// The stores there are in these places, the global one first.
    pub fn all(places: &Places) -> Vec<Self> {
        let store = |scope| Some(Self::new(scope, places.folder(scope)?));
        [Scope::Global, Scope::Local].into_iter().filter_map(store).collect()
    }

    /// Its scope.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    fn folder(&self) -> PathBuf {
        self.home.join("plugins")
    }

    /// Where the list of installed plugins is.
    pub fn lockfile_path(&self) -> PathBuf {
        self.folder().join("plugins.lock")
    }

    /// Reads the list of installed plugins.
    ///
    /// # Errors
    /// When it can't be read as a whole.
    pub fn read(&self) -> Result<Lockfile, Diagnostic> {
        Lockfile::read(&self.lockfile_path())
    }

    /// Where a build's library is.
    pub fn library(&self, build: &Build) -> PathBuf {
        self.library_folder(&build.sha256).join(&build.file)
    }

    fn library_folder(&self, sha256: &Digest) -> PathBuf {
        self.folder().join("store").join(sha256.to_string())
    }

    /// Makes sure that a build's library is there as it was installed, and says
    /// which file that is, where the system can tell.
    ///
    /// # Errors
    /// When it is not.
    pub fn check(&self, build: &Build, checked: &mut CheckedFiles) -> Result<Option<FileIdentity>, Broken> {
        checked.check(&self.library(build), &build.sha256)
    }

    /// Puts a library where it can be tried out, before it counts.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn stage(&self, file_name: &str, bytes: &[u8]) -> Result<Staged, FileError> {
        Staged::in_folder(&self.staging(), file_name, bytes, Some(self.take_lock()?))
    }

    fn take_lock(&self) -> Result<Lock, FileError> {
        paths::make_folder(&self.home, self.scope)?;
        // A clone of a project could bring links that lead out of it. The user's
        // own folder may well be one.
        if self.scope == Scope::Local {
            files::refuse_link(&self.folder())?;
        }
        files::refuse_link(&self.folder().join("store"))?;
        files::refuse_link(&self.staging())?;
        files::create_folder(&self.folder())?;
        Lock::file(&self.folder().join("lock"))
    }

    fn staging(&self) -> PathBuf {
        self.folder().join("staging")
    }

    /// Locks the store for a change, and reads the list of installed plugins
    /// as it is then.
    ///
    /// # Errors
    /// When the folder can't be made or locked, or the list can't be read: what
    /// can't be read is never written over.
    pub fn lock(&self) -> Result<LockedStore<'_>, Diagnostic> {
        let lock = self.take_lock()?;
        let lockfile = self.read()?;
        Ok(LockedStore { store: self, before: lockfile.clone(), lockfile, _lock: lock })
    }
}

/// A store that this process alone may change, as long as this value lives.
#[derive(Debug)]
pub struct LockedStore<'s> {
    store: &'s Store,
    /// The list as it was read.
    before: Lockfile,
    /// The list of installed plugins; changes count once they are committed.
    pub lockfile: Lockfile,
    _lock: Lock,
}

impl LockedStore<'_> {
    /// Puts a staged library into the store. Until a commit speaks of it,
    /// nothing uses it.
    ///
    /// # Errors
    /// When it can't be moved there.
    pub fn keep(&self, sha256: &Digest, staged: Staged) -> Result<(), FileError> {
        staged.keep_as(&self.store.library_folder(sha256), sha256)
    }

    /// Makes the list of installed plugins count, and removes the libraries
    /// that it no longer speaks of.
    ///
    /// # Errors
    /// When the list can't be written; then everything is as it was.
    pub fn commit(mut self) -> Result<(), FileError> {
        let text = self.lockfile.text();
        // A library that was mended may be all that changes.
        let written = if text == self.before.text() {
            Ok(())
        } else {
            files::write_whole(&self.store.lockfile_path(), text.as_bytes())
        };
        if written.is_err() {
            // A library that was kept for it only takes room now.
            self.lockfile = self.before.clone();
        }
        self.sweep();
        written
    }

    /// Removes what no record speaks of. What can't be removed is left for the
    /// next time.
    pub fn sweep(&self) {
        let kept: Vec<String> = self.lockfile.digests().map(|digest| digest.to_string()).collect();
        let folders = std::fs::read_dir(self.store.folder().join("store"));
        for folder in folders.into_iter().flatten().flatten() {
            let name = folder.file_name();
            let Some(name) = name.to_str().filter(|name| name.parse::<Digest>().is_ok()) else { continue };
            if !kept.iter().any(|kept| kept == name) {
                let _ = files::remove_folder(&folder.path());
            }
        }
        staged::sweep(&self.store.staging());
        files::remove_unfinished(&self.store.folder());
    }
}

/// Where a source is, written so that a project can be moved or cloned:
/// relative to the project where it is inside it.
pub fn source_for_record(source: &Path, project: Option<&Path>) -> String {
    let inside = project.and_then(|project| source.strip_prefix(project).ok());
    match inside {
        Some(inside) if inside.as_os_str().is_empty() => ".".to_owned(),
        Some(inside) => format!("./{}", inside.display()),
        None => source.display().to_string(),
    }
}

/// The place of a source that was recorded.
pub fn source_from_record(source: &str, project: Option<&Path>) -> PathBuf {
    match project {
        Some(project) => project.join(source.strip_prefix("./").unwrap_or(source)),
        None => PathBuf::from(source),
    }
}
