//! Merging, table by table.

use super::*;

fn four_origins() -> [Origin; 4] {
    [Origin::Bundled, plugin("audit", Scope::Global), Origin::Global, Origin::Local]
}

/// What a layer may say about a field, and what then counts.
fn sayings(field: &str) -> Vec<Option<Value>> {
    let (full, empty) = match field {
        "system_prompt" | "model" => (json!("text"), json!("")),
        _ => (json!(["one"]), json!([])),
    };
    vec![None, Some(Value::Null), Some(empty), Some(full)]
}

#[test]
fn every_field_in_every_layer_absent_null_empty_or_set() {
    for field in ["system_prompt", "model", "skills", "tags"] {
        let sayings = sayings(field);
        for choice in 0..sayings.len().pow(4) {
            let said: Vec<Option<Value>> =
                (0..4u32).map(|layer| sayings[choice / 4_usize.pow(layer) % 4].clone()).collect();
            let layers = four_origins().into_iter().zip(&said).map(|(origin, value)| {
                let entry: serde_json::Map<_, _> =
                    value.iter().map(|v| (field.to_owned(), v.clone())).collect();
                types(origin, &json!({"t": entry}))
            });
            let stack = Stack::new(Kind::Type, layers);
            let resolved = stack.resolve("t").unwrap();
            let highest = said.iter().rposition(Option::is_some);
            let expected = highest.and_then(|layer| said[layer].clone()).filter(|value| !value.is_null());
            assert_eq!(resolved.value(field).cloned(), expected, "{field} {said:?}");

            let fields = resolved.fields();
            let shown = fields.iter().find(|shown| shown.name == field).unwrap();
            assert_eq!(shown.origin.cloned(), highest.map(|layer| four_origins()[layer].clone()));
            let below = &said[..highest.unwrap_or(0)];
            let hidden: Vec<(Option<Value>, Origin)> =
                shown.hidden.iter().map(|h| (h.value.cloned(), h.origin.clone())).collect();
            let below = below.iter().zip(four_origins()).rev();
            let expected: Vec<(Option<Value>, Origin)> = below
                .filter_map(|(value, origin)| Some((value.clone()?, origin)))
                .map(|(value, origin)| (Some(value).filter(|value| !value.is_null()), origin))
                .collect();
            assert_eq!(hidden, expected, "{field} {said:?}");
        }
    }
}

#[test]
fn an_override_never_drops_a_deny_by_leaving_it_out() {
    let local = types(Origin::Local, &json!({"writer": {"tool_permission": {"web": "allow"}}}));
    let stack = Stack::new(Kind::Type, [local, read_bundled(Kind::Type)]);
    let writer = stack.resolve("writer").unwrap();
    let permission = writer.agent_type().tool_permission;
    assert_eq!(permission[&Category::Bash], Action::Deny);
    assert_eq!(permission[&Category::Web], Action::Allow);
    let web = writer.categories().into_iter().find(|field| field.name == "web").unwrap();
    assert_eq!((web.value, web.origin), (Some(Action::Allow), Some(&Origin::Local)));
    assert_eq!(web.hidden, [Hidden { value: Some(Action::Deny), origin: &Origin::Bundled }]);
}

#[test]
fn null_resets_one_category_or_all_of_them() {
    let low = json!({"t": {"tool_permission": {"web": "deny", "bash": "deny"}}});
    let show = |local: Value| {
        let local = types(Origin::Local, &json!({"t": {"tool_permission": local}}));
        let stack = Stack::new(Kind::Type, [types(Origin::Global, &low), local]);
        let resolved = stack.resolve("t").unwrap();
        let fields: Vec<(&str, Option<&str>, &str, usize)> = resolved
            .categories()
            .into_iter()
            .map(|f| (f.name, f.value.map(Action::word), f.origin.unwrap().layer(), f.hidden.len()))
            .collect();
        assert_eq!(
            json!(resolved.permission()),
            Value::Object(fields.iter().filter_map(|f| Some((f.0.to_owned(), f.1?.into()))).collect())
        );
        fields
    };
    assert_eq!(show(json!({"web": null})), [("bash", Some("deny"), "global", 0), ("web", None, "local", 1)]);
    assert_eq!(show(json!(null)), [("bash", None, "local", 1), ("web", None, "local", 1)]);
    assert_eq!(show(json!({})), [("bash", Some("deny"), "global", 0), ("web", Some("deny"), "global", 0)]);
    assert_eq!(
        show(json!({"mcp": null})),
        [("bash", Some("deny"), "global", 0), ("web", Some("deny"), "global", 0), ("mcp", None, "local", 0)]
    );
}

