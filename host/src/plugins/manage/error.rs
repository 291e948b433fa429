//! Why a verb could not be done.

use std::path::PathBuf;

use semver::Version;

use super::SignerError;
use crate::catalog::{Kind, Scope};
use crate::diagnostic::Diagnostic;
use crate::files::FileError;
use crate::names::{EntryName, PluginName};
use crate::plugins::digest::Digest;
use crate::plugins::inspect::Incompatibility;
use crate::plugins::run::{Fault, FaultKind, JAILED};
use crate::plugins::signature::KeyId;
use crate::plugins::source::SourceError;
use crate::plugins::status::Installed;
use crate::plugins::store::Broken;

/// Why a verb could not be done. Whatever it is, nothing was changed.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum ManageError {
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error("plugin {name} can't be loaded here: {reason}")]
    Incompatible { name: PluginName, reason: Incompatibility },
    #[error(transparent)]
    Fault(Fault),
    #[error(transparent)]
    Signer(#[from] SignerError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{}", .0.message)]
    Other(Box<Diagnostic>),
    #[error("plugin {name} has the digest {found}, and {expected} was asked for")]
    Digest { name: PluginName, expected: Digest, found: Digest },
    #[error(
        "plugin {name} is installed already, as version {installed}; this is version {found}, with other content"
    )]
    OtherInstalled {
        name: PluginName,
        installed: Version,
        found: Version,
        scope: Scope,
        /// Where it comes from, when that is not the recorded source.
        from: Option<PathBuf>,
    },
    #[error("plugin {name} is installed already, and its record in plugins.lock can't be read")]
    BadRecord { name: PluginName },
    #[error("plugin {plugin} brings the {} {entry}, which plugin {other} brings too", kind.described())]
    Collision { plugin: PluginName, scope: Scope, other: PluginName, kind: Kind, entry: EntryName },
    #[error("there is no{} plugin {name:?}", scope.map(|scope| format!(" {scope}")).unwrap_or_default())]
    NotInstalled { name: String, nearest: Option<String>, scope: Option<Scope> },
    #[error("the source of plugin {name} now holds a plugin named {found}")]
    Renamed { name: PluginName, found: PluginName },
    #[error("plugin {name} {found} is older than the installed {installed}")]
    Downgrade { name: PluginName, installed: Version, found: Version },
    #[error("there is no earlier build of plugin {name} to go back to")]
    NoPrevious { name: PluginName },
    #[error("plugin {name} came with this project, and you have not trusted it")]
    Untrusted { name: PluginName },
    #[error("plugin {name} is broken: {reason}")]
    Broken { name: PluginName, reason: String, help: String },
    #[error("plugin {name} can't go back to {version}, the build before the last update: {reason}")]
    BrokenPrevious { name: PluginName, version: Version, reason: Broken, help: String },
    #[error("plugin {name} can't be updated: {error}")]
    NoUpdate { name: PluginName, error: SourceError },
    #[error("there is no key {id} that you trust, have revoked, or have accepted for a plugin")]
    NoSuchKey { id: KeyId },
    #[error("several keys have the id {id}")]
    SeveralKeys { id: KeyId },
    #[error("plugin {name} was changed by another replio meanwhile")]
    ChangedMeanwhile { name: PluginName },
}

impl ManageError {
    pub(super) fn nothing_ran(name: &PluginName) -> Self {
        Self::Fault(Fault::new(name, FaultKind::Runner("nothing ran".into())))
    }

