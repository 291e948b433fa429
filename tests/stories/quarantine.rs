//! A plugin that crashed, hung or lied is set aside until something changes.

use std::fs;

use replio_tests::{World, text};
use serde_json::Value;

fn quarantine(world: &World) -> Value {
    let text = fs::read_to_string(world.global().join("quarantine.json")).unwrap_or_else(|_| "{}".into());
    serde_json::from_str(&text).unwrap()
}

/// Times differ from run to run.
fn without_times(world: &World, text: &str) -> String {
    let mut text = text.to_owned();
    for (_, note) in quarantine(world)["plugins"].as_object().into_iter().flatten() {
        text = text.replace(note["since"].as_str().unwrap(), "[time]");
    }
    text
}

#[test]
fn a_plugin_that_crashed_is_set_aside_and_the_rest_go_on() {
    let mut world = World::new();
    world.install_actor(1, "type=one");
    world.install_actor(2, "type=two");
    world.tell(1, "abort");
    let first = world.run(&["type", "list"]);
    // It would work again, and is not asked.
    world.tell(1, "type=one");
    let story = [
        first,
        world.run(&["type", "list"]),
        world.run(&["plugins", "list"]),
        world.run(&["plugins", "show", "actor-01"]),
        world.run(&["plugins", "verify"]),
        world.run(&["plugins", "enable", "actor-01"]),
        world.run(&["plugins", "list"]),
    ];
    let story = story.map(|ran| ran.to_string()).join("\n");
    insta::assert_snapshot!(without_times(&world, &story).replace(&since_of(&story), "[time]"));
    assert_eq!(world.types(), (vec!["one".into(), "two".into()], vec![]));
}

/// The time in a story whose note is gone.
fn since_of(story: &str) -> String {
    let (_, rest) = story.split_once("since ").unwrap();
    rest[.."2026-12-01T00:15:42Z".len()].to_owned()
}

#[test]
fn what_sets_a_plugin_aside_and_what_does_not() {
    for (script, set_aside) in [
        ("abort", true),
        ("segv", true),
        ("open:segv", true),
        ("exit=0", true),
        ("loop", true),
        ("sleep", true),
        ("types=9", true),
        ("same-type-twice", false),
        ("err", false),
        ("panic", false),
        ("write=63", true),
    ] {
        let mut world = World::new()
            .environment("REPLIO_TEST_PLUGIN_MILLISECONDS", "1500")
            .environment("REPLIO_TEST_PLUGIN_ENTRIES", "8");
        world.install_actor(1, "type=one");
        world.tell(1, script);
        world.json(&["type", "list"]);
        let status = if set_aside { "quarantined" } else { "enabled" };
        assert_eq!(world.standing(), [format!("actor-01 local {status}")], "{script}");
        let shown = world.json(&["plugins", "show", "actor-01"]);
        assert_eq!(shown["plugin"]["reason"].is_string(), set_aside, "{script}: {shown}");
        assert_eq!(shown["plugin"]["help"].is_string(), set_aside, "{script}: {shown}");
        // It need not work for any of these.
        world.ok(&["plugins", "verify", "actor-01"]);
        world.ok(&["plugins", "disable", "actor-01"]);
        world.ok(&["plugins", "uninstall", "actor-01"]);
    }
}

#[test]
fn a_kill_from_outside_lays_blame_only_the_second_time_in_a_row() {
    let mut world = World::new();
    world.install_actor(1, "type=one");
    let killed = "signal=9";
    world.tell(1, killed);
    assert_eq!(world.types().1, ["plugin-crashed"]);
    assert_eq!(world.standing(), ["actor-01 local enabled"]);
    // A run that goes well clears it.
    world.tell(1, "type=one");
    assert_eq!(world.types(), (vec!["one".into()], vec![]));
    world.tell(1, killed);
    world.types();
    assert_eq!(world.standing(), ["actor-01 local enabled"]);
    world.types();
    assert_eq!(world.standing(), ["actor-01 local quarantined"]);
}

