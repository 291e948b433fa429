//! One installed plugin in the lock file: its build, what that needs of a host
//! and what it brought, and the build before it.

use semver::{Version, VersionReq};
use serde_json::{Map, Value, json};

use crate::plugins::digest::Digest;
use crate::plugins::inspect::{About, Glibc, Library};
use crate::plugins::provides::Provides;
use crate::plugins::signature::Signature;
use crate::plugins::signer::Signer;
use crate::plugins::source::is_harmless;

/// One installed plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The build that is in use.
    pub build: Build,
    /// Whether it is to be loaded.
    pub enabled: bool,
    /// The build before the last update, for a rollback.
    pub previous: Option<Build>,
}

/// One build of a plugin, as it was when it was installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Build {
    /// Its version.
    pub version: Version,
    /// Its digest, which is also where the store has it.
    pub sha256: Digest,
    /// Its file's name.
    pub file: String,
    /// Where it was installed from, as it was recorded: relative to the project
    /// where it is inside it.
    pub source: String,
    /// The ABI it was built with.
    pub abi: Version,
    /// The API it was built with.
    pub api: Version,
    /// What it needs of a host.
    pub needs: Needs,
    /// What it brought.
    pub provides: Provides,
    /// Who signed it. In a project's list, this is what the project says.
    pub signer: Option<Signer>,
}

/// What a build needs of a host, kept so that listing needs no library file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Needs {
    /// The operating system's name.
    pub system: String,
    /// The processors it is built for.
    pub processors: Vec<String>,
    /// The oldest glibc.
    pub glibc: Option<String>,
    /// The host versions.
    pub replio: Option<String>,
    /// Whether a panic in it aborts.
    pub panic_aborts: bool,
    /// The libraries that the system's loader looks for; `None` where that was not
    /// recorded.
    pub libraries: Option<Vec<String>>,
}

impl Needs {
    /// What a library needs, by what it says of itself.
    pub fn of(library: &Library, about: &About) -> Self {
        Self {
            system: library.system.to_string(),
            processors: library.processors.iter().map(ToString::to_string).collect(),
            glibc: library.glibc.map(|glibc| glibc.to_string()),
            replio: about.replio.as_ref().map(ToString::to_string),
            panic_aborts: about.panic_aborts,
            libraries: library.libraries.clone(),
        }
    }

    /// The oldest glibc, read.
    pub fn glibc(&self) -> Option<Glibc> {
        self.glibc.as_deref().and_then(Glibc::parse)
    }

    /// The host versions, read.
    pub fn replio(&self) -> Option<VersionReq> {
        self.replio.as_deref().and_then(|text| VersionReq::parse(text).ok())
    }
}

impl Record {
    pub(super) fn from_json(value: &Value) -> Result<Self, String> {
        let enabled = value.get("enabled").and_then(Value::as_bool).ok_or("\"enabled\" is missing")?;
        let previous = value.get("previous").filter(|previous| !previous.is_null());
        let previous = previous.map(Build::from_json).transpose();
        Ok(Self {
            build: Build::from_json(value)?,
            enabled,
            previous: previous.map_err(|error| format!("in \"previous\": {error}"))?,
        })
    }

    /// The record as JSON, with what else `old`, the record before it, says.
    pub(super) fn to_json(&self, old: Value) -> Value {
        let mut value = self.build.to_json(old);
        value.insert("enabled".into(), self.enabled.into());
        match &self.previous {
            Some(previous) => {
                let old = value.get("previous").filter(|old| previous.is_build_of(old)).cloned();
                let previous = previous.to_json(old.unwrap_or_default());
                value.insert("previous".into(), previous.into());
            }
            None => drop(value.shift_remove("previous")),
        }
        value.into()
    }
}

