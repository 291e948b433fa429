//! What people do with replio, and what it answers.

mod attacks;
mod authors;
mod catalog_commands;
mod damage;
mod documentation;
mod drift;
mod faulty_hooks;
mod file_faults;
mod foreign_bytes;
mod from_a_folder;
mod hostile_plugins;
mod jail;
mod limits_and_rights;
mod matrix;
mod parallel;
mod plugin_lifecycle;
mod quarantine;
mod runner;
mod scopes;
mod session;
mod several_plugins;
mod switching;
mod trust;
mod updates;
mod wrong_files;
