//! The collector: puts the results of batches in the order of the cases, adds them up, and emits events.
//!
//! It runs on the thread that called [`run`](crate::run()). It has its own backend, on which it runs failures
//! again alone, so that its reports do not depend on the number of threads.

use std::{
    collections::BTreeMap,
    ops::Range,
    sync::mpsc::{Receiver, RecvTimeoutError},
    time::{Duration, Instant},
};

use dmlcts_backend::process::Incidents;
use dmlcts_model::{Case, Outcome};

use crate::{
    CaseResults, Class, Conclusion, Configuration, Ended, Ending, Event, Failure, FirstCase, Found, Group,
    GroupKey, Progress, Rate, Rerun, SmallestCase, Stop, Timings, Totals, Trials, Verdict,
    batch_result::BatchResult, panics::caught, run_outcomes::RunOutcomes, shared::Shared,
};

/// The longest wait before the collector checks the deadline and the stop switch again.
const LOOK_UP: Duration = Duration::from_millis(50);

/// So many failures of one class before the first pass are reported.
const FROM_START: usize = 20;

/// Puts the results of batches in order and adds them up.
pub(crate) struct Collector<'run> {
    shared: &'run Shared,
    alone: Trials<'run>,
    /// The number of unexpected verdicts at which the run ends, with those of the earlier part of the run.
    most_unexpected: u64,
    /// The same for unexpected crashes.
    most_crashes: u64,
    /// The first case of the batch that is due.
    next: u64,
    /// The results of later batches, by their first cases.
    waiting: BTreeMap<u64, BatchResult>,
    pub(crate) totals: Totals,
    pub(crate) timings: Timings,
    pub(crate) groups: Vec<Group>,
    run_outcomes: RunOutcomes,
    started: Instant,
    /// The classes of groups that had another class at first: rerunning the first failure alone showed the
    /// right one.
    renamed: Vec<(GroupKey, Class)>,
    /// The known failures whose cases passed each time when run again alone.
    steady: Vec<usize>,
    /// The time that earlier parts of the run took.
    before: Duration,
    /// Whether a case before the last one that was counted has no result.
    has_gap: bool,
    /// Whether the last case of the run has been counted.
    is_done: bool,
    /// Whether it is known if all of the first cases fail alike.
    knows_start: bool,
}

/// The number of unexpected crashes.
fn crashed(totals: &Totals) -> u64 {
    totals.verdicts().of(Verdict::Crash)
}

impl<'run> Collector<'run> {
    pub(crate) fn new(shared: &'run Shared, alone: Trials<'run>, configuration: &Configuration) -> Self {
        let resumed = configuration.resume.clone();
        let totals = resumed.unwrap_or_else(|| shared.no_totals());
        Self {
            shared,
            alone,
            most_unexpected: configuration
                .max_failures
                .map_or(u64::MAX, |most| totals.progress.unexpected.saturating_add(most)),
            most_crashes: configuration
                .max_crashes
                .map_or(u64::MAX, |most| crashed(&totals).saturating_add(most)),
            next: shared.dealer.due(),
            waiting: BTreeMap::new(),
            timings: Timings::default(),
            groups: Vec::new(),
            run_outcomes: configuration.run_outcomes.clone(),
            started: Instant::now(),
            renamed: Vec::new(),
            steady: Vec::new(),
            before: totals.elapsed,
            has_gap: false,
            knows_start: false,
            is_done: configuration.limit.is_some_and(|limit| totals.progress.ran >= limit),
            totals,
        }
    }

    /// Runs the first failures of an earlier part of the run again, for the memory and differences that
    /// totals do not hold.
    pub(crate) fn reopen_groups(&mut self) {
        let found = std::mem::take(&mut self.totals.found);
        for (first, cases) in &found.groups {
            let case = self.alone.read(first.index);
            let hang = self.known_to_hang(first, &case);
            let mut failure = hang.unwrap_or_else(|| self.alone.describe(first, case));
            if failure.verdict == Verdict::Pass {
                // It failed when the earlier part of the run found it, and again when that part ran it alone.
                failure.verdict = first.verdict;
            }
            self.groups.push(Group { cases: *cases, again: first.again, first: failure });
        }
        self.totals.found = found;
    }

