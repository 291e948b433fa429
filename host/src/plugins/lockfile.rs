//! `plugins.lock`: which plugins are installed. It is the only truth about
//! them, is written last and whole, and may be committed with a project. What
//! is in it and not understood here, such as what a newer replio wrote, is
//! kept.

use std::path::Path;

use indexmap::IndexMap;
use serde_json::{Map, Value};

use crate::catalog::{parse_document, read_document};
use crate::diagnostic::Diagnostic;
use crate::names::PluginName;
use crate::plugins::digest::Digest;

mod record;

pub use record::{Build, Needs, Record};

/// The format written here.
const FORMAT: u64 = 1;

/// A lock file that was read.
#[derive(Debug, Clone, Default)]
pub struct Lockfile {
    document: Map<String, Value>,
    plugins: IndexMap<PluginName, Result<Record, String>>,
}

impl Lockfile {
    /// Reads a lock file; one that is not there is empty.
    ///
    /// # Errors
    /// When it can't be read as a whole. A record that can't be read is no
    /// error: it is there as the reason why.
    pub fn read(path: &Path) -> Result<Self, Diagnostic> {
        match read_document(path) {
            Ok(None) => Ok(Self::default()),
            Ok(Some(document)) => Self::from_document(document).map_err(|error| error.file(path)),
            Err(error) if matches!(error.code, "unreadable" | "not-a-file") => {
                let message = format!("the list of installed plugins can't be looked at: {}", error.message);
                Err(Diagnostic::new("lock-unreadable", message)
                    .help("check what the file and the folders above it are, and whether you may read them")
                    .file(path))
            }
            Err(error) => Err(damaged(error)),
        }
    }

    /// Reads the text of a lock file.
    ///
    /// # Errors
    /// As [`Lockfile::read`].
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        parse_document(text).map_err(damaged).and_then(Self::from_document)
    }

    fn from_document(document: Value) -> Result<Self, Diagnostic> {
        let shape = |message: &str| damaged(Diagnostic::new("lock-damaged", message));
        let Value::Object(document) = document else { return Err(shape("it is not an object")) };
        match document.get("version") {
            None => return Err(shape("it has no \"version\"")),
            Some(version) if version.as_u64() == Some(FORMAT) => {}
            Some(version) => {
                let message = format!(
                    "the list of installed plugins has format {version}, and this replio knows format {FORMAT}"
                );
                return Err(Diagnostic::new("lock-too-new", message).help("update replio"));
            }
        }
        let Some(Value::Object(raw)) = document.get("plugins") else {
            return Err(shape("it has no object \"plugins\""));
        };
        let mut plugins = IndexMap::new();
        for (name, record) in raw {
            let name: PluginName = name.parse().map_err(|error| shape(&format!("{error}")))?;
            plugins.insert(name, Record::from_json(record));
        }
        plugins.sort_keys();
        Ok(Self { document, plugins })
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        let mut document = self.document.clone();
        document.insert("version".into(), FORMAT.into());
        let old = document.get("plugins").and_then(Value::as_object).cloned().unwrap_or_default();
        let plugins: Map<String, Value> = self
            .plugins
            .iter()
            .map(|(name, record)| {
                let old = old.get(name.as_str()).cloned().unwrap_or_default();
                let value = match record {
                    // What nobody changed is written as it was found.
                    Ok(record) if Record::from_json(&old).as_ref() != Ok(record) => record.to_json(old),
                    _ => old,
                };
                (name.to_string(), value)
            })
            .collect();
        document.insert("plugins".into(), plugins.into());
        format!("{:#}\n", Value::Object(document))
    }

    /// The plugins in the order of their names, each with its record or the
    /// reason why that can't be read.
    pub fn plugins(&self) -> impl Iterator<Item = (&PluginName, &Result<Record, String>)> {
        self.plugins.iter()
    }

    /// One plugin's record.
    pub fn get(&self, name: &PluginName) -> Option<&Result<Record, String>> {
        self.plugins.get(name)
    }

    /// Puts a record in, over the old one if there is one.
    pub fn put(&mut self, name: &PluginName, record: Record) {
        self.plugins.insert(name.clone(), Ok(record));
        self.plugins.sort_keys();
    }

    /// Takes a record out.
    pub fn remove(&mut self, name: &PluginName) {
        self.plugins.shift_remove(name);
    }

    /// The digests that some record, read or not, speaks of.
    pub fn digests(&self) -> impl Iterator<Item = Digest> {
        let of_record = |(name, record): (&PluginName, &Result<Record, String>)| {
            if let Ok(record) = record {
                return [Some(record.build.sha256), record.previous.as_ref().map(|build| build.sha256)];
            }
            let raw = self.document.get("plugins").and_then(|plugins| plugins.get(name.as_str()));
            let digest = |value: Option<&Value>| value?.get("sha256")?.as_str()?.parse().ok();
            [digest(raw), digest(raw.and_then(|raw| raw.get("previous")))]
        };
        self.plugins.iter().flat_map(of_record).flatten()
    }
}

