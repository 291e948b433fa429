//! `replio trust list`: what the user has trusted, here and elsewhere.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::app::App;
use crate::commands::CommandResult;
use crate::output::{Answer, Cell, DIM, GOOD, NAME, Page};
use crate::plugins::digest::Digest;
use crate::plugins::manage::Plugins;
use crate::plugins::trust::{Note, Trust};
use crate::project::files_now;

struct Trusted {
    plugins: Vec<Item>,
    files: Vec<Item>,
}

/// Something that is trusted.
struct Item {
    sha256: Digest,
    note: Note,
    /// This project has it, as it is now.
    is_here: bool,
}

/// # Errors
/// What is trusted can't be read.
pub(super) fn run(app: &App) -> CommandResult<'_> {
    let trust = Trust::read(app.places.global())?;
    let (installed, warnings) = Plugins::new(&app.places, app.output).installed();
    app.warn(warnings);
    let builds = installed.iter().filter_map(|plugin| plugin.record.as_ref().ok());
    let digests = builds.flat_map(|record| [Some(&record.build), record.previous.as_ref()]);
    let mut here: BTreeSet<Digest> = digests.flatten().map(|build| build.sha256).collect();
    here.extend(files_now(&app.places).into_iter().filter_map(|(_, sha256)| sha256));
    let items = |all: &mut dyn Iterator<Item = (&Digest, &Note)>| {
        let item = |(sha256, note): (&Digest, &Note)| Item {
            sha256: *sha256,
            note: note.clone(),
            is_here: here.contains(sha256),
        };
        let mut items: Vec<Item> = all.map(item).collect();
        items.sort_by(|left, right| {
            (&left.note.label, &left.note.since).cmp(&(&right.note.label, &right.note.since))
        });
        items
    };
    Ok(Box::new(Trusted { plugins: items(&mut trust.plugins()), files: items(&mut trust.files()) }))
}

impl Answer for Trusted {
    fn json(&self) -> Value {
        let list = |items: &[Item], label: &str| {
            let one = |item: &Item| json!({ label: item.note.label, "sha256": item.sha256, "since": item.note.since, "here": item.is_here });
            items.iter().map(one).collect::<Vec<_>>()
        };
        json!({ "plugins": list(&self.plugins, "name"), "files": list(&self.files, "path") })
    }

    fn text(&self, page: &mut Page) {
        if self.plugins.is_empty() && self.files.is_empty() {
            page.line("You have trusted nothing yet.");
            return;
        }
        let rows = |items: &[Item], kind: &'static str| {
            let row = move |item: &Item| {
                vec![
                    Cell::plain(kind),
                    Cell::plain(item.sha256.short()),
                    Cell::styled(DIM, &item.note.since),
                    Cell::styled(GOOD, if item.is_here { "yes" } else { "" }),
                    Cell::styled(NAME, &item.note.label),
                ]
            };
            items.iter().map(row).collect::<Vec<_>>()
        };
        let rows = rows(&self.plugins, "plugin").into_iter().chain(rows(&self.files, "file"));
        page.table(&["WHAT", "SHA256", "SINCE", "HERE", "NAME"], rows);
    }
}
