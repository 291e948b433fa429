//! Installing a plugin that is not there yet.

use std::path::{Path, PathBuf};

use super::{AcceptKey, Done, ManageError, Outcome, Plugins, bundled};
use crate::catalog::Scope;
use crate::plugins::changes::Changes;
use crate::plugins::digest::Digest;
use crate::plugins::lockfile::Record;
use crate::plugins::provides::Provides;
use crate::plugins::source::{Fetched, Source};
use crate::plugins::status::{Installed, Status};
use crate::plugins::store::{CheckedFiles, source_from_record};

/// What is to be installed, and where.
#[derive(Debug)]
pub struct InstallRequest {
    /// The source as it was given.
    pub source: PathBuf,
    /// Where to.
    pub scope: Scope,
    /// The digest that it must have.
    pub sha256: Option<Digest>,
    /// Whose signature to accept.
    pub accept_key: Option<AcceptKey>,
    /// Whether to do everything but the change.
    pub dry_run: bool,
}

impl Plugins<'_> {
    /// Installs a plugin.
    ///
    /// # Errors
    /// When it is no plugin for this host, fails when it is tried out, collides
    /// with another plugin, or can't be stored. Nothing is changed then.
    pub fn install(&self, request: &InstallRequest, current: &Path) -> Result<Outcome, ManageError> {
        let scope = request.scope;
        let store = self.store(scope)?;
        let source = Source::find(&request.source, current)?;
        let accepted = request.accept_key.as_ref();
        self.refuse_unsigned_folder(&source, None, accepted)?;
        let mut fetched = self.fetch(&source)?;
        let (name, sha256) = (fetched.inspection.about.name.clone(), fetched.inspection.sha256);
        if let Some(expected) = request.sha256.filter(|expected| *expected != sha256) {
            return Err(ManageError::Digest { name, expected, found: sha256 });
        }
        let lockfile = store.read()?;
        let there = lockfile.get(&name).map(Result::as_ref).transpose();
        let there = there.map_err(|_| ManageError::BadRecord { name: name.clone() })?;
        if let Some(record) = there.filter(|record| record.build.sha256 != sha256) {
            return Err(self.other_installed(record, request, &fetched, &source));
        }
        let signer = self.decide_signer(&fetched, scope, there.map(|record| &record.build), accepted)?;
        if let Some(record) = there {
            if store.check(&record.build, &mut CheckedFiles::none()).is_ok() || request.dry_run {
                let mut outcome = Outcome::quiet(self.again(&name, scope)?, Done::AlreadyInstalled);
                if request.dry_run {
                    return Ok(outcome);
                }
                if self.refuse_untrusted(&outcome.plugin, &record.build).is_err() {
                    // It came with the project, and the user has named the file now.
                    self.trust(&name, sha256, &signer.note)?;
                    outcome.notes.push("it came with this project, and is trusted from now on".into());
                }
                outcome.notes.extend(self.record_signer(&outcome.plugin, &signer)?);
                outcome.plugin = self.again(&name, scope)?;
                return Ok(outcome);
            }
            fetched.keep_name_of([Some(&record.build)]);
        }

        let (staged, contribution) = self.stage(&fetched, scope, request.dry_run)?;
        let provides = Provides::of(&contribution.layers);
        let changes = Changes::between(&Provides::default(), &provides, &bundled());
        let build = self.build_of(&fetched, &source, scope, provides.clone(), &signer);
        let record = Record { build, enabled: true, previous: None };
        if request.dry_run {
            self.refuse_collisions(&name, scope, &provides)?;
            let library = store.library(&record.build);
            let signer = signer.signed_by();
            let plugin = Installed {
                name,
                scope,
                record: Ok(record),
                library,
                file: None,
                status: Status::Enabled,
                signer,
            };
            return Ok(Outcome { plugin, before: None, changes, done: Done::Installed, notes: Vec::new() });
        }

        let mut locked = store.lock()?;
        self.refuse_collisions(&name, scope, &provides)?;
        let done = match locked.lockfile.get(&name) {
            None => {
                locked.lockfile.put(&name, record);
                Done::Installed
            }
            // Another process was faster, or the library in the store is not
            // whole; either way the bytes below are the ones that count.
            Some(Ok(now)) if there.is_some_and(|there| there.build.signer != now.build.signer) => {
                return Err(ManageError::ChangedMeanwhile { name });
            }
            Some(Ok(there)) if there.build.sha256 == sha256 => {
                if store.check(&there.build, &mut CheckedFiles::none()).is_ok() {
                    return Ok(Outcome::quiet(self.again(&name, scope)?, Done::AlreadyInstalled));
                }
                let repaired = Record { build: record.build, ..there.clone() };
                locked.lockfile.put(&name, repaired);
                Done::Repaired
            }
            Some(Ok(there)) => return Err(self.other_installed(there, request, &fetched, &source)),
            Some(Err(_)) => return Err(ManageError::BadRecord { name }),
        };
        locked.keep(&sha256, staged)?;
        self.trust(&name, sha256, &signer.note)?;
        locked.commit()?;

        let mut notes = Vec::new();
        if scope == Scope::Local && self.has_global(name.as_str()) {
            notes.push(format!("the global plugin {name} is shadowed by this one in this project"));
        }
        Ok(Outcome { plugin: self.again(&name, scope)?, before: None, changes, done, notes })
    }

    fn other_installed(
        &self,
        there: &Record,
        request: &InstallRequest,
        fetched: &Fetched,
        source: &Source,
    ) -> ManageError {
        let about = &fetched.inspection.about;
        let recorded = source_from_record(&there.build.source, self.project_of(request.scope));
        ManageError::OtherInstalled {
            name: about.name.clone(),
            installed: there.build.version.clone(),
            found: about.version.clone(),
            scope: request.scope,
            from: (recorded != source.path()).then(|| request.source.clone()),
        }
    }
}
