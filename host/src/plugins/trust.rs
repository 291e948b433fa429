//! `trust.json`: what this user installed or trusted, by digest, and whose
//! signatures they trust. A plugin or file that came with a project counts for
//! no more than it says here.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::global_file::{GlobalFile, forget, has, now, section};
use crate::diagnostic::Diagnostic;
use crate::names::PluginName;
use crate::plugins::digest::Digest;
use crate::plugins::signature::SignerKey;

const FILE: GlobalFile = GlobalFile {
    name: "trust.json",
    code: "trust-damaged",
    means: "nothing that came with a project is trusted, no signed plugin is run, and none can be installed",
    sections: &["plugins", "files", "keys"],
};

/// What this user trusts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trust {
    plugins: BTreeMap<Digest, Note>,
    signers: BTreeMap<Digest, SignerKey>,
    files: BTreeMap<Digest, Note>,
    keys: BTreeMap<String, KeyTrust>,
}

/// What is written beside a digest, for people.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Note {
    /// The plugin's name, or the file's path.
    pub label: String,
    /// When it was trusted, as `2026-12-01T00:15:42Z`.
    pub since: String,
}

/// What the user thinks of a key that signs plugins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyTrust {
    /// Plugins that it signed are taken.
    Trusted,
    /// Nothing that it signed is.
    Revoked,
}

impl Trust {
    /// What the file in the global folder says; nothing is trusted where there
    /// is none.
    ///
    /// # Errors
    /// When it can't be read as a whole.
    pub fn read(global: &Path) -> Result<Self, Diagnostic> {
        FILE.read(global).map(|document| Self::of(&document))
    }

    /// What a text says.
    ///
    /// # Errors
    /// As [`Trust::read`], without the file.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        FILE.parse(text).map(|document| Self::of(&document))
    }

    /// What is no digest or no known word trusts nothing.
    fn of(document: &Map<String, Value>) -> Self {
        let keys_of = |section: &str| document.get(section).and_then(Value::as_object).into_iter().flatten();
        let notes = |section: &str, label: &str| {
            let text = |note: &Value, key: &str| {
                note.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
            };
            let note = |note: &Value| Note { label: text(note, label), since: text(note, "since") };
            let is_note = |(_, value): &(&String, &Value)| value.is_object();
            let all = keys_of(section).filter(is_note);
            all.filter_map(|(key, value)| Some((key.parse().ok()?, note(value)))).collect()
        };
        let key_trust = |value: &Value| match value.get("standing").and_then(Value::as_str) {
            Some("trusted") => KeyTrust::Trusted,
            // What isn't understood must not become trust.
            _ => KeyTrust::Revoked,
        };
        Self {
            plugins: notes("plugins", "name"),
            signers: keys_of("plugins")
                .filter_map(|(key, value)| {
                    Some((key.parse().ok()?, value.get("signer")?.as_str()?.parse().ok()?))
                })
                .collect(),
            files: notes("files", "path"),
            keys: keys_of("keys").map(|(key, value)| (key.clone(), key_trust(value))).collect(),
        }
    }

    /// Whether the user installed or trusted a library of this digest.
    pub fn has_plugin(&self, sha256: &Digest) -> bool {
        self.plugins.contains_key(sha256)
    }

    /// Whose signature of this library was verified when the user installed it.
    pub fn signer(&self, sha256: &Digest) -> Option<&SignerKey> {
        self.signers.get(sha256)
    }

    /// Whether the user trusted a project's file of this content.
    pub fn has_file(&self, sha256: &Digest) -> bool {
        self.files.contains_key(sha256)
    }

    /// The libraries that are trusted.
    pub fn plugins(&self) -> impl Iterator<Item = (&Digest, &Note)> {
        self.plugins.iter()
    }

    /// The contents of files that are trusted.
    pub fn files(&self) -> impl Iterator<Item = (&Digest, &Note)> {
        self.files.iter()
    }

    /// What the user thinks of a key, in the form in which it is written down.
    pub fn key(&self, key: &str) -> Option<KeyTrust> {
        self.keys.get(key).copied()
    }

    /// The keys in their order, and what the user thinks of them.
    pub fn keys(&self) -> impl Iterator<Item = (&str, KeyTrust)> {
        self.keys.iter().map(|(key, trust)| (key.as_str(), *trust))
    }

    /// Writes changes down, all of them or none.
    ///
    /// # Errors
    /// When the file can't be read, locked or written.
    pub fn change(global: &Path, changes: &[TrustChange]) -> Result<(), Diagnostic> {
        FILE.change(global, |document| changes.iter().for_each(|change| change.apply(document)))
    }

    /// The text of the file after changes; `None` where they change nothing.
    ///
    /// # Errors
    /// As [`Trust::parse`].
    pub fn change_text(text: &str, changes: &[TrustChange]) -> Result<Option<String>, Diagnostic> {
        let change = |document: &mut Map<String, Value>| {
            for change in changes {
                change.apply(document);
            }
        };
        FILE.change_text(text, change).map(|((), text)| text)
    }
}

