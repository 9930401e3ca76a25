//! Results files: recorded, continued and joined, and their schema.

#[path = "../../../spec/tests/blessed/mod.rs"]
mod blessed;
mod common;
mod merge;
mod record;
mod resume;
mod schema;
