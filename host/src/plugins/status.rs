//! How each installed plugin stands, told from the lock files, the store, and
//! what this user trusts and set aside: nothing here runs a plugin.

use std::path::{Path, PathBuf};

use crate::catalog::Scope;
use crate::diagnostic::Diagnostic;
use crate::names::PluginName;
use crate::plugins::digest::Digest;
use crate::plugins::inspect::{Host, Incompatibility, System};
use crate::plugins::lockfile::{Build, Lockfile, Record};
use crate::plugins::quarantine::{Quarantine, Reason};
use crate::plugins::signature::SignerKey;
use crate::plugins::signer::{self, ShownSigner, SignedBy};
use crate::plugins::store::{CheckedFiles, FileIdentity, Store};
use crate::plugins::trust::Trust;

/// What plugins are judged by, beside what is installed: read once, for one
/// command.
#[derive(Debug)]
pub struct Grounds {
    /// The folder that it was read from.
    pub global: PathBuf,
    /// This host.
    pub host: Host,
    /// What this user trusts.
    pub trust: Trust,
    /// What is set aside.
    pub quarantine: Quarantine,
    /// Which store files are known to be right.
    pub checked: CheckedFiles,
    /// What of this could not be read.
    pub warnings: Vec<Diagnostic>,
    /// Whether it is known whom the user trusts, and whom not any more.
    knows_trust: bool,
}

impl Grounds {
    /// What the global folder says. Where it can't be read, nothing is trusted
    /// and nothing set aside.
    pub fn read(global: &Path) -> Self {
        let mut warnings = Vec::new();
        let trust = Trust::read(global).unwrap_or_else(|error| {
            warnings.push(error);
            Trust::default()
        });
        let quarantine = Quarantine::read(global).unwrap_or_else(|error| {
            warnings.push(error);
            Quarantine::default()
        });
        let checked = CheckedFiles::read(global);
        let knows_trust = warnings.iter().all(|warning| warning.code != "trust-damaged");
        let (global, host) = (global.to_owned(), Host::this());
        Self { global, host, trust, quarantine, checked, warnings, knows_trust }
    }

    /// Whether this user trusts a library that a list speaks of. Whoever installs
    /// it notes that first, so a list may be newer than what was read here.
    fn trusts(&mut self, sha256: &Digest) -> bool {
        if !self.trust.has_plugin(sha256)
            && let Ok(now) = Trust::read(&self.global)
        {
            self.trust = now;
        }
        self.trust.has_plugin(sha256)
    }
}

/// An installed plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// Its name.
    pub name: PluginName,
    /// Where it is installed.
    pub scope: Scope,
    /// Its record, or why that can't be read.
    pub record: Result<Record, String>,
    /// Where its library is, as far as the record tells.
    pub library: PathBuf,
    /// Which file that was when it was found right, of one that is enabled.
    pub file: Option<FileIdentity>,
    /// How it stands.
    pub status: Status,
    /// Who signed it.
    pub signer: SignedBy,
}

/// How an installed plugin stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// It is loaded.
    Enabled,
    /// A person switched it off.
    Disabled,
    /// This host can't load it.
    Incompatible(Incompatibility),
    /// It came with a project, and this user has not trusted it.
    Untrusted,
    /// It crashed, hung or lied, and is not run again.
    Quarantined(Reason),
    /// Its library or its record is not as it should be.
    Broken(String),
    /// The user has revoked the key that signed it.
    SignerRevoked(SignerKey),
    /// An enabled local one of the same name is used instead.
    Shadowed,
}

impl Status {
    /// The word in listings.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Enabled => "enabled",
            Self::Disabled => "disabled",
            Self::Incompatible(_) => "incompatible",
            Self::Untrusted => "untrusted",
            Self::Quarantined(_) => "quarantined",
            Self::Broken(_) | Self::SignerRevoked(_) => "broken",
            Self::Shadowed => "shadowed",
        }
    }
}

