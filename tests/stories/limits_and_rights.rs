//! What the system really refuses: files that are too large, more open files,
//! folders of others; and what goes away meanwhile. `file_faults` has the same
//! at every single step.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};

use replio_tests::{World, text, tree};
use serde_json::Value;

/// What the command comes to where the system gives it no more than this.
fn within(world: &World, resource: Resource, most: u64, arguments: &[&str]) -> Output {
    let mut command = world.command(arguments);
    let set = move || {
        let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
        // SAFETY: it reads a value that lives.
        if unsafe { libc::setrlimit(resource, &raw const limit) } == 0 {
            Ok(())
        } else {
            Err(std::io::Error::last_os_error())
        }
    };
    // SAFETY: between fork and exec, `set` makes a system call and nothing else.
    unsafe { command.pre_exec(set) }.output().unwrap()
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
type Resource = libc::__rlimit_resource_t;
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
type Resource = libc::c_int;

/// The failure that is told as JSON.
fn failure(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let document: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    assert!(document["error"]["help"].is_string(), "{document}");
    document["error"].clone()
}

#[test]
fn a_file_that_may_not_be_that_large_changes_nothing() {
    let mut world = World::new();
    world.install_actor(1, "type=a");
    world.ok(&["type", "new", "auditor", "You audit."]);
    let source = world.actor(2);
    for arguments in [
        &["plugins", "install", text(&source), "--json"][..],
        &["plugins", "disable", "actor-01", "--json"],
        &["plugins", "uninstall", "actor-01", "--json"],
        &["type", "new", "auditor", "You do audit.", "--json"],
        &["type", "remove", "auditor", "--json"],
        &["skill", "new", "notes", "--from", text(&world.project().join(".replio/types.json")), "--json"],
    ] {
        let before = tree(&world.project());
        for most in [0, 100, 50_000] {
            // The system ends whoever goes beyond.
            let output = within(&world, libc::RLIMIT_FSIZE, most, arguments);
            if output.status.signal() != Some(libc::SIGXFSZ) {
                assert!(most > 0 && output.status.success(), "{arguments:?} {most}: {output:?}");
                break;
            }
            let now = tree(&world.project());
            for (path, what) in &before {
                assert_eq!(now.get(path), Some(what), "{arguments:?} {most}: {}", path.display());
            }
            world.ok(&["plugins", "verify"]);
            assert_eq!(world.types().0, ["a", "auditor"], "{arguments:?} {most}");
        }
        // As it was, for the next one.
        fs::remove_dir_all(world.local()).unwrap();
        for (path, what) in &before {
            if what != b"a folder" {
                world.write(path, what);
            }
        }
    }
    assert_eq!(left_over(&world), Vec::<PathBuf>::new());
}

fn left_over(world: &World) -> Vec<PathBuf> {
    let is_left_over = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(".replio-") || name.starts_with("replio-")
    };
    tree(&world.project()).into_keys().filter(is_left_over).collect()
}

#[test]
fn too_few_open_files_cost_an_error_at_most() {
    let mut world = World::new();
    world.tell(1, "type=a");
    let source = world.actor(1);
    let install = ["plugins", "install", text(&source), "--json"];
    let mut done = 0;
    for most in 5..40 {
        let output = within(&world, libc::RLIMIT_NOFILE, most, &install);
        if output.status.success() {
            done += 1;
            assert_eq!(world.standing(), ["actor-01 local enabled"], "{most}");
            world.ok(&["plugins", "uninstall", "actor-01"]);
        } else {
            failure(&output);
            assert_eq!(world.standing(), Vec::<String>::new(), "{most}: {output:?}");
        }
    }
    assert!(done > 0, "no install came to its end");
    world.ok(&["plugins", "install", text(&source)]);
    world.ok(&["plugins", "verify"]);
    assert_eq!(left_over(&world), Vec::<PathBuf>::new());
}

/// The command, as a user whom permissions bind.
fn as_ordinary_user(world: &World, program: &Path, arguments: &[&str]) -> Output {
    let command = world.command(arguments);
    let mut of_user = Command::new(program);
    of_user.args(command.get_args()).current_dir(world.project()).env_clear();
    let environment = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
    of_user.envs(environment.collect::<Vec<_>>());
    if is_root() {
        of_user.uid(NOBODY).gid(NOBODY);
    }
    of_user.output().unwrap()
}