/// One change of what the user trusts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrustChange {
    /// A library is trusted.
    Plugin {
        /// Its digest.
        sha256: Digest,
        /// Its name, for people who read the file.
        name: PluginName,
    },
    /// A trusted library was signed by this key, or is unsigned.
    Signer {
        /// The library's digest.
        sha256: Digest,
        /// The key.
        signer: Option<SignerKey>,
    },
    /// A library is no longer trusted.
    ForgetPlugin(Digest),
    /// A project's file is trusted as it is now.
    File {
        /// The digest of its content.
        sha256: Digest,
        /// Its path, for people who read the file.
        path: String,
    },
    /// A project's file is no longer trusted.
    ForgetFile(Digest),
    /// A key is trusted, or revoked.
    Key {
        /// The key.
        key: String,
        /// What the user thinks of it.
        trust: KeyTrust,
    },
}

impl TrustChange {
    fn apply(&self, document: &mut Map<String, Value>) {
        let mut add = |name: &str, sha256: &Digest, value: Value| {
            let section = section(document, name);
            if !has(section, sha256) {
                section.insert(sha256.to_string(), value);
                section.sort_keys();
            }
        };
        match self {
            Self::Plugin { sha256, name } => {
                add("plugins", sha256, json!({ "name": name, "since": now() }));
            }
            // Noting who signed a library is not trusting it.
            Self::Signer { sha256, signer } => {
                let plugins = document.get_mut("plugins").and_then(Value::as_object_mut);
                for (digest, plugin) in plugins.into_iter().flatten() {
                    let Some(plugin) = plugin.as_object_mut().filter(|_| digest.parse() == Ok(*sha256))
                    else {
                        continue;
                    };
                    match signer {
                        Some(key) => drop(plugin.insert("signer".into(), key.to_string().into())),
                        None => drop(plugin.shift_remove("signer")),
                    }
                }
            }
            Self::File { sha256, path } => {
                add("files", sha256, json!({ "path": path, "since": now() }));
            }
            Self::ForgetPlugin(sha256) => forget(document, "plugins", sha256),
            Self::ForgetFile(sha256) => forget(document, "files", sha256),
            Self::Key { key, trust } => {
                let standing = match trust {
                    KeyTrust::Trusted => "trusted",
                    KeyTrust::Revoked => "revoked",
                };
                let keys = section(document, "keys");
                if keys.get(key).and_then(|key| key.get("standing")) != Some(&standing.into()) {
                    keys.insert(key.clone(), json!({ "standing": standing, "since": now() }));
                    keys.sort_keys();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_down_is_read_again_and_the_rest_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trust.json");
        std::fs::write(&path, r#"{"version": 1, "theirs": 7, "plugins": {"no digest": {}}}"#).unwrap();
        let (plugin, file) = (Digest::of(b"plugin"), Digest::of(b"file"));
        let name: PluginName = "audit".parse().unwrap();
        let key = |trust| TrustChange::Key { key: "RWa".into(), trust };
        let changes = [
            TrustChange::Plugin { sha256: plugin, name },
            TrustChange::File { sha256: file, path: "types.json".into() },
            key(KeyTrust::Trusted),
        ];
        Trust::change(folder.path(), &changes).unwrap();
        let trust = Trust::read(folder.path()).unwrap();
        assert!(trust.has_plugin(&plugin) && trust.has_file(&file) && !trust.has_file(&plugin));
        assert_eq!(trust.key("RWa"), Some(KeyTrust::Trusted));

        let before = std::fs::read_to_string(&path).unwrap();
        assert!(before.contains("\"theirs\": 7") && before.contains("no digest"), "{before}");
        Trust::change(folder.path(), &changes).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), before, "the same again changes nothing");

        // A person may have written it with capitals.
        let capitals = before.replace(&plugin.to_string(), &plugin.to_string().to_uppercase());
        std::fs::write(&path, capitals).unwrap();
        assert!(Trust::read(folder.path()).unwrap().has_plugin(&plugin));

        let back = [TrustChange::ForgetPlugin(plugin), TrustChange::ForgetFile(file), key(KeyTrust::Revoked)];
        Trust::change(folder.path(), &back).unwrap();
        let trust = Trust::read(folder.path()).unwrap();
        assert!(!trust.has_plugin(&plugin) && !trust.has_file(&file));
        assert_eq!(trust.key("RWa"), Some(KeyTrust::Revoked));
    }

    #[test]
    fn who_signed_a_library_is_noted_only_of_one_that_is_trusted() {
        let folder = tempfile::tempdir().unwrap();
        let sha256 = Digest::of(b"plugin");
        let key: SignerKey = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3".parse().unwrap();
        let signer = |signer: Option<&SignerKey>| {
            Trust::change(folder.path(), &[TrustChange::Signer { sha256, signer: signer.cloned() }]).unwrap();
            Trust::read(folder.path()).unwrap()
        };
        let untrusted = signer(Some(&key));
        assert!(!untrusted.has_plugin(&sha256) && untrusted.signer(&sha256).is_none());
        let name: PluginName = "audit".parse().unwrap();
        Trust::change(folder.path(), &[TrustChange::Plugin { sha256, name }]).unwrap();
        assert_eq!(signer(Some(&key)).signer(&sha256), Some(&key));
        let unsigned = signer(None);
        assert!(unsigned.has_plugin(&sha256) && unsigned.signer(&sha256).is_none());
    }

    #[test]
    fn a_damaged_file_trusts_nothing_and_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trust.json");
        for text in [
            "",
            "{",
            "[]",
            r#"{"version": 2}"#,
            r#"{"plugins": {}, "plugins": {}}"#,
            r#"{"keys": []}"#,
            r#"{"plugins": null}"#,
        ] {
            std::fs::write(&path, text).unwrap();
            let error = Trust::read(folder.path()).unwrap_err();
            assert_eq!((error.code, error.file.as_deref()), ("trust-damaged", Some(path.as_path())));
            let change = [TrustChange::ForgetPlugin(Digest::of(b""))];
            assert_eq!(Trust::change(folder.path(), &change).unwrap_err().code, "trust-damaged");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn what_is_trusted_in_capital_digits_can_be_taken_back() {
        let plugin = Digest::of(b"plugin");
        let text = format!(r#"{{"plugins": {{"{}": {{}}}}}}"#, plugin.to_string().to_uppercase());
        assert!(Trust::parse(&text).unwrap().has_plugin(&plugin));
        let after = Trust::change_text(&text, &[TrustChange::ForgetPlugin(plugin)]).unwrap().unwrap();
        assert!(!Trust::parse(&after).unwrap().has_plugin(&plugin));
    }

    #[test]
    fn a_standing_that_is_not_known_is_no_trust() {
        let trust = Trust::parse(r#"{"keys": {"RWa": {"standing": "adored"}, "RWb": 7}}"#).unwrap();
        assert_eq!((trust.key("RWa"), trust.key("RWb")), (Some(KeyTrust::Revoked), Some(KeyTrust::Revoked)));
    }
}
