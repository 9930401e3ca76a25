//! Explains the failures of a recorded run as the run itself does without experiments.

use dmlcts_findings::Budget;
use dmlcts_model::{Case, FeatureLevel};
use dmlcts_runner::{Failure, Found, Group, RunOutcomes};
use dmlcts_spec::Library;

use crate::{
    EarlierFinding, Finding,
    blind::CasesOfRun,
    earlier::{Alone, Earlier, NamedCause},
    finding::most_frequent,
    outcomes,
    wording::Wordings,
};

/// A recorded run.
#[derive(Clone, Copy, Debug)]
pub struct RecordedRun<'a> {
    /// The specs that judged it.
    pub library: &'static Library,
    /// The feature level at which cases were judged.
    pub level: FeatureLevel,
    /// The names of its strategies.
    pub strategies: &'a [String],
    /// The first failures, each with its group.
    pub groups: &'a [Group],
    /// The predicate that its cases fulfil, if only such cases ran.
    pub within: Option<&'a str>,
    /// The findings whose ids and predicates are kept.
    pub earlier: &'a [EarlierFinding],
}

impl RecordedRun<'_> {
    /// The findings, the most severe first, by the recorded outcomes alone: no backend answers experiments.
    /// `read` returns the case at an index.
    pub fn findings(&self, run_outcomes: &RunOutcomes, read: &mut dyn FnMut(u64) -> Case) -> Vec<Finding> {
        let of = (self.library, self.level);
        let (mut outcomes, is_sample) = outcomes::outcomes(run_outcomes, &Wordings::of(run_outcomes));
        let mut ask = |_: &Case| Alone::Unknown;
        let mut failed = |index: u64| run_outcomes.as_it_failed(index, read(index));
        let earlier = Earlier::new(self.earlier, run_outcomes.failures(), of, &mut failed, &mut ask);
        let dependent = outcomes::data_dependent(run_outcomes, self.library);
        let mut cases = CasesOfRun { read: &mut failed, dependent: &dependent };
        let mut explained = earlier.as_in_snapshot(&mut outcomes, &mut cases);
        let causes = dmlcts_findings::explain(&outcomes, of, 0, Budget::NONE, &mut cases, None);
        explained.extend(earlier.keep(causes, &outcomes, &[], &mut cases));
        let found = explained.iter().filter_map(|one| self.finding(one, run_outcomes, read)).collect();
        let mut findings = earlier.complete(found, self.groups, run_outcomes);
        Finding::set_scope(&mut findings, self.within, (run_outcomes.has_more_failures(), is_sample));
        findings
    }

    fn finding(
        &self,
        explained: &NamedCause,
        run_outcomes: &RunOutcomes,
        read: &mut dyn FnMut(u64) -> Case,
    ) -> Option<(Finding, Vec<u64>)> {
        let failures = &explained.cause.failures;
        let of = |index: &u64| run_outcomes.failures().get(index);
        let class = most_frequent(failures.iter().filter_map(of).map(|found| found.class))?;
        let mut alike = failures.iter().filter_map(of).filter(|found| found.class == class);
        let first =
            alike.clone().find_map(|found| self.groups.iter().find(|group| group.first.index == found.index));
        let (first, again) = match first {
            Some(group) => (group.first.clone(), group.again.min(1)),
            None => (self.failure(alike.next()?, read)?, 0),
        };
        let mut finding = explained.finding(class, first, [again, 0], self.library);
        finding.add_others(failures.iter().filter_map(of));
        finding.listed = explained.listed(read);
        Some((finding, failures.clone()))
    }

    fn failure(&self, found: &Found, read: &mut dyn FnMut(u64) -> Case) -> Option<Failure> {
        let strategy = self.strategies.get(found.strategy)?;
        let case = read(found.index);
        found.failure(self.library, self.level, (case, strategy), found.outcome.clone())
    }
}
