//! The mutator of libFuzzer: what it does to bytes, done to what the bytes mean, so that every input of a
//! campaign is a case that a person can read.

use arbitrary::{Result, Unstructured};
use dmlcts_generate::draw::Draws;
use dmlcts_model::{Case, line};
use dmlcts_spec::Library;

use crate::{arbitrary_case, mutate};

/// The custom mutator of libFuzzer: reads the case line in the first `size` bytes of `data`, changes one
/// thing that `seed` chooses, and writes the line back; returns its length. Anything that is not a case line
/// is replaced by one. A line that does not fit is left as it was.
pub fn mutate_case(data: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    let size = size.min(data.len());
    let mut random = [0; 512];
    let mut draws = Draws::new(seed.into());
    for chunk in random.chunks_exact_mut(8) {
        chunk.copy_from_slice(&draws.word().to_le_bytes());
    }
    let mut bytes = Unstructured::new(&random);
    let known = std::str::from_utf8(&data[..size])
        .ok()
        .and_then(|text| line::parse(text, Library::embedded().signatures()).ok());
    let changed = match known {
        Some(case) => mutated(&case, &mut bytes),
        None => arbitrary_case(&mut bytes),
    };
    let Ok(case) = changed else { return size };
    let line = case.to_string();
    if line.len() > most.min(data.len()) {
        return size;
    }
    data[..line.len()].copy_from_slice(line.as_bytes());
    line.len()
}

/// The case with something changed about it. Some changes change nothing, so a few are tried.
fn mutated(case: &Case, bytes: &mut Unstructured<'_>) -> Result<Case> {
    let mut changed = case.clone();
    for _ in 0..4 {
        mutate(&mut changed, bytes)?;
        if changed != *case {
            break;
        }
    }
    Ok(changed)
}
