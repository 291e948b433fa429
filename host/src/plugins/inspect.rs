//! What a library file says of itself, and whether this host can load it:
//! decided by parsing, before a line of it runs.

use std::io;
use std::path::{Path, PathBuf};

use replio_plugin_abi::manifest::{Manifest, ManifestError};
use semver::{Version, VersionReq};

use crate::files::{ReadError, read_regular_file};
use crate::names::{InvalidName, PluginName};
use crate::plugins::digest::Digest;

mod library;

pub use library::{Glibc, Library, NotALibrary, System};

/// The largest library that is read, in bytes.
const LARGEST_LIBRARY: u64 = 256 * 1024 * 1024;

/// A library file and what it says of itself. The digest, the facts and what
/// is later stored all come from the same bytes, which were read once.
#[derive(Debug, Clone)]
pub struct Inspection {
    /// The whole file.
    pub bytes: Vec<u8>,
    /// Its SHA-256.
    pub sha256: Digest,
    /// What kind of file it is.
    pub library: Library,
    /// What it says of itself.
    pub about: About,
}

/// The manifest, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// The plugin's name.
    pub name: PluginName,
    /// Its version.
    pub version: Version,
    /// The ABI it was built with.
    pub abi: Version,
    /// The version of `replio-plugin-api` it was built with.
    pub api: Version,
    /// Whether a panic in it aborts the process.
    pub panic_aborts: bool,
    /// The host versions it works with.
    pub replio: Option<VersionReq>,
    /// What it is.
    pub description: Option<String>,
    /// Who wrote it.
    pub authors: Vec<String>,
    /// Its licence.
    pub license: Option<String>,
    /// Its page.
    pub homepage: Option<String>,
}

/// Why a file is not a plugin that can be read.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum InspectError {
    #[error("there is no {}", .0.display())]
    Missing(PathBuf),
    #[error("{} can't be read: {error}", path.display())]
    Read { path: PathBuf, error: std::io::Error },
    #[error("{} is {what}, not a file", path.display())]
    NotAFile { path: PathBuf, what: &'static str },
    #[error("{} has {size} bytes, and {LARGEST_LIBRARY} are allowed", path.display())]
    TooLarge { path: PathBuf, size: u64 },
    #[error("{} is not a shared library: {reason}", path.display())]
    NotALibrary { path: PathBuf, reason: NotALibrary },
    #[error("{} is a shared library, but not a replio plugin: {reason}", path.display())]
    NotAPlugin { path: PathBuf, reason: &'static str },
    #[error("{} is a library for Windows, and plugins run on Linux and macOS so far", path.display())]
    ForWindows { path: PathBuf },
    #[error("the manifest in {} can't be read: {error}", path.display())]
    Manifest { path: PathBuf, error: ManifestError },
    #[error("the manifest in {} gives no usable name: {error}", path.display())]
    Name { path: PathBuf, error: InvalidName },
    #[error("the manifest of plugin {name} ({}) gives no usable {key}: {error}", path.display())]
    Version { name: PluginName, path: PathBuf, key: &'static str, error: semver::Error },
}

impl InspectError {
    /// The word for scripts.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Missing(_) => "source-missing",
            Self::Read { .. } => "library-unreadable",
            Self::NotAFile { .. } | Self::TooLarge { .. } | Self::NotALibrary { .. } => "not-a-library",
            Self::NotAPlugin { .. } => "not-a-plugin",
            Self::ForWindows { .. } => "plugin-incompatible",
            Self::Manifest { .. } | Self::Name { .. } | Self::Version { .. } => "bad-manifest",
        }
    }

    /// What to do next.
    pub fn help(&self) -> String {
        match self {
            Self::Missing(_) => "check the path; a library is there once it is built".into(),
            Self::Read { .. } => "check the path and its permissions".into(),
            Self::NotAFile { what: "a folder", .. } => {
                "give the library itself; `cargo build --release` puts a crate's into target/release".into()
            }
            Self::NotAFile { .. } | Self::TooLarge { .. } => "give the path of the library itself".into(),
            Self::NotALibrary { reason: NotALibrary::Damaged(_), .. } => {
                "fetch or build it again; the file is not whole".into()
            }
            Self::NotALibrary { .. } => {
                "give the .so or .dylib that the plugin's build made, or its folder with the Cargo.toml"
                    .into()
            }
            Self::NotAPlugin { .. } => {
                "a plugin is built with replio-plugin-api and ends with `export_plugin!(…)`".into()
            }
            Self::ForWindows { .. } => "get the plugin's build for this system".into(),
            Self::Manifest { error: ManifestError::Format(_), .. } => "update replio".into(),
            Self::Manifest { .. } | Self::Name { .. } | Self::Version { .. } => {
                "ask the plugin's author for a library built with a released replio-plugin-api".into()
            }
        }
    }
}

