//! The protocol of backend processes: whatever a pipe brings, it is a message that makes sense, or a mistake.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| dmlcts_fuzzing::frames(bytes));
