//! The specs, their language and their judgement from outside.

#[path = "../blessed/mod.rs"]
mod blessed;
mod citations;
mod embedded;
mod fourth_operator;
mod judge;
mod language;
mod mistakes;
mod notes;
mod padding_sums;
mod robust;
mod schema;
