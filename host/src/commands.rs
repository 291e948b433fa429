//! The command line: one file for each noun. Commands are thin: they call one
//! function and hand what it returns to [`output`](crate::output). The REPL's
//! lines go through the same parser.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

use crate::app::App;
use crate::diagnostic::Diagnostic;
use crate::output::{Answer, Output, Verbosity};

mod agent_type;
mod completions;
mod entries;
mod plugins;
mod skill;
mod team;
mod trust;

/// What a command returns: what it has to say, or why it could not be done.
pub type CommandResult<'a> = Result<Box<dyn Answer + 'a>, Diagnostic>;

/// The code of a failure that is wrong usage.
const USAGE: &str = "usage";

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Run AI agents from a catalog of agent types, skills and teams that plugins extend.
///
/// Without a command, replio opens a session in which the same commands work
/// with a leading slash.
#[derive(Debug, Parser)]
#[command(name = "replio", version, styles = STYLES, max_term_width = 100, disable_help_subcommand = true)]
#[command(after_help = "Examples:
  replio type list                         the agent types there are, and where each comes from
  replio plugins install ./libaudit.so     add what a plugin brings
  replio type new writer --deny bash       override one field of a type in this project
  replio                                   open a session")]
pub struct Cli {
    /// What holds for every command.
    #[command(flatten)]
    pub options: GlobalOptions,
    /// The command; none opens a session.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What holds for every command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub struct GlobalOptions {
    /// The project to work in, instead of the one around the current folder
    #[arg(long, global = true, value_name = "DIR")]
    pub path: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long, global = true)]
    pub json: bool,
    /// Leave plugins out (also REPLIO_NO_PLUGINS=1)
    #[arg(long, global = true)]
    pub no_plugins: bool,
    /// When to use colour: auto, always or never (NO_COLOR is honoured too)
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_possible_values = true)]
    #[arg(hide_default_value = true)]
    pub color: ColorWhen,
    /// Say more: what plugins print, and what lies behind an error
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub verbose: bool,
    /// Say no more than the answer and errors
    #[arg(short, long, global = true)]
    pub quiet: bool,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColorWhen {
    /// On a terminal.
    Auto,
    /// In a pipe too.
    Always,
    /// Nowhere.
    Never,
}

impl ColorWhen {
    fn choose(self) {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

/// The nouns.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Agent types: what an agent is told and what it may do
    #[command(name = "type", visible_alias = "types")]
    Type(agent_type::Arguments),
    /// Skills: instructions that agent types attach
    #[command(visible_alias = "skills")]
    Skill(skill::Arguments),
    /// Teams: agent types that work one after another
    #[command(visible_alias = "teams")]
    Team(team::Arguments),
    /// Plugins: shared libraries that add types, skills and teams
    #[command(visible_alias = "plugin")]
    Plugins(plugins::Arguments),
    /// What came with this project and waits for your trust
    Trust(trust::Arguments),
    /// Print completions for a shell
    Completions(completions::Arguments),
}

impl GlobalOptions {
    /// These options for one line of a session that was started with others:
    /// what the line doesn't say is as in the session.
    #[must_use]
    pub fn within(self, session: &Self) -> Self {
        let says_how_much = self.verbose || self.quiet;
        Self {
            path: self.path.or_else(|| session.path.clone()),
            json: self.json || session.json,
            no_plugins: self.no_plugins || session.no_plugins,
            color: if self.color == ColorWhen::Auto { session.color } else { self.color },
            verbose: if says_how_much { self.verbose } else { session.verbose },
            quiet: if says_how_much { self.quiet } else { session.quiet },
        }
    }

    /// Where words go, by these options.
    pub fn output(&self) -> Output {
        let verbosity = match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (_, true) => Verbosity::Verbose,
            _ => Verbosity::Normal,
        };
        Output { json: self.json, in_session: false, verbosity }
    }

    /// Has the whole process use colour, or not, as these options say.
    pub fn choose_color(&self) {
        self.color.choose();
    }

    /// Whether plugins are left out, by these options or the environment.
    pub fn plugins_off(&self) -> bool {
        self.no_plugins
            || std::env::var_os("REPLIO_NO_PLUGINS").is_some_and(|value| !value.is_empty() && value != "0")
    }
}

