//! Walks through every step in which a command changes a file, and lets each of
//! them fail, or be the last thing that the process does. See
//! `host/src/files/fault.rs` for what can be asked for.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use crate::{World, tree};

/// What goes wrong at each step, one after another.
type Track = fn(usize) -> &'static str;

/// Kills at each step, and one kind of error in turn.
const IN_TURN: [Track; 4] = [|_| "kill", |_| "kill-after", |_| "half", error_in_turn];

/// All that can go wrong, at each step.
const EACH: [Track; 11] = [
    |_| "kill",
    |_| "kill-after",
    |_| "half",
    |_| "full",
    |_| "denied",
    |_| "read-only",
    |_| "io",
    |_| "full+",
    |_| "denied+",
    |_| "read-only+",
    |_| "io+",
];

fn error_in_turn(step: usize) -> &'static str {
    ["full+", "denied", "io", "read-only+", "full", "denied+", "io+", "read-only"][step % 8]
}

/// The codes of errors that say that there is nothing left to be done.
const DONE_ALREADY: [&str; 5] =
    ["already-there", "not-installed", "unknown-type", "unknown-skill", "not-removable"];

/// A command that changes something.
#[derive(Debug, Clone, Copy)]
pub struct Change<'a> {
    /// The command.
    pub arguments: &'a [&'a str],
    /// Another change in the same place, after which nothing is left over.
    pub next: &'a [&'a str],
    /// Whether doing it twice is as not doing it.
    pub undoes_itself: bool,
    /// Whether every kind of error happens at every step, or one in turn.
    pub all_kinds: bool,
}

/// What there is: the files that count, and what `replio` says of them.
#[derive(PartialEq, Eq)]
struct State {
    files: BTreeMap<PathBuf, Vec<u8>>,
    said: Vec<String>,
}

/// How things stand after a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stands {
    AsBefore,
    Changed,
}

/// One change in one prepared world.
struct Walk<'a> {
    prepared: &'a World,
    change: &'a Change<'a>,
    before: State,
    after: State,
    /// What each step does when nothing goes wrong.
    steps: Vec<String>,
    /// What faults left behind, and was looked at and cleared up before.
    seen: Mutex<HashSet<u64>>,
}

/// Makes a change in copies of a prepared world, with a fault at each step in
/// turn. After each one there is the old state or the new one, the same command
/// does it without any repair, and nothing is left over after the next change.
///
/// # Panics
/// When that is not so.
pub fn survives_faults_at_every_step(prepared: &World, change: &Change<'_>) {
    let place = prepared.copied();
    let (list, before) = (place.path("steps"), State::of(&place));
    let output = place.command(change.arguments).env("REPLIO_TEST_FILE_STEPS", &list).output();
    let output = output.expect("replio starts");
    assert!(output.status.success(), "{:?}: {output:?}", change.arguments);
    let after = State::of(&place);
    assert!(before.files != after.files, "{:?} changes nothing", change.arguments);
    let steps = lines(&list);
    let walk = Walk { prepared, change, before, after, steps, seen: Mutex::default() };
    let tracks: &[Track] = if change.all_kinds { &EACH } else { &IN_TURN };
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while let Some(track) = tracks.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let steps = (1..).take_while(|step| walk.at(*step, track(*step))).count();
                    assert!(steps > 0, "{:?} has no step", change.arguments);
                }
            });
        }
    });
}

