//! `replio skill`.

use clap::Args;

use super::CommandResult;
use crate::app::App;
use crate::diagnostic::Diagnostic;

/// The arguments of `replio skill`.
#[derive(Debug, Args)]
pub struct Arguments {}

/// Does it.
pub(super) fn run<'a>(_arguments: &'a Arguments, _app: &'a App) -> CommandResult<'a> {
    Err(Diagnostic::new("not-yet", "this command comes with the next commit"))
}
