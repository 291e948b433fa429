//! What people do with replio, and what it answers.

mod damage;
mod drift;
mod faulty_hooks;
mod from_a_folder;
mod hostile_plugins;
mod parallel;
mod plugin_lifecycle;
mod scopes;
mod several_plugins;
mod switching;
mod updates;
mod wrong_files;
