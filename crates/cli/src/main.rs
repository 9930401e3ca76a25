//! The `dmlcts` program.

fn main() {}
