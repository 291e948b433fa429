//! Files are lost, damaged or changed by hand: what is left works, and what the
//! help line says mends the rest.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use replio_tests::{World, text, tree};
use serde_json::{Value, json};

fn lock(world: &World) -> PathBuf {
    world.local().join("plugins/plugins.lock")
}

fn library(world: &World, name: &str) -> PathBuf {
    world.json(&["plugins", "show", name])["plugin"]["path"].as_str().unwrap().into()
}

/// Changes the lock file's document.
fn edit(world: &World, change: impl FnOnce(&mut Value)) {
    let mut document: Value = serde_json::from_slice(&fs::read(lock(world)).unwrap()).unwrap();
    change(&mut document);
    fs::write(lock(world), format!("{document:#}\n")).unwrap();
}

/// A way to damage what a path leads to.
type Damage = fn(&PathBuf);

#[test]
fn a_damaged_library_is_told_and_mended_by_what_the_help_says() {
    let damages: [(&str, Damage); 8] = [
        ("deleted", |file| fs::remove_file(file).unwrap()),
        ("emptied", |file| fs::write(file, "").unwrap()),
        ("cut", |file| fs::write(file, &fs::read(file).unwrap()[..4000]).unwrap()),
        ("changed", |file| {
            let mut bytes = fs::read(file).unwrap();
            bytes[5000] ^= 1;
            fs::write(file, bytes).unwrap();
        }),
        ("replaced by a folder", |file| {
            fs::remove_file(file).unwrap();
            fs::create_dir_all(file.join("below")).unwrap();
        }),
        ("replaced by a link to nowhere", |file| {
            fs::remove_file(file).unwrap();
            symlink("nowhere", file).unwrap();
        }),
        ("gone with its folder", |file| fs::remove_dir_all(file.parent().unwrap()).unwrap()),
        ("replaced with its folder by a file", |file| {
            fs::remove_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file.parent().unwrap(), "x").unwrap();
        }),
    ];
    let mut story = String::new();
    for (what, damage) in damages {
        for mend in ["update", "install", "uninstall"] {
            let mut world = World::new();
            let source = world.install_actor(1, "type=a");
            let file = library(&world, "actor-01");
            if file.exists() {
                fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
            }
            damage(&file);
            let list = world.json(&["plugins", "list"]);
            assert_eq!(list["plugins"][0]["status"], "broken", "{what}: {list}");
            let verify = world.run(&["plugins", "verify"]);
            assert_eq!(verify.code, 1, "{what}: {verify}");
            assert_eq!(world.types(), (vec![], vec!["plugin-broken".to_owned()]), "{what}");
            assert_eq!(world.run(&["plugins", "enable", "actor-01"]).code, 1, "{what}");
            match mend {
                "update" => {
                    story += &format!("{what}\n{verify}\n");
                    let help = list["plugins"][0]["help"].as_str().unwrap();
                    assert!(help.contains("`replio plugins update actor-01`"), "{what}: {help}");
                    world.ok(&["plugins", "update", "actor-01"]);
                }
                "install" => drop(world.ok(&["plugins", "install", text(&source)])),
                _ => {
                    world.ok(&["plugins", "uninstall", "actor-01"]);
                    assert_eq!(
                        fs::read_dir(world.local().join("plugins/store")).unwrap().count(),
                        0,
                        "{what}"
                    );
                    continue;
                }
            }
            assert_eq!(world.types(), (vec!["a".to_owned()], vec![]), "{what}");
            world.ok(&["plugins", "verify"]);
            let mode = fs::metadata(library(&world, "actor-01")).unwrap().permissions().mode();
            assert_eq!(mode & 0o222, 0, "what is in the store is read-only");
        }
    }
    insta::assert_snapshot!(story);
}

#[test]
fn a_build_before_the_last_update_that_is_gone_is_forgotten_by_the_next_one() {
    let mut world = World::new();
    world.install_actor(1, "type=a");
    let first = library(&world, "actor-01");
    world.ok(&["plugins", "update", "actor-01", "--from", text(&world.actor_version(1, "2.0.0"))]);
    fs::remove_dir_all(first.parent().unwrap()).unwrap();
    assert_eq!(world.types(), (vec!["a".to_owned()], vec![]), "what is in use is whole");
    let story = [
        world.run(&["plugins", "verify", "actor-01"]),
        world.run(&["plugins", "rollback", "actor-01"]),
        world.run(&["plugins", "update", "actor-01"]),
        world.run(&["plugins", "verify"]),
        world.run(&["plugins", "rollback", "actor-01"]),
    ];
    insta::assert_snapshot!(story.map(|ran| ran.to_string()).join("\n"));
}

