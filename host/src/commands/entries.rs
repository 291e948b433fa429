//! What the commands for types, skills and teams have in common: each verb in
//! a file of its own, for all three kinds.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use clap::Args;
use serde_json::Value;

use crate::app::App;
use crate::catalog::{
    Action, Category, Kind, Layer, Origin, Place, Reference, Resolved, Scope, Stack, Unknown,
};
use crate::diagnostic::Diagnostic;
use crate::names::{EntryName, InvalidName, PluginName};
use crate::plugins::status::Status;

pub(super) mod edit;
mod entry_file;
mod kept_trust;
pub(super) mod list;
mod looser;
pub(super) mod new;
pub(super) mod remove;
pub(super) mod show;

/// The arguments of `list`.
#[derive(Debug, Default, Args)]
pub(super) struct ListArguments {
    /// Only those with this tag
    #[arg(value_name = "TAG")]
    tag: Option<String>,
}

/// Where something new is written.
#[derive(Debug, Args)]
pub(super) struct WhereNew {
    /// Write to your own folder, for all projects, and not to this project's
    #[arg(long, conflicts_with = "local")]
    global: bool,
    /// Write to this project's folder, which is the default
    #[arg(long)]
    local: bool,
}

/// Which of the two files, where an entry may be in both.
#[derive(Debug, Args)]
pub(super) struct WhichFile {
    /// The one in your own folder
    #[arg(long, conflicts_with = "local")]
    global: bool,
    /// The one in this project
    #[arg(long)]
    local: bool,
}

impl WhereNew {
    fn scope(&self) -> Scope {
        if self.global { Scope::Global } else { Scope::Local }
    }
}

impl WhichFile {
    fn scope(&self) -> Option<Scope> {
        match (self.global, self.local) {
            (true, _) => Some(Scope::Global),
            (_, true) => Some(Scope::Local),
            _ => None,
        }
    }
}

/// `global` or `local` as an option.
fn flag(scope: Scope) -> String {
    format!("--{scope}")
}

/// Where an entry comes from, in a word or two: `bundled`, `plugin audit`,
/// `merged (audit)`.
fn origin_in_words(resolved: &Resolved<'_>) -> String {
    let mut origins = resolved.origins();
    if let (Some(only), None) = (origins.next(), origins.next()) {
        return only.to_string();
    }
    let plugins: Vec<&str> = resolved.origins().filter_map(Origin::plugin).map(PluginName::as_str).collect();
    match plugins.as_slice() {
        [] => "merged".to_owned(),
        plugins => format!("merged ({})", plugins.join(", ")),
    }
}

/// An entry of one layer in a sentence.
fn whose(origin: &Origin) -> String {
    match origin {
        Origin::Bundled => "the bundled one".to_owned(),
        Origin::Plugin { name, .. } => format!("the one from the plugin {name}"),
        Origin::Global => "your own (global)".to_owned(),
        Origin::Local => "this project's (local)".to_owned(),
    }
}

/// Names in a sentence: `bundled`, `bundled and local`, `a, b and c`.
fn and<T: ToString>(words: impl IntoIterator<Item = T>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| word.to_string()).collect();
    match words.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// What a hollow entry lacks.
fn lacks(kind: Kind) -> &'static str {
    match kind {
        Kind::Type => "no system prompt",
        Kind::Skill => "no content",
        Kind::Team => "no stages",
    }
}

/// What is to be said about an entry that nothing gives its substance.
fn hollow_warning(resolved: &Resolved<'_>) -> Option<Diagnostic> {
    if !resolved.is_hollow() {
        return None;
    }
    let (kind, name) = (resolved.kind(), resolved.name());
    let message =
        format!("{} `{name}` has {} in any layer, so it can do nothing", kind.described(), lacks(kind));
    let give = match kind {
        Kind::Type => format!("`replio type new {name} PROMPT`"),
        Kind::Skill => format!("`replio skill new {name} --from FILE`"),
        Kind::Team => format!("`replio team new {name} --stage TYPE`"),
    };
    let is_in_file = |origin: &Origin| matches!(origin, Origin::Global | Origin::Local);
    let otherwise = match resolved.plugin() {
        // What no file has, no command can remove.
        Some(plugin) if !resolved.origins().any(is_in_file) => {
            format!(", or switch the plugin off: `replio plugins disable {plugin}`")
        }
        _ => format!("; if what it overrode is gone, `replio {kind} remove {name}` clears it away"),
    };
    let help = format!("give it some with {give}{otherwise}");
    let place = resolved.contributions().next_back().map(|(_, entry)| entry.place());
    let mut warning = Diagnostic::new("hollow-entry", message).help(help);
    warning.file = place.and_then(Place::file).map(Into::into);
    if let Some(position) = place.and_then(Place::position) {
        warning = warning.at(position.line, position.column);
    }
    Some(warning)
}

