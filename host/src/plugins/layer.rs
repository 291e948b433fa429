//! The in-memory plugin layer: every installed plugin with its status, and
//! what the enabled ones brought. It is one value, and [`PluginLayer::rebuild`]
//! is the one function that makes it, at the first need and after each change.

use crate::catalog::{Kind, Layer, Scope};
use crate::diagnostic::Diagnostic;
use crate::output::Output;
use crate::plugins::drift;
use crate::plugins::load::PluginToRun;
use crate::plugins::lockfile::Record;
use crate::plugins::quarantine::Verdict;
use crate::plugins::run::{self, Candidate, Contribution, Fault};
use crate::plugins::status::{Grounds, Installed, Status, installed};
use crate::plugins::store::Store;

/// How often others may change what is installed while the layer is built.
const MOST_CHANGES: usize = 5;

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
    /// Those that crash, hang or lie are set aside for the next time.
    pub fn rebuild(stores: &[Store], grounds: &mut Grounds) -> Self {
        let mut layer = Self::build(stores, grounds);
        // Another process may have updated or removed a plugin while this one
        // was about to open it.
        for _ in 0..MOST_CHANGES {
            if !layer.has_failed() || layer.is_current(stores, grounds) {
                break;
            }
            layer = Self::build(stores, grounds);
        }
        layer.set_aside(grounds);
        for plugin in &mut layer.plugins {
            plugin.judge(&mut layer.warnings);
        }
        layer
    }

    /// Whether there is a plugin that does not work.
    fn has_failed(&self) -> bool {
        self.plugins.iter().any(|plugin| {
            matches!(plugin.brought, Some(Err(_))) || matches!(plugin.installed.status, Status::Broken(_))
        })
    }

    fn build(stores: &[Store], grounds: &mut Grounds) -> Self {
        let (plugins, store_warnings) = installed(stores, grounds);
        let warnings = grounds.warnings.iter().chain(&store_warnings).cloned().collect();
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
                LayerPlugin { installed, brought }
            })
            .collect();
        Self { plugins, warnings, store_warnings }
    }

    /// Writes down which plugins are not to be run again, and has the layer
    /// show it.
    fn set_aside(&mut self, grounds: &mut Grounds) {
        let verdict = |plugin: &LayerPlugin| {
            let record = plugin.installed.record.as_ref().ok()?;
            let fault = plugin.brought.as_ref()?.as_ref().err().cloned();
            Some(Verdict { sha256: record.build.sha256, name: plugin.installed.name.clone(), fault })
        };
        let verdicts: Vec<Verdict> = self.plugins.iter().filter_map(verdict).collect();
        match grounds.quarantine.judge(&grounds.global, &verdicts) {
            Ok(quarantine) => grounds.quarantine = quarantine,
            // What is damaged was said already.
            Err(error) if grounds.warnings.iter().any(|warning| warning.code == error.code) => {}
            Err(error) => {
                let message = format!("what plugins did wrong can't be noted: {}", error.message);
                self.warnings.push(Diagnostic { code: "quarantine-not-kept", message, ..error });
            }
        }
        for plugin in &mut self.plugins {
            let (Ok(record), Some(Err(_))) = (&plugin.installed.record, &plugin.brought) else { continue };
            if let Some(reason) = grounds.quarantine.reason(&record.build.sha256) {
                plugin.installed.status = Status::Quarantined(reason.clone());
            }
        }
    }

    /// Whether the same plugins are installed, and stand as they did when this
    /// was built.
    pub fn is_current(&self, stores: &[Store], grounds: &mut Grounds) -> bool {
        let (plugins, store_warnings) = installed(stores, grounds);
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
            file: plugin.file,
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
        if let (Some(warning), None) = (self.installed.warning(), &self.brought) {
            warnings.push(warning);
        }
        match (&mut self.brought, &self.installed.record) {
            (Some(Ok(contribution)), Ok(record)) => {
                let name = &self.installed.name;
                warnings.extend(drift::changed(name, &record.build.provides, &contribution.layers));
                warnings.extend(drift::tighten(name, &record.build.provides, &mut contribution.layers));
            }
            (Some(Err(fault)), _) => {
                let mut warning = fault.diagnostic();
                if let (Status::Quarantined(_), Some(help)) = (&self.installed.status, self.installed.help())
                {
                    // Ahead of what the plugin printed, which follows in lines of its own.
                    let end = warning.message.find('\n').unwrap_or(warning.message.len());
                    warning.message.insert_str(end, "; it is set aside and not run again");
                    warning.help = Some(help);
                } else if self.installed.scope == Scope::Global {
                    let disable = format!("`replio plugins disable {}", self.installed.name);
                    let help =
                        warning.help.map(|help| help.replace(&disable, &format!("{disable} --global")));
                    warning.help = help;
                }
                warnings.push(warning);
            }
            _ => {}
        }
    }
}
