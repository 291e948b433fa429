//! The session that `replio` alone opens. A line that begins with a slash is a
//! command line without its `replio` and goes through the same parser; errors
//! end the line and not the session.

use std::cell::RefCell;
use std::io::{self, BufRead, IsTerminal, Read};

use clap::error::ErrorKind;
use clap::{Command, CommandFactory, Parser};

use crate::commands::{self, Cli, GlobalOptions};
use crate::diagnostic::Diagnostic;
use crate::names::nearest;
use crate::output::{Output, Verbosity};
use crate::paths::Places;

mod complete;
mod help;
mod kept;
mod known;
mod terminal;
mod words;

use complete::OF_THE_SESSION;
use help::Help;
use kept::Kept;
use terminal::{Entered, NoMarks, SessionCompleter, Terminal};

/// The longest line that is read from a pipe, in bytes.
const LONGEST_LINE: u64 = 16 * 1024 * 1024;

/// Reads and does one line after the other until there are no more, or one
/// says so. The exit code is 0 on a terminal, where each failure was seen, and
/// elsewhere 1 if any line failed.
pub fn run(options: &GlobalOptions) -> u8 {
    let session = Session {
        options: options.clone(),
        kept: Kept::default(),
        is_piped: !is_interactive(),
        said: RefCell::default(),
    };
    let places = match session.kept.app(&session.options, session.output()) {
        Ok(app) => app.places,
        Err(failure) => {
            session.output().failure(&failure, &[]);
            return 1;
        }
    };
    if session.is_piped { session.run_lines(io::stdin().lock()) } else { session.converse(&places) }
}

/// The editor reads from stdin, writes to stderr, and asks on stdout where the
/// cursor is.
fn is_interactive() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal() && io::stderr().is_terminal()
}

/// Ctrl-C during a command ends what the command has started, which gets the
/// signal too, and not the session. A handler, because children inherit a signal
/// that is ignored, and not one that is handled. Without it the session ends,
/// which is no reason not to open one.
fn outlive_interrupts() {
    let _ = ctrlc::set_handler(|| {});
}

/// Ends the session with its terminal. The editor takes the end of one for a
/// key that is still to come, and would ask for it without end. (Elsewhere than
/// on Linux a terminal can't be watched so; there the system's hang-up has to do.)
fn end_with_the_terminal() {
    #[cfg(target_os = "linux")]
    drop(std::thread::Builder::new().name("terminal".into()).spawn(|| {
        use rustix::event::{PollFd, PollFlags, poll};
        let stdin = io::stdin();
        loop {
            // Nothing is asked for, so only an end is told.
            let mut watched = [PollFd::new(&stdin, PollFlags::empty())];
            match poll(&mut watched, None) {
                Err(rustix::io::Errno::INTR) => {}
                Ok(_) if watched[0].revents().contains(PollFlags::HUP) => std::process::exit(1),
                _ => return,
            }
        }
    }));
}

struct Session {
    options: GlobalOptions,
    kept: Kept,
    is_piped: bool,
    /// What was said about the plugins that are installed now.
    said: RefCell<Vec<Diagnostic>>,
}

/// What a line came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Done,
    Failed,
    Leave,
}

impl Session {
    fn output(&self) -> Output {
        Self::output_for(&self.options)
    }

    fn output_for(options: &GlobalOptions) -> Output {
        Output { in_session: true, ..options.output() }
    }