#[test]
fn a_reset_of_all_permissions_hides_nothing_where_nothing_lies_below() {
    let global = types(Origin::Global, &json!({"t": {"tool_permission": null}}));
    let local = types(Origin::Local, &json!({"t": {"tool_permission": {"web": "deny"}}}));
    let stack = Stack::new(Kind::Type, [global.clone(), local]);
    let categories = stack.resolve("t").unwrap().categories();
    assert_eq!(categories.len(), 1);
    assert_eq!((categories[0].value, categories[0].hidden.len()), (Some(Action::Deny), 0));
    assert!(Stack::new(Kind::Type, [global]).resolve("t").unwrap().categories().is_empty());
}

#[test]
fn a_null_prompt_or_model_is_unset_and_an_empty_model_too() {
    let local = json!({"researcher": {"system_prompt": null, "skills": ["s"]}, "t": {"model": ""}});
    let stack = Stack::new(Kind::Type, [types(Origin::Local, &local), read_bundled(Kind::Type)]);
    let researcher = stack.resolve("researcher").unwrap();
    assert!(researcher.is_hollow());
    assert_eq!(researcher.agent_type().system_prompt, "");
    assert_eq!(stack.resolve("t").unwrap().agent_type().model, None);
}

#[test]
fn a_global_model_is_cleared_from_local_with_an_empty_text() {
    let global = types(Origin::Global, &json!({"t": {"model": "m"}}));
    for clear in [json!(""), json!(null)] {
        let local = types(Origin::Local, &json!({"t": {"model": clear}}));
        let stack = Stack::new(Kind::Type, [global.clone(), local]);
        assert_eq!(stack.resolve("t").unwrap().agent_type().model, None);
    }
}

#[test]
fn the_origin_is_a_layer_or_merged() {
    let audit = plugin("audit", Scope::Local);
    let layers = [
        types(Origin::Global, &json!({"g": {}, "m": {}})),
        types(Origin::Local, &json!({"l": {}, "m": {}})),
        types(audit, &json!({"p": {}, "planner": {"tags": []}})),
        read_bundled(Kind::Type),
    ];
    let stack = Stack::new(Kind::Type, layers);
    let origin = |name: &str| {
        let found = stack.resolve(name).unwrap();
        (found.origin(), found.layers().join(" "), found.plugin().map(ToString::to_string))
    };
    assert_eq!(origin("g"), ("global", "global".into(), None));
    assert_eq!(origin("l"), ("local", "local".into(), None));
    assert_eq!(origin("p"), ("plugin", "plugin".into(), Some("audit".into())));
    assert_eq!(origin("tester"), ("bundled", "bundled".into(), None));
    assert_eq!(origin("m"), ("merged", "global local".into(), None));
    assert_eq!(origin("planner"), ("merged", "bundled plugin".into(), Some("audit".into())));
}

#[test]
fn partial_overrides_of_a_bundled_name_merge_in_the_order_of_plugin_names() {
    let zeta = types(plugin("zeta", Scope::Global), &json!({"writer": {"model": "z"}}));
    let alpha = types(plugin("alpha", Scope::Local), &json!({"writer": {"model": "a", "tags": ["x"]}}));
    let stack = Stack::new(Kind::Type, [zeta, read_bundled(Kind::Type), alpha]);
    let writer = stack.resolve("writer").unwrap();
    let typed = writer.agent_type();
    assert_eq!((typed.model.as_deref(), typed.tags), (Some("z"), vec!["x".to_owned()]));
    assert_eq!(writer.plugin().map(ToString::to_string), Some("zeta".into()));
    assert!(stack.collisions().is_empty());
    let alone = stack.resolve("alpha/writer").unwrap();
    assert_eq!((alone.name(), alone.layers()), ("alpha/writer", vec!["bundled", "plugin"]));
    assert_eq!(alone.agent_type().model.as_deref(), Some("a"));
}

