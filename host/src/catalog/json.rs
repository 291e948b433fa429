//! An entry as a JSON document shows it: in a list, and by itself with where
//! each field comes from.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{Field, Kind, Origin, Resolved};

impl Resolved<'_> {
    /// The entry in a list: `name`, `origin`, `layers`, `plugin`, and the typed
    /// fields; a skill's content is left out.
    pub fn list_json(&self) -> Value {
        let mut entry = self.whole_json();
        if self.kind() == Kind::Skill {
            entry.shift_remove("content");
        }
        Value::Object(entry)
    }

    /// The entry by itself: as in a list, a skill's content too, and `fields`
    /// with the `value` and `layer` of each, `plugin` where it is one, and what
    /// is `hidden`, the nearest first. `layer` is null for what nobody sets; a
    /// field that was reset has its default as value, and the layer that reset
    /// it. Each category of `tool_permission` that is set has its own, null as
    /// value where it was reset.
    pub fn show_json(&self) -> Value {
        let mut entry = self.whole_json();
        let mut fields = Map::new();
        for field in self.fields() {
            let value = entry.get(field.name).cloned().unwrap_or_default();
            fields.insert(field.name.to_owned(), field_json(&field, &value));
        }
        if self.kind() == Kind::Type {
            let categories = self.categories();
            let shown = categories
                .iter()
                .map(|field| (field.name.to_owned(), field_json(field, &json!(field.value))));
            fields.insert("tool_permission".to_owned(), Value::Object(shown.collect()));
        }
        entry.insert("fields".to_owned(), Value::Object(fields));
        Value::Object(entry)
    }

    fn whole_json(&self) -> Map<String, Value> {
        let mut entry = Map::new();
        entry.insert("name".to_owned(), self.name().into());
        entry.insert("origin".to_owned(), self.origin().into());
        entry.insert("layers".to_owned(), json!(self.layers()));
        entry.insert("plugin".to_owned(), json!(self.plugin()));
        let typed = match self.kind() {
            Kind::Type => json!(self.agent_type()),
            Kind::Skill => json!(self.skill()),
            Kind::Team => json!(self.team()),
        };
        if let Value::Object(typed) = typed {
            entry.extend(typed);
        }
        entry
    }
}

/// `value` is the one that counts, defaults included.
fn field_json<V: Serialize>(field: &Field<'_, V>, value: &Value) -> Value {
    let mut shown = placed(value, field.origin);
    if !field.hidden.is_empty() {
        let hidden =
            field.hidden.iter().map(|hidden| Value::Object(placed(&hidden.value, Some(hidden.origin))));
        shown.insert("hidden".to_owned(), Value::Array(hidden.collect()));
    }
    Value::Object(shown)
}

fn placed(value: impl Serialize, origin: Option<&Origin>) -> Map<String, Value> {
    let mut shown = Map::new();
    shown.insert("value".to_owned(), json!(value));
    shown.insert("layer".to_owned(), json!(origin.map(Origin::layer)));
    if let Some(plugin) = origin.and_then(Origin::plugin) {
        shown.insert("plugin".to_owned(), plugin.as_str().into());
    }
    shown
}