impl Installed {
    /// Why the plugin is not loaded; `None` for one that is, or that a person
    /// switched off.
    pub fn reason(&self) -> Option<String> {
        match &self.status {
            Status::Enabled | Status::Disabled => None,
            Status::Incompatible(reason) => Some(reason.to_string()),
            Status::Untrusted => {
                Some("it came with this project, and you have not trusted it, so none of it is run".into())
            }
            Status::Quarantined(Reason { reason, since }) => {
                Some(format!("it is not run any more since {since}: {reason}"))
            }
            Status::Broken(reason) => Some(reason.clone()),
            Status::SignerRevoked(key) => {
                Some(format!("it is signed by key {}, which you revoked", key.id()))
            }
            Status::Shadowed => Some("a local plugin of the same name is used instead".into()),
        }
    }

    /// What to do about it.
    pub fn help(&self) -> Option<String> {
        let (name, scope) = (&self.name, self.scope_option());
        match &self.status {
            Status::Enabled => None,
            Status::Disabled => Some(format!("replio plugins enable {name}{scope}")),
            Status::Incompatible(reason) => {
                Some(format!("{}, then `replio plugins update {name}{scope}`", reason.help()))
            }
            Status::Untrusted => Some(format!(
                "`replio trust` shows what the project brings; `replio plugins trust {name}` trusts this plugin alone"
            )),
            Status::Quarantined(_) => Some(format!(
                "`replio plugins enable {name}{scope}` tries it again, `replio plugins update {name}{scope}` looks for another build"
            )),
            Status::Broken(_) => Some(self.help_when_broken()),
            Status::SignerRevoked(key) => Some(format!(
                "`replio plugins update {name}{scope} --accept-key KEY` takes a build that another key signed, `replio plugins uninstall {name}{scope}` removes it, `replio plugins keys trust {key}` takes the key back"
            )),
            Status::Shadowed => Some(format!("replio plugins disable {name} --local")),
        }
    }

    /// What to do when its library or its record is not as it should be.
    pub(super) fn help_when_broken(&self) -> String {
        let (name, scope) = (&self.name, self.scope_option());
        if self.record.is_err() {
            return format!("`replio plugins uninstall {name}{scope}`, then install it again");
        }
        format!(
            "`replio plugins update {name}{scope}` installs it again from its source, `replio plugins uninstall {name}{scope}` removes it"
        )
    }

    /// What to do when the build before the last update is not as it should be.
    pub(super) fn help_when_previous_is_broken(&self) -> String {
        let (name, scope) = (&self.name, self.scope_option());
        format!("`replio plugins update {name}{scope}` forgets it; what is in use is whole")
    }

    /// What a command needs to mean this one and not one of the same name.
    fn scope_option(&self) -> &'static str {
        match self.scope {
            Scope::Global => " --global",
            Scope::Local => "",
        }
    }

    /// Who signed it, once what a lock file claims is verified on the library.
    pub fn shown_signer(&self) -> ShownSigner {
        match &self.record {
            Ok(record) => self.signer.shown(&self.name, &record.build, &self.library),
            Err(_) => ShownSigner::Unsigned,
        }
    }

    /// A warning about a plugin that should be loaded and can't be.
    pub fn warning(&self) -> Option<Diagnostic> {
        let code = match self.status {
            Status::Incompatible(_) => "plugin-incompatible",
            Status::Untrusted => "plugin-untrusted",
            Status::Quarantined(_) => "plugin-quarantined",
            Status::Broken(_) | Status::SignerRevoked(_) => "plugin-broken",
            Status::Enabled | Status::Disabled | Status::Shadowed => return None,
        };
        let message = format!("plugin {} is {}: {}", self.name, self.status.word(), self.reason()?);
        Some(Diagnostic::new(code, message).help(self.help()?).plugin(self.name.clone()))
    }

    /// Whether it would be loaded if nothing were wrong with it. What came with
    /// a project must not switch off a plugin of the user's before it is trusted.
    pub(super) fn is_wanted(&self) -> bool {
        self.status != Status::Untrusted && self.record.as_ref().is_ok_and(|record| record.enabled)
    }
}

