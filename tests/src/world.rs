//! A home and a project for one story, and running `replio` in them.

use std::fmt;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::cargo::replio;
use crate::kernel::Kernel;

/// A home and a project, removed when the story ends.
#[derive(Debug)]
pub struct World {
    folder: TempDir,
    environment: Vec<(String, String)>,
    kernel: Kernel,
    /// Who runs replio, where that is not who runs the test.
    user: Option<u32>,
    /// Whose home it is, as the name of a folder.
    home: String,
}

/// What a run of `replio` came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// The exit code; -1 when a signal ended it.
    pub code: i32,
    /// What it wrote to stdout, with places and digests made the same for every run.
    pub stdout: String,
    /// What it wrote to stderr, likewise.
    pub stderr: String,
    /// What was run.
    pub line: String,
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

impl World {
    /// An empty home and an empty project.
    ///
    /// # Panics
    /// When the system has no room for them.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder for the story");
        let (kernel, home) = (Kernel::default(), "home".into());
        let world = Self { folder, environment: Vec::new(), kernel, user: None, home };
        for folder in [world.home(), world.project()] {
            fs::create_dir_all(folder).expect("the story's folders");
        }
        world
    }

    /// The same world with a variable in the environment.
    #[must_use]
    pub fn environment(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// The same world, in which cargo builds into the folder of the fixtures, so
    /// that what they share is built once.
    #[must_use]
    pub fn with_shared_builds(self) -> Self {
        let target = crate::cargo::fixture_target().join("build");
        self.environment("CARGO_TARGET_DIR", target.to_str().expect("a path in UTF-8"))
    }

    /// Whether a world can be on another kernel than the real one. Where it can't,
    /// that is said.
    pub fn can_be_on_an_old_kernel() -> bool {
        let can = crate::kernel::can_be_made();
        if !can {
            println!("this system takes no filters: what is so on an old kernel is not tried");
        }
        can
    }

    /// The same world, on a kernel that has neither landlock nor seccomp, so that
    /// plugins can do what they could before there was a jail.
    #[must_use]
    pub fn on_an_old_kernel(self) -> Self {
        self.without_landlock().without_seccomp()
    }

    /// The same world, on a kernel that has no landlock.
    #[must_use]
    pub fn without_landlock(mut self) -> Self {
        self.kernel.has_landlock = false;
        self
    }

    /// The same world, on a kernel that has no seccomp.
    #[must_use]
    pub fn without_seccomp(mut self) -> Self {
        self.kernel.has_seccomp = false;
        self
    }

    /// The same world as an ordinary user has it: when root runs the tests, one
    /// that has nothing but this world.
    ///
    /// # Panics
    /// When it can't be given to that user.
    #[must_use]
    pub fn of_an_ordinary_user(mut self) -> Self {
        const NOBODY: u32 = 65534;
        // SAFETY: it asks, and no more.
        if unsafe { libc::geteuid() } == 0 {
            // Where replio was built may be closed to others.
            fs::copy(replio(), self.root().join("replio")).expect("a copy of replio");
            self.user = Some(NOBODY);
            self.give_to_its_user();
        }
        self
    }

    /// Gives all that is in the world so far to its user.
    ///
    /// # Panics
    /// When the user of the tests can't.
    pub fn give_to_its_user(&self) {
        fn give(path: &Path, user: u32) {
            std::os::unix::fs::lchown(path, Some(user), Some(user)).expect("root can give files away");
            let entries = if path.is_dir() && !path.is_symlink() { fs::read_dir(path).ok() } else { None };
            for entry in entries.into_iter().flatten() {
                give(&entry.expect("an entry of a folder").path(), user);
            }
        }
        if let Some(user) = self.user {
            give(&self.root(), user);
        }
    }

    /// Has a command run as the world's user.
    pub fn as_its_user(&self, command: &mut Command) {
        if let Some(user) = self.user {
            std::os::unix::process::CommandExt::gid(command, user);
            std::os::unix::process::CommandExt::uid(command, user);
        }
    }

    /// Tells a plugin what to do from now on: all of the environment that reaches
    /// it is what is for tests, and only in builds with debug assertions.
    pub fn tell_plugin(&mut self, name: &str, what: &str) {
        self.set(&format!("REPLIO_TEST_PLUGIN_{name}"), what);
    }

    /// Another world with the same home, project and environment.
    ///
    /// # Panics
    /// When the system has no room for it.
    #[must_use]
    pub fn copied(&self) -> Self {
        let copy = Self {
            folder: tempfile::tempdir().expect("a folder"),
            environment: self.environment.clone(),
            kernel: self.kernel,
            user: self.user,
            home: self.home.clone(),
        };
        for name in [self.home.as_str(), "project"] {
            copy_tree(&self.root().join(name), &copy.root().join(name))
                .expect("a copy of the story's folders");
        }
        copy
    }

    /// Sets a variable in the environment from now on.
    pub fn set(&mut self, name: &str, value: &str) {
        self.environment.retain(|(known, _)| known != name);
        self.environment.push((name.into(), value.into()));
    }

    /// Goes on as another user, whose home is empty at first.
    ///
    /// # Panics
    /// When the system has no room for a home.
    pub fn move_to_home_of(&mut self, name: &str) {
        self.home = name.into();
        fs::create_dir_all(self.home()).expect("a home for the user");
    }

    /// The story's folder, in which home and project are.
    ///
    /// # Panics
    /// When it was removed.
    pub fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("the story's folder is there")
    }

    /// The user's home.
    pub fn home(&self) -> PathBuf {
        self.root().join(&self.home)
    }

    /// The global folder, which is not made yet.
    pub fn global(&self) -> PathBuf {
        self.home().join(".config/replio")
    }

    /// The project, in which commands run.
    pub fn project(&self) -> PathBuf {
        self.root().join("project")
    }

    /// The project's folder of ours, which is not made yet.
    pub fn local(&self) -> PathBuf {
        self.project().join(".replio")
    }

    /// A path in the story's folder, outside home and project.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    /// Writes a file, and the folders above it.
    ///
    /// # Panics
    /// When it can't be written.
    pub fn write(&self, path: &Path, bytes: impl AsRef<[u8]>) {
        fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("the file's folder");
        fs::write(path, bytes).expect("the story's file");
    }

    /// Copies a library to a path of its own, so that it may be changed.
    ///
    /// # Panics
    /// When it can't be copied.
    pub fn copy(&self, library: &Path, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::copy(library, &path).expect("the library can be copied");
        path
    }

    /// The command that runs `replio` here with these arguments.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = match self.user {
            Some(_) => Command::new(self.root().join("replio")),
            None => Command::new(replio()),
        };
        self.as_its_user(&mut command);
        command.args(arguments).current_dir(self.project()).env_clear();
        // What the system needs, and cargo for installs from a folder.
        for name in ["PATH", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "TMPDIR"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        // A home of its own hides where cargo is by default.
        if let Some(home) = std::env::home_dir() {
            for (name, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
                if std::env::var_os(name).is_none() {
                    command.env(name, home.join(folder));
                }
            }
        }
        command.env("HOME", self.home()).env("CARGO_NET_OFFLINE", "true");
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        self.kernel.run(&mut command);
        command
    }

    /// Runs `replio` with these arguments and no input.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with_input(arguments, "")
    }

    /// Runs `replio` with these arguments and this input.
    ///
    /// # Panics
    /// When it can't be started.
    pub fn run_with_input(&self, arguments: &[&str], input: &str) -> Ran {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("replio starts");
        // A program that does not read its input may have ended already.
        let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
        let output = child.wait_with_output().expect("replio ends");
        let text = |bytes: &[u8]| self.redact(&String::from_utf8_lossy(bytes));
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
            line: self.redact(&arguments.join(" ")),
        }
    }

    /// Runs `replio` with these arguments and `--json`, and reads its document.
    ///
    /// # Panics
    /// When stdout is not one JSON document.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let output = self.command(arguments).arg("--json").output().expect("replio starts");
        let text = String::from_utf8_lossy(&output.stdout);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in: {text}"))
    }

    /// Runs `replio` with `--json` and returns the error it ends with.
    ///
    /// # Panics
    /// When it does not fail with exit code 1, one JSON document and nothing on
    /// stderr.
    pub fn error(&self, arguments: &[&str]) -> Value {
        let ran = self.run(&[arguments, &["--json"]].concat());
        assert_eq!((ran.code, ran.stderr.as_str()), (1, ""), "{ran}");
        let document: Value =
            serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran}"));
        assert!(document["error"]["code"].is_string(), "{ran}");
        document["error"].clone()
    }

    /// Runs `replio`, which must succeed and warn of nothing.
    ///
    /// # Panics
    /// When it does not.
    pub fn ok(&self, arguments: &[&str]) -> Ran {
        let ran = self.run(arguments);
        assert!(ran.code == 0 && !ran.stderr.contains("warning"), "{ran}");
        ran
    }

    /// The names of the types there are, beside the bundled ones, and the codes
    /// of the warnings that come with them.
    ///
    /// # Panics
    /// When they can't be listed.
    pub fn types(&self) -> (Vec<String>, Vec<String>) {
        let list = self.json(&["type", "list"]);
        let types = list["types"].as_array().expect("a list").iter();
        let types = types.filter(|entry| entry["origin"] != "bundled");
        let names = types.map(|entry| entry["name"].as_str().expect("a name").to_owned()).collect();
        let warnings = list["warnings"].as_array().into_iter().flatten();
        let codes = warnings.map(|warning| warning["code"].as_str().expect("a code").to_owned()).collect();
        (names, codes)
    }

    /// The names of the types there are without plugins, beside the bundled ones.
    ///
    /// # Panics
    /// When they can't be listed.
    pub fn types_without_plugins(&self) -> Vec<String> {
        let list = self.json(&["--no-plugins", "type", "list"]);
        let types = list["types"].as_array().expect("a list").iter();
        let types = types.filter(|entry| entry["origin"] != "bundled");
        types.map(|entry| entry["name"].as_str().expect("a name").to_owned()).collect()
    }

    /// How each installed plugin stands: name, scope and status.
    ///
    /// # Panics
    /// When the list is not as it should be.
    pub fn standing(&self) -> Vec<String> {
        let list = self.json(&["plugins", "list"]);
        let word = |plugin: &Value, key: &str| plugin[key].as_str().expect("a word").to_owned();
        let plugins = list["plugins"].as_array().expect("a list");
        plugins
            .iter()
            .map(|plugin| [word(plugin, "name"), word(plugin, "scope"), word(plugin, "status")].join(" "))
            .collect()
    }

    /// Makes places and digests the same for every run.
    pub fn redact(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (place, name) in
            [(self.project(), "[project]"), (self.home(), "[home]"), (self.root(), "[story]")]
        {
            text = text.replace(&place.display().to_string(), name);
        }
        let fixtures = crate::cargo::fixture_target().display().to_string();
        text = redact_fixture_paths(&text.replace(&fixtures, "[fixtures]"));
        redact_threads(&redact_digests(&redact_needs(&text)))
    }
}

