//! `replio type`: agent types.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use super::entries::{self, ListArguments, WhereNew, WhichFile};
use super::{CommandResult, usage};
use crate::app::App;
use crate::catalog::{Action, Category, Kind, Reference};
use crate::diagnostic::Diagnostic;

/// The arguments of `replio type`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  replio type                              every agent type, and where it comes from
  replio type list review                  those with the tag `review`
  replio type show writer                  each field, and the layer that sets it
  replio type show writer --resolved       the system prompt exactly as it is sent
  replio type new auditor \"You audit code.\" --deny edit --ask bash

Types come from four layers: bundled, plugins, your own folder (global), this \
project (local). A higher layer overrides the fields that it sets, and no others.")]
pub struct Arguments {
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List the agent types (what `replio type` alone does)
    List(ListArguments),
    /// Show each field of an agent type, and the layer it comes from
    Show(Show),
    /// Make an agent type, or override fields of one
    New(New),
    /// Open an agent type's file in your editor, and check it afterwards
    Edit(Existing),
    /// Take an agent type out of this project's file, or your own
    Remove(Existing),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  replio type show writer
  replio type show audit/writer            what the plugin `audit` makes of it
  replio type show writer --resolved > prompt.md")]
struct Show {
    /// The agent type; PLUGIN/NAME for what one plugin says of it
    #[arg(value_name = "NAME")]
    name: String,
    /// Print only the system prompt that is sent, with the skills in it
    #[arg(long)]
    resolved: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  replio type new auditor \"You audit code.\" --tag review --deny edit --ask bash
  replio type new writer --model local/small    override the model, and nothing else
  replio type new writer --skill tone           replace the list of skills
  replio type new writer --skill \"\"             clear it
  replio type new writer --deny web --global    for all your projects

Only the fields that are given are written. The categories are read, list, edit, \
bash, web, delegate and mcp; one that no layer names is as in the caller.")]
struct New {
    /// The agent type, new or already there
    #[arg(value_name = "NAME")]
    name: String,
    /// The system prompt
    #[arg(value_name = "PROMPT")]
    prompt: Option<String>,
    /// The model it runs on; "" for its caller's
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// A skill it has; all of them together are the new list
    #[arg(long, value_name = "SKILL", value_parser = skill_name)]
    skill: Vec<String>,
    /// A tag it has; all of them together are the new list
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Tools that it may use
    #[arg(long, value_name = "CATEGORY", value_parser = categories(), hide_possible_values = true)]
    allow: Vec<Category>,
    /// Tools that it may use once the person has agreed
    #[arg(long, value_name = "CATEGORY", value_parser = categories(), hide_possible_values = true)]
    ask: Vec<Category>,
    /// Tools that it may not use
    #[arg(long, value_name = "CATEGORY", value_parser = categories(), hide_possible_values = true)]
    deny: Vec<Category>,
    #[command(flatten)]
    place: WhereNew,
}

#[derive(Debug, Args)]
struct Existing {
    /// The agent type
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    which: WhichFile,
}

fn categories() -> impl TypedValueParser<Value = Category> {
    PossibleValuesParser::new(Category::WORDS).try_map(|word| word.parse::<Category>())
}

/// The name of a skill, which may be qualified; "" clears a list.
pub(super) fn skill_name(text: &str) -> Result<String, String> {
    if !text.is_empty() {
        text.parse::<Reference>().map_err(|invalid| invalid.to_string())?;
    }
    Ok(text.to_owned())
}

/// A list that is given as repeated options; `None` where none is given.
pub(super) fn given(values: &[String]) -> Option<Value> {
    let named: Vec<&String> = values.iter().filter(|value| !value.trim().is_empty()).collect();
    (!values.is_empty()).then(|| json!(named))
}

/// Does it.
pub(super) fn run<'a>(arguments: &'a Arguments, app: &'a App) -> CommandResult<'a> {
    match &arguments.verb {
        None => entries::list::run(Kind::Type, &ListArguments::default(), app),
        Some(Verb::List(list)) => entries::list::run(Kind::Type, list, app),
        Some(Verb::Show(show)) => entries::show::run(Kind::Type, &show.name, show.resolved, app),
        Some(Verb::New(new)) => entries::new::run(Kind::Type, &new.name, &new.place, new.fields()?, app),
        Some(Verb::Edit(existing)) => entries::edit::run(Kind::Type, &existing.name, &existing.which, app),
        Some(Verb::Remove(existing)) => {
            entries::remove::run(Kind::Type, &existing.name, &existing.which, app)
        }
    }
}

impl New {
    fn fields(&self) -> Result<entries::new::Fields, Diagnostic> {
        let fields = [
            ("system_prompt", self.prompt.as_ref().map(|prompt| json!(prompt))),
            ("model", self.model.as_ref().map(|model| json!(model))),
            ("skills", given(&self.skill)),
            ("tags", given(&self.tag)),
            ("tool_permission", self.permission()?),
        ];
        Ok(fields.into_iter().filter_map(|(name, value)| Some((name, value?))).collect())
    }

    fn permission(&self) -> Result<Option<Value>, Diagnostic> {
        let mut said: Map<String, Value> = Map::new();
        let flags = [(Action::Allow, &self.allow), (Action::Ask, &self.ask), (Action::Deny, &self.deny)];
        for (action, categories) in flags {
            for category in categories {
                let before = said.insert(category.word().to_owned(), action.word().into());
                if let Some(before) =
                    before.as_ref().and_then(Value::as_str).filter(|before| *before != action.word())
                {
                    let message = format!("{category} is in both --{before} and --{action}");
                    return Err(usage(message).help("keep one of the two"));
                }
            }
        }
        Ok(Some(said).filter(|said| !said.is_empty()).map(Value::Object))
    }
}
