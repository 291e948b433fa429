//! Merging against a reference of ten lines, over layers made by chance.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::Map;

use super::*;

/// The rule, word for word: from the lowest layer up, a key that is there
/// overrides, null takes it away, and permissions do so one by one.
fn reference(entries: &[Map<String, Value>]) -> Map<String, Value> {
    let mut merged = Map::new();
    for (key, value) in entries.iter().flatten() {
        match (merged.get_mut(key), value) {
            (Some(Value::Object(below)), Value::Object(above)) => below.extend(above.clone()),
            _ => drop(merged.insert(key.clone(), value.clone())),
        }
    }
    merged
        .values_mut()
        .filter_map(Value::as_object_mut)
        .for_each(|map| map.retain(|_, action| !action.is_null()));
    merged.retain(|_, value| !value.is_null());
    merged
}

fn texts() -> impl Strategy<Value = Value> {
    prop_oneof![Just(Value::Null), prop::collection::vec("[a-c]{0,2}", 0..3).prop_map(|list| json!(list))]
}

fn text() -> impl Strategy<Value = Value> {
    prop_oneof![Just(Value::Null), "[a-c]{0,2}".prop_map(Value::from)]
}

fn permission() -> impl Strategy<Value = Value> {
    let action =
        prop_oneof![Just(json!(null)), prop::sample::select(&Action::WORDS[..]).prop_map(|a| json!(a))];
    let category = prop::sample::select(&Category::WORDS[..2]);
    let map = prop::collection::btree_map(category, action, 0..4).prop_map(|map| json!(map));
    prop_oneof![1 => Just(Value::Null), 4 => map]
}

pub(super) fn entry() -> impl Strategy<Value = Map<String, Value>> {
    let maybe = prop::option::of::<BoxedStrategy<Value>>;
    (
        maybe(text().boxed()),
        maybe(text().boxed()),
        maybe(texts().boxed()),
        maybe(texts().boxed()),
        maybe(permission().boxed()),
    )
        .prop_map(|(prompt, model, skills, tags, permission)| {
            let values = [prompt, model, skills, tags, permission];
            let named = Kind::Type.fields().iter().zip(values);
            named.filter_map(|(field, value)| Some(((*field).to_owned(), value?))).collect()
        })
}

fn origin() -> impl Strategy<Value = Origin> {
    let scope = prop_oneof![Just(Scope::Global), Just(Scope::Local)];
    prop_oneof![
        Just(Origin::Bundled),
        Just(Origin::Global),
        Just(Origin::Local),
        ("[ab]", scope).prop_map(|(name, scope)| plugin(&name, scope)),
    ]
}

fn layers() -> impl Strategy<Value = BTreeMap<Origin, BTreeMap<String, Map<String, Value>>>> {
    prop::collection::btree_map(origin(), prop::collection::btree_map("[xyz]", entry(), 0..3), 0..6)
}

proptest! {
    #[test]
    fn merging_gives_what_the_rule_says(layers in layers()) {
        let stack = Stack::new(Kind::Type, layers.iter().rev().map(|(origin, entries)| types(origin.clone(), &json!(entries))));
        let all = stack.all();
        let names: Vec<&str> = all.iter().map(Resolved::name).collect();
        prop_assert_eq!(&names, &stack.names().iter().map(|name| name.as_str()).collect::<Vec<_>>());
        for resolved in &all {
            let name = resolved.name();
            let found: Vec<(&Origin, &Map<String, Value>)> =
                layers.iter().filter_map(|(origin, entries)| Some((origin, entries.get(name)?))).collect();
            let bundled = found.iter().any(|(origin, _)| **origin == Origin::Bundled);
            let mut plugins: Vec<&Origin> = found.iter().map(|f| f.0).filter(|o| o.plugin().is_some()).collect();
            plugins.sort_by_key(|o| !matches!(o, Origin::Plugin { scope: Scope::Local, .. }));
            let entries: Vec<Map<String, Value>> = found
                .iter()
                .filter(|(origin, _)| bundled || origin.plugin().is_none() || *origin == plugins[0])
                .map(|(_, entry)| (*entry).clone())
                .collect();
            let merged = reference(&entries);

            let typed = stack.resolve(name).unwrap().agent_type();
            prop_assert_eq!(&typed, &resolved.agent_type());
            let text = |field: &str| merged.get(field).cloned().unwrap_or(json!(""));
            let list = |field: &str| merged.get(field).cloned().unwrap_or(json!([]));
            prop_assert_eq!(json!(typed.system_prompt), text("system_prompt"));
            prop_assert_eq!(json!(typed.model.unwrap_or_default()), text("model"));
            prop_assert_eq!(json!(typed.skills), list("skills"));
            prop_assert_eq!(json!(typed.tags), list("tags"));
            let permission = merged.get("tool_permission").cloned().unwrap_or(json!({}));
            prop_assert_eq!(json!(typed.tool_permission), permission.clone());

            // What is shown agrees with what counts.
            for field in resolved.fields() {
                prop_assert_eq!(field.value, merged.get(field.name));
            }
            let shown: Map<String, Value> = resolved
                .categories()
                .iter()
                .filter_map(|field| Some((field.name.to_owned(), json!(field.value?))))
                .collect();
            prop_assert_eq!(Value::Object(shown), permission);
        }
    }
}
