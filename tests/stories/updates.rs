//! A plugin is replaced by another build of it, and what was there works until
//! the new one does.

use std::fs;
use std::os::unix::fs::symlink;

use replio_tests::{Plugin, World, text, tree};

/// The installed version and digest.
fn build(world: &World, name: &str) -> (String, String) {
    let plugin = &world.json(&["plugins", "show", name])["plugin"];
    let word = |key: &str| plugin[key].as_str().unwrap().to_owned();
    (word("version"), word("sha256"))
}

#[test]
fn update_replaces_what_is_installed_and_rollback_goes_back() {
    let mut world = World::new();
    let one = world.install_actor(
        1,
        "1:type=old 2:type=new type=both 1:skills:skill=x 1:skills:skill=s 2:skills:skill=s",
    );
    let two = world.actor_version(1, "2.0.0");
    let mut story = vec![
        world.run(&["plugins", "install", text(&two)]),
        world.run(&["plugins", "update"]),
        world.run(&["plugins", "update", "actor-01", "--from", text(&two), "--dry-run"]),
        world.run(&["plugins", "update", "actor-01", "--from", text(&two)]),
        world.run(&["plugins", "update", "actor-01"]),
        world.run(&["plugins", "update", "actor-01", "--from", text(&one)]),
        world.run(&["plugins", "rollback", "actor-01"]),
    ];
    assert_eq!(world.types().0, ["both", "old"]);
    story.extend([
        world.run(&["plugins", "rollback", "actor-01"]),
        world.run(&["plugins", "update", "actor-01", "--from", text(&one), "--allow-downgrade"]),
        world.run(&["plugins", "update", "actor-01", "--from", text(&two)]),
        world.run(&["plugins", "show", "actor-01"]),
        world.run(&["plugins", "verify"]),
    ]);
    insta::assert_snapshot!(story.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"));
    assert_eq!(fs::read_dir(world.local().join("plugins/store")).unwrap().count(), 2, "two builds are kept");
    assert_eq!(world.types().0, ["both", "new"]);
}

#[test]
fn the_same_version_with_other_bytes_is_a_reinstall() {
    let mut world = World::new();
    let library = world.install_actor(1, "type=a");
    let (_, first) = build(&world, "actor-01");
    let other = world.other_build(&library);
    let refused = world.error(&["plugins", "install", text(&other)]);
    assert_eq!(refused["code"], "already-installed");
    assert!(refused["help"].as_str().unwrap().contains("plugins update actor-01 --from"), "{refused}");
    let ran = world.ok(&["plugins", "update", "actor-01", "--from", text(&other)]);
    assert!(ran.stdout.contains("same version, other content"), "{ran}");
    let (version, second) = build(&world, "actor-01");
    assert_eq!(version, "1.0.0");
    assert_ne!(first, second);
    world.ok(&["plugins", "verify", "actor-01"]);
    // And where the file that it came from was built again.
    fs::copy(&library, &other).unwrap();
    world.ok(&["plugins", "update"]);
    assert_eq!(build(&world, "actor-01").1, first);
}

#[test]
fn an_update_that_fails_leaves_the_old_one_as_it_was() {
    let mut world = World::new().environment("REPLIO_TEST_PLUGIN_MILLISECONDS", "1500");
    world.install_actor(1, "type=a");
    world.install_actor(9, "type=taken");
    let two = world.actor_version(1, "2.0.0");
    let good = fs::read(&two).unwrap();
    let before = tree(&world.local());
    for (script, code) in [
        ("type=a 2:err", "hook-failed"),
        ("type=a 2:panic", "hook-panicked"),
        ("type=a 2:abort", "plugin-crashed"),
        ("type=a 2:loop", "plugin-timed-out"),
        ("type=a 2:exit=0", "plugin-crashed"),
        ("type=a 2:open:exit=0", "plugin-crashed"),
        ("type=a 2:types=10001", "hook-failed"),
        ("type=a 2:write=00", "plugin-lied"),
        ("type=a 2:type=taken", "plugin-collision"),
    ] {
        world.tell(1, script);
        for dry_run in [&["--dry-run"][..], &[]] {
            let error =
                world.error(&[&["plugins", "update", "actor-01", "--from", text(&two)], dry_run].concat());
            assert_eq!(error["code"], code, "{script}: {error}");
            assert_eq!(error["plugin"], "actor-01", "{script}: {error}");
        }
        assert_eq!(tree(&world.local()), before, "{script}");
        assert_eq!(world.types(), (vec!["a".into(), "taken".into()], vec![]), "{script}");
    }
    world.tell(1, "type=a");
    fs::write(&two, &good[..good.len() / 2]).unwrap();
    assert_eq!(
        world.error(&["plugins", "update", "actor-01", "--from", text(&two)])["code"],
        "not-a-library"
    );
    assert_eq!(tree(&world.local()), before);
    fs::write(&two, &good).unwrap();
    world.ok(&["plugins", "update", "actor-01", "--from", text(&two)]);
}

#[test]
fn a_source_that_moved_or_became_another_plugin_is_told() {
    let mut world = World::new();
    let library = world.install_actor(1, "type=a");
    let before = tree(&world.local());
    fs::rename(&library, world.path("moved.so")).unwrap();
    let gone = world.run(&["plugins", "update", "actor-01"]);
    fs::copy(world.actor(2), &library).unwrap();
    let other = world.run(&["plugins", "update", "actor-01"]);
    assert_eq!((gone.code, other.code), (1, 1));
    insta::assert_snapshot!(format!("{gone}\n{other}"));
    assert_eq!(tree(&world.local()), before);
    assert_eq!(world.types().0, ["a"]);

    // From its new place, which is recorded although the bytes are the same.
    world.ok(&["plugins", "update", "actor-01", "--from", text(&world.path("moved.so"))]);
    let shown = world.json(&["plugins", "show", "actor-01"]);
    assert_eq!(shown["plugin"]["source"], text(&world.path("moved.so")));
    assert!(world.ok(&["plugins", "update", "actor-01"]).stdout.contains("is up to date"));
    world.ok(&["plugins", "verify"]);
}

#[test]
fn bytes_that_the_store_has_stay_where_they_are_there() {
    let mut world = World::new();
    let one = world.install_actor(1, "type=a");
    let path = |world: &World| world.json(&["plugins", "show", "actor-01"])["plugin"]["path"].clone();
    let first = path(&world);
    let renamed = world.copy(&one, "renamed.so");
    let again = world.ok(&["plugins", "install", text(&renamed)]);
    assert!(again.stdout.contains("already installed, with the same content"), "{again}");
    world.ok(&["plugins", "update", "actor-01", "--from", text(&renamed)]);
    assert_eq!(path(&world), first);
    world.ok(&["plugins", "update", "actor-01", "--from", text(&world.actor_version(1, "2.0.0"))]);
    world.ok(&["plugins", "update", "actor-01", "--from", text(&renamed), "--allow-downgrade"]);
    assert_eq!(path(&world), first);
    world.ok(&["plugins", "verify"]);
    assert_eq!(world.types().0, ["a"]);
}

#[test]
fn a_link_is_followed_to_where_it_leads_by_then() {
    let mut world = World::new();
    world.tell(1, "type=a");
    let link = world.path("current.so");
    symlink(world.actor(1), &link).unwrap();
    world.ok(&["plugins", "install", text(&link)]);
    fs::remove_file(&link).unwrap();
    symlink(world.actor_version(1, "2.0.0"), &link).unwrap();
    world.ok(&["plugins", "update", "actor-01"]);
    assert_eq!(build(&world, "actor-01").0, "2.0.0");
}

#[test]
fn several_are_updated_as_far_as_they_can_be() {
    let mut world = World::new();
    for number in 1..=4 {
        world.install_actor(number, &format!("type=t{number}"));
    }
    let source = |number: usize| world.path(&format!("v1.0.0/libactor_0{number}.so"));
    fs::copy(world.actor_version(1, "2.0.0"), source(1)).unwrap();
    fs::remove_file(source(2)).unwrap();
    fs::copy(world.actor_version(3, "2.0.0"), source(3)).unwrap();
    world.tell(3, "type=t3 2:panic");
    let dry = world.run(&["plugins", "update", "--dry-run"]);
    let ran = world.run(&["plugins", "update"]);
    assert_eq!((dry.code, ran.code), (1, 1));
    insta::assert_snapshot!(format!("{dry}\n{ran}"));
    let document = world.json(&["plugins", "update", "actor-01", "actor-02"]);
    let results = document["results"].as_array().unwrap();
    assert_eq!(results[0]["plugin"]["version"], "2.0.0");
    assert_eq!(
        (&results[1]["name"], &results[1]["error"]["code"]),
        (&"actor-02".into(), &"source-missing".into())
    );
    let nobody = world.run(&["plugins", "update", "actor-01", "actor-05"]);
    assert_eq!(nobody.code, 1, "{nobody}");
    let usage = world.run(&["plugins", "update", "--from", "x.so"]);
    assert!(usage.code != 0 && usage.stderr.contains("NAME"), "{usage}");
}

#[test]
fn a_disabled_plugin_stays_disabled_through_an_update_and_a_rollback() {
    let mut world = World::new();
    world.install_actor(1, "type=a");
    world.ok(&["plugins", "disable", "actor-01"]);
    world.ok(&["plugins", "update", "actor-01", "--from", text(&world.actor_version(1, "2.0.0"))]);
    assert_eq!(world.standing(), ["actor-01 local disabled"]);
    world.ok(&["plugins", "rollback", "actor-01"]);
    assert_eq!(world.standing(), ["actor-01 local disabled"]);
    assert_eq!(build(&world, "actor-01").0, "1.0.0");
    world.ok(&["plugins", "enable", "actor-01"]);
    assert_eq!(world.types().0, ["a"]);
}

#[test]
fn there_is_nothing_to_roll_back_to_at_first() {
    let mut world = World::new();
    world.install_actor(1, "");
    let refused = world.run(&["plugins", "rollback", "actor-01"]);
    assert_eq!(refused.code, 1);
    insta::assert_snapshot!(refused);
}

#[test]
fn pre_release_versions_are_compared_as_semver_does() {
    let world = World::new();
    let build = |version: &str| Plugin::with_hooks("pre", "", "", "").version(version).build();
    world.ok(&["plugins", "install", text(&build("1.0.0-rc.1"))]);
    world.ok(&["plugins", "update", "pre", "--from", text(&build("1.0.0-rc.2"))]);
    let back = world.error(&["plugins", "update", "pre", "--from", text(&build("1.0.0-rc.1"))]);
    assert_eq!(back["code"], "downgrade");
}
