//! Shrinks a finding: looks for a smaller case that fails in the same way.

use dmlcts_model::{Case, Offsets, Outcome};
use dmlcts_runner::{Evidence, Examination, Failure, Found, Trials, Verdict};
use dmlcts_spec::program::Values;

use crate::{Finding, spending::Spending, wording::Wordings};

/// The elements of an input that are compared with each other.
const MOST_ELEMENTS: usize = 1 << 12;

/// Looks for smaller cases, which run alone.
pub(crate) struct Shrinker<'a, 'run> {
    pub(crate) trials: &'a mut Trials<'run>,
    pub(crate) spending: &'a mut Spending,
    pub(crate) wordings: &'a Wordings,
}

impl Shrinker<'_, '_> {
    /// A smaller case that fails like the first one of a finding, and for which its predicate holds.
    pub(crate) fn smallest(&mut self, finding: &Finding, found: &Found) -> Option<Failure> {
        let (first, library) = (&finding.first, self.trials.library());
        let wordings = self.wordings;
        let kind = |class, outcome: &Outcome| wordings.kind(found.operator, class, outcome);
        let first_kind = kind(first.class, &first.outcome);
        let predicate = finding.rule.as_ref().map(|rule| &rule.predicate);
        let (mut values, level) = (Values::default(), self.trials.level());
        // The last case that failed, which is the smallest.
        let mut last: Option<(Case, Examination)> = None;
        let mut fails_alike = |case: &Case| {
            let holds = predicate.is_none_or(|one| one.holds(case, level, &mut values));
            if !holds || !self.spending.may_run() {
                return false;
            }
            let alone = self.trials.examine(case);
            self.spending.note(alone.as_ref());
            let is_alike = |alone: &Examination| {
                is_alike(first, case, alone) && kind(first.class, &alone.outcome) == first_kind
            };
            let Some(alone) = alone.filter(is_alike) else { return false };
            last = Some((case.clone(), alone));
            true
        };
        // Spending limits the steps.
        let steps = usize::MAX;
        let case = dmlcts_generate::shrink(&first.case, library, level, steps, &mut fails_alike);
        let (smallest, seen) = last.filter(|(smallest, _)| *smallest == case && case != first.case)?;
        let smaller = Found { class: first.class, ..found.clone() };
        // Another hang would show nothing new.
        if seen.outcome == Outcome::TimedOut {
            return Some(self.trials.failure(&smaller, smallest, Some(seen)));
        }
        let shown = self.trials.describe(&smaller, smallest);
        // If the smaller case passes when it is described, or fails in another way, it does not represent the
        // finding.
        (shown.class == first.class && shown.verdict != Verdict::Pass).then_some(shown)
    }
}

/// Whether a smaller case fails as the first one does, and shows as much: of equal elements, no origin can be
/// told.
fn is_alike(first: &Failure, case: &Case, alone: &Examination) -> bool {
    alone.class == Some(first.class)
        && std::mem::discriminant(&alone.outcome) == std::mem::discriminant(&first.outcome)
        && alone.verdict.is_unexpected()
        && (has_distinct_elements(case, alone.evidence.as_ref())
            || !has_distinct_elements(&first.case, first.evidence.as_ref()))
}

/// Whether the input has two elements that differ, or is not known.
fn has_distinct_elements(case: &Case, evidence: Option<&Evidence>) -> bool {
    let (Some(evidence), Some(input)) = (evidence, case.desc.input.as_ref()) else { return true };
    let (Some(sizes), Some(size)) = (&input.sizes, input.data_type.element_size()) else { return true };
    let element = |offset: u64| {
        let start = usize::try_from(offset).ok()?.checked_mul(size)?;
        evidence.input.get(start..start.checked_add(size)?)
    };
    let mut elements = Offsets::new(sizes, input.strides.as_deref()).take(MOST_ELEMENTS).map(element);
    let first = elements.next();
    elements.any(|element| Some(element) != first)
}
