//! A plugin is for one project or for all; two of them may get in each other's way.

use std::fs;

use replio_tests::{World, text, tree};

#[test]
fn a_local_plugin_is_used_instead_of_the_global_one_of_its_name() {
    let mut world = World::new();
    world.tell(1, "1:type=old 2:type=new");
    let (one, two) = (world.actor(1), world.actor_version(1, "2.0.0"));
    let mut story = vec![
        world.run(&["plugins", "install", text(&one), "--global"]),
        world.run(&["plugins", "install", text(&two)]),
        world.run(&["plugins", "list"]),
    ];
    assert_eq!(world.types().0, ["new"]);
    story.push(world.run(&["plugins", "disable", "actor-01"]));
    assert_eq!(world.types().0, ["old"]);
    story.extend([
        world.run(&["plugins", "enable", "actor-01"]),
        world.run(&["plugins", "disable", "actor-01", "--global"]),
        world.run(&["plugins", "enable", "actor-01", "--global"]),
        world.run(&["plugins", "show", "actor-01", "--global"]),
        world.run(&["plugins", "uninstall", "actor-01", "--local"]),
        world.run(&["plugins", "list"]),
    ]);
    assert_eq!(world.types().0, ["old"]);
    insta::assert_snapshot!(story.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_global_plugin_is_there_in_every_project_and_at_home() {
    let mut world = World::new();
    world.tell(1, "type=a");
    world.ok(&["plugins", "install", text(&world.actor(1)), "--global"]);
    assert!(!world.local().exists(), "the project has nothing of it");
    let list = |arguments: &[&str]| {
        world.json(&[&["plugins", "list"], arguments].concat())["plugins"][0]["name"].clone()
    };
    assert_eq!(list(&[]), "actor-01");
    assert_eq!(list(&["--path", text(&world.home())]), "actor-01");
    let other = world.path("other");
    fs::create_dir(&other).unwrap();
    assert_eq!(list(&["--path", text(&other)]), "actor-01");
}

#[test]
fn at_home_a_plugin_can_only_be_global() {
    let mut world = World::new();
    world.tell(1, "type=a");
    let library = world.actor(1);
    let home = world.home();
    let local = world.run(&["plugins", "install", text(&library), "--path", text(&home)]);
    assert_eq!(local.code, 1);
    insta::assert_snapshot!(local);
    assert!(!home.join(".replio").exists());
    world.ok(&["plugins", "install", text(&library), "--path", text(&home), "--global"]);
}

#[test]
fn a_name_that_two_plugins_bring_is_refused_in_either_order() {
    for (first, second) in [(1, 2), (2, 1)] {
        let mut world = World::new();
        world.tell(1, "type=shared type=writer");
        world.tell(2, "type=writer type=shared");
        world.ok(&["plugins", "install", text(&world.actor(first))]);
        let before = tree(&world.local());
        for arguments in [&[][..], &["--dry-run"], &["--global"]] {
            let error =
                world.error(&[&["plugins", "install", text(&world.actor(second))], arguments].concat());
            assert_eq!(error["code"], "plugin-collision");
            assert_eq!(
                error["message"],
                format!(
                    "plugin actor-0{second} brings the agent type shared, which plugin actor-0{first} brings too"
                )
            );
            assert!(
                error["help"].as_str().unwrap().contains(&format!("plugins disable actor-0{first}")),
                "{error}"
            );
        }
        assert_eq!(tree(&world.local()), before);
        // What the help says makes room, and then the other can't come back.
        world.ok(&["plugins", "disable", &format!("actor-0{first}")]);
        world.ok(&["plugins", "install", text(&world.actor(second))]);
        let back = world.error(&["plugins", "enable", &format!("actor-0{first}")]);
        assert_eq!(back["code"], "plugin-collision");
        // Entries of the bundled catalog may be overridden by both.
        world.tell(1, "type=writer:bash=deny");
        world.tell(2, "type=writer:web=deny");
        world.ok(&["plugins", "enable", &format!("actor-0{second}")]);
        world.ok(&["plugins", "enable", &format!("actor-0{first}")]);
    }
}

#[test]
fn the_same_skill_or_team_of_two_plugins_is_refused_as_a_type_is() {
    for script in ["skills:skill=shared", "teams:team=shared"] {
        let mut world = World::new();
        world.install_actor(1, script);
        world.tell(2, script);
        let error = world.error(&["plugins", "install", text(&world.actor(2))]);
        assert_eq!(error["code"], "plugin-collision", "{script}: {error}");
    }
}

#[test]
fn a_collision_that_comes_up_later_is_told_and_both_stay_reachable() {
    let mut world = World::new();
    world.install_actor(1, "type=a");
    world.install_actor(2, "type=b");
    world.tell(2, "type=a");
    let list = world.run(&["type", "list"]);
    assert_eq!(list.code, 0);
    insta::assert_snapshot!(list.stderr);
    for plugin in ["actor-01", "actor-02"] {
        let shown = world.json(&["type", "show", &format!("{plugin}/a")]);
        assert_eq!(shown["plugin"], plugin, "{shown}");
    }
}
