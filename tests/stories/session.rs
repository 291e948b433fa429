//! What `replio` alone does with lines that come from a pipe.

use replio_tests::{Plugin, World};

#[test]
fn lines_are_commands_and_errors_do_not_end_the_session() {
    let world = World::new();
    let lines = "/type list research\n\nhello there\nexit\n/tpye\n/type shw x\n/type new \"open\n\
                 /type new mine \"Don't guess.\" --deny web\n/type show mine\n/skill new x --from -\n\
                 /help\n/team list writing --json\n/exit\n/type\n";
    let ran = world.run_with_input(&[], lines);
    insta::assert_snapshot!(ran.to_string());
    assert_eq!(world.run_with_input(&[], "/team list writing\n/skill").code, 0);
}

#[test]
fn json_is_one_document_on_one_line_for_each_line() {
    let world = World::new();
    let ran =
        world.run_with_input(&["--json"], "/skill\nhello\n/type new\n/help type\n/nonsense\n/type show x\n");
    let documents: Vec<serde_json::Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).expect("one document")).collect();
    assert_eq!(documents.len(), 6, "{ran}");
    assert_eq!(documents[0], serde_json::json!({ "skills": [] }));
    let codes: Vec<_> = documents.iter().map(|document| document["error"]["code"].as_str()).collect();
    let expected =
        [None, Some("no-provider"), Some("usage"), None, Some("unknown-command"), Some("unknown-type")];
    assert_eq!(codes, expected);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
}

#[test]
fn plugins_run_once_for_many_lines_and_again_after_a_change() {
    let world = World::new();
    let plugin = Plugin::with_hooks(
        "talker",
        r#"println!("here"); registry.add_plugin(AgentType::new("talker").system_prompt("You talk."))"#,
        "",
        "",
    );
    let library = plugin.build();
    let lines = format!(
        "/type show talker\n/plugins install '{}'\n/type list\n/type show talker\n/skill\n/plugins disable talker\n/type show talker\n",
        library.display()
    );
    let ran = world.run_with_input(&["--verbose"], &lines);
    assert_eq!(ran.stderr.matches("there is no agent type `talker`").count(), 2, "{ran}");
    assert_eq!(ran.stdout.matches("You talk.").count(), 1, "{ran}");
    assert_eq!(world.run(&["plugins", "enable", "talker"]).code, 0);
    let ran = world.run_with_input(&["--verbose"], "/type\n/skill\n/team\n/type show talker\n");
    assert_eq!(ran.stderr.matches("plugin talker printed: here").count(), 1, "{ran}");
    let off = world.run_with_input(&["--no-plugins"], "/type show talker\n");
    assert_eq!(off.code, 1, "{off}");
}

#[test]
fn files_that_change_between_lines_are_seen() {
    let world = World::new();
    let ran = world.run_with_input(
        &[],
        "/type new a One.\n/type new a Two.\n/type show a --resolved\n/type remove a\n/type show a\n",
    );
    assert!(ran.stdout.contains("\nTwo.\n"), "{ran}");
    assert!(ran.stderr.contains("no agent type `a`"), "{ran}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_session_whose_terminal_is_gone_ends() {
    use std::io::{Read as _, Write as _};
    use std::os::fd::{FromRawFd as _, OwnedFd};

    let world = World::new();
    // Closed in all that is started, or the terminal would not be gone.
    // SAFETY: it opens a descriptor that nobody else has, and makes its other end
    // ready.
    let (terminal, name) = unsafe {
        let terminal = libc::posix_openpt(libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC);
        assert!(terminal >= 0 && libc::grantpt(terminal) == 0 && libc::unlockpt(terminal) == 0);
        let mut name = [0; 64];
        assert_eq!(libc::ptsname_r(terminal, name.as_mut_ptr(), name.len()), 0);
        let name = std::ffi::CStr::from_ptr(name.as_ptr()).to_str().unwrap().to_owned();
        (OwnedFd::from_raw_fd(terminal), name)
    };
    let other = std::fs::File::options().read(true).write(true).open(name).unwrap();
    let mut command = world.command(&[]);
    command.stdin(other.try_clone().unwrap()).stdout(other.try_clone().unwrap()).stderr(other);
    let mut session = command.spawn().unwrap();
    drop(command);
    let mut terminal = std::fs::File::from(terminal);
    let mut seen = Vec::new();
    // Until it is at its prompt; it asks the terminal where the cursor is.
    while !String::from_utf8_lossy(&seen).contains("[6n") {
        let mut bytes = [0; 1024];
        let read = terminal.read(&mut bytes).unwrap();
        seen.extend(&bytes[..read]);
    }
    terminal.write_all(b"\x1b[1;1R").unwrap();
    drop(terminal);
    let started = std::time::Instant::now();
    let ended = loop {
        match session.try_wait().unwrap() {
            Some(ended) => break Some(ended),
            None if started.elapsed() > std::time::Duration::from_secs(60) => break None,
            None => std::thread::sleep(std::time::Duration::from_millis(20)),
        }
    };
    if ended.is_none() {
        session.kill().unwrap();
    }
    assert!(ended.is_some(), "it goes on without a terminal");
}
