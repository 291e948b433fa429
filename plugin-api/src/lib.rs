//! Write a plugin for replio: agent types, skills and teams that come from a
//! shared library.
//!
//! This page is the whole guide: [the crate](#the-crate),
//! [entries and how they merge](#entries-and-how-they-merge),
//! [permissions](#permissions), [skills](#skills), [teams](#teams),
//! [errors and panics](#errors-and-panics), [hooks](#what-hooks-may-do),
//! [versions](#versions), [builds for others](#builds-for-others) and
//! [tests](#tests).
//!
//! ```
//! use replio_plugin_api::{
//!     export_plugin, AgentType, Plugin, Result, Skill, SkillRegistry, Team, TeamRegistry, TypeRegistry,
//! };
//!
//! struct Audit;
//!
//! impl Plugin for Audit {
//!     fn register_types(registry: &mut TypeRegistry) -> Result<()> {
//!         registry.add_plugin(
//!             AgentType::new("auditor").system_prompt("You audit code.").skill("checklist").deny("edit"),
//!         )
//!     }
//!
//!     fn register_skills(registry: &mut SkillRegistry) -> Result<()> {
//!         registry.add_plugin(Skill::new("checklist", "Reproduce each finding, and say how."))
//!     }
//!
//!     fn register_teams(registry: &mut TeamRegistry) -> Result<()> {
//!         registry.add_plugin(Team::new("audit").stage("planner").stage("auditor"))
//!     }
//! }
//!
//! export_plugin!(Audit);
//! ```
//!
//! # The crate
//!
//! A plugin is a library of the kind `cdylib`. It needs no dependency but this
//! crate, and no build script.
//!
//! ```toml
//! [package]
//! name = "audit"
//! version = "1.0.0"
//! edition = "2021"
//! description = "Audits changes before they are merged"
//! license = "MIT"
//!
//! [lib]
//! crate-type = ["cdylib"]
//!
//! [dependencies]
//! replio-plugin-api = "1"    # or { path = "…/replio/plugin-api" }
//!
//! [profile.release]
//! strip = true
//! lto = true
//! ```
//!
//! As long as this crate isn't on crates.io, depend on the one in a checkout of
//! replio, by its path. `cargo doc -p replio-plugin-api --open`, in the checkout or
//! in your crate, opens this page.
//!
//! The plugin's name is the package's, with `_` turned into `-`: a small letter
//! first, then small letters, digits and `-`, at most 64. Version, description,
//! authors, licence and homepage are the package's too, and are shown to people
//! before anything of the plugin runs.
//!
//! ```sh
//! cargo build --release
//! replio plugins inspect target/release/libaudit.so    # what the file says of itself
//! replio plugins install target/release/libaudit.so    # or the crate's folder: replio plugins install .
//! replio plugins list
//! replio type show auditor --resolved                  # the prompt as an agent gets it
//! replio plugins update audit                          # after the next build
//! replio plugins uninstall audit
//! ```
//!
//! On macOS the library ends in `.dylib`. `install` keeps a copy of its own, so a
//! new build is used from `update` on, and the one before it returns with
//! `rollback`. That copy is in the project's `.replio/`: at the top of the git tree
//! that you are in, or else in the crate's own folder. Its `.gitignore` leaves the
//! copy out; `.replio/plugins/plugins.lock` may be committed. With `--global`, the
//! project has no part in it.
//!
//! # Entries and how they merge
//!
//! A catalog has four layers: bundled, plugin, global and local, the last two
//! being the user's files. Entries of the same name merge field by field, and the
//! upper layer wins. **An entry carries only the fields that you set**; all others
//! come from the layer below. So an entry with the name of a bundled type changes
//! that type:
//!
//! ```
//! # use replio_plugin_api::{AgentType, Result, Skill, TypeRegistry};
//! # fn register_types(registry: &mut TypeRegistry) -> Result<()> {
//! // The bundled programmer keeps its prompt and its other permissions.
//! registry.add_plugin(AgentType::new("programmer").skill("commit-messages").ask("bash"))?;
//!
//! // A list replaces the list below it, so repeat what should stay. An empty one
//! // says that there are none.
//! registry.add_plugin(AgentType::new("editor").tags(["writing", "review", "style"]))?;
//! registry.add_plugin(AgentType::new("writer").skills(Vec::<String>::new()))?;
//!
//! // A skill without content of its own, to describe and tag one that exists.
//! # let mut skills = |_: Skill| -> Result<()> { Ok(()) };
//! skills(Skill::partial("checklist").tag("security"))
//! # }
//! ```
//!
//! - A text replaces a text, an empty one too. A list replaces a list.
//! - Permissions merge by category.
//! - A team's stages are one list: they are replaced as a whole.
//! - The user's files override all that a plugin sets, and a plugin can't prevent
//!   it.
//! - Several plugins may change the same bundled entry; they merge in the order of
//!   their names. If two plugins bring the same new name, the second one isn't
//!   installed, so choose names that say whose they are. `plugin/name` names what
//!   one plugin says, wherever a skill or a type is referred to.
//!
//! Names of entries have letters, digits, `.`, `_` and `-`, begin with a letter or
//! digit, and have at most 64 characters. What a type or team refers to need not be
//! yours: bundled types and the user's skills are as good.
//!
//! # Permissions
//!
//! A type says for each category of tools what its agent may do: [`allow`], [`ask`]
//! (the person is asked each time, and where nobody is there to ask it is a denial)
//! or [`deny`] (the tool isn't even offered). The categories are [`CATEGORIES`]:
//!
//! | category | tools that |
//! |---|---|
//! | `read` | read files |
//! | `list` | list and search files |
//! | `edit` | write files |
//! | `bash` | run commands |
//! | `web` | reach the web |
//! | `delegate` | start other agents |
//! | `mcp` | come from MCP servers |
//!
//! [`allow`]: AgentType::allow
//! [`ask`]: AgentType::ask
//! [`deny`]: AgentType::deny
//!
//! **A category that you don't name isn't denied.** It has the layer below's
//! action, and where no layer has one, that of the user's configuration and of the
//! agent that delegates. An agent never has more than its caller, whatever its
//! type allows. So name each category that the type must not have, and allow only
//! what its task needs.
//!
//! ```
//! use replio_plugin_api::AgentType;
//!
//! let reader = AgentType::new("reader").allow("read").allow("list");
//! let reader = reader.deny("edit").deny("bash").deny("web").deny("delegate").deny("mcp");
//! # let _ = reader;
//! ```
//!
//! A [`model`](AgentType::model) is best left unset: the agent then has its
//! caller's, and nobody has to approve another.
//!
//! # Skills
//!
//! A skill is Markdown that is put into the prompt of the types that attach it,
//! word for word, under the heading `### name`; only a byte order mark at its
//! beginning is left out, as in a system prompt. So begin with text, and use
//! headings of level 4 and deeper. Long skills read best as files:
//! `include_str!("checklist.md")` compiles them in, and the plugin stays one file.
//!
//! ```
//! use replio_plugin_api::Skill;
//!
//! let skill = Skill::new("checklist", "Reproduce each finding.\n\n#### Input\n\nWhat is not checked?")
//!     .description("What to look for")
//!     .tag("review");
//! # let _ = skill;
//! ```
//!
//! Without a [`description`](Skill::description), listings show the first line.
//!
//! # Teams
//!
//! A team is a chain of [`Stage`]s, each an agent type that works on what the ones
//! before it handed on. A bare name is a stage; a [`Stage`] says more: a hint for
//! the task, a note on what to hand on, and skills for this stage only. With
//! [`Team::repeat`], a run of stages is repeated until its last one is content:
//!
//! ```
//! use replio_plugin_api::{Loop, Stage, Team};
//!
//! let team = Team::new("audit")
//!     .description("Change, then audit until nothing is left")
//!     .stage("programmer")
//!     .stage(
//!         Stage::new("auditor")
//!             .task_hint("Audit the change.")
//!             .handoff_note("End with the line VERDICT: PASS or VERDICT: FAIL.")
//!             .skill("checklist"),
//!     )
//!     .repeat(Loop::new("programmer", "auditor").max_iterations(2));
//! # let _ = team;
//! ```
//!
//! The loop ends when the `until` stage says `VERDICT: PASS`, or after
//! `max_iterations` (3 where nothing is said). Tell that stage to say it.
//!
//! # Errors and panics
//!
//! A hook returns [`Result`]. Its [`Error`] takes any text with `.into()` and any
//! error with `?`; the operator reads it with the errors behind it. Such an error
//! has no place, so say what it is about:
//!
//! ```
//! # use replio_plugin_api::{AgentType, Result, TypeRegistry};
//! # struct Audit;
//! # impl replio_plugin_api::Plugin for Audit {
//! fn register_types(registry: &mut TypeRegistry) -> Result<()> {
//!     // In a plugin, rather include_bytes!("types.txt").
//!     let table = b"auditor = You audit code.\nreader = You read code.";
//!     let table = std::str::from_utf8(table).map_err(|error| format!("types.txt: {error}"))?;
//!     for line in table.lines() {
//!         let (name, prompt) = line.split_once('=').ok_or("types.txt: a line without '='")?;
//!         registry.add_plugin(AgentType::new(name.trim()).system_prompt(prompt.trim()))?;
//!     }
//!     Ok(())
//! }
//! # }
//! ```
//!
//! [`add_plugin`](Registry::add_plugin) judges an entry at once. A fault in it
//! comes with the file and line of your call:
//!
//! ```text
//! src/lib.rs:9:18: agent type "auditor": "shell" is no category of tools; the categories are read, …
//! ```
//!
//! It fails the hook even if the hook goes on, for want of a `?`, and returns `Ok`.
//!
//! A panic in a hook is an error with its text and place, unless the profile says
//! `panic = "abort"`; then it ends the process, and the message has no place. A
//! panic on a thread of yours is yours to notice.
//!
//! **A plugin is used whole or not at all.** When one hook fails, nothing of the
//! plugin is used; the rest of replio goes on and the operator is told why. While
//! installing or updating, a failure changes nothing.
//!
//! # What hooks may do
//!
//! Hooks only describe entries. They run at install, update and enable, and then
//! *at each start of replio that needs the catalog*, types before skills before
//! teams, in a process of the plugin's own that ends after them. So:
//!
//! - Be quick: a slow hook makes every listing slow. All three have 10 seconds
//!   together; a millisecond is what people expect.
//! - Bring at most 10,000 entries, 1 MiB in one and 16 MiB in all. These bounds,
//!   and the time, are for the plugin as a whole; beyond them it is refused.
//! - Bring the same each time. What differs from what was installed is used, and
//!   named in a warning; a permission that is looser than it was at install isn't
//!   used until the operator says so.
//! - Don't count on the file system, the network, programs, the environment, the
//!   current folder, or on anything that you kept from the last run. The process
//!   is jailed as far as the system can: what it refuses fails with "permission
//!   denied" or "operation not permitted". Compile in what you need.
//! - What is printed doesn't reach the terminal. It is kept for
//!   `replio --verbose`, as is what you log:
//!
//! ```
//! # use replio_plugin_api::{Result, TypeRegistry};
//! # fn register_types(registry: &mut TypeRegistry) -> Result<()> {
//! // At most 100 lines are kept; one that isn't is no reason to fail.
//! let _ = registry.host().log("no profile is set, so the general one is used");
//! # Ok(())
//! # }
//! ```
//!
//! - Threads are allowed, and end with the process. The registry and the [`Host`]
//!   are there for as long as the hook runs.
//!
//! # Versions
//!
//! Two versions stand in a library, and `replio plugins inspect` shows them:
//!
//! - **The plugin ABI**, 1.x. A replio loads every plugin whose ABI has the same
//!   major version. It is small and fixed, and your library doesn't have to be
//!   built again for a new replio, nor for a new version of Rust.
//! - **The API**, the version of this crate. It follows semver: within 1.x your
//!   source compiles. New builders and hooks come with minor versions; a host that
//!   is older than they are doesn't know them.
//!
//! A plugin that can't do without a certain host says so, and is then refused by
//! others with a message that names it. A requirement that can't be read doesn't
//! compile.
//!
//! ```
//! # use replio_plugin_api::{export_plugin, Plugin};
//! # struct Audit;
//! # impl Plugin for Audit {}
//! export_plugin!(Audit, replio: ">=0.1");
//! ```
//!
//! Your own version is the package's. `update` refuses to go back to a lower one
//! unless it is told to, so give each release a higher one.
//!
//! This crate needs Rust 1.61 or newer, in edition 2021 or 2024; its oldest
//! dependency that can't be replaced, abi_stable, sets that. Before 1.71 a
//! Cargo.lock has to name older versions of some dependencies, serde 1.0.228 among
//! them. The crate works under `#![forbid(unsafe_code)]`, `#![deny(warnings)]` and
//! clippy's pedantic lints.
//!
//! # Builds for others
//!
//! - A library is for one system and one processor: Linux or macOS, `x86_64` or
//!   `aarch64`. Ship one for each.
//! - On Linux, a library needs the glibc that it was linked with, or a newer one.
//!   Build on the oldest distribution that you support. `inspect` says what a file
//!   needs, and replio refuses to load it where that is missing.
//! - `strip = true` and `lto = true` make it a good deal smaller. `opt-level` makes
//!   no difference that anybody would notice. Leave `panic` as it is.
//! - Commit Cargo.lock and build with `--locked`.
//! - Publish the SHA-256 of the file beside it, for
//!   `replio plugins install FILE --sha256 HEX`.
//!
//! # Tests
//!
//! `replio plugins install FILE --dry-run` runs the hooks as an install would, and
//! prints what they bring; with `--json` a script can read it, and it exits with 1
//! when the plugin is faulty. In unit tests, compare the entries themselves: they
//! are plain values.
//!
//! ```
//! use replio_plugin_api::AgentType;
//!
//! fn auditor() -> AgentType {
//!     AgentType::new("auditor").system_prompt("You audit code.").deny("edit")
//! }
//!
//! assert_eq!(auditor(), AgentType::new("auditor").system_prompt("You audit code.").deny("edit"));
//! ```

