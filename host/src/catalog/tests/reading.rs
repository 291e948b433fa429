//! Reading `types.json` and `teams.json`, whole and broken.

use std::fmt::Write;
use std::fs;

use super::*;

#[test]
fn an_object_and_a_list_say_the_same() {
    let (object, faults) = read_types(r#"{"$schema": "x", "a": {"model": "m", "$note": 1}, "b": {}}"#);
    assert!(faults.is_empty(), "{faults:?}");
    let (list, faults) = read_types(r#"[{"name": "a", "model": "m", "$note": 1}, {"name": "b"}]"#);
    assert!(faults.is_empty(), "{faults:?}");
    assert_eq!(names(&object), ["a", "b"]);
    assert_eq!(names(&list), ["a", "b"]);
    assert_eq!(object.entries["a"], list.entries["a"]);
    assert_eq!(json!(object.entries["a"].to_json()), json!({"model": "m"}));
}

#[test]
fn a_file_that_is_not_there_is_an_empty_layer() {
    let folder = tempfile::tempdir().unwrap();
    let (layer, faults) = read_entries_file(Kind::Type, &folder.path().join("types.json"), Origin::Global);
    assert!(layer.entries.is_empty() && !layer.damaged && faults.is_empty());
}

#[test]
fn a_file_that_cannot_be_read_whole_is_damaged_with_line_and_column() {
    for (text, place) in [
        ("{\n  \"a\": {},\n}", "bad-json 3:1"),
        ("{\n  \"a\": {\"tags\": [1,]}\n}", "bad-json 2:20"),
        ("{\"ä\": tru}", "bad-json 1:10"),
        ("", "bad-json 1:1"),
        (" \n\n", "bad-json 3:1"),
        ("{} x", "bad-json 1:4"),
        ("{\"a\": {\"model\": \"\\ud800\"}}", "bad-json 1:24"),
        ("{\"a\": {},\n \"a\": {}}", "repeated-key 2:2"),
        ("{\"a\": {\"model\": \"x\", \"mod\\u0065l\": \"y\"}}", "repeated-key 1:22"),
        ("{\"a\": {\"unknown\": [{\"x\": 1, \"x\": 2}]}}", "repeated-key 1:29"),
        ("{\"$comment\": {\"x\": 1, \"x\": 2}}", "repeated-key 1:23"),
        ("[{\"name\": \"a\"},\n{\"name\": \"a\"}]", "repeated-key 2:10"),
        ("\n  5", "wrong-type 2:3"),
        ("\"text\"", "wrong-type 1:1"),
        ("null", "wrong-type 1:1"),
    ] {
        let (layer, faults) = read_types(text);
        assert!(layer.damaged && layer.entries.is_empty(), "{text}");
        assert_eq!(places(&faults), [place], "{text}: {faults:?}");
        assert_eq!(faults[0].file.as_deref(), Some("x.json".as_ref()), "{text}");
    }
}

#[test]
fn bytes_that_are_not_utf8_are_named_by_their_place() {
    let (layer, faults) =
        read_entries_text(Kind::Type, b"{\n\"\xc3\xa4\xff\": {}}".to_vec(), Origin::Local, None);
    assert!(layer.damaged);
    assert_eq!(places(&faults), ["not-utf8 2:3"]);
    assert!(faults[0].message.contains("0xff"), "{}", faults[0].message);
}

#[test]
fn a_byte_order_mark_is_no_fault_and_counts_no_column() {
    let (layer, faults) = read_types("\u{feff}{\"a\": {\"tags\": 5}, \"b\": {}}");
    assert_eq!(names(&layer), ["b"]);
    assert_eq!(places(&faults), ["wrong-type 1:16"]);
}

#[test]
fn nesting_up_to_127_levels_is_read_and_deeper_is_damage_not_a_crash() {
    let nested = |levels: usize| {
        // The object and the entry are two levels.
        let (open, close) = ("[".repeat(levels - 2), "]".repeat(levels - 2));
        format!("{{\"a\": {{\"$x\": {open}{close}}}}}")
    };
    let (layer, faults) = read_types(&nested(127));
    assert!(!layer.damaged, "{faults:?}");
    for levels in [128, 100_000] {
        let (layer, faults) = read_types(&nested(levels));
        assert!(layer.damaged, "{levels}");
        assert_eq!(faults[0].code, "too-deep", "{faults:?}");
    }
    assert!(read_types(&"[".repeat(100_000)).0.damaged);
}

#[test]
fn a_broken_entry_is_lost_at_its_very_value_and_all_others_work() {
    for (entry, place, says) in [
        ("5", "wrong-type 2:9", "an object"),
        ("null", "wrong-type 2:9", "an object"),
        (r#"{"tags": 5}"#, "wrong-type 2:18", "a list of texts"),
        (r#"{"skills": "abc"}"#, "wrong-type 2:20", "a list of texts"),
        (r#"{"skills": ["a", 7]}"#, "wrong-type 2:26", "element 2"),
        (r#"{"system_prompt": ["x"]}"#, "wrong-type 2:27", "a text"),
        (r#"{"model": false}"#, "wrong-type 2:19", "a text"),
        (r#"{"tool_permission": "x"}"#, "wrong-type 2:29", "category to action"),
        (r#"{"tool_permission": {"bash": "dney"}}"#, "unknown-action 2:38", "allow, ask, deny"),
        (r#"{"tool_permission": {"bash": true}}"#, "unknown-action 2:38", "allow, ask or deny"),
        (r#"{"tool_permission": {"Bash": "deny"}}"#, "unknown-permission 2:30", "bash, web"),
        (r#"{"name": 7}"#, "bad-name 2:18", "a text"),
    ] {
        let text = format!("{{\n\"bad\": \t{entry},\n\"good\": {{\"model\": \"m\"}}}}");
        let (layer, faults) = read_types(&text);
        assert_eq!(names(&layer), ["good"], "{entry}");
        assert!(layer.lost.contains("bad") && !layer.damaged, "{entry}");
        assert_eq!(places(&faults), [place], "{entry}: {faults:?}");
        assert!(faults[0].message.contains("`bad` is left out"), "{}", faults[0].message);
        assert!(faults[0].message.contains(says), "{}", faults[0].message);
    }
}

#[test]
fn a_misspelt_action_or_category_comes_with_the_nearest() {
    let help = |text: &str| read_types(text).1[0].help.clone().unwrap();
    for (permission, nearest) in [(r#"{"bash": "dney"}"#, "deny"), (r#"{"bahs": "deny"}"#, "bash")] {
        let expected = format!("did you mean `{nearest}`? (meanwhile what it denies is not in force)");
        assert_eq!(help(&format!(r#"{{"a": {{"tool_permission": {permission}}}}}"#)), expected);
    }
    assert_eq!(help(r#"{"a": {"sytem_prompt": "x"}}"#), "did you mean `system_prompt`?");
}

#[test]
fn several_faults_of_one_entry_are_all_told() {
    let (_, faults) = read_types(r#"{"a": {"tags": 1, "model": 2, "tool_permission": {"web": "no"}}}"#);
    assert_eq!(places(&faults), ["wrong-type 1:16", "wrong-type 1:28", "unknown-action 1:58"]);
}

#[test]
fn names_that_are_none_are_lost_by_the_name_that_they_have() {
    let (layer, faults) = read_types("{\"../../AGENTS\": {}, \"\": {}, \"a b\": {}, \"ok\": {}}");
    assert_eq!(names(&layer), ["ok"]);
    assert_eq!(places(&faults), ["bad-name 1:2", "bad-name 1:22", "bad-name 1:30"]);
    assert_eq!(layer.lost.iter().collect::<Vec<_>>(), ["", "../../AGENTS", "a b"]);
    let (layer, faults) = read_types("[{\"name\": \"x/y\"}, {\"model\": \"m\"}, 7, {\"name\": \"ok\"}]");
    assert_eq!(names(&layer), ["ok"]);
    assert_eq!(places(&faults), ["bad-name 1:11", "missing-name 1:19", "wrong-type 1:35"]);
    assert_eq!(layer.lost_without_name, 2);
}

#[test]
fn terminal_codes_in_a_name_or_value_are_escaped_in_the_message() {
    let (_, faults) = read_types("{\"\\u001b[2J\": {}, \"a\": {\"tags\": \"\\u001b]0;x\\u0007\"}}");
    for fault in &faults {
        assert!(!fault.message.contains(char::is_control), "{:?}", fault.message);
    }
    let long = format!("{{\"{}\": {{}}}}", "x".repeat(100_000));
    assert!(read_types(&long).1[0].message.len() < 500);
}

#[test]
fn an_unknown_field_is_warned_about_once_for_each_file() {
    let (layer, faults) =
        read_types("{\"a\": {\"color\": 1, \"model\": \"m\"},\n \"b\": {\"color\": 2, \"size\": 3}}");
    assert_eq!(names(&layer), ["a", "b"]);
    assert!(layer.entries["a"].get("color").is_none());
    assert_eq!(places(&faults), ["unknown-field 1:8", "unknown-field 2:20"]);
}

#[test]
fn the_key_of_an_object_beats_the_name_inside() {
    let (layer, faults) = read_types(r#"{"a": {"name": "b", "model": "m"}, "c": {"name": "c"}}"#);
    assert_eq!(names(&layer), ["a", "c"]);
    assert_eq!(places(&faults), ["name-mismatch 1:16"]);
}

#[test]
fn broken_stages_and_loops_lose_the_team() {
    for (team, place) in [
        (r#"{"stages": "abc"}"#, "bad-stage 1:18"),
        (r#"{"stages": [5]}"#, "bad-stage 1:19"),
        (r#"{"stages": ["a b"]}"#, "bad-stage 1:19"),
        (r#"{"stages": [""]}"#, "bad-stage 1:19"),
        (r#"{"stages": ["a", {"typ": "b"}]}"#, "bad-stage 1:24"),
        (r#"{"stages": [{"type": null}]}"#, "bad-stage 1:28"),
        (r#"{"stages": [{"type": "a", "task_hint": 1}]}"#, "bad-stage 1:46"),
        (r#"{"stages": [{"type": "a", "skills": [1]}]}"#, "bad-stage 1:44"),
        (r#"{"loop": 3}"#, "bad-loop 1:16"),
        (r#"{"loop": {"from": "a"}}"#, "bad-loop 1:16"),
        (r#"{"loop": {"from": "a", "until": 2}}"#, "bad-loop 1:39"),
        (r#"{"loop": {"from": "a", "until": "b", "max_iterations": 0}}"#, "bad-loop 1:62"),
        (r#"{"loop": {"from": "a", "until": "b", "max_iterations": 1.5}}"#, "bad-loop 1:62"),
        (r#"{"loop": {"from": "a", "until": "b", "verdict": " "}}"#, "bad-loop 1:55"),
    ] {
        let text = format!("{{\"t\": {team}, \"good\": {{\"stages\": [\"a\"]}}}}");
        let (layer, faults) = read_entries_text(Kind::Team, text, Origin::Local, None);
        assert_eq!(names(&layer), ["good"], "{team}");
        assert_eq!(places(&faults), [place], "{team}: {faults:?}");
    }
}

#[test]
fn a_team_with_bare_and_full_stages_is_read() {
    let entries = json!({"t": {
        "stages": ["planner", {"type": "audit/auditor", "task_hint": "Audit.", "skills": ["s"]}],
        "loop": {"from": "planner", "until": "audit/auditor"},
    }});
    let stack = Stack::new(Kind::Team, [layer(Kind::Team, Origin::Local, &entries)]);
    let team = json!(stack.resolve("t").unwrap().team());
    let plain = json!({"type": "planner", "task_hint": "", "handoff_note": "", "skills": []});
    let full = json!({"type": "audit/auditor", "task_hint": "Audit.", "handoff_note": "", "skills": ["s"]});
    assert_eq!(
        team,
        json!({"name": "t", "description": "", "tags": [], "stages": [plain, full], "loop":
            {"from": "planner", "until": "audit/auditor", "max_iterations": 3, "verdict": "VERDICT:"}})
    );
}

#[test]
fn what_a_plugin_sends_is_checked_like_a_file() {
    let ok = entry_from_json(Kind::Skill, r##"{"name": "s", "content": "# s", "later_field": 1}"##).unwrap();
    assert_eq!((ok.0.as_str(), json!(ok.1.to_json())), ("s", json!({"content": "# s"})));
    for (text, code) in [
        ("[]", "wrong-type"),
        ("{", "bad-json"),
        (r#"{"content": "x"}"#, "missing-name"),
        (r#"{"name": null}"#, "bad-name"),
        (r#"{"name": "../x"}"#, "bad-name"),
        (r#"{"name": "a", "name": "b"}"#, "repeated-key"),
        (r#"{"name": "a", "content": 7}"#, "wrong-type"),
        (r#"{"name": "a", "tags": "abc"}"#, "wrong-type"),
    ] {
        assert_eq!(entry_from_json(Kind::Skill, text).unwrap_err().code, code, "{text}");
    }
    let deep = format!("{{\"name\": \"a\", \"x\": {}", "[".repeat(100_000));
    assert_eq!(entry_from_json(Kind::Type, &deep).unwrap_err().code, "too-deep");
    let raw = r#"{"name": "a", "x": {"$serde_json::private::RawValue": "{{"}}"#;
    assert!(entry_from_json(Kind::Type, raw).is_ok());
}

#[test]
fn an_entry_knows_where_it_and_its_fields_stand() {
    let (layer, _) = read_types(
        "{\r\n  \"ä\": 1,\r\n  \"a\": {\"model\": \"ü\", \"tool_permission\": {\"web\": \"deny\"}}\r\n}",
    );
    let place = layer.entries["a"].place();
    assert_eq!(place.file(), Some("x.json".as_ref()));
    assert_eq!(place.position(), Some(Position { line: 3, column: 3 }));
    assert_eq!(place.field(&["model"]), Some(Position { line: 3, column: 18 }));
    assert_eq!(place.field(&["tool_permission", "web"]), Some(Position { line: 3, column: 50 }));
}

#[test]
fn a_file_of_nothing_but_faults_is_read_in_bearable_time_and_space() {
    let repeat = |times: usize, write: &dyn Fn(&mut String, usize)| {
        let mut text = String::new();
        (0..times).for_each(|number| write(&mut text, number));
        text
    };
    let broken = repeat(20_000, &|text, n| write!(text, ",\"é{n}\":{{\"tags\":5}}").unwrap());
    let (layer, faults) = read_types(&format!("{{\"ä\": 1{broken}}}"));
    assert_eq!(layer.lost.len(), 20_001);
    assert_eq!((faults.len(), faults[1000].code), (1001, "more-faults"));
    assert!(faults[1000].message.starts_with("19001 "), "{}", faults[1000].message);
    let unknown = repeat(100_000, &|text, n| write!(text, "\"x{n}\":0,").unwrap());
    let (layer, faults) = read_types(&format!("{{\"a\": {{{unknown} \"model\": \"m\"}}}}"));
    assert_eq!((names(&layer), faults.len()), (vec!["a"], 50));
    let (layer, faults) = read_types(&format!("[{}0]", "0,".repeat(4_000_000)));
    assert!(layer.damaged);
    assert_eq!(faults[0].code, "too-large");
}

#[test]
fn columns_are_counted_in_characters_however_long_the_line() {
    for pad in [0, 1, 4090, 4095, 4096, 9000] {
        let text = format!("\n{{\"$x\": \"{}\", \"a\": 5}}", "é".repeat(pad));
        assert_eq!(places(&read_types(&text).1), [format!("wrong-type 2:{}", 17 + pad)], "{pad}");
    }
}

#[test]
fn a_folder_is_not_read_as_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let (layer, faults) = read_entries_file(Kind::Type, folder.path(), Origin::Local);
    assert!(layer.damaged);
    assert_eq!(faults[0].code, "not-a-file");
}

#[test]
fn a_file_beyond_the_limit_is_damage_and_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("types.json");
    fs::File::create(&path).unwrap().set_len(LARGEST_FILE + 1).unwrap();
    let (layer, faults) = read_entries_file(Kind::Type, &path, Origin::Local);
    assert!(layer.damaged);
    assert_eq!(faults[0].code, "too-large");
}

#[cfg(unix)]
#[test]
fn pipes_devices_and_dangling_links_neither_hang_nor_count_as_missing() {
    let folder = tempfile::tempdir().unwrap();
    let (pipe, link, good) =
        (folder.path().join("pipe"), folder.path().join("link"), folder.path().join("good"));
    make_pipe(&pipe);
    std::os::unix::fs::symlink("nowhere", &link).unwrap();
    for (path, code) in
        [(pipe.as_path(), "not-a-file"), ("/dev/zero".as_ref(), "not-a-file"), (&link, "unreadable")]
    {
        let (layer, faults) = read_entries_file(Kind::Type, path, Origin::Local);
        assert!(layer.damaged, "{path:?}");
        assert_eq!(faults[0].code, code);
    }
    fs::write(folder.path().join("real"), "{\"a\": {}}").unwrap();
    std::os::unix::fs::symlink("real", &good).unwrap();
    assert_eq!(names(&read_entries_file(Kind::Type, &good, Origin::Local).0), ["a"]);
}

#[cfg(unix)]
pub(super) fn make_pipe(path: &std::path::Path) {
    let status = std::process::Command::new("mkfifo").arg(path).status().unwrap();
    assert!(status.success());
}