#[test]
fn two_plugins_that_define_one_name_collide_and_local_beats_global() {
    let own = |name, scope, model| types(plugin(name, scope), &json!({"auditor": {"model": model}}));
    for (layers, winner, loser) in [
        ([own("a", Scope::Global, "a"), own("b", Scope::Global, "b")], "a", "b"),
        ([own("a", Scope::Global, "a"), own("b", Scope::Local, "b")], "b", "a"),
        ([own("a", Scope::Local, "a"), own("b", Scope::Local, "b")], "a", "b"),
    ] {
        let local = types(Origin::Local, &json!({"auditor": {"tags": ["mine"]}}));
        let stack = Stack::new(Kind::Type, layers.into_iter().chain([local]));
        let used = stack.resolve("auditor").unwrap();
        assert_eq!(used.agent_type().model.as_deref(), Some(winner));
        assert_eq!(used.agent_type().tags, ["mine"]);
        assert_eq!(stack.all()[0].agent_type(), used.agent_type());
        let told = stack.collisions();
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].plugin.as_ref().map(ToString::to_string), Some(loser.to_owned()));
        let other = stack.resolve(&format!("{loser}/auditor")).unwrap();
        assert_eq!(other.agent_type().model.as_deref(), Some(loser));
        assert!(other.agent_type().tags.is_empty());
    }
}

#[test]
fn an_unknown_name_has_a_nearest_one() {
    let audit = types(plugin("audit", Scope::Global), &json!({"auditor": {}}));
    let stack = Stack::new(Kind::Type, [read_bundled(Kind::Type), audit]);
    let nearest = |name: &str| stack.resolve(name).unwrap_err().nearest;
    assert_eq!(nearest("writre").as_deref(), Some("writer"));
    assert_eq!(nearest("audit/auditer").as_deref(), Some("audit/auditor"));
    assert_eq!(nearest("bananas"), None);
    for none in ["", "/", "audit/", "/writer", "audit/writer", "nobody/writer", "a/b/c", "\u{1b}[2J"] {
        assert!(stack.resolve(none).is_err(), "{none:?}");
    }
    let error = stack.resolve("writre").unwrap_err();
    assert_eq!(error.to_string(), "there is no agent type `writre`");
    assert_eq!(error.diagnostic().help.as_deref(), Some("did you mean `writer`?"));
}

#[test]
fn what_was_lost_and_what_is_damaged_stays_known() {
    let (broken, _) = read_types(r#"{"writer": {"tool_permission": {"bash": "dney"}}, "x": {"tags": 1}}"#);
    let (damaged, _) = read_entries_text(Kind::Type, "{", Origin::Global, None);
    let stack = Stack::new(Kind::Type, [read_bundled(Kind::Type), broken.clone()]);
    assert_eq!(stack.resolve("writer").unwrap().origin(), "bundled");
    assert_eq!(stack.lost("writer").len(), 1);
    assert!(stack.lost("tester").is_empty() && stack.lost("audit/writer").is_empty());
    assert!(stack.resolve("x").unwrap_err().lost);
    assert!(!stack.is_damaged());
    assert!(Stack::new(Kind::Type, [damaged, broken]).is_damaged());
}

#[test]
fn an_override_whose_plugin_is_gone_is_hollow() {
    let audit = types(plugin("audit", Scope::Global), &json!({"auditor": {"system_prompt": "You audit."}}));
    let local = types(Origin::Local, &json!({"auditor": {"tags": ["mine"]}}));
    let with = Stack::new(Kind::Type, [local.clone(), audit]);
    assert!(!with.resolve("auditor").unwrap().is_hollow());
    assert!(Stack::new(Kind::Type, [local]).resolve("auditor").unwrap().is_hollow());
}
