//! What a run remembers of its cases, to explain its failures: which passed, and how the others failed.

use std::collections::{BTreeMap, BTreeSet};

use dmlcts_generate::draw::mix;
use dmlcts_model::Case;

use crate::{Class, Found, GroupKey, OTHER_DATA};

/// A bit says whether each of the first cases passed.
const BITS: u64 = 1 << 26;
/// The number of passes of later cases that are remembered: a sample.
const SAMPLE: usize = 1 << 16;
/// Further failures are only counted.
const FAILURES: usize = 200_000;

/// The outcomes of the cases of a run. Its memory is bounded: a bit for each of the first cases, a sample of
/// the later ones, and a limited number of failures.
#[derive(Clone, Debug, Default)]
pub struct RunOutcomes {
    passes: Vec<u64>,
    /// Passes beyond the bits, in ascending order of their hashes.
    later: BTreeMap<u64, u64>,
    /// Whether passes or failures were left out.
    has_more_passes: bool,
    has_more_failures: bool,
    pub(crate) failures: BTreeMap<u64, Found>,
    /// The failures that were expected.
    expected: BTreeMap<u64, Found>,
    /// The indices of those of known failures that changed.
    released: BTreeSet<u64>,
}

/// Passes of a run, in ascending order.
#[derive(Debug)]
pub struct Passes {
    /// The indices of their cases.
    pub indices: Vec<u64>,
    /// Whether there were others.
    pub is_sample: bool,
}

impl RunOutcomes {
    /// Adds the outcomes of cases: the indices of those that passed, and the failures. Cases that were only
    /// created are in neither.
    pub fn add(&mut self, passes: &[u64], failures: Vec<Found>) {
        for index in passes {
            if *index >= BITS {
                self.add_later(*index);
                continue;
            }
            let word = (index / 64) as usize;
            if self.passes.len() <= word {
                self.passes.resize(word + 1, 0);
            }
            self.passes[word] |= 1 << (index % 64);
        }
        for found in failures {
            if self.failures.len() < FAILURES {
                self.failures.insert(found.index, found);
            } else {
                self.has_more_failures = true;
            }
        }
    }

    /// Adds failures that were expected.
    pub(crate) fn expect(&mut self, failures: Vec<Found>) {
        let room = FAILURES.saturating_sub(self.expected.len());
        self.expected.extend(failures.into_iter().take(room).map(|found| (found.index, found)));
    }

    /// Makes the failures of known failures that changed failures like the others. `changed` are their
    /// indices.
    pub(crate) fn release(&mut self, changed: &[usize]) {
        let is_of = |found: &Found| found.known.is_some_and(|place| changed.contains(&place));
        let released = std::mem::take(&mut self.expected).into_values().filter(is_of);
        let released: Vec<Found> =
            released.map(|found| Found { verdict: found.class.verdict(), ..found }).collect();
        self.released = released.iter().map(|found| found.index).collect();
        self.add(&[], released);
    }

    /// Whether the failure at an index was expected, of a known failure that changed.
    pub fn was_expected(&self, index: u64) -> bool {
        self.released.contains(&index)
    }

    /// The case at an index as it failed: one that fails for other data only is another case, unless it needs
    /// both.
    pub fn as_it_failed(&self, index: u64, mut case: Case) -> Case {
        let is_another = |found: &Found| found.only_other_data && found.class != Class::Remembered;
        if self.failures.get(&index).is_some_and(is_another) {
            case.fill = OTHER_DATA;
        }
        case
    }

    /// The class of the first failures, if this many cases failed, all in one class and before any passed.
    pub(crate) fn alike(&self, cases: usize) -> Option<Class> {
        let first: Vec<&Found> = self.failures.values().take(cases).collect();
        let (one, last) = (first.first()?, first.get(cases.checked_sub(1)?)?);
        let is_first = self.first_pass().is_none_or(|pass| pass > last.index);
        (is_first && first.iter().all(|found| found.class == one.class)).then_some(one.class)
    }

    /// The first case that passed.
    pub(crate) fn first_pass(&self) -> Option<u64> {
        let words = self.passes.iter().enumerate();
        let first = words.filter(|(_, word)| **word != 0).map(|(place, word)| (place, word.trailing_zeros()));
        first.map(|(place, bit)| place as u64 * 64 + u64::from(bit)).next()
    }

    /// Notes that a pass is not among these.
    pub fn leave_out_pass(&mut self) {
        self.has_more_passes = true;
    }

    /// Notes that a failure is not among these.
    pub fn leave_out_failure(&mut self) {
        self.has_more_failures = true;
    }

