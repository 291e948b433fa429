//! `replio team`: teams.

use clap::{Args, Subcommand};
use serde_json::json;

use super::CommandResult;
use super::agent_type::{given, skill_name};
use super::entries::{self, ListArguments, WhereNew, WhichFile};
use crate::app::App;
use crate::catalog::Kind;

/// The arguments of `replio team`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  replio team                              every team, and its stages
  replio team show writing                 what each stage is told
  replio team new audit \"Plan, then audit\" --stage planner --stage code-reviewer
  replio team edit audit                   task hints, hand-over notes, a loop")]
pub struct Arguments {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List the teams (what `replio team` alone does)
    List(ListArguments),
    /// Show each field of a team, and the layer it comes from
    Show(Show),
    /// Make a team, or override fields of one
    New(New),
    /// Open a team's file in your editor, and check it afterwards
    Edit(Existing),
    /// Take a team out of this project's file, or your own
    Remove(Existing),
}

#[derive(Debug, Args)]
struct Show {
    /// The team; PLUGIN/NAME for one plugin's
    #[arg(value_name = "NAME")]
    name: String,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  replio team new audit \"Plan, then audit\" --stage planner --stage code-reviewer
  replio team new writing --tag draft      override the tags, and nothing else

Only the fields that are given are written. What a stage is told, and a loop, are \
written in the file: `replio team edit NAME` opens it.")]
struct New {
    /// The team, new or already there
    #[arg(value_name = "NAME")]
    name: String,
    /// What it is for
    #[arg(value_name = "DESCRIPTION")]
    description: Option<String>,
    /// The agent type of a stage; all of them together are the chain
    #[arg(long, value_name = "TYPE", value_parser = skill_name)]
    stage: Vec<String>,
    /// A tag it has; all of them together are the new list
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    #[command(flatten)]
    place: WhereNew,
}

#[derive(Debug, Args)]
struct Existing {
    /// The team
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    which: WhichFile,
}

/// Does it.
pub(super) fn run<'a>(arguments: &'a Arguments, app: &'a App) -> CommandResult<'a> {
    match &arguments.verb {
        None => entries::list::run(Kind::Team, &ListArguments::default(), app),
        Some(Verb::List(list)) => entries::list::run(Kind::Team, list, app),
        Some(Verb::Show(show)) => entries::show::run(Kind::Team, &show.name, false, app),
        Some(Verb::New(new)) => entries::new::run(Kind::Team, &new.name, &new.place, new.fields(), app),
        Some(Verb::Edit(existing)) => entries::edit::run(Kind::Team, &existing.name, &existing.which, app),
        Some(Verb::Remove(existing)) => {
            entries::remove::run(Kind::Team, &existing.name, &existing.which, app)
        }
    }
}

impl New {
    fn fields(&self) -> entries::new::Fields {
        let fields = [
            ("description", self.description.as_ref().map(|description| json!(description))),
            ("tags", given(&self.tag)),
            ("stages", given(&self.stage)),
        ];
        fields.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}
