//! The spec's judge and oracle against the reference, on cases that are mutated as cases.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(|bytes: &[u8]| dmlcts_fuzzing::agreement(bytes));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    dmlcts_kit::fuzz::mutate_case(data, size, max_size, seed)
});
