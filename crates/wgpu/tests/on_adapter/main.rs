//! Tests that need an adapter. Where there is none they say so, and fail where `DMLCTS_REQUIRE_WGPU` is 1.

mod absence;
mod common;
mod examples;
mod faults;
mod hazards;
mod mutants;
mod suites;
