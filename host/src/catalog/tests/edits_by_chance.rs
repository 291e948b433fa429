//! Edits and reading over layouts, fields and faults made by chance.

use proptest::prelude::*;
use serde_json::Map;

use super::merging_by_chance::entry;
use super::*;
use crate::names::EntryName;

/// How a file is laid out.
#[derive(Debug, Clone)]
struct Layout {
    list: bool,
    mark: bool,
    newline: &'static str,
    /// White space for each place where some may stand, used in turn.
    spaces: Vec<String>,
}

fn layout() -> impl Strategy<Value = Layout> {
    let space = prop::sample::select(vec!["", "", " ", "\n", "\n  ", "\n\t", "\t", "  \n    "]);
    let spaces = prop::collection::vec(space.prop_map(str::to_owned), 1..12);
    (any::<bool>(), any::<bool>(), prop::sample::select(vec!["\n", "\r\n"]), spaces)
        .prop_map(|(list, mark, newline, spaces)| Layout { list, mark, newline, spaces })
}

/// Writes values with white space from a layout.
struct Writer<'l> {
    layout: &'l Layout,
    next: usize,
    text: String,
}

impl Writer<'_> {
    fn space(&mut self) {
        let space = &self.layout.spaces[self.next % self.layout.spaces.len()];
        self.text += &space.replace('\n', self.layout.newline);
        self.next += 1;
    }

    fn value(&mut self, value: &Value) {
        let (open, close, members): (_, _, Vec<(Option<&String>, &Value)>) = match value {
            Value::Object(map) => ('{', '}', map.iter().map(|(key, value)| (Some(key), value)).collect()),
            Value::Array(list) => ('[', ']', list.iter().map(|value| (None, value)).collect()),
            scalar => return self.text += &scalar.to_string(),
        };
        self.text.push(open);
        self.space();
        for (index, (key, value)) in members.into_iter().enumerate() {
            if index > 0 {
                self.text.push(',');
                self.space();
            }
            if let Some(key) = key {
                self.text += &json!(key).to_string();
                self.space();
                self.text.push(':');
                self.space();
            }
            self.value(value);
            self.space();
        }
        self.text.push(close);
    }
}

/// A file as its members, in order: entries, metadata, and one broken entry.
type Members = Vec<(String, Value)>;

fn members() -> impl Strategy<Value = Members> {
    let extra = prop::option::of(prop::sample::select(vec![
        ("x-mine", json!({"deep": [1, {"a, b}": "\"]"}]})),
        ("$note", json!("}{")),
        ("name", json!("other")),
    ]));
    let one = (entry(), extra).prop_map(|(mut entry, extra)| {
        entry.extend(extra.map(|(key, value)| (key.to_owned(), value)));
        Value::Object(entry)
    });
    let broken = prop::option::of(Just(("broken".to_owned(), json!({"tags": 5}))));
    let schema = prop::option::of(Just(("$schema".to_owned(), json!("https://x/y"))));
    (prop::collection::btree_map("[a-d]", one, 0..4), broken, schema)
        .prop_map(|(entries, broken, schema)| schema.into_iter().chain(broken).chain(entries).collect())
}

fn write(layout: &Layout, members: &Members) -> String {
    let value = if layout.list {
        let entries = members.iter().filter(|(name, _)| !name.starts_with('$'));
        entries
            .map(|(name, entry)| {
                let mut named = entry.as_object().cloned().unwrap_or_default();
                named.insert("name".to_owned(), json!(name));
                Value::Object(named)
            })
            .collect()
    } else {
        Value::Object(members.iter().cloned().collect())
    };
    let mut writer = Writer { layout, next: 0, text: String::new() };
    writer.text += if layout.mark { "\u{feff}" } else { "" };
    writer.space();
    writer.value(&value);
    writer.space();
    writer.text
}

fn read_layer(text: &str) -> Layer {
    let (layer, faults) = read_entries_text(Kind::Type, text, Origin::Local, None);
    assert!(!layer.damaged, "{faults:?}\n{text}");
    layer
}

/// The text of each member, key and all, as a person would point at it.
fn pieces(text: &str) -> Vec<(String, String)> {
    let body = text.trim_start_matches('\u{feff}');
    let top = scan::skip_space(body, 0);
    scan::members(body, top)
        .map(|member| {
            let value = &body[member.value.clone()];
            let name = match serde_json::from_str::<Value>(value).unwrap().get("name") {
                Some(Value::String(name)) if member.key.is_empty() => name.clone(),
                _ => scan::literal(body, &member.key).into_owned(),
            };
            (name, body[member.key.start..member.value.end].to_owned())
        })
        .collect()
}

/// What the entry must be after its fields were set.
fn with_fields(before: Option<Map<String, Value>>, fields: &Map<String, Value>) -> Map<String, Value> {
    let mut after = before.unwrap_or_default();
    for (field, value) in fields {
        match (after.get_mut(field), value) {
            (Some(Value::Object(below)), Value::Object(above)) => below.extend(above.clone()),
            _ => drop(after.insert(field.clone(), value.clone())),
        }
    }
    after
}

