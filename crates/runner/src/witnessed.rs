//! What a run remembers of its cases, to explain its failures: which passed, and how the others failed.

use std::collections::BTreeMap;

use crate::Found;

/// Passes of later cases are not remembered.
const PASSES: u64 = 1 << 26;
/// Further failures are only counted.
const FAILURES: usize = 200_000;

/// The outcomes of the cases of a run. Its memory is bounded: a bit for each case, and a limited number of
/// failures.
#[derive(Clone, Debug, Default)]
pub struct Witnessed {
    passes: Vec<u64>,
    pub(crate) failures: BTreeMap<u64, Found>,
}

impl Witnessed {
    /// Adds the outcomes of cases: the indices of those that passed, and the failures. Cases that were only
    /// created are in neither.
    pub fn add(&mut self, passes: &[u64], failures: Vec<Found>) {
        for index in passes.iter().filter(|index| **index < PASSES) {
            let word = (index / 64) as usize;
            if self.passes.len() <= word {
                self.passes.resize(word + 1, 0);
            }
            self.passes[word] |= 1 << (index % 64);
        }
        for found in failures {
            if self.failures.len() < FAILURES {
                self.failures.insert(found.index, found);
            }
        }
    }

    /// Forgets a failure that does not come each time.
    pub(crate) fn forget(&mut self, index: u64) {
        self.failures.remove(&index);
    }

    /// Cases that passed, in ascending order: at most this many, evenly spread over all.
    pub(crate) fn passes(&self, most: usize) -> Vec<u64> {
        let count: u64 = self.passes.iter().map(|word| u64::from(word.count_ones())).sum();
        let step = (count as usize).div_ceil(most.max(1)).max(1);
        let of_word = |(place, word): (usize, &u64)| {
            let (start, word) = (place as u64 * 64, *word);
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| start + bit)
        };
        self.passes.iter().enumerate().flat_map(of_word).step_by(step).collect()
    }
}
