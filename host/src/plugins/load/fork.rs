//! Forking a child for each plugin, and watching over it: its report, what it
//! prints, how long it takes, how it ends.

use std::collections::VecDeque;
use std::io::{self, PipeReader, Read};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process, kill_process_group, wait, waitid, waitpid,
};

use super::child::{self, Inherited};
use super::jail::RunnerJail;
use super::{Ended, How, PassedOn, PluginToRun, Request, SIDE_BY_SIDE};
use crate::plugins::report::Limits;

/// How much of what a plugin prints is kept, in bytes: the last of it, which says
/// what it died of.
const OUTPUT_KEPT: usize = 16 * 1024;

/// How much of a report that is too long is passed on, in bytes.
const BEGINNING: usize = 1024;

/// Runs every plugin of the request and hands on how each one ended.
pub(super) fn run_children(request: &Request, jail: RunnerJail, passed_on: PassedOn<'_>) -> io::Result<()> {
    let mut waiting: VecDeque<usize> = (0..request.children()).collect();
    let mut running: Vec<Child> = Vec::new();
    while !waiting.is_empty() || !running.is_empty() {
        while running.len() < SIDE_BY_SIDE
            && let Some(plugin) = waiting.pop_front()
        {
            match Child::start(plugin, request.plugins.get(plugin), &request.limits, jail) {
                Ok(child) => running.push(child),
                Err(error) => {
                    let how = How::NotStarted(error.to_string());
                    passed_on(Ended { plugin, how, output: String::new(), report_bytes: 0 }, &[])?;
                }
            }
        }
        wait_for_news(&running)?;
        let mut index = 0;
        while index < running.len() {
            match running[index].look(&request.limits)? {
                Some(how) => {
                    let child = running.swap_remove(index);
                    let output = &child.output[child.output.len().saturating_sub(OUTPUT_KEPT)..];
                    let output = String::from_utf8_lossy(output).into_owned();
                    // Of what is too long, what it said before any code of the plugin ran.
                    let kept = if how == How::TooMuch { BEGINNING } else { usize::MAX };
                    let report = &child.report[..child.report.len().min(kept)];
                    let ended = Ended { plugin: child.plugin, how, output, report_bytes: report.len() };
                    passed_on(ended, report)?;
                }
                None => index += 1,
            }
        }
    }
    Ok(())
}

/// Ends what plugins started and left behind, and what that started. On Linux
/// it has become the runner's own; elsewhere there is no way to find it.
pub(super) fn end_stragglers() {
    // What multiplies faster than it can be ended is not ended.
    for _ in 0..100 {
        let children = std::fs::read_to_string("/proc/thread-self/children").unwrap_or_default();
        let pids = children.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?));
        for pid in pids {
            let _ = kill_process(pid, Signal::KILL);
        }
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

const XCPU: i32 = Signal::XCPU.as_raw();
const KILL: i32 = Signal::KILL.as_raw();

/// The processor time of all children that were waited for.
fn children_time() -> Duration {
    // SAFETY: all zeros are numbers, and the kernel writes into the place it is given.
    let usage = unsafe {
        let mut usage = std::mem::zeroed::<libc::rusage>();
        libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage);
        usage
    };
    let time = |time: libc::timeval| {
        Duration::from_secs(time.tv_sec.unsigned_abs())
            + Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or_default())
    };
    time(usage.ru_utime) + time(usage.ru_stime)
}

