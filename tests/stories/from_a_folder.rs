//! A plugin is installed from the folder of its crate, which cargo builds.

use std::fs;

use replio_tests::{Plugin, World, text, tree};

fn crate_in(world: &World, name: &str, plugin: &Plugin) -> String {
    let folder = world.path(name);
    plugin.write_to(&folder);
    text(&folder).to_owned()
}

/// A world in which cargo builds beside the other fixtures.
fn world() -> World {
    World::new().with_shared_builds()
}

#[test]
fn a_crate_is_built_installed_and_updated_from_its_folder() {
    let world = world();
    let plugin = Plugin::with_hooks(
        "from-folder",
        r#"registry.add_plugin(AgentType::new("built").system_prompt("x"))"#,
        "",
        "",
    );
    let folder = crate_in(&world, "project/from-folder", &plugin);
    let ran = world.run(&["plugins", "install", &folder]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(
        ran.stderr.contains("building from-folder 1.0.0 with cargo; build scripts run with your rights"),
        "{ran}"
    );
    assert_eq!(world.types().0, ["built"]);
    assert_eq!(world.json(&["plugins", "show", "from-folder"])["plugin"]["source"], "./from-folder");
    assert!(world.run(&["plugins", "update"]).stdout.contains("is up to date"));
    plugin.clone().version("1.1.0").write_to(&world.project().join("from-folder"));
    let ran = world.run(&["plugins", "update"]);
    assert!(ran.code == 0 && ran.stdout.contains("1.0.0 -> 1.1.0"), "{ran}");
    let quiet = world.run(&["plugins", "update", "--quiet"]);
    assert!(quiet.stderr.is_empty(), "{quiet}");
    world.json(&["plugins", "update"]);

    // It no longer builds: the one that works stays, and cargo's words are told.
    let before = tree(&world.local());
    fs::write(world.project().join("from-folder/src/lib.rs"), "fn main() { 1 + }\n").unwrap();
    let failed = world.run(&["plugins", "update", "from-folder"]);
    assert_eq!(failed.code, 1);
    insta::assert_snapshot!(failed);
    assert_eq!(tree(&world.local()), before);
    assert_eq!(world.types().0, ["built"]);
}

#[test]
fn a_folder_that_is_no_plugins_crate_says_what_is_missing() {
    let world = world();
    let story = |name: &str, files: &[(&str, &str)]| {
        for (file, content) in files {
            world.write(&world.path(name).join(file), content);
        }
        let ran = world.run(&["plugins", "install", text(&world.path(name))]);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran}");
        format!("{ran}\n")
    };
    let package = "[package]\nname = \"thing\"\nversion = \"1.0.0\"\nedition = \"2021\"\n[workspace]\n";
    let cdylib = format!("{package}[lib]\ncrate-type = [\"cdylib\"]\n");
    insta::assert_snapshot!(
        [
            story("no-crate", &[("README.md", "hello")]),
            story("workspace", &[("Cargo.toml", "[workspace]\nmembers = []\n")]),
            story("program", &[("Cargo.toml", package), ("src/main.rs", "fn main() {}\n")]),
            story("rust-library", &[("Cargo.toml", package), ("src/lib.rs", "")]),
            story("no-plugin", &[("Cargo.toml", &cdylib), ("src/lib.rs", "")]),
            story("no-toml", &[("Cargo.toml", "[package\n")]),
        ]
        .concat()
    );
    assert_eq!(world.standing(), Vec::<String>::new());
}

#[test]
fn without_cargo_a_folder_cannot_be_built_and_a_library_still_be_installed() {
    let mut world = world();
    world.tell(1, "");
    let library = world.actor(1);
    let folder = crate_in(&world, "crate", &Plugin::with_hooks("from-folder", "", "", ""));
    world.set("PATH", "/nonexistent");
    let ran = world.run(&["plugins", "install", &folder]);
    assert_eq!(ran.code, 1);
    insta::assert_snapshot!(ran);
    world.ok(&["plugins", "install", text(&library)]);
}
