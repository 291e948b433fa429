//! Several replio processes change the same store at once, or are killed in it.

use std::fs::{self, File};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use replio_tests::{World, text};
use serde_json::Value;

fn start(world: &World, arguments: &[&str]) -> Child {
    world
        .command(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn all_succeed(children: Vec<Child>) -> Vec<String> {
    children
        .into_iter()
        .map(|child| {
            let output = child.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            assert!(output.status.success(), "{said}");
            said
        })
        .collect()
}

/// Nothing is in the store but what is installed, and nothing in staging.
fn nothing_is_left_over(world: &World, builds: usize) {
    let plugins = world.local().join("plugins");
    let count = |folder: &str| fs::read_dir(plugins.join(folder)).map_or(0, Iterator::count);
    assert_eq!((count("store"), count("staging")), (builds, 0));
    let allowed = ["lock", "plugins.lock", "staging", "store"];
    for entry in fs::read_dir(&plugins).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(allowed.contains(&name.as_str()), "{name} is left over");
    }
}

#[test]
fn twenty_different_plugins_installed_at_once_are_all_there() {
    let world = World::new();
    let libraries: Vec<_> = (0..20).map(|number| world.actor(number)).collect();
    all_succeed(
        libraries.iter().map(|library| start(&world, &["plugins", "install", text(library)])).collect(),
    );
    let expected: Vec<_> = (0..20).map(|number| format!("actor-{number:02} local enabled")).collect();
    assert_eq!(world.standing(), expected);
    world.ok(&["plugins", "verify"]);
    nothing_is_left_over(&world, 20);
}

#[test]
fn the_same_plugin_installed_ten_times_at_once_is_there_once() {
    let mut world = World::new();
    world.tell(1, "type=a");
    let library = world.actor(1);
    let said = all_succeed((0..10).map(|_| start(&world, &["plugins", "install", text(&library)])).collect());
    assert_eq!(said.iter().filter(|said| said.contains("Installed actor-01")).count(), 1, "{said:?}");
    assert_eq!(said.iter().filter(|said| said.contains("already installed")).count(), 9, "{said:?}");
    assert_eq!(world.standing(), ["actor-01 local enabled"]);
    nothing_is_left_over(&world, 1);
}

#[test]
fn the_same_change_made_ten_times_at_once_is_made_once() {
    let mut world = World::new();
    world.install_actor(1, "type=a");
    let two = world.actor_version(1, "2.0.0");
    for arguments in [
        &["plugins", "update", "actor-01", "--from", text(&two)][..],
        &["plugins", "disable", "actor-01"],
        &["plugins", "enable", "actor-01"],
    ] {
        all_succeed((0..10).map(|_| start(&world, arguments)).collect());
    }
    let shown = &world.json(&["plugins", "show", "actor-01"])["plugin"];
    assert_eq!((&shown["version"], &shown["status"]), (&"2.0.0".into(), &"enabled".into()));
    world.ok(&["plugins", "rollback", "actor-01"]);
    assert_eq!(world.json(&["plugins", "show", "actor-01"])["plugin"]["version"], "1.0.0");
    nothing_is_left_over(&world, 2);
}

#[test]
fn installs_and_uninstalls_at_once_lose_nothing_of_each_other() {
    let mut world = World::new();
    for number in 0..5 {
        world.install_actor(number, "");
    }
    let more: Vec<_> = (10..15).map(|number| world.actor(number)).collect();
    let mut children: Vec<_> =
        (0..5).map(|number| start(&world, &["plugins", "uninstall", &format!("actor-0{number}")])).collect();
    children.extend(more.iter().map(|library| start(&world, &["plugins", "install", text(library)])));
    all_succeed(children);
    let expected: Vec<_> = (10..15).map(|number| format!("actor-{number} local enabled")).collect();
    assert_eq!(world.standing(), expected);
    nothing_is_left_over(&world, 5);
}

#[test]
fn every_kind_of_change_of_the_same_plugins_at_once_leaves_a_state_that_is_whole() {
    let mut world = World::new();
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for number in 1..4 {
        world.tell(number, &format!("type=t{number}"));
        first.push(text(&world.actor(number)).to_owned());
        second.push(text(&world.actor_version(number, "2.0.0")).to_owned());
    }
    let names = ["actor-01", "actor-02", "actor-03"];
    let mut done = 0;
    for round in 0..3 {
        let children: Vec<_> = (0..20)
            .map(|number| {
                let at = (number + round) % 3;
                let arguments: &[&str] = match (number + round) % 8 {
                    0 | 1 => &["plugins", "install", &first[at]],
                    2 => &["plugins", "update", names[at], "--from", &second[at]],
                    3 => &["plugins", "disable", names[at]],
                    4 => &["plugins", "enable", names[at]],
                    5 => &["plugins", "rollback", names[at]],
                    6 => &["type", "list"],
                    _ => &["plugins", "uninstall", names[at]],
                };
                start(&world, &[arguments, &["--json"]].concat())
            })
            .collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            let document: Value =
                serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
            assert_eq!(output.stderr, b"", "{output:?}");
            match output.status.code() {
                Some(0) => done += 1,
                code => assert_eq!(code, Some(1), "{output:?}"),
            }
            if let Some(code) = document["error"]["code"].as_str() {
                let expected = ["not-installed", "already-installed", "no-previous", "changed-meanwhile"];
                assert!(expected.contains(&code), "{document}");
            }
            // Nobody is told that a plugin is broken which another has taken away.
            assert_eq!(document["warnings"], Value::Null, "{document}");
        }
        world.ok(&["plugins", "verify"]);
        for standing in world.standing() {
            assert!(standing.ends_with(" enabled") || standing.ends_with(" disabled"), "{standing}");
        }
        let list = fs::read_to_string(world.local().join("plugins/plugins.lock")).unwrap();
        nothing_is_left_over(&world, list.matches("\"sha256\"").count());
    }
    assert!(done > 10, "{done} of 60 came to something");
}

