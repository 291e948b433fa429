//! Trusting plugins that came with a project. What is looked at is parsed and
//! never run, and what is trusted is the digest of the bytes that were looked
//! at.

use super::{Done, ManageError, Outcome, Plugins, bundled, record};
use crate::catalog::Scope;
use crate::diagnostic::Diagnostic;
use crate::plugins::changes::Changes;
use crate::plugins::digest::Digest;
use crate::plugins::inspect::{self, About, Host, InspectError};
use crate::plugins::lockfile::{Build, Record};
use crate::plugins::provides::Provides;
use crate::plugins::signer::Signer;
use crate::plugins::status::{self, Installed};
use crate::plugins::store::{Broken, Store};
use crate::plugins::trust::{Trust, TrustChange};

/// A project's plugin that is not trusted, and what can be told without
/// running it.
#[derive(Debug)]
pub struct Untrusted {
    /// How it is installed.
    pub plugin: Installed,
    /// What its library says of itself, where it is there.
    pub about: Option<About>,
    /// What it adds to the catalog by the word of the project's list.
    pub changes: Changes,
    /// What else a person should know, a sentence each.
    pub notes: Vec<String>,
    /// Why it can't be trusted, if it can't.
    pub refused: Option<Diagnostic>,
    /// The libraries that are meant: the one in use, and the one before it.
    libraries: Vec<Digest>,
    /// Who signed the one in use, where the user trusts that key.
    signer: Option<TrustChange>,
}

impl Untrusted {
    /// Whether trusting it is trusting this library.
    pub fn is_about(&self, sha256: &Digest) -> bool {
        self.libraries.contains(sha256)
    }

    /// What trusting it comes to.
    pub fn trusting(&self) -> impl Iterator<Item = TrustChange> {
        let name = &self.plugin.name;
        let plugin = |sha256: &Digest| TrustChange::Plugin { sha256: *sha256, name: name.clone() };
        self.libraries.iter().map(plugin).chain(self.signer.clone())
    }
}

impl Plugins<'_> {
    /// The plugins of the project that are not trusted, switched on or not.
    pub fn untrusted(&self) -> Vec<Untrusted> {
        let trust = self.grounds().trust;
        let (plugins, _) = self.installed();
        let local = plugins.into_iter().filter(|plugin| plugin.scope == Scope::Local);
        local
            .filter_map(|plugin| {
                let record = plugin.record.clone().ok()?;
                let untrusted = self.libraries_to_trust(&plugin, &record, &trust);
                (!untrusted.is_empty()).then(|| self.look_at(plugin, &record, untrusted))
            })
            .collect()
    }

    /// Trusts one plugin of the project as it is recorded.
    ///
    /// # Errors
    /// When its library is not there or not as recorded, when it would collide
    /// with another plugin, or when the trust can't be written down.
    pub fn trust_named(&self, name: &str, scope: Option<Scope>) -> Result<Outcome, ManageError> {
        let installed = self.find(name, scope)?;
        if installed.scope == Scope::Global {
            return Ok(Outcome::quiet(installed, Done::NeverUntrusted));
        }
        let record = record(&installed)?.clone();
        // One that can't be read must not pass for one that trusts nothing yet.
        let trust = Trust::read(self.places.global())?;
        let libraries = self.libraries_to_trust(&installed, &record, &trust);
        if libraries.is_empty() {
            return Ok(Outcome::quiet(installed, Done::AlreadyTrusted));
        }
        let looked_at = self.look_at(installed, &record, libraries);
        if let Some(refused) = looked_at.refused {
            return Err(refused.into());
        }
        Trust::change(self.places.global(), &looked_at.trusting().collect::<Vec<_>>())?;
        let plugin = self.again(&looked_at.plugin.name, Scope::Local)?;
        let Untrusted { changes, notes, .. } = looked_at;
        Ok(Outcome { plugin, before: None, changes, done: Done::Trusted, notes })
    }

    /// The libraries of a project's plugin that are not trusted. The one before
    /// the last update counts where it is what the list says of it, since a
    /// rollback would run it.
    fn libraries_to_trust(&self, plugin: &Installed, record: &Record, trust: &Trust) -> Vec<Digest> {
        let is_as_recorded = |build: &Build| {
            self.store(Scope::Local).is_ok_and(|store| {
                read(&store, plugin, build).is_ok() && self.refuse_bad_signer(&store, plugin, build).is_ok()
            })
        };
        let mut libraries = vec![record.build.sha256];
        let previous = record.previous.as_ref().filter(|build| !trust.has_plugin(&build.sha256));
        libraries.extend(previous.filter(|build| is_as_recorded(build)).map(|build| build.sha256));
        libraries.retain(|sha256| !trust.has_plugin(sha256));
        libraries
    }

    fn look_at(&self, plugin: Installed, record: &Record, libraries: Vec<Digest>) -> Untrusted {
        let name = &plugin.name;
        let provides = if record.enabled { record.build.provides.clone() } else { Provides::default() };
        let changes = Changes::between(&Provides::default(), &provides, &bundled());
        let looked_at = self.store(Scope::Local).map_err(|error| error.to_string());
        let (about, problem) = match looked_at.and_then(|store| read(&store, &plugin, &record.build)) {
            Ok(about) => (Some(about), None),
            Err(reason) => {
                let help = format!(
                    "`replio plugins update {name} --from SOURCE` takes it from where you say, `replio plugins \
                     uninstall {name}` removes it"
                );
                (None, Some(ManageError::Broken { name: name.clone(), reason, help }))
            }
        };
        let signature = || self.refuse_bad_signer(&self.store(Scope::Local)?, &plugin, &record.build);
        let refused = problem.or_else(|| signature().err());
        let mut notes = Vec::new();
        let mut signer = None;
        if let (None, Some(Signer { key, .. })) = (&refused, &record.build.signer) {
            let is_trusted = self.trusts_key(key);
            let known = if is_trusted { "trust" } else { "don't know" };
            notes.push(format!("it is signed by key {}, which you {known}", key.id()));
            let sha256 = record.build.sha256;
            signer = is_trusted.then(|| TrustChange::Signer { sha256, signer: Some(key.clone()) });
        }
        let refused = refused.or_else(|| self.refuse_collisions(name, Scope::Local, &provides).err());
        let refused = refused.map(Diagnostic::from);
        if let Some(reason) = status::incompatibility(&record.build, &Host::this()) {
            notes.push(format!("it can't be loaded here: {reason}"));
        }
        if record.enabled && self.has_global(name.as_str()) {
            notes.push(format!("the global plugin {name} is shadowed by this one in this project"));
        }
        Untrusted { plugin, about, changes, notes, refused, libraries, signer }
    }
}

/// What a build's library says of itself, if it is the one that the project's
/// list speaks of; else why it is not.
fn read(store: &Store, plugin: &Installed, build: &Build) -> Result<About, String> {
    let inspection = inspect::inspect(&store.library(build)).map_err(|error| match error {
        InspectError::Missing(_) => Broken::Missing.to_string(),
        error => error.to_string(),
    })?;
    let expected = build.sha256;
    if inspection.sha256 != expected {
        return Err(Broken::Changed { expected, found: inspection.sha256.short() }.to_string());
    }
    let about = inspection.about;
    if (&about.name, &about.version) != (&plugin.name, &build.version) {
        return Err(format!(
            "its library is {} {}, and the project's list calls it {} {}",
            about.name, about.version, plugin.name, build.version
        ));
    }
    Ok(about)
}
