//! `config.json`: settings of the user, in the global folder, and of a project.
//! What a project's may not decide before the user trusts it is told from the
//! two documents alone. Keys that are not known here are somebody else's.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::catalog::{Position, parse_document, position_of_key, read_text};
use crate::diagnostic::Diagnostic;
use crate::paths::{Places, Scope};

mod matters;

pub use matters::{Matter, matters};

const FILE: &str = "config.json";
const REQUIRE_SIGNATURE: &str = "require_signature";

/// A `config.json`, read once.
#[derive(Debug, Clone)]
pub struct ConfigFile {
    /// Where it is.
    pub path: PathBuf,
    /// What it says.
    pub document: Map<String, Value>,
    /// Its text, without a byte-order mark.
    text: String,
}

/// The settings of a place.
#[derive(Debug)]
pub struct Config {
    /// The user's own.
    pub global: Option<ConfigFile>,
    /// The project's.
    pub local: Option<ConfigFile>,
    /// What of them can't be read, or is no setting.
    pub warnings: Vec<Diagnostic>,
    requires_signature: bool,
}

/// Where it is in the folder of a scope.
pub fn path_in(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

impl ConfigFile {
    /// The file in the folder of a scope; `None` where there is none.
    ///
    /// # Errors
    /// When it can't be read as a whole.
    pub fn read(folder: &Path) -> Result<Option<Self>, Diagnostic> {
        let path = path_in(folder);
        let damaged = |cause: Diagnostic| {
            let message = format!(
                "{FILE} can't be used, so its settings are left out and plugins must be signed: {}",
                cause.message
            );
            let help =
                cause.help.clone().unwrap_or_else(|| "mend it or move it away; it is left as it is".into());
            Diagnostic { code: "config-damaged", message, help: Some(help), ..cause }.file(&path)
        };
        let Some(text) = read_text(&path).map_err(damaged)? else { return Ok(None) };
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
        match parse_document(&text).map_err(damaged)? {
            Value::Object(document) => Ok(Some(Self { path, document, text })),
            _ => Err(damaged(Diagnostic::new("config-damaged", "it is not an object").at(1, 1))),
        }
    }

    /// Its text, without a byte-order mark.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where a key stands, or a key inside its value.
    pub fn position(&self, path: &[&str]) -> Position {
        position_of_key(&self.text, path)
    }
}

impl Config {
    /// Reads the settings of these places. A file that can't be read is left
    /// out, with a warning.
    pub fn read(places: &Places) -> Self {
        let mut config = Self { global: None, local: None, warnings: Vec::new(), requires_signature: false };
        for scope in [Scope::Global, Scope::Local] {
            let Some(folder) = places.folder(scope) else { continue };
            let file = match ConfigFile::read(&folder) {
                Ok(file) => file,
                Err(damage) => {
                    config.warnings.push(damage);
                    // It may well have said so, and that must not get lost.
                    config.requires_signature = true;
                    continue;
                }
            };
            if let Some(file) = &file {
                config.read_signature_setting(file);
            }
            match scope {
                Scope::Global => config.global = file,
                Scope::Local => config.local = file,
            }
        }
        config
    }

    fn read_signature_setting(&mut self, file: &ConfigFile) {
        match file.document.get(REQUIRE_SIGNATURE) {
            None | Some(Value::Null) => {}
            Some(Value::Bool(required)) => self.requires_signature |= required,
            Some(_) => {
                self.requires_signature = true;
                let at = file.position(&[REQUIRE_SIGNATURE]);
                let message = format!("{REQUIRE_SIGNATURE} is neither true nor false, and counts as true");
                let warning = Diagnostic::new("bad-config", message).help("write true or false");
                self.warnings.push(warning.file(&file.path).at(at.line, at.column));
            }
        }
    }

    /// Whether plugins must be signed: either file may ask for it, and neither
    /// can take it back. Where a file can't be read, they must.
    pub fn requires_signature(&self) -> bool {
        self.requires_signature
    }

    /// What of the project's settings needs the user's trust.
    pub fn local_matters(&self) -> Vec<Matter> {
        let none = Map::new();
        let document = |file: &Option<ConfigFile>| file.as_ref().map(|file| file.document.clone());
        let (local, global) = (document(&self.local), document(&self.global));
        local.map(|local| matters(&local, global.as_ref().unwrap_or(&none))).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::Surroundings;

    /// What is read where the two files hold these texts.
    fn read(global: &[u8], local: &[u8]) -> Config {
        let folder = tempfile::tempdir().unwrap();
        let (home, project) = (folder.path().join("home"), folder.path().join("project"));
        for (path, text) in [(home.join(FILE), global), (project.join(".replio").join(FILE), local)] {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let replio_home = Some(home.into_os_string());
        let from = Surroundings { path: Some(project), replio_home, ..Surroundings::default() };
        Config::read(&Places::find(&from).unwrap())
    }

    #[test]
    fn a_signature_is_required_when_either_file_says_so() {
        let asks = |global: &str, local: &str| {
            let config = read(global.as_bytes(), local.as_bytes());
            (config.requires_signature(), config.warnings.len())
        };
        let (on, off) = (r#"{"require_signature": true}"#, r#"{"require_signature": false}"#);
        assert_eq!(asks("{}", r#"{"theirs": 1}"#), (false, 0));
        assert_eq!(asks(off, r#"{"require_signature": null}"#), (false, 0));
        assert_eq!(asks(on, off), (true, 0));
        assert_eq!(asks(off, on), (true, 0));
        assert_eq!(asks("{}", r#"{"require_signature": "no"}"#), (true, 1));
        assert_eq!(asks("{", "{}"), (true, 1));
    }

    #[test]
    fn a_damaged_file_is_left_out_and_named() {
        let deep = "[".repeat(300);
        for text in [b"".as_slice(), b"[]", b"\xff", b"{\"a\": 1, \"a\": 2}", deep.as_bytes()] {
            let config = read(b"{}", text);
            assert!(config.local.is_none() && config.global.is_some());
            let [warning] = config.warnings.as_slice() else { panic!("{:?}", config.warnings) };
            assert!(warning.code == "config-damaged" && warning.file.is_some() && warning.line.is_some());
        }
        assert!(read(b"{}", "\u{feff}{}".as_bytes()).warnings.is_empty());
    }

    #[test]
    fn a_wrong_word_is_told_with_its_place() {
        let config = read(b"{}", b"{\n  \"require_signature\": 1\n}");
        let warning = &config.warnings[0];
        assert_eq!((warning.code, warning.line, warning.column), ("bad-config", Some(2), Some(3)));
    }
}
