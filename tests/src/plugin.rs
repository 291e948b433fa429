//! Fixture plugins: crates written out and built when a story needs them.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::cargo::{artifacts, cargo, fixture_target, workspace};

/// A plugin to build. The source is that of its `lib.rs`.
#[derive(Debug, Clone)]
pub struct Plugin {
    name: String,
    version: String,
    edition: String,
    source: String,
    package: String,
    profile: String,
    dependencies: String,
    uses_api: bool,
    is_release: bool,
}

impl Plugin {
    /// A plugin of this name, with this `lib.rs`.
    pub fn new(name: &str, source: &str) -> Self {
        Self {
            name: name.into(),
            version: "1.0.0".into(),
            edition: "2021".into(),
            source: source.into(),
            package: String::new(),
            profile: String::new(),
            dependencies: String::new(),
            uses_api: true,
            is_release: false,
        }
    }

    /// A plugin whose three hooks have these bodies, each an expression that
    /// returns `Result<()>`; an empty body leaves the hook out.
    pub fn with_hooks(name: &str, types: &str, skills: &str, teams: &str) -> Self {
        let mut hooks = String::new();
        for (hook, kind, body) in
            [("types", "Type", types), ("skills", "Skill", skills), ("teams", "Team", teams)]
        {
            if !body.is_empty() {
                hooks += &format!(
                    "    fn register_{hook}(registry: &mut {kind}Registry) -> Result<()> {{ {body} }}\n"
                );
            }
        }
        let source = format!(
            "#![deny(warnings)]\n#[allow(unused_imports)]\nuse replio_plugin_api::*;\nstruct Fixture;\n\
             #[allow(unused_variables, unreachable_code)]\nimpl Plugin for Fixture {{\n{hooks}}}\nexport_plugin!(Fixture);\n"
        );
        Self::new(name, &source)
    }

    /// A plugin that goes around the API and returns what it likes: its
    /// `register_types` has this body, which returns a `HookResult`.
    pub fn without_api(name: &str, register_types: &str) -> Self {
        let source = include_str!("../fixtures/without_api.rs");
        let mut plugin = Self::new(name, &source.replace("{ register_types }", register_types));
        plugin.dependencies =
            format!("replio-plugin-abi = {{ path = {:?} }}", workspace().join("plugin-api/abi"));
        plugin
    }

    /// The same plugin, built with a copy of the ABI in which an error's kind
    /// has another type.
    ///
    /// # Panics
    /// When the copy can't be made.
    #[must_use]
    pub fn with_changed_abi(mut self) -> Self {
        let (abi, copy) = (workspace().join("plugin-api/abi"), fixture_target().join("crates/changed-abi"));
        fs::create_dir_all(copy.join("src")).expect("the copy's folder");
        let read = |file: &str| fs::read_to_string(abi.join(file)).expect("a file of the ABI");
        let library = read("src/lib.rs").replace("kind: u32", "kind: u64").replace(": u32 = ", ": u64 = ");
        write_if_other(&copy.join("src/lib.rs"), &library);
        write_if_other(&copy.join("src/manifest.rs"), &read("src/manifest.rs"));
        write_if_other(&copy.join("Cargo.toml"), &(read("Cargo.toml") + "\n[workspace]\n"));
        self.dependencies = format!("replio-plugin-abi = {{ path = {copy:?} }}");
        self.uses_api = false;
        self
    }

    /// The same plugin in another version.
    #[must_use]
    pub fn version(mut self, version: &str) -> Self {
        self.version = version.into();
        self
    }

    /// The same plugin in another edition.
    #[must_use]
    pub fn edition(mut self, edition: &str) -> Self {
        self.edition = edition.into();
        self
    }

    /// Lines for `[package]`.
    #[must_use]
    pub fn package(mut self, lines: &str) -> Self {
        self.package = lines.into();
        self
    }

    /// Lines for `[profile.dev]`, with which fixtures are built.
    #[must_use]
    pub fn profile(mut self, lines: &str) -> Self {
        self.profile = lines.into();
        self
    }