#[test]
fn a_change_waits_for_the_one_that_holds_the_lock_and_looking_does_not() {
    let mut world = World::new();
    world.install_actor(1, "type=a");
    let lock = File::options().write(true).open(world.local().join("plugins/lock")).unwrap();
    lock.lock().unwrap();
    let two = world.actor_version(1, "2.0.0");
    let mut update = start(&world, &["plugins", "update", "actor-01", "--from", text(&two)]);
    // Neither looking nor running plugins waits for it.
    world.ok(&["plugins", "list"]);
    assert_eq!(world.types().0, ["a"]);
    std::thread::sleep(Duration::from_millis(300));
    assert!(update.try_wait().unwrap().is_none(), "it did not wait");
    assert_eq!(world.json(&["plugins", "show", "actor-01"])["plugin"]["version"], "1.0.0");
    drop(lock);
    all_succeed(vec![update]);
    assert_eq!(world.json(&["plugins", "show", "actor-01"])["plugin"]["version"], "2.0.0");
}

#[test]
fn a_change_that_is_killed_has_happened_whole_or_not_at_all() {
    let mut world = World::new();
    world.tell(1, "type=a");
    let one = world.install_actor(1, "type=a");
    let two = world.actor_version(1, "2.0.0");
    // How long a whole update takes here, so that the kills hit all of it.
    let started = Instant::now();
    world.ok(&["plugins", "update", "actor-01", "--from", text(&two)]);
    let whole = started.elapsed();
    let (mut version, mut done) = ("2.0.0", 0);
    for step in 0..30_u32 {
        let (to, source) = if version == "1.0.0" { ("2.0.0", &two) } else { ("1.0.0", &one) };
        let mut child =
            start(&world, &["plugins", "update", "actor-01", "--allow-downgrade", "--from", text(source)]);
        std::thread::sleep(whole * step / 26);
        child.kill().unwrap();
        child.wait().unwrap();
        let shown = &world.json(&["plugins", "show", "actor-01"])["plugin"];
        let now = shown["version"].as_str().unwrap();
        assert!(now == version || now == to, "{step}: {shown}");
        assert_eq!(shown["status"], "enabled", "{step}: {shown}");
        world.ok(&["plugins", "verify"]);
        assert_eq!(world.types(), (vec!["a".into()], vec![]), "{step}");
        if now == to {
            (version, done) = (to, done + 1);
        }
    }
    // The next change finds no lock and clears up.
    world.write(&world.local().join("plugins/.replio-killed"), "half a list");
    world.ok(&["plugins", "disable", "actor-01"]);
    nothing_is_left_over(&world, 2);
    assert!(done > 0 || whole > Duration::from_secs(5), "no update came to its end");
}

#[test]
fn an_install_that_is_killed_leaves_nothing_that_counts() {
    let mut world = World::new();
    world.tell(1, "type=a");
    let library = world.actor(1);
    let started = Instant::now();
    world.ok(&["plugins", "install", text(&library)]);
    let whole = started.elapsed();
    world.ok(&["plugins", "uninstall", "actor-01"]);
    for step in 0..20_u32 {
        let mut child = start(&world, &["plugins", "install", text(&library)]);
        std::thread::sleep(whole * step / 17);
        child.kill().unwrap();
        child.wait().unwrap();
        let list: Value = world.json(&["plugins", "list"]);
        let plugins = list["plugins"].as_array().unwrap();
        match plugins.as_slice() {
            [] => assert_eq!(world.types().0, Vec::<String>::new()),
            [plugin] => {
                assert_eq!(plugin["status"], "enabled", "{step}: {list}");
                assert_eq!(world.types(), (vec!["a".into()], vec![]), "{step}");
                world.ok(&["plugins", "uninstall", "actor-01"]);
            }
            _ => panic!("{step}: {list}"),
        }
    }
    world.ok(&["plugins", "install", text(&library)]);
    nothing_is_left_over(&world, 1);
}
