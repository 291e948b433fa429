//! Replacing an installed plugin by another build of it.

use std::path::{Path, PathBuf};

use super::{AcceptKey, Done, ManageError, Outcome, Plugins, bundled, record};
use crate::catalog::Scope;
use crate::plugins::changes::Changes;
use crate::plugins::lockfile::Record;
use crate::plugins::provides::Provides;
use crate::plugins::source::Source;
use crate::plugins::status::Status;
use crate::plugins::store::CheckedFiles;

/// What is to be updated, and from where.
#[derive(Debug, Clone)]
pub struct UpdateRequest {
    /// The plugin.
    pub name: String,
    /// Where it is installed, where that was said.
    pub scope: Option<Scope>,
    /// The source to use, and to record, instead of the recorded one.
    pub from: Option<PathBuf>,
    /// Whether a lower version is meant.
    pub allow_downgrade: bool,
    /// Whose signature to accept.
    pub accept_key: Option<AcceptKey>,
    /// Whether to do everything but the change.
    pub dry_run: bool,
}

impl Plugins<'_> {
    /// Updates a plugin from its source.
    ///
    /// # Errors
    /// When the source gives no better build; the old one is untouched then.
    pub fn update(&self, request: &UpdateRequest, current: &Path) -> Result<Outcome, ManageError> {
        let installed = self.find(&request.name, request.scope)?;
        let (name, scope) = (&installed.name, installed.scope);
        let old = record(&installed)?;
        let store = self.store(scope)?;
        if request.from.is_none() {
            // Its source is the project's word, and a folder's build script is code.
            self.refuse_untrusted(&installed, &old.build)?;
        }
        let source = match &request.from {
            Some(from) => Source::find(from, current),
            None => Source::find(&self.source_path(&installed).unwrap_or_default(), Path::new("/")),
        };
        // Several may be updated at once, so the error says which one it is about.
        let no_update = |error| ManageError::NoUpdate { name: name.clone(), error };
        let source = source.map_err(no_update)?;
        let accepted = request.accept_key.as_ref();
        self.refuse_unsigned_folder(&source, Some(&installed), accepted)?;
        let mut fetched = self.fetch(&source).map_err(|error| match error {
            ManageError::Source(error) => no_update(error),
            error => error,
        })?;
        let about = &fetched.inspection.about;
        if about.name != *name {
            return Err(ManageError::Renamed { name: name.clone(), found: about.name.clone() });
        }
        let signer = self.decide_signer(&fetched, scope, Some(&old.build), accepted)?;
        if about.version < old.build.version && !request.allow_downgrade {
            return Err(ManageError::Downgrade {
                name: name.clone(),
                installed: old.build.version.clone(),
                found: about.version.clone(),
            });
        }
        let is_same = fetched.inspection.sha256 == old.build.sha256;
        let is_whole = store.check(&old.build, &mut CheckedFiles::none()).is_ok();
        let is_previous_whole = old
            .previous
            .as_ref()
            .is_none_or(|previous| store.check(previous, &mut CheckedFiles::none()).is_ok());
        let is_whole = is_whole && is_previous_whole;
        let source_is_same = self.source_path(&installed).as_deref() == Some(source.path());
        if is_same && is_whole && (source_is_same || request.dry_run) {
            let note = if request.dry_run { None } else { self.record_signer(&installed, &signer)? };
            let mut outcome = Outcome::quiet(self.again(name, scope)?, Done::UpToDate);
            outcome.notes.extend(note);
            if let (Status::Quarantined(_), Some(help)) = (&outcome.plugin.status, outcome.plugin.help()) {
                outcome.notes.push(format!("this very build is set aside; {help}"));
            }
            return Ok(outcome);
        }

        fetched.keep_name_of([Some(&old.build), old.previous.as_ref()]);
        let (staged, contribution) = self.stage(&fetched, scope, request.dry_run)?;
        let provides = Provides::of(&contribution.layers);
        let changes = Changes::between(&old.build.provides, &provides, &bundled());
        let build = self.build_of(&fetched, &source, scope, provides.clone(), &signer);
        let done = if is_same && is_whole {
            Done::UpToDate
        } else if is_same {
            Done::Repaired
        } else if build.version == old.build.version {
            Done::Reinstalled
        } else {
            Done::Updated
        };
        if request.dry_run {
            if old.enabled {
                self.refuse_collisions(name, scope, &provides)?;
            }
            let before = (!is_same).then(|| old.build.clone());
            let mut plugin = installed.clone();
            plugin.signer = signer.signed_by();
            plugin.record = Ok(Record { build, enabled: old.enabled, previous: before.clone() });
            return Ok(Outcome { plugin, before, changes, done, notes: Vec::new() });
        }

        let mut locked = store.lock()?;
        if old.enabled {
            self.refuse_collisions(name, scope, &provides)?;
        }
        // What was compared above must be what is replaced.
        match locked.lockfile.get(name) {
            Some(Ok(there))
                if (there.build.sha256, &there.build.signer) == (old.build.sha256, &old.build.signer) =>
            {
                let kept = there.previous.clone().filter(|_| is_previous_whole);
                let previous = if is_same { kept } else { Some(there.build.clone()) };
                let enabled = there.enabled;
                locked.lockfile.put(name, Record { build, enabled, previous });
            }
            // Another process was faster.
            Some(Ok(there)) if there.build.sha256 == fetched.inspection.sha256 => {
                return Ok(Outcome::quiet(self.again(name, scope)?, Done::UpToDate));
            }
            _ => return Err(ManageError::ChangedMeanwhile { name: name.clone() }),
        }
        locked.keep(&fetched.inspection.sha256, staged)?;
        self.trust(name, fetched.inspection.sha256, &signer.note)?;
        locked.commit()?;
        Ok(Outcome {
            plugin: self.again(name, scope)?,
            before: (!is_same).then(|| old.build.clone()),
            changes,
            done,
            notes: Vec::new(),
        })
    }
}