#[test]
fn a_record_that_cannot_be_read_costs_no_other_plugin() {
    let mut world = World::new();
    let one = world.install_actor(1, "type=one");
    world.install_actor(2, "type=two");
    let changes: [fn(&mut Value); 10] = [
        |record| record["file"] = "../../../etc/passwd".into(),
        |record| record["file"] = "/etc/passwd".into(),
        |record| record["sha256"] = "../../x".into(),
        |record| record["sha256"] = 7.into(),
        |record| record["version"] = "newest".into(),
        |record| record["enabled"] = "yes".into(),
        |record| record["provides"] = json!([]),
        |record| record["provides"]["types"] = json!({"../x": {}}),
        |record| drop(record.as_object_mut().unwrap().remove("source")),
        |record| *record = "gone".into(),
    ];
    let whole = fs::read(lock(&world)).unwrap();
    for (number, change) in changes.into_iter().enumerate() {
        fs::write(lock(&world), &whole).unwrap();
        edit(&world, |document| change(&mut document["plugins"]["actor-01"]));
        assert_eq!(world.standing(), ["actor-01 local broken", "actor-02 local enabled"], "{number}");
        assert_eq!(world.types(), (vec!["two".to_owned()], vec!["plugin-broken".to_owned()]), "{number}");
        for verb in ["show", "update", "enable", "disable", "rollback", "verify"] {
            let ran = world.run(&["plugins", verb, "actor-01"]);
            assert_eq!(ran.code, i32::from(verb != "show"), "{number}: {ran}");
            assert!(
                ran.stdout.contains("uninstall actor-01") || ran.stderr.contains("uninstall actor-01"),
                "{number}: {ran}"
            );
        }
        assert_eq!(world.error(&["plugins", "install", text(&one)])["code"], "plugin-broken", "{number}");
        // What the help says: uninstall, and install again.
        world.ok(&["plugins", "uninstall", "actor-01"]);
        world.ok(&["plugins", "install", text(&one)]);
        assert_eq!(world.standing(), ["actor-01 local enabled", "actor-02 local enabled"], "{number}");
    }
}

#[test]
fn a_list_of_plugins_that_cannot_be_read_is_never_written_over() {
    let mut world = World::new();
    world.install_actor(1, "type=a");
    let source = world.actor(2);
    let texts: [&[u8]; 10] = [
        b"",
        b"{",
        b"[]",
        b"not json",
        b"\xff\xfe",
        b"{}",
        b"{\"version\":1}",
        b"{\"version\":2,\"plugins\":{}}",
        b"{\"version\":1,\"plugins\":{\"../x\":{}}}",
        b"<<<<<<< HEAD\n{\"version\":1,\"plugins\":{}}\n=======\n",
    ];
    let mut story = String::new();
    for text_of_lock in texts {
        fs::write(lock(&world), text_of_lock).unwrap();
        let list = world.run(&["plugins", "list"]);
        assert_eq!(list.code, 0, "{list}");
        assert!(list.stderr.contains("plugins.lock"), "{list}");
        for arguments in [
            &["plugins", "install", text(&source)][..],
            &["plugins", "uninstall", "actor-01"],
            &["plugins", "update", "actor-01"],
            &["plugins", "disable", "actor-01"],
            &["plugins", "rollback", "actor-01"],
        ] {
            let ran = world.run(arguments);
            assert_eq!(ran.code, 1, "{ran}");
            assert!(ran.stderr.contains("plugins.lock"), "{ran}");
        }
        story += &format!("{}\n{}\n", String::from_utf8_lossy(text_of_lock).trim_end(), list.stderr);
        assert_eq!(fs::read(lock(&world)).unwrap(), text_of_lock);
        assert_eq!(world.types().0, Vec::<String>::new());
        // Another scope is not concerned.
        world.ok(&["--path", text(&world.home()), "plugins", "list"]);
    }
    insta::assert_snapshot!(story);
}

