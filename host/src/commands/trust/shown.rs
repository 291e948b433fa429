//! What waits for trust, and what became of it, for people and scripts.

use serde_json::{Value, json};

use crate::commands::plugins::{changes_lines, plugin_json};
use crate::config::Matter;
use crate::diagnostic::Diagnostic;
use crate::output::{Answer, BAD, CAUTION, Cell, DIM, GOOD, NAME, Page, clean, clean_line};
use crate::plugins::manage::Untrusted;
use crate::project::{Brought, BroughtFile};

/// A value of a setting is shown up to here.
const LONGEST_VALUE: usize = 80;

/// What waits for trust, and what the user said to it.
pub(super) struct Answered {
    pub(super) brought: Brought,
    pub(super) decision: Decision,
    /// It is on the terminal already.
    pub(super) is_shown: bool,
    pub(super) failures: Vec<Diagnostic>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    Open,
    Trusted,
    /// Nothing waits.
    Nothing,
}

impl Answered {
    pub(super) fn nothing(brought: Brought) -> Self {
        Self { brought, decision: Decision::Nothing, is_shown: false, failures: Vec::new() }
    }

    /// Why some of the plugins can't be trusted.
    pub(super) fn refusals(&self) -> Vec<Diagnostic> {
        self.brought.plugins.iter().filter_map(|plugin| plugin.refused.clone()).collect()
    }
}

impl Answer for Answered {
    fn json(&self) -> Value {
        let config = self.brought.config.as_ref().map(config_json);
        let loosened = self.brought.types.iter().flat_map(|file| {
            file.matters.iter().flat_map(move |(loosened, line)| {
                loosened.loosened.iter().map(move |change| {
                    json!({
                        "type": loosened.name,
                        "category": change.category,
                        "before": change.before,
                        "after": change.after,
                        "file": file.path.display().to_string(),
                        "line": line,
                    })
                })
            })
        });
        let files = self.brought.files();
        let files = files
            .iter()
            .map(|(path, sha256)| json!({ "path": path.display().to_string(), "sha256": sha256 }));
        let mut document = json!({
            "plugins": self.brought.plugins.iter().map(untrusted_json).collect::<Vec<_>>(),
            "files": files.collect::<Vec<_>>(),
            "config": config.unwrap_or_default(),
            "loosened": loosened.collect::<Vec<_>>(),
            "trusted": self.failures.is_empty(),
        });
        if let Some(failure) = self.failures.first() {
            document["error"] = failure_json(failure);
        }
        document
    }

    fn text(&self, page: &mut Page) {
        if self.decision == Decision::Nothing {
            page.line("Nothing in this project waits for your trust.");
            return;
        }
        if !self.is_shown {
            brought_text(&self.brought, page);
        }
        if self.decision != Decision::Trusted {
            return;
        }
        if !self.is_shown {
            page.blank();
        }
        for plugin in self.brought.plugins.iter().filter(|plugin| plugin.refused.is_none()) {
            page.line(format!("{GOOD}Trusted{GOOD:#} the plugin {}", headline(plugin)));
        }
        for (path, _) in self.brought.files() {
            page.line(format!("{GOOD}Trusted{GOOD:#} {}", clean_line(&path.display().to_string())));
        }
    }

    fn failures(&self) -> Vec<&Diagnostic> {
        self.failures.iter().collect()
    }
}

fn failure_json(failure: &Diagnostic) -> Value {
    json!({ "code": failure.code, "message": failure.message, "help": failure.help })
}

fn untrusted_json(untrusted: &Untrusted) -> Value {
    let mut plugin = plugin_json(&untrusted.plugin);
    let about = untrusted.about.as_ref();
    plugin["description"] = about.and_then(|about| about.description.clone()).into();
    plugin["authors"] = about.map(|about| about.authors.clone()).unwrap_or_default().into();
    plugin["license"] = about.and_then(|about| about.license.clone()).into();
    plugin["homepage"] = about.and_then(|about| about.homepage.clone()).into();
    plugin["changes"] = untrusted.changes.json();
    plugin["problem"] = untrusted.refused.as_ref().map(failure_json).into();
    plugin
}

