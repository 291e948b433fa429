//! What the verbs of `replio plugins` say.

use anstyle::Style;
use serde_json::{Value, json};

use super::shown::plugin_json;
use crate::catalog::{Loosened, Scope};
use crate::diagnostic::Diagnostic;
use crate::output::{Answer, BAD, CAUTION, Cell, DIM, GOOD, NAME, Page, clean, clean_line};
use crate::plugins::changes::{Change, Changes};
use crate::plugins::manage::{Done, Outcome, bundled};
use crate::plugins::provides::Provides;
use crate::plugins::status::{Installed, Status};

/// The installed plugins.
pub(super) struct List {
    pub(super) plugins: Vec<Installed>,
    /// A list of plugins could not be read, so there may be more.
    pub(super) is_partial: bool,
    pub(super) has_project: bool,
}

impl Answer for List {
    fn json(&self) -> Value {
        json!({ "plugins": self.plugins.iter().map(plugin_json).collect::<Vec<_>>() })
    }

    fn text(&self, page: &mut Page) {
        if self.plugins.is_empty() && self.is_partial {
            page.line("Which plugins are installed is not known: their list can't be read.");
            return;
        }
        if self.plugins.is_empty() {
            page.line("No plugins are installed.");
            let scope = if self.has_project { "" } else { " --global" };
            page.line(format!("  {DIM}replio plugins install ./libNAME.so{scope}{DIM:#} adds one"));
            return;
        }
        page.table(
            &["NAME", "VERSION", "SCOPE", "STATUS", "PROVIDES", "SOURCE"],
            self.plugins.iter().map(|plugin| {
                let record = plugin.record.as_ref().ok();
                let text = |text: Option<String>| text.unwrap_or_else(|| "?".into());
                vec![
                    Cell::styled(NAME, plugin.name.as_str()),
                    Cell::plain(text(record.map(|record| record.build.version.to_string()))),
                    Cell::plain(plugin.scope.word()),
                    Cell::styled(status_style(&plugin.status), plugin.status.word()),
                    Cell::plain(text(record.map(|record| record.build.provides.summary()))),
                    Cell::styled(DIM, text(record.map(|record| record.build.source.clone()))),
                ]
            }),
        );
        for plugin in &self.plugins {
            standing(plugin, page);
        }
    }
}

/// Why a plugin is not loaded, and what to do about it.
pub(super) fn standing(plugin: &Installed, page: &mut Page) {
    let Some(reason) = plugin.reason() else { return };
    let style = status_style(&plugin.status);
    page.line(format!(
        "\n{NAME}{}{NAME:#} ({}) is {style}{}{style:#}: {}",
        plugin.name,
        plugin.scope,
        plugin.status.word(),
        clean_line(&reason)
    ));
    if let Some(help) = plugin.help() {
        page.line(format!("  {GOOD}help{GOOD:#}: {}", clean(&help)));
    }
}

pub(super) fn status_style(status: &Status) -> Style {
    match status {
        Status::Enabled => GOOD,
        Status::Disabled | Status::Shadowed => DIM,
        Status::Untrusted => CAUTION,
        Status::Incompatible(_) | Status::Quarantined(_) | Status::Broken(_) => BAD,
    }
}

/// What a verb did to one plugin.
pub(super) struct One {
    pub(super) outcome: Outcome,
    pub(super) dry_run: bool,
}

impl Answer for One {
    fn json(&self) -> Value {
        let mut document = outcome_json(&self.outcome);
        if self.dry_run {
            document["dry_run"] = true.into();
        }
        document
    }

    fn text(&self, page: &mut Page) {
        outcome_text(&self.outcome, self.dry_run, page);
    }
}

/// What a verb did to several plugins.
pub(super) struct Several {
    pub(super) results: Vec<(String, Result<Outcome, Diagnostic>)>,
    pub(super) dry_run: bool,
}

impl Answer for Several {
    fn json(&self) -> Value {
        let one = |(name, result): &(String, Result<Outcome, Diagnostic>)| match result {
            Ok(outcome) => outcome_json(outcome),
            Err(error) => json!({
                "name": name,
                "error": { "code": error.code, "message": error.message, "help": error.help },
            }),
        };
        json!({ "results": self.results.iter().map(one).collect::<Vec<_>>() })
    }

    fn text(&self, page: &mut Page) {
        if self.results.is_empty() {
            page.line("No plugins are installed.");
        }
        for outcome in self.results.iter().filter_map(|(_, result)| result.as_ref().ok()) {
            outcome_text(outcome, self.dry_run, page);
        }
    }

    fn failures(&self) -> Vec<&Diagnostic> {
        self.results.iter().filter_map(|(_, result)| result.as_ref().err()).collect()
    }
}

fn outcome_json(outcome: &Outcome) -> Value {
    json!({ "plugin": plugin_json(&outcome.plugin), "changes": outcome.changes.json() })
}

fn outcome_text(outcome: &Outcome, dry_run: bool, page: &mut Page) {
    page.line(headline(outcome, dry_run));
    let quiet = matches!(
        outcome.done,
        Done::Verified
            | Done::AlreadyDisabled
            | Done::AlreadyEnabled
            | Done::AlreadyTrusted
            | Done::NeverUntrusted
            | Done::UpToDate
    );
    if let (Ok(record), false) = (&outcome.plugin.record, quiet) {
        if let Some(before) = outcome.before.as_ref().filter(|_| outcome.done != Done::Uninstalled) {
            page.line(format!("  sha256  {} -> {}", before.sha256, record.build.sha256));
        } else if !matches!(outcome.done, Done::Uninstalled | Done::Disabled) {
            page.line(format!("  sha256  {}", record.build.sha256));
        }
    }
    changes_text(outcome, page);
    if let (Status::Shadowed, false, Some(reason)) = (&outcome.plugin.status, quiet, outcome.plugin.reason())
    {
        page.line(format!("  {CAUTION}note{CAUTION:#}: it is shadowed here: {}", clean(&reason)));
    }
    for note in &outcome.notes {
        page.line(format!("  {CAUTION}note{CAUTION:#}: {}", clean(note)));
    }
    if dry_run {
        page.line(format!("  {DIM}nothing was changed: this was a dry run{DIM:#}"));
    }
}

