//! Whatever a plugin's code does when it is tried out, the operator gets one
//! message about that plugin, and nothing of it is installed.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use replio_tests::{Plugin, World, tree};

/// Longer than any of these may take, even on a busy machine; a hang lasts longer.
const PATIENCE: Duration = Duration::from_secs(120);

/// What `install` says of a plugin that does each of these things.
fn installing(world: &mut World, scripts: &[&str]) -> String {
    let library = world.actor(0);
    let mut story = String::new();
    for script in scripts {
        world.tell(0, script);
        let started = Instant::now();
        let ran = world.run(&["plugins", "install", library.to_str().unwrap()]);
        assert!(started.elapsed() < PATIENCE, "{script}");
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{script}: {ran}");
        story += &format!("{script}\n{}\n", ran.stderr);
        let left = tree(&world.local());
        let counts =
            |path: &&PathBuf| path.is_file() && !path.ends_with("lock") && !path.ends_with(".gitignore");
        assert_eq!(left.keys().find(counts), None, "{script}");
    }
    world.tell(0, "");
    assert_eq!(world.standing(), Vec::<String>::new());
    world.ok(&["plugins", "install", library.to_str().unwrap()]);
    story
}

#[test]
fn a_hook_that_fails_says_so_in_its_authors_words() {
    let scripts = [
        "err",
        "skills:err",
        "teams:err",
        "escapes",
        "panic",
        "skills:panic",
        "panic-bomb",
        "panic-number",
        "bad-category",
        "bad-name",
        "same-type-twice",
        "too-large-type",
        "type=writer err",
    ];
    insta::assert_snapshot!(installing(&mut World::new(), &scripts));
}

#[test]
fn a_refused_entry_that_its_author_ignores_is_told_all_the_same() {
    let types = "registry.add_plugin(AgentType::new(\"reader\"))?; \
                 registry.add_plugin(AgentType::new(\"writer\").deny(\"shell\")).ok(); Ok(())";
    let library = Plugin::with_hooks("careless", types, "", "").build();
    let world = World::new();
    let ran = world.run(&["plugins", "install", library.to_str().unwrap()]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("lib.rs:"), "{ran}");
    assert!(ran.stderr.contains("agent type \"writer\": \"shell\" is no category of tools"), "{ran}");
    assert_eq!(world.standing(), Vec::<String>::new());
}

#[test]
fn a_hook_that_ends_its_process_is_told_apart_from_one_that_fails() {
    let scripts = [
        "abort",
        "segv",
        "overflow",
        "exit=0",
        "exit=3",
        "teams:exit=0",
        "thread-exit=0",
        "thread-exit=3",
        "thread-abort",
        "open:abort",
        "open:exit=0",
        "open:exit=3",
    ];
    insta::assert_snapshot!(installing(&mut World::new(), &scripts));
}

#[test]
fn a_hook_that_does_not_return_is_stopped() {
    let mut world = World::new().environment("REPLIO_TEST_PLUGIN_MILLISECONDS", "1500");
    let scripts = [
        "loop",
        "sleep",
        "open:sleep",
        "skills:loop",
        "stop",
        "print-without-end",
        "close=3 sleep",
        "close-all sleep",
    ];
    insta::assert_snapshot!(installing(&mut world, &scripts));
}

#[test]
fn a_plugin_that_brings_too_much_is_refused() {
    let mut world = World::new().environment("REPLIO_TEST_PLUGIN_ENTRIES", "20");
    world.tell(0, "types=20");
    let library = world.actor(0);
    world.ok(&["plugins", "install", library.to_str().unwrap(), "--dry-run"]);
    let scripts = ["types=21", "types=20 skills:skill=one-more", "types=10001"];
    insta::assert_snapshot!(installing(&mut world, &scripts));
}

#[test]
fn a_report_that_the_plugin_meddled_with_does_not_count() {
    // A frame that ends a report of no entries for another library, an entry,
    // an unknown frame, a failure.
    let digest = "30".repeat(64);
    let scripts = [
        "close=3".to_owned(),
        "close-all".to_owned(),
        "write=00".to_owned(),
        "write=63".to_owned(),
        format!("write=0640000000{digest}"),
        format!("write=0640000000{digest} exit=0"),
        "write=01020000007b7d exit=0".to_owned(),
        "write=ff00000000".to_owned(),
        "write=01ffffffff".to_owned(),
        "write=0502000000".to_owned() + "7b7d",
        "write-without-end".to_owned(),
    ];
    let scripts: Vec<&str> = scripts.iter().map(String::as_str).collect();
    insta::assert_snapshot!(installing(&mut World::new(), &scripts));
}

