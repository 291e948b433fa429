//! `list`: every entry of a kind, or those with a tag.

use serde_json::{Map, Value};

use super::{ListArguments, hollow_warning, lacks, loop_warning, origin_in_words};
use crate::app::App;
use crate::catalog::{Kind, Resolved};
use crate::commands::CommandResult;
use crate::diagnostic::Diagnostic;
use crate::names::nearest;
use crate::output::{Answer, CAUTION, Cell, NAME, ORIGIN, Page};

struct Listing<'a> {
    kind: Kind,
    entries: Vec<Resolved<'a>>,
}

/// Lists the entries of a kind.
pub(in crate::commands) fn run<'a>(kind: Kind, arguments: &ListArguments, app: &'a App) -> CommandResult<'a> {
    let mut entries = app.stack(kind).all();
    if let Some(tag) = &arguments.tag {
        let known = tags_of(&entries);
        if !known.contains(&tag.as_str()) {
            return Err(unknown_tag(kind, tag, &known));
        }
        entries.retain(|entry| tags(entry).contains(&tag.as_str()));
    }
    app.warn(entries.iter().filter_map(hollow_warning));
    app.warn(entries.iter().filter_map(loop_warning));
    Ok(Box::new(Listing { kind, entries }))
}

/// The tags of an entry, without a copy of all else that it has.
fn tags<'e>(entry: &Resolved<'e>) -> Vec<&'e str> {
    let tags = entry.value("tags").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    tags.iter().filter_map(Value::as_str).collect()
}

/// The tags that any entry has, sorted, each once.
fn tags_of<'e>(entries: &[Resolved<'e>]) -> Vec<&'e str> {
    let mut tags: Vec<&str> = entries.iter().flat_map(tags).collect();
    tags.sort_unstable();
    tags.dedup();
    tags
}

fn unknown_tag(kind: Kind, tag: &str, known: &[&str]) -> Diagnostic {
    let message = format!("no {} has the tag `{tag}`", kind.described());
    let help = match (nearest(tag, known.iter().copied()), known) {
        (_, []) => format!("no {} has any tag yet", kind.described()),
        (Some(nearest), _) => format!("did you mean `{nearest}`? The tags are: {}", known.join(", ")),
        (None, _) => format!("the tags are: {}", known.join(", ")),
    };
    Diagnostic::new("unknown-tag", message).help(help)
}

impl Answer for Listing<'_> {
    fn json(&self) -> Value {
        let entries: Vec<Value> = self.entries.iter().map(Resolved::list_json).collect();
        Value::Object(Map::from_iter([(self.kind.plural().to_owned(), entries.into())]))
    }

    fn text(&self, page: &mut Page) {
        if self.entries.is_empty() {
            let (kind, kinds) = (self.kind.singular(), self.kind.plural());
            page.line(format!(
                "There are no {kinds} yet. `replio {kind} new NAME` makes one; plugins bring some too."
            ));
            return;
        }
        let headings: &[&str] = match self.kind {
            Kind::Type => &["NAME", "ORIGIN", "MODEL", "TAGS"],
            Kind::Skill => &["NAME", "ORIGIN", "TAGS", "DESCRIPTION"],
            Kind::Team => &["NAME", "ORIGIN", "TAGS", "STAGES"],
        };
        page.table(headings, self.entries.iter().map(|entry| row(self.kind, entry)));
    }
}

fn row(kind: Kind, entry: &Resolved<'_>) -> Vec<Cell> {
    let origin = origin_in_words(entry);
    let origin = if entry.is_hollow() {
        Cell::styled(CAUTION, format!("{origin}, {}", lacks(kind)))
    } else {
        Cell::styled(ORIGIN, origin)
    };
    let tags = Cell::plain(tags(entry).join(", "));
    let mut cells = vec![Cell::styled(NAME, entry.name()), origin];
    match kind {
        Kind::Type => {
            let model = entry.value("model").and_then(Value::as_str).unwrap_or_default();
            cells.extend([Cell::plain(model), tags]);
        }
        Kind::Skill => cells.extend([tags, Cell::plain(without_marks(&entry.skill().description))]),
        Kind::Team => {
            let stages = entry.team().stages;
            let chain: Vec<&str> = stages.iter().map(|stage| stage.agent_type.as_str()).collect();
            cells.extend([tags, Cell::plain(chain.join(" → "))]);
        }
    }
    cells
}

/// A description that is the heading of a Markdown file, as text.
fn without_marks(description: &str) -> &str {
    description.trim_start_matches('#').trim_start()
}
