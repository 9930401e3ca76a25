//! The order in which the cases of the parts of a suite run.

use dmlcts_model::named_enum;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Length;

named_enum! {
    /// The order in which the cases of the parts of a suite run.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum Order: id, from_id {
        /// One part after the other. A part behind one without end never runs.
        #[default]
        Sequential = "sequential",
        /// A case of each part in turn, and of each finite part in steps over its whole length, so that the
        /// first few hundred cases have some of everything.
        Layered = "layered",
        /// First the cases that meet an obligation of the spec that no earlier one meets, then the others.
        /// Both are layered.
        Obligations = "obligations",
    }
}

/// The place of each case of some parts: its part, and its index there.
#[derive(Debug, Clone)]
pub struct Sequence {
    /// The parts, in the order of the suite.
    parts: Vec<PartPlace>,
    /// Ranges of cases that come from the same parts in turn, in ascending order.
    phases: Vec<Phase>,
    length: Length,
    /// The cases that come first: for each, the number of other cases before it in the usual order.
    firsts: Vec<u128>,
}

#[derive(Debug, Clone)]
struct PartPlace {
    /// The index of the part in the suite.
    part: usize,
    length: Length,
    /// From one case of the part to the next. It has no factor in common with the length, so that each case
    /// comes once.
    step: u64,
}

#[derive(Debug, Clone)]
struct Phase {
    /// The index of its first case.
    first: u128,
    /// The number of cases of each of its parts before.
    before: u128,
    /// The indices of its parts in the sequence.
    parts: Vec<usize>,
}

impl Sequence {
    /// The cases of these parts, each with its index in the suite and its length, in this order.
    pub fn new(order: Order, parts: impl IntoIterator<Item = (usize, Length)>) -> Self {
        let mut sequence =
            Self { parts: Vec::new(), phases: Vec::new(), length: Length::Finite(0), firsts: Vec::new() };
        for (part, length) in parts {
            let step = if order == Order::Sequential { 1 } else { step(length) };
            sequence.parts.push(PartPlace { part, length, step });
            if order == Order::Sequential && length == Length::Endless {
                // Nothing comes after it.
                break;
            }
        }
        match order {
            Order::Sequential => (0..sequence.parts.len()).for_each(|part| {
                let length = sequence.parts[part].length;
                sequence.push(0, vec![part], length);
            }),
            Order::Layered | Order::Obligations => sequence.push_layers(),
        }
        sequence
    }

    /// Adds a phase for each length: then the parts of this length have no more cases.
    fn push_layers(&mut self) {
        let mut lengths: Vec<Length> = self.parts.iter().map(|part| part.length).collect();
        lengths.sort_unstable();
        lengths.dedup();
        let mut before = 0;
        for length in lengths {
            let left = (0..self.parts.len()).filter(|part| self.parts[*part].length >= length);
            let parts: Vec<usize> = left.collect();
            let cases = match length {
                Length::Finite(length) => {
                    Length::Finite((length - before).saturating_mul(parts.len() as u128))
                }
                Length::Endless => Length::Endless,
            };
            self.push(before, parts, cases);
            if let Length::Finite(length) = length {
                before = length;
            }
        }
    }

    fn push(&mut self, before: u128, parts: Vec<usize>, cases: Length) {
        if let Length::Finite(first) = self.length
            && cases != Length::Finite(0)
        {
            self.phases.push(Phase { first, before, parts });
            self.length = self.length.then(cases);
        }
    }

    /// The number of cases; saturates.
    pub fn length(&self) -> Length {
        self.length
    }

    /// The sequence with these cases first. `firsts` has their indices in ascending order.
    #[must_use]
    pub(crate) fn beginning_with(self, firsts: &[u64]) -> Self {
        let others = firsts.iter().zip(0..).map(|(index, before)| u128::from(*index) - before);
        Self { firsts: others.collect(), ..self }
    }

    /// The index that the case at an index has if no cases come first.
    fn usual(&self, index: u128) -> u128 {
        let firsts = self.firsts.len() as u128;
        match index.checked_sub(firsts) {
            None => index + self.firsts[index as usize],
            Some(others) => others + self.firsts.partition_point(|before| *before <= others) as u128,
        }
    }