impl fmt::Display for Ran {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "$ replio {}\n[exit {}]", self.line, self.code)?;
        formatter.write_str(&self.stdout)?;
        if !self.stderr.is_empty() {
            write!(formatter, "[stderr]\n{}", self.stderr)?;
        }
        Ok(())
    }
}

fn copy_tree(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let (entry, kind) = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))?;
        let to = to.join(entry.file_name().expect("an entry has a name"));
        if kind.is_dir() {
            copy_tree(&entry, &to)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&entry)?, to)?;
        } else {
            fs::copy(entry, to)?;
        }
    }
    fs::set_permissions(to, fs::metadata(from)?.permissions())
}

/// `crates/whole-0123456789abcdef/` becomes `crates/whole/`.
fn redact_fixture_paths(text: &str) -> String {
    let mut redacted = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("[fixtures]/crates/") {
        let (before, after) = rest.split_at(at + "[fixtures]/crates/".len());
        redacted += before;
        let end = after.find('/').unwrap_or(after.len());
        let name = after[..end].rsplit_once('-').map_or(&after[..end], |(name, _)| name);
        redacted += name;
        rest = &after[end..];
    }
    redacted + rest
}

/// What a plugin needs of a system differs with where it was built, and its jail
/// with where it runs.
fn redact_needs(text: &str) -> String {
    let line = |line: &str| {
        if line.starts_with("  needs  ") && line.contains("glibc") {
            "  needs        [system]\n".into()
        } else if line.starts_with("  jail  ") {
            "  jail         [system]\n".into()
        } else if let Some((plugin, _)) = line.split_once(" ran jailed: ") {
            format!("{plugin} ran jailed: [system]\n")
        } else {
            line.to_owned()
        }
    };
    text.split_inclusive('\n').map(line).collect()
}

/// Rust tells which thread panicked by its number too: `thread 'main' (123)`.
fn redact_threads(text: &str) -> String {
    let line = |line: &str| match line.split_once("' (") {
        Some((before, after)) if before.contains("thread '") => {
            let after = after.trim_start_matches(|character: char| character.is_ascii_digit());
            format!("{before}' ([number]{after}")
        }
        _ => line.to_owned(),
    };
    text.split_inclusive('\n').map(line).collect()
}

/// Each run of 12 or more hexadecimal digits that is as long as a digest, or
/// as its short form.
fn redact_digests(text: &str) -> String {
    let mut redacted = String::new();
    let mut run = String::new();
    for character in text.chars().chain(['\n']) {
        if matches!(character, '0'..='9' | 'a'..='f') {
            run.push(character);
            continue;
        }
        redacted += match run.len() {
            64 => "[sha256]",
            12 if run.chars().any(|digit| digit.is_ascii_digit()) => "[short sha256]",
            _ => &run,
        };
        run.clear();
        redacted.push(character);
    }
    redacted.pop();
    redacted
}
