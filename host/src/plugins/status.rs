//! How each installed plugin stands, told from the lock files and the store
//! alone: nothing here runs a plugin.

use std::path::PathBuf;

use crate::catalog::Scope;
use crate::diagnostic::Diagnostic;
use crate::names::PluginName;
use crate::plugins::inspect::{Host, Incompatibility, System};
use crate::plugins::lockfile::{Build, Lockfile, Record};
use crate::plugins::store::{CheckedFiles, Store};

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
    /// How it stands.
    pub status: Status,
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
    /// Its library or its record is not as it should be.
    Broken(String),
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
            Self::Broken(_) => "broken",
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
            Status::Broken(reason) => Some(reason.clone()),
            Status::Shadowed => Some("a local plugin of the same name is used instead".into()),
        }
    }

    /// What to do about it.
    pub fn help(&self) -> Option<String> {
        let name = &self.name;
        let scope = match self.scope {
            Scope::Global => " --global",
            Scope::Local => "",
        };
        match &self.status {
            Status::Enabled => None,
            Status::Disabled => Some(format!("replio plugins enable {name}")),
            Status::Incompatible(reason) => {
                Some(format!("{}, then `replio plugins update {name}`", reason.help()))
            }
            Status::Broken(_) if self.record.is_err() => {
                Some(format!("`replio plugins uninstall {name}{scope}` and install it again"))
            }
            Status::Broken(_) => Some(format!(
                "`replio plugins update {name}` installs it again from its source, `replio plugins uninstall {name}` removes it"
            )),
            Status::Shadowed => Some(format!("replio plugins disable {name} --local")),
        }
    }

    /// A warning about a plugin that should be loaded and can't be.
    pub fn warning(&self) -> Option<Diagnostic> {
        let code = match self.status {
            Status::Incompatible(_) => "plugin-incompatible",
            Status::Broken(_) => "plugin-broken",
            _ => return None,
        };
        let message = format!("plugin {} is {}: {}", self.name, self.status.word(), self.reason()?);
        Some(Diagnostic::new(code, message).help(self.help()?).plugin(self.name.clone()))
    }

    /// Whether it would be loaded if nothing were wrong with it.
    fn is_wanted(&self) -> bool {
        self.record.as_ref().is_ok_and(|record| record.enabled)
    }
}

/// Every plugin of these stores in the order of their names, the global one of
/// a name before the local one; and what is wrong with the stores themselves.
pub fn installed(
    stores: &[Store],
    host: &Host,
    checked: &mut CheckedFiles,
) -> (Vec<Installed>, Vec<Diagnostic>) {
    let mut plugins = Vec::new();
    let mut warnings = Vec::new();
    for store in stores {
        match store.read() {
            Ok(lockfile) => plugins.extend(of_store(store, &lockfile, host, checked)),
            Err(error) => warnings.push(error),
        }
    }
    checked.save();
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

fn of_store(store: &Store, lockfile: &Lockfile, host: &Host, checked: &mut CheckedFiles) -> Vec<Installed> {
    lockfile
        .plugins()
        .map(|(name, record)| {
            let (library, status) = match record {
                Ok(record) => (store.library(&record.build), status(store, record, host, checked)),
                Err(reason) => (
                    PathBuf::new(),
                    Status::Broken(format!("its record in plugins.lock can't be read: {reason}")),
                ),
            };
            Installed { name: name.clone(), scope: store.scope(), record: record.clone(), library, status }
        })
        .collect()
}

fn status(store: &Store, record: &Record, host: &Host, checked: &mut CheckedFiles) -> Status {
    if !record.enabled {
        return Status::Disabled;
    }
    if let Some(reason) = incompatibility(&record.build, host) {
        return Status::Incompatible(reason);
    }
    match store.check(&record.build, checked) {
        Ok(()) => Status::Enabled,
        Err(broken) => Status::Broken(broken.to_string()),
    }
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
