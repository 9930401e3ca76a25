//! The known failures of a run, and the cases that they select.

use std::{collections::BTreeSet, fmt, sync::Arc};

use dmlcts_backend::Capabilities;
use dmlcts_model::{Case, Expectation, FeatureLevel, Outcome};
use dmlcts_spec::{Predicate, program::Values};

use super::{
    Applies, Fit, KnownCounts, KnownFailure, KnownTally, Smallest, Status, bounds::misfit, reconcile,
};
use crate::{Class, Digest, Examination, OTHER_DATA, Ruling, Sensitivities, Sensitivity, Verdict};

/// The known failures of a backend. If several match a case, the first one that expects its result counts.
/// If none does, the first one counts.
#[derive(Clone, Debug, Default)]
pub struct KnownFailures {
    entries: Vec<KnownEntry>,
}

/// A known failure with the selector of its cases.
#[derive(Clone)]
pub struct KnownEntry {
    failure: Arc<KnownFailure>,
    applies: Applies,
    predicate: Option<Predicate>,
    /// Cases that fail, the smallest first.
    cases: Vec<Case>,
    /// Their lines, if there is no predicate.
    lines: BTreeSet<String>,
    /// The digest of the wrong output of the smallest case, if that is known.
    output: Option<Digest>,
}

/// An entry that matches a case.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Match {
    /// The index of the entry.
    pub(crate) place: usize,
    /// Whether the case can show the entry's failure. If it cannot, the entry does not match.
    pub(crate) sensitivity: Sensitivity,
}

impl KnownEntry {
    /// A failure of the backends to which it applies. `cases` fail, the smallest first. Without a predicate,
    /// they are all.
    pub fn new(
        failure: KnownFailure,
        applies: Applies,
        predicate: Option<Predicate>,
        cases: Vec<Case>,
    ) -> Self {
        let listed = cases.iter().filter(|_| predicate.is_none());
        let lines = listed.map(Case::to_string).collect();
        Self { failure: Arc::new(failure), applies, predicate, cases, lines, output: None }
    }

    /// The same, with the digest of the wrong output of its smallest case.
    #[must_use]
    pub fn with_output(self, output: Option<Digest>) -> Self {
        Self { output, ..self }
    }

    /// The same, for a run that looks for other failures: whatever its status, its failures are expected,
    /// and its cases may pass.
    #[must_use]
    pub fn tolerated(self) -> Self {
        let failure = KnownFailure { status: Status::Known, is_partial: true, ..(*self.failure).clone() };
        Self { failure: Arc::new(failure), ..self }
    }

    /// What one of its cases does, which came to this alone. `None` if that says nothing. Only the output of
    /// the smallest case is known.
    pub(crate) fn replayed(&self, case: &Case, alone: &Examination) -> Option<Smallest> {
        let is_smallest = self.cases.first() == Some(case);
        let evidence = alone.evidence.as_ref().filter(|_| is_smallest);
        let output = evidence.map(|evidence| Digest::of(&evidence.actual));
        match alone.class {
            _ if alone.too_large || alone.class == Some(Class::Lost) => None,
            Some(class) if !self.failure.covers(class) => Some(Smallest::AnotherClass),
            Some(_) if output.zip(self.output).is_some_and(|(now, known)| now != known) => {
                Some(Smallest::AnotherAnswer)
            }
            Some(_) => Some(Smallest::AsKnown),
            None => matches!(alone.verdict, Verdict::Pass | Verdict::UnexpectedPass | Verdict::Recorded)
                .then_some(Smallest::Passed),
        }
    }

    /// What it says of the failures.
    pub fn failure(&self) -> &Arc<KnownFailure> {
        &self.failure
    }

    /// Why it does not apply to a backend with these capabilities.
    fn misfit(&self, capabilities: &Capabilities) -> Option<String> {
        misfit(&self.applies, capabilities)
    }

    /// How surely it selects a case. Some cases run a second time on other data, and may fail for these only.
    fn matches(&self, case: &Case, line: &str, level: FeatureLevel, values: &mut Values) -> Sensitivity {
        let mut holds = |case: &Case| match &self.predicate {
            Some(predicate) => predicate.holds(case, level, values),
            None => self.lines.contains(line),
        };
        if holds(case) {
            return Sensitivity::Yes;
        }
        let on_others = || Case { fill: OTHER_DATA, ..case.clone() };
        let asks_for_data = self.predicate.as_ref().is_some_and(Predicate::asks_for_data);
        if asks_for_data && holds(&on_others()) { Sensitivity::Perhaps } else { Sensitivity::No }
    }

