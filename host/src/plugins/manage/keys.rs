//! The keys that sign plugins, and what the user thinks of them.

use std::collections::BTreeMap;

use super::{ManageError, Plugins};
use crate::names::PluginName;
use crate::plugins::signature::{KeyId, SignerKey};
use crate::plugins::signer::SignedBy;
use crate::plugins::status::Installed;
use crate::plugins::trust::{KeyTrust, Trust, TrustChange};

/// A key that this user trusts or revoked, or that signed an installed plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownKey {
    /// The key.
    pub key: SignerKey,
    /// What counts of it.
    pub standing: KeyStanding,
    /// The installed plugins that it signed.
    pub plugins: Vec<PluginName>,
}

/// What counts of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyStanding {
    /// All that it signs.
    Trusted,
    /// It was accepted for the plugins that it signed, and for no other.
    Accepted,
    /// Nothing.
    Revoked,
}

impl KeyStanding {
    /// The word in listings.
    pub fn word(self) -> &'static str {
        match self {
            Self::Trusted => "trusted",
            Self::Accepted => "accepted",
            Self::Revoked => "revoked",
        }
    }
}

impl From<KeyTrust> for KeyStanding {
    fn from(trust: KeyTrust) -> Self {
        match trust {
            KeyTrust::Trusted => Self::Trusted,
            KeyTrust::Revoked => Self::Revoked,
        }
    }
}

impl Plugins<'_> {
    /// The keys there are, in the order of their texts.
    ///
    /// # Errors
    /// When it can't be read which ones are trusted.
    pub fn keys(&self) -> Result<Vec<KnownKey>, ManageError> {
        let trust = Trust::read(self.places.global())?;
        Ok(known_keys(&trust, &self.installed().0))
    }

    /// The key of this number.
    ///
    /// # Errors
    /// When none or several have it.
    pub fn key_of(&self, id: KeyId) -> Result<SignerKey, ManageError> {
        let mut keys: Vec<SignerKey> = self.keys()?.into_iter().map(|known| known.key).collect();
        keys.retain(|key| key.id() == id);
        match (keys.pop(), keys.is_empty()) {
            (None, _) => Err(ManageError::NoSuchKey { id }),
            (Some(key), true) => Ok(key),
            (Some(_), false) => Err(ManageError::SeveralKeys { id }),
        }
    }

    /// Trusts a key, or revokes it.
    ///
    /// # Errors
    /// When that can't be written down.
    pub fn judge_key(&self, key: SignerKey, trust: KeyTrust) -> Result<KnownKey, ManageError> {
        Trust::change(self.places.global(), &[TrustChange::Key { key: key.to_string(), trust }])?;
        let known = self.keys()?.into_iter().find(|known| known.key == key);
        Ok(known.unwrap_or(KnownKey { key, standing: trust.into(), plugins: Vec::new() }))
    }
}

fn known_keys(trust: &Trust, installed: &[Installed]) -> Vec<KnownKey> {
    let listed = trust.keys().filter_map(|(key, trust)| Some((key.parse().ok()?, trust.into())));
    let mut keys: BTreeMap<SignerKey, (KeyStanding, Vec<PluginName>)> =
        listed.map(|(key, standing)| (key, (standing, Vec::new()))).collect();
    for plugin in installed {
        let key = match &plugin.signer {
            SignedBy::Verified(key) => key,
            SignedBy::Claimed(signer) if keys.contains_key(&signer.key) => &signer.key,
            // A key that only a project's list names is none of the user's.
            SignedBy::Claimed(_) | SignedBy::Nobody => continue,
        };
        let (_, plugins) = keys.entry(key.clone()).or_insert((KeyStanding::Accepted, Vec::new()));
        if !plugins.contains(&plugin.name) {
            plugins.push(plugin.name.clone());
        }
    }
    keys.into_iter().map(|(key, (standing, plugins))| KnownKey { key, standing, plugins }).collect()
}