impl Build {
    fn from_json(value: &Value) -> Result<Self, String> {
        let text = |key: &str| {
            let text = value.get(key).and_then(Value::as_str);
            text.map(str::to_owned).ok_or_else(|| format!("{key:?} is missing or no text"))
        };
        let version = |key| Version::parse(&text(key)?).map_err(|error| format!("{key:?}: {error}"));
        let file = text("file")?;
        // Nothing that a path, the system's loader (`$ORIGIN`) or a terminal would
        // take for something else.
        if file.is_empty() || file.starts_with('.') || !file.chars().all(is_harmless) {
            return Err(format!("{file:?} is not the name of a file"));
        }
        let needs = value.get("needs").unwrap_or(&Value::Null);
        let need = |key: &str| needs.get(key).and_then(Value::as_str).map(str::to_owned);
        let processors = needs.get("processors").and_then(Value::as_array).map(Vec::as_slice);
        let libraries = needs.get("libraries").and_then(Value::as_array);
        Ok(Self {
            version: version("version")?,
            sha256: text("sha256")?.parse().map_err(|error| format!("{error}"))?,
            file,
            source: text("source")?,
            abi: version("abi")?,
            api: version("api")?,
            needs: Needs {
                system: need("system").unwrap_or_default(),
                processors: processors
                    .unwrap_or_default()
                    .iter()
                    .filter_map(|processor| processor.as_str().map(str::to_owned))
                    .collect(),
                glibc: need("glibc"),
                replio: need("replio"),
                panic_aborts: need("panic").as_deref() == Some("abort"),
                // One that is no text leaves all of them unknown.
                libraries: libraries.and_then(|libraries| {
                    libraries.iter().map(|library| library.as_str().map(str::to_owned)).collect()
                }),
            },
            provides: value
                .get("provides")
                .and_then(Provides::from_json)
                .ok_or("\"provides\" is missing or can't be read")?,
            signer: signer_from_json(value)?,
        })
    }

    /// Whether JSON speaks of this very build.
    fn is_build_of(&self, value: &Value) -> bool {
        let sha256 = value.get("sha256").and_then(Value::as_str);
        sha256.and_then(|sha256| sha256.parse().ok()) == Some(self.sha256)
    }

    fn to_json(&self, mut old: Value) -> Map<String, Value> {
        let (needs, provides) = if self.is_build_of(&old) {
            (old["needs"].take(), old["provides"].take())
        } else {
            (Value::Null, Value::Null)
        };
        let mut value = object(old);
        let mut set = |key: &str, new: Value| drop(value.insert(key.into(), new));
        set("version", self.version.to_string().into());
        set("sha256", self.sha256.to_string().into());
        set("file", self.file.clone().into());
        set("source", self.source.clone().into());
        set("abi", self.abi.to_string().into());
        set("api", self.api.to_string().into());
        let mut known = json!({
            "system": self.needs.system,
            "processors": self.needs.processors,
            "glibc": self.needs.glibc,
            "replio": self.needs.replio,
            "panic": if self.needs.panic_aborts { "abort" } else { "unwind" },
        });
        if let Some(libraries) = &self.needs.libraries {
            known["libraries"] = json!(libraries);
        }
        set("needs", with(needs, known));
        set("provides", with(provides, self.provides.to_json()));
        if let Some(signer) = &self.signer {
            set("signer", signer.key.to_string().into());
            set("signature", signer.signature.text().into());
        } else {
            value.shift_remove("signer");
            value.shift_remove("signature");
        }
        value
    }
}

/// What is known, and whatever else the old object says.
fn with(old: Value, known: Value) -> Value {
    let mut value = object(old);
    value.extend(object(known));
    value.into()
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// A signer that can't be read is an error: nobody may turn what was signed
/// into something unsigned by damaging a line.
fn signer_from_json(value: &Value) -> Result<Option<Signer>, String> {
    let text = |key: &str| match value.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(_) => Err(format!("{key:?} is no text")),
    };
    match (text("signer")?, text("signature")?) {
        (None, None) => Ok(None),
        (Some(key), Some(signature)) => {
            let key = key.parse().map_err(|error| format!("\"signer\": {error}"))?;
            let signature = Signature::parse(signature.as_bytes());
            let signature = signature.map_err(|error| format!("\"signature\": {error}"))?;
            Ok(Some(Signer { key, signature }))
        }
        _ => Err("of \"signer\" and \"signature\" one is missing".into()),
    }
}
