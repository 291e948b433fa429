//! What people do with replio, and what it answers.

mod documentation;
mod plugin_lifecycle;
