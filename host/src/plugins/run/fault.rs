//! What a plugin can do wrong, each thing in its own words: what happened, to
//! which plugin, and what to do next.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use super::{Failure, Stage};
use crate::diagnostic::Diagnostic;
use crate::names::PluginName;
use crate::plugins::jail::Jail;

/// What an author should know whose hook ran into the jail.
pub const JAILED: &str = "hooks run in a jail, without files, network, programs or environment; compile in what \
                          they need, with include_str!";

/// A plugin's fault.
#[derive(Debug, Clone)]
pub struct Fault {
    /// The plugin.
    pub plugin: PluginName,
    /// What it did.
    pub kind: FaultKind,
    /// What it told the host before.
    pub log: Vec<String>,
    /// What it printed before.
    pub output: String,
    /// What held it while it ran, where it got that far.
    pub jail: Option<Jail>,
}

/// The kinds of fault.
#[derive(Debug, Clone)]
pub enum FaultKind {
    /// It needs a library that is not on this system.
    MissingDependency(String),
    /// The system's loader refused it, for this reason.
    Open(String),
    /// Its binary interface is not the host's.
    Abi {
        /// In a sentence.
        message: String,
        /// All that is known.
        details: String,
    },
    /// A hook returned an error.
    HookFailed(String),
    /// A hook panicked.
    HookPanicked(String),
    /// It was ended by a signal.
    Signal {
        /// Its number.
        signal: i32,
        /// Whether a panic in it aborts.
        panic_aborts: bool,
    },
    /// It ended the process itself, with this exit code.
    EndedEarly(i32),
    /// It took longer than this.
    TimedOut(Duration),
    /// It used more processor time than this.
    UsedTooMuchTime(Duration),
    /// It brought more than is allowed.
    TooMuch(String),
    /// Its report is not what a report must be.
    Malformed(String),
    /// An entry that it brought is not one.
    BadEntry(Box<Diagnostic>),
    /// The machinery around it broke, and it is not to blame.
    Runner(String),
}

/// Whether a plugin that failed is to be run again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// It failed in words, or was not to blame: it may be run again.
    None,
    /// It was killed, by itself or from outside: once is no proof.
    Possible,
    /// It crashed, hung or lied.
    Certain,
}

impl Fault {
    /// A fault of this plugin.
    pub fn new(plugin: &PluginName, kind: FaultKind) -> Self {
        Self { plugin: plugin.clone(), kind, log: Vec::new(), output: String::new(), jail: None }
    }

    /// Adds what the plugin printed.
    #[must_use]
    pub fn printed(mut self, output: &str) -> Self {
        output.clone_into(&mut self.output);
        self
    }