#[test]
fn a_list_of_plugins_that_is_no_file_is_told_as_such() {
    let mut world = World::new();
    let source = world.install_actor(1, "type=a");
    let make: [Damage; 3] = [
        |path| fs::create_dir(path).unwrap(),
        |path| symlink("plugins.lock", path).unwrap(),
        |path| assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success()),
    ];
    for (number, make) in make.into_iter().enumerate() {
        match fs::symlink_metadata(lock(&world)) {
            Ok(metadata) if metadata.is_dir() => fs::remove_dir(lock(&world)).unwrap(),
            _ => fs::remove_file(lock(&world)).unwrap(),
        }
        make(&lock(&world));
        let list = world.run(&["plugins", "list"]);
        assert_eq!(list.code, 0, "{number}: {list}");
        assert!(list.stderr.contains("plugins.lock"), "{number}: {list}");
        assert_eq!(
            world.error(&["plugins", "install", text(&source)])["code"],
            "lock-unreadable",
            "{number}"
        );
    }
}

#[test]
fn what_a_newer_replio_wrote_into_the_list_is_kept() {
    let mut world = World::new();
    world.install_actor(1, "type=a");
    edit(&world, |document| {
        document["registry"] = json!({"url": "x"});
        document["plugins"]["actor-01"]["signed_by"] = "someone".into();
    });
    world.ok(&["plugins", "disable", "actor-01"]);
    world.ok(&["plugins", "enable", "actor-01"]);
    world.install_actor(2, "type=b");
    world.ok(&["plugins", "update", "actor-01", "--from", text(&world.actor_version(1, "2.0.0"))]);
    edit(&world, |document| {
        assert_eq!(document["registry"]["url"], "x");
        assert_eq!(document["plugins"]["actor-01"]["signed_by"], "someone");
    });
}

#[test]
fn an_incompatible_plugin_in_the_list_is_told_and_can_be_taken_out() {
    let mut world = World::new();
    world.install_actor(1, "type=one");
    world.install_actor(2, "type=two");
    let whole = fs::read(lock(&world)).unwrap();
    let changes: [fn(&mut Value); 5] = [
        |record| record["abi"] = "2.0.0".into(),
        |record| record["needs"]["glibc"] = "2.99".into(),
        |record| record["needs"]["processors"] = json!(["sparc"]),
        |record| record["needs"]["system"] = "macOS".into(),
        |record| record["needs"]["replio"] = ">=99".into(),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        fs::write(lock(&world), &whole).unwrap();
        edit(&world, |document| change(&mut document["plugins"]["actor-01"]));
        assert_eq!(world.standing(), ["actor-01 local incompatible", "actor-02 local enabled"], "{number}");
        assert_eq!(
            world.types(),
            (vec!["two".to_owned()], vec!["plugin-incompatible".to_owned()]),
            "{number}"
        );
        let list = world.run(&["plugins", "list"]);
        assert!(list.stdout.contains("help: "), "{number}: {list}");
        assert_eq!(
            world.error(&["plugins", "enable", "actor-01"])["code"],
            "plugin-incompatible",
            "{number}"
        );
        world.ok(&["plugins", "disable", "actor-01"]);
        assert_eq!(world.types(), (vec!["two".to_owned()], vec![]), "{number}");
    }
    edit(&world, |document| document["plugins"]["actor-01"]["abi"] = "2.0.0".into());
    world.ok(&["plugins", "uninstall", "actor-01"]);
}

#[test]
fn a_project_that_was_moved_takes_its_plugins_with_it() {
    let mut world = World::new();
    world.tell(1, "type=a");
    let inside = world.project().join("plugins/libactor.so");
    fs::create_dir_all(inside.parent().unwrap()).unwrap();
    fs::copy(world.actor(1), &inside).unwrap();
    world.ok(&["plugins", "install", "plugins/libactor.so"]);
    assert_eq!(world.json(&["plugins", "show", "actor-01"])["plugin"]["source"], "./plugins/libactor.so");
    let text_of_lock = fs::read_to_string(lock(&world)).unwrap();
    assert!(!text_of_lock.contains(text(&world.root())), "no absolute path: {text_of_lock}");
    let moved = world.path("moved");
    fs::rename(world.project(), &moved).unwrap();
    fs::create_dir(world.project()).unwrap();
    let at = ["--path", text(&moved)];
    world.ok(&[&at[..], &["plugins", "verify"]].concat());
    fs::copy(world.actor_version(1, "2.0.0"), moved.join("plugins/libactor.so")).unwrap();
    let ran = world.ok(&[&at[..], &["plugins", "update"]].concat());
    assert!(ran.stdout.contains("1.0.0 -> 2.0.0"), "{ran}");
}

