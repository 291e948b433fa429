//! `replio completions`: the completion script of a shell.

use clap::Args;
use clap_complete::Shell;
use serde_json::{Value, json};

use crate::output::{Answer, Page};

/// The arguments of `replio completions`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  replio completions bash > ~/.local/share/bash-completion/completions/replio
  replio completions zsh > ~/.zfunc/_replio
  replio completions fish > ~/.config/fish/completions/replio.fish")]
pub struct Arguments {
    /// The shell
    shell: Shell,
}

struct Script(String);

impl Answer for Script {
    fn json(&self) -> Value {
        json!({ "script": self.0 })
    }

    fn text(&self, page: &mut Page) {
        page.block(&self.0);
    }
}

/// Makes the script.
pub(super) fn run(arguments: &Arguments) -> Box<dyn Answer> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut super::definition(), "replio", &mut script);
    Box::new(Script(String::from_utf8_lossy(&script).into_owned()))
}