fn config_json(file: &BroughtFile<Matter>) -> Vec<Value> {
    let one = |(matter, line): &(Matter, Option<usize>)| {
        json!({
            "key": matter.key(),
            "value": matter.value,
            "why": matter.why,
            "file": file.path.display().to_string(),
            "line": line,
        })
    };
    file.matters.iter().map(one).collect()
}

fn headline(untrusted: &Untrusted) -> String {
    let plugin = &untrusted.plugin;
    let version = plugin.record.as_ref().map(|record| record.build.version.to_string());
    format!("{NAME}{}{NAME:#} {}", plugin.name, version.unwrap_or_default())
}

fn brought_text(brought: &Brought, page: &mut Page) {
    page.line("This project brings what you have not trusted:");
    for plugin in &brought.plugins {
        page.blank();
        plugin_text(plugin, page);
    }
    if let Some(file) = &brought.config {
        page.blank();
        page.line(format!("Settings in {}", clean_line(&file.path.display().to_string())));
        page.table(
            &["SETTING", "VALUE", "LINE", "WHY IT MATTERS"],
            file.matters.iter().map(|(matter, line)| {
                let key = matter.key();
                vec![
                    Cell::styled(NAME, key),
                    Cell::styled(CAUTION, cut(&matter.value)),
                    Cell::plain(line.map(|line| line.to_string()).unwrap_or_default()),
                    Cell::plain(&matter.why),
                ]
            }),
        );
    }
    if let Some(file) = &brought.types {
        page.blank();
        page.line(format!("Permissions that {} loosens", clean_line(&file.path.display().to_string())));
        page.table(
            &["TYPE", "CATEGORY", "BEFORE", "AFTER", "LINE"],
            file.matters.iter().flat_map(|(loosened, line)| {
                loosened.loosened.iter().map(move |change| {
                    vec![
                        Cell::styled(NAME, loosened.name.as_str()),
                        Cell::plain(change.category.word()),
                        Cell::plain(change.before.word()),
                        Cell::styled(CAUTION, change.after.word()),
                        Cell::plain(line.map(|line| line.to_string()).unwrap_or_default()),
                    ]
                })
            }),
        );
    }
}

fn plugin_text(untrusted: &Untrusted, page: &mut Page) {
    let read = if untrusted.about.is_some() { ", by its library, which was read and not run" } else { "" };
    page.line(format!("The plugin {}{read}", headline(untrusted)));
    let mut line = |key: &str, value: &str| {
        if !value.is_empty() {
            page.line(format!("  {DIM}{key:<12}{DIM:#} {}", clean_line(value)));
        }
    };
    if let Some(about) = &untrusted.about {
        line("description", about.description.as_deref().unwrap_or_default());
        line("authors", &about.authors.join(", "));
        line("license", about.license.as_deref().unwrap_or_default());
        line("homepage", about.homepage.as_deref().unwrap_or_default());
    }
    if let Ok(record) = &untrusted.plugin.record {
        line("sha256", &record.build.sha256.to_string());
        line("source", &record.build.source);
        if let Some(previous) = &record.previous {
            let build = format!("{} ({})", previous.version, previous.sha256.short());
            let is_along = untrusted.is_about(&previous.sha256);
            let along = if is_along { "for a rollback" } else { "which is left untrusted" };
            line("before", &format!("{build}, {along}"));
        }
        if !record.enabled {
            line("status", "disabled");
        }
    }
    line("library", &untrusted.plugin.library.display().to_string());
    if !untrusted.changes.is_empty() {
        page.line(format!("  {DIM}by the project's plugins.lock it brings{DIM:#}"));
        changes_lines(&untrusted.changes, page);
    }
    for note in &untrusted.notes {
        page.line(format!("  {CAUTION}note{CAUTION:#}: {}", clean(note)));
    }
    if let Some(refused) = &untrusted.refused {
        page.line(format!("  {BAD}it can't be trusted{BAD:#}: {}", clean_line(&refused.message)));
    }
}

/// A value in one line that is not too long.
fn cut(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= LONGEST_VALUE {
        return text;
    }
    let beginning: String = text.chars().take(LONGEST_VALUE).collect();
    format!("{beginning}… ({} characters)", text.chars().count())
}
