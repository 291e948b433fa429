//! A plugin is in a jail while it runs: it tries to get out, in an initializer
//! and in a hook, as root and as an ordinary user.

#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use replio_tests::{Plugin, World, text, tree};

const PERMISSION: i64 = libc::EPERM as i64;
const ACCESS: i64 = libc::EACCES as i64;
const NOT_THERE: i64 = libc::ENOSYS as i64;

/// What landlock refuses, and seccomp does not.
const READING: &[&str] = &[
    "read-file",
    "read-passwd",
    "read-library",
    "list-folder",
    "read-environ",
    "read-own-environ",
    "read-parents-memory",
];

/// What seccomp refuses: an attempt, and the error it gets.
const CALLS: &[(&str, i64)] = &[
    ("read-memory", PERMISSION),
    ("write-file", PERMISSION),
    ("empty-file", PERMISSION),
    ("create-file", PERMISSION),
    ("create-file-without-name", PERMISSION),
    ("create-folder", PERMISSION),
    ("create-pipe", PERMISSION),
    ("hard-link", PERMISSION),
    ("symlink", PERMISSION),
    ("truncate", PERMISSION),
    ("chmod", PERMISSION),
    ("fchmodat2", PERMISSION),
    ("chown", PERMISSION),
    ("utimes", PERMISSION),
    ("setxattr", PERMISSION),
    ("rename", PERMISSION),
    ("delete-file", PERMISSION),
    ("delete-folder", PERMISSION),
    ("tcp", PERMISSION),
    ("tcp6", PERMISSION),
    ("udp", PERMISSION),
    ("unix", PERMISSION),
    ("netlink", PERMISSION),
    ("socketpair", PERMISSION),
    ("fork", PERMISSION),
    #[cfg(target_arch = "x86_64")]
    ("fork-call", PERMISSION),
    ("clone", PERMISSION),
    ("thread-with-files-of-its-own", PERMISSION),
    ("filter", PERMISSION),
    ("prctl-filter", PERMISSION),
    ("ruleset", PERMISSION),
    ("memory-in-pipes", PERMISSION),
    ("asynchronous-io", PERMISSION),
    ("clone3", NOT_THERE),
    ("spawn", PERMISSION),
    ("exec", PERMISSION),
    ("ptrace", PERMISSION),
    ("read-others-memory", PERMISSION),
    ("pidfd", PERMISSION),
    ("kill", PERMISSION),
    ("kill-parent", PERMISSION),
    ("kill-group", PERMISSION),
    ("kill-all", PERMISSION),
    ("kill-thread", PERMISSION),
    ("kill-one-thread", PERMISSION),
    ("queue-signal", PERMISSION),
    ("signals-of-a-file", PERMISSION),
    ("priority", PERMISSION),
    ("affinity", PERMISSION),
    ("limit", PERMISSION),
    ("limit-raised", PERMISSION),
    ("death-signal", PERMISSION),
    ("dumpable", PERMISSION),
    ("subreaper", PERMISSION),
    ("session", PERMISSION),
    ("group", PERMISSION),
    ("user", PERMISSION),
    ("namespace", PERMISSION),
    ("mount", PERMISSION),
    ("chroot", PERMISSION),
    #[cfg(target_arch = "x86_64")]
    ("x32", NOT_THERE),
    ("unknown-call", NOT_THERE),
    ("bpf", PERMISSION),
    ("io-uring", PERMISSION),
    ("perf", PERMISSION),
    ("userfaultfd", PERMISSION),
    ("keys", PERMISSION),
    ("shared-memory", PERMISSION),
    ("semaphores", PERMISSION),
    ("messages", PERMISSION),
    ("posix-messages", PERMISSION),
    ("watch", PERMISSION),
    ("memfd", PERMISSION),
    ("uncounted-memory", PERMISSION),
    ("growing-memory", PERMISSION),
    ("type-for-the-user", PERMISSION),
];

/// What landlock refuses too, where it is alone.
const FILES: &[&str] = &[
    "write-file",
    "create-file",
    "create-file-without-name",
    "create-folder",
    "create-pipe",
    "hard-link",
    "symlink",
    "rename",
    "delete-file",
    "delete-folder",
    "read-memory",
];

