//! Building a plugin's crate with cargo.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde::Deserialize;

/// How much of cargo's words an error repeats, in lines.
const LINES_REPEATED: usize = 40;

/// Why a crate gave no library.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum BuildError {
    #[error("cargo, which builds a plugin from its folder, can't be started: {0}")]
    NoCargo(io::Error),
    #[error("cargo can't read {}:\n{words}", manifest.display())]
    Metadata { manifest: PathBuf, words: String },
    #[error("{} describes a workspace and no package", .0.display())]
    NoPackage(PathBuf),
    #[error("the package {package} ({}) makes no shared library", manifest.display())]
    NotACdylib { package: String, manifest: PathBuf },
    #[error("cargo was interrupted while it built {0}")]
    Interrupted(String),
    #[error("cargo could not build {package}:\n{words}")]
    Failed { package: String, words: String },
    #[error("cargo built {package} and named no library file")]
    NoLibrary { package: String },
}

impl BuildError {
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::NoCargo(_) => "no-cargo",
            Self::Metadata { .. } | Self::NoPackage(_) | Self::NotACdylib { .. } => "not-a-crate",
            Self::Interrupted(_) => "interrupted",
            Self::Failed { .. } | Self::NoLibrary { .. } => "build-failed",
        }
    }

    pub(super) fn help(&self) -> String {
        match self {
            Self::NoCargo(_) => {
                "install Rust from rustup.rs, or install the plugin's library instead of its folder".into()
            }
            Self::Metadata { .. } => "mend the Cargo.toml and try again".into(),
            Self::NoPackage(_) => "give the folder of the plugin's own package inside the workspace".into(),
            Self::NotACdylib { .. } => {
                "add to its Cargo.toml:\n    [lib]\n    crate-type = [\"cdylib\"]".into()
            }
            Self::Interrupted(_) => "nothing was installed; try again".into(),
            Self::Failed { .. } | Self::NoLibrary { .. } => {
                "run `cargo build --release` in its folder; nothing was installed".into()
            }
        }
    }
}

/// A package that makes a shared library.
#[derive(Debug)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) version: String,
    manifest: PathBuf,
}

/// The package whose Cargo.toml is in this folder.
pub(super) fn plugin_package(folder: &Path) -> Result<Package, BuildError> {
    #[derive(Deserialize)]
    struct Metadata {
        packages: Vec<Described>,
    }
    #[derive(Deserialize)]
    struct Described {
        name: String,
        version: String,
        manifest_path: PathBuf,
        targets: Vec<Target>,
    }

    let manifest = folder.join("Cargo.toml");
    let output = cargo(folder, ["metadata", "--no-deps", "--format-version", "1"])?;
    let unreadable = |words: String| BuildError::Metadata { manifest: manifest.clone(), words };
    if !output.status.success() {
        return Err(unreadable(last_lines(&output.stderr)));
    }
    let metadata: Metadata =
        serde_json::from_slice(&output.stdout).map_err(|error| unreadable(error.to_string()))?;
    let is_this = |package: &Described| is_same_file(&package.manifest_path, &manifest);
    let package = metadata.packages.into_iter().find(is_this);
    let package = package.ok_or_else(|| BuildError::NoPackage(manifest.clone()))?;
    if !package.targets.iter().any(Target::is_cdylib) {
        return Err(BuildError::NotACdylib { package: package.name, manifest });
    }
    Ok(Package { name: package.name, version: package.version, manifest })
}

/// Builds the package for release and returns its library's path.
pub(super) fn build(package: &Package, pass_on: bool) -> Result<PathBuf, BuildError> {
    #[derive(Deserialize)]
    struct Message {
        reason: String,
        manifest_path: Option<PathBuf>,
        target: Option<Target>,
        #[serde(default)]
        filenames: Vec<PathBuf>,
    }

    let folder = package.manifest.parent().unwrap_or(Path::new("."));
    let output =
        cargo(folder, ["build", "--release", "--lib", "--message-format", "json-render-diagnostics"])?;
    // What the compiler warns of is worth a look, most of all for the author.
    if pass_on || output.stderr.windows(9).any(|window| window == b"\nwarning:") {
        let words = String::from_utf8_lossy(&output.stderr);
        // Where stderr can't be written to, nobody can be told.
        let _ = io::stderr().write_all(crate::output::clean(&words).as_bytes());
    }
    if output.status.code().is_none() {
        return Err(BuildError::Interrupted(package.name.clone()));
    }
    if !output.status.success() {
        return Err(BuildError::Failed { package: package.name.clone(), words: last_lines(&output.stderr) });
    }
    let is_library = |file: &PathBuf| file.extension() == Some(OsStr::new(std::env::consts::DLL_EXTENSION));
    output
        .stdout
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice::<Message>(line).ok())
        .filter(|message| message.reason == "compiler-artifact")
        .filter(|message| message.target.as_ref().is_some_and(Target::is_cdylib))
        .filter(|message| {
            message.manifest_path.as_ref().is_some_and(|path| is_same_file(path, &package.manifest))
        })
        .flat_map(|message| message.filenames)
        .find(is_library)
        .ok_or_else(|| BuildError::NoLibrary { package: package.name.clone() })
}

#[derive(Deserialize)]
struct Target {
    crate_types: Vec<String>,
}

impl Target {
    fn is_cdylib(&self) -> bool {
        self.crate_types.iter().any(|kind| kind == "cdylib")
    }
}

fn cargo<'a>(folder: &Path, arguments: impl IntoIterator<Item = &'a str>) -> Result<Output, BuildError> {
    // From the folder itself, so that its own `.cargo/config.toml` and
    // toolchain file count.
    Command::new("cargo")
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .map_err(BuildError::NoCargo)
}

fn is_same_file(left: &Path, right: &Path) -> bool {
    match (left.canonicalize(), right.canonicalize()) {
        (Ok(left), Ok(right)) => left == right,
        _ => left == right,
    }
}

fn last_lines(words: &[u8]) -> String {
    let words = String::from_utf8_lossy(words);
    let lines: Vec<&str> = words.lines().collect();
    let from = lines.len().saturating_sub(LINES_REPEATED);
    lines[from..].iter().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}
