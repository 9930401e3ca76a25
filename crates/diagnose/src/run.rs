//! A run with the explanation of its failures.

use std::{
    cell::RefCell,
    collections::BTreeSet,
    time::{Duration, Instant},
};

use dmlcts_model::Case;
use dmlcts_runner::{
    Digest, Ended, Ending, Group, Rate, Run, RunError, RunOutcomes, Trials, Verdict, first_wrong, run_then,
};

use crate::{
    Diagnosis, EarlierFinding, ExplainOptions, Finding, LeftOut, Limit,
    earlier::{Alone, Earlier},
    explain::Explainer,
    outcomes,
    pattern::pattern,
    predecessors::Predecessors,
    shrink::Shrinker,
    spending::{End, Spending, run_time},
    wording::Wordings,
};

/// The most time that a run with a deadline keeps for the explanation of its failures.
const KEPT: Duration = Duration::from_secs(60);

/// Something that happened during a run or its explanation.
#[derive(Debug)]
pub enum Event<'a> {
    /// An event of the run.
    Run(dmlcts_runner::Event<'a>),
    /// All cases have run. The search for the causes of the failures begins.
    Explaining {
        /// The number of failures.
        failures: u64,
    },
    /// The search for a smaller case of each finding begins.
    Shrinking {
        /// The number of findings.
        findings: usize,
    },
}

