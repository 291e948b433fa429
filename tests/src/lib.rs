//! What the stories are told with: the real `replio` binary in a home and a
//! project of its own, and plugins built from real crates.

mod cargo;
mod plugin;
mod world;

pub use cargo::replio;
pub use plugin::Plugin;
pub use world::{Ran, World};