impl Command {
    /// Whether it takes what comes on standard input, which in a session are
    /// the lines to come.
    pub fn reads_stdin(&self) -> bool {
        matches!(self, Self::Skill(arguments) if arguments.reads_stdin())
    }

    /// Does it.
    ///
    /// # Errors
    /// Why it could not be done.
    pub fn run<'a>(&'a self, app: &'a App) -> CommandResult<'a> {
        match self {
            Self::Type(arguments) => agent_type::run(arguments, app),
            Self::Skill(arguments) => skill::run(arguments, app),
            Self::Team(arguments) => team::run(arguments, app),
            Self::Plugins(arguments) => plugins::run(arguments, app),
            Self::Trust(arguments) => trust::run(arguments, app),
            Self::Completions(arguments) => Ok(completions::run(arguments)),
        }
    }
}

/// Has the whole process use colour as these arguments say, which need not be
/// right: for what is said about wrong ones.
pub fn choose_color_by(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) {
    if let Some(when) = color_in(arguments) {
        when.choose();
    }
}

fn color_in(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Option<ColorWhen> {
    let (mut found, mut is_next) = (None, false);
    for argument in arguments {
        let Some(argument) = argument.as_ref().to_str().filter(|argument| *argument != "--") else { break };
        let value = if is_next { Some(argument) } else { argument.strip_prefix("--color=") };
        found = value.and_then(|value| ColorWhen::from_str(value, false).ok()).or(found);
        is_next = argument == "--color";
    }
    found
}

/// What is wrong with the arguments: exit code 2.
fn usage(message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(USAGE, message)
}

/// What the parser says of wrong arguments, as a diagnostic.
pub fn usage_failure(error: &clap::Error) -> Diagnostic {
    let text = error.to_string();
    let text = text.trim_start_matches("error: ");
    let end = ["\n\n  tip:", "\n\nUsage:", "\n\nFor more"].iter().filter_map(|end| text.find(end)).min();
    let message = text[..end.unwrap_or(text.len())].split_whitespace().collect::<Vec<_>>().join(" ");
    let tip = text.lines().find_map(|line| line.trim().strip_prefix("tip: "));
    usage(message).help(tip.unwrap_or("see `--help`"))
}

/// What is said when an answer could not be written.
pub fn output_lost(error: &std::io::Error) -> Diagnostic {
    let message = format!("the answer could not be written to standard output: {error}");
    Diagnostic::new("output-failed", message)
}

/// The whole command line, for help, completions and the REPL.
pub fn definition() -> clap::Command {
    Cli::command()
}

/// Runs a parsed command in an app and prints what it says. Returns the exit
/// code.
pub fn run_and_print(command: &Command, app: &App) -> u8 {
    run_and_print_sifted(command, app, |_| {})
}

/// The same, with only those warnings that are left after `sift`.
pub fn run_and_print_sifted(command: &Command, app: &App, sift: impl FnOnce(&mut Vec<Diagnostic>)) -> u8 {
    let result = command.run(app);
    let mut warnings = app.take_warnings();
    sift(&mut warnings);
    match result {
        Ok(answer) => {
            let failed = !answer.failures().is_empty();
            match app.output.answer(&*answer, &warnings) {
                Ok(()) => u8::from(failed),
                Err(error) => {
                    Output { json: false, ..app.output }.failure(&output_lost(&error), &[]);
                    1
                }
            }
        }
        Err(failure) => {
            // The same place is not worth two messages.
            let place = |finding: &Diagnostic| (finding.file.clone(), finding.line, finding.column);
            warnings.retain(|warning| warning.file.is_none() || place(warning) != place(&failure));
            app.output.failure(&failure, &warnings);
            if failure.code == USAGE { 2 } else { 1 }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_is_found_in_arguments_that_are_wrong() {
        let found = |line: &str| color_in(line.split(' '));
        assert_eq!(found("tpye --color never"), Some(ColorWhen::Never));
        assert_eq!(found("--color=never type --color=always --nonsense"), Some(ColorWhen::Always));
        assert_eq!(found("type --color sometimes"), None);
        assert_eq!(found("type -- --color never"), None);
        assert_eq!(found("type --color"), None);
    }
}
