//! Random changes to cases of other parts: mostly invalid descs, and valid ones that no other strategy draws.
//!
//! Nothing is searched, so each case is new. Case `i` depends only on the seed, `i` and the other parts.

use std::sync::Arc;

use dmlcts_model::{Case, Side};

use super::{Generator, align_offsets};
use crate::{Length, draw::Draws, mutate};

/// The number of changes, at most.
const CHANGES: u64 = 3;
/// A tensor of more bytes takes the time of thousands of small cases.
const MOST: u64 = 1 << 20;
/// A tensor of more bytes costs nothing, since a run usually only creates its operator.
const VAST: u64 = 1 << 30;

/// The strategy: this number of cases, made from those of these parts.
pub(crate) struct Mutated<'lib> {
    pub(crate) parts: Vec<Arc<dyn Generator + 'lib>>,
    pub(crate) seed: u64,
    pub(crate) length: Length,
}

impl Generator for Mutated<'_> {
    fn length(&self) -> Length {
        let is_empty = self.parts.iter().all(|part| part.length() == Length::Finite(0));
        if is_empty { Length::Finite(0) } else { self.length }
    }

    fn case(&self, index: u128, case: &mut Case) {
        let draws = &mut Draws::of_case(self.seed, index as u64);
        let filled = self.parts.iter().filter(|part| part.length() != Length::Finite(0));
        let filled: Vec<_> = filled.collect();
        let Some(part) = draws.pick(&filled) else { return };
        let most = match part.length() {
            Length::Finite(length) => u64::try_from(length).unwrap_or(u64::MAX),
            Length::Endless => u64::MAX,
        };
        part.case(draws.below(most).into(), case);
        let before = case.clone();
        for _ in 0..=draws.below(CHANGES) {
            mutate(case, draws);
        }
        let is_slow =
            |side| case.desc.tensor(side).is_some_and(|tensor| (MOST..VAST).contains(&tensor.total_size));
        if Side::BOTH.into_iter().any(is_slow) {
            *case = before;
        }
        align_offsets(case);
    }
}