    /// The word for scripts.
    pub fn code(&self) -> &'static str {
        match self.kind {
            FaultKind::MissingDependency(_) => "missing-dependency",
            FaultKind::Open(_) => "plugin-not-loaded",
            FaultKind::Abi { .. } => "plugin-incompatible",
            FaultKind::HookFailed(_) => "hook-failed",
            FaultKind::HookPanicked(_) => "hook-panicked",
            FaultKind::Signal { .. } | FaultKind::EndedEarly(_) => "plugin-crashed",
            FaultKind::TimedOut(_) | FaultKind::UsedTooMuchTime(_) => "plugin-timed-out",
            FaultKind::TooMuch(_) => "plugin-too-large",
            FaultKind::Malformed(_) | FaultKind::BadEntry(_) => "plugin-lied",
            FaultKind::Runner(_) => "runner-failed",
        }
    }

    /// Whether it may be run again.
    pub fn blame(&self) -> Blame {
        match &self.kind {
            FaultKind::Signal { signal, .. } if comes_from_outside(*signal) => Blame::Possible,
            FaultKind::Signal { .. }
            | FaultKind::EndedEarly(_)
            | FaultKind::TimedOut(_)
            | FaultKind::UsedTooMuchTime(_)
            | FaultKind::TooMuch(_)
            | FaultKind::Malformed(_)
            | FaultKind::BadEntry(_) => Blame::Certain,
            FaultKind::MissingDependency(_)
            | FaultKind::Open(_)
            | FaultKind::Abi { .. }
            | FaultKind::HookFailed(_)
            | FaultKind::HookPanicked(_)
            | FaultKind::Runner(_) => Blame::None,
        }
    }

    /// What happened, without the plugin's name.
    pub fn reason(&self) -> String {
        match &self.kind {
            FaultKind::MissingDependency(library) => {
                format!("it needs the library {library}, which is not on this system")
            }
            FaultKind::Open(message) => format!("the system's loader refused it: {message}"),
            FaultKind::HookFailed(message) => format!("{message} (its hook returned an error)"),
            FaultKind::Abi { message, .. } | FaultKind::HookPanicked(message) => message.clone(),
            FaultKind::Signal { signal, panic_aborts } => {
                let name = signal_name(*signal);
                let guess = match (name, panic_aborts) {
                    // What the standard library prints before it aborts.
                    (Some("SIGABRT"), _) if self.output.contains("has overflowed its stack") => {
                        "; its stack overflowed"
                    }
                    (Some("SIGABRT"), _) if self.output.contains("memory allocation of ") => {
                        "; it ran out of the 1 GiB of memory that it may use"
                    }
                    (Some("SIGXFSZ"), _) => "; it tried to write to a file",
                    (Some("SIGSYS"), _) => "; it made a system call for another kind of processor",
                    (Some("SIGABRT"), true) => "; it is built with panic=abort, so a panic may have done it",
                    (Some("SIGKILL"), _) => "; the system or a person killed it, perhaps for want of memory",
                    _ => "",
                };
                match name {
                    Some(name) => {
                        format!("it was ended by signal {signal} ({name}) while its hooks ran{guess}")
                    }
                    None => format!("it was ended by signal {signal} while its hooks ran"),
                }
            }
            FaultKind::EndedEarly(code) => {
                format!("its process ended with exit code {code} before it had reported")
            }
            FaultKind::TimedOut(limit) => {
                format!("its hooks took more than {} and were stopped", seconds(*limit))
            }
            FaultKind::UsedTooMuchTime(limit) => {
                format!("it used more than {} of processor time and was stopped", seconds(*limit))
            }
            FaultKind::TooMuch(what) => format!("it brought too much: {what}"),
            FaultKind::Malformed(reason) => format!("its report can't be believed: {reason}"),
            FaultKind::BadEntry(diagnostic) => {
                format!("it brought an entry that is none: {}", diagnostic.message)
            }
            FaultKind::Runner(reason) => format!("it could not be run: {reason}"),
        }
    }

    /// The last of what it printed, which often says what it died of.
    fn last_words(&self) -> Vec<String> {
        const LINES: usize = 3;
        const LONGEST: usize = 200;
        // What Rust says to set in the environment does not reach a plugin.
        let says_something =
            |line: &&str| !line.trim().is_empty() && !line.starts_with("note: run with `RUST_BACKTRACE");
        let lines: Vec<&str> = self.output.lines().filter(says_something).collect();
        let cut = |line: &&str| match line.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => (*line).to_owned(),
        };
        lines[lines.len().saturating_sub(LINES)..].iter().map(cut).collect()
    }

    /// What there is to tell about the run, for those who want to know.
    pub fn told(&self) -> Vec<String> {
        let mut told = super::told(&self.plugin, self.jail.as_ref(), &self.log, &self.output);
        if let FaultKind::Abi { details, .. } = &self.kind {
            told.extend(details.lines().map(str::to_owned));
        }
        told
    }

    /// Whether a hook failed as calls do that the jail refuses, by what Rust says
    /// of them.
    pub fn sounds_jailed(&self) -> bool {
        const WORDS: [&str; 4] =
            ["(os error 1)", "(os error 13)", "environment variable not found", "name resolution"];
        matches!(&self.kind, FaultKind::HookFailed(message) if WORDS.iter().any(|word| message.contains(word)))
    }

    /// What to do next.
    pub fn help(&self) -> String {
        match &self.kind {
            FaultKind::MissingDependency(library) => {
                format!(
                    "install the package that holds {library}, or ask the author for a build that needs less"
                )
            }
            FaultKind::Open(message) if message.contains("static TLS block") => {
                "ask the author for a build without an allocator that needs static TLS".into()
            }
            FaultKind::Open(message) if message.contains("failed to map segment") => {
                "move the folder of replio to a file system that is not mounted noexec".into()
            }
            FaultKind::Abi { .. } => {
                "get a build of the plugin made with the current replio-plugin-api".into()
            }
            FaultKind::Runner(_) => "try again; if it is so with this plugin alone, tell its author".into(),
            FaultKind::Open(_) => {
                "see what it printed with --verbose, and report it to the plugin's author".into()
            }
            FaultKind::HookFailed(_) if self.sounds_jailed() => {
                format!("{JAILED}; `replio plugins disable {}` sets it aside", self.plugin)
            }
            _ => format!(
                "report it to the plugin's author; `replio plugins disable {}` sets it aside",
                self.plugin
            ),
        }
    }

    /// The fault as a diagnostic.
    pub fn diagnostic(&self) -> Diagnostic {
        Diagnostic::new(self.code(), self.to_string()).help(self.help()).plugin(self.plugin.clone())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "plugin {}: {}", self.plugin, self.reason())?;
        self.last_words().iter().try_for_each(|line| write!(formatter, "\nit printed: {line}"))
    }
}

