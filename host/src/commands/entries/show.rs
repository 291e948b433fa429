//! `show`: every field of one entry, the layer that it comes from, and what it
//! hides.

use serde_json::{Value, json};

use super::{and, beginning, explained, hollow_warning, in_words, lacks, loop_warning, warn_of_missing};
use crate::app::App;
use crate::catalog::{Field, Hidden, Kind, Origin, Resolved, Stage, Unknown, resolved_prompt};
use crate::commands::CommandResult;
use crate::output::{Answer, CAUTION, Cell, DIM, NAME, ORIGIN, Page, clean};

/// Longer values that are hidden are shown by their beginning.
const LONGEST_HIDDEN: usize = 60;

struct Shown<'a> {
    entry: Resolved<'a>,
    /// The whole prompt of a type, where that was asked for.
    prompt: Option<String>,
}

/// Shows an entry, whose name may be qualified.
pub(in crate::commands) fn run<'a>(kind: Kind, name: &str, resolve: bool, app: &'a App) -> CommandResult<'a> {
    let entry = app.stack(kind).resolve(name).map_err(|unknown| with_a_way_on(app, &unknown))?;
    app.warn(hollow_warning(&entry));
    app.warn(loop_warning(&entry));
    warn_of_missing(app, &entry);
    let prompt = resolve.then(|| {
        resolved_prompt(&entry.agent_type(), &[], |skill| {
            Some(app.stack(Kind::Skill).resolve(skill).ok()?.skill().content)
        })
    });
    Ok(Box::new(Shown { entry, prompt }))
}

/// An unknown name with what to type next, where no near one says it.
pub(super) fn with_a_way_on(app: &App, unknown: &Unknown) -> crate::diagnostic::Diagnostic {
    let diagnostic = explained(app, unknown);
    match diagnostic.help {
        Some(_) => diagnostic,
        None => diagnostic.help(format!("`replio {} list` names those there are", unknown.kind)),
    }
}

impl Answer for Shown<'_> {
    fn json(&self) -> Value {
        let mut document = self.entry.show_json();
        if let (Some(prompt), Some(document)) = (&self.prompt, document.as_object_mut()) {
            let resolved = json!({ "system_prompt": prompt, "bytes": prompt.len() });
            document.insert("resolved".to_owned(), resolved);
        }
        document
    }

    fn text(&self, page: &mut Page) {
        match &self.prompt {
            Some(prompt) => page.line(clean(prompt)),
            None => self.definition(page),
        }
    }
}

impl Shown<'_> {
    fn definition(&self, page: &mut Page) {
        let entry = &self.entry;
        let kind = entry.kind();
        let mut layers = and(entry.origins());
        if entry.is_hollow() {
            layers = format!("{layers}, {CAUTION}{}{CAUTION:#}", lacks(kind));
        }
        page.line(format!("{NAME}{}{NAME:#}: {} ({layers})", clean(entry.name()), kind.described()));
        page.blank();
        let fields = entry.fields();
        let long = |field: &&Field<'_, &Value>| ["system_prompt", "content", "stages"].contains(&field.name);
        let mut rows: Vec<Vec<Cell>> = Vec::new();
        for field in fields.iter().filter(|field| !long(field)) {
            let value = field.value.map(in_words);
            rows.extend(field_rows(field.name, field, value, default_of(kind, field.name), |value| {
                in_words(value)
            }));
        }
        page.table(&["FIELD", "VALUE", "LAYER"], rows);
        if kind == Kind::Type {
            page.blank();
            self.permissions(page);
        }
        for field in fields.iter().filter(long) {
            page.blank();
            long_field(page, entry, field);
        }
    }
}

impl Shown<'_> {
    fn permissions(&self, page: &mut Page) {
        let categories = self.entry.categories();
        if categories.is_empty() {
            page.line(format!("{NAME}tool_permission{NAME:#}  {DIM}as its caller's{DIM:#}"));
            return;
        }
        let rows = categories.iter().flat_map(|field| {
            let value = field.value.map(|action| action.word().to_owned());
            field_rows(field.name, field, value, "its caller's", |action| action.word().to_owned())
        });
        page.table(&["TOOL_PERMISSION", "ACTION", "LAYER"], rows);
    }
}

/// The row of a field, and one for each value that it hides.
fn field_rows<V>(
    name: &str,
    field: &Field<'_, V>,
    value: Option<String>,
    default: &str,
    words: impl Fn(&V) -> String,
) -> Vec<Vec<Cell>> {
    let layer = match (field.origin, &value) {
        (Some(origin), Some(_)) => Cell::styled(ORIGIN, origin.to_string()),
        (Some(origin), None) => Cell::styled(ORIGIN, format!("{origin} (reset)")),
        (None, _) => Cell::plain(""),
    };
    let value = value.map_or_else(|| Cell::styled(DIM, default), Cell::plain);
    let hidden = field.hidden.iter().map(|hidden| {
        let text = format!("hides {}", hidden_in_words(hidden, &words));
        vec![Cell::plain(""), Cell::styled(DIM, text), Cell::styled(DIM, hidden.origin.to_string())]
    });
    std::iter::once(vec![Cell::styled(NAME, name), value, layer]).chain(hidden).collect()
}

fn hidden_in_words<V>(hidden: &Hidden<'_, V>, words: impl Fn(&V) -> String) -> String {
    hidden
        .value
        .as_ref()
        .map_or_else(|| "a reset to the default".to_owned(), |value| beginning(&words(value), LONGEST_HIDDEN))
}

/// What a field is that nobody sets.
fn default_of(kind: Kind, field: &str) -> &'static str {
    match (kind, field) {
        (_, "model") => "its caller's",
        (Kind::Skill, "description") => "the content's first line",
        _ => "none",
    }
}

/// A prompt, a skill's content or a team's stages, under a line of their own.
fn long_field(page: &mut Page, entry: &Resolved<'_>, field: &Field<'_, &Value>) {
    let origin = match (field.origin, field.value) {
        (Some(origin), Some(_)) => origin.to_string(),
        (Some(origin), None) => format!("{origin} (reset)"),
        (None, _) => "not set".to_owned(),
    };
    page.line(format!("{NAME}{}{NAME:#}  {ORIGIN}{origin}{ORIGIN:#}", field.name));
    for hidden in &field.hidden {
        let text = hidden_in_words(hidden, |value| in_words(value));
        page.line(format!("{DIM}  hides {}  {}{DIM:#}", clean(&text), hidden_layer(hidden.origin)));
    }
    match field.value {
        None => {}
        Some(Value::Array(_)) => {
            for (index, stage) in entry.team().stages.iter().enumerate() {
                show_stage(page, index + 1, stage);
            }
        }
        Some(value) => {
            let text = value.as_str().unwrap_or_default();
            if text.trim().is_empty() {
                page.line(format!("{DIM}  (empty){DIM:#}"));
            } else {
                page.blank();
                page.wrapped(0, text.trim_matches(['\r', '\n']));
            }
        }
    }
}

fn hidden_layer(origin: &Origin) -> String {
    format!("({origin})")
}

fn show_stage(page: &mut Page, number: usize, stage: &Stage) {
    page.line(format!("  {number}. {NAME}{}{NAME:#}", clean(&stage.agent_type)));
    for (word, text) in [("task", &stage.task_hint), ("hands over", &stage.handoff_note)] {
        if !text.trim().is_empty() {
            page.wrapped(5, &format!("{word}: {text}"));
        }
    }
    if !stage.skills.is_empty() {
        page.wrapped(5, &format!("skills: {}", stage.skills.join(", ")));
    }
}