    /// Whether a case that it selects can show one of its classes. A listed case failed with its own data
    /// before.
    fn sensitivity(&self, expectation: &Expectation, of: impl Fn() -> Sensitivities) -> Sensitivity {
        let to = |class: &Class| match class {
            Class::Output(_) | Class::OutsideQuestion if self.predicate.is_none() => Sensitivity::Yes,
            Class::Output(_) | Class::Remembered | Class::OutsideQuestion => of().to(*class),
            _ => Sensitivity::Yes,
        };
        let possible = self.failure.classes.iter().filter(|class| class.can_fail(expectation));
        possible.map(to).max().unwrap_or(Sensitivity::No)
    }

    /// The predicate that selects its cases, if they are not listed one by one.
    pub fn predicate(&self) -> Option<&Predicate> {
        self.predicate.as_ref()
    }

    /// Cases that fail, the smallest first.
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }
}

impl KnownFailures {
    /// These known failures.
    pub fn new(entries: Vec<KnownEntry>) -> Self {
        Self { entries }
    }

    /// Those that apply to a backend with these capabilities.
    #[must_use]
    pub fn of(&self, capabilities: &Capabilities) -> Self {
        let applies = |entry: &&KnownEntry| entry.misfit(capabilities).is_none();
        Self { entries: self.entries.iter().filter(applies).cloned().collect() }
    }

    /// Those that do not apply to a backend with these capabilities: the id of each, and a phrase with the
    /// reason that can follow the id.
    pub fn misfits(&self, capabilities: &Capabilities) -> Vec<(&str, String)> {
        let misfits =
            self.entries.iter().map(|entry| (entry.failure.id.as_str(), entry.misfit(capabilities)));
        misfits.filter_map(|(id, misfit)| Some((id, misfit?))).collect()
    }

    /// What the entries say, in their order.
    pub fn failures(&self) -> impl ExactSizeIterator<Item = &Arc<KnownFailure>> {
        self.entries.iter().map(|entry| &entry.failure)
    }

    /// The entries with their cases, also those that do not apply.
    pub fn entries(&self) -> &[KnownEntry] {
        &self.entries
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Empty counts, one for each entry.
    pub fn tallies(&self) -> Vec<KnownTally> {
        let tally = |entry: &Arc<KnownFailure>| KnownTally {
            entry: Arc::clone(entry),
            counts: KnownCounts::default(),
        };
        self.failures().map(tally).collect()
    }

    /// The entries that match a case, which is written as this line, with this expectation. Its sensitivity
    /// is computed only if an entry depends on it.
    pub(crate) fn matching(
        &self,
        case: &Case,
        (line, expectation): (&str, &Expectation),
        level: FeatureLevel,
        values: &mut Values,
        sensitivities: impl Fn() -> Sensitivities,
    ) -> Vec<Match> {
        let mut matching = Vec::new();
        for (place, entry) in self.entries.iter().enumerate() {
            let can_fail = entry.failure.classes.iter().any(|class| class.can_fail(expectation));
            let matched = if can_fail { entry.matches(case, line, level, values) } else { Sensitivity::No };
            if matched != Sensitivity::No {
                let sensitivity = entry.sensitivity(expectation, &sensitivities).min(matched);
                matching.push(Match { place, sensitivity });
            }
        }
        matching.retain(|matched| matched.sensitivity != Sensitivity::No);
        matching
    }

    /// The verdict on a case that these entries match, and the entry that counts it with the way in which it
    /// fits.
    pub(crate) fn reconcile(
        &self,
        matches: &[Match],
        ruling: Ruling,
        outcome: &Outcome,
    ) -> (Verdict, Option<(usize, Fit)>) {
        let fits = || {
            let known =
                matches.iter().filter_map(|matched| Some((matched, self.entries.get(matched.place)?)));
            known.filter_map(|(matched, entry)| {
                let (verdict, fit) = reconcile(&entry.failure, ruling);
                let disproves = |class: &Class| class.is_disproved_by(ruling.0, outcome);
                let tells = fit != Fit::Passed
                    || matched.sensitivity == Sensitivity::Yes && entry.failure.classes.iter().any(disproves);
                tells.then_some((matched.place, (verdict, fit)))
            })
        };
        let is_known =
            |place: usize| self.entries.get(place).is_some_and(|entry| entry.failure.status == Status::Known);
        let explains = fits().find(|(place, (_, fit))| *fit == Fit::AsExpected && is_known(*place));
        let next = || fits().find(|(_, (_, fit))| *fit == Fit::AsExpected);
        let counted = explains.or_else(next).or_else(|| fits().find(|(place, _)| is_known(*place)));
        match counted.or_else(|| fits().next()) {
            Some((place, (verdict, fit))) => (verdict, Some((place, fit))),
            None => (ruling.0, None),
        }
    }

    pub(crate) fn failure(&self, place: usize) -> Option<Arc<KnownFailure>> {
        self.entries.get(place).map(|entry| Arc::clone(&entry.failure))
    }
}

impl fmt::Debug for KnownEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KnownEntry").field("failure", &self.failure).finish_non_exhaustive()
    }
}