impl std::error::Error for Fault {}

impl FaultKind {
    /// Reads what the child lived to say about its failure.
    pub(super) fn from_failure(failure: Failure, library: &Path) -> Self {
        match failure.stage {
            Stage::Open => match missing_dependency(&failure.message, library) {
                Some(missing) => Self::MissingDependency(missing),
                None => Self::Open(failure.message),
            },
            Stage::Abi => Self::Abi { message: failure.message, details: failure.details },
            Stage::Hook => Self::HookFailed(failure.message),
            Stage::Panic => Self::HookPanicked(failure.message),
            Stage::Limit => Self::TooMuch(failure.message),
        }
    }
}

/// The library that the loader missed, from its message. It names only that
/// library, and never the one that needs it. (The second form is macOS's;
/// reviewed, not run.)
fn missing_dependency(message: &str, library: &Path) -> Option<String> {
    let glibc = message.split_once(": cannot open shared object file").map(|(missing, _)| missing);
    let dyld = || {
        let (_, rest) = message.split_once("Library not loaded: ")?;
        rest.split_whitespace().next()
    };
    let missing = glibc.or_else(dyld)?;
    // The library itself is opened from its folder, or by its descriptor.
    let itself = library.file_name().map(|name| Path::new(".").join(name));
    let is_itself = Some(Path::new(missing)) == itself.as_deref() || missing.starts_with("/proc/self/fd/");
    (!is_itself).then(|| missing.to_owned())
}

fn seconds(duration: Duration) -> String {
    match duration.as_millis() {
        1000 => "1 second".into(),
        milliseconds if milliseconds % 1000 == 0 => format!("{} seconds", milliseconds / 1000),
        milliseconds => format!("{milliseconds} milliseconds"),
    }
}

/// Whether a signal is one that people and systems end processes with, and
/// code that goes wrong does not raise.
fn comes_from_outside(signal: i32) -> bool {
    #[cfg(unix)]
    {
        use rustix::process::Signal;
        let from_outside =
            [Signal::KILL, Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT, Signal::USR1, Signal::USR2];
        from_outside.iter().any(|outside| outside.as_raw() == signal)
    }
    #[cfg(not(unix))]
    {
        let _ = signal;
        false
    }
}

fn signal_name(signal: i32) -> Option<&'static str> {
    #[cfg(unix)]
    {
        use rustix::process::Signal;
        let names = [
            (Signal::ABORT, "SIGABRT"),
            (Signal::SEGV, "SIGSEGV"),
            (Signal::BUS, "SIGBUS"),
            (Signal::FPE, "SIGFPE"),
            (Signal::ILL, "SIGILL"),
            (Signal::TRAP, "SIGTRAP"),
            (Signal::KILL, "SIGKILL"),
            (Signal::TERM, "SIGTERM"),
            (Signal::PIPE, "SIGPIPE"),
            (Signal::XCPU, "SIGXCPU"),
            (Signal::XFSZ, "SIGXFSZ"),
            (Signal::SYS, "SIGSYS"),
        ];
        names.iter().find(|(known, _)| known.as_raw() == signal).map(|(_, name)| *name)
    }
    #[cfg(not(unix))]
    {
        let _ = signal;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_dependency_is_told_from_a_missing_library() {
        let library = Path::new("/store/abc/libfoo.so");
        let missing = "libbar.so.1: cannot open shared object file: No such file or directory";
        assert_eq!(missing_dependency(missing, library).as_deref(), Some("libbar.so.1"));
        let itself = "./libfoo.so: cannot open shared object file: No such file or directory";
        assert_eq!(missing_dependency(itself, library), None);
        let itself = "/proc/self/fd/4: cannot open shared object file: Permission denied";
        assert_eq!(missing_dependency(itself, library), None);
        assert_eq!(missing_dependency("./libfoo.so: undefined symbol: x", library), None);
    }
}
