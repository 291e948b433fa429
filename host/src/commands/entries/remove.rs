//! `remove`: takes an entry out of one file, and says what is left of it.

use serde_json::{Value, json};

use super::entry_file::EntryFile;
use super::looser::{in_words, json_of, looser};
use super::show::with_a_way_on;
use super::{
    WhichFile, and, flag, has, hollow_warning, name_to_write, permission_up_to, stack_of_one, whose,
};
use crate::app::App;
use crate::catalog::{Kind, Loosened, Origin, Scope};
use crate::commands::CommandResult;
use crate::diagnostic::Diagnostic;
use crate::names::{EntryName, PluginName};
use crate::output::{Answer, CAUTION, NAME, Page, clean};

struct Removed {
    file: EntryFile,
    /// The other of the two files has it too, and nobody said which to take.
    also_in: Option<Scope>,
    /// Where it still comes from.
    left: Vec<Origin>,
    looser: Vec<Loosened>,
}

/// Removes an entry from the file that was asked for, else from the local one
/// if it is there, else from the global one.
pub(in crate::commands) fn run<'a>(
    kind: Kind,
    name: &str,
    which: &WhichFile,
    app: &'a App,
) -> CommandResult<'a> {
    let name = name_to_write(kind, name)?;
    let scopes = scopes_with(kind, &name, app);
    let scope = match which.scope() {
        Some(scope) if scopes.contains(&scope) => scope,
        Some(scope) => return Err(not_in(kind, &name, scope, &scopes, app)),
        None => *scopes.first().ok_or_else(|| in_no_file(kind, &name, app))?,
    };
    let also_in = scopes.into_iter().find(|other| *other != scope && which.scope().is_none());
    let file = EntryFile::find(app, kind, name, scope)?;
    let stack = app.stack(kind);
    let before = permission_up_to(stack, &file.name, |_| true);
    if !file.remove(app)? {
        return Err(in_no_file(kind, &file.name, app));
    }
    let layer = file.read_again(app);
    let after = stack_of_one(stack, &file.name, Some(&layer));
    let mut left = Vec::new();
    let mut looser_now = Vec::new();
    if let Ok(entry) = after.resolve(file.name.as_str()) {
        app.warn(hollow_warning(&entry));
        left = entry.origins().cloned().collect();
        looser_now = looser(&[&before], &entry.permission());
    }
    Ok(Box::new(Removed { file, also_in, left, looser: looser_now }))
}

/// The scopes whose file has the entry, readable or not, the local one first.
/// A file that is damaged may have it.
pub(super) fn scopes_with(kind: Kind, name: &EntryName, app: &App) -> Vec<Scope> {
    let stack = app.stack(kind);
    let found = [Scope::Local, Scope::Global].into_iter().filter(|scope| {
        stack.layer(&Origin::from(*scope)).is_some_and(|layer| has(layer, name) || layer.damaged)
    });
    found.collect()
}

fn not_in(kind: Kind, name: &EntryName, scope: Scope, others: &[Scope], app: &App) -> Diagnostic {
    if let Err(no_project) = app.places.folder_for_writing(scope) {
        return no_project;
    }
    match others.first() {
        None => in_no_file(kind, name, app),
        Some(other) => {
            let message = format!("the {scope} layer has no {kind} `{name}`; the {other} one has");
            Diagnostic::new("not-in-layer", message)
                .help(format!("`replio {kind} remove {name} {}` removes it there", flag(*other)))
        }
    }
}

/// Why an entry that is in neither file can't be removed.
fn in_no_file(kind: Kind, name: &EntryName, app: &App) -> Diagnostic {
    let entry = match app.stack(kind).resolve(name.as_str()) {
        Ok(entry) => entry,
        Err(unknown) => return with_a_way_on(app, &unknown),
    };
    let is_bundled = entry.origins().any(|origin| *origin == Origin::Bundled);
    let comes = match entry.plugin() {
        Some(plugin) if is_bundled => format!("is bundled, changed by the plugin {plugin},"),
        Some(plugin) => format!("comes from the plugin {plugin}"),
        None => "is bundled".to_owned(),
    };
    let message = format!("the {} `{name}` {comes} and can't be removed", kind.described());
    Diagnostic::new("not-removable", message).help(override_it(kind, name, entry.plugin()))
}

/// How to override an entry that is in no file.
pub(super) fn override_it(kind: Kind, name: &EntryName, plugin: Option<&PluginName>) -> String {
    let how = match kind {
        Kind::Type => format!("`replio type new {name} [PROMPT]`"),
        Kind::Skill => format!("`replio skill new {name} --from FILE`"),
        Kind::Team => format!("`replio team new {name} --stage TYPE`"),
    };
    let plugin = plugin.map_or_else(String::new, |plugin| {
        format!(", or switch the plugin off: `replio plugins disable {plugin}`")
    });
    format!("override it instead: {how}{plugin}")
}

impl Answer for Removed {
    fn json(&self) -> Value {
        let left: Vec<&str> = self.left.iter().map(Origin::layer).collect();
        json!({
            "kind": self.file.kind,
            "name": self.file.name,
            "scope": self.file.scope,
            "path": self.file.path.display().to_string(),
            "left": left,
            "looser": json_of(&self.looser),
        })
    }

    fn text(&self, page: &mut Page) {
        let (kind, name, scope) = (self.file.kind, &self.file.name, self.file.scope);
        let path = self.file.path.display().to_string();
        let from = if kind == Kind::Skill { "" } else { "from " };
        page.line(format!(
            "Removed the {scope} {} {NAME}{name}{NAME:#}: {from}{}",
            kind.described(),
            clean(&path)
        ));
        page.line(match self.left.as_slice() {
            [] => format!("Nothing is left of it; no layer has a {kind} of that name now."),
            left => format!("Left of it: {}.", and(left.iter().map(whose))),
        });
        if let Some(other) = self.also_in {
            page.line(format!(
                "The {other} one stays; `replio {kind} remove {name} {}` removes it too.",
                flag(other)
            ));
        }
        for looser in &self.looser {
            page.line(format!("{CAUTION}{}{CAUTION:#}", in_words(*looser)));
        }
    }
}
