//! What an install, an update or a removal adds, removes and changes: a
//! function of what there was and what there is.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::catalog::{Action, Category, Kind, Layer, Loosened, loosened};
use crate::names::EntryName;
use crate::plugins::provides::{Fields, Provides};

/// The difference between two states of a plugin, and what of the bundled
/// catalog the second one overrides.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Entries that are new.
    pub added: Vec<Change>,
    /// Entries that are gone.
    pub removed: Vec<Change>,
    /// Entries that differ, with the fields in which they do.
    pub changed: Vec<Change>,
    /// Bundled entries that are overridden, with the fields.
    pub overrides: Vec<Change>,
    /// Permissions that are looser than what holds without the change: what is
    /// bundled, and what the plugin said before.
    pub looser: Vec<Looser>,
}

/// A permission of a type that became looser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looser {
    /// The type.
    pub name: EntryName,
    /// The permission, and what it was and is.
    pub loosened: Loosened,
}

/// One entry, and the fields it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// What it is.
    pub kind: Kind,
    /// Its name.
    pub name: EntryName,
    /// The fields, in their usual order.
    pub fields: Vec<String>,
    /// Of `tool_permission`, the categories.
    pub categories: Vec<String>,
}

impl Changes {
    /// What lies between `before` and `after`. `bundled` is what `after` may
    /// override.
    pub fn between(before: &Provides, after: &Provides, bundled: &[Layer]) -> Self {
        let mut changes = Self::default();
        for (kind, name, fields) in after.entries() {
            match before.of_kind(kind).get(name) {
                None => changes.added.push(change(kind, name, &Fields::new(), fields)),
                Some(old) if old == fields => {}
                Some(old) => changes.changed.push(change(kind, name, old, fields)),
            }
        }
        for (kind, name, fields) in before.entries() {
            if !after.of_kind(kind).contains_key(name) {
                changes.removed.push(change(kind, name, fields, &Fields::new()));
            }
        }
        let bundled = Provides::of(bundled);
        changes.looser = looser(before, after, &bundled);
        for (kind, name, fields) in after.entries() {
            if let Some(below) = bundled.of_kind(kind).get(name) {
                let overridden = overriding(kind, name, below, fields);
                changes.overrides.push(overridden);
            }
        }
        changes
    }

    /// Whether nothing was added, removed or changed.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }

    /// For scripts.
    pub fn json(&self) -> Value {
        let list = |changes: &[Change]| {
            let one =
                |change: &Change| json!({"kind": change.kind, "name": change.name, "fields": change.fields});
            changes.iter().map(one).collect::<Vec<_>>()
        };
        json!({
            "added": list(&self.added),
            "removed": list(&self.removed),
            "changed": list(&self.changed),
            "overrides": list(&self.overrides),
            "looser": self.looser.iter().map(Looser::json).collect::<Vec<_>>(),
        })
    }
}

impl Looser {
    fn json(&self) -> Value {
        let Loosened { category, before, after } = self.loosened;
        json!({ "name": self.name, "category": category, "before": before, "after": after })
    }
}

/// The permissions of types that were there before, bundled or from the plugin,
/// and are looser with what the plugin says now.
fn looser(before: &Provides, after: &Provides, bundled: &Provides) -> Vec<Looser> {
    let says = |provides: &Provides, name: &EntryName| {
        provides.of_kind(Kind::Type).get(name).map(|fields| fields.get("tool_permission").cloned())
    };
    let mut looser = Vec::new();
    for name in after.of_kind(Kind::Type).keys() {
        let (below, was, is) = (says(bundled, name), says(before, name), says(after, name));
        if below.is_none() && was.is_none() {
            continue;
        }
        let merged = |above: &Option<Option<Value>>| {
            let mut permissions = BTreeMap::new();
            for value in [&below, above].into_iter().flatten().flatten() {
                merge_permission(&mut permissions, value);
            }
            permissions
        };
        let loosened = loosened(&merged(&was), &merged(&is));
        looser.extend(loosened.into_iter().map(|loosened| Looser { name: name.clone(), loosened }));
    }
    looser
}

/// Puts what a layer says on top: category by category, `null` for a reset.
fn merge_permission(permissions: &mut BTreeMap<Category, Action>, value: &Value) {
    let Value::Object(said) = value else { return permissions.clear() };
    for (category, action) in said {
        let Ok(category) = category.parse::<Category>() else { continue };
        match action.as_str().and_then(|action| action.parse().ok()) {
            Some(action) => drop(permissions.insert(category, action)),
            None => drop(permissions.remove(&category)),
        }
    }
}

