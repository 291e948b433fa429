//! What people do with replio, and what it answers.

mod faulty_hooks;
mod hostile_plugins;
mod plugin_lifecycle;
mod wrong_files;
