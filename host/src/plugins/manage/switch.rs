//! Switching a plugin on or off, and back to the build before the last update.
//! The library is in the store already; what is switched on is tried out first.

use super::{Done, ManageError, Outcome, Plugins, bundled, record};
use crate::catalog::Scope;
use crate::plugins::changes::Changes;
use crate::plugins::inspect::Host;
use crate::plugins::lockfile::{Build, Record};
use crate::plugins::provides::Provides;
use crate::plugins::status::{self, Installed};

impl Plugins<'_> {
    /// Switches a plugin on, and accepts what it brings now.
    ///
    /// # Errors
    /// When it can't be loaded, fails, or collides.
    pub fn enable(&self, name: &str, scope: Option<Scope>) -> Result<Outcome, ManageError> {
        let installed = self.find(name, scope)?;
        let old = record(&installed)?;
        let provides = self.try_stored(&installed, &old.build)?;
        let before = if old.enabled { old.build.provides.clone() } else { Provides::default() };
        let changes = Changes::between(&before, &provides, &bundled());
        let was_set_aside = self.release(old.build.sha256)?;
        let done = match (old.enabled, changes.is_empty()) {
            (true, true) if was_set_aside => {
                let plugin = self.again(&installed.name, installed.scope)?;
                return Ok(Outcome::quiet(plugin, Done::Released));
            }
            (true, true) => return Ok(Outcome::quiet(installed, Done::AlreadyEnabled)),
            (true, false) => Done::Accepted,
            (false, _) => Done::Enabled,
        };
        let build = Build { provides, ..old.build.clone() };
        self.replace(&installed, Record { build, enabled: true, previous: old.previous.clone() })?;
        let plugin = self.again(&installed.name, installed.scope)?;
        Ok(Outcome { plugin, before: None, changes, done, notes: Vec::new() })
    }

    /// Switches a plugin off. It is not run for that.
    ///
    /// # Errors
    /// When there is no such plugin, or the list can't be written.
    pub fn disable(&self, name: &str, scope: Option<Scope>) -> Result<Outcome, ManageError> {
        let installed = self.find(name, scope)?;
        let old = record(&installed)?;
        if !old.enabled {
            return Ok(Outcome::quiet(installed, Done::AlreadyDisabled));
        }
        let brought = if installed.is_wanted() { old.build.provides.clone() } else { Provides::default() };
        let changes = Changes::between(&brought, &Provides::default(), &bundled());
        self.replace(&installed, Record { enabled: false, ..old.clone() })?;
        let mut notes = self.left_alone(&installed);
        if installed.is_wanted() && installed.scope == Scope::Local && self.has_global(name) {
            notes.push(format!("the global plugin {name} is no longer shadowed"));
        }
        let plugin = self.again(&installed.name, installed.scope)?;
        Ok(Outcome { plugin, before: None, changes, done: Done::Disabled, notes })
    }

    /// Goes back to the build before the last update. Doing it twice is as not
    /// doing it.
    ///
    /// # Errors
    /// When there is none, or it can't be loaded, fails, or collides.
    pub fn rollback(&self, name: &str, scope: Option<Scope>) -> Result<Outcome, ManageError> {
        let installed = self.find(name, scope)?;
        let old = record(&installed)?;
        let Some(previous) = &old.previous else {
            return Err(ManageError::NoPrevious { name: installed.name.clone() });
        };
        // One that is gone can't be trusted either.
        Self::check_stored(&self.store(installed.scope)?, &installed, previous)?;
        let provides = self.try_stored(&installed, previous)?;
        let changes = Changes::between(&old.build.provides, &provides, &bundled());
        self.release(previous.sha256)?;
        let build = Build { provides, ..previous.clone() };
        self.replace(&installed, Record { build, enabled: old.enabled, previous: Some(old.build.clone()) })?;
        let plugin = self.again(&installed.name, installed.scope)?;
        let before = Some(old.build.clone());
        Ok(Outcome { plugin, before, changes, done: Done::RolledBack, notes: Vec::new() })
    }

    /// Tries out a build that is in the store, and says what it brings.
    fn try_stored(&self, installed: &Installed, build: &Build) -> Result<Provides, ManageError> {
        self.try_library(installed, build).map_err(|error| self.unless_changed(installed, error))
    }

    fn try_library(&self, installed: &Installed, build: &Build) -> Result<Provides, ManageError> {
        let store = self.store(installed.scope)?;
        self.refuse_untrusted(installed, build)?;
        if let Some(reason) = status::incompatibility(build, &Host::this()) {
            return Err(ManageError::Incompatible { name: installed.name.clone(), reason });
        }
        Self::check_stored(&store, installed, build)?;
        let library = store.library(build);
        let contribution =
            Self::try_out(&installed.name, installed.scope, &library, build.sha256, &build.needs)?;
        self.tell(&installed.name, &contribution);
        Ok(Provides::of(&contribution.layers))
    }

    /// Puts a new record in the place of the one that was looked at.
    fn replace(&self, installed: &Installed, new: Record) -> Result<(), ManageError> {
        let store = self.store(installed.scope)?;
        let mut locked = store.lock()?;
        if new.enabled {
            self.refuse_collisions(&installed.name, installed.scope, &new.build.provides)?;
        }
        let there = locked.lockfile.get(&installed.name);
        if there.is_some_and(|there| there.as_ref() == Ok(&new)) {
            return Ok(());
        }
        if there != Some(&installed.record) {
            return Err(ManageError::ChangedMeanwhile { name: installed.name.clone() });
        }
        locked.lockfile.put(&installed.name, new);
        Ok(locked.commit()?)
    }
}
