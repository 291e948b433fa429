//! What people do with replio, and what it answers.

mod plugin_lifecycle;
