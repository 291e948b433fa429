//! Who may have signed what is installed, updated or switched on: the files
//! that this is told from, around the pure [`decide`].

use super::{ManageError, Plugins, record};
use crate::catalog::Scope;
use crate::config::Config;
use crate::plugins::digest::Digest;
use crate::plugins::inspect::read_library;
use crate::plugins::lockfile::{Build, Record};
use crate::plugins::signature::{Signed, SignerKey};
use crate::plugins::signer::{self, Signer};
use crate::plugins::source::{Fetched, Source};
use crate::plugins::status::Installed;
use crate::plugins::store::Store;
use crate::plugins::trust::{KeyTrust, Trust, TrustChange};

mod decide;
mod error;

pub use decide::AcceptKey;
pub(super) use decide::{Decision, Note};
pub use error::SignerError;

use decide::{Expected, Offer, decide};

impl Plugins<'_> {
    /// Whether a plugin must be signed by a key that the user knows.
    fn requires_signature(&self) -> bool {
        Config::read(self.places).requires_signature()
    }

    /// Whether the user trusts a key for every plugin.
    pub(super) fn trusts_key(&self, key: &SignerKey) -> bool {
        self.grounds().trust.key(&key.to_string()) == Some(KeyTrust::Trusted)
    }

    /// Refuses a folder where a signature is needed, before cargo runs its
    /// build scripts.
    pub(super) fn refuse_unsigned_folder(
        &self,
        source: &Source,
        installed: Option<&Installed>,
        accepted: Option<&AcceptKey>,
    ) -> Result<(), ManageError> {
        let Source::Folder(folder) = source else { return Ok(()) };
        if matches!(accepted, Some(AcceptKey::Key(_))) || self.requires_signature() {
            return Err(SignerError::Folder(folder.clone()).into());
        }
        let Some(Installed { name, scope, record: Ok(record), .. }) = installed else { return Ok(()) };
        let trust = Trust::read(self.places.global())?;
        match signer_before(&record.build, *scope, &trust) {
            Some((before, _)) if accepted.is_none() => {
                Err(SignerError::Missing { name: name.clone(), before: before.id() }.into())
            }
            _ => Ok(()),
        }
    }

    /// Decides whether a library is taken from whoever signed it. Nothing of it
    /// has run by then.
    pub(super) fn decide_signer(
        &self,
        fetched: &Fetched,
        scope: Scope,
        installed: Option<&Build>,
        accepted: Option<&AcceptKey>,
    ) -> Result<Decision, ManageError> {
        let inspection = &fetched.inspection;
        let library = Signed {
            bytes: &inspection.bytes,
            name: &inspection.about.name,
            version: &inspection.about.version,
        };
        let trust = Trust::read(self.places.global())?;
        let is_required = self.requires_signature();
        let before = installed.and_then(|build| signer_before(build, scope, &trust));
        let same = installed.filter(|build| build.sha256 == inspection.sha256);
        let recorded = same.and_then(|build| build.signer.as_ref());
        let recorded = recorded.filter(|signer| signer.signature.verify(&library, &signer.key).is_ok());
        // These bytes were verified when they were installed, whatever a
        // project's list says of them now.
        if let (Some(build), None, None, None) = (same, &fetched.signature, recorded, accepted)
            && trust.signer(&build.sha256).is_some()
        {
            return Ok(Decision { signer: build.signer.clone(), note: Note::AsItIs });
        }
        let offer = Offer {
            library,
            beside: fetched.signature.as_ref(),
            recorded: recorded.map(|signer| &signer.signature),
        };
        let expected = Expected {
            accepted,
            before: before.map(|(key, _)| key),
            knows_before: before.is_some_and(|(_, is_known)| is_known),
            trust: &trust,
            is_required,
        };
        Ok(decide(&offer, &expected)?)
    }

    /// Writes down who signed what is installed already. Returns what is to be
    /// said about that.
    pub(super) fn record_signer(
        &self,
        plugin: &Installed,
        decision: &Decision,
    ) -> Result<Option<String>, ManageError> {
        let old = record(plugin)?;
        let sha256 = old.build.sha256;
        let noted = Trust::read(self.places.global())?.signer(&sha256).cloned();
        if let Some(change) = decision.note.change(sha256, noted.as_ref()) {
            Trust::change(self.places.global(), &[change])?;
        }
        if decision.signer == old.build.signer {
            return Ok(None);
        }
        let build = Build { signer: decision.signer.clone(), ..old.build.clone() };
        self.replace(plugin, Record { build, ..old.clone() })?;
        let key = |signer: &Option<Signer>| signer.as_ref().map(|signer| signer.key.clone());
        Ok(match (key(&old.build.signer), key(&decision.signer)) {
            (before, now) if before == now => None,
            (_, Some(now)) => Some(format!("it is recorded as signed by {} from now on", now.id())),
            (_, None) => Some("it goes without a signature from now on".into()),
        })
    }

    /// Makes sure that a stored build is signed as its record says, and by a key
    /// that counts.
    pub(super) fn refuse_bad_signer(
        &self,
        store: &Store,
        plugin: &Installed,
        build: &Build,
    ) -> Result<(), ManageError> {
        let is_required = self.requires_signature();
        let trust = match Trust::read(self.places.global()) {
            Ok(trust) => trust,
            Err(_) if build.signer.is_none() && !is_required => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let name = || plugin.name.clone();
        Self::verify_record(store, plugin, build)?;
        if let Some(key) = signer::revoked(build, &trust) {
            return Err(SignerError::Revoked { name: name(), key: key.clone() }.into());
        }
        if !is_required {
            return Ok(());
        }
        match signer_before(build, plugin.scope, &trust) {
            None => Err(SignerError::Required { name: name() }.into()),
            Some((_, true)) => Ok(()),
            Some((key, false)) if trust.key(&key.to_string()) == Some(KeyTrust::Trusted) => Ok(()),
            Some((key, false)) => Err(SignerError::RequiredKnown { name: name(), id: key.id() }.into()),
        }
    }

    /// Verifies the recorded signature of a stored build, which is whole.
    pub(super) fn verify_record(store: &Store, plugin: &Installed, build: &Build) -> Result<(), ManageError> {
        let Some(signer) = &build.signer else { return Ok(()) };
        let bytes = read_library(&store.library(build))
            .map_err(|error| ManageError::broken(plugin, error.to_string()))?;
        signer.verify(&plugin.name, build, &bytes).map_err(|error| {
            let help = plugin.help_when_broken();
            SignerError::BadRecord { name: plugin.name.clone(), error, help }.into()
        })
    }
}

/// Who signed a build that is installed, and whether the user knows them: a
/// project's list alone can't make anyone known, nor take away who was noted.
fn signer_before<'a>(build: &'a Build, scope: Scope, trust: &'a Trust) -> Option<(&'a SignerKey, bool)> {
    let recorded = build.signer.as_ref().map(|signer| &signer.key);
    match scope {
        Scope::Global => recorded.map(|key| (key, true)),
        Scope::Local => {
            let noted = trust.signer(&build.sha256).map(|key| (key, true));
            noted.or(recorded.map(|key| (key, false)))
        }
    }
}

impl Note {
    /// What is to be written of a library, where this is noted of it.
    pub(super) fn change(&self, sha256: Digest, noted: Option<&SignerKey>) -> Option<TrustChange> {
        let signer = match self {
            Self::Key(key) => Some(key.clone()),
            Self::Nobody => None,
            Self::AsItIs => return None,
        };
        (signer.as_ref() != noted).then_some(TrustChange::Signer { sha256, signer })
    }
}