const NOBODY: u32 = 65534;

fn is_root() -> bool {
    // SAFETY: it only says who runs this.
    unsafe { libc::geteuid() == 0 }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_folder_that_may_not_be_written_to_is_named_and_nothing_is_changed() {
    let mut world = World::new();
    world.tell(1, "type=a");
    world.install_actor(9, "type=other");
    world.ok(&["type", "new", "auditor", "You audit."]);
    world.ok(&["skill", "new", "notes"]);
    let (source, program) = (world.actor(1), world.path("replio"));
    fs::copy(replio_tests::replio(), &program).unwrap();
    // Where permissions bind nobody, the story is that of somebody else.
    if is_root() {
        set_mode(&world.root(), 0o755);
        for path in tree(&world.root()).into_keys().chain([world.root()]) {
            chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }
    let run = |arguments: &[&str]| as_ordinary_user(&world, &program, arguments);
    let plugins: &[&[&str]] = &[
        &["plugins", "install", text(&source), "--json"],
        &["plugins", "disable", "actor-09", "--json"],
        &["plugins", "uninstall", "actor-09", "--json"],
    ];
    let entries: &[&[&str]] =
        &[&["type", "new", "auditor", "You do audit.", "--json"], &["type", "remove", "auditor", "--json"]];
    let skills: &[&[&str]] = &[&["skill", "new", "more", "--json"], &["skill", "remove", "notes", "--json"]];
    for (closed, mode, refused) in [
        (".replio/plugins", 0o555, plugins),
        (".replio/plugins/staging", 0o555, &plugins[..1]),
        (".replio/plugins/store", 0o555, &plugins[..1]),
        (".replio/plugins/lock", 0o444, plugins),
        (".replio", 0o555, entries),
        (".replio/skills", 0o555, skills),
    ] {
        let path = world.project().join(closed);
        let open = fs::metadata(&path).unwrap().permissions().mode();
        set_mode(&path, mode);
        let before = tree(&world.project());
        for arguments in refused {
            let error = failure(&run(arguments));
            let message = error["message"].as_str().unwrap();
            assert!(message.contains("Permission denied") && message.contains(closed), "{closed}: {error}");
            assert!(tree(&world.project()) == before, "{closed}: {arguments:?} left something");
        }
        assert!(run(&["plugins", "verify"]).status.success(), "{closed}: looking needs no more rights");
        set_mode(&path, open);
    }
    // What only clears up is done the next time.
    set_mode(&world.local().join("plugins/store"), 0o555);
    assert!(run(&["plugins", "uninstall", "actor-09"]).status.success());
    set_mode(&world.local().join("plugins/store"), 0o755);
    for arguments in [plugins[0], entries[0], entries[1], skills[0], skills[1]] {
        let output = run(arguments);
        assert!(output.status.success(), "{output:?}");
    }
    assert_eq!(world.standing(), ["actor-01 local enabled"]);
    assert_eq!(fs::read_dir(world.local().join("plugins/store")).unwrap().count(), 1);
    assert_eq!(left_over(&world), Vec::<PathBuf>::new());
}

#[test]
fn a_store_that_goes_away_meanwhile_costs_an_error_at_most() {
    let mut world = World::new();
    world.tell(1, "type=a");
    let source = world.actor(1);
    let goes_on = AtomicBool::new(true);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while goes_on.load(Ordering::SeqCst) {
                let _ = fs::remove_dir_all(world.local().join("plugins"));
                std::thread::sleep(std::time::Duration::from_millis(3));
            }
        });
        for _ in 0..25 {
            let output = world.command(&["plugins", "install", text(&source), "--json"]).output().unwrap();
            if !output.status.success() {
                failure(&output);
            }
        }
        goes_on.store(false, Ordering::SeqCst);
    });
    world.run(&["plugins", "uninstall", "actor-01"]);
    world.ok(&["plugins", "install", text(&source)]);
    world.ok(&["plugins", "verify"]);
    assert_eq!(world.types().0, ["a"]);
}