    /// Builds it as its author would ship it: for release, stripped.
    #[must_use]
    pub fn release(mut self) -> Self {
        self.is_release = true;
        self
    }

    /// Lines for `[dependencies]`, beside the API.
    #[must_use]
    pub fn dependencies(mut self, lines: &str) -> Self {
        self.dependencies = lines.into();
        self
    }

    /// Writes the crate out.
    ///
    /// # Panics
    /// When it can't be written.
    pub fn write_to(&self, folder: &Path) {
        self.write_with_library_name(folder, "");
    }

    fn write_with_library_name(&self, folder: &Path, library_name: &str) {
        fs::create_dir_all(folder.join("src")).expect("the crate's folder");
        let api = workspace().join("plugin-api");
        let api =
            if self.uses_api { format!("replio-plugin-api = {{ path = {api:?} }}\n") } else { String::new() };
        let manifest = format!(
            "[package]\nname = {:?}\nversion = {:?}\nedition = {:?}\n{}\n\
             [lib]\ncrate-type = [\"cdylib\"]\n{library_name}\n\
             [dependencies]\n{api}{}\n\n\
             [profile.dev]\ndebug = false\nstrip = true\n{}\n\n[profile.release]\nstrip = true\n\n[workspace]\n",
            self.name, self.version, self.edition, self.package, self.dependencies, self.profile,
        );
        write_if_other(&folder.join("Cargo.toml"), &manifest);
        write_if_other(&folder.join("src/lib.rs"), &self.source);
        // The versions of the workspace, which are there already.
        let lock = fs::read_to_string(workspace().join("Cargo.lock")).expect("the workspace's Cargo.lock");
        if !folder.join("Cargo.lock").exists() {
            write_if_other(&folder.join("Cargo.lock"), &lock);
        }
    }

    /// What the compiler says of a plugin that can't be built.
    ///
    /// # Panics
    /// When it can be built.
    pub fn build_errors(&self) -> String {
        let folder = tempfile::tempdir().expect("a folder for the crate");
        self.write_to(folder.path());
        let mut build = cargo(folder.path());
        build.args(["build", "--offline"]).env("CARGO_TARGET_DIR", fixture_target().join("build"));
        let output = build.output().expect("cargo starts");
        assert!(!output.status.success(), "it can be built");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    /// Builds the library and returns its path. The file must not be changed.
    ///
    /// # Panics
    /// When it can't be built.
    pub fn build(&self) -> PathBuf {
        static BUILT: Mutex<Option<HashMap<String, PathBuf>>> = Mutex::new(None);
        let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
        let built = built.get_or_insert_default();
        let key = format!("{self:?}");
        if let Some(library) = built.get(&key) {
            return library.clone();
        }
        let target = fixture_target();
        let print = fingerprint(&key);
        let folder = target.join("crates").join(format!("{}-{print:016x}", self.name));
        let name = self.name.replace('-', "_");
        // Cargo builds libraries of one name to one path, and then holds the
        // one before it for up to date.
        self.write_with_library_name(&folder, &format!("name = \"{name}_{print:016x}\"\n"));
        let mut build = cargo(&folder);
        build.arg("build").env("CARGO_TARGET_DIR", target.join("build"));
        if self.is_release {
            build.arg("--release");
        }
        let artifacts = artifacts(build);
        let library = artifacts
            .iter()
            .filter(|message| message["target"]["kind"][0] == "cdylib")
            .find_map(|message| message["filenames"][0].as_str().map(PathBuf::from))
            .expect("cargo names the library it built");
        let extension = library.extension().expect("a library").to_str().expect("a short word");
        let kept = folder.join(format!("lib{name}.{extension}"));
        let _ = fs::remove_file(&kept);
        fs::copy(&library, &kept).expect("the library can be copied");
        built.insert(key, kept.clone());
        kept
    }
}

fn write_if_other(path: &Path, text: &str) {
    if fs::read_to_string(path).is_ok_and(|there| there == text) {
        return;
    }
    fs::write(path, text).expect("a fixture's file can be written");
}

fn fingerprint(text: &str) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
