//! Why cases were skipped: the parts of their descs that a backend did not declare, for each operator.
//!
//! Calling such a case unsupported is no failure. But a statement of conformance must say what was skipped.

use dmlcts_model::Expectation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The part of a desc that a backend did not declare, in the order of summaries.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Undeclared {
    /// The operator.
    Operator,
    /// The data type of a tensor.
    DataType,
    /// The rank of a tensor, or a count that a valid desc has.
    Rank,
    /// What the backend declares to lack: the index in its
    /// [`lacks`](dmlcts_backend::Capabilities::lacks).
    Lack(usize),
    /// An invalid desc whose lists differ in length from its counts. Arrays without a length cannot express
    /// it.
    BareArrays,
}

impl Undeclared {
    /// Corrects the part for a case with this expectation. Only in an invalid desc can lists differ in length
    /// from their counts. In any other desc, the undeclared part is the counts.
    pub(crate) fn of(self, expectation: &Expectation) -> Self {
        match self {
            Self::BareArrays if *expectation != Expectation::Reject => Self::Rank,
            undeclared => undeclared,
        }
    }
}

/// The number of skipped cases, by the index of their operator and by the undeclared part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skipped(Vec<((usize, Undeclared), u64)>);

impl Skipped {
    /// Counts more cases.
    pub fn count(&mut self, operator: usize, undeclared: Undeclared, cases: u64) {
        let key = (operator, undeclared);
        match self.0.binary_search_by_key(&key, |(known, _)| *known) {
            Ok(place) => self.0[place].1 += cases,
            Err(place) => self.0.insert(place, (key, cases)),
        }
    }

    /// Adds the counts of other cases.
    pub fn add(&mut self, other: &Self) {
        other.iter().for_each(|(operator, undeclared, cases)| self.count(operator, undeclared, cases));
    }

    /// The counts: the index of the operator, the undeclared part, and the number of cases.
    pub fn iter(&self) -> impl Iterator<Item = (usize, Undeclared, u64)> {
        self.0.iter().map(|((operator, undeclared), cases)| (*operator, *undeclared, *cases))
    }

    /// The number of cases of this operator that were skipped for this reason.
    pub fn of(&self, operator: usize, undeclared: Undeclared) -> u64 {
        self.iter()
            .filter(|(own, why, _)| (*own, *why) == (operator, undeclared))
            .map(|(.., cases)| cases)
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_add_up_in_order_whoever_counted_them() {
        let (mut one, mut other) = (Skipped::default(), Skipped::default());
        one.count(1, Undeclared::Rank, 2);
        one.count(0, Undeclared::DataType, 1);
        other.count(1, Undeclared::Rank, 3);
        other.count(1, Undeclared::Operator, 7);
        one.add(&other);
        let expected = [(0, Undeclared::DataType, 1), (1, Undeclared::Operator, 7), (1, Undeclared::Rank, 5)];
        assert_eq!(one.iter().collect::<Vec<_>>(), expected);
        assert_eq!((one.of(1, Undeclared::Rank), one.of(0, Undeclared::Rank)), (5, 0));
    }

    #[test]
    fn only_an_invalid_desc_is_excused_by_what_arrays_cannot_say() {
        assert_eq!(Undeclared::BareArrays.of(&Expectation::Reject), Undeclared::BareArrays);
        assert_eq!(Undeclared::BareArrays.of(&Expectation::Output), Undeclared::Rank);
        assert_eq!(Undeclared::BareArrays.of(&Expectation::Open(Vec::new())), Undeclared::Rank);
        assert_eq!(Undeclared::DataType.of(&Expectation::Output), Undeclared::DataType);
    }
}