/// Waits until a child has said something or ended, or its time is up.
fn wait_for_news(running: &[Child]) -> io::Result<()> {
    let mut wait = Duration::from_millis(200);
    let mut watched = Vec::with_capacity(running.len() * 2);
    for child in running {
        wait = wait.min(child.deadline.saturating_duration_since(Instant::now()));
        for pipe in [&child.report_pipe, &child.output_pipe].into_iter().flatten() {
            watched.push(PollFd::new(pipe, PollFlags::IN));
        }
        if child.report_pipe.is_none() {
            // It has closed its report and is about to end, which no pipe tells.
            wait = wait.min(Duration::from_micros(200));
        }
    }
    let wait = Timespec { tv_sec: wait.as_secs().cast_signed(), tv_nsec: wait.subsec_nanos().into() };
    match poll(&mut watched, Some(&wait)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// A child that runs.
struct Child {
    plugin: usize,
    pid: Pid,
    deadline: Instant,
    /// Closed at its end.
    report_pipe: Option<PipeReader>,
    report: Vec<u8>,
    output_pipe: Option<PipeReader>,
    output: Vec<u8>,
}

impl Child {
    fn start(
        plugin: usize,
        to_run: Option<&PluginToRun>,
        limits: &Limits,
        jail: RunnerJail,
    ) -> io::Result<Self> {
        let (report_pipe, report_end) = io::pipe()?;
        let (output_pipe, output_end) = io::pipe()?;
        for pipe in [&report_pipe, &output_pipe] {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        let inherited = Inherited {
            runner: rustix::process::getpid(),
            jail,
            report: report_end.as_raw_fd(),
            output: output_end.as_raw_fd(),
        };
        // SAFETY: this process has one thread, so no lock is held by another
        // and the child may go on as an ordinary process.
        let pid = match unsafe { libc::fork() } {
            -1 => return Err(io::Error::last_os_error()),
            0 => child::run(to_run, limits, &inherited),
            pid => Pid::from_raw(pid).ok_or_else(|| io::Error::other("fork returned no process"))?,
        };
        Ok(Self {
            plugin,
            pid,
            deadline: Instant::now() + limits.wall(),
            report_pipe: Some(report_pipe),
            report: Vec::new(),
            output_pipe: Some(output_pipe),
            output: Vec::new(),
        })
    }

    /// Takes what has come since the last look; says how the child ended, once
    /// it has.
    fn look(&mut self, limits: &Limits) -> io::Result<Option<How>> {
        self.take();
        if self.report.len() > limits.report_bytes() {
            return self.end(limits, Some(How::TooMuch)).map(Some);
        }
        // Looked at without reaping it, so that its process group keeps its
        // number until whatever the plugin started is ended too.
        let peek = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        if waitid(WaitId::Pid(self.pid), peek)?.is_some() {
            return self.end(limits, None).map(Some);
        }
        if Instant::now() >= self.deadline {
            return self.end(limits, Some(How::TimedOut)).map(Some);
        }
        Ok(None)
    }

    /// Ends the child and all it started, and takes what is left of its words.
    fn end(&mut self, limits: &Limits, because: Option<How>) -> io::Result<How> {
        let _ = kill_process_group(self.pid, Signal::KILL);
        if because.is_some() {
            // It may have left its group.
            let _ = kill_process(self.pid, Signal::KILL);
        }
        let before = children_time();
        let status = loop {
            match waitpid(Some(self.pid), WaitOptions::empty()) {
                Ok(Some((_, status))) => break status,
                Ok(None) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        };
        // What all children together have used counts a child once it is waited for.
        let time = children_time().saturating_sub(before);
        self.take();
        Ok(because.unwrap_or_else(|| match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => How::Exited(code),
            (None, Some(XCPU)) => How::UsedTooMuchTime,
            // The second limit kills, if the plugin didn't mind the signal for the first.
            (None, Some(KILL)) if time.as_secs() >= limits.cpu_seconds => How::UsedTooMuchTime,
            (None, signal) => How::Signal(signal.unwrap_or_default()),
        }))
    }

    fn take(&mut self) {
        take(&mut self.report_pipe, &mut self.report, usize::MAX);
        take(&mut self.output_pipe, &mut self.output, OUTPUT_KEPT);
    }
}

/// Reads what a pipe has without waiting, keeps at least the last `keep` bytes of
/// it and not many more, and closes the pipe at its end.
fn take(pipe: &mut Option<PipeReader>, kept: &mut Vec<u8>, keep: usize) {
    let Some(reader) = pipe else { return };
    let mut chunk = [0; 16 * 1024];
    // Bounded, so that one plugin that prints without end can't keep the
    // runner from looking at the others, or at the clock.
    for _ in 0..64 {
        match reader.read(&mut chunk) {
            Ok(0) => {
                *pipe = None;
                return;
            }
            Ok(read) => {
                kept.extend(&chunk[..read]);
                if kept.len() / 2 > keep {
                    kept.drain(..kept.len() - keep);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
            Err(_) => {
                *pipe = None;
                return;
            }
        }
    }
}
