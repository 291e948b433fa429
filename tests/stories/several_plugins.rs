//! One bad plugin never takes another's entries with it.

use std::fs;

use replio_tests::{World, text, tree};

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn a_plugin_that_turned_bad_takes_nothing_with_it() {
    let mut world = World::new()
        .environment("REPLIO_TEST_PLUGIN_MILLISECONDS", "3000")
        .environment("REPLIO_TEST_PLUGIN_ENTRIES", "8");
    world.install_actor(1, "type=one");
    world.install_actor(2, "type=two skills:skill=two teams:team=two");
    world.install_actor(3, "type=three");
    assert_eq!(world.types(), (names(&["one", "three", "two"]), names(&[])));
    for (script, code) in [
        ("err", "hook-failed"),
        ("teams:err type=two", "hook-failed"),
        ("panic", "hook-panicked"),
        ("panic-bomb", "hook-panicked"),
        ("abort", "plugin-crashed"),
        ("segv", "plugin-crashed"),
        ("overflow", "plugin-crashed"),
        ("exit=0", "plugin-crashed"),
        ("open:exit=3", "plugin-crashed"),
        ("thread-abort", "plugin-crashed"),
        ("close-all", "plugin-crashed"),
        ("kill-runner", "plugin-timed-out"),
        ("loop", "plugin-timed-out"),
        ("write=ff00000000", "plugin-lied"),
        ("types=9", "plugin-too-large"),
    ] {
        world.tell(2, script);
        assert_eq!(world.types(), (names(&["one", "three"]), names(&[code])), "{script}");
        let list = world.run(&["type", "list"]);
        assert_eq!(list.code, 0, "{script}: {list}");
        assert!(list.stderr.contains("plugin actor-02"), "{script}: {list}");
        let _ = fs::remove_file(world.global().join("quarantine.json"));
    }
    world.tell(2, "type=two skills:skill=two teams:team=two");
    assert_eq!(world.types(), (names(&["one", "three", "two"]), names(&[])));
}

#[test]
fn what_runs_nothing_is_not_touched_by_what_plugins_do() {
    if !World::can_be_on_an_old_kernel() {
        return;
    }
    // Where there is a jail, a plugin can't leave a mark of having run.
    let mut world = World::new().on_an_old_kernel();
    world.install_actor(1, "");
    world.install_actor(2, "type=two");
    let opened = world.path("opened");
    world.tell(1, &format!("open:marker={} open:abort", text(&opened)));
    world.ok(&["plugins", "list"]);
    world.ok(&["plugins", "show", "actor-01"]);
    world.ok(&["plugins", "inspect", text(&world.actor(1))]);
    world.ok(&["plugins", "verify"]);
    world.ok(&["plugins", "uninstall", "actor-01", "--dry-run"]);
    assert_eq!(world.types_without_plugins(), names(&[]));
    assert!(!opened.exists(), "a command that needs no plugin has run one");
    world.ok(&["plugins", "disable", "actor-01"]);
    assert_eq!(world.types().0, ["two"]);
    assert!(!opened.exists(), "a plugin that was switched off has been run");
    let refused = world.run(&["plugins", "enable", "actor-01"]);
    assert_eq!(refused.code, 1, "{refused}");
    assert!(opened.exists());
    assert_eq!(world.standing(), ["actor-01 local disabled", "actor-02 local enabled"]);
    world.ok(&["plugins", "uninstall", "actor-01"]);
}

#[test]
fn a_plugin_may_bring_one_kind_or_nothing() {
    let mut world = World::new();
    for (number, script) in [(1, "skills:skill=only-a-skill"), (2, "teams:team=only-a-team"), (3, "")] {
        world.install_actor(number, script);
    }
    insta::assert_snapshot!(world.ok(&["plugins", "list"]));
}

#[test]
fn the_plugins_are_separate_whatever_they_are_told() {
    let mut world = World::new();
    for number in 0..10 {
        world.install_actor(number, &format!("type=t{number}"));
    }
    let list = world.json(&["type", "list"]);
    for entry in list["types"].as_array().unwrap() {
        if let Some(plugin) = entry["plugin"].as_str() {
            let name = entry["name"].as_str().unwrap();
            assert_eq!(plugin, format!("actor-0{}", &name[1..]));
        }
    }
    // Every second one hangs, crashes or fails; the others are there.
    world.set("REPLIO_TEST_PLUGIN_MILLISECONDS", "3000");
    for (number, script) in [(1, "loop"), (3, "abort"), (5, "sleep"), (7, "err"), (9, "exit=1")] {
        world.tell(number, script);
    }
    let (types, codes) = world.types();
    assert_eq!(types, ["t0", "t2", "t4", "t6", "t8"]);
    assert_eq!(
        codes,
        ["plugin-timed-out", "plugin-crashed", "plugin-timed-out", "hook-failed", "plugin-crashed"]
    );
}

#[test]
fn a_broken_library_takes_nothing_with_it_either() {
    let mut world = World::new();
    world.install_actor(1, "type=one");
    world.install_actor(2, "type=two");
    let shown = world.json(&["plugins", "show", "actor-01"]);
    fs::remove_file(shown["plugin"]["path"].as_str().unwrap()).unwrap();
    assert_eq!(world.types(), (names(&["two"]), names(&["plugin-broken"])));
    let before = tree(&world.root());
    let list = world.run(&["plugins", "list"]);
    assert_eq!(list.code, 0);
    insta::assert_snapshot!(list);
    assert_eq!(tree(&world.root()), before);
}