/// Reads a file and what it says of itself.
///
/// # Errors
/// When the file can't be read, is no shared library, or is no plugin. A
/// plugin that this host can't load is not an error here: see
/// [`incompatibility`].
pub fn inspect(path: &Path) -> Result<Inspection, InspectError> {
    inspect_bytes(read_library(path)?, path)
}

/// The same, for bytes that are already in memory; `path` is for messages.
///
/// # Errors
/// As [`inspect`].
pub fn inspect_bytes(bytes: Vec<u8>, path: &Path) -> Result<Inspection, InspectError> {
    let library = Library::read(&bytes, std::env::consts::ARCH)
        .map_err(|reason| InspectError::NotALibrary { path: path.into(), reason })?;
    if library.system == System::Windows {
        return Err(InspectError::ForWindows { path: path.into() });
    }
    let not_a_plugin = |reason| InspectError::NotAPlugin { path: path.into(), reason };
    let section = library.manifest.as_deref().ok_or_else(|| not_a_plugin("it has no manifest section"))?;
    let manifest =
        Manifest::read(section).map_err(|error| InspectError::Manifest { path: path.into(), error })?;
    let about = About::check(manifest, path)?;
    if !library.exports_root {
        return Err(not_a_plugin("it has a manifest, but does not export the plugin symbol"));
    }
    Ok(Inspection { sha256: Digest::of(&bytes), bytes, library, about })
}

/// Reads a regular file whole, and nothing that would block or never end.
///
/// # Errors
/// When it is no regular file, too large, or can't be read.
pub fn read_library(path: &Path) -> Result<Vec<u8>, InspectError> {
    let bytes = read_regular_file(path, LARGEST_LIBRARY).map_err(|error| {
        let path = path.to_owned();
        match error {
            ReadError::System(error) => InspectError::Read { path, error },
            ReadError::DeadLink => InspectError::Read { path, error: io::Error::other(error.to_string()) },
            ReadError::Folder => InspectError::NotAFile { path, what: "a folder" },
            ReadError::Special => InspectError::NotAFile { path, what: "a device, a socket or a FIFO" },
            ReadError::TooLarge(size) => InspectError::TooLarge { path, size },
        }
    })?;
    bytes.ok_or_else(|| InspectError::Missing(path.to_owned()))
}

impl About {
    fn check(manifest: Manifest, path: &Path) -> Result<Self, InspectError> {
        let name: PluginName =
            manifest.name.parse().map_err(|error| InspectError::Name { path: path.into(), error })?;
        let fault = |key, error| InspectError::Version { name: name.clone(), path: path.into(), key, error };
        let version = |key, text: &str| Version::parse(text).map_err(|error| fault(key, error));
        Ok(Self {
            version: version("version", &manifest.version)?,
            abi: version("abi version", &manifest.abi)?,
            api: version("api version", &manifest.api)?,
            panic_aborts: manifest.panic == "abort",
            replio: manifest
                .replio
                .map(|text| VersionReq::parse(&text).map_err(|error| fault("requirement on replio", error)))
                .transpose()?,
            description: manifest.description,
            authors: manifest
                .authors
                .map(|authors| authors.split(':').map(str::to_owned).collect())
                .unwrap_or_default(),
            license: manifest.license,
            homepage: manifest.homepage,
            name,
        })
    }
}

