//! What can follow in a line. Commands, verbs and options come from the
//! definition of the command line, everything else from [`Known`].

use clap::{Arg, Command, ValueHint};

use super::words::{Line, split};
use crate::catalog::Kind;

/// Something that can stand at the end of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) value: String,
    pub(super) about: Option<String>,
    /// It is complete, so that a space may follow: a folder is not.
    pub(super) whole: bool,
}

/// What a value of a command can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Values {
    /// The name of an entry.
    Entries(Kind),
    /// A tag of entries.
    Tags(Kind),
    /// The name of an installed plugin.
    Plugins,
    /// A file or folder.
    Paths,
}

/// What there is beside the commands.
pub(super) trait Known {
    /// The values that begin with this.
    fn values(&self, what: Values, beginning: &str) -> Vec<Candidate>;
}

/// The commands of a session that are none of the command line's.
pub(super) const OF_THE_SESSION: [(&str, &str); 2] =
    [("help", "List the commands, or explain one"), ("exit", "Leave the session (also Ctrl-D)")];

impl Candidate {
    pub(super) fn new(value: impl Into<String>, about: Option<String>) -> Self {
        Self { value: value.into(), about, whole: true }
    }
}

/// What the word at the end of this text can be, and where that word begins.
/// The definition has been built.
pub(super) fn candidates(text: &str, definition: &Command, known: &dyn Known) -> (usize, Vec<Candidate>) {
    let Line { mut words, ended, .. } = split(text);
    let last = if ended { None } else { words.pop() };
    let start = last.as_ref().map_or(text.len(), |word| word.start);
    let beginning = last.map(|word| word.text).unwrap_or_default();
    let before: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let found = match before.split_first() {
        None => commands(definition),
        Some((first, rest)) => match first.strip_prefix('/') {
            Some("help") => verbs(walk(definition, rest).command),
            Some(noun) => {
                let rest: Vec<&str> = std::iter::once(noun).chain(rest.iter().copied()).collect();
                following(&walk(definition, &rest), &beginning, known)
            }
            None => Vec::new(),
        },
    };
    let fitting = found.into_iter().filter(|candidate| candidate.value.starts_with(&beginning));
    (start, fitting.collect())
}

fn commands(definition: &Command) -> Vec<Candidate> {
    let of_the_session = OF_THE_SESSION.map(|(name, about)| Candidate::new(name, Some(about.to_owned())));
    let mut commands = verbs(definition);
    commands.extend(of_the_session);
    for command in &mut commands {
        command.value.insert(0, '/');
    }
    commands
}

fn verbs(command: &Command) -> Vec<Candidate> {
    let shown = command.get_subcommands().filter(|verb| !verb.is_hide_set());
    shown.map(|verb| Candidate::new(verb.get_name(), verb.get_about().map(ToString::to_string))).collect()
}

/// Where in the definition a line has come to.
struct Reached<'d> {
    command: &'d Command,
    /// The name of the first command, whatever alias was typed.
    noun: Option<&'d str>,
    /// How many values have been given that belong to no option.
    values: usize,
    /// The option that the next word belongs to.
    option: Option<&'d Arg>,
    /// After `--` there are no options.
    only_values: bool,
}

fn walk<'d>(definition: &'d Command, words: &[&str]) -> Reached<'d> {
    let mut reached =
        Reached { command: definition, noun: None, values: 0, option: None, only_values: false };
    for word in words {
        if reached.option.take().is_some() {
            continue;
        }
        if !reached.only_values && word.starts_with('-') && word.len() > 1 {
            reached.only_values = *word == "--";
            reached.option = option(reached.command, word).filter(|option| takes_value(option));
            continue;
        }
        match reached.command.find_subcommand(word) {
            Some(verb) if reached.values == 0 => {
                reached.command = verb;
                reached.noun.get_or_insert(verb.get_name());
            }
            _ => reached.values += 1,
        }
    }
    reached
}

fn takes_value(option: &Arg) -> bool {
    option.get_action().takes_values()
}

/// The option of this spelling; with `=` its value is there already.
fn option<'d>(command: &'d Command, word: &str) -> Option<&'d Arg> {
    let mut options = command.get_arguments();
    match word.strip_prefix("--") {
        Some(long) => options.find(|option| option.get_long() == Some(long)),
        None => options.find(|option| option.get_short() == word.chars().nth(1)),
    }
}

fn following(reached: &Reached<'_>, beginning: &str, known: &dyn Known) -> Vec<Candidate> {
    if let Some(option) = reached.option {
        return values_of(option, reached.noun, beginning, known);
    }
    if beginning.starts_with('-') && !reached.only_values {
        return options_of(reached.command);
    }
    if reached.values == 0 && reached.command.has_subcommands() {
        return verbs(reached.command);
    }
    let positionals: Vec<&Arg> = reached.command.get_positionals().collect();
    let repeated = positionals.last().filter(|last| last.get_num_args().is_some_and(|n| n.max_values() > 1));
    match positionals.get(reached.values).or(repeated) {
        Some(positional) => values_of(positional, reached.noun, beginning, known),
        None => Vec::new(),
    }
}