/// Runs the cases until none is left or the run ends, explains its failures, and passes events to `tell`.
pub fn run(
    run: &Run,
    explaining: &ExplainOptions,
    tell: &mut dyn FnMut(Event<'_>),
) -> Result<Diagnosis, RunError> {
    let mut run = run.clone();
    let explains = explaining.shrink || explaining.cases.is_some_and(|cases| cases > 0);
    let left = |end: Instant| end.saturating_duration_since(Instant::now());
    let deadline = run.configuration.deadline.filter(|_| !run.configuration.ends_cases_alone);
    let kept = deadline.filter(|_| explains).map(|end| (left(end) / 10).min(KEPT));
    run.configuration.kept = kept.unwrap_or_default();
    // A known failure without a case has nothing that could still fail.
    let known = run.configuration.known.entries().iter().filter(|entry| !entry.cases().is_empty());
    let known = known.map(EarlierFinding::of_known);
    let earlier: Vec<EarlierFinding> = explaining.earlier.iter().cloned().chain(known).collect();
    let retries = run.configuration.retries;
    let tell = RefCell::new(tell);
    let (summary, (findings, left_out, evidence)) =
        run_then(&run, &mut |event| tell.borrow_mut()(Event::Run(event)), |ended| {
            let mut tell = |event: Event<'_>| tell.borrow_mut()(event);
            Explanation { explaining, earlier: &earlier, deadline, retries, ended }.findings(&mut tell)
        })?;
    Ok(Diagnosis { summary, findings, left_out, evidence })
}

/// The explanation of a run that ended.
struct Explanation<'a, 'run> {
    explaining: &'a ExplainOptions,
    earlier: &'a [EarlierFinding],
    /// When the explanation must have ended.
    deadline: Option<Instant>,
    /// The number of times that a failure runs again alone.
    retries: u32,
    ended: Ended<'a, 'run>,
}

impl Explanation<'_, '_> {
    /// The findings, shrunk, what was left out, and the time for evidence. A run that ended at its first
    /// failure has no experiments. After an interrupt, nothing runs but smaller cases, for a short time.
    fn findings(mut self, tell: &mut dyn FnMut(Event<'_>)) -> (Vec<Finding>, LeftOut, Duration) {
        let end = match self.ended.ending {
            Ending::BackendLost | Ending::Hangs => End::Now(Limit::EndOfRun),
            _ => End::Deadline(self.deadline),
        };
        let of_experiments = match self.ended.ending {
            // Half of the time that is kept is for shrinking.
            Ending::Timeout => {
                let left = |deadline: Instant| deadline.saturating_duration_since(Instant::now());
                End::Deadline(self.deadline.map(|deadline| Instant::now() + left(deadline) / 2))
            }
            Ending::NotRecorded | Ending::Interrupted => End::Now(Limit::EndOfRun),
            // One failure needs no explanation: the run shows it at once.
            Ending::MaxFailures if self.ended.totals.progress.unexpected <= 1 => End::Now(Limit::EndOfRun),
            _ => end,
        };
        let cases = self.explaining.cases.unwrap_or(ExplainOptions::USUAL_CASES);
        let kinds = outcomes::kinds(self.ended.run_outcomes);
        let stop = self.ended.trials.stop().clone();
        // After an interrupt, the cases of the run are searched all the same. Smaller ones get as much time.
        stop.extend();
        let time = if self.explaining.limits_time { run_time(cases) } else { Duration::MAX };
        let mut spending = Spending::new(stop.clone(), cases, time, kinds, of_experiments);
        let mut findings = self.explain(&mut spending, tell);
        let is_known = self.known_flakes();
        let is_whole = self.ended.ending != Ending::Interrupted && !stop.is_interrupted();
        stop.extend();
        spending.end = end;
        if self.retries > 0 && is_whole {
            self.confirm(&mut findings, &mut spending);
            self.try_flakes(&mut findings, &is_known, &mut spending);
        }
        Finding::join_flakes(&mut findings, &is_known);
        if self.explaining.shrink {
            self.shrink(&mut findings, &mut spending, tell);
        }
        for finding in findings.iter_mut().filter(|finding| !finding.bytes_vary) {
            let evidence = finding.shown().evidence.as_ref();
            finding.output = evidence.map(|evidence| Digest::of(&evidence.actual));
            finding.shows = first_wrong(finding.shown());
        }
        (findings, spending.left_out, spending.evidence)
    }

    /// Turns the failures into findings, the most severe first.
    fn explain(&mut self, spending: &mut Spending, tell: &mut dyn FnMut(Event<'_>)) -> Vec<Finding> {
        let Ended { trials, groups, run_outcomes, .. } = &mut self.ended;
        if self.explaining.cases.is_none() {
            return of_groups(groups, run_outcomes, self.earlier, trials);
        }
        let failures = run_outcomes.failures().len() as u64;
        if spending.over().is_none() && failures > 0 {
            tell(Event::Explaining { failures });
        }
        let (earlier, retries) = (self.earlier, self.retries);
        Explainer { trials, groups, earlier, retries, spending }.findings(run_outcomes)
    }

    /// Runs the first failure of each finding in a fresh backend. If it passes there, other cases spoiled the
    /// backends that it failed in, and trials look for these cases. Crashes and hangs run in fresh backends
    /// anyhow.
    fn confirm(&mut self, findings: &mut [Finding], spending: &mut Spending) {
        let rate = Rate { failed: self.retries, runs: self.retries };
        for finding in findings.iter_mut().filter(|finding| finding.first.verdict == Verdict::Fail) {
            if spending.over().is_some() {
                return;
            }
            let first = &mut finding.first;
            spending.open_repeats(first.index, std::iter::empty(), "");
            let mut predecessors = Predecessors { trials: self.ended.trials, spending };
            if predecessors.passes_first(first) {
                first.tried = predecessors.tried(first, rate).map(Box::new);
                finding.pattern = pattern(first);
            }
            spending.left_out.repeats += u64::from(spending.close());
        }
    }

    /// Whether a finding is a known failure, which may be a flake because it passed.
    fn known_flakes(&self) -> impl Fn(&Finding) -> bool + use<> {
        let groups = self.ended.totals.found.groups.iter();
        let known = groups.filter(|(found, _)| found.known.is_some()).map(|(found, _)| found.index);
        let known: BTreeSet<u64> = known.collect();
        move |finding| known.contains(&finding.first.index)
    }

    /// Tries to explain the flakes among the findings.
    fn try_flakes(
        &mut self,
        findings: &mut [Finding],
        is_known: &dyn Fn(&Finding) -> bool,
        spending: &mut Spending,
    ) {
        let is_flake = |finding: &&mut Finding| finding.first.verdict == Verdict::Flake && !is_known(finding);
        for finding in findings.iter_mut().filter(is_flake) {
            let flake = &mut finding.first;
            spending.open_repeats(flake.index, std::iter::empty(), "");
            let found = flake.rate.unwrap_or(Rate::FOUND);
            let rate = Rate { failed: found.failed.saturating_sub(1), runs: found.runs.saturating_sub(1) };
            let tried = Predecessors { trials: self.ended.trials, spending }.tried(flake, rate);
            spending.left_out.flakes += u64::from(spending.close());
            flake.tried = tried.map(Box::new);
            finding.pattern = pattern(flake);
        }
    }

    /// Looks for a smaller case of each finding.
    fn shrink(&mut self, findings: &mut [Finding], spending: &mut Spending, tell: &mut dyn FnMut(Event<'_>)) {
        let is_stable =
            |finding: &Finding| finding.first.verdict != Verdict::Flake && finding.first.tried.is_none();
        let count = findings.iter().filter(|finding| is_stable(finding)).count();
        if count == 0 {
            return;
        }
        if let Some(limit) = spending.over() {
            spending.left_out.shrinking += count as u64;
            spending.left_out.limits.insert(limit);
            return;
        }
        tell(Event::Shrinking { findings: count });
        let Ended { trials, run_outcomes, .. } = &mut self.ended;
        let wordings = Wordings::of(run_outcomes);
        for finding in findings.iter_mut().filter(|finding| is_stable(finding)) {
            let Some(found) = run_outcomes.failures().get(&finding.first.index) else { continue };
            spending.open_shrinking(finding);
            finding.smallest = Shrinker { trials, spending, wordings: &wordings }.smallest(finding, found);
            spending.left_out.shrinking += u64::from(spending.close());
        }
    }
}

/// A finding for each group of failures, with the ids of earlier findings.
fn of_groups(
    groups: &[Group],
    run_outcomes: &RunOutcomes,
    earlier: &[EarlierFinding],
    trials: &mut Trials<'_>,
) -> Vec<Finding> {
    let with_first = |finding: Finding| {
        let first = finding.first.index;
        (finding, vec![first])
    };
    let mut findings: Vec<(Finding, Vec<u64>)> =
        Finding::of_groups(groups).into_iter().map(with_first).collect();
    let of = (trials.library(), trials.level());
    let (mut read, mut ask) = (|index: u64| trials.read(index), |_: &Case| Alone::Unknown);
    Earlier::new(earlier, run_outcomes.failures(), of, &mut read, &mut ask).name(&mut findings);
    findings.into_iter().map(|(finding, _)| finding).collect()
}
