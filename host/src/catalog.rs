//! The catalog: layers of agent types, skills and teams, merged field by field.
//!
//! [`read_entries_file`] and [`read_skills_folder`] turn files into [`Layer`]s,
//! plugins yield more of them, and a [`Stack`] puts those of one [`Kind`] on top
//! of each other: bundled, plugins, global, local. [`Stack::resolve`] finds one
//! entry, [`Resolved`] tells each field and where it comes from, and
//! [`AgentType`], [`Skill`] and [`Team`] are what it describes. [`set_entry`] and
//! [`remove_entry`] go the other way, from a wish to the new text of a file.
//!
//! - Read: [`read_bundled`], [`read_entries_file`], [`read_entries_text`],
//!   [`read_skills_folder`], [`skill_from_bytes`], and [`entry_from_json`] for what a plugin sent.
//! - Merge: [`Stack::new`], [`names`](Stack::names), [`all`](Stack::all),
//!   [`resolve`](Stack::resolve), [`get`](Stack::get),
//!   [`collisions`](Stack::collisions); what is not to be trusted:
//!   [`is_damaged`](Stack::is_damaged), [`lost`](Stack::lost),
//!   [`is_hollow`](Resolved::is_hollow).
//! - Show: [`Resolved::list_json`], [`Resolved::show_json`],
//!   [`fields`](Resolved::fields), [`categories`](Resolved::categories).
//! - Use: [`Resolved::agent_type`], [`skill`](Resolved::skill),
//!   [`team`](Resolved::team), [`resolved_prompt`], [`loosened`],
//!   [`loosened_types`].
//!
//! A `null` resets a field: its value is the default, and its origin is the
//! layer that reset it. A field that nobody sets has no origin.
//!
//! ```
//! use replio::catalog::{Kind, Origin, Stack, read_bundled, read_entries_text};
//!
//! let text = r#"{"writer": {"model": "local/small"}}"#;
//! let (local, faults) = read_entries_text(Kind::Type, text, Origin::Local, None);
//! assert!(faults.is_empty());
//! let stack = Stack::new(Kind::Type, [read_bundled(Kind::Type), local]);
//! let writer = stack.resolve("writer")?;
//! assert_eq!(writer.origin(), "merged");
//! assert_eq!(writer.agent_type().model.as_deref(), Some("local/small"));
//! # Ok::<(), replio::catalog::Unknown>(())
//! ```

mod bounded;
mod check;
mod document;
mod edit;
mod entry;
mod folder;
mod json;
mod kind;
mod layer;
mod loosening;
mod merge;
mod origin;
mod parse;
mod permission;
mod position;
mod prompt;
mod read;
mod reference;
mod resolved;
mod scan;
mod skills;
mod teams;
mod types;

pub use bounded::LARGEST_FILE;
pub use document::{decode_text, parse_document, position_of_key, read_document, read_text};
pub use edit::{EditError, remove_entry, set_entry};
pub use entry::Entry;
pub use folder::{path_in, read_folder};
pub use kind::Kind;
pub use layer::Layer;
pub use loosening::{LoosenedType, loosened_types};
pub use merge::{Stack, Unknown};
pub use origin::Origin;
pub use permission::{Action, Category, Loosened, UnknownWord, loosened};
pub use position::{Place, Position};
pub use prompt::resolved_prompt;
pub use read::{entry_from_json, read_bundled, read_entries_file, read_entries_text};
pub use reference::Reference;
pub use resolved::{Field, Hidden, Resolved};
pub use skills::{read_skills_folder, skill_from_bytes};

pub use crate::paths::Scope;
pub use teams::{DEFAULT_ITERATIONS, DEFAULT_VERDICT, Loop, Stage, Team};
pub use types::{AgentType, Skill};

#[cfg(test)]
mod tests;