    /// Whether further failures are only counted.
    pub fn is_full(&self) -> bool {
        self.failures.len() >= FAILURES
    }

    /// Keeps the passes with the least hashes: a sample that does not depend on the order of the cases.
    fn add_later(&mut self, index: u64) {
        self.later.insert(mix(index), index);
        if self.later.len() > SAMPLE {
            self.later.pop_last();
            self.has_more_passes = true;
        }
    }

    /// Forgets a failure that does not come each time.
    pub(crate) fn forget(&mut self, index: u64) {
        self.failures.remove(&index);
    }

    /// Gives failures the classes that reruns showed. `firsts` are the indices and classes of the first
    /// failures of groups. The first of them in the order of the cases decides for each group.
    pub fn rename(&mut self, firsts: &[(u64, Class)]) {
        let mut firsts = firsts.to_vec();
        firsts.sort_by_key(|(index, _)| *index);
        let mut classes: Vec<(GroupKey, Class)> = Vec::new();
        for (index, class) in firsts {
            if let Some(key) = self.failures.get(&index).map(Found::key)
                && classes.iter().all(|(known, _)| *known != key)
            {
                classes.push((key, class));
            }
        }
        for found in self.failures.values_mut() {
            let key = found.key();
            let class = classes.iter().find(|(known, _)| *known == key).map(|(_, class)| *class);
            found.class = class.unwrap_or(found.class);
        }
    }

    /// The failures, by the indices of their cases.
    pub fn failures(&self) -> &BTreeMap<u64, Found> {
        &self.failures
    }

    /// Whether there were failures that were only counted.
    pub fn has_more_failures(&self) -> bool {
        self.has_more_failures
    }

    /// Cases that passed: at most this many. If there are more, they are a sample by hash.
    pub fn passes(&self, most: usize) -> Passes {
        let count: u64 = self.passes.iter().map(|word| u64::from(word.count_ones())).sum();
        let count = count as usize + self.later.len();
        let of_word = |(place, word): (usize, &u64)| {
            let (start, word) = (place as u64 * 64, *word);
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| start + bit)
        };
        let mut later: Vec<u64> = self.later.values().copied().collect();
        later.sort_unstable();
        let all = self.passes.iter().enumerate().flat_map(of_word).chain(later);
        if count <= most {
            return Passes { indices: all.collect(), is_sample: self.has_more_passes };
        }
        // A little below the limit, since the hashes of some samples are less than the average.
        let aim = most.saturating_sub(4 * most.isqrt()) as u64;
        let least = (u64::MAX / count as u64).saturating_mul(aim);
        Passes { indices: all.filter(|index| mix(*index) < least).take(most).collect(), is_sample: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_beyond_the_bits_are_a_sample() {
        let mut run_outcomes = RunOutcomes::default();
        run_outcomes.add(&[1, 64, BITS - 1], Vec::new());
        run_outcomes.add(&[BITS, BITS + 7], Vec::new());
        let Passes { indices, is_sample } = run_outcomes.passes(10);
        assert_eq!((indices.as_slice(), is_sample), (&[1, 64, BITS - 1, BITS, BITS + 7][..], false));
        let more = SAMPLE as u64 * 4;
        let (first, rest): (Vec<u64>, Vec<u64>) = (BITS..BITS + more).partition(|index| index % 3 == 0);
        run_outcomes.add(&first, Vec::new());
        let mut other = run_outcomes.clone();
        run_outcomes.add(&rest, Vec::new());
        rest.iter().rev().for_each(|index| other.add(&[*index], Vec::new()));
        let Passes { indices, is_sample } = run_outcomes.passes(usize::MAX);
        assert!(is_sample);
        assert_eq!(indices.len(), SAMPLE + 3);
        assert_eq!(indices, other.passes(usize::MAX).indices, "the order of the cases does not matter");
        let late = indices.iter().filter(|index| **index >= BITS + more / 2).count();
        assert!(late > SAMPLE / 2 - SAMPLE / 50 && late < SAMPLE / 2 + SAMPLE / 50, "{late}");
    }

    #[test]
    fn fewer_passes_than_there_are_say_so() {
        let mut run_outcomes = RunOutcomes::default();
        run_outcomes.add(&(0..10_000).collect::<Vec<u64>>(), Vec::new());
        let Passes { indices, is_sample } = run_outcomes.passes(1_000);
        assert!(is_sample && indices.len() > 800 && indices.len() < 1_000, "{}", indices.len());
        assert!(indices.last().is_some_and(|last| *last > 9_900));
        assert!(!run_outcomes.passes(10_000).is_sample);
    }
}