/// The fields in which two forms of an entry differ.
fn change(kind: Kind, name: &EntryName, before: &Fields, after: &Fields) -> Change {
    let differs = |field: &str| before.get(field) != after.get(field);
    let categories = |before: &Fields, after: &Fields| {
        let of = |fields: &Fields| {
            fields.get("tool_permission").and_then(Value::as_object).cloned().unwrap_or_default()
        };
        let (before, after) = (of(before), of(after));
        let words: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        words.into_iter().filter(|word| before.get(*word) != after.get(*word)).cloned().collect()
    };
    Change {
        kind,
        name: name.clone(),
        fields: kind
            .fields()
            .iter()
            .filter(|field| differs(field))
            .map(|field| (*field).to_owned())
            .collect(),
        categories: categories(before, after),
    }
}

/// The fields that an entry sets over a bundled one that sets them too or not.
fn overriding(kind: Kind, name: &EntryName, below: &Fields, above: &Fields) -> Change {
    let mut change = change(kind, name, below, above);
    change.fields.retain(|field| above.contains_key(field));
    change.categories.retain(|category| {
        above.get("tool_permission").is_some_and(|permission| permission.get(category).is_some())
    });
    if change.categories.is_empty() {
        change
            .fields
            .retain(|field| field != "tool_permission" || above.get(field).is_some_and(Value::is_null));
    }
    change
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{Origin, read_entries_text};

    fn layer(text: &str) -> Layer {
        read_entries_text(Kind::Type, text, Origin::Local, None).0
    }

    fn fields(changes: &[Change]) -> Vec<(&str, String)> {
        changes.iter().map(|change| (change.name.as_str(), change.fields.join(" "))).collect()
    }

    #[test]
    fn an_update_tells_what_it_added_removed_and_changed() {
        let before = layer(r#"{"a": {"system_prompt": "x", "tags": ["t"]}, "b": {}, "c": {"model": "m"}}"#);
        let after =
            layer(r#"{"a": {"system_prompt": "y", "tags": ["t"]}, "c": {"model": "m"}, "d": {"tags": []}}"#);
        let changes = Changes::between(&Provides::of(&[before]), &Provides::of(&[after]), &[]);
        assert_eq!(fields(&changes.added), [("d", "tags".to_owned())]);
        assert_eq!(fields(&changes.removed), [("b", String::new())]);
        assert_eq!(fields(&changes.changed), [("a", "system_prompt".to_owned())]);
    }

    #[test]
    fn a_permission_that_becomes_looser_is_told_from_one_that_becomes_stricter() {
        let bundled = layer(r#"{"a": {"tool_permission": {"bash": "deny", "web": "allow"}}}"#);
        let first = layer(
            r#"{"a": {"tool_permission": {"bash": "ask", "web": "deny"}}, "own": {"tool_permission": {"edit": "deny"}}}"#,
        );
        let second = layer(r#"{"a": {"tool_permission": null}, "own": {}}"#);
        let told = |before: &Provides, after: &Layer| {
            let changes = Changes::between(
                before,
                &Provides::of(std::slice::from_ref(after)),
                std::slice::from_ref(&bundled),
            );
            let one = |looser: &Looser| {
                let Loosened { category, before, after } = looser.loosened;
                format!("{} {category} {before} {after}", looser.name)
            };
            changes.looser.iter().map(one).collect::<Vec<_>>()
        };
        assert_eq!(told(&Provides::default(), &first), ["a bash deny ask"]);
        let recorded = Provides::of(std::slice::from_ref(&first));
        assert_eq!(told(&recorded, &second), ["a web deny allow", "own edit deny ask"]);
        assert_eq!(told(&recorded, &first), [] as [&str; 0]);
    }

    #[test]
    fn an_override_names_only_what_it_sets_to_something_else() {
        let bundled = layer(
            r#"{"a": {"tags": ["t"], "system_prompt": "x", "tool_permission": {"bash": "allow", "web": "deny"}}}"#,
        );
        let plugin = layer(
            r#"{"a": {"tags": ["t"], "skills": ["s"], "tool_permission": {"bash": "ask", "web": "deny"}}}"#,
        );
        let changes = Changes::between(&Provides::default(), &Provides::of(&[plugin]), &[bundled]);
        assert_eq!(fields(&changes.overrides), [("a", "skills tool_permission".to_owned())]);
        assert_eq!(changes.overrides[0].categories, ["bash"]);
    }
}
