//! What the outcomes of a run say to the search for causes.

use std::collections::BTreeSet;

use dmlcts_findings::Outcomes;
use dmlcts_runner::{CaseDigest, Digest, Found, RunOutcomes, Verdict};
use dmlcts_spec::Library;

use crate::{
    Finding,
    blind::{DataDependent, is_data_dependent},
    finding::FailureKind,
    wording::Wordings,
};

/// The maximum number of passes that a predicate is checked against.
const HELD_AGAINST: usize = 1 << 20;

/// The kind of a failure.
fn kind(found: &Found) -> FailureKind {
    FailureKind::of(found.class, &found.outcome)
}

/// The failures with their kinds, and the passes; and whether these passes are a sample.
pub(crate) fn outcomes(run_outcomes: &RunOutcomes, wordings: &Wordings) -> (Outcomes, bool) {
    let kind = |found: &Found| wordings.kind(found.operator, found.class, &found.outcome);
    let failures = run_outcomes.failures().iter().map(|(index, found)| (*index, kind(found)));
    let passes = run_outcomes.passes(HELD_AGAINST);
    (Outcomes { failures: failures.collect(), passes: passes.indices }, passes.is_sample)
}

/// The number of operators and kinds of their failures.
pub(crate) fn kinds(run_outcomes: &RunOutcomes) -> usize {
    let of = |found: &Found| (found.operator, kind(found));
    run_outcomes.failures().values().map(of).collect::<BTreeSet<_>>().len()
}

/// The classes of wrong outputs that not all data show, of each operator.
pub(crate) fn data_dependent(run_outcomes: &RunOutcomes, library: &'static Library) -> DataDependent {
    let mut classes = DataDependent::new();
    let is_dependent = |found: &&Found| kind(found) == FailureKind::Wrong && is_data_dependent(found.class);
    for found in run_outcomes.failures().values().filter(is_dependent) {
        if let Some(operator) = library.operators().get(found.operator) {
            classes.entry(operator.name()).or_default().insert(found.class);
        }
    }
    classes
}

/// The digest of a finding with these failures: it changes if the finding gets or loses a case, or if a case
/// fails in another way or with other bytes. A flaky finding has none.
pub(crate) fn digest(run_outcomes: &RunOutcomes, finding: &Finding, failures: &[u64]) -> Option<Digest> {
    let is_steady = finding.first.verdict != Verdict::Flake
        && finding.passed_again == 0
        && finding.cases == failures.len() as u64;
    let of = |index: &u64| run_outcomes.failures().get(index).and_then(|found| found.digest);
    if is_steady { sum(failures.iter().map(of)) } else { None }
}

/// The sum of the digests of these cases, which does not depend on their order. `None` if a case has none:
/// digests are only computed in runs that are recorded.
fn sum(cases: impl Iterator<Item = Option<CaseDigest>>) -> Option<Digest> {
    let mut sum = Digest::default();
    for one in cases {
        let CaseDigest { case, output } = one?;
        let Digest(word) = output.map_or(case, |output| case.with(output));
        sum.0 = sum.0.wrapping_add(word);
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dmlcts_runner::{Class, Difference};

    #[test]
    fn the_digest_of_a_finding_depends_on_lines_classes_and_outputs_and_on_no_order() {
        let wrong = Class::Output(Difference::WrongValue);
        let one = Some(CaseDigest::new("one", wrong, Some(Digest(1))));
        let two = Some(CaseDigest::new("two", Class::RefusedValid, None));
        let of = |cases: &[Option<CaseDigest>]| sum(cases.iter().copied());
        assert_eq!(of(&[one, two]), of(&[two, one]));
        assert_ne!(of(&[one]), of(&[one, two]));
        assert_eq!(of(&[one, None]), None, "a case without a digest");
        for (class, output) in [(wrong, 2), (Class::Remembered, 1)] {
            assert_ne!(of(&[Some(CaseDigest::new("one", class, Some(Digest(output))))]), of(&[one]));
        }
    }
}
