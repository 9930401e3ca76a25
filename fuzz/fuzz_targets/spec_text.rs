//! Spec files and expressions: whatever the text, loading it ends and says what is wrong.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| dmlcts_fuzzing::spec_text(bytes));
