//! The `replio` command.

fn main() {}
