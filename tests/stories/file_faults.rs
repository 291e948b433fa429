//! The disk is full, a folder may not be written to, or replio is killed: at
//! every step of every command that changes something. There is the old state
//! or the new one, and no repair by hand.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use replio_tests::{Change, World, survives_faults_at_every_step, text};

/// A change of one plugin, with another one installed to make the next change of.
fn of_plugins<'a>(arguments: &'a [&'a str]) -> Change<'a> {
    let next = &["plugins", "disable", "actor-09"];
    Change { arguments, next, undoes_itself: false, all_kinds: false }
}

fn of_entries<'a>(arguments: &'a [&'a str]) -> Change<'a> {
    let next = if arguments[0] == "skill" { &["skill", "new", "next"] } else { &["type", "new", "next"] };
    Change { arguments, next, undoes_itself: false, all_kinds: false }
}

/// `actor-09` is installed, and `actor-01` has one type.
fn world_with_another_plugin() -> World {
    let mut world = World::new();
    world.install_actor(9, "type=other");
    world.tell(1, "type=a skills:skill=b");
    world
}

#[test]
fn an_install() {
    let world = world_with_another_plugin();
    let source = world.actor(1);
    let arguments = ["plugins", "install", text(&source)];
    survives_faults_at_every_step(&world, &Change { all_kinds: true, ..of_plugins(&arguments) });
}

#[test]
fn the_first_install() {
    let mut world = World::new();
    world.tell(1, "type=a");
    let source = world.actor(1);
    for scope in [&[][..], &["--global"]] {
        let arguments = [&["plugins", "install", text(&source)], scope].concat();
        let next = ["plugins", "disable", "actor-01"];
        let change = Change { next: &next, ..of_plugins(&arguments) };
        survives_faults_at_every_step(&world, &change);
    }
}

#[test]
fn a_repair_of_a_library_in_the_store() {
    let mut world = world_with_another_plugin();
    let source = world.install_actor(1, "type=a");
    let library = world.json(&["plugins", "show", "actor-01"])["plugin"]["path"].clone();
    let library = std::path::PathBuf::from(library.as_str().unwrap());
    let [install, update] = [["plugins", "install", text(&source)], ["plugins", "update", "actor-01"]];
    fs::set_permissions(&library, fs::Permissions::from_mode(0o644)).unwrap();
    fs::write(&library, "damaged").unwrap();
    fs::write(library.with_file_name("other"), "beside it").unwrap();
    survives_faults_at_every_step(&world, &of_plugins(&install));
    fs::remove_dir_all(library.parent().unwrap()).unwrap();
    survives_faults_at_every_step(&world, &of_plugins(&update));
}

#[test]
fn an_update() {
    let mut world = world_with_another_plugin();
    world.install_actor(1, "type=a");
    let [two, three] = ["2.0.0", "3.0.0"].map(|version| world.actor_version(1, version));
    let arguments = ["plugins", "update", "actor-01", "--from", text(&two)];
    survives_faults_at_every_step(&world, &Change { all_kinds: true, ..of_plugins(&arguments) });
    world.ok(&arguments);
    // With a build before the last one, which goes.
    let arguments = ["plugins", "update", "actor-01", "--from", text(&three)];
    survives_faults_at_every_step(&world, &of_plugins(&arguments));
}

#[test]
fn switching_a_plugin() {
    let mut world = world_with_another_plugin();
    world.install_actor(1, "type=a");
    world.ok(&["plugins", "update", "actor-01", "--from", text(&world.actor_version(1, "2.0.0"))]);
    let rollback = ["plugins", "rollback", "actor-01"];
    survives_faults_at_every_step(&world, &Change { undoes_itself: true, ..of_plugins(&rollback) });
    let (disable, enable) = (["plugins", "disable", "actor-01"], ["plugins", "enable", "actor-01"]);
    survives_faults_at_every_step(&world, &of_plugins(&disable));
    world.ok(&disable);
    survives_faults_at_every_step(&world, &of_plugins(&enable));
}

#[test]
fn an_uninstall() {
    let mut world = world_with_another_plugin();
    world.install_actor(1, "type=a");
    world.ok(&["plugins", "update", "actor-01", "--from", text(&world.actor_version(1, "2.0.0"))]);
    survives_faults_at_every_step(&world, &of_plugins(&["plugins", "uninstall", "actor-01"]));
}

#[test]
fn an_edit_that_keeps_trust_never_leaves_a_file_that_lost_it() {
    let prepared = World::new();
    let edit = ["type", "new", "writer", "--allow", "bash"];
    let mut steps = 0;
    for step in 1.. {
        let world = prepared.copied();
        let mut command = world.command(&edit);
        let output = command.env("REPLIO_TEST_FILE_FAULT", format!("{step}:kill")).output().unwrap();
        let list = world.json(&["type", "list"]);
        assert!(list["warnings"].is_null(), "step {step}: {list}");
        world.ok(&edit);
        if output.status.success() {
            break;
        }
        steps = step;
    }
    assert!(steps > 4, "the files of both folders are written in {steps} steps");
}

#[test]
fn an_agent_type() {
    let world = World::new();
    let new = ["type", "new", "auditor", "You audit.", "--tag", "review"];
    survives_faults_at_every_step(&world, &of_entries(&new));
    survives_faults_at_every_step(&world, &of_entries(&[&new[..], &["--global"]].concat()));
    world.ok(&["type", "new", "auditor", "You did audit."]);
    survives_faults_at_every_step(&world, &of_entries(&new));
    survives_faults_at_every_step(&world, &of_entries(&["type", "remove", "auditor"]));
    // A file that is kept elsewhere, and that only its owner may read.
    let kept = world.project().join("kept/ours.json");
    world.write(&kept, fs::read(world.local().join("types.json")).unwrap());
    fs::set_permissions(&kept, fs::Permissions::from_mode(0o600)).unwrap();
    fs::remove_file(world.local().join("types.json")).unwrap();
    symlink("../kept/ours.json", world.local().join("types.json")).unwrap();
    survives_faults_at_every_step(&world, &of_entries(&new));
}

#[test]
fn a_skill() {
    let world = World::new();
    let notes = world.path("notes.md");
    world.write(&notes, "# Notes\n\nTake notes.\n");
    let new = ["skill", "new", "notes", "--from", text(&notes)];
    survives_faults_at_every_step(&world, &of_entries(&new));
    world.ok(&new);
    survives_faults_at_every_step(&world, &of_entries(&["skill", "remove", "notes"]));
}

#[test]
fn notes_of_what_was_checked_cost_no_command_anything() {
    let mut world = World::new();
    world.install_actor(1, "type=a");
    // Nothing is noted of a file that was changed a moment ago.
    std::thread::sleep(std::time::Duration::from_millis(2100));
    let (cache, steps) = (world.global().join("cache"), world.path("steps"));
    let run = |what: &str| {
        for path in [&cache, &steps] {
            let _ = fs::remove_dir_all(path).or_else(|_| fs::remove_file(path));
        }
        let mut list = world.command(&["type", "list", "--json"]);
        list.env("REPLIO_TEST_FILE_FAULT", what).env("REPLIO_TEST_FILE_STEPS", &steps);
        (list.output().unwrap(), fs::read_to_string(&steps).unwrap_or_default().lines().count())
    };
    for what in ["kill", "kill-after", "half", "full", "denied+", "read-only+", "io"] {
        for step in 1.. {
            let (output, steps) = run(&format!("{step}:{what}"));
            if steps < step {
                assert!(step > 5, "the notes are written in {steps} steps");
                break;
            }
            let was_killed = what.starts_with("kill") || what == "half";
            assert_eq!(
                output.status.code(),
                if was_killed { None } else { Some(0) },
                "{what} {step}: {output:?}"
            );
            assert_eq!(world.types(), (vec!["a".into()], vec![]), "{what} {step}");
        }
    }
    // The next note clears up what a killed process left.
    run("4:kill");
    assert_eq!(fs::read_dir(&cache).unwrap().count(), 1);
    world.types();
    let names: Vec<_> = fs::read_dir(&cache).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["checked-files.json"]);
}

#[test]
fn trusting_what_a_project_brings() {
    let mut world = world_with_another_plugin();
    world.install_actor(1, "type=a");
    world.write(&world.local().join("types.json"), r#"{"writer": {"tool_permission": {"bash": "allow"}}}"#);
    world.become_user("newcomer");
    survives_faults_at_every_step(&world, &of_plugins(&["trust", "--yes"]));
    survives_faults_at_every_step(&world, &of_plugins(&["plugins", "trust", "actor-01"]));
    world.ok(&["trust", "--yes"]);
    survives_faults_at_every_step(&world, &of_plugins(&["trust", "remove", "actor-01"]));
    survives_faults_at_every_step(&world, &of_plugins(&["trust", "remove"]));
}

#[test]
fn trusting_and_revoking_a_key() {
    const KEY: &str = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
    let world = world_with_another_plugin();
    let (trust, revoke) = (["plugins", "keys", "trust", KEY], ["plugins", "keys", "revoke", KEY]);
    survives_faults_at_every_step(&world, &of_plugins(&trust));
    world.ok(&trust);
    survives_faults_at_every_step(&world, &of_plugins(&revoke));
}

#[test]
fn a_plugin_that_crashes_is_set_aside_or_will_be() {
    let mut world = world_with_another_plugin();
    world.install_actor(1, "type=a");
    world.tell(1, "abort");
    let steps = world.path("steps");
    for what in ["kill", "kill-after", "full+", "denied"] {
        for step in 1.. {
            let _ = fs::remove_file(&steps);
            let place = world.copied();
            let mut list = place.command(&["type", "list", "--json"]);
            list.env("REPLIO_TEST_FILE_FAULT", format!("{step}:{what}"));
            let output = list.env("REPLIO_TEST_FILE_STEPS", &steps).output().unwrap();
            if !what.starts_with("kill") {
                assert_eq!(output.status.code(), Some(0), "{what} at {step}: {output:?}");
                let said = String::from_utf8_lossy(&output.stdout);
                assert!(
                    said.contains("\"other\"") && said.contains("plugin-crashed"),
                    "{what} at {step}: {said}"
                );
            }
            let (types, codes) = place.types();
            assert_eq!(types, ["other"], "{what} at {step}");
            assert!(
                codes == ["plugin-crashed"] || codes == ["plugin-quarantined"],
                "{what} at {step}: {codes:?}"
            );
            assert_eq!(place.standing()[0], "actor-01 local quarantined", "{what} at {step}");
            if fs::read_to_string(&steps).map_or(0, |steps| steps.lines().count()) < step {
                break;
            }
        }
    }
}
