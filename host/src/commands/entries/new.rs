//! `new`: writes the given fields of an entry, and says what that overrides and
//! what it loosens.

use serde_json::{Map, Value, json};

use super::entry_file::EntryFile;
use super::looser::{in_words, json_of, looser};
use super::{
    WhereNew, and, hollow_warning, loop_warning, name_to_write, permission_up_to, stack_of_one,
    warn_of_missing, whose,
};
use crate::app::App;
use crate::catalog::{Category, Entry, Kind, Loosened, Origin, Resolved, Scope};
use crate::commands::CommandResult;
use crate::diagnostic::Diagnostic;
use crate::output::{Answer, CAUTION, DIM, NAME, Page, clean};

/// The fields to write.
pub(in crate::commands) type Fields = Vec<(&'static str, Value)>;

struct Written {
    file: EntryFile,
    line: Option<usize>,
    /// The entry was in this file before.
    was_there: bool,
    changed: bool,
    /// The entry in the file sets nothing.
    is_empty: bool,
    fields: Fields,
    /// The layers below that have the entry.
    below: Vec<Origin>,
    /// The fields that a higher layer sets as well.
    hidden: Vec<&'static str>,
    looser: Vec<Loosened>,
}

/// Writes an entry. A skill has one field, its content, and must be new.
pub(in crate::commands) fn run<'a>(
    kind: Kind,
    name: &str,
    place: &WhereNew,
    fields: Fields,
    app: &'a App,
) -> CommandResult<'a> {
    let name = name_to_write(kind, name)?;
    if let Some(stem) = name.as_str().strip_suffix(".md").filter(|_| kind == Kind::Skill) {
        let message = format!("`{name}` is the name of a file, and the skill would be in {name}.md");
        return Err(Diagnostic::new("bad-name", message)
            .help(format!("give the name without .md: `replio skill new {stem}`")));
    }
    let file = EntryFile::find(app, kind, name, place.scope())?;
    let origin = Origin::from(file.scope);
    let stack = app.stack(kind);
    let was_there = stack.layer(&origin).is_some_and(|layer| layer.get(file.name.as_str()).is_some());
    let lower = stack.layers().iter().filter(|layer| layer.origin < origin);
    let lower = lower.filter(|layer| layer.get(file.name.as_str()).is_some());
    let below: Vec<Origin> = lower.map(|layer| layer.origin.clone()).collect();
    let before = permission_up_to(stack, &file.name, |layer| *layer <= origin);
    let lower = permission_up_to(stack, &file.name, |layer| *layer < origin);

    let changed = match kind {
        Kind::Skill => {
            let content = fields.iter().find_map(|(_, value)| value.as_str());
            file.write_skill(content.unwrap_or_default())?;
            true
        }
        Kind::Type | Kind::Team => file.set(app, &fields)?,
    };

    let layer = file.read_again(app);
    let line = file.line(&layer);
    let sets_any = |entry: &Entry| kind.fields().iter().any(|field| entry.get(field).is_some());
    let is_empty = !layer.get(file.name.as_str()).is_some_and(sets_any);
    let after = stack_of_one(stack, &file.name, Some(&layer));
    let permission = permission_up_to(&after, &file.name, |layer| *layer <= origin);
    let mut looser = looser(&[&before, &lower], &permission);
    looser.retain(|looser| sets(&fields, looser.category));
    let mut hidden = Vec::new();
    if let Ok(entry) = after.resolve(file.name.as_str()) {
        app.warn(hollow_warning(&entry));
        app.warn(loop_warning(&entry));
        warn_of_missing(app, &entry);
        hidden = hidden_fields(&entry, &origin, &fields);
    }
    Ok(Box::new(Written { file, line, was_there, changed, is_empty, fields, below, hidden, looser }))
}

fn sets(fields: &Fields, category: Category) -> bool {
    fields.iter().any(|(field, value)| *field == "tool_permission" && value.get(category.word()).is_some())
}

/// Which of these fields a higher layer sets, so that they change nothing.
fn hidden_fields(entry: &Resolved<'_>, origin: &Origin, written: &Fields) -> Vec<&'static str> {
    let decides = entry.fields().into_iter().map(|field| (field.name, field.origin));
    let higher = decides.filter(|(_, decides)| decides.is_some_and(|decides| decides > origin));
    higher.map(|(name, _)| name).filter(|name| written.iter().any(|(field, _)| field == name)).collect()
}

impl Answer for Written {
    fn json(&self) -> Value {
        let fields: Map<String, Value> =
            self.fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        json!({
            "kind": self.file.kind,
            "name": self.file.name,
            "scope": self.file.scope,
            "path": self.file.path.display().to_string(),
            "line": self.line,
            "created": !self.was_there,
            "changed": self.changed,
            "written": fields,
            "overrides": self.below.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "hidden": self.hidden,
            "looser": json_of(&self.looser),
        })
    }

    fn text(&self, page: &mut Page) {
        let (kind, name) = (self.file.kind, &self.file.name);
        let act = match (self.was_there, self.changed) {
            (true, false) => "Nothing is new in",
            (true, true) => "Changed",
            (false, _) => "Wrote",
        };
        let folder = match self.file.scope {
            Scope::Global => "your own folder",
            Scope::Local => "this project",
        };
        let fields: Vec<&str> = self.fields.iter().map(|(name, _)| *name).collect();
        let what = match (kind, fields.as_slice()) {
            (Kind::Skill, _) => String::new(),
            _ if !self.changed => String::new(),
            (_, []) => ", without any field".to_owned(),
            (_, fields) => format!(": {}", fields.join(", ")),
        };
        page.line(format!("{act} the {} {NAME}{name}{NAME:#} in {folder}{what}", kind.described()));
        if !self.below.is_empty() {
            let below = and(self.below.iter().map(whose));
            page.line(match kind {
                Kind::Skill => {
                    format!("It overrides the content of {below}; a description and tags from there stay.")
                }
                _ if self.is_empty => format!("Nothing of {below} is overridden until a field is set."),
                _ => format!("It overrides {below}; the other fields come from there still."),
            });
        }
        if !self.hidden.is_empty() {
            let hidden = and(&self.hidden);
            page.line(format!(
                "{CAUTION}This project's own {kind} of that name sets {hidden} too, and wins here.{CAUTION:#}"
            ));
        }
        for looser in &self.looser {
            page.line(format!("{CAUTION}{}{CAUTION:#}", in_words(*looser)));
        }
        let path = self.file.path_with_line(self.line);
        page.line(format!("{DIM}Edit it in{DIM:#} {}", clean(&path)));
    }
}