fn headline(outcome: &Outcome, dry_run: bool) -> String {
    let plugin = &outcome.plugin;
    let name = format!("{NAME}{}{NAME:#}", plugin.name);
    let version =
        plugin.record.as_ref().map_or_else(|_| "?".to_owned(), |record| record.build.version.to_string());
    let scope = plugin.scope;
    let would = |done: &str, would: &str| if dry_run { would.to_owned() } else { done.to_owned() };
    let before = outcome.before.as_ref().map(|before| before.version.to_string()).unwrap_or_default();
    match outcome.done {
        Done::Installed => format!("{} {name} {version} ({scope})", would("Installed", "Would install")),
        Done::AlreadyInstalled => {
            format!("{name} {version} ({scope}) is already installed, with the same content")
        }
        Done::Repaired => format!(
            "{} {name} {version} ({scope}): what is stored of it was not whole",
            would("Repaired", "Would repair")
        ),
        Done::Updated => {
            format!("{} {name} {before} -> {version} ({scope})", would("Updated", "Would update"))
        }
        Done::Reinstalled => format!(
            "{} {name} {version} ({scope}): same version, other content",
            would("Reinstalled", "Would reinstall")
        ),
        Done::UpToDate => format!("{name} {version} ({scope}) is up to date"),
        Done::RolledBack => format!("Rolled back {name} {before} -> {version} ({scope})"),
        Done::Enabled => format!("Enabled {name} {version} ({scope})"),
        Done::Released => format!("Took {name} {version} ({scope}) back: it runs again"),
        Done::Accepted => format!("Accepted what {name} {version} ({scope}) brings now"),
        Done::AlreadyEnabled => format!("{name} {version} ({scope}) is already enabled"),
        Done::Disabled => format!("Disabled {name} {version} ({scope})"),
        Done::AlreadyDisabled => format!("{name} {version} ({scope}) is already disabled"),
        Done::Uninstalled => {
            format!("{} {name} {version} ({scope})", would("Uninstalled", "Would uninstall"))
        }
        Done::Trusted => format!("Trusted {name} {version} ({scope})"),
        Done::AlreadyTrusted => format!("{name} {version} ({scope}) is trusted already"),
        Done::NeverUntrusted => format!("{name} {version} ({scope}) is your own, which is never untrusted"),
        Done::Verified => format!("{GOOD}whole{GOOD:#}: {name} {version} ({scope})"),
    }
}

fn changes_text(outcome: &Outcome, page: &mut Page) {
    let speaks_of_all =
        matches!(outcome.done, Done::Installed | Done::Updated | Done::Reinstalled | Done::RolledBack);
    if outcome.changes.is_empty() && speaks_of_all {
        let what = if outcome.done == Done::Installed {
            "it brings nothing"
        } else {
            "it brings the same as before"
        };
        page.line(format!("  {DIM}{what}{DIM:#}"));
    }
    changes_lines(&outcome.changes, page);
}

/// What is added, removed, changed, overridden and loosened, a line each.
pub(in crate::commands) fn changes_lines(changes: &Changes, page: &mut Page) {
    let Changes { added, removed, changed, overrides, looser } = changes;
    let bundled = Provides::of(&bundled());
    for (mark, style, changes) in [("+", GOOD, added), ("-", BAD, removed), ("~", CAUTION, changed)] {
        for change in changes {
            let is_bundled = bundled.of_kind(change.kind).contains_key(&change.name);
            let more = match mark {
                "~" => format!(": {}", fields(change)),
                "+" if is_bundled => " over the bundled one".to_owned(),
                "-" if is_bundled => ", and the bundled one stays".to_owned(),
                _ => String::new(),
            };
            page.line(format!(
                "  {style}{mark}{style:#} {:<5} {NAME}{}{NAME:#}{more}",
                change.kind, change.name
            ));
        }
    }
    let new = |change: &&Change| {
        let same = |other: &Change| (other.kind, &other.name) == (change.kind, &change.name);
        added.iter().any(same) || changed.iter().any(same)
    };
    for change in overrides.iter().filter(new) {
        page.line(format!(
            "  overrides bundled {} {NAME}{}{NAME:#}: {}",
            change.kind,
            change.name,
            if change.fields.is_empty() { "no field".to_owned() } else { fields(change) }
        ));
    }
    for looser in looser {
        let Loosened { category, before, after } = looser.loosened;
        page.line(format!(
            "  {CAUTION}{category} is looser now in type {}: {before} before, {after} from now on{CAUTION:#}",
            looser.name
        ));
    }
}

/// "skills, tool_permission (bash)".
fn fields(change: &Change) -> String {
    let name = |field: &String| match field.as_str() {
        "tool_permission" if !change.categories.is_empty() => {
            format!("{field} ({})", change.categories.join(", "))
        }
        _ => field.clone(),
    };
    clean(&change.fields.iter().map(name).collect::<Vec<_>>().join(", ")).into_owned()
}

/// "for this project" or "for all projects".
pub(super) fn scope_in_words(scope: Scope) -> &'static str {
    match scope {
        Scope::Local => "for this project",
        Scope::Global => "for all projects",
    }
}
