//! The runner: the process of its own in which plugins run. It forks a child
//! for each plugin, so that the memory of the host and of other plugins is out
//! of its reach and an end of it is no end of theirs, and passes on to the host
//! what each child reported and how it ended. Each child is in a jail, as far as
//! the system has one (`load/jail.rs`).
//!
//! All of the host's `unsafe` code is in this module and those under it. The
//! runner itself opens no library and has one thread, which is what makes
//! forking it sound.
#![allow(unsafe_code)]

use std::io::{self, Read, Write};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::names::PluginName;
use crate::plugins::digest::Digest;
use crate::plugins::inspect::Glibc;
use crate::plugins::report::{Limits, ReportWriter};
use crate::plugins::store::FileIdentity;

#[cfg(unix)]
mod child;
#[cfg(unix)]
mod door;
#[cfg(unix)]
mod fork;
#[cfg(unix)]
mod jail;
#[cfg(unix)]
mod library;

/// The hidden verb with which the host starts itself as a runner.
pub const RUNNER_VERB: &str = "__run-plugins";

/// How many children run side by side. A plugin that hangs then holds up only
/// a share of the others, and starting many stays within a machine's means.
pub const SIDE_BY_SIDE: usize = 8;

/// What the host asks of the runner, on its standard input.
#[derive(Debug, Serialize, Deserialize)]
pub struct Request {
    /// What each run may take.
    pub limits: Limits,
    /// The plugins to run, each in a child of its own.
    pub plugins: Vec<PluginToRun>,
    /// Whether to start one more child, without a plugin, that does nothing but
    /// tell what its jail is. It counts as the one behind the last plugin.
    pub probe: bool,
}

impl Request {
    /// How many children there will be.
    pub fn children(&self) -> usize {
        self.plugins.len() + usize::from(self.probe)
    }
}

/// One library to open and run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PluginToRun {
    /// The plugin's name.
    pub name: PluginName,
    /// The library, by absolute path.
    #[serde(with = "any_path")]
    pub path: PathBuf,
    /// Which file there was found right; no other one is opened. `None` where the
    /// system can't tell.
    pub file: Option<FileIdentity>,
    /// The library's digest, which the report repeats.
    pub sha256: Digest,
    /// The libraries that it needs, by the names that the system's loader looks
    /// for; `None` where nobody knows.
    pub libraries: Option<Vec<String>>,
}

/// A path as it is, which need not be UTF-8.
mod any_path {
    use std::ffi::OsString;
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        path.as_os_str().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        OsString::deserialize(deserializer).map(PathBuf::from)
    }
}

/// How one child ended, as the runner passes it on; the report's bytes follow.
#[derive(Debug, Serialize, Deserialize)]
pub struct Ended {
    /// Which plugin of the request; the number of plugins for the probe.
    pub plugin: usize,
    /// How.
    pub how: How,
    /// What it printed; the last of it where it was too much.
    pub output: String,
    /// How many bytes of report follow.
    pub report_bytes: usize,
}

/// The ways in which a child ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// It ended by itself, with this code.
    Exited(i32),
    /// A signal ended it.
    Signal(i32),
    /// The runner ended it, since it took too long.
    TimedOut,
    /// It used more processor time than it may.
    UsedTooMuchTime,
    /// The runner ended it, since its report was too long.
    TooMuch,
    /// It could not be started.
    NotStarted(String),
}

/// Runs this process as the runner: reads the request from standard input, and
/// writes for each plugin how its child ended and what it reported.
///
/// # Errors
/// When the request can't be read, or the host has gone away.
pub fn run_as_runner() -> io::Result<()> {
    let mut text = Vec::new();
    io::stdin().lock().read_to_end(&mut text)?;
    #[cfg(unix)]
    let jail = child::prepare_runner();
    let request: Request = serde_json::from_slice(&text)?;
    let mut output = io::stdout().lock();
    #[cfg(unix)]
    let run_children = |passed_on: PassedOn<'_>| fork::run_children(&request, jail, passed_on);
    #[cfg(not(unix))]
    let run_children = |passed_on: PassedOn<'_>| run_no_children(&request, passed_on);
    let result = run_children(&mut |ended, report| {
        let head = serde_json::to_vec(&ended)?;
        let length = u32::try_from(head.len()).map_err(io::Error::other)?;
        output.write_all(&[&length.to_le_bytes()[..], &head, report].concat())?;
        output.flush()
    });
    #[cfg(target_os = "linux")]
    fork::end_stragglers();
    result
}

/// Opens a library and runs its hooks in this very process, without the
/// protection of a child; for measuring what that takes.
///
/// # Safety
/// The library's code runs here with all that this process has and may do.
#[cfg(unix)]
#[doc(hidden)]
pub unsafe fn report_in_this_process(plugin: &PluginToRun, limits: &Limits) -> Vec<u8> {
    library::find(plugin).map_or_else(
        |failure| ReportWriter::default().failed(&failure),
        |found| library::report(&found.path, &plugin.sha256, limits),
    )
}

/// What is done with each child that has ended, and its report.
type PassedOn<'a> = &'a mut dyn FnMut(Ended, &[u8]) -> io::Result<()>;

/// Plugins run on Unix so far.
#[cfg(not(unix))]
fn run_no_children(request: &Request, passed_on: PassedOn<'_>) -> io::Result<()> {
    for plugin in 0..request.children() {
        let how = How::NotStarted("plugins can't run on this system yet".into());
        passed_on(Ended { plugin, how, output: String::new(), report_bytes: 0 }, &[])?;
    }
    Ok(())
}

/// The version of the C library this process runs on; `None` where it is not
/// glibc.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn glibc_version() -> Option<Glibc> {
    // SAFETY: the function takes nothing and returns a static C string.
    let text = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
    Glibc::parse(text.to_str().ok()?)
}

/// The version of the C library this process runs on; `None` where it is not
/// glibc.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn glibc_version() -> Option<Glibc> {
    None
}