    pub(super) fn broken(plugin: &Installed, reason: String) -> Self {
        Self::Broken { name: plugin.name.clone(), reason, help: plugin.help_when_broken() }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Source(error) | Self::NoUpdate { error, .. } => error.code(),
            Self::Incompatible { .. } => "plugin-incompatible",
            Self::Fault(fault) => fault.code(),
            Self::Signer(error) => error.code(),
            Self::File(_) => "file-error",
            Self::Other(diagnostic) => diagnostic.code,
            Self::Digest { .. } => "digest-mismatch",
            Self::OtherInstalled { .. } => "already-installed",
            Self::BadRecord { .. } | Self::Broken { .. } | Self::BrokenPrevious { .. } => "plugin-broken",
            Self::Untrusted { .. } => "plugin-untrusted",
            Self::Collision { .. } => "plugin-collision",
            Self::NotInstalled { .. } => "not-installed",
            Self::Renamed { .. } => "plugin-renamed",
            Self::Downgrade { .. } => "downgrade",
            Self::NoPrevious { .. } => "no-previous",
            Self::NoSuchKey { .. } | Self::SeveralKeys { .. } => "bad-key",
            Self::ChangedMeanwhile { .. } => "changed-meanwhile",
        }
    }

    fn help(&self) -> String {
        match self {
            Self::NoUpdate { name, error: SourceError::Missing(_) } => {
                format!("`replio plugins update {name} --from SOURCE` takes it from where it is now")
            }
            Self::Source(error) | Self::NoUpdate { error, .. } => error.help(),
            Self::Incompatible { reason, .. } => reason.help(),
            // Nothing of it is installed yet, so there is nothing to set aside.
            Self::Fault(fault) => match fault.kind {
                FaultKind::MissingDependency(_)
                | FaultKind::Open(_)
                | FaultKind::Abi { .. }
                | FaultKind::Runner(_) => fault.help(),
                FaultKind::HookFailed(_) if fault.sounds_jailed() => format!("nothing was changed; {JAILED}"),
                _ => "nothing was changed; if it is yours, mend it and build it again, else tell its author what \
                      `--verbose` shows"
                    .into(),
            },
            Self::Signer(error) => error.help(),
            Self::File(_) | Self::Other(_) => String::new(),
            Self::Digest { .. } => {
                "fetch the file again, or ask whoever gave you the digest; nothing was changed".into()
            }
            Self::OtherInstalled { name, installed, found, scope, from } => {
                let from =
                    from.as_ref().map(|from| format!(" --from {}", from.display())).unwrap_or_default();
                let scope = if *scope == Scope::Global { " --global" } else { "" };
                let downgrade = if found < installed { " --allow-downgrade" } else { "" };
                format!("`replio plugins update {name}{from}{scope}{downgrade}` replaces it")
            }
            Self::BadRecord { name } => format!("`replio plugins uninstall {name}`, then install it again"),
            Self::Collision { other, .. } => {
                format!("`replio plugins disable {other}` makes room for it; nothing was changed")
            }
            Self::NotInstalled { nearest: Some(nearest), .. } => format!("did you mean `{nearest}`?"),
            Self::NotInstalled { .. } => "`replio plugins list` shows the plugins there are".into(),
            Self::Untrusted { name } => {
                format!("`replio trust` shows what the project brings; `replio plugins trust {name}` trusts it")
            }
            Self::Renamed { name, .. } => {
                format!("install it under its new name, and `replio plugins uninstall {name}`")
            }
            Self::Downgrade { .. } => "add --allow-downgrade if you mean it".into(),
            Self::NoPrevious { .. } => "an update keeps the build before it; there was none yet".into(),
            Self::Broken { help, .. } | Self::BrokenPrevious { help, .. } => help.clone(),
            Self::NoSuchKey { .. } => "give the whole key; `replio plugins keys` lists those that are known".into(),
            Self::SeveralKeys { .. } => "give the whole key, as `replio plugins keys` shows it".into(),
            Self::ChangedMeanwhile { .. } => "try again".into(),
        }
    }

    /// The plugin it is about.
    fn plugin(&self) -> Option<&PluginName> {
        match self {
            Self::Fault(fault) => Some(&fault.plugin),
            Self::Signer(error) => error.plugin(),
            Self::Incompatible { name, .. }
            | Self::Digest { name, .. }
            | Self::OtherInstalled { name, .. }
            | Self::BadRecord { name }
            | Self::Untrusted { name }
            | Self::Renamed { name, .. }
            | Self::Downgrade { name, .. }
            | Self::NoPrevious { name }
            | Self::Broken { name, .. }
            | Self::BrokenPrevious { name, .. }
            | Self::NoUpdate { name, .. }
            | Self::ChangedMeanwhile { name }
            | Self::Collision { plugin: name, .. } => Some(name),
            Self::Source(_)
            | Self::File(_)
            | Self::Other(_)
            | Self::NotInstalled { .. }
            | Self::NoSuchKey { .. }
            | Self::SeveralKeys { .. } => None,
        }
    }

    /// What lies behind it, for those who want to know more.
    pub fn details(&self) -> String {
        match self {
            Self::Fault(fault) => fault.told().join("\n"),
            _ => String::new(),
        }
    }
}

impl From<Diagnostic> for ManageError {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Other(Box::new(diagnostic))
    }
}

impl From<ManageError> for Diagnostic {
    fn from(error: ManageError) -> Self {
        match error {
            ManageError::File(error) => error.into(),
            ManageError::Other(diagnostic) => *diagnostic,
            error => {
                let diagnostic = Self::new(error.code(), error.to_string()).help(error.help());
                match error.plugin() {
                    Some(plugin) => diagnostic.plugin(plugin.clone()),
                    None => diagnostic,
                }
            }
        }
    }
}
