//! The JSON of list and show.

use super::*;

#[test]
fn a_type_is_listed_with_its_layers_and_typed_fields() {
    let local = types(Origin::Local, &json!({"t": {"system_prompt": "You."}}));
    let stack = Stack::new(Kind::Type, [local]);
    assert_eq!(
        stack.resolve("t").unwrap().list_json(),
        json!({"name": "t", "origin": "local", "layers": ["local"], "plugin": null, "system_prompt": "You.",
            "model": null, "skills": [], "tags": [], "tool_permission": {}})
    );
}

#[test]
fn show_names_the_layer_of_each_field_and_what_it_hides() {
    let audit = json!({"t": {"system_prompt": "Theirs.", "model": "m", "tool_permission": {"web": "deny"}}});
    let local = json!({"t": {"system_prompt": "Mine.", "model": null, "tool_permission": {"web": "ask"}}});
    let stack =
        Stack::new(Kind::Type, [types(Origin::Local, &local), types(plugin("audit", Scope::Global), &audit)]);
    let shown = stack.resolve("t").unwrap().show_json();
    assert_eq!((&shown["origin"], &shown["plugin"]), (&json!("merged"), &json!("audit")));
    let under = |value| json!([{"value": value, "layer": "plugin", "plugin": "audit"}]);
    assert_eq!(
        shown["fields"],
        json!({
            "system_prompt": {"value": "Mine.", "layer": "local", "hidden": under("Theirs.")},
            "model": {"value": null, "layer": "local", "hidden": under("m")},
            "skills": {"value": [], "layer": null},
            "tags": {"value": [], "layer": null},
            "tool_permission": {"web": {"value": "ask", "layer": "local", "hidden": under("deny")}},
        })
    );
}

#[test]
fn a_skill_shows_its_content_only_by_itself() {
    let stack = Stack::new(
        Kind::Skill,
        [layer(Kind::Skill, plugin("audit", Scope::Global), &json!({"s": {"content": "# s\n\nText"}}))],
    );
    let skill = stack.resolve("s").unwrap();
    assert_eq!(
        skill.list_json(),
        json!({"name": "s", "origin": "plugin", "layers": ["plugin"], "plugin": "audit",
            "description": "# s", "tags": []})
    );
    assert_eq!(skill.show_json()["content"], "# s\n\nText");
    assert_eq!(skill.show_json()["fields"]["description"], json!({"value": "# s", "layer": null}));
    assert_eq!(skill.show_json()["fields"]["content"]["plugin"], "audit");
}
