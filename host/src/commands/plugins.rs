//! `replio plugins`: the plugins there are, and the verbs that change that.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::CommandResult;
use crate::app::App;
use crate::catalog::Scope;
use crate::diagnostic::Diagnostic;
use crate::plugins::digest::Digest;
use crate::plugins::manage::{Done, InstallRequest, ManageError, Outcome, Plugins, UpdateRequest};

mod answers;
mod inspect;
mod shown;

pub(super) use answers::changes_lines;
use answers::{List, One, Several};
pub(super) use shown::plugin_json;

/// The arguments of `replio plugins`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  replio plugins                              what is installed, and how it stands
  replio plugins inspect ./libaudit.so        what a file says of itself, before any of it runs
  replio plugins install ./libaudit.so        install it for this project
  replio plugins install ./audit --global     build a crate and install it for all projects
  replio plugins update                       update every plugin from its source")]
pub struct Arguments {
    /// What to do; nothing is `list`
    #[command(subcommand)]
    verb: Option<Verb>,
}

/// The verbs.
#[derive(Debug, Subcommand)]
enum Verb {
    /// List the installed plugins and how each one stands; runs none of them
    List,
    /// Show all that is known of an installed plugin; does not run it
    Show {
        /// The plugin
        name: String,
        #[command(flatten)]
        scope: ScopeArguments,
    },
    /// Read what a library says of itself; runs none of it
    #[command(after_help = "Example:\n  replio plugins inspect ./libaudit.so --json")]
    Inspect {
        /// A shared library (.so, .dylib)
        file: PathBuf,
    },
    /// Install a plugin from a shared library or from the folder of its crate
    #[command(after_help = "Examples:
  replio plugins install ./libaudit.so
  replio plugins install ./audit              a folder with a Cargo.toml; cargo builds it first
  replio plugins install ./libaudit.so --dry-run
  replio plugins install ./libaudit.so --sha256 3f1c…

Naming the file is the consent: from then on its code runs at each start that
needs the catalog, in a jail as far as the system has one. Read what it says of
itself first, with `replio plugins inspect`.")]
    Install {
        /// A shared library, or a folder with a Cargo.toml
        source: PathBuf,
        /// Install it for all projects instead of this one
        #[arg(long)]
        global: bool,
        /// Refuse a library that has another digest
        #[arg(long, value_name = "HEX")]
        sha256: Option<Digest>,
        /// Do everything but the change
        #[arg(long)]
        dry_run: bool,
    },
    /// Update plugins from where they were installed from
    #[command(after_help = "Examples:
  replio plugins update                       all of them
  replio plugins update audit
  replio plugins update audit --from ./libaudit-2.so
  replio plugins update audit --dry-run       show what would change")]
    Update {
        /// The plugins; none is all of them
        names: Vec<String>,
        /// Take it from here, now and from now on
        #[arg(long, value_name = "SOURCE")]
        from: Option<PathBuf>,
        /// Replace it by a lower version too
        #[arg(long)]
        allow_downgrade: bool,
        #[command(flatten)]
        scope: ScopeArguments,
        /// Do everything but the change
        #[arg(long)]
        dry_run: bool,
    },
    /// Go back to the build before the last update
    Rollback {
        /// The plugin
        name: String,
        #[command(flatten)]
        scope: ScopeArguments,
    },
    /// Uninstall a plugin with its files
    #[command(after_help = "Example:\n  replio plugins uninstall audit --dry-run")]
    Uninstall {
        /// The plugin
        name: String,
        #[command(flatten)]
        scope: ScopeArguments,
        /// Do everything but the change
        #[arg(long)]
        dry_run: bool,
    },
    /// Switch a plugin on, and accept what it brings now
    Enable {
        /// The plugin
        name: String,
        #[command(flatten)]
        scope: ScopeArguments,
    },
    /// Switch a plugin off, and keep it installed
    Disable {
        /// The plugin
        name: String,
        #[command(flatten)]
        scope: ScopeArguments,
    },
    /// Trust a plugin that came with this project, so that it is run
    #[command(after_help = "Example:
  replio plugins trust audit

`replio trust` shows what a project brings, and trusts all of it once you agree.")]
    Trust {
        /// The plugin
        name: String,
        #[command(flatten)]
        scope: ScopeArguments,
    },
    /// Check that the stored libraries are what was installed
    Verify {
        /// The plugins; none is all of them
        names: Vec<String>,
        #[command(flatten)]
        scope: ScopeArguments,
    },
}

/// Which of two installed plugins of one name is meant.
#[derive(Debug, Clone, Copy, Args)]
struct ScopeArguments {
    /// The one that is installed for all projects
    #[arg(long, conflicts_with = "local")]
    global: bool,
    /// The one that is installed for this project
    #[arg(long)]
    local: bool,
}

impl ScopeArguments {
    fn scope(self) -> Option<Scope> {
        match (self.global, self.local) {
            (true, _) => Some(Scope::Global),
            (_, true) => Some(Scope::Local),
            _ => None,
        }
    }
}

