//! The child's side of the fork: it gives up what it inherited, goes to jail and
//! says so, opens its one library, runs the hooks, writes its report and ends.
//! From `dlopen` on, everything in this process is the plugin's.

use std::fs::File;
use std::io::Write;
use std::mem::ManuallyDrop;
use std::os::fd::{FromRawFd, RawFd};
use std::panic::{self, AssertUnwindSafe};

use rustix::process::Pid;

use super::jail::{self, RunnerJail};
use super::{PluginToRun, library};
use crate::plugins::report::{Limits, ReportWriter};

/// Where the report goes, once everything else is closed.
const REPORT: RawFd = 3;

/// What a child has from its runner.
pub(super) struct Inherited {
    /// The process that it ends with.
    pub(super) runner: Pid,
    /// What the runner has given up for it.
    pub(super) jail: RunnerJail,
    /// Where its report goes.
    pub(super) report: RawFd,
    /// Where what it prints goes.
    pub(super) output: RawFd,
}

/// Runs the plugin, or none, and never returns.
pub(super) fn run(plugin: Option<&PluginToRun>, limits: &Limits, inherited: &Inherited) -> ! {
    let code = match settle(inherited.runner, inherited.report, inherited.output) {
        Ok(()) => i32::from(!run_and_report(plugin, limits, inherited.jail)),
        Err(()) => 1,
    };
    // SAFETY: ends the process at once, without the plugin's exit handlers and
    // without flushing what was buffered before the fork, which is the runner's.
    unsafe { libc::_exit(code) }
}

/// Makes the child a process that has nothing of the runner but its report.
fn settle(runner: Pid, report: RawFd, output: RawFd) -> Result<(), ()> {
    // A process group of its own, so that it is ended with all it starts.
    rustix::process::setpgid(None, None).map_err(drop)?;
    end_with(runner)?;
    // SAFETY: plain system calls on descriptors that this process was born
    // with. Nothing in this process uses one of them as an owner afterwards:
    // it never returns to the code that owns them.
    unsafe {
        if libc::dup2(output, 1) < 0 || libc::dup2(output, 2) < 0 {
            return Err(());
        }
        if report != REPORT && libc::dup2(report, REPORT) < 0 {
            return Err(());
        }
        close_from(REPORT + 1);
    }
    Ok(())
}

/// What the runner does to itself before it starts any child. All of it makes
/// the surroundings tidier; where the system knows no such thing, plugins run
/// all the same.
pub(super) fn prepare_runner() -> RunnerJail {
    let host = rustix::process::getppid();
    // The request was read; children get nothing more to read.
    if let Ok(nothing) = File::open("/dev/null") {
        let _ = rustix::stdio::dup2_stdin(nothing);
    }
    // No terminal to write to or read from.
    let _ = rustix::process::setsid();
    if let Some(host) = host {
        let _ = end_with(host);
    }
    #[cfg(target_os = "linux")]
    {
        // No plugin gets at the runner's pipes through /proc, or traces it.
        let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
        // What a plugin starts and leaves behind becomes the runner's child.
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    }
    jail::enter_runner()
}

/// Has the kernel end this process when the one that started it ends.
#[cfg(target_os = "linux")]
fn end_with(parent: Pid) -> Result<(), ()> {
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL)).map_err(drop)?;
    // It may have ended before the kernel was told.
    if rustix::process::getppid() == Some(parent) { Ok(()) } else { Err(()) }
}

/// macOS has no such thing; a child is ended by its time limit at the latest.
/// (Reviewed, not run.)
#[cfg(not(target_os = "linux"))]
fn end_with(_parent: Pid) -> Result<(), ()> {
    Ok(())
}

/// Closes every descriptor from this one on.
///
/// # Safety
/// Nothing in the process may own one of them.
unsafe fn close_from(first: RawFd) {
    #[cfg(target_os = "linux")]
    // SAFETY: the caller's promise.
    if unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, 0) } == 0 {
        return;
    }
    // SAFETY: closing a number that is not open is an error and no more.
    unsafe {
        let most = libc::sysconf(libc::_SC_OPEN_MAX).clamp(256, 65_536);
        for descriptor in first..RawFd::try_from(most).unwrap_or(256) {
            libc::close(descriptor);
        }
    }
}

/// Runs the hooks and sends their report. A thread of their own would cost as
/// much as the fork did; the stack that they have here is of a fixed size too,
/// since the runner has seen to its limit.
fn run_and_report(plugin: Option<&PluginToRun>, limits: &Limits, jail: RunnerJail) -> bool {
    // Only the host's own code can panic here, as a hook's panic is caught in the
    // plugin; but no panic may get to the runner's code, which this process has a
    // copy of.
    let run = || match plugin {
        Some(plugin) => run_plugin(plugin, limits, jail),
        None => send(&ReportWriter::jailed(&jail::enter_child(jail, limits, &[]))),
    };
    panic::catch_unwind(AssertUnwindSafe(run)).unwrap_or(false)
}

fn run_plugin(plugin: &PluginToRun, limits: &Limits, jail: RunnerJail) -> bool {
    set_name(plugin);
    let found = library::find(plugin);
    let mut readable = jail::library_folders(plugin.libraries.as_deref());
    readable.extend(found.as_ref().ok().map(|found| found.path.clone()));
    let jail = jail::enter_child(jail, limits, &readable);
    // Said before the plugin's code can say anything.
    send(&ReportWriter::jailed(&jail))
        && send(&match found {
            Ok(found) => library::report(&found.path, &plugin.sha256, limits),
            Err(failure) => ReportWriter::default().failed(&failure),
        })
}

/// The name under which the system lists the process.
#[cfg(target_os = "linux")]
fn set_name(plugin: &PluginToRun) {
    if let Ok(name) = std::ffi::CString::new(format!("plugin:{}", plugin.name)) {
        let _ = rustix::thread::set_name(&name);
    }
}

#[cfg(not(target_os = "linux"))]
fn set_name(_plugin: &PluginToRun) {}

fn send(report: &[u8]) -> bool {
    // SAFETY: `settle` put the report's pipe there. The plugin may have closed
    // or replaced it, which costs the plugin its report.
    let mut pipe = ManuallyDrop::new(unsafe { File::from_raw_fd(REPORT) });
    pipe.write_all(report).is_ok()
}