impl Walk<'_> {
    /// Makes the change with a fault at this step, and says whether it came so
    /// far.
    fn at(&self, step: usize, what: &str) -> bool {
        let is_write = |line: &String| line.split(' ').nth(1) == Some("write");
        if what == "half" && !self.steps.get(step - 1).is_some_and(is_write) {
            return step <= self.steps.len();
        }
        let place = self.prepared.copied();
        let list = place.path("steps");
        let output = place
            .command(self.change.arguments)
            .arg("--json")
            .env("REPLIO_TEST_FILE_FAULT", format!("{step}:{what}"))
            .env("REPLIO_TEST_FILE_STEPS", &list)
            .output()
            .expect("replio starts");
        let steps = lines(&list);
        let Some(at) = steps.get(step - 1) else { return false };
        let context = format!("{:?} with {what} at step {at}", self.change.arguments);
        let said = [&output.stdout[..], &output.stderr].concat();
        let context = format!("{context}\n{}", String::from_utf8_lossy(&said));
        let stands = self.stands(&place, &context);
        match output.status.code() {
            None => {
                assert!(what.starts_with("kill") || what == "half", "{context}");
                assert_eq!(output.status.signal(), Some(libc::SIGKILL), "{context}");
            }
            Some(0) => {
                assert_eq!(stands, Stands::Changed, "{context}");
                assert!(may_fail(at), "{context}: it goes unnoticed");
            }
            Some(1) => {
                assert_eq!(stands, Stands::AsBefore, "{context}");
                says_what_and_why(&place, &output.stdout, what, &context);
                assert_eq!(output.stderr, b"", "{context}");
            }
            Some(code) => panic!("exit {code}: {context}"),
        }
        if self.is_new(&place) {
            self.is_whole(&place, stands, &context);
            self.goes_on(&place, stands, &context);
        }
        true
    }

    fn stands(&self, place: &World, context: &str) -> Stands {
        let files = what_counts(place);
        if files == self.before.files {
            Stands::AsBefore
        } else if files == self.after.files {
            Stands::Changed
        } else {
            let differ = |other: &State| {
                let is_other = |path: &&PathBuf| files.get(*path) != other.files.get(*path);
                let paths: Vec<_> = files.keys().chain(other.files.keys()).filter(is_other).collect();
                format!("{paths:?}")
            };
            panic!(
                "neither the old state nor the new one: {context}\nnot as before: {}\nnot as it should be: {}",
                differ(&self.before),
                differ(&self.after)
            );
        }
    }

    /// Whether nothing like this was seen before.
    fn is_new(&self, place: &World) -> bool {
        let mut hasher = DefaultHasher::new();
        for (path, what) in everything(place) {
            let what = String::from_utf8(what)
                .map_or_else(|raw| raw.into_bytes(), |text| without_times(&text).into());
            (without_chance(&path), mode(&place.root().join(&path)), what).hash(&mut hasher);
        }
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(hasher.finish())
    }

    /// `replio` says what it says of that state.
    fn is_whole(&self, place: &World, stands: Stands, context: &str) {
        let state = if stands == Stands::AsBefore { &self.before } else { &self.after };
        assert_eq!(said(place), state.said, "{context}");
    }

    /// The same command does it, the next one clears up.
    fn goes_on(&self, place: &World, stands: Stands, context: &str) {
        if stands == Stands::AsBefore || !self.change.undoes_itself {
            let again = place.run(&[self.change.arguments, &["--json"]].concat());
            let document: Value = serde_json::from_str(&again.stdout)
                .unwrap_or_else(|error| panic!("{error}: {again}\n{context}"));
            let code = document["error"]["code"].as_str();
            let is_done = stands == Stands::Changed && code.is_some_and(|code| DONE_ALREADY.contains(&code));
            assert!(again.code == 0 || is_done, "once more: {again}\n{context}");
            assert_eq!(self.stands(place, context), Stands::Changed, "once more: {again}\n{context}");
        }
        let next = place.run(self.change.next);
        assert_eq!(next.code, 0, "{next}\n{context}");
        let verify = place.run(&["plugins", "verify"]);
        assert_eq!(verify.code, 0, "{verify}\n{context}");
        let left = left_over(place);
        assert!(left.is_empty(), "{left:?} is left over: {context}");
    }
}

impl State {
    fn of(world: &World) -> Self {
        Self { files: what_counts(world), said: said(world) }
    }
}

/// A step whose failure costs nothing: what it would have done is done by the
/// next change, or only makes something quicker or safer.
fn may_fail(step: &str) -> bool {
    let action = step.split(' ').nth(1).unwrap_or_default();
    matches!(action, "settle" | "remove") || step.contains("/cache")
}

/// Checks the JSON document of a failure.
fn says_what_and_why(place: &World, stdout: &[u8], what: &str, context: &str) {
    let document: Value = serde_json::from_slice(stdout).unwrap_or_else(|error| panic!("{error}: {context}"));
    let message = document["error"]["message"].as_str().unwrap_or_else(|| panic!("{context}"));
    let cause = match what.trim_end_matches('+') {
        "full" => "No space left on device",
        "denied" => "Permission denied",
        "read-only" => "Read-only file system",
        _ => "Input/output error",
    };
    assert!(message.contains(cause), "{cause}: {context}");
    assert!(message.contains(&place.root().display().to_string()), "no file is named: {context}");
    assert!(document["error"]["help"].is_string(), "{context}");
}

/// What `replio` says of all there is.
fn said(world: &World) -> Vec<String> {
    let lists = [["plugins", "list"], ["type", "list"], ["skill", "list"], ["plugins", "verify"]];
    let said = |list: &[&str; 2]| world.run(&[list, &["--json"][..]].concat()).to_string();
    lists.iter().map(said).map(|text| without_times(&text)).collect()
}