#[test]
fn another_build_or_another_replio_tries_it_again() {
    let mut world = World::new();
    let library = world.install_actor(1, "type=one");
    world.tell(1, "abort");
    world.types();
    assert_eq!(world.standing(), ["actor-01 local quarantined"]);
    // An update that crashes too leaves all as it was.
    let other = world.other_build(&library);
    let refused = world.run(&["plugins", "update", "actor-01", "--from", text(&other)]);
    assert_eq!(refused.code, 1, "{refused}");
    assert_eq!(world.standing(), ["actor-01 local quarantined"]);
    world.tell(1, "type=one");
    world.ok(&["plugins", "update", "actor-01", "--from", text(&other)]);
    assert_eq!(world.types(), (vec!["one".into()], vec![]));
    // The build before is still set aside, until it is tried out.
    assert_eq!(quarantine(&world)["plugins"].as_object().unwrap().len(), 1);
    world.ok(&["plugins", "rollback", "actor-01"]);
    assert_eq!(world.types(), (vec!["one".into()], vec![]));

    world.tell(1, "abort");
    world.types();
    assert_eq!(world.standing(), ["actor-01 local quarantined"]);
    let path = world.global().join("quarantine.json");
    let mut older = quarantine(&world);
    for (_, note) in older["plugins"].as_object_mut().unwrap() {
        note["replio"] = "0.0.1".into();
    }
    world.write(&path, older.to_string());
    world.tell(1, "type=one");
    assert_eq!(world.types(), (vec!["one".into()], vec![]));
}

#[test]
fn enable_takes_nothing_back_that_still_crashes() {
    let mut world = World::new();
    world.install_actor(1, "type=one");
    world.tell(1, "abort");
    world.types();
    let refused = world.run(&["plugins", "enable", "actor-01"]);
    assert_eq!(refused.code, 1, "{refused}");
    assert_eq!(world.standing(), ["actor-01 local quarantined"]);
    // Switching it off and on again is no way around it either.
    world.ok(&["plugins", "disable", "actor-01"]);
    let refused = world.run(&["plugins", "enable", "actor-01"]);
    assert_eq!(refused.code, 1, "{refused}");
    assert_eq!(world.standing(), ["actor-01 local disabled"]);
}

#[test]
fn a_damaged_quarantine_sets_nothing_aside_and_is_left_as_it_is() {
    let mut world = World::new();
    world.install_actor(1, "type=one");
    world.tell(1, "abort");
    world.types();
    let path = world.global().join("quarantine.json");
    for damage in ["{", "[]", "\u{0}", r#"{"version": 9}"#] {
        world.write(&path, damage);
        let (types, codes) = world.types();
        assert_eq!((types, codes), (vec![], vec!["quarantine-damaged".into(), "plugin-crashed".into()]));
        let list = world.run(&["plugins", "list"]);
        assert_eq!(list.code, 0, "{list}");
        assert!(list.stderr.contains("quarantine.json") && list.stderr.contains("help"), "{list}");
        assert_eq!(fs::read_to_string(&path).unwrap(), damage);
    }
    // What a newer replio wrote in it is kept.
    world.write(&path, r#"{"theirs": 7, "plugins": {"not a digest": 7}}"#);
    world.types();
    assert_eq!(world.standing(), ["actor-01 local quarantined"]);
    let kept = quarantine(&world);
    assert_eq!((&kept["theirs"], &kept["plugins"]["not a digest"]), (&7.into(), &7.into()));
}

#[test]
fn a_session_knows_what_was_set_aside_and_taken_back() {
    let mut world = World::new();
    world.install_actor(1, "type=one");
    world.tell(1, "abort");
    let ran = world.run_with_input(&[], "/type list\n/type list\n/plugins list\n/plugins enable actor-01\n");
    assert_eq!(ran.stderr.matches("is set aside").count(), 1, "{ran}");
    assert!(ran.stdout.contains("quarantined"), "{ran}");
}

#[test]
fn what_is_said_of_it_is_told_apart_from_what_it_printed_and_update_says_it_too() {
    let mut world = World::new();
    world.install_actor(1, "type=one");
    world.tell(1, "print=goodbye abort");
    let ran = world.run(&["type", "list"]);
    let first = ran.stderr.lines().next().unwrap();
    assert!(first.ends_with("; it is set aside and not run again"), "{ran}");
    assert!(ran.stderr.contains("it printed: "), "{ran}");
    let ran = world.run(&["plugins", "update", "actor-01"]);
    assert!(ran.code == 0 && ran.stdout.contains("up to date"), "{ran}");
    assert!(ran.stdout.contains("this very build is set aside"), "{ran}");
}
