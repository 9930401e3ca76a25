//! Tests that need an adapter. Without one they report that they were skipped, and fail if
//! `DMLCTS_REQUIRE_WGPU` is 1.

mod absence;
mod common;
mod examples;
mod faults;
mod hazards;
mod mutants;
mod suites;