/// What is to be said about a team whose loop can't work.
fn loop_warning(resolved: &Resolved<'_>) -> Option<Diagnostic> {
    // Teams are many and loops are few.
    resolved.value("loop")?;
    let team = resolved.team();
    let (stages, loop_) = (team.stages, team.loop_?);
    if stages.is_empty() {
        return None;
    }
    let first = stages.iter().position(|stage| stage.agent_type == loop_.from);
    let last = stages.iter().rposition(|stage| stage.agent_type == loop_.until);
    let why = match (first, last) {
        (Some(first), Some(last)) if first <= last => return None,
        (Some(_), Some(_)) => format!("`{}` comes after `{}`", loop_.from, loop_.until),
        (None, _) => format!("it has no stage `{}`", loop_.from),
        (_, None) => format!("it has no stage `{}`", loop_.until),
    };
    let message = format!(
        "the loop of the team `{}`, from `{}` until `{}`, can't work: {why}",
        resolved.name(),
        loop_.from,
        loop_.until
    );
    let chain: Vec<&str> = stages.iter().map(|stage| stage.agent_type.as_str()).collect();
    let mut warning =
        Diagnostic::new("bad-loop", message).help(format!("the stages are: {}", chain.join(", ")));
    let origin = resolved.fields().into_iter().find(|field| field.name == "loop")?.origin;
    if let Some((layer, entry)) = resolved.contributions().find(|(layer, _)| Some(&layer.origin) == origin) {
        warning.plugin = layer.origin.plugin().cloned();
        warning.file = entry.place().file().map(Into::into);
        if let Some(position) = entry.place().position() {
            warning = warning.at(position.line, position.column);
        }
    }
    Some(warning)
}

/// An unknown name with what to do about it: the nearest one, or, where it is
/// qualified, how the plugin stands; no help where neither says anything.
fn explained(app: &App, unknown: &Unknown) -> Diagnostic {
    let diagnostic = unknown.diagnostic();
    let reference = unknown.name.parse::<Reference>().ok();
    let Some(plugin) = reference.and_then(|reference| reference.plugin).filter(|_| !unknown.lost) else {
        return diagnostic;
    };
    if app.plugins_off() {
        return diagnostic.help("plugins are left out of this run (--no-plugins or REPLIO_NO_PLUGINS)");
    }
    let layer = app.plugin_layer();
    let of_that_name = || layer.plugins.iter().filter(|other| other.installed.name == plugin);
    let in_use = of_that_name().find(|other| other.installed.status == Status::Enabled);
    let help = match (in_use, of_that_name().next()) {
        (Some(other), _) if matches!(other.brought, Some(Err(_))) => {
            format!("plugin {plugin} could not be run: `replio plugins show {plugin}`")
        }
        (None, Some(other)) if other.installed.status == Status::Disabled => {
            let enable = other.installed.help().unwrap_or_default();
            format!("plugin {plugin} is disabled: `{enable}`")
        }
        (None, Some(other)) => {
            format!("plugin {plugin} is {}: `replio plugins show {plugin}`", other.installed.status.word())
        }
        _ if diagnostic.help.is_some() => return diagnostic,
        (Some(_), _) => format!("plugin {plugin} brings no {} of that name", unknown.kind.described()),
        (None, None) => format!("no plugin `{plugin}` is installed: `replio plugins` lists those that are"),
    };
    diagnostic.help(help)
}

/// A name for an entry that is to be written.
fn name_to_write(kind: Kind, text: &str) -> Result<EntryName, Diagnostic> {
    if let Ok(Reference { plugin: Some(plugin), name }) = text.parse::<Reference>() {
        let message =
            format!("`{text}` is what the plugin {plugin} brings, and nothing can be written there");
        return Err(Diagnostic::new("qualified-name", message).help(format!(
            "name it without the plugin: `{name}`; a {kind} of that name overrides the plugin's"
        )));
    }
    text.parse().map_err(|invalid: InvalidName| {
        let diagnostic = Diagnostic::new("bad-name", invalid.to_string());
        match name_like(text) {
            Some(name) => diagnostic.help(format!("`{name}` would do")),
            None => diagnostic,
        }
    })
}

/// A name that is nearly this text.
fn name_like(text: &str) -> Option<EntryName> {
    let is_right = |character: char| character.is_ascii_alphanumeric() || "_-".contains(character);
    let words = text.split(|character| !is_right(character)).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").trim_start_matches(['-', '_']).parse().ok()
}

