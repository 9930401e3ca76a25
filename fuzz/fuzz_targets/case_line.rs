//! Case lines: whatever the text, it is a case that survives being written, or a mistake with a place.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| dmlcts_fuzzing::case_line(bytes));