    /// The part of the case at an index, as its index in the suite, and the index of the case there. `None`
    /// past the end.
    pub fn place(&self, index: u128) -> Option<(usize, u128)> {
        if !self.length.contains(index) {
            return None;
        }
        let index = self.usual(index);
        let behind = self.phases.partition_point(|phase| phase.first <= index);
        let phase = self.phases.get(behind.checked_sub(1)?)?;
        let (within, count) = (index - phase.first, phase.parts.len() as u128);
        let (part, round) = match count {
            1 => (phase.parts[0], phase.before + within),
            _ => (phase.parts[(within % count) as usize], phase.before + within / count),
        };
        let PartPlace { part, length, step } = self.parts[part];
        Some(match length {
            Length::Finite(length) if step > 1 => (part, round * u128::from(step) % length),
            _ => (part, round),
        })
    }
}

/// A step through a part that comes to each case once, and early to all regions: the number next to the
/// golden section of the length that has no factor in common with it. 1 for a part that is endless or too
/// long for it.
fn step(length: Length) -> u64 {
    let Length::Finite(length) = length else { return 1 };
    let Ok(length) = u64::try_from(length) else { return 1 };
    let section = (u128::from(length) * 618_034 / 1_000_000) as u64;
    (section.max(1)..=length.max(1)).find(|step| gcd(*step, length) == 1).unwrap_or(1)
}

fn gcd(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { gcd(other, one % other) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn places(sequence: &Sequence, count: u128) -> Vec<(usize, u128)> {
        (0..count).map_while(|index| sequence.place(index)).collect()
    }

    #[test]
    fn parts_run_one_after_the_other() {
        let parts = [Length::Finite(2), Length::Finite(0), Length::Finite(1), Length::Endless];
        let sequence = Sequence::new(Order::Sequential, parts.into_iter().enumerate());
        assert_eq!(places(&sequence, 5), [(0, 0), (0, 1), (2, 0), (3, 0), (3, 1)]);
        assert_eq!(sequence.length(), Length::Endless);
        let behind = Sequence::new(Order::Sequential, [(0, Length::Endless), (1, Length::Finite(1))]);
        assert_eq!(behind.place(u128::MAX), Some((0, u128::MAX)));
    }

    #[test]
    fn layers_have_each_case_once() {
        let lengths = [7, 0, 1, 100, 7, 64].map(Length::Finite);
        let sequence = Sequence::new(Order::Layered, lengths.into_iter().enumerate());
        assert_eq!(sequence.length(), Length::Finite(179));
        let all = places(&sequence, 1_000);
        assert_eq!(all.len(), 179);
        let distinct: BTreeSet<_> = all.iter().copied().collect();
        assert_eq!(distinct.len(), 179);
        assert!(all.iter().all(|(part, within)| lengths[*part].contains(*within)));
        assert_eq!(sequence.place(179), None);
    }

    #[test]
    fn no_part_waits_for_another() {
        let lengths = [Length::Endless, Length::Finite(1_000), Length::Endless];
        let sequence = Sequence::new(Order::Layered, lengths.into_iter().enumerate());
        let first = places(&sequence, 30);
        for part in 0..3 {
            assert_eq!(first.iter().filter(|(of, _)| *of == part).count(), 10);
        }
        // The ten cases of the finite part lie in all its regions.
        let regions: BTreeSet<u128> =
            first.iter().filter(|(of, _)| *of == 1).map(|(_, within)| within / 200).collect();
        assert_eq!(regions.len(), 5);
        assert_eq!(sequence.place(3_000), Some((0, 1_000)), "the finite part has ended");
        assert_eq!(sequence.place(3_001), Some((2, 1_000)));
    }

    #[test]
    fn some_cases_come_first_and_each_comes_once() {
        let of = || Sequence::new(Order::Layered, [3, 5].map(Length::Finite).into_iter().enumerate());
        let usual = places(&of(), 10);
        let moved = places(&of().beginning_with(&[0, 3, 4, 7]), 10);
        let expected = [0, 3, 4, 7, 1, 2, 5, 6].map(|index: usize| usual[index]);
        assert_eq!(moved, expected);
    }

    #[test]
    fn a_part_of_any_length_is_stepped_through() {
        for length in (0..200).chain([1 << 40, u128::from(u64::MAX)]) {
            let step = step(Length::Finite(length));
            assert!(length < 2 || gcd(step, length as u64) == 1, "{length}: {step}");
        }
    }
}
