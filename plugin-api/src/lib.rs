//! Write a plugin for [replio](https://crates.io/crates/replio): agent types,
//! skills and teams that come from a shared library.
//!
//! (The guide is written once the crate stands.)

#![warn(unreachable_pub)]

mod entry;
mod export;
mod registry;

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
    pub use replio_plugin_abi::{ABI_VERSION, manifest};
}
