//! The names, tags and paths that a line can be completed with.

use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use super::complete::{Candidate, Known, Values};
use crate::app::App;
use crate::catalog::Kind;
use crate::plugins::layer::LayerPlugin;

/// Longer descriptions are no help in a menu.
const LONGEST_ABOUT: usize = 60;

/// What an app knows.
pub(super) struct OfApp<'a>(pub(super) &'a App);

impl Known for OfApp<'_> {
    fn values(&self, what: Values, beginning: &str) -> Vec<Candidate> {
        match what {
            Values::Entries(kind) => entries(self.0, kind, beginning.contains('/')),
            Values::Tags(kind) => tags(self.0, kind),
            Values::Plugins => {
                let layer = self.0.plugin_layer();
                let mut plugins: Vec<Candidate> = layer.plugins.iter().map(plugin).collect();
                plugins.dedup_by(|left, right| left.value == right.value);
                plugins
            }
            Values::Paths => paths(beginning, std::env::home_dir().as_deref()),
        }
    }
}

fn entries(app: &App, kind: Kind, qualified: bool) -> Vec<Candidate> {
    let stack = app.stack(kind);
    if qualified {
        let of_plugins = stack.layers().iter().filter_map(|layer| Some((layer.origin.plugin()?, layer)));
        return of_plugins
            .flat_map(|(plugin, layer)| layer.entries.keys().map(move |name| format!("{plugin}/{name}")))
            .map(|name| Candidate::new(name, None))
            .collect();
    }
    let about = |entry: &crate::catalog::Resolved<'_>| match kind {
        Kind::Type => entry.agent_type().tags.join(", "),
        Kind::Skill => entry.skill().description.trim_start_matches('#').trim().to_owned(),
        Kind::Team => entry.team().description,
    };
    let all = stack.all();
    all.iter().map(|entry| Candidate::new(entry.name(), short(&about(entry)))).collect()
}

fn tags(app: &App, kind: Kind) -> Vec<Candidate> {
    let mut tags: Vec<String> =
        app.stack(kind).all().iter().flat_map(|entry| entry.agent_type().tags).collect();
    tags.sort();
    tags.dedup();
    tags.into_iter().map(|tag| Candidate::new(tag, None)).collect()
}

fn plugin(plugin: &LayerPlugin) -> Candidate {
    Candidate::new(plugin.installed.name.as_str(), Some(plugin.installed.status.word().to_owned()))
}

/// A description on one line, when there is one.
fn short(text: &str) -> Option<String> {
    let line = crate::output::clean_line(text);
    let cut: String = line.chars().take(LONGEST_ABOUT).collect();
    let shown = if cut.len() < line.len() { format!("{cut}…") } else { line };
    Some(shown).filter(|shown| !shown.is_empty())
}

/// The files and folders that begin with this; hidden ones only when asked for.
pub(super) fn paths(beginning: &str, home: Option<&Path>) -> Vec<Candidate> {
    if beginning == "~" && home.is_some() {
        return vec![Candidate { value: "~/".to_owned(), about: None, whole: false }];
    }
    let (typed, stem) = beginning
        .rsplit_once(MAIN_SEPARATOR)
        .map_or(("", beginning), |(folder, stem)| (&beginning[..=folder.len()], stem));
    let folder = match (typed.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ if typed.is_empty() => PathBuf::from("."),
        _ => PathBuf::from(typed),
    };
    let Ok(files) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<Candidate> = files
        .flatten()
        .filter_map(|file| {
            let name = file.file_name().into_string().ok()?;
            let is_wanted = name.starts_with(stem) && (!name.starts_with('.') || stem.starts_with('.'));
            // A name that could steer the terminal is not offered.
            let is_clean = matches!(crate::output::clean(&name), std::borrow::Cow::Borrowed(_));
            if !is_wanted || !is_clean || name.contains('\n') {
                return None;
            }
            let is_folder = file.path().is_dir();
            let end = if is_folder { "/" } else { "" };
            Some(Candidate { value: format!("{typed}{name}{end}"), about: None, whole: !is_folder })
        })
        .collect();
    found.sort_by(|left, right| left.value.cmp(&right.value));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_completed_a_folder_at_a_time() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("my plugins")).unwrap();
        for file in ["liba.so", ".hidden", "my plugins/libb.so"] {
            std::fs::write(home.path().join(file), "").unwrap();
        }
        let found = |text: &str| {
            let found = paths(text, Some(home.path()));
            found.into_iter().map(|candidate| (candidate.value, candidate.whole)).collect::<Vec<_>>()
        };
        assert_eq!(found("~/"), [("~/liba.so".to_owned(), true), ("~/my plugins/".to_owned(), false)]);
        assert_eq!(found("~/my plugins/"), [("~/my plugins/libb.so".to_owned(), true)]);
        assert_eq!(found("~"), [("~/".to_owned(), false)]);
        assert_eq!(found("~/.h"), [("~/.hidden".to_owned(), true)]);
        let whole = format!("{}/lib", home.path().display());
        assert_eq!(found(&whole), [(format!("{whole}a.so"), true)]);
        assert_eq!(found("~/nowhere/"), []);
    }

    /// Knows paths and nothing else.
    struct Files<'a>(&'a Path);

    impl Known for Files<'_> {
        fn values(&self, what: Values, beginning: &str) -> Vec<Candidate> {
            if what == Values::Paths { paths(beginning, Some(self.0)) } else { Vec::new() }
        }
    }

    #[test]
    fn a_line_is_completed_with_absolute_home_and_relative_paths() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("big plugin")).unwrap();
        std::fs::create_dir(home.path().join("bin")).unwrap();
        let mut definition = crate::commands::definition();
        definition.build();
        let after = |text: &str| {
            let (start, found) = super::super::complete::candidates(text, &definition, &Files(home.path()));
            (start, found.into_iter().map(|candidate| candidate.value).collect::<Vec<_>>())
        };
        let root = home.path().display();
        let both = vec![format!("{root}/big plugin/"), format!("{root}/bin/")];
        for command in ["/plugins install", "/plugin inspect", "/plugins install --global"] {
            assert_eq!(
                after(&format!("{command} {root}/bi")),
                (command.len() + 1, both.clone()),
                "{command}"
            );
        }
        assert_eq!(after("/plugins install ~/bin"), (17, vec!["~/bin/".to_owned()]));
        assert_eq!(after("/plugins install '~/big p"), (17, vec!["~/big plugin/".to_owned()]));
        // Tests run in the folder of the crate.
        assert_eq!(after("/plugins install src/rep").1, ["src/repl.rs", "src/repl/"]);
        assert_eq!(after("/plugins install ./src/main").1, ["./src/main.rs"]);
    }
}
