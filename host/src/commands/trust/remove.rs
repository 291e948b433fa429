//! `replio trust remove`: takes trust back from what a project brings.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::app::App;
use crate::catalog::Scope;
use crate::commands::CommandResult;
use crate::commands::plugins::plugin_json;
use crate::diagnostic::Diagnostic;
use crate::output::{Answer, NAME, Page, clean_line};
use crate::plugins::digest::Digest;
use crate::plugins::manage::Plugins;
use crate::plugins::status::Installed;
use crate::plugins::trust::{Trust, TrustChange};
use crate::project::files_now;

struct Removed {
    plugins: Vec<Installed>,
    files: Vec<PathBuf>,
}

/// # Errors
/// There is no project or no such plugin in it, or the trust can't be changed.
pub(super) fn run<'a>(name: Option<&str>, app: &'a App) -> CommandResult<'a> {
    app.places.folder_for_writing(Scope::Local)?;
    let plugins = Plugins::new(&app.places, app.output);
    let trust = Trust::read(app.places.global())?;
    let chosen: Vec<Installed> = if let Some(name) = name {
        vec![plugins.find(name, Some(Scope::Local)).map_err(Diagnostic::from)?]
    } else {
        let (installed, warnings) = plugins.installed();
        app.warn(warnings);
        installed.into_iter().filter(|plugin| plugin.scope == Scope::Local).collect()
    };
    let mut changes = Vec::new();
    let mut removed = Removed { plugins: Vec::new(), files: Vec::new() };
    for plugin in chosen {
        let trusted = trusted_libraries(&plugin, &trust);
        if !trusted.is_empty() {
            changes.extend(trusted.into_iter().map(TrustChange::ForgetPlugin));
            removed.plugins.push(plugin);
        }
    }
    let files = if name.is_none() { files_now(&app.places) } else { Vec::new() };
    for (path, now) in files {
        // What it held before goes too, or an old state would be trusted still.
        let label = path.display().to_string();
        let is_its = |sha256: &Digest, of: &str| Some(*sha256) == now || of == label;
        let trusted = trust.files().filter(|(sha256, note)| is_its(sha256, &note.label));
        let trusted: Vec<TrustChange> = trusted.map(|(sha256, _)| TrustChange::ForgetFile(*sha256)).collect();
        if !trusted.is_empty() {
            changes.extend(trusted);
            removed.files.push(path);
        }
    }
    if !changes.is_empty() {
        Trust::change(app.places.global(), &changes)?;
    }
    for plugin in &mut removed.plugins {
        *plugin = plugins.find(plugin.name.as_str(), Some(Scope::Local)).map_err(Diagnostic::from)?;
    }
    Ok(Box::new(removed))
}

/// The libraries of a plugin that are trusted, those before an update too.
fn trusted_libraries(plugin: &Installed, trust: &Trust) -> Vec<Digest> {
    let Ok(record) = &plugin.record else { return Vec::new() };
    let builds = [Some(&record.build), record.previous.as_ref()].into_iter().flatten();
    builds.map(|build| build.sha256).filter(|sha256| trust.has_plugin(sha256)).collect()
}

impl Answer for Removed {
    fn json(&self) -> Value {
        json!({
            "plugins": self.plugins.iter().map(plugin_json).collect::<Vec<_>>(),
            "files": self.files.iter().map(|path| json!({ "path": path.display().to_string() })).collect::<Vec<_>>(),
        })
    }

    fn text(&self, page: &mut Page) {
        if self.plugins.is_empty() && self.files.is_empty() {
            page.line("Nothing of it was trusted.");
        }
        for plugin in &self.plugins {
            page.line(format!(
                "You no longer trust the plugin {NAME}{}{NAME:#} ({}): none of it is run until you do",
                plugin.name, plugin.scope
            ));
        }
        for path in &self.files {
            page.line(format!("You no longer trust {}", clean_line(&path.display().to_string())));
        }
    }
}
