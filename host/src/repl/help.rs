//! `/help`: the commands of a session, told from the command line's definition.

use clap::Command;
use serde_json::{Value, json};

use super::complete::OF_THE_SESSION;
use crate::output::{Answer, Cell, NAME, Page};

/// A list of commands, or one command's own help.
pub(super) enum Help {
    Commands(Vec<(String, String)>),
    Text(String),
}

impl Help {
    pub(super) fn of(definition: &Command) -> Self {
        let shown = definition.get_subcommands().filter(|command| !command.is_hide_set());
        let of_the_line = shown.map(|command| {
            let names = std::iter::once(command.get_name()).chain(command.get_visible_aliases());
            let names: Vec<String> = names.map(|name| format!("/{name}")).collect();
            (names.join(", "), command.get_about().map(ToString::to_string).unwrap_or_default())
        });
        let of_the_session = OF_THE_SESSION.map(|(name, about)| (format!("/{name}"), about.to_owned()));
        Self::Commands(of_the_line.chain(of_the_session).collect())
    }

    pub(super) fn text(text: String) -> Self {
        Self::Text(text)
    }
}

impl Answer for Help {
    fn json(&self) -> Value {
        match self {
            Self::Commands(commands) => {
                let command = |(name, about): &(String, String)| json!({ "command": name, "about": about });
                json!({ "commands": commands.iter().map(command).collect::<Vec<_>>() })
            }
            Self::Text(text) => json!({ "help": text }),
        }
    }

    fn text(&self, page: &mut Page) {
        match self {
            Self::Commands(commands) => {
                let rows =
                    commands.iter().map(|(name, about)| vec![Cell::styled(NAME, name), Cell::plain(about)]);
                page.table(&["COMMAND", "WHAT IT IS FOR"], rows);
                page.blank();
                page.wrapped(
                    0,
                    "`/help type new` explains a command; a slash stands for the `replio ` in its examples. \
                     Options such as --json or --path DIR hold for one line.",
                );
            }
            Self::Text(text) => page.block(text),
        }
    }
}
