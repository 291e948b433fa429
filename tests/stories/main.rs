//! What people do with replio, and what it answers.

mod catalog_commands;
mod documentation;
mod plugin_lifecycle;
mod runner;
mod session;
