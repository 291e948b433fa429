//! `replio skill`: skills.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::json;

use super::CommandResult;
use super::entries::{self, ListArguments, WhereNew, WhichFile};
use crate::app::App;
use crate::catalog::{Kind, LARGEST_FILE, decode_text, read_text};
use crate::diagnostic::Diagnostic;

/// The arguments of `replio skill`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  replio skill                             every skill, and where it comes from
  replio skill show finders                its content, and who brings it
  replio skill new finders --from notes.md
  replio skill edit finders

A skill is a Markdown file: .replio/skills/NAME.md in a project, or \
skills/NAME.md in your own folder. Plugins bring skills too.")]
pub struct Arguments {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List the skills (what `replio skill` alone does)
    List(ListArguments),
    /// Show a skill's content, and the layer that each field comes from
    Show(Show),
    /// Make a skill; one that is there is left as it is
    New(New),
    /// Open a skill's file in your editor, and check it afterwards
    Edit(Existing),
    /// Delete a skill's file in this project, or your own folder
    Remove(Existing),
}

#[derive(Debug, Args)]
struct Show {
    /// The skill; PLUGIN/NAME for one plugin's
    #[arg(value_name = "NAME")]
    name: String,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  replio skill new finders                 an empty one, to be edited
  replio skill new finders --from notes.md
  replio skill new finders --from - < notes.md
  replio skill new finders --global        for all your projects")]
struct New {
    /// The new skill
    #[arg(value_name = "NAME")]
    name: String,
    /// Take the content from a file; - for standard input
    #[arg(long, value_name = "FILE|-")]
    from: Option<PathBuf>,
    #[command(flatten)]
    place: WhereNew,
}

#[derive(Debug, Args)]
struct Existing {
    /// The skill
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    which: WhichFile,
}

impl Arguments {
    /// Whether it takes what comes on standard input.
    pub(super) fn reads_stdin(&self) -> bool {
        matches!(&self.verb, Some(Verb::New(New { from: Some(from), .. })) if is_stdin(from))
    }
}

/// Does it.
pub(super) fn run<'a>(arguments: &'a Arguments, app: &'a App) -> CommandResult<'a> {
    match &arguments.verb {
        None => entries::list::run(Kind::Skill, &ListArguments::default(), app),
        Some(Verb::List(list)) => entries::list::run(Kind::Skill, list, app),
        Some(Verb::Show(show)) => entries::show::run(Kind::Skill, &show.name, false, app),
        Some(Verb::New(new)) => {
            let content = new.from.as_deref().map(content).transpose()?.unwrap_or_default();
            entries::new::run(Kind::Skill, &new.name, &new.place, vec![("content", json!(content))], app)
        }
        Some(Verb::Edit(existing)) => entries::edit::run(Kind::Skill, &existing.name, &existing.which, app),
        Some(Verb::Remove(existing)) => {
            entries::remove::run(Kind::Skill, &existing.name, &existing.which, app)
        }
    }
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn content(from: &Path) -> Result<String, Diagnostic> {
    let nothing_written =
        |error: Diagnostic| Diagnostic { message: format!("no skill was made: {}", error.message), ..error };
    if !is_stdin(from) {
        return read_text(from).map_err(nothing_written)?.ok_or_else(|| {
            Diagnostic::new("no-such-file", format!("there is no file {}", from.display()))
                .help("name a file that exists, or - for standard input")
        });
    }
    let mut bytes = Vec::new();
    let read = io::stdin().lock().take(LARGEST_FILE + 1).read_to_end(&mut bytes);
    if let Err(error) = read {
        return Err(Diagnostic::new("unreadable", format!("standard input can't be read: {error}")));
    }
    if bytes.len() as u64 > LARGEST_FILE {
        let limit = LARGEST_FILE / 1024 / 1024;
        return Err(Diagnostic::new("too-large", format!("standard input is larger than {limit} MiB")));
    }
    decode_text(bytes).map_err(nothing_written)
}