/// Every plugin of these stores in the order of their names, the global one of
/// a name before the local one; and what is wrong with the stores themselves.
pub fn installed(stores: &[Store], grounds: &mut Grounds) -> (Vec<Installed>, Vec<Diagnostic>) {
    let mut plugins = Vec::new();
    let mut warnings = Vec::new();
    for store in stores {
        match store.read() {
            Ok(lockfile) => plugins.extend(of_store(store, &lockfile, grounds)),
            Err(error) => warnings.push(error),
        }
    }
    grounds.checked.save();
    plugins.sort_by(|left, right| (&left.name, left.scope).cmp(&(&right.name, right.scope)));
    let locals: Vec<PluginName> = plugins
        .iter()
        .filter(|plugin| plugin.scope == Scope::Local && plugin.is_wanted())
        .map(|plugin| plugin.name.clone())
        .collect();
    for plugin in &mut plugins {
        let is_beaten = plugin.scope == Scope::Global && locals.contains(&plugin.name);
        if is_beaten && plugin.status == Status::Enabled {
            plugin.status = Status::Shadowed;
        }
    }
    (plugins, warnings)
}

fn of_store(store: &Store, lockfile: &Lockfile, grounds: &mut Grounds) -> Vec<Installed> {
    lockfile
        .plugins()
        .map(|(name, record)| {
            let (library, (status, file), signer) = match record {
                Ok(record) => (
                    store.library(&record.build),
                    status(store, record, grounds)
                        .map_or_else(|not| (not, None), |file| (Status::Enabled, file)),
                    SignedBy::of(&record.build, &grounds.trust),
                ),
                Err(reason) => (
                    PathBuf::new(),
                    (Status::Broken(format!("its record in plugins.lock can't be read: {reason}")), None),
                    SignedBy::Nobody,
                ),
            };
            let (name, scope, record) = (name.clone(), store.scope(), record.clone());
            Installed { name, scope, record, library, file, status, signer }
        })
        .collect()
}

/// The file of a plugin that is enabled, or why it is not.
fn status(store: &Store, record: &Record, grounds: &mut Grounds) -> Result<Option<FileIdentity>, Status> {
    if !record.enabled {
        return Err(Status::Disabled);
    }
    if store.scope() == Scope::Local && !grounds.trusts(&record.build.sha256) {
        return Err(Status::Untrusted);
    }
    if record.build.signer.is_some() && !grounds.knows_trust {
        let reason = "it is signed, and trust.json, which can't be used, may revoke the key that signed it";
        return Err(Status::Broken(reason.into()));
    }
    if let Some(key) = signer::revoked(&record.build, &grounds.trust) {
        return Err(Status::SignerRevoked(key.clone()));
    }
    if let Some(reason) = incompatibility(&record.build, &grounds.host) {
        return Err(Status::Incompatible(reason));
    }
    if let Some(reason) = grounds.quarantine.reason(&record.build.sha256) {
        return Err(Status::Quarantined(reason.clone()));
    }
    store.check(&record.build, &mut grounds.checked).map_err(|broken| Status::Broken(broken.to_string()))
}

/// Whether a host can load a build, by what was recorded of it.
pub(super) fn incompatibility(build: &Build, host: &Host) -> Option<Incompatibility> {
    let needs = &build.needs;
    let systems = [System::Linux, System::MacOs, System::Windows, System::FreeBsd];
    let system = systems.into_iter().find(|system| system.to_string() == needs.system);
    if let Some(built_for) = system.filter(|system| *system != host.system) {
        return Some(Incompatibility::System { built_for, this: host.system });
    }
    if !needs.processors.is_empty() && !needs.processors.iter().any(|processor| processor == host.processor) {
        let built_for = needs.processors.join(" and ");
        return Some(Incompatibility::Processor { built_for, this: host.processor });
    }
    if let (Some(needed), Some(this)) = (needs.glibc(), host.glibc)
        && needed > this
    {
        return Some(Incompatibility::Glibc { needed, this });
    }
    if build.abi.major != host.abi.major {
        return Some(Incompatibility::Abi { theirs: build.abi.clone(), ours: host.abi.clone() });
    }
    let needed = needs.replio().filter(|needed| !needed.matches(&host.version))?;
    Some(Incompatibility::Replio { needed, this: host.version.clone() })
}