#[test]
fn what_is_odd_and_harmless_is_no_fault() {
    let mut world = World::new();
    let library = world.actor(0);
    let library = library.to_str().unwrap();
    for script in [
        "thread-panic type=a",
        "thread-left type=a",
        "grandchild type=a",
        "type=a teams:grandchild",
        "print=x type=a",
        "open:print=x type=a",
        "close=0 close=1 close=2 type=a",
        "door=nonsense type=a",
        "log-without-end type=a",
        "log=hello type=a",
    ] {
        world.tell(0, script);
        let started = Instant::now();
        let ran = world.ok(&["plugins", "install", library]);
        assert!(started.elapsed() < PATIENCE, "{script}");
        assert!(ran.stderr.is_empty(), "{script}: {ran}");
        world.ok(&["plugins", "uninstall", "actor-00"]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_plugin_that_crashes_leaves_no_image_of_its_memory() {
    let mut world = World::new();
    world.tell(0, "core-limit");
    let library = world.actor(0);
    // The shell passes on no variable whose name has a `-`.
    let script =
        "ulimit -S -c $(ulimit -H -c); exec env REPLIO_TEST_PLUGIN_actor-00=core-limit \"$0\" \"$@\"";
    let mut install = std::process::Command::new("sh");
    install.args(["-c", script]);
    let replio = world.command(&["plugins", "install", library.to_str().unwrap(), "--verbose"]);
    install.arg(replio.get_program()).args(replio.get_args()).current_dir(world.project());
    install.envs(replio.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = install.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("core limits: [0, 0]"), "{said}");
}

#[test]
fn what_a_plugin_prints_never_gets_into_the_answer() {
    let mut world = World::new();
    let library = world.actor(0);
    let library = library.to_str().unwrap();
    world.tell(0, "open:print=opened print=types skills:print=skills log=told type=a");
    for arguments in [
        &["plugins", "install", library, "--dry-run"][..],
        &["plugins", "install", library],
        &["plugins", "list"],
        &["plugins", "show", "actor-00"],
        &["plugins", "enable", "actor-00"],
        &["plugins", "verify"],
        &["plugins", "update"],
        &["plugins", "disable", "actor-00"],
    ] {
        world.json(arguments);
        let ran = world.run(&[arguments, &["--json", "--verbose"]].concat());
        assert!(
            serde_json::from_str::<serde_json::Value>(&ran.stdout).is_ok() && ran.stderr.is_empty(),
            "{ran}"
        );
    }
    let story = [
        world.run(&["plugins", "enable", "actor-00"]),
        world.run(&["plugins", "disable", "actor-00", "--verbose"]),
        world.run(&["plugins", "enable", "actor-00", "--verbose"]),
    ];
    insta::assert_snapshot!(story.map(|ran| ran.to_string()).join("\n"));
}

#[test]
fn what_a_plugin_printed_before_it_failed_is_shown_when_asked_for() {
    let mut world = World::new();
    let library = world.actor(0);
    for (script, said) in [
        ("print=why abort", "printed"),
        ("print=why err", "printed"),
        ("print=why loop", "printed"),
        ("thread-panic abort", "on a thread of the author's"),
    ] {
        world.set("REPLIO_TEST_PLUGIN_MILLISECONDS", "1500");
        world.tell(0, script);
        let ran = world.run(&["plugins", "install", library.to_str().unwrap(), "--verbose"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran}");
        assert!(
            ran.stderr.contains("plugin actor-00 printed: ") && ran.stderr.contains(said),
            "{script}: {ran}"
        );
        assert!(!ran.stderr.contains('\u{1b}'), "{ran}");
    }
}

#[test]
fn a_plugin_whose_panics_abort_is_told_as_such() {
    let world = World::new();
    let library = Plugin::with_hooks("strict", "panic!(\"no\")", "", "").profile("panic = \"abort\"").build();
    let library = library.to_str().unwrap();
    let story = [world.run(&["plugins", "inspect", library]), world.run(&["plugins", "install", library])];
    assert_eq!([story[0].code, story[1].code], [0, 1]);
    assert!(story[0].stdout.contains("ends its process"), "{}", story[0]);
    insta::assert_snapshot!(story[1]);
}

#[test]
fn an_author_whose_hook_ran_into_the_jail_is_told_of_it() {
    let world = World::new();
    let types = r#"registry.host().log("about to look").ok(); std::env::var("HOME")?; Ok(())"#;
    let library = Plugin::with_hooks("homesick", types, "", "").build();
    let ran = world.run(&["plugins", "install", library.to_str().unwrap(), "--verbose"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("hooks run in a jail") && ran.stderr.contains("include_str!"), "{ran}");
    assert!(ran.stderr.contains("plugin homesick: about to look"), "what it logged is told too: {ran}");
}

#[test]
fn the_help_about_a_global_plugin_means_that_one() {
    let mut world = World::new();
    world.tell(1, "type=a");
    let library = world.actor(1);
    world.ok(&["plugins", "install", library.to_str().unwrap(), "--global"]);
    world.tell(1, "err");
    let ran = world.run(&["type", "list"]);
    assert!(ran.stderr.contains("`replio plugins disable actor-01 --global`"), "{ran}");
}
