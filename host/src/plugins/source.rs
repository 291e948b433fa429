//! Where a plugin comes from: a shared library, or a folder with a Cargo.toml
//! that cargo builds into one.

use std::path::{Path, PathBuf};

use crate::output::{Output, Verbosity};
use crate::plugins::inspect::{self, InspectError, Inspection};
use crate::plugins::lockfile::Build;
use crate::plugins::signature::SignatureError;

mod beside;
mod build;

pub use beside::SignatureFile;
pub use build::BuildError;

/// A source that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A shared library.
    Library(PathBuf),
    /// A folder with a Cargo.toml.
    Folder(PathBuf),
}

/// Why a source gives no plugin.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum SourceError {
    #[error("{0} is an address, and plugins are installed from a shared library or a folder")]
    Address(String),
    #[error("there is no {}", .0.display())]
    Missing(PathBuf),
    #[error("{} holds no Cargo.toml", .0.display())]
    NotACrate(PathBuf),
    #[error(transparent)]
    Inspect(#[from] InspectError),
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error("the signature {} can't be used: {error}", file.display())]
    Signature { file: PathBuf, error: SignatureError },
}

impl SourceError {
    /// The word for scripts.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Address(_) => "source-unsupported",
            Self::Missing(_) => "source-missing",
            Self::NotACrate(_) => "not-a-crate",
            Self::Inspect(error) => error.code(),
            Self::Build(error) => error.code(),
            Self::Signature { .. } => "signature-bad",
        }
    }

    /// What to do next.
    pub fn help(&self) -> String {
        match self {
            Self::Address(_) => "download or clone it yourself, and give the path".into(),
            Self::Missing(_) => "check the path".into(),
            Self::NotACrate(_) => "give the plugin's library, or the folder of its crate".into(),
            Self::Inspect(error) => error.help(),
            Self::Build(error) => error.help(),
            Self::Signature { error, .. } => error.help(),
        }
    }
}

impl Source {
    /// Looks what a path is. `current` is what it is relative to.
    ///
    /// # Errors
    /// When nothing that could be a plugin is there.
    pub fn find(text: &Path, current: &Path) -> Result<Self, SourceError> {
        if text.to_str().is_some_and(|text| text.contains("://") || text.starts_with("git@")) {
            return Err(SourceError::Address(text.display().to_string()));
        }
        // Without the `.` in it that would only be noise in messages.
        let path: PathBuf = current.join(text).components().collect();
        let path = match path.canonicalize() {
            Ok(whole) => keeping_its_name(&path).unwrap_or(whole),
            // A link that leads nowhere; reading it tells why.
            Err(_) if path.symlink_metadata().is_ok() => path,
            Err(_) => return Err(SourceError::Missing(path)),
        };
        if !path.is_dir() {
            return Ok(Self::Library(path));
        }
        if path.join("Cargo.toml").is_file() {
            Ok(Self::Folder(path))
        } else {
            Err(SourceError::NotACrate(path))
        }
    }

    /// The absolute path.
    pub fn path(&self) -> &Path {
        match self {
            Self::Library(path) | Self::Folder(path) => path,
        }
    }

    /// Reads the library, after building it where it has to be built.
    ///
    /// # Errors
    /// When it can't be built or is no plugin.
    pub fn fetch(&self, output: Output) -> Result<Fetched, SourceError> {
        let library = match self {
            Self::Library(path) => path.clone(),
            Self::Folder(folder) => {
                let package = build::plugin_package(folder)?;
                let what = format!(
                    "building {} {} with cargo; build scripts run with your rights",
                    package.name, package.version
                );
                let progress = output.progress(&what);
                let library = build::build(&package, output.verbosity == Verbosity::Verbose)?;
                drop(progress);
                library
            }
        };
        let inspection = inspect::inspect(&library)?;
        let signature = match self {
            Self::Library(_) => beside::signature_beside(&library)
                .map_err(|(file, error)| SourceError::Signature { file, error })?,
            // Nobody can have signed what is built here.
            Self::Folder(_) => None,
        };
        let file_name = library.file_name().and_then(|name| name.to_str()).map(safe_file_name);
        let file_name = file_name.unwrap_or_else(|| safe_file_name("plugin"));
        Ok(Fetched { inspection, file_name, signature })
    }
}

/// An absolute path without links in its folders. A link at its end stays, so
/// that an update follows it to where it leads by then.
fn keeping_its_name(path: &Path) -> Option<PathBuf> {
    Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?))
}

/// A library that was read from its source.
#[derive(Debug)]
pub struct Fetched {
    /// The library.
    pub inspection: Inspection,
    /// The name its file will have in the store.
    pub file_name: String,
    /// The signature that lies beside it; nobody has verified it yet.
    pub signature: Option<SignatureFile>,
}

impl Fetched {
    /// Bytes that the store has already stay in the file they are in there, so
    /// that no file that is spoken of has to go before the new list counts.
    pub fn keep_name_of<'b>(&mut self, builds: impl IntoIterator<Item = Option<&'b Build>>) {
        let same = |build: &&Build| build.sha256 == self.inspection.sha256;
        if let Some(build) = builds.into_iter().flatten().find(same) {
            self.file_name.clone_from(&build.file);
        }
    }
}

/// Whether a character in a file's name means nothing but itself.
pub(super) fn is_harmless(character: char) -> bool {
    character.is_ascii_alphanumeric() || "._-".contains(character)
}

/// A file's name without anything that could mean something to a path, a
/// loader or a terminal.
fn safe_file_name(name: &str) -> String {
    let name: String = name.chars().map(|c| if is_harmless(c) { c } else { '_' }).take(100).collect();
    let name = name.trim_start_matches('.');
    if name.is_empty() { "plugin".into() } else { name.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_in_the_store_is_harmless() {
        assert_eq!(safe_file_name("libfoo.so"), "libfoo.so");
        assert_eq!(safe_file_name("..\u{1b}[1m x.so"), "__1m_x.so");
        assert_eq!(safe_file_name("..."), "plugin");
    }

    #[test]
    fn an_address_is_told_from_a_path() {
        let find = |text: &str| Source::find(Path::new(text), Path::new("/")).unwrap_err().code();
        assert_eq!(find("https://example.org/x.so"), "source-unsupported");
        assert_eq!(find("git@example.org:x/y"), "source-unsupported");
        assert_eq!(find("no/such/file.so"), "source-missing");
    }
}