    /// A session on a terminal.
    fn converse(&self, places: &Places) -> u8 {
        let mut definition = commands::definition();
        definition.build();
        let completer =
            SessionCompleter { options: self.options.clone(), kept: self.kept.clone(), definition };
        let color = anstream::AutoStream::choice(&io::stderr()) != anstream::ColorChoice::Never;
        let (mut terminal, warning) = Terminal::open(&places.global().join("history"), completer, color);
        self.output().warnings(warning.as_slice());
        if self.output().verbosity > Verbosity::Quiet {
            anstream::eprintln!(
                "replio {}. /help lists the commands, Tab completes, /exit or Ctrl-D leaves.",
                env!("CARGO_PKG_VERSION")
            );
        }
        outlive_interrupts();
        end_with_the_terminal();
        let _no_marks = NoMarks::begin();
        loop {
            match terminal.read() {
                Entered::Line(line) => {
                    self.output().warnings(terminal.remember().as_slice());
                    if self.line(&line) == Outcome::Leave {
                        return 0;
                    }
                }
                Entered::Cancelled => {}
                Entered::End => return 0,
            }
        }
    }

    /// A session whose lines come from a pipe or file, or whose answers go to one.
    fn run_lines(&self, mut lines: impl BufRead) -> u8 {
        let mut code = 0;
        loop {
            let mut line = Vec::new();
            match lines.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
                Ok(0) => return code,
                Ok(_) if line.len() as u64 == LONGEST_LINE => {
                    // What is left of it must not pass for a line of its own.
                    let message = format!("a line is longer than {} MiB", LONGEST_LINE / 1024 / 1024);
                    self.failed(&Diagnostic::new("too-large", message));
                    return 1;
                }
                Ok(_) => {}
                Err(error) => {
                    let message = format!("standard input can't be read: {error}");
                    self.output().failure(&Diagnostic::new("unreadable", message), &[]);
                    return 1;
                }
            }
            let outcome = match String::from_utf8(line) {
                Ok(line) => self.line(&line),
                Err(_) => self.failed(&Diagnostic::new("not-utf8", "a line is not UTF-8 and is left out")),
            };
            match outcome {
                Outcome::Done => {}
                Outcome::Failed => code = 1,
                Outcome::Leave => return code,
            }
        }
    }

    fn failed(&self, failure: &Diagnostic) -> Outcome {
        self.output().failure(failure, &[]);
        Outcome::Failed
    }

    /// Does one line.
    fn line(&self, line: &str) -> Outcome {
        let words = words::split(line);
        let Some(first) = words.words.first() else { return Outcome::Done };
        if !first.text.starts_with('/') {
            return self.failed(&not_a_command(&first.text));
        }
        if let Some(quote) = words.open {
            let message = format!("the quote {quote} is opened and not closed");
            let help = format!("close it, or type \\{quote} for the character itself");
            return self.failed(&Diagnostic::new("open-quote", message).help(help));
        }
        let home = std::env::home_dir();
        let mut arguments: Vec<String> =
            words.words.iter().map(|word| word.argument(home.as_deref())).collect();
        arguments[0].remove(0);
        match arguments[0].as_str() {
            "exit" | "quit" => Outcome::Leave,
            "help" if arguments.len() == 1 => self.help(),
            "help" => {
                arguments.remove(0);
                arguments.push("--help".to_owned());
                self.command(&arguments)
            }
            "" => {
                self.failed(&Diagnostic::new("unknown-command", "a slash alone is no command").help(SEE_HELP))
            }
            _ => self.command(&arguments),
        }
    }

    fn help(&self) -> Outcome {
        let _ = self.output().answer(&Help::of(&commands::definition()), &[]);
        Outcome::Done
    }

    /// A command with its arguments.
    fn command(&self, arguments: &[String]) -> Outcome {
        if let Some(unknown) = unknown_command(&arguments[0], &Cli::command()) {
            return self.failed(&unknown);
        }
        let parsed =
            Cli::try_parse_from(std::iter::once("replio").chain(arguments.iter().map(String::as_str)));
        let cli = match parsed {
            Ok(cli) => cli,
            Err(error) => return self.not_parsed(&error, arguments),
        };
        let options = cli.options.within(&self.options);
        let Some(command) = cli.command else {
            let message = "these are options without a command";
            return self.failed(&Diagnostic::new("unknown-command", message).help(SEE_HELP));
        };
        if self.is_piped && command.reads_stdin() {
            let message = "standard input is where the lines of this session come from";
            return self.failed(&Diagnostic::new("usage", message).help("name a file instead of -"));
        }
        options.choose_color();
        let outcome = match self.kept.app(&options, Self::output_for(&options)) {
            Ok(app) => {
                if app.built_plugin_layer().is_none() {
                    self.said.borrow_mut().clear();
                }
                let code = commands::run_and_print_sifted(&command, &app, |warnings| {
                    if !options.json {
                        self.leave_out_what_was_said(warnings);
                    }
                });
                self.kept.keep(&app);
                if code == 0 { Outcome::Done } else { Outcome::Failed }
            }
            Err(failure) => self.failed(&failure),
        };
        self.options.choose_color();
        outcome
    }

    /// A plugin that is broken is not worth a warning at each line.
    fn leave_out_what_was_said(&self, warnings: &mut Vec<Diagnostic>) {
        let mut said = self.said.borrow_mut();
        warnings.retain(|warning| !said.contains(warning));
        said.extend(warnings.iter().filter(|warning| warning.plugin.is_some()).cloned());
    }

    /// Help that was asked for, or what is wrong with the arguments.
    fn not_parsed(&self, error: &clap::Error, arguments: &[String]) -> Outcome {
        let json = self.options.json || arguments.iter().any(|argument| argument == "--json");
        let is_help = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
        if !json {
            commands::choose_color_by(arguments);
            let _ = error.print();
            self.options.choose_color();
        } else if is_help {
            let output = Output { json, ..self.output() };
            let _ = output.answer(&Help::text(error.to_string()), &[]);
        } else {
            let output = Output { json, ..self.output() };
            output.failure(&commands::usage_failure(error), &[]);
        }
        if is_help { Outcome::Done } else { Outcome::Failed }
    }
}

