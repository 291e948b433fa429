//! Plugins are switched off and on, taken out, and tried without a change.

use std::fs;

use replio_tests::{World, text, tree};

#[test]
fn a_plugin_that_is_switched_off_brings_nothing_until_it_is_on_again() {
    let mut world = World::new();
    world.install_actor(1, "type=a:bash=ask skills:skill=s");
    let story = [
        world.run(&["plugins", "disable", "actor-01"]),
        world.run(&["plugins", "disable", "actor-01"]),
        world.run(&["plugins", "list"]),
        world.run(&["type", "show", "a"]),
        world.run(&["plugins", "enable", "actor-01"]),
        world.run(&["plugins", "enable", "actor-01"]),
    ];
    insta::assert_snapshot!(story.map(|ran| ran.to_string()).join("\n"));
    assert_eq!(world.types().0, ["a"]);
}

#[test]
fn no_plugins_leaves_them_out_and_says_nothing_of_them() {
    if !World::can_be_on_an_old_kernel() {
        return;
    }
    // Where there is a jail, a plugin can't leave a mark of having run.
    let mut world = World::new().on_an_old_kernel();
    let opened = world.path("opened");
    world.install_actor(1, "type=a");
    world.tell(1, &format!("open:marker={} type=a", text(&opened)));
    world.ok(&["--no-plugins", "type", "list"]);
    world.set("REPLIO_NO_PLUGINS", "1");
    assert_eq!(world.types(), (vec![], vec![]));
    assert!(!opened.exists());
    world.set("REPLIO_NO_PLUGINS", "0");
    assert_eq!(world.types().0, ["a"]);
    assert!(opened.exists(), "it would have left its mark");
}

#[test]
fn uninstall_takes_all_of_it_and_leaves_what_is_the_users_own() {
    let mut world = World::new();
    world.install_actor(1, "type=a type=b type=writer skills:skill=s teams:team=t");
    world.ok(&["plugins", "update", "actor-01", "--from", text(&world.actor_version(1, "2.0.0"))]);
    world.write(
        &world.local().join("types.json"),
        r#"{"a": {"tags": ["mine"]}, "writer": {"tags": ["mine"]}}"#,
    );
    world.write(&world.global().join("skills/s.md"), "# mine\n");
    let story = [
        world.run(&["plugins", "uninstall", "actor-01", "--dry-run"]),
        world.run(&["plugins", "uninstall", "actor-01"]),
        world.run(&["plugins", "uninstall", "actor-01"]),
        world.run(&["plugins", "list"]),
    ];
    insta::assert_snapshot!(story.map(|ran| ran.to_string()).join("\n"));
    assert_eq!(fs::read_dir(world.local().join("plugins/store")).unwrap().count(), 0);
    assert_eq!(world.types().0, ["a", "writer"]);
}

#[test]
fn a_dry_run_changes_nothing_at_all() {
    let mut world = World::new();
    let library = world.actor(1);
    let other = world.actor_version(1, "2.0.0");
    world.tell(1, "type=a");
    let before = tree(&world.root());
    world.ok(&["plugins", "install", text(&library), "--dry-run"]);
    world.ok(&["plugins", "install", text(&library), "--dry-run", "--global"]);
    assert_eq!(tree(&world.root()), before);
    world.ok(&["plugins", "install", text(&library)]);
    let before = tree(&world.root());
    world.tell(1, "type=b");
    world.ok(&["plugins", "install", text(&library), "--dry-run"]);
    world.ok(&["plugins", "update", "--dry-run"]);
    world.ok(&["plugins", "update", "actor-01", "--from", text(&other), "--dry-run"]);
    world.ok(&["plugins", "uninstall", "actor-01", "--dry-run"]);
    assert_eq!(tree(&world.root()), before);
}

#[test]
fn a_name_that_is_not_installed_is_told_with_the_nearest() {
    let mut world = World::new();
    world.install_actor(1, "");
    let before = tree(&world.root());
    let story = [
        world.run(&["plugins", "show", "actor-1"]),
        world.run(&["plugins", "update", "actor1"]),
        world.run(&["plugins", "uninstall", "actor-01", "--global"]),
        world.run(&["plugins", "disable", "something-else"]),
        world.run(&["plugins", "uninstall", "../../x"]),
        world.run(&["plugins", "uninstall", "\u{1b}[2J"]),
        world.run(&["plugins", "uninstall", ""]),
    ];
    assert!(story.iter().all(|ran| ran.code == 1));
    insta::assert_snapshot!(story.map(|ran| ran.to_string()).join("\n"));
    assert_eq!(tree(&world.root()), before);
}

#[test]
fn a_digest_that_was_asked_for_must_be_the_files() {
    let mut world = World::new();
    world.tell(1, "");
    let library = world.actor(1);
    let digest =
        world.json(&["plugins", "inspect", text(&library)])["plugin"]["sha256"].as_str().unwrap().to_owned();
    let wrong = "0123456789abcdef".repeat(4);
    let error = world.error(&["plugins", "install", text(&library), "--sha256", &wrong]);
    assert_eq!(error["code"], "digest-mismatch");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("[sha256]") && error["plugin"] == "actor-01", "{error}");
    assert!(!world.local().exists());
    let no_digest = world.run(&["plugins", "install", text(&library), "--sha256", "3f1c"]);
    assert_eq!(no_digest.code, 2, "{no_digest}");
    world.ok(&["plugins", "install", text(&library), "--sha256", &digest.to_uppercase()]);
    // Already installed, and yet not what was asked for.
    let error = world.error(&["plugins", "install", text(&library), "--sha256", &wrong]);
    assert_eq!(error["code"], "digest-mismatch");
}

#[test]
fn wrong_usage_is_told_apart_from_what_could_not_be_done() {
    let world = World::new();
    for arguments in [
        &["plugins", "install"][..],
        &["plugins", "instal", "x"],
        &["plugins", "update", "--from", "x.so"],
        &["plugins", "update", "a", "b", "--from", "x.so"],
        &["plugins", "show"],
        &["plugins", "show", "a", "--global", "--local"],
        &["plugins", "list", "--nonsense"],
    ] {
        let ran = world.run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran}");
        let ran = world.run(&[arguments, &["--json"]].concat());
        let document: serde_json::Value =
            serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran}"));
        assert_eq!((ran.code, &document["error"]["code"]), (2, &"usage".into()), "{ran}");
    }
}