    /// Whether the smallest case of a known failure has not run.
    pub(crate) fn lacks_smallest(&self) -> bool {
        self.totals.known.iter().any(|tally| tally.counts.smallest.is_none())
    }

    /// Runs the smallest case of each known failure. A hang would cost much time, and a known flake shows
    /// nothing.
    pub(crate) fn try_smallest(&mut self, trials: &mut Trials<'_>) {
        for (entry, tally) in self.shared.configuration.known.entries().iter().zip(&mut self.totals.known) {
            let known = &tally.entry;
            let shows = !known.is_flaky && !known.classes.contains(&Class::TimedOut);
            let smallest = entry.cases().first().filter(|_| shows && tally.counts.smallest.is_none());
            let Some(case) = smallest else { continue };
            if let Rerun::Did(did, _) = trials.replay(entry, case, self.shared.configuration.retries) {
                tally.counts.smallest = Some(SmallestCase { result: did, line: case.to_string() });
            }
        }
    }

    /// Describes a hang without running it again: the earlier part of the run has waited for it already, and
    /// another wait shows nothing new.
    fn known_to_hang(&self, found: &Found, case: &Case) -> Option<Failure> {
        let of = (case.clone(), self.shared.strategies.get(found.strategy)?.as_str());
        let hung = (found.outcome == Outcome::TimedOut).then(|| found.outcome.clone())?;
        found.failure(self.shared.library, self.shared.level, of, hung)
    }