#[test]
fn a_cloned_project_without_its_store_is_mended_by_an_update() {
    let mut world = World::new();
    world.tell(1, "type=a");
    fs::copy(world.actor(1), world.project().join("libactor.so")).unwrap();
    world.ok(&["plugins", "install", "libactor.so"]);
    fs::remove_dir_all(world.local().join("plugins/store")).unwrap();
    assert_eq!(world.standing(), ["actor-01 local broken"]);
    world.ok(&["plugins", "update"]);
    assert_eq!(world.types().0, ["a"]);
    let ignored = fs::read_to_string(world.local().join(".gitignore")).unwrap();
    for line in ["plugins/store", "plugins/staging", "plugins/lock", "sessions"] {
        assert!(ignored.lines().any(|ignored| ignored == line), "{ignored}");
    }
}

#[test]
fn what_stands_in_the_way_of_a_folder_is_named() {
    let mut world = World::new();
    world.tell(1, "type=a");
    let source = world.actor(1);
    let mut story = String::new();
    for below in [
        ".replio",
        ".replio/plugins",
        ".replio/plugins/staging",
        ".replio/plugins/store",
        ".replio/plugins/lock",
    ] {
        let path = world.project().join(below);
        if below.ends_with("lock") {
            fs::create_dir_all(&path).unwrap();
        } else {
            world.write(&path, "in the way");
        }
        let before = tree(&world.project());
        let ran = world.run(&["plugins", "install", text(&source)]);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran}");
        story += &ran.to_string();
        for (path, what) in before {
            assert!(tree(&world.project()).get(&path) == Some(&what), "{} is as it was", path.display());
        }
        assert_eq!(world.standing(), Vec::<String>::new());
        fs::remove_dir_all(world.project()).unwrap();
        fs::create_dir(world.project()).unwrap();
    }
    insta::assert_snapshot!(story);
    world.ok(&["plugins", "install", text(&source)]);
}

#[test]
fn a_place_whose_name_is_no_text_works_as_any_other() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let mut world = World::new();
    world.tell(1, "type=a");
    let source = world.actor(1);
    let project = world.root().join(OsStr::from_bytes(b"pro\xffject\n"));
    fs::create_dir(&project).unwrap();
    let run = |arguments: &[&str]| {
        let output = world.command(arguments).arg("--path").arg(&project).output().unwrap();
        let said = String::from_utf8_lossy(&[output.stdout.clone(), output.stderr].concat()).into_owned();
        assert!(output.status.success(), "{arguments:?}: {said}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    run(&["plugins", "install", text(&source)]);
    assert!(run(&["type", "list"]).contains("plugin actor-01"));
    fs::write(project.join("inside.so"), fs::read(world.actor_version(1, "2.0.0")).unwrap()).unwrap();
    let inside = world
        .command(&["plugins", "update", "actor-01", "--from"])
        .arg(project.join("inside.so"))
        .arg("--path")
        .arg(&project)
        .output()
        .unwrap();
    assert!(inside.status.success(), "{}", String::from_utf8_lossy(&inside.stderr));
    assert!(run(&["plugins", "update"]).contains("is up to date"));
    run(&["plugins", "verify"]);
}

#[test]
fn a_home_that_is_missing_or_unset_is_no_obstacle_where_none_is_needed() {
    let mut world = World::new();
    world.tell(1, "type=a");
    let source = world.actor(1);
    fs::remove_dir(world.home()).unwrap();
    world.ok(&["plugins", "install", text(&source)]);
    assert_eq!(world.types().0, ["a"]);
    assert!(!world.home().exists() || !world.global().join("plugins").exists());
    world.ok(&["plugins", "install", text(&source), "--global"]);
    assert!(world.global().join("plugins/plugins.lock").is_file());

    let mut unset = world.command(&["plugins", "list"]);
    let output = unset.env_remove("HOME").env("REPLIO_HOME", world.path("ours")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    world.set("HOME", "/dev/null");
    let ran = world.run(&["plugins", "install", text(&source), "--global"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("/dev/null"), "{ran}");
    assert_eq!(world.run(&["plugins", "list"]).code, 0);
}