fn options_of(command: &Command) -> Vec<Candidate> {
    let shown = command.get_arguments().filter(|option| !option.is_hide_set());
    let candidate = |option: &Arg| {
        let long = option.get_long()?;
        Some(Candidate::new(format!("--{long}"), option.get_help().map(ToString::to_string)))
    };
    shown.filter_map(candidate).collect()
}

fn values_of(argument: &Arg, noun: Option<&str>, beginning: &str, known: &dyn Known) -> Vec<Candidate> {
    let possible = argument.get_possible_values();
    if !possible.is_empty() {
        let candidate = |value: &clap::builder::PossibleValue| {
            Candidate::new(value.get_name(), value.get_help().map(ToString::to_string))
        };
        return possible.iter().filter(|value| !value.is_hide_set()).map(candidate).collect();
    }
    what(argument, noun).map(|what| known.values(what, beginning)).unwrap_or_default()
}

/// What an argument takes: a path, or what its name in the help says.
fn what(argument: &Arg, noun: Option<&str>) -> Option<Values> {
    let hint = argument.get_value_hint();
    if matches!(hint, ValueHint::AnyPath | ValueHint::FilePath | ValueHint::DirPath) {
        return Some(Values::Paths);
    }
    let kind = Kind::ALL.into_iter().find(|kind| Some(kind.singular()) == noun);
    match (argument.get_value_names()?.first()?.as_str(), kind, noun) {
        ("SKILL", ..) => Some(Values::Entries(Kind::Skill)),
        ("TYPE", ..) => Some(Values::Entries(Kind::Type)),
        ("TAG", Some(kind), _) => Some(Values::Tags(kind)),
        ("NAME", Some(kind), _) => Some(Values::Entries(kind)),
        ("NAME" | "NAMES", None, Some("plugins" | "trust")) => Some(Values::Plugins),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names each thing after what it is.
    struct Fake;

    impl Known for Fake {
        fn values(&self, what: Values, _: &str) -> Vec<Candidate> {
            vec![Candidate::new(format!("{what:?}"), None)]
        }
    }

    fn after(text: &str) -> (usize, Vec<String>) {
        let mut definition = crate::commands::definition();
        definition.build();
        let (start, found) = candidates(text, &definition, &Fake);
        (start, found.into_iter().map(|candidate| candidate.value).collect())
    }

    #[test]
    fn commands_and_verbs_come_from_the_command_line() {
        assert_eq!(after("/t"), (0, vec!["/type".into(), "/team".into(), "/trust".into()]));
        assert_eq!(after("/he"), (0, vec!["/help".into()]));
        assert_eq!(
            after("/type "),
            (6, ["list", "show", "new", "edit", "remove"].map(String::from).to_vec())
        );
        assert_eq!(after("/types re"), (7, vec!["remove".into()]));
        assert_eq!(after("/help skill e"), (12, vec!["edit".into()]));
        assert_eq!(after("/type --json sh"), (13, vec!["show".into()]));
        assert_eq!(after("hello wor").1, Vec::<String>::new());
        assert_eq!(after("/nonsense ").1, Vec::<String>::new());
    }

    #[test]
    fn options_are_those_of_the_verb_and_the_global_ones() {
        let (start, found) = after("/type show writer --");
        assert_eq!(start, 18);
        for option in ["--resolved", "--json", "--no-plugins", "--help"] {
            assert!(found.iter().any(|found| found == option), "{option} in {found:?}");
        }
        assert_eq!(after("/type new x --de").1, ["--deny"]);
        assert_eq!(after("/type new x --deny b").1, ["bash"]);
        assert_eq!(after("/type list -- --").1, Vec::<String>::new());
    }

    #[test]
    fn values_are_names_tags_and_paths() {
        for (text, expected) in [
            ("/type show ", "Entries(Type)"),
            ("/skills edit ", "Entries(Skill)"),
            ("/team remove --global ", "Entries(Team)"),
            ("/team list ", "Tags(Team)"),
            ("/type new x --tag ", "Tags(Type)"),
            ("/type new x --skill ", "Entries(Skill)"),
            ("/team new x --stage ", "Entries(Type)"),
            ("/skill new x --from ", "Paths"),
            ("/plugins install ", "Paths"),
            ("/plugins show ", "Plugins"),
            ("/plugins update a b ", "Plugins"),
            ("/plugins trust ", "Plugins"),
            ("/trust remove ", "Plugins"),
            ("/type list --path ", "Paths"),
        ] {
            assert_eq!(after(text).1, [expected], "{text}");
        }
        // A prompt can be anything, and there is no third value.
        assert_eq!(after("/type new x ").1, Vec::<String>::new());
        assert_eq!(after("/type show x ").1, Vec::<String>::new());
        assert!(after("/completions ").1.contains(&"bash".to_owned()));
    }
}