#![warn(unreachable_pub)]

// Its code is tested with that of this page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

mod entry;
mod export;
mod registry;
mod requirement;

pub use entry::{AgentType, CATEGORIES, Loop, Skill, Stage, Team};
pub use registry::{Host, Registry, SkillRegistry, TeamRegistry, TypeRegistry};

/// This crate's version, which a plugin's manifest carries as `api`.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What went wrong in a hook. Any error converts into it with `?`, and any
/// text with `.into()`.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// What hooks return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A plugin. Each hook adds to a registry what the plugin brings of one kind;
/// a hook that is left out brings nothing.
///
/// Hooks run in a process of their own, at every start of replio that needs
/// the catalog, so they are quick and do nothing but register: no network, no
/// files, no threads that outlive them. Files belong into the library, with
/// `include_str!`. When a hook returns an error or panics, nothing of the
/// plugin is used, and the operator is told the message.
pub trait Plugin {
    /// Adds the agent types.
    ///
    /// # Errors
    /// Whatever the author wants the operator to read.
    fn register_types(registry: &mut TypeRegistry) -> Result<()> {
        let _ = registry;
        Ok(())
    }

    /// Adds the skills.
    ///
    /// # Errors
    /// Whatever the author wants the operator to read.
    fn register_skills(registry: &mut SkillRegistry) -> Result<()> {
        let _ = registry;
        Ok(())
    }

    /// Adds the teams.
    ///
    /// # Errors
    /// Whatever the author wants the operator to read.
    fn register_teams(registry: &mut TeamRegistry) -> Result<()> {
        let _ = registry;
        Ok(())
    }
}

/// What [`export_plugin!`] writes into a plugin. Not for use by hand, and not
/// under semver.
#[doc(hidden)]
pub mod __private {
    pub use crate::export::{Root, root};
    pub use crate::requirement::is_requirement;
    pub use replio_plugin_abi::{ABI_VERSION, manifest};
}
