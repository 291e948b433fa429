//! What of a project's settings could harm a user who has not looked at them:
//! where requests and keys go, how much is spent, and what may run unasked.

use serde_json::{Map, Value};

use crate::catalog::{Action, Category};

/// The settings that decide where requests, and with them a key, go.
const DESTINATIONS: [(&str, &str); 3] = [
    ("provider", "it decides who gets your prompts and your key"),
    ("providers", "it decides who gets your prompts and your key"),
    ("base_url", "your prompts and your key go there"),
];
/// The limits, and what they are where nobody sets them.
const LIMITS: [(&str, u64); 4] =
    [("max_steps", 50), ("max_depth", 2), ("max_parallel", 20), ("max_requests", 500)];
const TOOL_PERMISSION: &str = "tool_permission";
const TEMPORARY_TYPES: &str = "temporary_types";

/// A setting that needs the user's trust.
#[derive(Debug, Clone, PartialEq)]
pub struct Matter {
    /// The key, and a key inside its value where it is about that one.
    pub path: Vec<&'static str>,
    /// What the project sets.
    pub value: Value,
    /// Why it matters.
    pub why: String,
}

impl Matter {
    /// The key in one word: `tool_permission.bash`.
    pub fn key(&self) -> String {
        self.path.join(".")
    }
}

/// What of the project's settings needs the user's trust, given the user's own.
/// A setting that comes to the same, or is stricter, does not.
pub fn matters(local: &Map<String, Value>, global: &Map<String, Value>) -> Vec<Matter> {
    let mut matters = Vec::new();
    for (key, why) in DESTINATIONS {
        let before = global.get(key).unwrap_or(&Value::Null);
        if let Some(value) = local.get(key).filter(|value| *value != before) {
            matters.push(Matter { path: vec![key], value: value.clone(), why: why.to_owned() });
        }
    }
    for (key, default) in LIMITS {
        let before = limit(global.get(key), default);
        if let Some(value) = local.get(key).filter(|value| limit(Some(value), default) > before) {
            let why = format!("the limit is {before} without it");
            matters.push(Matter { path: vec![key], value: value.clone(), why });
        }
    }
    matters.extend(looser_categories(local.get(TOOL_PERMISSION), global.get(TOOL_PERMISSION)));
    let before = action(global.get(TEMPORARY_TYPES), Action::Deny);
    if let Some(value) = local.get(TEMPORARY_TYPES).filter(|value| action(Some(value), Action::Deny) < before)
    {
        matters.push(Matter { path: vec![TEMPORARY_TYPES], value: value.clone(), why: without(before) });
    }
    matters
}

/// The categories for which the project is less strict.
fn looser_categories(local: Option<&Value>, global: Option<&Value>) -> Vec<Matter> {
    // `null` resets every category, and what is no object says nothing.
    let resets_all = local.is_some_and(Value::is_null);
    let looser = |category: Category| {
        let default = category.default_action();
        let before = action(global.and_then(|global| global.get(category.word())), default);
        let said = local.and_then(|local| local.get(category.word()));
        let value = if resets_all { Some(&Value::Null) } else { said }?;
        (action(Some(value), default) < before).then(|| Matter {
            path: vec![TOOL_PERMISSION, category.word()],
            value: value.clone(),
            why: without(before),
        })
    };
    Category::ALL.into_iter().filter_map(looser).collect()
}

fn without(before: Action) -> String {
    format!("it is {before} without it")
}

/// An action; what is none is the strictest, and `null` the default.
fn action(value: Option<&Value>, default: Action) -> Action {
    match value {
        None | Some(Value::Null) => default,
        Some(value) => value.as_str().and_then(|word| word.parse().ok()).unwrap_or(Action::Deny),
    }
}

/// A limit as a number; what is none is the default.
#[allow(clippy::cast_precision_loss, reason = "they are compared, and no limit is near 2^53")]
fn limit(value: Option<&Value>, default: u64) -> f64 {
    value.and_then(Value::as_f64).unwrap_or(default as f64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn keys(local: &Value, global: &Value) -> Vec<String> {
        let map = |value: &Value| value.as_object().unwrap().clone();
        matters(&map(local), &map(global)).iter().map(Matter::key).collect()
    }

    #[test]
    fn what_sends_a_key_elsewhere_matters_and_what_comes_to_the_same_does_not() {
        let local =
            json!({"provider": "evil", "providers": {"evil": {}}, "base_url": "https://evil.example"});
        assert_eq!(keys(&local, &json!({})), ["provider", "providers", "base_url"]);
        assert_eq!(keys(&local, &local), Vec::<String>::new());
        assert_eq!(keys(&json!({"base_url": null}), &json!({})), Vec::<String>::new());
        // Back to the public address, away from the user's own.
        assert_eq!(keys(&json!({"base_url": null}), &json!({"base_url": "http://here"})), ["base_url"]);
        assert_eq!(keys(&json!({"model": "a/b", "deny": [], "theirs": 1}), &json!({})), Vec::<String>::new());
    }

    #[test]
    fn a_raised_limit_matters_and_a_lowered_one_does_not() {
        let local = json!({"max_steps": 51, "max_depth": 2, "max_parallel": 1e300, "max_requests": 1});
        assert_eq!(keys(&local, &json!({})), ["max_steps", "max_parallel"]);
        assert_eq!(keys(&json!({"max_steps": 60}), &json!({"max_steps": 100})), Vec::<String>::new());
        assert_eq!(keys(&json!({"max_steps": 20}), &json!({"max_steps": 10})), ["max_steps"]);
        assert_eq!(keys(&json!({"max_steps": null}), &json!({"max_steps": 10})), ["max_steps"]);
        assert_eq!(keys(&json!({"max_steps": "many"}), &json!({})), Vec::<String>::new());
    }

    #[test]
    fn a_looser_permission_matters_by_category() {
        let local =
            json!({"tool_permission": {"bash": "allow", "edit": "deny", "web": "ask", "nonsense": 1}});
        assert_eq!(keys(&local, &json!({})), ["tool_permission.bash"]);
        let global = json!({"tool_permission": {"web": "deny", "bash": "allow"}});
        assert_eq!(keys(&local, &global), ["tool_permission.web"]);
        assert_eq!(keys(&json!({"tool_permission": null}), &global), ["tool_permission.web"]);
        assert_eq!(keys(&json!({"tool_permission": {"web": null}}), &global), ["tool_permission.web"]);
        assert_eq!(keys(&json!({"tool_permission": {"web": "alow"}}), &global), Vec::<String>::new());
        assert_eq!(keys(&json!({"tool_permission": 7}), &global), Vec::<String>::new());
    }

    #[test]
    fn temporary_types_matter_where_they_are_less_strict() {
        let temporary = |local: &str, global: &str| {
            keys(&json!({ "temporary_types": local }), &json!({ "temporary_types": global }))
        };
        assert_eq!(temporary("ask", "deny"), ["temporary_types"]);
        assert_eq!(temporary("allow", "ask"), ["temporary_types"]);
        assert_eq!(temporary("ask", "allow"), Vec::<String>::new());
        assert_eq!(keys(&json!({"temporary_types": "allow"}), &json!({})), ["temporary_types"]);
        assert_eq!(keys(&json!({"temporary_types": 1}), &json!({})), Vec::<String>::new());
    }
}
