//! What must hold for bytes from outside, whatever they are: a function for
//! each place where replio reads some. None of them may panic, hang or take
//! memory without bound. The fuzzer in `tests/fuzz` thinks up bytes for them,
//! and a story replays those that are kept there.

use replio::diagnostic::Diagnostic;

mod catalog_file;
mod config;
mod global_file;
mod library;
mod lock;
mod names;
mod report;
mod runner_words;
mod signature;
mod skill_file;
mod terminal;

pub use catalog_file::{teams_json, types_json};
pub use config::config_json;
pub use global_file::{quarantine_json, trust_json};
pub use library::{library, manifest};
pub use lock::plugins_lock;
pub use names::{entry_name, plugin_name};
pub use report::report;
pub use runner_words::runner_words;
pub use signature::{signature, signer_key};
pub use skill_file::skill_file;
pub use terminal::terminal_escape;

/// A function that any bytes may be given to.
pub type Target = fn(&[u8]);

/// Each target under its name, which is that of its folders in `tests/fuzz`.
pub const TARGETS: [(&str, Target); 16] = [
    ("config_json", config_json),
    ("entry_name", entry_name),
    ("library", library),
    ("manifest", manifest),
    ("plugin_name", plugin_name),
    ("plugins_lock", plugins_lock),
    ("quarantine_json", quarantine_json),
    ("report", report),
    ("runner_words", runner_words),
    ("signature", signature),
    ("signer_key", signer_key),
    ("skill_file", skill_file),
    ("teams_json", teams_json),
    ("terminal_escape", terminal_escape),
    ("trust_json", trust_json),
    ("types_json", types_json),
];

/// A place is there for a person to go to, so it is inside the text.
fn check_place(diagnostic: &Diagnostic, text: &[u8]) {
    let (Some(line), Some(column)) = (diagnostic.line, diagnostic.column) else { return };
    let text = String::from_utf8_lossy(text);
    let Some(there) = text.split('\n').nth(line - 1) else { panic!("no such line: {diagnostic:?}") };
    assert!((1..=there.chars().count() + 1).contains(&column), "no such column: {diagnostic:?}");
}
