//! The mutator of libFuzzer: what it does to bytes, done to what the bytes mean, so that every input of a
//! campaign is a case that a person can read.

use arbitrary::Unstructured;
use dmlcts_generate::{draw::Draws, mutate};
use dmlcts_model::{Case, line};
use dmlcts_spec::Library;

use super::arbitrary_case;

/// One input in this many becomes a new case.
const FRESH: u64 = 16;

/// The custom mutator of libFuzzer: reads the case line in the first `size` bytes of `data`, changes one
/// thing that `seed` chooses, and writes the line back; returns its length. Anything that is not a case line
/// is replaced by one. A line that does not fit is left as it was.
pub fn mutate_case(data: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    let size = size.min(data.len());
    let mut draws = Draws::new(seed.into());
    let known = std::str::from_utf8(&data[..size])
        .ok()
        .and_then(|text| line::parse(text, Library::embedded().signatures()).ok());
    // Changes alone seldom leave the few kinds of cases of a small corpus.
    let case = if let Some(case) = known.filter(|_| draws.below(FRESH) > 0) {
        mutated(&case, &mut draws)
    } else {
        let random: Vec<u8> = (0..8).flat_map(|_| draws.word().to_le_bytes()).collect();
        let Ok(case) = arbitrary_case(&mut Unstructured::new(&random)) else { return size };
        case
    };
    let line = case.to_string();
    if line.len() > most.min(data.len()) {
        return size;
    }
    data[..line.len()].copy_from_slice(line.as_bytes());
    line.len()
}

/// The case with something changed about it. Some changes change nothing, so a few are tried.
fn mutated(case: &Case, draws: &mut Draws) -> Case {
    let mut changed = case.clone();
    for _ in 0..4 {
        mutate(&mut changed, draws);
        if changed != *case {
            break;
        }
    }
    changed
}