/// Whether a layer has an entry of this name, readable or not.
fn has(layer: &Layer, name: &EntryName) -> bool {
    layer.get(name.as_str()).is_some() || layer.lost.contains(name.as_str())
}

/// The layers of a stack with one name's entries only; a given layer stands in
/// for the one of the same origin.
fn stack_of_one(stack: &Stack, name: &EntryName, changed: Option<&Layer>) -> Stack {
    let kept = stack.layers().iter().filter(|layer| changed.is_none_or(|new| new.origin != layer.origin));
    let only = kept.chain(changed).filter_map(|layer| {
        let mut only = Layer::new(layer.kind, layer.origin.clone());
        only.insert(name.clone(), layer.get(name.as_str())?.clone());
        Some(only)
    });
    Stack::new(stack.kind(), only)
}

/// What a type may do by the layers of some origins.
fn permission_up_to(
    stack: &Stack,
    name: &EntryName,
    counts: impl Fn(&Origin) -> bool,
) -> BTreeMap<Category, Action> {
    let one = stack_of_one(stack, name, None);
    let counted = Stack::new(one.kind(), one.layers().iter().filter(|layer| counts(&layer.origin)).cloned());
    counted.resolve(name.as_str()).map(|resolved| resolved.permission()).unwrap_or_default()
}

/// Warns of skills and types that an entry names and nobody has.
fn warn_of_missing(app: &App, resolved: &Resolved<'_>) {
    let (skills, types) = match resolved.kind() {
        Kind::Skill => return,
        Kind::Type => (resolved.agent_type().skills, Vec::new()),
        Kind::Team => {
            let team = resolved.team();
            let types = team.stages.iter().map(|stage| stage.agent_type.clone()).collect();
            (team.stages.into_iter().flat_map(|stage| stage.skills).collect(), types)
        }
    };
    let who = format!("{} `{}`", resolved.kind().described(), resolved.name());
    let outcomes = [(Kind::Skill, skills, "and is left out"), (Kind::Type, types, "so the team can't run")];
    for (kind, names, outcome) in outcomes {
        // The other layers are read only where something names an entry of theirs.
        for name in names {
            if let Err(unknown) = app.stack(kind).resolve(&name) {
                let mut warning = explained(app, &unknown);
                warning.message =
                    format!("{who} names the {} `{name}`, which does not exist, {outcome}", kind.described());
                warning.help.get_or_insert_with(|| format!("`replio {kind} new {name}` makes it"));
                app.warn([warning]);
            }
        }
    }
}

/// A loop in the order in which it is told.
const LOOP: [&str; 4] = ["from", "until", "max_iterations", "verdict"];

/// A value of a field in one line.
fn in_words(value: &Value) -> String {
    match value {
        Value::Null => "the default".to_owned(),
        Value::String(text) if text.trim().is_empty() => "(empty)".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(list) if list.is_empty() => "(empty)".to_owned(),
        Value::Array(list) => {
            let word = |value: &Value| match value {
                Value::String(text) => text.clone(),
                stage => stage.get("type").map(in_words).unwrap_or_default(),
            };
            list.iter().map(word).collect::<Vec<_>>().join(", ")
        }
        Value::Object(map) => {
            let mut text = String::new();
            let mut members: Vec<_> = map.iter().collect();
            members.sort_by_key(|(key, _)| LOOP.iter().position(|known| known == key));
            for (key, value) in members {
                let _ = write!(text, "{}{key} {}", if text.is_empty() { "" } else { ", " }, in_words(value));
            }
            text
        }
        other => other.to_string(),
    }
}

/// The beginning of a text, in one line.
fn beginning(text: &str, longest: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= longest {
        return line;
    }
    let cut: String = line.chars().take(longest).collect();
    let cut = cut.rsplit_once(' ').map_or(cut.as_str(), |(whole_words, _)| whole_words);
    format!("{cut} …")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_written_is_never_qualified() {
        assert_eq!(name_to_write(Kind::Type, "audit/writer").unwrap_err().code, "qualified-name");
        assert_eq!(name_to_write(Kind::Type, "my type").unwrap_err().code, "bad-name");
        assert!(name_to_write(Kind::Type, "writer").is_ok());
        assert_eq!(name_like(" -my ../type!").unwrap().as_str(), "my-type");
        assert!(name_like("ä").is_none());
    }

    #[test]
    fn a_beginning_ends_with_a_whole_word() {
        assert_eq!(beginning("one two\nthree", 40), "one two three");
        assert_eq!(beginning("one two\nthree", 9), "one two …");
    }

    #[test]
    fn words_are_joined_as_in_a_sentence() {
        assert_eq!(and(["a"]), "a");
        assert_eq!(and(["a", "b", "c"]), "a, b and c");
    }
}
