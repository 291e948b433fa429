//! An operator installs a plugin, looks at it, and takes it out again.

use replio_tests::{Plugin, World};

fn audit() -> Plugin {
    Plugin::with_hooks(
        "audit",
        r#"registry.add_plugin(AgentType::new("auditor").system_prompt("You audit.").skill("checklist").tag("review").deny("edit"))"#,
        r##"registry.add_plugin(Skill::new("checklist", "# Checklist\n\nCheck twice."))"##,
        r#"registry.add_plugin(Team::new("audit").stage("planner").stage("auditor"))"#,
    )
}

#[test]
fn install_list_reinstall_and_uninstall() {
    let world = World::new();
    let library = audit().build();
    let library = library.to_str().unwrap();
    let story = [
        world.run(&["plugins"]),
        world.run(&["plugins", "install", library, "--dry-run"]),
        world.run(&["plugins", "install", library]),
        world.run(&["plugins", "list"]),
        world.run(&["plugins", "install", library]),
        world.run(&["plugins", "verify"]),
        world.run(&["plugins", "uninstall", "audit"]),
        world.run(&["plugins", "list"]),
    ];
    insta::assert_snapshot!(story.map(|ran| ran.to_string()).join("\n"));
    assert_eq!(std::fs::read_dir(world.local().join("plugins/store")).unwrap().count(), 0);
}
