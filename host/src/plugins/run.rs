//! The host's side of a run: it starts the runner, waits no longer than the
//! limits allow, and checks what comes back. Nothing here can fail because of
//! a plugin: whatever a plugin does becomes a [`Fault`] of that plugin.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use indexmap::IndexMap;

use crate::catalog::{Entry, Kind, Layer, Origin, Scope, entry_from_json};
use crate::diagnostic::Diagnostic;
use crate::names::PluginName;
use crate::plugins::jail::Jail;
use crate::plugins::load::{Ended, How, PluginToRun, RUNNER_VERB, Request, SIDE_BY_SIDE};
use crate::plugins::report::{Failure, Limits, Report, ReportError, Stage, jail_of};

mod fault;
mod words;

pub use fault::{Blame, Fault, FaultKind, JAILED};
pub use words::read_end;

/// What one plugin brought.
#[derive(Debug, Clone)]
pub struct Contribution {
    /// Its entries, a layer for each kind in the order of [`Kind::ALL`].
    pub layers: Vec<Layer>,
    /// What it told the host while its hooks ran.
    pub log: Vec<String>,
    /// What it printed.
    pub output: String,
    /// What held it while it ran.
    pub jail: Jail,
}

impl Contribution {
    /// What there is to tell about the run, for those who want to know.
    pub fn told(&self, name: &PluginName) -> Vec<String> {
        told(name, Some(&self.jail), &self.log, &self.output)
    }

    /// The entries of one kind.
    ///
    /// # Panics
    /// Never: there is a layer for each kind.
    pub fn layer(&self, kind: Kind) -> &Layer {
        self.layers.iter().find(|layer| layer.kind == kind).expect("a layer for each kind")
    }

    /// How many entries there are in all.
    pub fn len(&self) -> usize {
        self.layers.iter().map(|layer| layer.entries.len()).sum()
    }

    /// Whether the plugin brought nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

fn told(name: &PluginName, jail: Option<&Jail>, log: &[String], output: &str) -> Vec<String> {
    let jail = jail.map(|jail| format!("plugin {name} ran jailed: {jail}"));
    let log = log.iter().flat_map(|text| text.lines()).map(|line| format!("plugin {name}: {line}"));
    let output = output.lines().map(|line| format!("plugin {name} printed: {line}"));
    jail.into_iter().chain(log).chain(output).collect()
}

/// A library to run, and what is known of it beforehand.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// What the runner is asked to open.
    pub to_run: PluginToRun,
    /// Where it is, or will be, installed.
    pub scope: Scope,
    /// Whether its manifest says that a panic aborts it.
    pub panic_aborts: bool,
}

/// Runs each plugin in a child of its own, and says for each one, in the order
/// given, what it brought or what went wrong.
pub fn run(candidates: &[Candidate]) -> Vec<Result<Contribution, Fault>> {
    if candidates.is_empty() {
        return Vec::new();
    }
    let limits = Limits::in_force();
    let plugins = candidates.iter().map(|candidate| candidate.to_run.clone()).collect();
    let request = Request { limits, plugins, probe: false };
    let (mut ends, mut trouble) = talk(&request);
    if ends.len() < candidates.len() && candidates.len() > 1 {
        // The runner is gone, perhaps by the hand of a plugin. Each one that is
        // left gets a runner of its own, so that only the culprit has none.
        for (index, candidate) in candidates.iter().enumerate() {
            if !ends.contains_key(&index) {
                let alone = Request { limits, plugins: vec![candidate.to_run.clone()], probe: false };
                let (mut end, trouble_alone) = talk(&alone);
                trouble = trouble_alone;
                ends.extend(end.swap_remove(&0).map(|end| (index, end)));
            }
        }
    }
    candidates
        .iter()
        .enumerate()
        .map(|(index, candidate)| match ends.swap_remove(&index) {
            Some((ended, report)) => judge(candidate, ended, &report, &limits),
            None => Err(Fault::new(
                &candidate.to_run.name,
                FaultKind::Runner(format!("the runner gave no word of it: {trouble}")),
            )),
        })
        .collect()
}

/// What a plugin's jail is on this system, without running one.
///
/// # Errors
/// When no process could tell.
pub fn probe() -> Result<Jail, String> {
    let request = Request { limits: Limits::in_force(), plugins: Vec::new(), probe: true };
    let (mut ends, trouble) = talk(&request);
    match ends.swap_remove(&0) {
        Some((Ended { how: How::NotStarted(error), .. }, _)) => Err(error),
        Some((_, report)) => match jail_of(&report) {
            Ok((jail, _)) => Ok(jail),
            Err(error) => Err(format!("its report can't be read: {error}")),
        },
        None => Err(format!("the runner gave no word of it: {trouble}")),
    }
}