proptest! {
    #[test]
    fn setting_changes_the_entry_and_nothing_else(
        layout in layout(), members in members(), name in "[a-e]", fields in entry()
    ) {
        let before = write(&layout, &members);
        let name: EntryName = name.parse().unwrap();
        let wishes: Vec<(&str, Value)> = fields.iter().map(|(f, v)| (f.as_str(), v.clone())).collect();
        let after = set_entry(Some(&before), Kind::Type, &name, &wishes).unwrap();

        let (old, new) = (read_layer(&before), read_layer(&after));
        let expected = with_fields(old.get(name.as_str()).map(Entry::to_json), &fields);
        prop_assert_eq!(new.get(name.as_str()).map(Entry::to_json), Some(expected), "{}", after);
        prop_assert_eq!(&old.lost, &new.lost);

        let (old, mut new) = (pieces(&before), pieces(&after));
        if !old.iter().any(|(other, _)| other == name.as_str()) {
            prop_assert_eq!(new.pop().map(|piece| piece.0), Some(name.to_string()));
        }
        prop_assert_eq!(old.len(), new.len());
        for (old, new) in old.iter().zip(&new) {
            prop_assert!(old == new || old.0 == name.as_str(), "{}\n{}", before, after);
        }
        // What was there and was not replaced is there in the same order.
        prop_assert!(after.starts_with(&before[..first_difference(&before, &after)]));
        prop_assert_eq!(before.starts_with('\u{feff}'), after.starts_with('\u{feff}'));
        let tail = |text: &str| text[text.rfind(['}', ']']).unwrap()..].to_owned();
        prop_assert_eq!(tail(&before), tail(&after));
        if layout.newline == "\r\n" && before.contains('\n') {
            prop_assert_eq!(after.matches('\n').count(), after.matches("\r\n").count());
        }
        // To wish for it again changes nothing.
        let again = set_entry(Some(&after), Kind::Type, &name, &wishes).unwrap();
        prop_assert_eq!(again, after);
    }

    #[test]
    fn bytes_between_the_set_values_stay_as_they_are(
        layout in layout(), members in members(), model in "[a-z\"\\\\]{1,5}"
    ) {
        // One scalar that is there: the text before and after it is untouched.
        let mut members = members;
        members.push(("target".to_owned(), json!({"tags": [], "model": "MARKER", "skills": []})));
        let before = write(&layout, &members);
        let wishes = [("model", json!(model))];
        let after = set_entry(Some(&before), Kind::Type, &"target".parse().unwrap(), &wishes).unwrap();
        prop_assert_eq!(after, before.replace("\"MARKER\"", &json!(model).to_string()));
    }

    #[test]
    fn removing_takes_the_entry_and_nothing_else(layout in layout(), members in members(), name in "[a-e]") {
        let before = write(&layout, &members);
        let name: EntryName = name.parse().unwrap();
        let old = pieces(&before);
        let after = remove_entry(&before, Kind::Type, &name).unwrap();
        prop_assert_eq!(after.is_some(), old.iter().any(|(other, _)| other == name.as_str()));
        if let Some(after) = after {
            let rest: Vec<_> = old.into_iter().filter(|(other, _)| other != name.as_str()).collect();
            prop_assert_eq!(pieces(&after), rest);
            let added = set_entry(Some(&after), Kind::Type, &name, &[("model", json!("m"))]).unwrap();
            prop_assert_eq!(read_layer(&added).entries.len(), read_layer(&before).entries.len());
        }
    }

    #[test]
    fn no_bytes_make_reading_or_editing_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        survives(&bytes);
    }

    #[test]
    fn no_mutilated_file_makes_reading_or_editing_panic(
        layout in layout(), members in members(),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3u8), 1..6)
    ) {
        let mut bytes = write(&layout, &members).into_bytes();
        for (at, byte, how) in cuts {
            let index = at.index(bytes.len().max(1)).min(bytes.len());
            match how {
                0 => bytes.truncate(index),
                1 => bytes.insert(index, byte),
                _ if index < bytes.len() => bytes[index] = b"{}[],:\"\\0 "[usize::from(byte) % 10],
                _ => {}
            }
        }
        survives(&bytes);
    }
}

fn first_difference(left: &str, right: &str) -> usize {
    let same = left.bytes().zip(right.bytes()).take_while(|(left, right)| left == right).count();
    (0..=same).rev().find(|at| left.is_char_boundary(*at)).unwrap_or(0)
}

/// Reads and edits, as each kind; a fault always has a place inside the text.
fn survives(bytes: &[u8]) {
    for kind in Kind::ALL {
        let (layer, faults) = read_entries_text(kind, bytes, Origin::Local, None);
        let lines = bytes.split(|byte| *byte == b'\n').count();
        for fault in &faults {
            assert!(fault.line.is_some_and(|line| (1..=lines).contains(&line)), "{fault:?}");
            assert!(fault.column.is_some_and(|column| column >= 1), "{fault:?}");
        }
        assert_eq!(layer.damaged && layer.entries.is_empty(), layer.damaged);
        let stack = Stack::new(kind, [layer]);
        stack.all().iter().for_each(|resolved| drop(resolved.show_json()));
        if let Ok(text) = String::from_utf8(bytes.to_vec()) {
            let name: EntryName = "a".parse().unwrap();
            let edited = set_entry(Some(&text), kind, &name, &[("tags", json!(["t"]))]);
            assert_eq!(edited.is_err(), stack.is_damaged() || !stack.lost("a").is_empty());
            if let Ok(edited) = edited {
                assert_eq!(
                    json!(
                        read_entries_text(kind, edited, Origin::Local, None).0.entries["a"].to_json()["tags"]
                    ),
                    json!(["t"])
                );
            }
            let _ = remove_entry(&text, kind, &name);
            let _ = entry_from_json(kind, &text);
        }
    }
}