    /// Takes results until the workers are done. Returns the cases that workers never finished.
    pub(crate) fn collect(
        &mut self,
        results: &Receiver<BatchResult>,
        end: Option<Instant>,
        tell: &mut dyn FnMut(Event<'_>),
    ) -> Vec<Range<u64>> {
        let Shared { configuration, stop, .. } = self.shared;
        let mut listened = Instant::now();
        loop {
            tell_incidents(&configuration.incidents, tell);
            let now = Instant::now();
            let deadline = match end {
                Some(end) if !self.groups.is_empty() => end.checked_sub(configuration.kept),
                end => end,
            };
            if deadline.is_some_and(|deadline| now >= deadline) {
                stop.request(Ending::Timeout);
            }
            if !stop.is_requested() {
                listened = now;
            } else if now.duration_since(listened) > configuration.grace || self.is_over(end) {
                break;
            } else {
                self.shared.dealer.wake();
            }
            let left = deadline.filter(|_| !stop.is_requested());
            let left = left.map_or(LOOK_UP, |deadline| deadline.saturating_duration_since(now));
            match results.recv_timeout(left.min(LOOK_UP)) {
                Ok(result) => {
                    self.waiting.insert(result.range.start, result);
                    while let Some(result) = self.waiting.remove(&self.next) {
                        self.next = result.range.end;
                        self.take(result, tell);
                        self.shared.dealer.report(self.next);
                    }
                    // Rerunning failures takes time in which the collector did not listen.
                    listened = Instant::now();
                }
                Err(RecvTimeoutError::Timeout) => self.pause(tell),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        // Results that arrived at the last moment count.
        self.waiting.extend(results.try_iter().map(|result| (result.range.start, result)));
        let abandoned = self.abandoned();
        self.pause(tell);
        // Batches after an unfinished one may have run all the same.
        for result in std::mem::take(&mut self.waiting).into_values() {
            self.take(result, tell);
        }
        self.totals.elapsed = self.before + self.started.elapsed();
        abandoned
    }

    /// The cases that workers have and will not finish.
    fn abandoned(&self) -> Vec<Range<u64>> {
        let stop = &self.shared.stop;
        if stop.reason() == Ending::Timeout || stop.is_interrupted() {
            // These cases count as not run in time, like the cases that no worker had.
            return Vec::new();
        }
        self.shared.dealer.missing(self.waiting.values().map(|result| result.range.clone()))
    }

    /// Whether the wait for backends is over: after an interrupt, or after a timeout at `end`.
    fn is_over(&self, end: Option<Instant>) -> bool {
        let stop = &self.shared.stop;
        let end = end.filter(|_| stop.reason() == Ending::Timeout).map(|end| end + Stop::MOMENT);
        let ends = stop.deadline().time().into_iter().chain(end);
        ends.min().is_some_and(|end| Instant::now() >= end + Stop::MOMENT)
    }

    /// Ends the backend for retries.
    pub(crate) fn end(self, tell: &mut dyn FnMut(Event<'_>)) -> (Totals, Vec<Group>) {
        let Self { alone, shared, totals, groups, .. } = self;
        let incidents = &shared.configuration.incidents;
        let _ = caught(|| drop(alone));
        tell_incidents(incidents, tell);
        incidents.repeated_notes().iter().for_each(|sentence| tell(Event::Incident(sentence)));
        (totals, groups)
    }

    /// Reports that a run can resume from all results so far.
    fn pause(&self, tell: &mut dyn FnMut(Event<'_>)) {
        if self.shared.configuration.record && !self.has_gap {
            tell(Event::Pause { totals: &self.totals, groups: &self.groups });
        }
    }

    /// Whether the limit on the number of cases is reached.
    pub(crate) fn is_at_limit(&self) -> bool {
        self.shared.configuration.limit.is_some_and(|limit| self.totals.progress.ran >= limit)
    }

    /// Whether no case is left, so that the limit has cut nothing off.
    pub(crate) fn is_all_read(&self) -> bool {
        self.shared.source.count() == Some(self.totals.progress.read)
    }

    /// Adds up one batch, which is the next one in order.
    fn take(&mut self, result: BatchResult, tell: &mut dyn FnMut(Event<'_>)) {
        if self.is_done {
            return;
        }
        self.timings.add(&result.timings);
        let mut result = self.up_to_limits(result);
        // Cases that were lost with the backend must run again in the part of the run that resumes.
        let is_lost = self.shared.lost().is_some() && result.totals.verdicts().of(Verdict::Lost) > 0;
        self.has_gap |= result.range.start != self.totals.next || is_lost;
        if !self.has_gap {
            self.totals.next += result.totals.progress.read;
        }
        self.run_outcomes.add(&result.passes, std::mem::take(&mut result.failures));
        self.run_outcomes.expect(std::mem::take(&mut result.expected));
        self.look_at_start(tell);
        let found = std::mem::take(&mut result.totals.found);
        self.totals.add(&result.totals);
        self.totals.name_unexpected(|index| self.alone.read(index).to_string());
        self.totals.elapsed = self.before + self.started.elapsed();
        self.totals.found.others += found.others;
        for (first, cases) in found.groups {
            let key = first.key();
            let mut suspects = vec![first];
            suspects.extend(found.later.iter().filter(|later| later.key() == key).cloned());
            self.add_group(&suspects, cases, &mut result.cases, tell);
        }
        if self.shared.configuration.retries > 0 {
            self.look_at_passes(&found.passes, &mut result.cases, tell);
        }
        for (group, (first, cases)) in self.groups.iter_mut().zip(&self.totals.found.groups) {
            (group.cases, group.again) = (*cases, first.again);
        }
        if let Some(ending) = result.cut {
            self.is_done |= ending == Ending::MaxFailures;
            self.shared.stop.request(ending);
        } else if self.is_done && !self.is_all_read() {
            self.shared.stop.request(Ending::Limit);
        }
        if self.shared.configuration.record {
            let totals = (!self.has_gap).then_some(&self.totals);
            tell(Event::Cases { cases: &result.cases, totals, groups: &self.groups });
        }
        if !result.is_whole() {
            // A run can resume from here, but from no later point.
            self.pause(tell);
            self.has_gap = true;
        }
        tell(Event::Progress(&self.totals));
    }

    /// Reports once that all of the first cases fail alike, if they do.
    fn look_at_start(&mut self, tell: &mut dyn FnMut(Event<'_>)) {
        let is_open =
            self.run_outcomes.failures().len() < FROM_START && self.run_outcomes.first_pass().is_none();
        if is_open || std::mem::replace(&mut self.knows_start, true) {
            return;
        }
        if let Some(class) = self.run_outcomes.alike(FROM_START) {
            tell(Event::FailsFromStart { cases: FROM_START, class });
        }
    }

    /// The result without the cases beyond the limits on cases, failures and crashes. If a limit lies within
    /// the batch, only the cases up to it run again, and no case after them.
    fn up_to_limits(&mut self, mut result: BatchResult) -> BatchResult {
        let before = self.totals.progress;
        let cases = self.shared.configuration.limit.map_or(u64::MAX, |limit| limit - before.ran);
        let failures = self.most_unexpected - before.unexpected;
        let crashes = self.most_crashes.saturating_sub(crashed(&self.totals));
        let (Progress { read, ran, unexpected }, crashed) = (result.totals.progress, crashed(&result.totals));
        let fails = unexpected >= failures || crashed >= crashes;
        let ends_there =
            result.cut == Some(Ending::MaxFailures) && unexpected <= failures && crashed <= crashes;
        if ran > cases || ran == cases && read > ran || fails && !ends_there {
            result = self.alone.run_part(&result.range, cases, (failures, crashes));
        }
        self.is_done |= result.totals.progress.ran == cases;
        result
    }

    /// Adds the failures of one group, whose first cases are `suspects`. They run again alone, in order,
    /// until one fails each time. The later ones are assumed to fail each time, too, and the earlier ones are
    /// flakes.
    ///
    /// A case that runs alone runs over two poisons and on other data. That distinguishes a wrong value from
    /// an element that was never written or that arithmetic changed. The class that it shows is the class of
    /// the group.
    fn add_group(
        &mut self,
        suspects: &[Found],
        mut cases: u64,
        results: &mut CaseResults,
        tell: &mut dyn FnMut(Event<'_>),
    ) {
        let Some(first) = suspects.first().map(|first| self.renamed(first)) else { return };
        if self.totals.found.knows(&first) {
            self.totals.found.add_many(first, cases);
            return;
        }
        for (place, found) in suspects.iter().enumerate() {
            let (mut failure, rate) = self.alone.run_again(found, self.shared.configuration.retries);
            let mut found = found.clone();
            let is_flake = rate.is_flake();
            let count = if is_flake { 1 } else { cases };
            if is_flake {
                self.doubt(&found, rate, results);
                let as_found = Failure { verdict: found.verdict, ..failure.clone() };
                if place + 1 == suspects.len() && cases > 1 {
                    // All suspects were flakes. The other cases of the group are unknown, so their verdict
                    // stands.
                    self.open_group(found.clone(), cases - 1, as_found, tell);
                }
                (failure.verdict, failure.rate) = (Verdict::Flake, Some(rate));
                (found.verdict, found.rate) = (Verdict::Flake, Some(rate));
            } else if failure.class != found.class {
                self.renamed.push((found.key(), failure.class));
                found.class = failure.class;
            }
            found.again = u64::from(rate.runs > 1);
            self.open_group(found, count, failure, tell);
            cases -= count;
            if !is_flake {
                return;
            }
        }
    }

    /// A failure with the class that rerunning showed for its group.
    fn renamed(&self, found: &Found) -> Found {
        let class = self.renamed.iter().find(|(key, _)| *key == found.key()).map(|(_, class)| *class);
        Found { class: class.unwrap_or(found.class), ..found.clone() }
    }

    /// Reruns cases that passed although they match a known failure. For each known failure, cases run until
    /// one passes each time. The later ones are assumed to pass each time, too, and the earlier ones are
    /// flakes.
    fn look_at_passes(
        &mut self,
        passes: &[Found],
        results: &mut CaseResults,
        tell: &mut dyn FnMut(Event<'_>),
    ) {
        for found in passes {
            let Some(entry) = found.known.filter(|entry| !self.steady.contains(entry)) else { continue };
            let case = self.alone.read(found.index);
            let (mut rate, mut kept) = (Rate::PASSED, None);
            for _ in 0..self.shared.configuration.retries {
                let Some(alone) = self.alone.examine(&case) else { break };
                if self.alone.is_unanswered(&alone) {
                    // The first verdict stands.
                    return;
                }
                let failed = alone.class.is_some();
                rate.count(failed);
                if failed && kept.is_none() {
                    kept = Some(self.alone.failure(found, case.clone(), Some(alone)));
                }
            }
            let counts = self.totals.known.get_mut(entry).map(|tally| &mut tally.counts);
            let Some(mut failure) = kept else {
                if let Some(counts) = counts {
                    counts
                        .first_passed
                        .get_or_insert_with(|| FirstCase { index: found.index, line: case.to_string() });
                }
                self.steady.push(entry);
                continue;
            };
            if let Some(counts) = counts {
                counts.doubt_pass(found.index);
            }
            self.totals.correct(found.strategy, found.operator, found.verdict, Verdict::Flake);
            results.doubt(found.index, rate);
            (failure.verdict, failure.rate) = (Verdict::Flake, Some(rate));
            let found = Found { verdict: Verdict::Flake, rate: Some(rate), again: 1, ..found.clone() };
            self.open_group(found, 1, failure, tell);
        }
    }

    /// Adds failures to a group, and reports the first failure of a new group.
    fn open_group(&mut self, found: Found, cases: u64, first: Failure, tell: &mut dyn FnMut(Event<'_>)) {
        let again = found.again;
        if self.totals.found.add_many(found, cases) {
            tell(Event::Failed(&first));
            self.groups.push(Group { cases, again, first });
        }
    }

    /// Changes the verdict of a failure to a flake.
    fn doubt(&mut self, found: &Found, rate: Rate, results: &mut CaseResults) {
        self.run_outcomes.forget(found.index);
        self.totals.correct(found.strategy, found.operator, found.verdict, Verdict::Flake);
        results.doubt(found.index, rate);
        if let Some(tally) = found.known.and_then(|place| self.totals.known.get_mut(place)) {
            tally.counts.doubt(found.class, found.index);
        }
    }

    /// Makes the failures of known failures that changed failures like the others, so that they are explained
    /// again.
    pub(crate) fn release(&mut self) {
        let known = self.totals.known.iter().enumerate();
        let changed = known.filter(|(_, tally)| tally.conclude(false) == Conclusion::Changed);
        let changed: Vec<usize> = changed.map(|(place, _)| place).collect();
        self.run_outcomes.release(&changed);
        let _ = self.shared.changed.set(changed);
    }

    /// What an explanation of the failures needs, once all cases have run.
    pub(crate) fn ended(&mut self, ending: Ending) -> Ended<'_, 'run> {
        let renamed = |found: &Found| (found.index, self.renamed(found));
        self.run_outcomes.failures = self.run_outcomes.failures.values().map(renamed).collect();
        let Self { alone: trials, totals, groups, run_outcomes, .. } = self;
        Ended { trials, totals, groups, run_outcomes, ending }
    }
}

/// Reports the incidents of the backend's processes.
fn tell_incidents(incidents: &Incidents, tell: &mut dyn FnMut(Event<'_>)) {
    while let Some(sentence) = incidents.take() {
        tell(Event::Incident(&sentence));
    }
}