/// Turns how a child ended and what it reported into a contribution, if it is
/// one.
fn judge(candidate: &Candidate, ended: Ended, report: &[u8], limits: &Limits) -> Result<Contribution, Fault> {
    let name = &candidate.to_run.name;
    let (jail, report) = match jail_of(report) {
        Ok((jail, rest)) => (Some(jail), rest),
        Err(_) => (None, report),
    };
    let read = jail.ok_or(ReportError::NoJail).and_then(|jail| {
        let report = Report::read(report, &candidate.to_run.sha256, limits)?;
        Ok((jail, report))
    });
    let fault = |kind| Err(Fault { jail, ..Fault::new(name, kind).printed(&ended.output) });
    let (jail, report) = match (&ended.how, read) {
        (How::Exited(0), Ok(read)) => read,
        // It ends so before it opens the plugin.
        (How::Exited(_), Err(ReportError::NoJail)) if report.is_empty() => {
            return fault(FaultKind::Runner("its process could not be set up".into()));
        }
        (How::Exited(code), Err(_)) if report.is_empty() => return fault(FaultKind::EndedEarly(*code)),
        (How::Exited(0), Err(error)) => return fault(FaultKind::Malformed(error.to_string())),
        (How::Exited(code), _) => return fault(FaultKind::EndedEarly(*code)),
        (How::Signal(signal), _) => {
            return fault(FaultKind::Signal { signal: *signal, panic_aborts: candidate.panic_aborts });
        }
        (How::TimedOut, _) => return fault(FaultKind::TimedOut(limits.wall())),
        (How::UsedTooMuchTime, _) => {
            return fault(FaultKind::UsedTooMuchTime(Duration::from_secs(limits.cpu_seconds)));
        }
        (How::TooMuch, _) => {
            return fault(FaultKind::TooMuch(format!(
                "a report of more than {} bytes",
                limits.report_bytes()
            )));
        }
        (How::NotStarted(error), _) => return fault(FaultKind::Runner(error.clone())),
    };
    if let Some(failure) = report.failure {
        let kind = FaultKind::from_failure(failure, &candidate.to_run.path);
        return fault(kind).map_err(|fault| Fault { log: report.log, ..fault });
    }
    match layers(candidate, &report.entries) {
        Ok(layers) => Ok(Contribution { layers, log: report.log, output: ended.output, jail }),
        Err(kind) => fault(kind),
    }
}

fn layers(candidate: &Candidate, entries: &[(Kind, String)]) -> Result<Vec<Layer>, FaultKind> {
    let origin = Origin::Plugin { name: candidate.to_run.name.clone(), scope: candidate.scope };
    let mut layers = Kind::ALL.map(|kind| Layer::new(kind, origin.clone()));
    for (kind, json) in entries {
        let (name, entry): (_, Entry) =
            entry_from_json(*kind, json).map_err(|error| FaultKind::BadEntry(Box::new(error)))?;
        let layer = layers.iter_mut().find(|layer| layer.kind == *kind).expect("a layer for each kind");
        if layer.insert(name.clone(), entry).is_some() {
            let message = format!("it brings the {} {name} twice", kind.described());
            return Err(FaultKind::BadEntry(Box::new(Diagnostic::new("repeated-name", message))));
        }
    }
    Ok(layers.into())
}

type Ends = IndexMap<usize, (Ended, Vec<u8>)>;

/// What the runner said, and what is wrong where it did not say all.
fn talk(request: &Request) -> (Ends, String) {
    match talk_to_runner(request) {
        Ok(ends) => (ends, "it ended early".to_owned()),
        Err(error) => (Ends::new(), error.to_string()),
    }
}

/// Starts the runner and reads all it has to say, but waits for it no longer
/// than its children may take.
fn talk_to_runner(request: &Request) -> io::Result<Ends> {
    let mut runner = Command::new(this_program()?)
        .arg(RUNNER_VERB)
        // The environment may hold keys. Builds with debug assertions let through
        // what tests tell their plugins.
        .env_clear()
        .envs(std::env::vars_os().filter(|(name, _)| cfg!(debug_assertions) && is_for_tests(name)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let result = converse(&mut runner, request);
    // Its children end with it.
    let _ = runner.kill();
    let _ = runner.wait();
    result
}

fn is_for_tests(variable: &OsStr) -> bool {
    variable.as_encoded_bytes().starts_with(b"REPLIO_TEST_PLUGIN_")
}

fn converse(runner: &mut Child, request: &Request) -> io::Result<Ends> {
    let mut input = runner.stdin.take().ok_or_else(|| io::Error::other("no input"))?;
    let mut output = runner.stdout.take().ok_or_else(|| io::Error::other("no output"))?;
    input.write_all(&serde_json::to_vec(request)?)?;
    drop(input);
    let (limits, plugins) = (request.limits, request.children());
    let (sender, receiver) = mpsc::channel();
    std::thread::Builder::new().spawn(move || {
        while let Ok(Some(end)) = read_end(&mut output, &limits, plugins) {
            if sender.send(end).is_err() {
                return;
            }
        }
    })?;
    // From one word of the runner to the next it takes at most as long as a child
    // may run; the rest is for a machine that stands still for a while.
    let patience = limits.wall() + Duration::from_secs(10);
    let rounds = u32::try_from(plugins.div_ceil(SIDE_BY_SIDE)).unwrap_or(u32::MAX);
    let deadline = Instant::now() + limits.wall().saturating_mul(rounds) + Duration::from_secs(10);
    let mut ends = Ends::new();
    while ends.len() < plugins {
        let left = deadline.saturating_duration_since(Instant::now());
        // The channel closes when nothing more can be read.
        let Ok((ended, report)) = receiver.recv_timeout(left.min(patience)) else { break };
        // The first word about a plugin is the one that counts.
        ends.entry(ended.plugin).or_insert((ended, report));
    }
    // The runner still ends what plugins left behind, and then itself; but no
    // plugin can make anyone wait for long.
    let _ = receiver.recv_timeout(Duration::from_secs(2));
    Ok(ends)
}

/// This program, to start it again. On Linux it is the one that runs, even
/// when its file was replaced meanwhile.
fn this_program() -> io::Result<std::path::PathBuf> {
    let running = std::path::PathBuf::from("/proc/self/exe");
    if cfg!(target_os = "linux") && running.exists() { Ok(running) } else { std::env::current_exe() }
}
