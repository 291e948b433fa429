//! The `replio` command: parse, run, exit code.

use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;
use replio::app::App;
use replio::commands::{self, Cli};
use replio::output::Output;
use replio::paths::{Places, Surroundings};
use replio::plugins::load;
use replio::repl;

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|verb| verb == load::RUNNER_VERB) {
        return ExitCode::from(u8::from(load::run_as_runner().is_err()));
    }
    commands::choose_color_by(std::env::args_os().skip(1));
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    cli.options.choose_color();
    let Some(command) = &cli.command else {
        return ExitCode::from(repl::run(&cli.options));
    };
    let output = cli.options.output();
    let places = Surroundings::of_this_process(cli.options.path.clone()).and_then(|from| Places::find(&from));
    match places {
        Ok(places) => {
            let app = App::new(places, output, cli.options.plugins_off());
            let code = commands::run_and_print(command, &app);
            // Ends here, without taking the catalog apart piece by piece.
            std::process::exit(code.into());
        }
        Err(failure) => {
            output.failure(&failure, &[]);
            ExitCode::FAILURE
        }
    }
}

/// Says what is wrong with the arguments, as JSON too where that was asked for.
fn usage(error: &clap::Error) -> ExitCode {
    let is_help = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if !is_help && std::env::args_os().any(|argument| argument == "--json") {
        let failure = commands::usage_failure(error);
        Output { json: true, ..Output::default() }.failure(&failure, &[]);
        return ExitCode::from(2);
    }
    match error.print() {
        Err(lost) if lost.kind() != std::io::ErrorKind::BrokenPipe => {
            Output::default().failure(&commands::output_lost(&lost), &[]);
            ExitCode::FAILURE
        }
        _ => ExitCode::from(if is_help { 0 } else { 2 }),
    }
}
