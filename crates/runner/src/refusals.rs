//! How a backend refuses invalid descs: the step and the error code, for each clause. A desc counts if it
//! breaks one clause alone, since nothing shows which of several clauses was the reason.

use std::collections::BTreeMap;

use dmlcts_model::{ErrorCode, Outcome, Phase};
use dmlcts_spec::Judgement;

/// Counts of refusals. Their number depends on the spec and the backend, not on the number of cases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusals(BTreeMap<Refusal, u64>);

/// One way to refuse the descs that break a clause.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Refusal {
    /// The index of the operator in the library.
    pub operator: usize,
    /// The index of the clause in the operator.
    pub clause: usize,
    /// The step that refused the desc.
    pub phase: Phase,
    /// The error code.
    pub code: ErrorCode,
}

impl Refusals {
    /// Counts a case of a declared operator, if its desc breaks one clause and was refused.
    pub(crate) fn note(&mut self, operator: usize, judgement: Judgement, outcome: &Outcome) {
        if judgement.violated.len() == 1
            && let Outcome::Rejected { phase, code, .. } = outcome
            && let Some(clause) = judgement.violated.iter().next()
        {
            self.count(Refusal { operator, clause, phase: *phase, code: *code }, 1);
        }
    }

    /// Counts more cases of a refusal.
    pub fn count(&mut self, refusal: Refusal, cases: u64) {
        let count = self.0.entry(refusal).or_default();
        *count = count.saturating_add(cases);
    }

    /// Adds the counts of other cases.
    pub fn merge(&mut self, other: &Self) {
        other.iter().for_each(|(refusal, cases)| self.count(refusal, cases));
    }

    /// The counts, in the order of the spec.
    pub fn iter(&self) -> impl Iterator<Item = (Refusal, u64)> {
        self.0.iter().map(|(refusal, cases)| (*refusal, *cases))
    }
}

#[cfg(test)]
mod tests {
    use dmlcts_spec::IdSet;

    use super::*;

    #[test]
    fn only_refusals_with_one_broken_clause_count() {
        let refused = |code: ErrorCode| Outcome::Rejected { phase: Phase::Create, code, reason: "".into() };
        let broken = |clauses: &[usize]| Judgement {
            violated: clauses.iter().copied().collect::<IdSet>(),
            ..Judgement::default()
        };
        let mut refusals = Refusals::default();
        refusals.note(1, broken(&[2]), &refused(ErrorCode::INVALID_ARGUMENT));
        refusals.note(1, broken(&[2]), &refused(ErrorCode::INVALID_ARGUMENT));
        refusals.note(1, broken(&[2, 3]), &refused(ErrorCode::INVALID_ARGUMENT));
        refusals.note(1, broken(&[]), &refused(ErrorCode::INVALID_ARGUMENT));
        refusals.note(1, broken(&[2]), &Outcome::Accepted);
        let mut other = Refusals::default();
        other.note(0, broken(&[5]), &refused(ErrorCode::NOT_IMPLEMENTED));
        other.merge(&refusals);
        let of = |operator, clause, code| Refusal { operator, clause, phase: Phase::Create, code };
        let expected =
            [(of(0, 5, ErrorCode::NOT_IMPLEMENTED), 1), (of(1, 2, ErrorCode::INVALID_ARGUMENT), 2)];
        assert_eq!(other.iter().collect::<Vec<_>>(), expected);
    }
}
