//! `types.json` and `teams.json`: read as a layer, and edited. Before the first
//! NUL is the file; after it, an entry's name, and after another NUL the fields
//! to set, as JSON.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use replio::catalog::{
    EditError, Kind, Layer, Origin, Stack, loosened, read_bundled, read_entries_text, remove_entry, set_entry,
};
use replio::names::EntryName;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::check_place;

/// A `types.json` and an edit of it.
///
/// # Panics
/// When what must hold doesn't.
pub fn types_json(bytes: &[u8]) {
    read_and_edit(Kind::Type, bytes);
}

/// A `teams.json` and an edit of it.
///
/// # Panics
/// When what must hold doesn't.
pub fn teams_json(bytes: &[u8]) {
    read_and_edit(Kind::Team, bytes);
}

fn read_and_edit(kind: Kind, bytes: &[u8]) {
    let mut parts = bytes.splitn(3, |byte| *byte == 0);
    let text = parts.next().unwrap_or_default();
    let name = parts.next().and_then(|name| std::str::from_utf8(name).ok()?.parse().ok());
    let fields = parts.next().and_then(|fields| serde_json::from_slice(fields).ok());

    let layer = read(kind, text);
    show(&layer);
    let Ok(text) = std::str::from_utf8(text) else { return assert!(layer.damaged) };
    super::report::entry(kind, text);
    let file = File { kind, text, layer: &layer };
    let first = layer.entries.keys().next().cloned();
    let name = name.or(first).unwrap_or_else(|| "a".parse().expect("a name"));
    file.set(&name, &fields.unwrap_or_else(|| Map::from_iter([("tags".to_owned(), json!(["t"]))])));
    file.remove(&name);
}

/// Reads a file as a layer.
fn read(kind: Kind, text: &[u8]) -> Layer {
    let (layer, faults) = read_entries_text(kind, text, Origin::Local, Some("x.json".into()));
    let body = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    // There may be very many.
    faults.iter().take(20).for_each(|fault| check_place(fault, body));
    assert!(!layer.damaged || (layer.entries.is_empty() && !faults.is_empty()));
    layer
}

/// Merges the layer with what it lies on, and shows all of it.
fn show(layer: &Layer) {
    static BUNDLED: LazyLock<[Layer; 2]> =
        LazyLock::new(|| [read_bundled(Kind::Type), read_bundled(Kind::Team)]);
    let stack = Stack::new(layer.kind, [BUNDLED[0].clone(), BUNDLED[1].clone(), layer.clone()]);
    for (name, entry) in &layer.entries {
        assert!(entry.place().position().is_some());
        let resolved = stack.get(name.as_str()).expect("an entry of the uppermost layer");
        assert!(resolved.show_json().is_object() && resolved.list_json().is_object());
        let _ = (resolved.agent_type(), resolved.team(), resolved.is_hollow());
        assert!(loosened(&resolved.permission(), &resolved.permission()).is_empty());
    }
    assert!(stack.names().len() >= layer.entries.len());
}

struct File<'f> {
    kind: Kind,
    text: &'f str,
    layer: &'f Layer,
}

impl File<'_> {
    fn set(&self, name: &EntryName, fields: &Map<String, Value>) {
        let wishes: Vec<(&str, Value)> =
            fields.iter().map(|(field, value)| (field.as_str(), value.clone())).collect();
        let lost = self.layer.lost.contains(name.as_str());
        let after = match set_entry(Some(self.text), self.kind, name, &wishes) {
            Ok(after) => after,
            Err(EditError::Damaged(fault)) => {
                assert!(self.layer.damaged, "{fault:?}");
                return;
            }
            Err(EditError::Unreadable(fault)) => return assert!(lost, "{fault:?}"),
            Err(EditError::Invalid(fault)) => return assert!(!fault.message.is_empty()),
        };
        assert!(!self.layer.damaged && !lost, "what can't be read is written over");

        let again = read(self.kind, after.as_bytes());
        let expected = with_fields(self.layer.get(name.as_str()).map(|entry| entry.to_json()), fields);
        assert_eq!(again.get(name.as_str()).map(|entry| entry.to_json()), Some(expected), "{after}");
        self.others_are_as_they_were(&after, &again, name);
        let unchanged = set_entry(Some(&after), self.kind, name, &wishes).expect("it could be set before");
        assert_eq!(unchanged, after, "the same wish again changes something");
    }

    fn remove(&self, name: &EntryName) {
        let there = self.layer.get(name.as_str()).is_some() || self.layer.lost.contains(name.as_str());
        match remove_entry(self.text, self.kind, name) {
            Ok(Some(after)) => {
                assert!(there);
                let again = read(self.kind, after.as_bytes());
                assert!(again.get(name.as_str()).is_none() && !again.lost.contains(name.as_str()), "{after}");
                self.others_are_as_they_were(&after, &again, name);
            }
            Ok(None) => assert!(!there && !self.layer.damaged),
            Err(error) => assert!(self.layer.damaged, "{error}"),
        }
    }

    /// All but this one entry is in the new text as it was in the old one, to
    /// the last space inside it.
    fn others_are_as_they_were(&self, after: &str, again: &Layer, name: &EntryName) {
        assert!(!again.damaged, "{after}");
        let others = |text| {
            let mut members = members(text);
            members.retain(|(member, _)| member.as_deref() != Some(name.as_str()));
            members.into_iter().map(|(name, value)| (name, value.get().to_owned())).collect::<Vec<_>>()
        };
        assert_eq!(others(after), others(self.text));
        let entries = |layer: &Layer| {
            let mut entries = layer.entries.clone();
            entries.shift_remove(name.as_str());
            entries
        };
        assert!(entries(again).iter().eq(entries(self.layer).iter()));
        assert_eq!(again.lost_without_name, self.layer.lost_without_name);
        assert_eq!(self.text.starts_with('\u{feff}'), after.starts_with('\u{feff}'));
    }
}

/// What the entry must be after its fields were set.
fn with_fields(before: Option<Map<String, Value>>, fields: &Map<String, Value>) -> Map<String, Value> {
    let mut after = before.unwrap_or_default();
    for (field, value) in fields {
        match (after.get_mut(field), value) {
            (Some(Value::Object(below)), Value::Object(above)) if field == "tool_permission" => {
                below.extend(above.clone());
            }
            _ => drop(after.insert(field.clone(), value.clone())),
        }
    }
    after
}

/// The members of a file in their order: what each is called, and its text.
fn members(text: &str) -> Vec<(Option<String>, Box<RawValue>)> {
    let text = text.trim_start_matches('\u{feff}');
    if let Ok(mut members) = serde_json::from_str::<BTreeMap<String, Box<RawValue>>>(text) {
        let order: Map<String, Value> = serde_json::from_str(text).expect("an object");
        return order
            .keys()
            .filter_map(|key| members.remove_entry(key))
            .map(|(key, text)| (Some(key), text))
            .collect();
    }
    let list: Vec<Box<RawValue>> = serde_json::from_str(text).expect("an object or a list");
    let name = |text: &RawValue| {
        let value: Value = serde_json::from_str(text.get()).expect("JSON");
        value.get("name").and_then(Value::as_str).map(str::to_owned)
    };
    list.into_iter().map(|text| (name(&text), text)).collect()
}
