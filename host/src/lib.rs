//! The replio host. Floors, and nothing imports upwards:
//!
//! 1. [`names`], [`diagnostic`], [`files`], [`paths`], [`output`]
//! 2. [`catalog`]: layers of types, skills and teams, merged; [`config`]: settings
//! 3. [`plugins`]: what native plugins add to it
//! 4. [`project`]: what a project brings that is not trusted;
//!    [`app`]: all of it put together, for one command
//! 5. [`commands`]: the command line
//! 6. [`repl`]: the session, whose lines are commands
//!
//! Plugin code never runs in the process that the user talks to: the program
//! starts itself as a runner ([`plugins::load`]), where all `unsafe` code is.

#![deny(unsafe_code)]

pub mod app;
pub mod catalog;
pub mod commands;
pub mod config;
pub mod diagnostic;
pub mod files;
pub mod names;
pub mod output;
pub mod paths;
pub mod plugins;
pub mod project;
pub mod repl;
