//! A plugin may bring something else at one start than at another. Entries
//! that differ from those recorded at install are used and named; permissions
//! that became looser are not used, until the operator accepts them.

use serde_json::{Map, Value};

use crate::catalog::{Action, Category, Entry, Kind, Layer};
use crate::diagnostic::Diagnostic;
use crate::names::{EntryName, PluginName};
use crate::plugins::provides::Provides;

const PERMISSION: &str = "tool_permission";

/// Names the entries that are not as they were recorded.
pub fn changed(plugin: &PluginName, recorded: &Provides, layers: &[Layer]) -> Option<Diagnostic> {
    let now = Provides::of(layers);
    let differs =
        |kind: Kind, name: &EntryName| recorded.of_kind(kind).get(name) != now.of_kind(kind).get(name);
    let mut names: Vec<String> = now
        .entries()
        .chain(recorded.entries())
        .filter(|(kind, name, _)| differs(*kind, name))
        .map(|(kind, name, _)| format!("{} {name}", kind.singular()))
        .collect();
    if names.is_empty() {
        return None;
    }
    names.sort();
    names.dedup();
    let message =
        format!("plugin {plugin} brings something else than when it was installed: {}", names.join(", "));
    let help = format!("what it brings now is used; `replio plugins enable {plugin}` accepts it as it is");
    Some(Diagnostic::new("plugin-changed", message).help(help).plugin(plugin.clone()))
}

/// Takes back each permission that is looser than it was recorded, and names it.
pub fn tighten(plugin: &PluginName, recorded: &Provides, layers: &mut [Layer]) -> Vec<Diagnostic> {
    let mut warnings = Vec::new();
    for layer in layers.iter_mut().filter(|layer| layer.kind == Kind::Type) {
        for (name, entry) in &mut layer.entries {
            let before = recorded.of_kind(Kind::Type).get(name);
            let before = before.and_then(|fields| fields.get(PERMISSION));
            let was_reset = before.is_some_and(Value::is_null);
            let loosened = tighten_entry(&permissions(before), was_reset, entry);
            if loosened.is_empty() {
                continue;
            }
            let message = format!(
                "plugin {plugin} has loosened type {name} since it was installed, and that is not used: {}",
                loosened.join(", ")
            );
            let help = format!("`replio plugins enable {plugin}` accepts it");
            warnings.push(Diagnostic::new("permission-loosened", message).help(help).plugin(plugin.clone()));
        }
    }
    warnings
}

fn tighten_entry(before: &Map<String, Value>, was_reset: bool, entry: &mut Entry) -> Vec<String> {
    let mut now = permissions(entry.get(PERMISSION));
    let mut loosened = Vec::new();
    if entry.get(PERMISSION).is_some_and(Value::is_null) && !was_reset {
        // It would also undo what lower layers deny.
        loosened.push("all categories reset".to_owned());
    }
    for category in Category::ALL {
        let word = category.word();
        let (was, is) = (before.get(word), now.get(word));
        if was == is
            || action(is).is_some_and(|is| is == Action::Deny || action(was).is_some_and(|was| is >= was))
        {
            continue;
        }
        let said = |value: Option<&Value>| action(value).map_or("nothing", Action::word);
        loosened.push(format!("{word} from {} to {}", said(was), said(is)));
        match was.cloned() {
            Some(was) => drop(now.insert(word.to_owned(), was)),
            None => drop(now.shift_remove(word)),
        }
    }
    if !loosened.is_empty() {
        entry.replace_permissions(now);
    }
    loosened
}

fn permissions(value: Option<&Value>) -> Map<String, Value> {
    value.and_then(Value::as_object).cloned().unwrap_or_default()
}

fn action(value: Option<&Value>) -> Option<Action> {
    value?.as_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{Origin, read_entries_text};

    fn layer(permission: &str) -> Layer {
        let text = format!(r#"{{"a": {{"tags": [], "tool_permission": {permission}}}}}"#);
        read_entries_text(Kind::Type, text, Origin::Local, None).0
    }

    #[test]
    fn a_permission_may_become_stricter_but_not_looser() {
        let plugin: PluginName = "p".parse().unwrap();
        for (before, now, used) in [
            (r#"{"bash":"ask"}"#, r#"{"bash":"allow"}"#, r#"{"bash":"ask"}"#),
            (r#"{"bash":"ask"}"#, r#"{"bash":"deny"}"#, r#"{"bash":"deny"}"#),
            (r#"{"bash":"deny"}"#, "{}", r#"{"bash":"deny"}"#),
            (r#"{"bash":"deny"}"#, r#"{"bash":null}"#, r#"{"bash":"deny"}"#),
            (r#"{"bash":"deny"}"#, "null", r#"{"bash":"deny"}"#),
            ("{}", r#"{"bash":"allow"}"#, "{}"),
            ("{}", "null", "{}"),
            ("{}", r#"{"bash":"deny"}"#, r#"{"bash":"deny"}"#),
        ] {
            let recorded = Provides::of(&[layer(before)]);
            let mut layers = [layer(now)];
            let changed = changed(&plugin, &recorded, &layers);
            assert!(changed.is_some_and(|warning| warning.message.contains("type a")), "{before} {now}");
            let warnings = tighten(&plugin, &recorded, &mut layers);
            let used: Map<String, Value> = serde_json::from_str(used).unwrap();
            assert_eq!(permissions(layers[0].get("a").unwrap().get(PERMISSION)), used, "{before} {now}");
            assert_eq!(warnings.is_empty(), now.contains("\"deny\""), "{before} {now}");
        }
    }

    #[test]
    fn a_type_that_is_new_brings_no_permission_with_it() {
        let plugin: PluginName = "p".parse().unwrap();
        let mut layers = [layer(r#"{"bash":"allow","web":"deny"}"#)];
        assert_eq!(tighten(&plugin, &Provides::default(), &mut layers).len(), 1);
        let permission = layers[0].get("a").unwrap().get(PERMISSION).unwrap();
        assert_eq!(permission.to_string(), r#"{"web":"deny"}"#);
    }
}
