//! Edits of a file's text, each shown whole.

use super::*;
use crate::names::EntryName;

fn name(text: &str) -> EntryName {
    text.parse().unwrap()
}

fn set(text: &str, entry: &str, fields: &[(&str, Value)]) -> String {
    set_entry(Some(text), Kind::Type, &name(entry), fields).unwrap()
}

#[test]
fn a_file_that_is_not_there_is_written_new() {
    let fields = [
        ("system_prompt", json!("Hi.")),
        ("tags", json!(["a", "b"])),
        ("tool_permission", json!({"web": "deny"})),
    ];
    assert_eq!(
        set_entry(None, Kind::Type, &name("w"), &fields).unwrap(),
        "{\n  \"w\": {\n    \"system_prompt\": \"Hi.\",\n    \"tags\": [\"a\", \"b\"],\n    \"tool_permission\": {\n      \"web\": \"deny\"\n    }\n  }\n}\n"
    );
    let stages = [("stages", json!(["a", {"type": "b"}]))];
    assert_eq!(
        set_entry(None, Kind::Team, &name("t"), &stages).unwrap(),
        "{\n  \"t\": {\n    \"stages\": [\n      \"a\",\n      {\n        \"type\": \"b\"\n      }\n    ]\n  }\n}\n"
    );
    assert_eq!(set_entry(None, Kind::Type, &name("w"), &[]).unwrap(), "{\n  \"w\": {}\n}\n");
}

#[test]
fn only_the_given_fields_of_an_entry_change() {
    let text = "\u{feff}{\r\n\t\"$schema\": \"x\",\r\n\t\"w\" : {\"model\":  \"old\",  \"x-mine\": [1,  2],\"tags\":[ ]}  ,\r\n\t\"z\":{}\r\n}";
    assert_eq!(
        set(text, "w", &[("model", json!("new")), ("system_prompt", json!("Hi.\n"))]),
        "\u{feff}{\r\n\t\"$schema\": \"x\",\r\n\t\"w\" : {\"model\":  \"new\",  \"x-mine\": [1,  2],\"tags\":[ ], \"system_prompt\": \"Hi.\\n\"}  ,\r\n\t\"z\":{}\r\n}"
    );
}