/// This host, as far as plugins depend on it.
#[derive(Debug, Clone)]
pub struct Host {
    /// Its operating system.
    pub system: System,
    /// Its processor, in Rust's words.
    pub processor: &'static str,
    /// The glibc it runs on; `None` where there is none.
    pub glibc: Option<Glibc>,
    /// Its ABI.
    pub abi: Version,
    /// Its version.
    pub version: Version,
}

impl Host {
    /// The host that runs this code.
    ///
    /// # Panics
    /// Never: cargo has checked the versions that it reads.
    pub fn this() -> Self {
        let parse = |text| Version::parse(text).expect("cargo checked it");
        Self {
            system: if cfg!(target_vendor = "apple") {
                System::MacOs
            } else if cfg!(windows) {
                System::Windows
            } else if cfg!(target_os = "freebsd") {
                System::FreeBsd
            } else {
                System::Linux
            },
            processor: std::env::consts::ARCH,
            glibc: super::load::glibc_version(),
            abi: parse(replio_plugin_abi::ABI_VERSION),
            version: parse(env!("CARGO_PKG_VERSION")),
        }
    }
}

/// Why a host can't load a plugin that is whole in itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum Incompatibility {
    #[error("it is built for {built_for}, and this is {this}")]
    System { built_for: System, this: System },
    #[error("it is built for {built_for}, and this is {this}")]
    Processor { built_for: String, this: &'static str },
    #[error("it needs glibc {needed}, and this system has {this}")]
    Glibc { needed: Glibc, this: Glibc },
    #[error("it speaks plugin ABI {theirs}, and this replio speaks {ours}")]
    Abi { theirs: Version, ours: Version },
    #[error("it needs replio {needed}, and this is {this}")]
    Replio { needed: VersionReq, this: Version },
}

impl Incompatibility {
    /// What to do next.
    pub fn help(&self) -> String {
        match self {
            Self::System { this, .. } => format!("get the plugin's build for {this}"),
            Self::Processor { this, .. } => format!("get the plugin's build for {this}"),
            Self::Glibc { this, .. } => {
                format!(
                    "get a build for an older system, or build it here from source (glibc {this} or older)"
                )
            }
            Self::Abi { theirs, ours } if theirs.major > ours.major => "update replio".into(),
            Self::Abi { ours, .. } => {
                format!("get a newer version of the plugin, built for plugin ABI {}", ours.major)
            }
            Self::Replio { needed, this } => {
                format!("install a replio that satisfies {needed}, or a version of the plugin for {this}")
            }
        }
    }
}

/// Whether `host` can load the plugin: `None`, or the first reason why not.
pub fn incompatibility(library: &Library, about: &About, host: &Host) -> Option<Incompatibility> {
    if library.system != host.system {
        return Some(Incompatibility::System { built_for: library.system, this: host.system });
    }
    if !library.processors.contains(&host.processor) {
        let built_for = library.processors.join(" and ");
        return Some(Incompatibility::Processor { built_for, this: host.processor });
    }
    if let (Some(needed), Some(this)) = (library.glibc, host.glibc)
        && needed > this
    {
        return Some(Incompatibility::Glibc { needed, this });
    }
    if about.abi.major != host.abi.major {
        return Some(Incompatibility::Abi { theirs: about.abi.clone(), ours: host.abi.clone() });
    }
    match &about.replio {
        Some(needed) if !needed.matches(&host.version) => {
            Some(Incompatibility::Replio { needed: needed.clone(), this: host.version.clone() })
        }
        _ => None,
    }
}