/// Does it.
pub(super) fn run<'a>(arguments: &'a Arguments, app: &'a App) -> CommandResult<'a> {
    let plugins = Plugins::new(&app.places, app.output);
    app.warn(plugins.warnings());
    let current = std::env::current_dir().unwrap_or_default();
    let one = |result: Result<Outcome, ManageError>| -> Result<Outcome, Diagnostic> {
        result.map_err(|error| {
            app.output.detail(&error.details());
            Diagnostic::from(error)
        })
    };
    match arguments.verb.as_ref().unwrap_or(&Verb::List) {
        Verb::List => {
            let (installed, warnings) = plugins.installed();
            let is_partial = !warnings.is_empty();
            app.warn(warnings);
            let has_project = app.places.project().is_some();
            Ok(Box::new(List { plugins: installed, is_partial, has_project }))
        }
        Verb::Show { name, scope } => {
            Ok(Box::new(shown::Shown::of(plugins.find(name, scope.scope()).map_err(Diagnostic::from)?)))
        }
        Verb::Inspect { file } => inspect::run(&current.join(file)),
        Verb::Install { source, global, sha256, dry_run } => {
            let request = InstallRequest {
                source: source.clone(),
                scope: if *global { Scope::Global } else { Scope::Local },
                sha256: *sha256,
                dry_run: *dry_run,
            };
            let outcome = one(plugins.install(&request, &current))?;
            Ok(Box::new(changed(app, outcome, *dry_run)))
        }
        Verb::Update { names, from, allow_downgrade, scope, dry_run } => {
            if from.is_some() && names.len() != 1 {
                return Err(Diagnostic::new("usage", "--from goes with the name of one plugin")
                    .help("replio plugins update NAME --from SOURCE"));
            }
            let update = |name: &str, scope| {
                let request = UpdateRequest {
                    name: name.to_owned(),
                    scope,
                    from: from.clone(),
                    allow_downgrade: *allow_downgrade,
                    dry_run: *dry_run,
                };
                one(plugins.update(&request, &current))
            };
            match names.as_slice() {
                [name] => Ok(Box::new(changed(app, update(name, scope.scope())?, *dry_run))),
                names => Ok(Box::new(each(app, &plugins, names, scope.scope(), *dry_run, update))),
            }
        }
        Verb::Rollback { name, scope } => {
            Ok(Box::new(changed(app, one(plugins.rollback(name, scope.scope()))?, false)))
        }
        Verb::Uninstall { name, scope, dry_run } => {
            let outcome = one(plugins.uninstall(name, scope.scope(), *dry_run))?;
            Ok(Box::new(changed(app, outcome, *dry_run)))
        }
        Verb::Enable { name, scope } => {
            Ok(Box::new(changed(app, one(plugins.enable(name, scope.scope()))?, false)))
        }
        Verb::Disable { name, scope } => {
            Ok(Box::new(changed(app, one(plugins.disable(name, scope.scope()))?, false)))
        }
        Verb::Trust { name, scope } => {
            Ok(Box::new(changed(app, one(plugins.trust_named(name, scope.scope()))?, false)))
        }
        Verb::Verify { names, scope } => {
            let verify = |name: &str, scope| one(plugins.verify(name, scope));
            match names.as_slice() {
                [name] => Ok(Box::new(One { outcome: verify(name, scope.scope())?, dry_run: false })),
                names => Ok(Box::new(each(app, &plugins, names, scope.scope(), false, verify))),
            }
        }
    }
}

/// The answer of a verb that changed something: the plugin layer is rebuilt,
/// which tells whether what there is now works together.
fn changed(app: &App, outcome: Outcome, dry_run: bool) -> One {
    if !dry_run {
        app.rebuild_plugin_layer();
    }
    One { outcome, dry_run }
}

/// Does something with each of these plugins, or with all there are.
fn each(
    app: &App,
    plugins: &Plugins<'_>,
    names: &[String],
    scope: Option<Scope>,
    dry_run: bool,
    act: impl Fn(&str, Option<Scope>) -> Result<Outcome, Diagnostic>,
) -> Several {
    let mut results: Vec<(String, Result<Outcome, Diagnostic>)> = Vec::new();
    let chosen: Vec<(String, Option<Scope>)> = if names.is_empty() {
        let (installed, unreadable) = plugins.installed();
        // What is in a list that can't be read is not known to be all right.
        results.extend(unreadable.into_iter().map(|error| ("plugins.lock".to_owned(), Err(error))));
        let in_scope = installed.iter().filter(|plugin| scope.is_none_or(|scope| scope == plugin.scope));
        in_scope.map(|plugin| (plugin.name.to_string(), Some(plugin.scope))).collect()
    } else {
        names.iter().map(|name| (name.clone(), scope)).collect()
    };
    results.extend(chosen.into_iter().map(|(name, scope)| {
        let result = act(&name, scope);
        (name, result)
    }));
    let has_changed = |result: &Result<Outcome, Diagnostic>| {
        result.as_ref().is_ok_and(|outcome| !matches!(outcome.done, Done::Verified | Done::UpToDate))
    };
    if !dry_run && results.iter().any(|(_, result)| has_changed(result)) {
        app.rebuild_plugin_layer();
    }
    Several { results, dry_run }
}
