//! What the outcomes of a run say to the search for causes.

use std::collections::BTreeSet;

use dmlcts_findings::Outcomes;
use dmlcts_runner::{Digest, Found, RunOutcomes, Verdict};
use dmlcts_spec::Library;

use crate::{
    Finding,
    blind::{DataDependent, is_data_dependent},
    digest,
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

/// The digest of a finding with these failures. A flaky finding has none.
pub(crate) fn digest(run_outcomes: &RunOutcomes, finding: &Finding, failures: &[u64]) -> Option<Digest> {
    let is_steady = finding.first.verdict != Verdict::Flake
        && finding.passed_again == 0
        && finding.cases == failures.len() as u64;
    let of = |index: &u64| run_outcomes.failures().get(index).and_then(|found| found.digest);
    is_steady.then(|| digest::sum(failures.iter().map(of))).flatten()
}