fn damaged(mut cause: Diagnostic) -> Diagnostic {
    cause.code = "lock-damaged";
    cause.message = format!("the list of installed plugins can't be used: {}", cause.message);
    cause.help("restore it, or move it away and install the plugins again; it is left as it is")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = r#"{
  "version": 1,
  "comment": "ours",
  "plugins": {
    "bad": { "sha256": 5 },
    "good": {
      "version": "1.2.0",
      "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
      "file": "libgood.so",
      "source": "./libgood.so",
      "abi": "1.0.0",
      "api": "1.0.0",
      "needs": {
        "system": "Linux",
        "processors": [
          "x86_64"
        ],
        "glibc": "2.34",
        "replio": null,
        "panic": "unwind"
      },
      "provides": {
        "types": {
          "a": {
            "tags": "0123456789abcdef",
            "tool_permission": {
              "bash": "ask"
            }
          }
        },
        "skills": {},
        "teams": {}
      },
      "enabled": true,
      "signed_by": "a newer replio"
    }
  }
}"#;

    #[test]
    fn what_is_not_understood_is_kept() {
        let lockfile = Lockfile::parse(TEXT).unwrap();
        let again: Value = serde_json::from_str(&lockfile.text()).unwrap();
        assert_eq!(again, serde_json::from_str::<Value>(TEXT).unwrap());
        let name: PluginName = "good".parse().unwrap();
        let mut record = lockfile.get(&name).unwrap().clone().unwrap();
        record.enabled = false;
        let mut lockfile = lockfile;
        lockfile.put(&name, record);
        assert!(lockfile.text().contains("a newer replio"));
        assert!(lockfile.text().contains("\"enabled\": false"));
    }

    #[test]
    fn a_number_is_the_same_however_often_it_is_written() {
        let text =
            r#"{"version": 1, "theirs": 172777777777777777776777777777777777777799777, "plugins": {}}"#;
        let first = Lockfile::parse(text).unwrap().text();
        let second = Lockfile::parse(&first).unwrap().text();
        assert_eq!(first, second);
    }

    #[test]
    fn what_is_not_understood_inside_a_build_is_kept_with_it() {
        let mut document: Value = serde_json::from_str(TEXT).unwrap();
        let good = &mut document["plugins"]["good"];
        good["needs"]["kernel"] = "6.1".into();
        good["provides"]["tools"] = Map::new().into();
        let mut previous = good.clone();
        // Capital digits are the same digest.
        previous["sha256"] = "A".repeat(64).into();
        good["previous"] = previous;
        let text = document.to_string();
        let mut lockfile = Lockfile::parse(&text).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&lockfile.text()).unwrap(), document);

        let name: PluginName = "good".parse().unwrap();
        let record = lockfile.get(&name).unwrap().clone().unwrap();
        lockfile.put(&name, Record { enabled: false, ..record.clone() });
        document["plugins"]["good"]["enabled"] = false.into();
        document["plugins"]["good"]["previous"]["sha256"] = "a".repeat(64).into();
        assert_eq!(serde_json::from_str::<Value>(&lockfile.text()).unwrap(), document);

        // What another build needed and brought says nothing of this one.
        let build = Build { sha256: Digest::of(b"new"), ..record.build.clone() };
        lockfile.put(&name, Record { build, previous: Some(record.build), enabled: true });
        let text = lockfile.text();
        assert!(!text.contains("kernel") && !text.contains("tools"), "{text}");
    }

    #[test]
    fn one_bad_record_is_no_reason_to_lose_the_others() {
        let lockfile = Lockfile::parse(TEXT).unwrap();
        let states: Vec<_> =
            lockfile.plugins().map(|(name, record)| (name.as_str(), record.is_ok())).collect();
        assert_eq!(states, [("bad", false), ("good", true)]);
        assert_eq!(lockfile.digests().count(), 1);
    }

    #[test]
    fn a_lock_file_of_another_kind_is_refused() {
        for (text, code) in [
            ("", "lock-damaged"),
            ("[]", "lock-damaged"),
            ("{}", "lock-damaged"),
            (r#"{"version": 1}"#, "lock-damaged"),
            (r#"{"version": 1, "plugins": {}, "plugins": {}}"#, "lock-damaged"),
            (r#"{"version": 1, "plugins": {"../x": {}}}"#, "lock-damaged"),
            (r#"{"version": 2, "plugins": {}}"#, "lock-too-new"),
        ] {
            assert_eq!(Lockfile::parse(text).unwrap_err().code, code, "{text}");
        }
    }

    #[test]
    fn a_file_name_that_leads_elsewhere_makes_the_record_unreadable() {
        for file in ["../x", "/etc/passwd", ".hidden", "a\\b", ""] {
            let text = TEXT.replace(
                "libgood.so\",\n      \"source",
                &format!("{}\",\n      \"source", file.replace('\\', "\\\\")),
            );
            let lockfile = Lockfile::parse(&text).unwrap();
            assert!(lockfile.get(&"good".parse().unwrap()).unwrap().is_err(), "{file}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(at in 0..TEXT.len(), with in ".{0,3}") {
            let mut text = TEXT.to_owned();
            if text.is_char_boundary(at) {
                text.replace_range(at..=at, &with);
            }
            if let Ok(lockfile) = Lockfile::parse(&text) {
                prop_assert!(Lockfile::parse(&lockfile.text()).is_ok());
            }
        }
    }
}