/// What goes on working, wherever it runs.
const WORKS: &[(&str, &str)] = &[
    ("threads", "true"),
    ("pthreads", "true"),
    ("random", "true"),
    ("panic", "true"),
    ("clocks", "true"),
    ("memory", "true"),
    ("limit-asked", "0"),
    ("kill-itself-not", "0"),
    ("environment", ""),
    ("descriptors", "0,1,2,3"),
];

/// What a user's process can do to the user where nothing forbids it; if an
/// attempt were wrong in itself, it would fail here too.
const DONE_WITHOUT_JAIL: &[&str] = &[
    "read-file",
    "read-passwd",
    "list-folder",
    "read-environ",
    "write-file",
    "create-file",
    "create-folder",
    "create-pipe",
    "hard-link",
    "symlink",
    "chmod",
    "utimes",
    "rename",
    "delete-file",
    "delete-folder",
    "tcp",
    "udp",
    "unix",
    "netlink",
    "socketpair",
    "fork",
    "clone",
    "spawn",
    "kill",
    "kill-parent",
    "kill-group",
    "kill-thread",
    "kill-one-thread",
    "queue-signal",
    "signals-of-a-file",
    "pidfd",
    "read-others-memory",
    "limit",
    "death-signal",
    "dumpable",
    "subreaper",
    "group",
    "priority",
    "affinity",
    "shared-memory",
    "watch",
    "memfd",
    "uncounted-memory",
    "growing-memory",
];

/// Another process of the user's, which waits until it is ended.
struct Neighbour(Child);

