//! `replio trust`: what came with a project and waits for its user's trust.

use clap::{Args, Subcommand};

use super::{CommandResult, usage};
use crate::app::App;
use crate::catalog::{Kind, Scope};
use crate::diagnostic::Diagnostic;
use crate::plugins::manage::Plugins;
use crate::plugins::trust::Trust;
use crate::project::{Brought, UNTRUSTED_PERMISSION};

mod list;
mod remove;
mod shown;

use shown::{Answered, Decision};

/// The arguments of `replio trust`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  replio trust                             show what this project brings, and ask
  replio trust --yes                       trust all of it; for scripts
  replio trust list                        what you have trusted so far
  replio trust remove                      take it back for this project

A project may bring plugins, settings and permissions. Until you trust them, its \
plugins are not opened, and settings that could send your key elsewhere or spend more \
do not count. What you trust is what was shown: when a file changes, it waits again.")]
pub struct Arguments {
    /// Trust all that is shown, without being asked
    #[arg(long)]
    yes: bool,
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List what you have trusted, here and elsewhere
    List,
    /// Take back the trust in what this project brings, or in one plugin of it
    #[command(after_help = "Examples:\n  replio trust remove\n  replio trust remove audit")]
    Remove {
        /// A plugin of this project
        name: Option<String>,
    },
}

/// Does it.
pub(super) fn run<'a>(arguments: &'a Arguments, app: &'a App) -> CommandResult<'a> {
    match &arguments.verb {
        Some(_) if arguments.yes => Err(usage("--yes goes with `replio trust` alone").help("leave it out")),
        None => bring(arguments.yes, app),
        Some(Verb::List) => list::run(app),
        Some(Verb::Remove { name }) => remove::run(name.as_deref(), app),
    }
}

/// Shows what waits for trust, and trusts it if that is what the user says.
fn bring(yes: bool, app: &App) -> CommandResult<'_> {
    app.places.folder_for_writing(Scope::Local)?;
    let plugins = Plugins::new(&app.places, app.output);
    app.warn(plugins.warnings());
    app.warn(plugins.installed().1);
    let brought = Brought::of(&app.places, plugins.untrusted(), app.stack(Kind::Type));
    app.warn(brought.warnings.iter().cloned());
    leave_out_what_is_shown(app);
    if brought.is_empty() {
        return Ok(Box::new(Answered::nothing(brought)));
    }
    let damage = Trust::read(app.places.global()).err();
    let mut answered = Answered { brought, decision: Decision::Open, is_shown: false, failures: Vec::new() };
    if let Some(damage) = damage {
        // It can't be written down, so there is no use in asking.
        let mut warnings = app.take_warnings();
        warnings.retain(|warning| *warning != damage);
        app.warn(warnings);
        answered.failures.push(damage);
    } else if answered.brought.trusting().is_empty() {
        answered.failures.extend(answered.refusals());
    } else if yes || (app.output.can_ask() && ask(&mut answered, app)) {
        Trust::change(app.places.global(), &answered.brought.trusting())?;
        answered.decision = Decision::Trusted;
        answered.failures.extend(answered.refusals());
        if !answered.brought.plugins.is_empty() {
            app.rebuild_plugin_layer();
            leave_out_what_is_shown(app);
        }
    } else {
        let failure = if answered.is_shown {
            Diagnostic::new("not-trusted", "nothing was trusted").help("`replio trust` asks again")
        } else {
            Diagnostic::new("not-trusted", "nothing was trusted: there is no terminal to ask on")
                .help("`replio trust --yes` trusts all that was shown")
        };
        answered.failures.push(failure);
    }
    Ok(Box::new(answered))
}

/// Shows it, and asks. The files may change while the person reads: what was
/// read is what counts.
fn ask(answered: &mut Answered, app: &App) -> bool {
    let _ = app.output.answer(answered, &app.take_warnings());
    answered.is_shown = true;
    app.output.ask("Trust all of this?")
}

/// Warnings that say no more than the answer does.
fn leave_out_what_is_shown(app: &App) {
    let mut warnings = app.take_warnings();
    warnings.retain(|warning| ![UNTRUSTED_PERMISSION, "plugin-untrusted"].contains(&warning.code));
    app.warn(warnings);
}
