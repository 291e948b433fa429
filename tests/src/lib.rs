//! What the stories are told with: the real `replio` binary in a home and a
//! project of its own, and plugins built from real crates.

mod actor;
mod cargo;
mod fault_walk;
pub mod foreign;
mod kernel;
mod plugin;
mod tree;
mod world;

pub use actor::{actor_name, text};
pub use cargo::{fixture_target, replio, workspace};
pub use fault_walk::{Change, survives_faults_at_every_step};
pub use plugin::Plugin;
pub use tree::{Tree, tree};
pub use world::{Ran, World};

/// The bytes with every `from` replaced by `to`, which is as long.
///
/// # Panics
/// When `from` is not there, or not as long.
pub fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut bytes = bytes.to_vec();
    let mut found = 0;
    let mut at = 0;
    while at + from.len() <= bytes.len() {
        if bytes[at..].starts_with(from) {
            bytes[at..at + to.len()].copy_from_slice(to);
            found += 1;
            at += to.len();
        } else {
            at += 1;
        }
    }
    assert!(found > 0, "{:?} is not in the file", String::from_utf8_lossy(from));
    bytes
}
