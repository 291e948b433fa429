//! The in-memory plugin layer: every installed plugin with its status, and
//! what the enabled ones brought. It is one value, and [`PluginLayer::rebuild`]
//! is the one function that makes it, at the first need and after each change.

use crate::catalog::{Kind, Layer};
use crate::diagnostic::Diagnostic;
use crate::output::Output;
use crate::plugins::drift;
use crate::plugins::inspect::Host;
use crate::plugins::load::PluginToRun;
use crate::plugins::lockfile::Record;
use crate::plugins::run::{self, Candidate, Contribution, Fault};
use crate::plugins::status::{Installed, Status, installed};
use crate::plugins::store::{CheckedFiles, Store};

/// What plugins add to the catalog, and what is to be said about them.
#[derive(Debug, Default)]
pub struct PluginLayer {
    /// Every plugin that is installed, in the order of their names.
    pub plugins: Vec<LayerPlugin>,
    /// What is wrong with them, or odd.
    pub warnings: Vec<Diagnostic>,
    /// What is wrong with the stores themselves.
    store_warnings: Vec<Diagnostic>,
}

/// A plugin in the layer.
#[derive(Debug)]
pub struct LayerPlugin {
    /// How it is installed.
    pub installed: Installed,
    /// What it brought: nothing when it is not enabled, else its entries or
    /// its fault.
    pub brought: Option<Result<Contribution, Fault>>,
}

impl PluginLayer {
    /// Runs every enabled plugin of these stores and collects what they bring.
    pub fn rebuild(stores: &[Store], checked: &mut CheckedFiles) -> Self {
        let layer = Self::build(stores, checked);
        // Another process may have updated or removed a plugin while this one
        // was about to open it.
        let has_failed = layer.plugins.iter().any(|plugin| matches!(plugin.brought, Some(Err(_))));
        if has_failed && !layer.is_current(stores, checked) {
            return Self::build(stores, checked);
        }
        layer
    }

    fn build(stores: &[Store], checked: &mut CheckedFiles) -> Self {
        let (plugins, store_warnings) = installed(stores, &Host::this(), checked);
        let mut warnings = store_warnings.clone();
        let candidates: Vec<Candidate> = plugins
            .iter()
            .filter_map(|plugin| {
                plugin
                    .record
                    .as_ref()
                    .ok()
                    .filter(|_| plugin.status == Status::Enabled)
                    .map(|record| (plugin, record))
            })
            .map(|(plugin, record)| candidate(plugin, record))
            .collect();
        let mut runs = run::run(&candidates).into_iter();
        let plugins = plugins
            .into_iter()
            .map(|installed| {
                let brought = if installed.status == Status::Enabled { runs.next() } else { None };
                let mut plugin = LayerPlugin { installed, brought };
                plugin.judge(&mut warnings);
                plugin
            })
            .collect();
        Self { plugins, warnings, store_warnings }
    }

    /// Whether the same plugins are installed, and stand as they did when this
    /// was built.
    pub fn is_current(&self, stores: &[Store], checked: &mut CheckedFiles) -> bool {
        let (plugins, store_warnings) = installed(stores, &Host::this(), checked);
        store_warnings == self.store_warnings
            && plugins.iter().eq(self.plugins.iter().map(|plugin| &plugin.installed))
    }

    /// The layers of one kind, one for each plugin that brought anything.
    pub fn layers(&self, kind: Kind) -> impl Iterator<Item = &Layer> {
        self.plugins
            .iter()
            .filter_map(|plugin| plugin.brought.as_ref()?.as_ref().ok())
            .map(move |contribution| contribution.layer(kind))
            .filter(|layer| !layer.entries.is_empty())
    }
}

fn candidate(plugin: &Installed, record: &Record) -> Candidate {
    Candidate {
        to_run: PluginToRun {
            name: plugin.name.clone(),
            path: plugin.library.clone(),
            sha256: record.build.sha256,
            libraries: record.build.needs.libraries.clone(),
        },
        scope: plugin.scope,
        panic_aborts: record.build.needs.panic_aborts,
    }
}

impl LayerPlugin {
    /// Passes on what the plugin said while it ran, where that is wanted.
    pub fn tell(&self, output: Output) {
        let told = match &self.brought {
            Some(Ok(contribution)) => contribution.told(&self.installed.name),
            Some(Err(fault)) => fault.told(),
            None => return,
        };
        for line in told {
            output.detail(&line);
        }
    }

    /// Says what is wrong or odd about the plugin, and takes back what it
    /// loosened since it was installed.
    fn judge(&mut self, warnings: &mut Vec<Diagnostic>) {
        if let Some(warning) = self.installed.warning() {
            warnings.push(warning);
        }
        match (&mut self.brought, &self.installed.record) {
            (Some(Ok(contribution)), Ok(record)) => {
                let name = &self.installed.name;
                warnings.extend(drift::changed(name, &record.build.provides, &contribution.layers));
                warnings.extend(drift::tighten(name, &record.build.provides, &mut contribution.layers));
            }
            (Some(Err(fault)), _) => warnings.push(fault.diagnostic()),
            _ => {}
        }
    }
}
