//! A plugin that does as the environment tells it, so that most stories need
//! no build of their own, and a plugin that was good can turn bad.

use std::fs;
use std::path::PathBuf;

use crate::{Plugin, World, replaced};

/// How the environment variable and the plugin are called, for this number.
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
        assert!(number < 100);
        let built = Plugin::new("actor-00", include_str!("../fixtures/actor.rs")).build();
        let bytes = fs::read(built).expect("the library is there");
        let name = actor_name(number);
        let path = self.path(&format!("lib{}.so", name.replace('-', "_")));
        self.write(&path, replaced(&bytes, b"actor-00", name.as_bytes()));
        path
    }

    /// Tells an actor what to do from now on.
    pub fn tell(&mut self, number: usize, script: &str) {
        self.set(&actor_name(number), script);
    }
}
