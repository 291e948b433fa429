//! Why a build is refused for who signed it, or for nobody having done so.

use std::path::PathBuf;

use crate::names::PluginName;
use crate::plugins::signature::{KeyId, SignatureError, SignerKey};

/// Why a build is refused. Each names the plugin, so that it can be told which
/// of several it is about.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum SignerError {
    #[error("the signature of plugin {name}{} does not count: {error}", in_file(file.as_ref()))]
    Bad { name: PluginName, file: Option<PathBuf>, error: SignatureError },
    #[error("the signature of plugin {name} in plugins.lock does not count: {error}")]
    BadRecord { name: PluginName, error: SignatureError, help: String },
    #[error("plugin {name} is signed by key {id}, which is not known here")]
    Unknown { name: PluginName, id: KeyId },
    #[error("plugin {name} is signed by key {}, which you revoked", key.id())]
    Revoked { name: PluginName, key: SignerKey },
    #[error("plugin {name} is now signed by key {now}, and until now by key {before}")]
    Changed { name: PluginName, before: KeyId, now: KeyId },
    #[error("plugin {name} is not signed any more, and until now it was signed by key {before}")]
    Missing { name: PluginName, before: KeyId },
    #[error("plugin {name} is not signed, and key {accepted} was to have signed it")]
    NotSigned { name: PluginName, accepted: KeyId },
    #[error("plugin {name} is signed by key {signed_by}, and not by {accepted}, which was to be accepted")]
    Other { name: PluginName, signed_by: KeyId, accepted: KeyId },
    #[error("plugin {name} is not signed, and config.json requires a signature")]
    Required { name: PluginName },
    #[error(
        "plugin {name} is signed by key {id}, which only plugins.lock knows, and config.json requires a signature by one that you know"
    )]
    RequiredKnown { name: PluginName, id: KeyId },
    #[error("{} is a folder that cargo builds, which nobody can have signed, and a signature is required", .0.display())]
    Folder(PathBuf),
}

fn in_file(file: Option<&PathBuf>) -> String {
    file.map(|file| format!(" ({})", file.display())).unwrap_or_default()
}

impl SignerError {
    /// The word for scripts.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Bad { .. } | Self::BadRecord { .. } => "signature-bad",
            Self::Unknown { .. } => "signer-unknown",
            Self::Revoked { .. } => "signer-revoked",
            Self::Changed { .. } => "signer-changed",
            Self::Missing { .. } | Self::NotSigned { .. } => "signer-missing",
            Self::Other { .. } => "signer-other",
            Self::Required { .. } | Self::RequiredKnown { .. } | Self::Folder(_) => "signature-required",
        }
    }

    /// What to do next.
    pub fn help(&self) -> String {
        match self {
            Self::Bad { error, .. } => error.help(),
            Self::BadRecord { help, .. } => help.clone(),
            Self::Unknown { .. } => {
                "get the author's public key, from elsewhere than the file; `--accept-key KEY` accepts it for this plugin, \
                 `replio plugins keys trust KEY` for all that it signs; or move the .minisig away to go without a signature"
                    .into()
            }
            Self::Revoked { key, .. } => {
                format!("look for a build that another key signed; `replio plugins keys trust {key}` takes the key back")
            }
            Self::Changed { .. } => {
                "ask the author whether they have another key; if so, `--accept-key KEY` accepts it. Nothing was changed"
                    .into()
            }
            Self::Missing { .. } => {
                "get the .minisig too, and put it beside the library; `--accept-key none` goes without a signature from now on"
                    .into()
            }
            Self::NotSigned { .. } => {
                "get the .minisig too, and put it beside the library, or leave out --accept-key".into()
            }
            Self::Other { .. } => "ask the author which key is theirs; nothing was changed".into(),
            Self::Required { .. } => {
                "get a signed library with its .minisig; `require_signature` in config.json asks for it".into()
            }
            Self::RequiredKnown { .. } => {
                "get the author's public key, then `replio plugins keys trust KEY`, or add `--accept-key KEY` to an update"
                    .into()
            }
            Self::Folder(_) => {
                "give a library that is signed, with its .minisig beside it; nothing was built".into()
            }
        }
    }

    /// The plugin it is about, where that is known.
    pub fn plugin(&self) -> Option<&PluginName> {
        match self {
            Self::Bad { name, .. }
            | Self::BadRecord { name, .. }
            | Self::Unknown { name, .. }
            | Self::Revoked { name, .. }
            | Self::Changed { name, .. }
            | Self::Missing { name, .. }
            | Self::NotSigned { name, .. }
            | Self::Other { name, .. }
            | Self::Required { name }
            | Self::RequiredKnown { name, .. } => Some(name),
            Self::Folder(_) => None,
        }
    }
}
