//! A question that a person answers with yes or no. Only at a terminal: what
//! comes through a pipe was not written by somebody who read it.

use std::io::{self, BufRead, IsTerminal, Read};

use super::{Output, clean, say};

/// An answer is a word.
const LONGEST_ANSWER: u64 = 1024;

impl Output {
    /// Whether somebody is there to be asked: who can read the question, and
    /// whose answer is no line of a script.
    pub fn can_ask(self) -> bool {
        // The lines of a session whose answers go to a file are read by it alone.
        let is_read_by_session = self.in_session && !io::stdout().is_terminal();
        io::stdin().is_terminal() && io::stderr().is_terminal() && !is_read_by_session && !self.json
    }

    /// Asks, and returns whether the answer is yes. All else is no.
    pub fn ask(self, question: &str) -> bool {
        forget_what_was_typed();
        say(&format!("{} [y/N] ", clean(question)));
        let mut answer = Vec::new();
        let read = io::stdin().lock().take(LONGEST_ANSWER).read_until(b'\n', &mut answer);
        if !answer.ends_with(b"\n") {
            say("\n");
        }
        let is_yes = |answer: &str| ["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str());
        read.is_ok() && answer.ends_with(b"\n") && std::str::from_utf8(&answer).is_ok_and(is_yes)
    }
}

/// What was typed before the question was there is no answer to it.
fn forget_what_was_typed() {
    #[cfg(unix)]
    let _ = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
}
