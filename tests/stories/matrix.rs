//! Hostile plugins against every command: no cell may hang, end the host,
//! print broken JSON, lose another plugin's entries, or get out of the jail.
//! The snapshot is the matrix.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use replio_tests::{Plugin, Ran, World, replaced, text};

/// Longer than any cell may take, even on a busy machine; a hang lasts longer.
const PATIENCE: Duration = Duration::from_secs(120);
/// What no plugin may read.
const SECRET: &str = "hunter2-of-the-user";
const ONE: &str = "actor-01";

/// Command lines, one after the other.
type Lines<'a> = &'a [&'a [&'a str]];

/// How a plugin is hostile.
#[derive(Debug, Clone, Copy)]
enum Hostile {
    /// The actor, told these words. `[home]` is the user's.
    Told(&'static str),
    /// The same, but only after it was installed.
    Later(&'static str),
    /// The actor built so that a panic aborts, told to panic.
    PanicAborts,
    /// A plugin that goes around the API, told these words.
    WithoutApi(&'static str),
}

const FIXTURES: [(&str, Hostile); 36] = [
    ("abort", Hostile::Told("abort")),
    ("segfault", Hostile::Told("segv")),
    ("stack overflow", Hostile::Told("overflow")),
    ("call of null", Hostile::Told("null-call")),
    ("endless loop", Hostile::Told("loop")),
    ("sleep", Hostile::Told("sleep")),
    ("stops itself", Hostile::Told("stop")),
    ("exit(0)", Hostile::Told("exit=0")),
    ("_exit(0)", Hostile::Told("quick-exit=0")),
    ("out of memory", Hostile::Told("allocate")),
    ("panic", Hostile::Told("panic")),
    ("panic=abort", Hostile::PanicAborts),
    ("panic in drop", Hostile::Told("panic-bomb")),
    ("panic in a thread-local's destructor", Hostile::Told("type=one thread-local-bomb")),
    ("thread that aborts later", Hostile::Told("thread-abort-later sleep")),
    ("thread left running", Hostile::Told("type=one thread-left")),
    ("constructor that prints", Hostile::Told("open:print=x type=one")),
    ("constructor that crashes", Hostile::Told("open:segv")),
    ("floods stdout", Hostile::Told("print-without-end")),
    ("closes the report's descriptor", Hostile::Told("close=3 type=one")),
    ("writes to the report's descriptor", Hostile::Told("write=63ff type=one")),
    ("floods the report's descriptor", Hostile::Told("write-without-end")),
    ("changes directory, environment and signal handlers", Hostile::Told("change-process type=one")),
    ("forks", Hostile::Told("grandchild type=one")),
    ("starts a program", Hostile::Told("start-program=[home]/escaped type=one")),
    ("opens a socket", Hostile::Told("socket type=one")),
    ("writes to the home", Hostile::Told("marker=[home]/escaped type=one")),
    ("reads a key file", Hostile::Told("read=[home]/.ssh/id_ed25519 type=one")),
    ("kills the runner", Hostile::Told("kill-runner type=one")),
    ("100 MB entry", Hostile::WithoutApi("huge")),
    ("100,000 entries", Hostile::WithoutApi("hundred-thousand")),
    ("invalid UTF-8", Hostile::WithoutApi("bytes")),
    ("a list that is not there", Hostile::WithoutApi("forged")),
    ("crashes only the second time", Hostile::Later("abort")),
    ("hangs only the second time", Hostile::Later("open:sleep")),
    ("forged report", Hostile::Told("forge type=one")),
];

/// A person's computer with a good plugin on it, and a secret.
struct Victim {
    world: World,
    /// What the hostile plugin is called.
    name: String,
    /// Its library, and a newer build of it.
    libraries: [PathBuf; 2],
    hostile: String,
    harmless: &'static str,
    is_later: bool,
}

impl Victim {
    fn of(hostile: Hostile) -> Self {
        let mut world = World::new().environment("REPLIO_TEST_PLUGIN_MILLISECONDS", "2500");
        world.install_actor(9, "type=good");
        world.write(&world.home().join(".ssh/id_ed25519"), SECRET);
        let (name, script, libraries, harmless) = match hostile {
            Hostile::Told(script) | Hostile::Later(script) => {
                let libraries = [world.actor(1), world.actor_version(1, "2.0.0")];
                (ONE.to_owned(), script, libraries, "type=one")
            }
            Hostile::PanicAborts => {
                let actor = Plugin::new("actor-00", include_str!("../fixtures/actor.rs"));
                let built = fs::read(actor.profile("panic = \"abort\"").build()).unwrap();
                let one = replaced(&built, b"actor-00", ONE.as_bytes());
                let two = replaced(&one, b"version=1.0.0", b"version=2.0.0");
                let libraries = [world.path("1/libactor.so"), world.path("2/libactor.so")];
                world.write(&libraries[0], one);
                world.write(&libraries[1], two);
                (ONE.to_owned(), "panic", libraries, "type=one")
            }
            Hostile::WithoutApi(told) => {
                let plugin = Plugin::without_api("hostile", super::hostile_plugins::RETURNS);
                let libraries = [plugin.clone().build(), plugin.version("2.0.0").build()];
                ("hostile".to_owned(), told, libraries, "entries {\"name\":\"one\"}")
            }
        };
        let hostile_script = script.replace("[home]", text(&world.home()));
        let is_later = matches!(hostile, Hostile::Later(_));
        Self { world, name, libraries, hostile: hostile_script, harmless, is_later }
    }

    fn behave(&mut self, is_hostile: bool) {
        let script = if is_hostile { self.hostile.clone() } else { self.harmless.to_owned() };
        self.world.tell_plugin(&self.name, &script);
        // What the last cell set aside is not set aside for the next one.
        let _ = fs::remove_file(self.world.global().join("quarantine.json"));
    }

    /// One cell, as text and as JSON, from the same state: what it came to.
    fn cell(&mut self, row: &str, arguments: &[&str], prepare: Lines<'_>) -> String {
        let [text, json] = [false, true].map(|json| {
            self.behave(false);
            for arguments in prepare {
                self.world.run(arguments);
            }
            self.behave(!self.is_later || arguments[1] != "install");
            let arguments = if json { [arguments, &["--json"]].concat() } else { arguments.to_vec() };
            let started = Instant::now();
            let ran = self.world.run(&arguments);
            assert!(started.elapsed() < PATIENCE, "{row}: {ran}");
            self.check(row, &ran);
            if json { json_word(row, &ran) } else { text_word(&ran).to_owned() }
        });
        // Both forms tell the same.
        assert_eq!(text, json.split(':').next().unwrap_or_default(), "{row}");
        json.replace("done, warned: ", "! ").replace("refused: ", "x ")
    }

    fn check(&self, row: &str, ran: &Ran) {
        assert!(ran.code == 0 || ran.code == 1, "{row}: {ran}");
        // What it prints in the form of an answer.
        assert!(!ran.stdout.contains("{\"printed\""), "{row}: {ran}");
        let all = format!("{}{}", ran.stdout, ran.stderr);
        assert!(!all.contains('\u{1b}') && !all.contains("panicked at host"), "{row}: {ran}");
        if cfg!(target_os = "linux") {
            assert!(!all.contains(SECRET), "{row}: {ran}");
            assert!(!self.world.home().join("escaped").exists(), "{row}: {ran}");
        }
        if ran.line.starts_with("type list") {
            assert!(ran.stdout.contains("good"), "{row}: the other plugin's type is gone: {ran}");
        }
    }
}

/// "done", or why not; and what was warned of.
fn text_word(ran: &Ran) -> &'static str {
    match (ran.code, ran.stderr.contains("warning")) {
        (0, false) => "done",
        (0, true) => "done, warned",
        _ => "refused",
    }
}

fn json_word(row: &str, ran: &Ran) -> String {
    let document: serde_json::Value =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{row}: {error}: {ran}"));
    assert_eq!(ran.stderr, "", "{row}: {ran}");
    let warnings = document["warnings"].as_array().into_iter().flatten();
    let codes: Vec<&str> = warnings.map(|warning| warning["code"].as_str().unwrap()).collect();
    match (ran.code, codes.as_slice()) {
        (0, []) => "done".into(),
        (0, codes) => format!("done, warned: {}", codes.join(", ")),
        _ => format!("refused: {}", document["error"]["code"].as_str().unwrap()),
    }
}

/// The cells of one fixture.
fn row(name: &str, hostile: Hostile) -> String {
    let mut victim = Victim::of(hostile);
    let plugin = victim.name.clone();
    let [one, two] = victim.libraries.clone();
    let uninstall: &[&str] = &["plugins", "uninstall", &plugin];
    let install: &[&str] = &["plugins", "install", text(&one)];
    let disable: &[&str] = &["plugins", "disable", &plugin];
    let update: &[&str] = &["plugins", "update", &plugin, "--from", text(&two)];
    let anew: Lines<'_> = &[uninstall, install];
    let cells: [(&str, &[&str], Lines<'_>); 6] = [
        ("install", install, &[uninstall]),
        ("update", update, anew),
        ("enable", &["plugins", "enable", &plugin], &[uninstall, install, disable]),
        ("list", &["plugins", "list"], anew),
        ("type list", &["type", "list"], anew),
        ("uninstall", uninstall, anew),
    ];
    let mut text = format!("{name:<50}");
    for (command, arguments, prepare) in cells {
        let word = victim.cell(&format!("{name} x {command}"), arguments, prepare);
        write!(text, " {word:<20}").unwrap();
    }
    // Whatever it did, the others are there and all that is stored is whole.
    victim.behave(false);
    victim.world.ok(&["plugins", "verify"]);
    assert!(victim.world.types().0.contains(&"good".to_owned()), "{name}");
    text.trim_end().to_owned()
}

#[test]
fn no_hostile_plugin_harms_its_host_under_any_command() {
    let rows = Mutex::new(vec![String::new(); FIXTURES.len()]);
    let next = Mutex::new(0..FIXTURES.len());
    std::thread::scope(|scope| {
        // Most of them wait for what hangs.
        for _ in 0..6 {
            scope.spawn(|| {
                loop {
                    let Some(index) = next.lock().unwrap().next() else { return };
                    let (name, hostile) = FIXTURES[index];
                    let row = row(name, hostile);
                    rows.lock().unwrap()[index] = row;
                }
            });
        }
    });
    let head = ["", "install", "update", "enable", "list", "type list", "uninstall"];
    let mut matrix = String::from("done; x refused, with this code; ! done, with this warning\n\n");
    writeln!(
        matrix,
        "{:<50} {}",
        head[0],
        head[1..].iter().map(|cell| format!("{cell:<21}")).collect::<String>().trim_end()
    )
    .unwrap();
    matrix += &rows.into_inner().unwrap().join("\n");
    let world = World::new();
    world.ok(&["plugins", "install", text(&world.actor(1))]);
    let jail = world.json(&["plugins", "show", ONE])["plugin"]["jail"].clone();
    if jail["seccomp"] == "full" && jail["landlock"] != "none" {
        insta::assert_snapshot!(matrix);
    } else {
        println!("this system has less of a jail, in which some plugins fail otherwise: {jail}");
    }
}