/// Each file of home and project that means something: not what is being
/// written, staged, locked, or noted to save time, nor a library that no list
/// speaks of.
fn what_counts(world: &World) -> BTreeMap<PathBuf, Vec<u8>> {
    let everything = everything(world);
    let lists = everything.iter().filter(|(path, _)| path.ends_with("plugins.lock"));
    let lists: Vec<_> = lists.map(|(_, text)| String::from_utf8_lossy(text).into_owned()).collect();
    let counts = |path: &Path| {
        let names: Vec<_> = path.iter().map(|name| name.to_string_lossy()).collect();
        let is_spoken_of = |digest: &str| lists.iter().any(|list| list.contains(digest));
        let is_of_use = match names.iter().position(|name| name == "plugins") {
            Some(at) => match names[at + 1..] {
                [ref name, ref digest, ..] if name == "store" => is_spoken_of(digest),
                [ref name, ..] => !matches!(name.as_ref(), "staging" | "lock"),
                [] => true,
            },
            None => true,
        };
        let is_passing = |name: &str| name.starts_with(".replio-") || matches!(name, ".gitignore" | "cache");
        is_of_use && !names.iter().any(|name| is_passing(name)) && !world.root().join(path).is_dir()
    };
    let files = everything.into_iter().filter(|(path, _)| counts(path));
    // Where the story's folder is differs from copy to copy.
    let root = world.root().display().to_string();
    let counted = |path: &Path, what| {
        let what = counted(path, what, &lists)?;
        Some(
            String::from_utf8(what)
                .map_or_else(|raw| raw.into_bytes(), |text| text.replace(&root, "").into()),
        )
    };
    files.filter_map(|(path, what)| counted(&path, what).map(|what| (path, what))).collect()
}

/// What counts of a file. What is trusted or set aside is noted by digest, and
/// counts where a list speaks of that; when it was noted never does.
fn counted(path: &Path, what: Vec<u8>, lists: &[String]) -> Option<Vec<u8>> {
    if !path.ends_with("trust.json") && !path.ends_with("quarantine.json") {
        return Some(what);
    }
    let mut document: Value = serde_json::from_slice(&what).expect("it is whole");
    let sections = document.as_object_mut().expect("an object");
    sections.remove("version");
    if let Some(plugins) = sections.get_mut("plugins").and_then(Value::as_object_mut) {
        plugins.retain(|digest, _| lists.iter().any(|list| list.contains(digest)));
    }
    sections.retain(|_, section| section.as_object().is_none_or(|section| !section.is_empty()));
    (!sections.is_empty()).then(|| without_times(&document.to_string()).into_bytes())
}

/// `2026-12-01T00:15:42Z` becomes `[time]`.
fn without_times(text: &str) -> String {
    let is_time = |part: &str| part.len() == 20 && part.ends_with('Z') && part.as_bytes()[10] == b'T';
    let parts = text.split('"').map(|part| if is_time(part) { "[time]" } else { part });
    parts.collect::<Vec<_>>().join("\"")
}

/// All there is in home and project, by its path in the world.
fn everything(world: &World) -> BTreeMap<PathBuf, Vec<u8>> {
    let root = world.root();
    let mut everything = tree(&world.home());
    everything.extend(tree(&world.project()));
    let inside = |path: PathBuf| path.strip_prefix(&root).expect("it is in the world").to_owned();
    everything.into_iter().map(|(path, what)| (inside(path), what)).collect()
}

/// What a killed process may leave behind, and the next one has to remove; but
/// not where checks are noted, which the next note clears up.
fn left_over(world: &World) -> Vec<PathBuf> {
    let everything = everything(world);
    let counts = what_counts(world);
    let is_left_over = |path: &&PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_in = |folder: &str| path.parent().is_some_and(|parent| parent.ends_with(folder));
        let is_unused = is_in("plugins/store") && !counts.keys().any(|counting| counting.starts_with(path));
        let is_unfinished = name.starts_with(".replio-") && !is_in("cache");
        is_unfinished || name.starts_with("replio-") || is_in("plugins/staging") || is_unused
    };
    everything.keys().filter(is_left_over).cloned().collect()
}

/// The path with the names that are made up each time made the same.
fn without_chance(path: &Path) -> PathBuf {
    let name = |name: std::borrow::Cow<'_, str>| {
        let made_up = [".replio-", "replio-"].into_iter().find(|begin| name.starts_with(begin));
        made_up.map_or(name.clone().into_owned(), |begin| begin.to_owned() + "*")
    };
    path.iter().map(|part| name(part.to_string_lossy())).collect()
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).map_or(0, |metadata| metadata.permissions().mode())
}

fn lines(path: &Path) -> Vec<String> {
    fs::read_to_string(path).unwrap_or_default().lines().map(str::to_owned).collect()
}
