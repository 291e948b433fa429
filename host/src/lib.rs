//! The replio host. Six floors, and nothing imports upwards:
//! `names`, `diagnostic`, `files`, `paths`, `output` ← `catalog` ← `plugins`
//! ← `app` ← `commands`, `repl` ← the binary.

#![deny(unsafe_code)]

pub mod catalog;
pub mod diagnostic;
pub mod files;
pub mod names;
pub mod output;
pub mod paths;
pub mod plugins;
