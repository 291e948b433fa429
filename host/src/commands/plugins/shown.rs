//! `replio plugins show`: all that is known of one installed plugin, and the
//! JSON form of a plugin that all verbs share.

use serde_json::{Value, json};

use super::answers::{scope_in_words, standing, status_style};
use crate::catalog::Kind;
use crate::output::{Answer, DIM, NAME, Page, clean_line};
use crate::plugins::changes::Changes;
use crate::plugins::inspect::{self, About};
use crate::plugins::jail::Jail;
use crate::plugins::manage::bundled;
use crate::plugins::provides::Provides;
use crate::plugins::run;
use crate::plugins::status::Installed;

/// The plugin, and what its library says of itself where it can be read.
pub(super) struct Shown {
    plugin: Installed,
    about: Option<About>,
    overrides: Changes,
    jail: Result<Jail, String>,
}

impl Shown {
    pub(super) fn of(plugin: Installed) -> Self {
        let about = inspect::inspect(&plugin.library).ok().map(|inspection| inspection.about);
        let provides = plugin.record.as_ref().map(|record| record.build.provides.clone()).unwrap_or_default();
        let mut overrides = Changes::between(&Provides::default(), &provides, &bundled());
        overrides.added.clear();
        Self { plugin, about, overrides, jail: run::probe() }
    }
}

impl Answer for Shown {
    fn json(&self) -> Value {
        let mut plugin = plugin_json(&self.plugin);
        if let Some(about) = &self.about {
            plugin["description"] = about.description.clone().into();
            plugin["authors"] = about.authors.clone().into();
            plugin["license"] = about.license.clone().into();
            plugin["homepage"] = about.homepage.clone().into();
        }
        plugin["jail"] = self.jail.as_ref().map_or(Value::Null, |jail| json!(jail));
        json!({ "plugin": plugin, "changes": self.overrides.json() })
    }

    fn text(&self, page: &mut Page) {
        let plugin = &self.plugin;
        let Ok(record) = &plugin.record else {
            page.line(format!("{NAME}{}{NAME:#}, installed {}", plugin.name, scope_in_words(plugin.scope)));
            return standing(plugin, page);
        };
        let build = &record.build;
        let style = status_style(&plugin.status);
        page.line(format!(
            "{NAME}{}{NAME:#} {}, {style}{}{style:#}, installed {}",
            plugin.name,
            build.version,
            plugin.status.word(),
            scope_in_words(plugin.scope)
        ));
        let mut line = |key: &str, value: &str| {
            if !value.is_empty() {
                page.line(format!("  {DIM}{key:<12}{DIM:#} {}", clean_line(value)));
            }
        };
        if let Some(about) = &self.about {
            line("description", about.description.as_deref().unwrap_or_default());
            line("authors", &about.authors.join(", "));
            line("license", about.license.as_deref().unwrap_or_default());
            line("homepage", about.homepage.as_deref().unwrap_or_default());
        }
        for kind in Kind::ALL {
            let names: Vec<&str> = build.provides.of_kind(kind).keys().map(AsRef::as_ref).collect();
            line(kind.plural(), &names.join(", "));
        }
        for change in &self.overrides.overrides {
            let fields = change.fields.join(", ");
            line("overrides", &format!("bundled {} {}: {fields}", change.kind, change.name));
        }
        line("source", &build.source);
        line("sha256", &build.sha256.to_string());
        line("library", &plugin.library.display().to_string());
        line("built with", &format!("replio-plugin-api {}, plugin ABI {}", build.api, build.abi));
        line("needs", &needs(plugin));
        match &self.jail {
            Ok(jail) => line("jail", &jail.to_string()),
            Err(error) => line("jail", &format!("not known here: {error}")),
        }
        if let Some(previous) = &record.previous {
            let rollback = format!(
                "{} ({}); `replio plugins rollback {}`",
                previous.version,
                previous.sha256.short(),
                plugin.name
            );
            line("before", &rollback);
        }
        standing(plugin, page);
    }
}

fn needs(plugin: &Installed) -> String {
    let Ok(record) = &plugin.record else { return String::new() };
    let needs = &record.build.needs;
    let mut parts = vec![needs.system.clone(), needs.processors.join(" or ")];
    parts.extend(needs.glibc.as_ref().map(|glibc| format!("glibc {glibc}")));
    parts.extend(needs.replio.as_ref().map(|replio| format!("replio {replio}")));
    parts.retain(|part| !part.is_empty());
    parts.join(", ")
}

/// A plugin in JSON.
pub(in crate::commands) fn plugin_json(plugin: &Installed) -> Value {
    let build = plugin.record.as_ref().ok().map(|record| &record.build);
    json!({
        "name": plugin.name,
        "version": build.map(|build| build.version.to_string()),
        "scope": plugin.scope,
        "status": plugin.status.word(),
        "reason": plugin.reason(),
        "help": plugin.help(),
        "abi": build.map(|build| build.abi.to_string()),
        "api": build.map(|build| build.api.to_string()),
        "provides": build.map_or_else(|| Provides::default().names_json(), |build| build.provides.names_json()),
        "sha256": build.map(|build| build.sha256),
        "path": build.map(|_| plugin.library.display().to_string()),
        "source": build.map(|build| build.source.clone()),
        "signer": null,
    })
}