#[test]
fn permissions_are_set_category_by_category() {
    let text = r#"{"w": {"tool_permission": {"web": "deny", "bash": "deny"}, "tags": []}}"#;
    assert_eq!(
        set(text, "w", &[("tool_permission", json!({"web": "allow", "mcp": "ask", "bash": null}))]),
        r#"{"w": {"tool_permission": {"web": "allow", "bash": null, "mcp": "ask"}, "tags": []}}"#
    );
    assert_eq!(
        set(text, "w", &[("tool_permission", json!(null))]),
        r#"{"w": {"tool_permission": null, "tags": []}}"#
    );
    assert_eq!(
        set(r#"{"w": {"tool_permission": null}}"#, "w", &[("tool_permission", json!({"web": "deny"}))]),
        r#"{"w": {"tool_permission": {"web": "deny"}}}"#
    );
    assert_eq!(
        set(r#"{"w": {"tool_permission": {}}}"#, "w", &[("tool_permission", json!({"web": "deny"}))]),
        r#"{"w": {"tool_permission": {"web": "deny"}}}"#
    );
}

#[test]
fn a_new_entry_looks_like_the_rest() {
    let model = [("model", json!("m")), ("tags", json!(["a", "b"]))];
    for (text, changed) in [
        ("{}", "{\n  \"n\": {\n    \"model\": \"m\",\n    \"tags\": [\"a\", \"b\"]\n  }\n}"),
        (
            "{\r\n}\r\n",
            "{\r\n  \"n\": {\r\n    \"model\": \"m\",\r\n    \"tags\": [\"a\", \"b\"]\r\n  }\r\n}\r\n",
        ),
        (
            "{\"a\":{\"model\":\"x\"}}",
            "{\"a\":{\"model\":\"x\"},\"n\":{\"model\":\"m\",\"tags\":[\"a\",\"b\"]}}",
        ),
        (
            "{\"a\": {\"model\": \"x\"}}",
            "{\"a\": {\"model\": \"x\"}, \"n\": {\"model\": \"m\", \"tags\": [\"a\", \"b\"]}}",
        ),
        (
            "{\n\t\"a\": {\n\t\t\"model\": \"x\"\n\t}\n}\n",
            "{\n\t\"a\": {\n\t\t\"model\": \"x\"\n\t},\n\t\"n\": {\n\t\t\"model\": \"m\",\n\t\t\"tags\": [\"a\", \"b\"]\n\t}\n}\n",
        ),
        (
            "[\n    {\"name\": \"a\"}\n]\n",
            "[\n    {\"name\": \"a\"},\n    {\n        \"name\": \"n\",\n        \"model\": \"m\",\n        \"tags\": [\"a\", \"b\"]\n    }\n]\n",
        ),
        ("[]", "[\n  {\n    \"name\": \"n\",\n    \"model\": \"m\",\n    \"tags\": [\"a\", \"b\"]\n  }\n]"),
    ] {
        assert_eq!(set(text, "n", &model), changed, "{text:?}");
    }
}

#[test]
fn an_entry_of_a_list_is_edited_in_its_place() {
    assert_eq!(
        set("[{\"name\":\"a\"},{\"model\":\"x\",\"name\":\"b\"}]", "b", &[("model", json!("y"))]),
        "[{\"name\":\"a\"},{\"model\":\"y\",\"name\":\"b\"}]"
    );
}

#[test]
fn an_entry_whose_key_is_written_with_escapes_is_found() {
    assert_eq!(
        set(r#"{"\u0077": {"m\u006fdel": "x"}}"#, "w", &[("model", json!("y"))]),
        r#"{"\u0077": {"m\u006fdel": "y"}}"#
    );
}

#[test]
fn a_damaged_file_is_never_written_over() {
    for text in
        ["", "{\"users\": {},}", "{\"a\": {}, \"a\": {}}", "5", "[{\"name\": \"a\"}, {\"name\": \"a\"}]"]
    {
        let error = set_entry(Some(text), Kind::Type, &name("a"), &[]).unwrap_err();
        assert!(matches!(error, EditError::Damaged(_)), "{text}: {error}");
        assert!(error.diagnostic().line.is_some(), "{text}");
        assert!(remove_entry(text, Kind::Type, &name("a")).is_err(), "{text}");
    }
}

#[test]
fn an_entry_that_cannot_be_read_is_not_edited_but_others_are_and_it_can_be_removed() {
    let text = "{\"bad\": {\"tags\": 5},\n \"ok\": {}}";
    let error = set_entry(Some(text), Kind::Type, &name("bad"), &[("tags", json!([]))]).unwrap_err();
    assert!(matches!(error, EditError::Unreadable(_)), "{error}");
    assert_eq!((error.diagnostic().line, error.diagnostic().column), (Some(1), Some(18)));
    assert_eq!(
        set(text, "ok", &[("model", json!("m"))]),
        "{\"bad\": {\"tags\": 5},\n \"ok\": {\"model\": \"m\"}}"
    );
    assert_eq!(remove_entry(text, Kind::Type, &name("bad")).unwrap().unwrap(), "{\"ok\": {}}");
}

#[test]
fn what_is_not_right_is_not_written() {
    for (field, value, code) in [
        ("tags", json!("abc"), "wrong-type"),
        ("tool_permission", json!({"bash": "dney"}), "unknown-action"),
        ("tool_permission", json!({"bahs": "deny"}), "unknown-permission"),
        ("colour", json!(1), "unknown-field"),
        ("name", json!("other"), "unknown-field"),
    ] {
        let error = set_entry(None, Kind::Type, &name("a"), &[(field, value)]).unwrap_err();
        assert_eq!(error.diagnostic().code, code);
    }
}

#[test]
fn removing_takes_the_entry_and_its_comma() {
    let remove = |text: &str, entry: &str| remove_entry(text, Kind::Type, &name(entry)).unwrap();
    let text = "{\r\n  \"a\": {},\r\n  \"b\": {},\r\n  \"c\": {}\r\n}\r\n";
    assert_eq!(remove(text, "a").unwrap(), "{\r\n  \"b\": {},\r\n  \"c\": {}\r\n}\r\n");
    assert_eq!(remove(text, "b").unwrap(), "{\r\n  \"a\": {},\r\n  \"c\": {}\r\n}\r\n");
    assert_eq!(remove(text, "c").unwrap(), "{\r\n  \"a\": {},\r\n  \"b\": {}\r\n}\r\n");
    assert_eq!(remove(text, "d"), None);
    assert_eq!(remove("\u{feff}{ \"a\": {} }\n", "a").unwrap(), "\u{feff}{}\n");
    assert_eq!(remove("[{\"name\": \"a\"}]", "a").unwrap(), "[]");
}
