//! Who signed an installed plugin. What a lock file says about that may have
//! come with a project, so it is a claim until its signature was verified: at
//! the install, which `trust.json` notes, or when it is looked at.

use std::path::Path;

use crate::names::PluginName;
use crate::plugins::inspect::read_library;
use crate::plugins::lockfile::Build;
use crate::plugins::signature::{Signature, SignatureError, Signed, SignerKey};
use crate::plugins::trust::{KeyTrust, Trust};

/// A key and the signature that it made of a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signer {
    /// The key.
    pub key: SignerKey,
    /// The signature.
    pub signature: Signature,
}

/// Who signed an installed build, without a look at its library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignedBy {
    /// Nobody, as far as is recorded.
    Nobody,
    /// This one: it was verified when this user installed the build.
    Verified(SignerKey),
    /// This one, says the lock file.
    Claimed(Box<Signer>),
}

/// Who signed an installed build, to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShownSigner {
    /// Nobody.
    Unsigned,
    /// This one.
    Verified(SignerKey),
    /// Not the one that the lock file names, or it can't be told.
    NotVerified(SignerKey),
}

impl SignedBy {
    /// Who signed a build, by the lock file and by what this user's installs
    /// have noted.
    pub fn of(build: &Build, trust: &Trust) -> Self {
        match (trust.signer(&build.sha256), &build.signer) {
            (Some(key), _) => Self::Verified(key.clone()),
            (None, Some(signer)) => Self::Claimed(Box::new(signer.clone())),
            (None, None) => Self::Nobody,
        }
    }

    /// Who it is, once a claim is verified on the library.
    pub fn shown(&self, name: &PluginName, build: &Build, library: &Path) -> ShownSigner {
        match self {
            Self::Nobody => ShownSigner::Unsigned,
            Self::Verified(key) => ShownSigner::Verified(key.clone()),
            Self::Claimed(signer) => {
                let verdict = read_library(library).ok().map(|bytes| signer.verify(name, build, &bytes));
                match verdict {
                    Some(Ok(())) => ShownSigner::Verified(signer.key.clone()),
                    _ => ShownSigner::NotVerified(signer.key.clone()),
                }
            }
        }
    }
}

impl ShownSigner {
    /// The key, if it is certain.
    pub fn key(&self) -> Option<&SignerKey> {
        match self {
            Self::Verified(key) => Some(key),
            Self::Unsigned | Self::NotVerified(_) => None,
        }
    }
}

impl Signer {
    /// Makes sure that the key signed these bytes as this build of the plugin.
    ///
    /// # Errors
    /// When it did not.
    pub fn verify(&self, name: &PluginName, build: &Build, bytes: &[u8]) -> Result<(), SignatureError> {
        self.signature.verify(&Signed { bytes, name, version: &build.version }, &self.key)
    }
}

/// The key that signed a build and that the user revoked, if there is one.
pub fn revoked<'a>(build: &'a Build, trust: &'a Trust) -> Option<&'a SignerKey> {
    let recorded = build.signer.as_ref().map(|signer| &signer.key);
    let keys = [trust.signer(&build.sha256), recorded];
    keys.into_iter().flatten().find(|key| trust.key(&key.to_string()) == Some(KeyTrust::Revoked))
}
