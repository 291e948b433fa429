//! The verbs that change which plugins there are. Each of them looks first,
//! tries the plugin out, and only then takes the store's lock, looks again,
//! and makes its change with one write of `plugins.lock`. Whatever goes wrong
//! before that write changes nothing.

use std::path::Path;

use crate::catalog::{Kind, Layer, Scope, read_bundled};
use crate::config::Config;
use crate::diagnostic::Diagnostic;
use crate::names::{PluginName, nearest};
use crate::output::Output;
use crate::paths::Places;
use crate::plugins::changes::Changes;
use crate::plugins::digest::Digest;
use crate::plugins::inspect::{self, Host, Inspection};
use crate::plugins::load::PluginToRun;
use crate::plugins::lockfile::{Build, Needs, Record};
use crate::plugins::provides::Provides;
use crate::plugins::quarantine::Quarantine;
use crate::plugins::run::{self, Candidate, Contribution};
use crate::plugins::source::{Fetched, Source};
use crate::plugins::status::{Grounds, Installed, Status, installed};
use crate::plugins::store::{CheckedFiles, Staged, Store, source_for_record, source_from_record};
use crate::plugins::trust::{Trust, TrustChange};

mod error;
mod install;
mod keys;
mod signer;
mod switch;
mod trust;
mod uninstall;
mod update;

pub use error::ManageError;
pub use install::InstallRequest;
pub use keys::{KeyStanding, KnownKey};
pub use signer::{AcceptKey, SignerError};
pub use trust::Untrusted;
pub use update::UpdateRequest;

use signer::{Decision, Note};

/// Which plugins there are, for those who change that.
#[derive(Debug)]
pub struct Plugins<'a> {
    places: &'a Places,
    output: Output,
}

/// What a verb did.
#[derive(Debug)]
pub struct Outcome {
    /// The plugin as it stands now; one that was uninstalled, as it stood.
    pub plugin: Installed,
    /// The build it had before, where it is another one now.
    pub before: Option<Build>,
    /// What this adds to the catalog, removes and changes.
    pub changes: Changes,
    /// What was done.
    pub done: Done,
    /// What else a person should know, a sentence each.
    pub notes: Vec<String>,
}

/// What a verb came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Done {
    Installed,
    /// The same bytes were installed already.
    AlreadyInstalled,
    /// The library in the store was missing or changed, and is whole again.
    Repaired,
    Updated,
    /// The same version with other bytes.
    Reinstalled,
    UpToDate,
    RolledBack,
    Enabled,
    /// It was set aside, and is run again.
    Released,
    /// It was enabled; what it brings now is accepted.
    Accepted,
    AlreadyEnabled,
    Disabled,
    AlreadyDisabled,
    Uninstalled,
    Verified,
    Trusted,
    AlreadyTrusted,
    /// It is the user's own, which nobody else can have brought.
    NeverUntrusted,
}

impl<'a> Plugins<'a> {
    /// The plugins of these places.
    pub fn new(places: &'a Places, output: Output) -> Self {
        Self { places, output }
    }

    fn store(&self, scope: Scope) -> Result<Store, ManageError> {
        Ok(Store::new(scope, self.places.folder_for_writing(scope)?))
    }

    /// Every installed plugin and how it stands, and the lists that can't be read.
    pub fn installed(&self) -> (Vec<Installed>, Vec<Diagnostic>) {
        installed(&Store::all(self.places), &mut self.grounds())
    }