const SEE_HELP: &str = "/help lists the commands";

/// What is said to a line without a slash.
fn not_a_command(first: &str) -> Diagnostic {
    let is_command = Cli::command().find_subcommand(first).is_some()
        || OF_THE_SESSION.iter().any(|(name, _)| *name == first)
        || first == "quit";
    let help = if is_command {
        format!("commands begin with a slash: /{first}")
    } else {
        "commands begin with a slash; /help lists them".to_owned()
    };
    Diagnostic::new("no-provider", "there is no model to talk to: that comes with a provider").help(help)
}

/// A command that is not there, with the nearest that is.
fn unknown_command(name: &str, definition: &Command) -> Option<Diagnostic> {
    if name.starts_with('-') || definition.find_subcommand(name).is_some() {
        return None;
    }
    let known = definition
        .get_subcommands()
        .flat_map(|command| std::iter::once(command.get_name()).chain(command.get_visible_aliases()));
    let known = known.chain(OF_THE_SESSION.iter().map(|(name, _)| *name));
    let help = match nearest(name, known) {
        Some(nearest) => format!("did you mean `/{nearest}`? {SEE_HELP}"),
        None => SEE_HELP.to_owned(),
    };
    Some(Diagnostic::new("unknown-command", format!("there is no command `/{name}`")).help(help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_command_is_answered_with_the_nearest() {
        let help = |name| unknown_command(name, &Cli::command()).and_then(|unknown| unknown.help);
        assert_eq!(help("tpye").as_deref(), Some("did you mean `/type`? /help lists the commands"));
        assert_eq!(help("hlep").as_deref(), Some("did you mean `/help`? /help lists the commands"));
        assert_eq!(help("bananas").as_deref(), Some(SEE_HELP));
        assert_eq!(help("skills"), None);
    }

    #[test]
    fn a_command_without_its_slash_is_recognized() {
        assert_eq!(not_a_command("exit").help.as_deref(), Some("commands begin with a slash: /exit"));
        assert_eq!(not_a_command("types").help.as_deref(), Some("commands begin with a slash: /types"));
        assert!(not_a_command("hello").help.unwrap().contains("/help"));
    }
}
