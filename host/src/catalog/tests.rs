//! What a person sees of the catalog: files read, merged, shown and edited.

mod editing;
mod edits_by_chance;
mod loosening;
mod merging;
mod merging_by_chance;
mod prompts;
mod reading;
mod shown;
mod skill_files;

use serde_json::{Value, json};

use super::*;
use crate::diagnostic::Diagnostic;

/// A layer of types that must be without fault.
fn layer(kind: Kind, origin: Origin, entries: &Value) -> Layer {
    let (layer, faults) = read_entries_text(kind, entries.to_string(), origin, None);
    assert!(faults.is_empty(), "{faults:?}");
    layer
}

fn types(origin: Origin, entries: &Value) -> Layer {
    layer(Kind::Type, origin, entries)
}

fn plugin(name: &str, scope: Scope) -> Origin {
    Origin::Plugin { name: name.parse().unwrap(), scope }
}

/// `code line:column` of each diagnostic.
fn places(diagnostics: &[Diagnostic]) -> Vec<String> {
    let place = |d: &Diagnostic| format!("{} {}:{}", d.code, d.line.unwrap_or(0), d.column.unwrap_or(0));
    diagnostics.iter().map(place).collect()
}

/// Reads `types.json` as text from `x.json`.
fn read_types(text: &str) -> (Layer, Vec<Diagnostic>) {
    read_entries_text(Kind::Type, text, Origin::Local, Some("x.json".into()))
}

fn names(layer: &Layer) -> Vec<&str> {
    layer.entries.keys().map(crate::names::EntryName::as_str).collect()
}

#[test]
fn the_bundled_catalog_has_eight_types_and_two_teams() {
    let stack = Stack::new(Kind::Type, [read_bundled(Kind::Type)]);
    let names: Vec<&str> = stack.names().iter().map(|name| name.as_str()).collect();
    assert_eq!(
        names,
        ["code-reviewer", "editor", "planner", "programmer", "referencer", "researcher", "tester", "writer"]
    );
    let writer = stack.resolve("writer").unwrap().agent_type();
    assert_eq!(
        json!(writer.tool_permission),
        json!({"read": "allow", "edit": "allow", "bash": "deny", "web": "deny"})
    );
    let teams = Stack::new(Kind::Team, [read_bundled(Kind::Team)]);
    let chain = |name| {
        let team = teams.resolve(name).unwrap().team();
        team.stages.into_iter().map(|stage| stage.agent_type).collect::<Vec<_>>()
    };
    assert_eq!(chain("writing"), ["researcher", "writer", "referencer", "editor"]);
    assert_eq!(chain("programming"), ["planner", "programmer", "tester", "code-reviewer"]);
    assert!(read_bundled(Kind::Skill).entries.is_empty());
}
