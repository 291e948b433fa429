//! A terminal of the story's own, at which a person sits.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// A command that runs at a terminal.
pub struct Terminal {
    child: Child,
    keyboard: File,
    screen: Receiver<Vec<u8>>,
    seen: String,
}

impl Terminal {
    /// Starts the command at a terminal.
    pub fn start(mut command: Command) -> Self {
        let (mut ours, mut theirs) = (-1, -1);
        let none = std::ptr::null_mut();
        // SAFETY: both numbers are written to, and the other arguments may be null.
        let opened = unsafe { libc::openpty(&raw mut ours, &raw mut theirs, none, none.cast(), none.cast()) };
        assert_eq!(opened, 0, "a terminal");
        // SAFETY: both were just opened, and are nobody else's.
        let (ours, theirs) = unsafe { (OwnedFd::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs)) };
        for descriptor in [&ours, &theirs] {
            // SAFETY: it is open; stories side by side must not keep it open.
            unsafe { libc::fcntl(descriptor.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC) };
        }
        let end = || Stdio::from(theirs.try_clone().expect("a terminal"));
        let child = command.stdin(end()).stdout(end()).stderr(end()).spawn().expect("replio starts");
        drop((command, theirs));
        let keyboard = File::from(ours);
        let mut reader = keyboard.try_clone().expect("a terminal");
        let (sender, screen) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // Reading fails once the last program has left.
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                if bytes[..count].windows(4).any(|bytes| bytes == b"\x1b[6n") {
                    // It asks where the cursor is.
                    let _ = reader.write_all(b"\x1b[1;1R");
                }
                let _ = sender.send(bytes[..count].to_vec());
            }
        });
        Self { child, keyboard, screen, seen: String::new() }
    }

    /// Waits until this is on the screen.
    pub fn wait_for(&mut self, text: &str) {
        let started = Instant::now();
        while !self.seen.contains(text) {
            let left = Duration::from_secs(60).saturating_sub(started.elapsed());
            match self.screen.recv_timeout(left) {
                Ok(bytes) => self.seen += &String::from_utf8_lossy(&bytes),
                Err(_) => panic!("{text:?} is not on the screen:\n{}", self.seen),
            }
        }
    }

    pub fn type_in(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).expect("a terminal");
    }

    /// What was on the screen in the end, and the exit code.
    pub fn end(mut self) -> (String, i32) {
        let code = self.child.wait().expect("replio ends").code().unwrap_or(-1);
        while let Ok(bytes) = self.screen.recv_timeout(Duration::from_secs(10)) {
            self.seen += &String::from_utf8_lossy(&bytes);
        }
        (self.seen.replace('\r', ""), code)
    }
}
