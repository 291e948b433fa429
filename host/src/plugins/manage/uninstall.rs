//! Taking a plugin out. This needs nothing of the plugin to work: not its
//! library, not its hooks, not even a record that can be read.

use super::{Done, ManageError, Outcome, Plugins, bundled};
use crate::catalog::{Kind, Scope, read_folder};
use crate::plugins::changes::Changes;
use crate::plugins::provides::Provides;
use crate::plugins::status::{Installed, Status};

impl Plugins<'_> {
    /// Uninstalls a plugin with its files in the store.
    ///
    /// # Errors
    /// When there is no such plugin, or the list can't be written.
    pub fn uninstall(&self, name: &str, scope: Option<Scope>, dry_run: bool) -> Result<Outcome, ManageError> {
        let installed = self.find(name, scope)?;
        let brought = match &installed.record {
            Ok(record) if installed.is_wanted() => record.build.provides.clone(),
            _ => Provides::default(),
        };
        let changes = Changes::between(&brought, &Provides::default(), &bundled());
        let mut notes = self.left_alone(&installed);
        if installed.is_wanted() && installed.scope == Scope::Local && self.has_global(name) {
            notes.push(format!("the global plugin {name} is no longer shadowed"));
        }
        if !dry_run {
            let store = self.store(installed.scope)?;
            let mut locked = store.lock()?;
            if locked.lockfile.get(&installed.name).is_none() {
                return Err(ManageError::ChangedMeanwhile { name: installed.name.clone() });
            }
            locked.lockfile.remove(&installed.name);
            locked.commit()?;
        }
        Ok(Outcome { plugin: installed, before: None, changes, done: Done::Uninstalled, notes })
    }

    /// Names the entries in the user's and the project's files that override
    /// what this plugin brings, and stand alone without it.
    pub(super) fn left_alone(&self, plugin: &Installed) -> Vec<String> {
        let Ok(record) = &plugin.record else { return Vec::new() };
        if plugin.status == Status::Untrusted {
            // None of it was ever there to be overridden.
            return Vec::new();
        }
        let (others, _) = self.installed();
        let has_other = |kind: Kind, name: &str| {
            let bundled = bundled().iter().any(|layer| layer.kind == kind && layer.get(name).is_some());
            let of_plugin = others.iter().any(|other| {
                let is_other = (&other.name, other.scope) != (&plugin.name, plugin.scope);
                let provides = other.record.as_ref().ok().filter(|_| other.is_wanted());
                let brings =
                    provides.is_some_and(|record| record.build.provides.of_kind(kind).contains_key(name));
                is_other && brings
            });
            bundled || of_plugin
        };
        let mut notes = Vec::new();
        for scope in [Scope::Global, Scope::Local] {
            let Some(folder) = self.places.folder(scope) else { continue };
            for kind in Kind::ALL {
                let names = record.build.provides.of_kind(kind);
                if names.is_empty() {
                    continue;
                }
                let (layer, _) = read_folder(&folder, kind, scope);
                for name in names.keys() {
                    if layer.get(name.as_str()).is_some() && !has_other(kind, name.as_str()) {
                        notes.push(format!(
                            "the {scope} {} {name} overrode this plugin's and now stands alone",
                            kind.described()
                        ));
                    }
                }
            }
        }
        notes
    }
}
