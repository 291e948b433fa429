//! What a project's types allow more of.

use super::*;

/// `type category before after` for all that a local layer makes looser.
fn looser(global: &Value, local: &Value) -> Vec<String> {
    let below = [read_bundled(Kind::Type), types(Origin::Global, global)];
    let found = loosened_types(&types(Origin::Local, local), &below);
    let words = |found: LoosenedType| {
        let name = found.name;
        let word = move |l: Loosened| format!("{name} {} {} {}", l.category, l.before.word(), l.after.word());
        found.loosened.into_iter().map(word).collect::<Vec<_>>()
    };
    found.into_iter().flat_map(words).collect()
}

#[test]
fn what_exists_below_and_is_allowed_more_is_looser() {
    let local = json!({
        "writer": {"tool_permission": {"bash": "ask", "edit": "deny", "read": "allow"}},
        "mine": {"tool_permission": {"bash": "allow"}},
        "editor": {"tags": ["x"]},
    });
    assert_eq!(looser(&json!({}), &local), ["writer bash deny ask"]);
    assert_eq!(
        looser(&json!({"writer": {"tool_permission": {"bash": "ask"}}}), &local),
        Vec::<String>::new()
    );
    assert_eq!(looser(&json!({"mine": {}}), &local), ["writer bash deny ask", "mine bash ask allow"]);
}

#[test]
fn a_reset_is_looser_where_the_default_is() {
    for permission in [json!(null), json!({"bash": null, "web": null})] {
        let local = json!({ "writer": { "tool_permission": permission } });
        assert_eq!(looser(&json!({}), &local)[0], "writer bash deny ask", "{local}");
        assert!(looser(&json!({}), &local).contains(&"writer web deny allow".to_owned()), "{local}");
    }
}

#[test]
fn it_says_the_same_as_merging_with_and_without_the_layer() {
    let words = ["allow", "ask", "deny"];
    for choice in 0..5_usize.pow(3) {
        let said = |layer: u32| match choice / 5_usize.pow(layer) % 5 {
            0 => json!({}),
            1 => json!({ "tool_permission": null }),
            word => json!({ "tool_permission": { "web": words[word - 2] } }),
        };
        let below = [
            types(plugin("audit", Scope::Global), &json!({ "t": said(0) })),
            types(Origin::Global, &json!({ "t": said(1) })),
        ];
        let local = types(Origin::Local, &json!({ "t": said(2) }));
        let permission =
            |layers: Vec<Layer>| Stack::new(Kind::Type, layers).resolve("t").unwrap().permission();
        let expected = loosened(
            &permission(below.to_vec()),
            &permission([below.to_vec(), vec![local.clone()]].concat()),
        );
        let found = loosened_types(&local, &below).into_iter().flat_map(|found| found.loosened);
        assert_eq!(found.collect::<Vec<_>>(), expected, "{choice}");
    }
}
