//! A plugin that does as the environment tells it, so that most stories need
//! no build of their own, and a plugin that was good can turn bad.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Plugin, World, replaced};

/// A path as text, for a command line.
///
/// # Panics
/// When it is no UTF-8.
pub fn text(path: &Path) -> &str {
    path.to_str().expect("the story's paths are UTF-8")
}

/// How the plugin is called, for this number.
pub fn actor_name(number: usize) -> String {
    format!("actor-{number:02}")
}

impl World {
    /// A library in the story's folder that is the plugin `actor-NN`. See
    /// `fixtures/actor.rs` for what it can be told.
    ///
    /// # Panics
    /// When it can't be built, or the number has more than two digits.
    pub fn actor(&self, number: usize) -> PathBuf {
        self.actor_version(number, "1.0.0")
    }

    /// The same in another version, which has one digit in each of its parts.
    ///
    /// # Panics
    /// As [`actor`](Self::actor).
    pub fn actor_version(&self, number: usize, version: &str) -> PathBuf {
        assert!(number < 100);
        let built = Plugin::new("actor-00", include_str!("../fixtures/actor.rs")).build();
        let bytes = fs::read(built).expect("the library is there");
        let name = actor_name(number);
        let path = self.path(&format!("v{version}/lib{}.so", name.replace('-', "_")));
        let bytes = replaced(&bytes, b"actor-00", name.as_bytes());
        let version = format!("version={version}");
        self.write(&path, replaced(&bytes, b"version=1.0.0", version.as_bytes()));
        path
    }

    /// The same plugin and version as this library, with other bytes.
    ///
    /// # Panics
    /// When the library is not there.
    pub fn other_build(&self, library: &Path) -> PathBuf {
        let mut bytes = fs::read(library).expect("the library is there");
        bytes.push(0);
        let path = self.path("other-build").join(library.file_name().expect("a file"));
        self.write(&path, bytes);
        path
    }

    /// Installs an actor of version 1.0.0 that does this.
    ///
    /// # Panics
    /// When it can't be installed.
    pub fn install_actor(&mut self, number: usize, script: &str) -> PathBuf {
        self.tell(number, script);
        let library = self.actor(number);
        self.ok(&["plugins", "install", text(&library)]);
        library
    }

    /// Tells an actor what to do from now on.
    pub fn tell(&mut self, number: usize, script: &str) {
        self.tell_plugin(&actor_name(number), script);
    }
}
