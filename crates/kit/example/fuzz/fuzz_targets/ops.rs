//! The example against the spec.
#![no_main]

dmlcts_kit::fuzz_target!(dmlcts_kit_example::Slices::open);