impl Drop for Neighbour {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn neighbour(world: &World) -> Neighbour {
    let mut sleep = Command::new("sleep");
    world.as_its_user(&mut sleep);
    Neighbour(sleep.arg("1000").stdin(Stdio::null()).spawn().expect("sleep starts"))
}

/// What came of each attempt, from the place `open` or `hook`.
type Attempts = BTreeMap<String, String>;

/// Installs the prisoner, and says what came of its attempts in each place.
fn imprisoned(world: &mut World, folder: &Path) -> (Attempts, Attempts) {
    let neighbour = neighbour(world);
    let built = Plugin::new("prisoner", include_str!("../fixtures/prisoner.rs"))
        .dependencies("libc = \"0.2\"")
        .build();
    let library = world.copy(&built, "libprisoner.so");
    world.tell_plugin("prisoner", &format!("{} {}", text(folder), neighbour.0.id()));
    let ran = world.run(&["plugins", "install", text(&library), "--dry-run", "--verbose"]);
    assert_eq!(ran.code, 0, "{ran}");
    let (mut open, mut hook) = (Attempts::new(), Attempts::new());
    for line in ran.stderr.lines().filter_map(|line| line.strip_prefix("plugin prisoner printed: ")) {
        for (place, attempts) in [("open ", &mut open), ("hook ", &mut hook)] {
            if let Some((name, came_of_it)) =
                line.strip_prefix(place).and_then(|attempt| attempt.split_once('='))
            {
                attempts.insert(name.to_owned(), came_of_it.to_owned());
            }
        }
    }
    assert!(open.len() > 50 && hook.len() == open.len(), "{ran}");
    (open, hook)
}

/// A folder of the user's with a secret in it.
fn users_folder(world: &World) -> PathBuf {
    let folder = world.home().join(".ssh");
    world.write(&folder.join("secret"), "of the user");
    fs::create_dir_all(folder.join("empty")).unwrap();
    world.give_to_its_user();
    folder
}

/// All that is known of a folder and what is in it.
fn state(folder: &Path) -> Vec<String> {
    let mut state: Vec<String> = tree(folder).into_iter().map(|entry| format!("{entry:?}")).collect();
    for path in [folder.to_owned(), folder.join("secret"), folder.join("empty")] {
        let about = fs::symlink_metadata(&path).unwrap();
        state.push(format!(
            "{path:?} {:o} {} {} {} {:?} {} {}",
            about.mode(),
            about.uid(),
            about.gid(),
            about.nlink(),
            about.modified().unwrap(),
            about.ctime(),
            about.ctime_nsec()
        ));
    }
    state
}

fn nothing_gets_out(mut world: World) {
    let folder = users_folder(&world);
    let (before, files) = (state(&folder), tree(&folder));
    let jail = run_jail(&mut world);
    let (open, hook) = imprisoned(&mut world, &folder);
    for (place, attempts) in [("an initializer", open), ("a hook", hook)] {
        for (name, expected) in WORKS {
            assert_eq!(attempts[*name], *expected, "{name} in {place}");
        }
        if jail["landlock"] != "none" {
            for name in READING {
                assert_eq!(attempts[*name], ACCESS.to_string(), "{name} in {place}");
            }
        }
        if jail["landlock"] != "none" && jail["seccomp"] == "none" {
            for name in FILES {
                assert_eq!(attempts[*name], ACCESS.to_string(), "{name} in {place}");
            }
            assert_ne!(attempts["ptrace"], "0", "in {place}");
            assert!(jail["landlock_abi"].as_u64().unwrap() < 6 || attempts["kill"] != "0", "in {place}");
        }
        if jail["seccomp"] == "full" {
            for (name, expected) in CALLS {
                assert_eq!(attempts[*name], expected.to_string(), "{name} in {place}");
            }
        }
    }
    if jail["seccomp"] == "full" {
        assert_eq!(state(&folder), before);
    } else if jail["landlock"] != "none" {
        assert_eq!(tree(&folder), files);
    }
}

/// What the jail is here. Where a part of it is missing, there is less to check.
fn run_jail(world: &mut World) -> serde_json::Value {
    let library = world.actor(7);
    world.ok(&["plugins", "install", text(&library)]);
    let jail = world.json(&["plugins", "show", "actor-07"])["plugin"]["jail"].clone();
    for part in ["landlock", "seccomp"] {
        if jail[part] == "none" {
            eprintln!("this system has no {part}: what it would stop is not checked");
        }
    }
    assert_eq!(jail["limits"], "full", "{jail}");
    assert_eq!(jail["no_new_privileges"], true, "{jail}");
    jail
}

#[test]
fn nothing_that_a_plugin_tries_gets_out_of_its_jail() {
    nothing_gets_out(World::new());
}

#[test]
fn nothing_that_an_ordinary_users_plugin_tries_gets_out_of_its_jail() {
    nothing_gets_out(World::new().of_an_ordinary_user());
}

#[test]
fn landlock_and_seccomp_each_stop_their_part_alone() {
    if !World::can_be_on_an_old_kernel() {
        return;
    }
    nothing_gets_out(World::new().without_landlock());
    nothing_gets_out(World::new().of_an_ordinary_user().without_seccomp());
}

#[test]
fn where_the_kernel_has_no_jail_plugins_run_all_the_same_and_it_is_told() {
    if !World::can_be_on_an_old_kernel() {
        return;
    }
    let mut world = World::new().of_an_ordinary_user().on_an_old_kernel();
    let folder = users_folder(&world);
    let library = world.actor(7);
    let ran = world.ok(&["plugins", "install", text(&library), "--verbose"]);
    assert!(ran.stderr.contains("plugin actor-07 ran jailed: "), "{ran}");
    let jail = world.json(&["plugins", "show", "actor-07"])["plugin"]["jail"].clone();
    assert_eq!((&jail["landlock"], &jail["seccomp"]), (&"none".into(), &"none".into()), "{jail}");
    assert_eq!(jail["limits"], "full", "{jail}");
    // What is refused elsewhere is refused by the jail, and not for another reason.
    let (open, hook) = imprisoned(&mut world, &folder);
    for (name, expected) in WORKS {
        assert_eq!(hook[*name], *expected, "{name}");
    }
    for name in DONE_WITHOUT_JAIL {
        assert_eq!(open[*name], "0", "{name}");
    }
}

#[test]
fn what_a_plugin_uses_of_the_machine_has_an_end() {
    let mut world = World::new()
        .environment("REPLIO_TEST_PLUGIN_CPU_SECONDS", "1")
        .environment("REPLIO_TEST_PLUGIN_MILLISECONDS", "10000");
    let library = world.actor(0);
    for (script, message) in [
        ("loop-in-threads", "it used more than 1 second of processor time and was stopped"),
        ("open:ignore-signals loop", "it used more than 1 second of processor time and was stopped"),
        ("allocate", "it ran out of the 1 GiB of memory that it may use"),
    ] {
        world.tell(0, script);
        let ran = world.run(&["plugins", "install", text(&library)]);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{script}: {ran}");
        assert!(ran.stderr.contains(message), "{script}: {ran}");
        assert_eq!(ran.stderr.matches("error: ").count(), 1, "{script}: {ran}");
    }
    // No file of the user's is filled either, where no jail keeps it closed.
    if !World::can_be_on_an_old_kernel() {
        return;
    }
    let mut world = World::new().on_an_old_kernel();
    let file = world.path("file");
    world.write(&file, "small");
    world.tell(0, &format!("append={}", text(&file)));
    let ran = world.run(&["plugins", "install", text(&world.actor(0))]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("SIGXFSZ) while its hooks ran; it tried to write to a file"), "{ran}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "small");
}

/// A process on x86-64 can make the system calls of 32-bit processors, which have
/// other numbers.
#[cfg(target_arch = "x86_64")]
#[test]
fn the_door_for_another_processor_is_shut() {
    let mut world = World::new();
    let jail = run_jail(&mut world);
    world.tell(0, "other-processor");
    let ran = world.run(&["plugins", "install", text(&world.actor(0))]);
    if jail["seccomp"] == "full" {
        assert_eq!(ran.code, 1, "{ran}");
        // Kernels may have no such door.
        assert!(ran.stderr.contains("(SIGSYS)") || ran.stderr.contains("(SIGSEGV)"), "{ran}");
    }
}

#[test]
fn root_opens_libraries_in_folders_of_others() {
    let mut world = World::new();
    world.install_actor(1, "type=a");
    // Only root can give the folder away; for others this is a plugin like any.
    let given = Command::new("chown").args(["-R", "65534", text(&world.root())]).output().unwrap();
    let closed = Command::new("chmod").args(["700", text(&world.local())]).status().unwrap();
    assert!(closed.success());
    assert_eq!(world.types(), (vec!["a".to_owned()], vec![]), "{given:?}");
}

#[test]
fn what_the_jail_is_is_told_where_it_is_asked_for() {
    let mut world = World::new();
    let library = world.actor(1);
    let quiet = world.ok(&["plugins", "install", text(&library)]);
    assert!(!quiet.stderr.contains("jailed"), "{quiet}");
    let told = world.ok(&["type", "list", "--verbose"]);
    assert!(told.stderr.contains("plugin actor-01 ran jailed: "), "{told}");
    let shown = world.ok(&["plugins", "show", "actor-01"]);
    assert!(shown.stdout.contains("\n  jail "), "{shown}");
    // To show a plugin does not run it.
    world.tell(1, "open:abort");
    assert!(world.json(&["plugins", "show", "actor-01"])["plugin"]["jail"].is_object());
    world.ok(&["plugins", "show", "actor-01"]);
    // It is told of a failure too.
    let failed = world.run(&["type", "list", "--verbose"]);
    assert!(failed.stderr.contains("plugin actor-01 ran jailed: "), "{failed}");
}

#[test]
fn a_plugin_that_needs_a_library_of_the_system_finds_it_and_no_more() {
    // One of the C library, which replio itself does not need.
    let source = r#"
        use replio_plugin_api::{export_plugin, AgentType, Plugin, Result, TypeRegistry};
        #[link(name = "resolv")]
        extern "C" {
            fn __b64_ntop();
        }
        struct Needy;
        impl Plugin for Needy {
            fn register_types(registry: &mut TypeRegistry) -> Result<()> {
                println!("address {}", __b64_ntop as usize != 0);
                println!("passwd {:?}", std::fs::read("/etc/passwd").err().and_then(|error| error.raw_os_error()));
                registry.add_plugin(AgentType::new("needy"))
            }
        }
        export_plugin!(Needy);
    "#;
    let world = World::new();
    let library = Plugin::new("needy", source).build();
    let ran = world.ok(&["plugins", "install", text(&library), "--verbose"]);
    assert!(ran.stderr.contains("printed: address true"), "{ran}");
    let jail = world.json(&["plugins", "show", "needy"])["plugin"]["jail"].clone();
    if jail["landlock"] != "none" {
        assert!(ran.stderr.contains(&format!("printed: passwd Some({ACCESS})")), "{ran}");
    }
    // A record of before libraries were recorded is one of which nobody knows.
    let lock = world.local().join("plugins/plugins.lock");
    let mut list: serde_json::Value = serde_json::from_str(&fs::read_to_string(&lock).unwrap()).unwrap();
    let needs = list["plugins"]["needy"]["needs"].as_object_mut().unwrap();
    assert!(needs["libraries"].as_array().unwrap().iter().any(|library| library == "libresolv.so.2"));
    needs.remove("libraries");
    world.write(&lock, list.to_string());
    assert_eq!(world.types().0, ["needy"]);
}