    /// What of the settings, the user's trust and the quarantine can't be read.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        [Config::read(self.places).warnings, self.grounds().warnings].concat()
    }

    fn grounds(&self) -> Grounds {
        Grounds::read(self.places.global())
    }

    /// The installed plugin of this name: the local one before the global one,
    /// unless a scope is given.
    ///
    /// # Errors
    /// When there is none, or it can't be told which one is meant, since a list
    /// that might have it can't be read.
    pub fn find(&self, name: &str, scope: Option<Scope>) -> Result<Installed, ManageError> {
        let (plugins, _) = self.installed();
        let stores = Store::all(self.places);
        // The local list comes first, and one that can't be read may have it.
        for store in stores.iter().rev().filter(|store| scope.is_none_or(|scope| scope == store.scope())) {
            let has_it = |plugin: &&Installed| plugin.scope == store.scope() && plugin.name.as_str() == name;
            if let Some(plugin) = plugins.iter().find(has_it) {
                return Ok(plugin.clone());
            }
            store.read()?;
        }
        let in_scope = |plugin: &&Installed| scope.is_none_or(|scope| scope == plugin.scope);
        let names = plugins.iter().filter(in_scope).map(|plugin| plugin.name.as_str());
        Err(ManageError::NotInstalled {
            name: name.to_owned(),
            nearest: nearest(name, names).map(str::to_owned),
            scope,
        })
    }

    /// Checks the whole library of an installed plugin and its signature, whatever
    /// was noted.
    ///
    /// # Errors
    /// When it is not as it was installed.
    pub fn verify(&self, name: &str, scope: Option<Scope>) -> Result<Outcome, ManageError> {
        let plugin = self.find(name, scope)?;
        let record = record(&plugin)?;
        let store = self.store(plugin.scope)?;
        for build in [Some(&record.build), record.previous.as_ref()].into_iter().flatten() {
            Self::check_stored(&store, &plugin, build)
                .and_then(|()| Self::verify_record(&store, &plugin, build))
                .map_err(|error| self.unless_changed(&plugin, error))?;
        }
        let trust = self.grounds().trust;
        if let Some(key) = crate::plugins::signer::revoked(&record.build, &trust) {
            return Err(SignerError::Revoked { name: plugin.name.clone(), key: key.clone() }.into());
        }
        let recorded = record.build.signer.as_ref().map(|signer| &signer.key);
        if let Some(noted) = trust.signer(&record.build.sha256).filter(|noted| Some(*noted) != recorded) {
            let reason = format!(
                "its record does not name key {}, whose signature was verified when you installed it",
                noted.id()
            );
            return Err(ManageError::broken(&plugin, reason));
        }
        Ok(Outcome::quiet(plugin, Done::Verified))
    }

    /// Makes sure that a build of a plugin is in the store as it was installed.
    fn check_stored(store: &Store, plugin: &Installed, build: &Build) -> Result<(), ManageError> {
        store.check(build, &mut CheckedFiles::none()).map(drop).map_err(|reason| {
            if record(plugin).is_ok_and(|record| record.build.sha256 == build.sha256) {
                return ManageError::broken(plugin, reason.to_string());
            }
            ManageError::BrokenPrevious {
                name: plugin.name.clone(),
                version: build.version.clone(),
                reason,
                help: plugin.help_when_previous_is_broken(),
            }
        })
    }

    /// What is wrong with a library in the store, unless that is only that another
    /// process has replaced or removed it since it was looked up.
    fn unless_changed(&self, plugin: &Installed, error: ManageError) -> ManageError {
        let now = self.store(plugin.scope).and_then(|store| Ok(store.read()?));
        match now {
            Ok(now) if now.get(&plugin.name) != Some(&plugin.record) => {
                ManageError::ChangedMeanwhile { name: plugin.name.clone() }
            }
            _ => error,
        }
    }

    /// Whether a global plugin of this name would be loaded, if no local one were.
    fn has_global(&self, name: &str) -> bool {
        self.find(name, Some(Scope::Global))
            .is_ok_and(|plugin| matches!(plugin.status, Status::Enabled | Status::Shadowed))
    }

    /// How a plugin stands after a change.
    fn again(&self, name: &PluginName, scope: Scope) -> Result<Installed, ManageError> {
        self.find(name.as_str(), Some(scope))
    }

    /// Runs a library as it is about to be used, and says what it brings.
    fn try_out(
        name: &PluginName,
        scope: Scope,
        path: &Path,
        sha256: Digest,
        needs: &Needs,
    ) -> Result<Contribution, ManageError> {
        let file = CheckedFiles::none().check(path, &sha256);
        let file = file.map_err(|_| ManageError::ChangedMeanwhile { name: name.clone() })?;
        let (path, libraries) = (path.to_owned(), needs.libraries.clone());
        let to_run = PluginToRun { name: name.clone(), path, file, sha256, libraries };
        let candidate = Candidate { to_run, scope, panic_aborts: needs.panic_aborts };
        let mut runs = run::run(std::slice::from_ref(&candidate));
        runs.pop().ok_or_else(|| ManageError::nothing_ran(name))?.map_err(ManageError::Fault)
    }

    /// Refuses a plugin that would define a name that another plugin defines
    /// and the bundled catalog does not.
    fn refuse_collisions(
        &self,
        name: &PluginName,
        scope: Scope,
        provides: &Provides,
    ) -> Result<(), ManageError> {
        let bundled = bundled();
        let is_bundled = |kind: Kind, entry: &str| {
            bundled.iter().any(|layer| layer.kind == kind && layer.get(entry).is_some())
        };
        let (plugins, _) = self.installed();
        for other in plugins.iter().filter(|other| other.name != *name && other.is_wanted()) {
            let Ok(record) = &other.record else { continue };
            for (kind, entry, _) in provides.entries() {
                if record.build.provides.of_kind(kind).contains_key(entry)
                    && !is_bundled(kind, entry.as_str())
                {
                    return Err(ManageError::Collision {
                        plugin: name.clone(),
                        scope,
                        other: other.name.clone(),
                        kind,
                        entry: entry.clone(),
                    });
                }
            }
        }
        Ok(())
    }

    /// Notes that the user means this library, whatever a project says of it. It
    /// was tried out, so it is not set aside either. Done before a list that
    /// speaks of it is written: by itself it starts nothing.
    fn trust(&self, name: &PluginName, sha256: Digest, signer: &Note) -> Result<(), ManageError> {
        let global = self.places.global();
        let noted = Trust::read(global)?.signer(&sha256).cloned();
        let mut changes = vec![TrustChange::Plugin { sha256, name: name.clone() }];
        changes.extend(signer.change(sha256, noted.as_ref()));
        Trust::change(global, &changes)?;
        self.release(sha256)?;
        Ok(())
    }

    /// Takes a library back that was set aside. Where it can't be read what is
    /// set aside, nothing is.
    fn release(&self, sha256: Digest) -> Result<bool, ManageError> {
        let grounds = self.grounds();
        if !grounds.quarantine.has_note(&sha256) {
            return Ok(false);
        }
        Ok(Quarantine::release(&grounds.global, &sha256)?)
    }

    /// Refuses to run what came with a project before the user trusted it.
    fn refuse_untrusted(&self, plugin: &Installed, build: &Build) -> Result<(), ManageError> {
        if plugin.scope == Scope::Local && !self.grounds().trust.has_plugin(&build.sha256) {
            return Err(ManageError::Untrusted { name: plugin.name.clone() });
        }
        Ok(())
    }

    /// Reads a source, and makes sure that this host can load what is there.
    fn fetch(&self, source: &Source) -> Result<Fetched, ManageError> {
        let fetched = source.fetch(self.output)?;
        let Inspection { library, about, .. } = &fetched.inspection;
        match inspect::incompatibility(library, about, &Host::this()) {
            Some(reason) => Err(ManageError::Incompatible { name: about.name.clone(), reason }),
            None => Ok(fetched),
        }
    }

    /// Puts a library where it can be tried out, and tries it out.
    fn stage(
        &self,
        fetched: &Fetched,
        scope: Scope,
        dry_run: bool,
    ) -> Result<(Staged, Contribution), ManageError> {
        let Inspection { bytes, sha256, about, library } = &fetched.inspection;
        let staged = if dry_run {
            Staged::elsewhere(&fetched.file_name, bytes)?
        } else {
            self.store(scope)?.stage(&fetched.file_name, bytes)?
        };
        let progress = self.output.slow_progress(&format!("running {}", about.name));
        let needs = Needs::of(library, about);
        let contribution = Self::try_out(&about.name, scope, staged.library(), *sha256, &needs)?;
        drop(progress);
        self.tell(&about.name, &contribution);
        Ok((staged, contribution))
    }

    fn tell(&self, name: &PluginName, contribution: &Contribution) {
        for line in contribution.told(name) {
            self.output.detail(&line);
        }
    }

    /// What is recorded of a library that was read and tried out.
    fn build_of(
        &self,
        fetched: &Fetched,
        source: &Source,
        scope: Scope,
        provides: Provides,
        signer: &Decision,
    ) -> Build {
        let Inspection { sha256, about, library, .. } = &fetched.inspection;
        Build {
            version: about.version.clone(),
            sha256: *sha256,
            file: fetched.file_name.clone(),
            source: source_for_record(source.path(), self.project_of(scope)),
            abi: about.abi.clone(),
            api: about.api.clone(),
            needs: Needs::of(library, about),
            provides,
            signer: signer.signer.clone(),
        }
    }

    fn project_of(&self, scope: Scope) -> Option<&Path> {
        match scope {
            Scope::Local => self.places.project(),
            Scope::Global => None,
        }
    }

    /// The recorded source of a plugin, wherever it is now.
    pub fn source_path(&self, plugin: &Installed) -> Option<std::path::PathBuf> {
        let record = plugin.record.as_ref().ok()?;
        Some(source_from_record(&record.build.source, self.project_of(plugin.scope)))
    }
}

impl Outcome {
    /// An outcome that changes nothing in the catalog.
    fn quiet(plugin: Installed, done: Done) -> Self {
        Self { plugin, before: None, changes: Changes::default(), done, notes: Vec::new() }
    }
}

/// The bundled catalog, which plugins may override.
pub fn bundled() -> [Layer; 3] {
    Kind::ALL.map(read_bundled)
}

fn record(plugin: &Installed) -> Result<&Record, ManageError> {
    plugin.record.as_ref().map_err(|reason| {
        ManageError::broken(plugin, format!("its record in plugins.lock can't be read: {reason}"))
    })
}
