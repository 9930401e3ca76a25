//! Runs cases alone, on a backend for retries: failures again, smaller cases, and parts of a batch. Also runs
//! a case in a fresh backend after others. Explanations see no more of a backend than this.

use std::{collections::VecDeque, ops::Range, time::Instant};

use dmlcts_backend::{Pipelined, Purpose};
use dmlcts_model::{Case, FeatureLevel, Outcome};
use dmlcts_spec::{Library, Predicate};

use crate::{
    Class, Cursor, Failure, Found, KnownEntry, Rate, Smallest, Stop, Verdict,
    batch_result::BatchResult,
    examiner::Examination,
    executor::{Executor, InFlight},
    judge_batch::judge_batch,
    panics::caught,
    prepare::Manner,
    shared::Shared,
};

/// Cases with more bytes than this are not among the cases before another one.
const BYTES_BEFORE: usize = 1 << 20;
/// The maximum number of cases that run together.
const TOGETHER: usize = 64;
/// The maximum number of cases that are examined in one batch. It does not depend on the backend's speed: a
/// backend that remembers something would give other answers on a busy machine.
const EXAMINED: usize = 8;

/// A case with its index in the source and the index of its strategy in
/// [`CaseSource::strategies`](crate::CaseSource::strategies). A case that is not of the source has those of
/// the case that it was made from, or zeros.
pub type Place = (Case, u64, usize);

/// Whether cases run one after the other or together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// Each alone, in order.
    After,
    /// In batches.
    Beside,
}

/// What a case of a known failure did when it ran alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rerun {
    /// This each time, in this class if it failed.
    Did(Smallest, Option<Class>),
    /// Not the same each time.
    Varies,
    /// Nothing that says anything: it is too large, the backend does not declare it, or there is no answer.
    NotRun,
}

/// Runs cases once more while nothing else is in flight.
pub struct Trials<'run> {
    shared: &'run Shared,
    executor: Executor<'run>,
}

impl<'run> Trials<'run> {
    pub(crate) fn new(shared: &'run Shared, backend: Box<dyn Pipelined>) -> Self {
        let executor = Executor::new(shared, backend, Purpose::Retries);
        Self { shared, executor }
    }

    /// The specs that judge the cases.
    pub fn library(&self) -> &'static Library {
        self.shared.library
    }

    /// The feature level at which cases are judged.
    pub fn level(&self) -> FeatureLevel {
        self.shared.level
    }

    /// The predicate that the cases of the run fulfil, if only such cases ran.
    pub fn filter(&self) -> Option<&Predicate> {
        self.shared.configuration.filter.as_deref()
    }

    /// The maximum number of bytes of a case that runs.
    pub fn memory(&self) -> u64 {
        self.shared.configuration.memory
    }

    /// The switch that ends the run.
    pub fn stop(&self) -> &'run Stop {
        &self.shared.stop
    }

    /// The number of backend instances that the run used.
    pub fn jobs(&self) -> usize {
        self.shared.configuration.jobs
    }

    /// When the run must have ended.
    pub fn deadline(&self) -> Option<Instant> {
        self.shared.deadline()
    }

    /// A reader of the cases of the source.
    pub fn cursor(&self) -> Box<dyn Cursor + 'run> {
        self.shared.source.cursor()
    }

    /// The index of the strategy with this name, or 0.
    pub fn strategy(&self, name: &str) -> usize {
        self.shared.strategies.iter().position(|known| known == name).unwrap_or(0)
    }

    /// The case at an index.
    pub fn read(&mut self, index: u64) -> Case {
        self.executor.preparer.read(index).0
    }

    /// The case at an index as it ran, if it is a case of the run and not too large to run before another.
    pub fn read_as_it_ran(&mut self, index: u64) -> Option<Place> {
        if self.shared.chosen(index..index + 1).is_empty() {
            return None;
        }
        let preparer = &mut self.executor.preparer;
        let (case, strategy) = preparer.read(index);
        let prepared = preparer.prepare_together([(&case, index, strategy)].into_iter(), Manner::InRun);
        let is_of_run = !prepared.batch.planned.is_empty() && prepared.batch.bytes() <= BYTES_BEFORE;
        preparer.keep(prepared.batch);
        is_of_run.then_some((case, index, strategy))
    }

    /// Runs a case after others, in a fresh backend. `None` if the backend does not start, or if the time is
    /// up.
    pub fn run_after(&mut self, before: &[Place], case: &Place, way: Way) -> Option<Examination> {
        let backend = (self.shared.backend)(Purpose::Retries).ok()?;
        let mut executor = Executor::new(self.shared, backend, Purpose::Retries);
        let all: Vec<&Place> = before.iter().chain([case]).collect();
        let most = (self.shared.batch_cases as usize).min(TOGETHER);
        let mut last = None;
        // Batches are filled from the end. The last one has the case, with as many others as fit.
        for batch in all.rchunks(if way == Way::After { 1 } else { most }).rev() {
            if self.shared.is_time_up() {
                return None;
            }
            let cases = batch.iter().map(|(case, index, strategy)| (case, *index, *strategy));
            let prepared = executor.preparer.prepare_together(cases, Manner::Again);
            let answered = executor.run(prepared);
            last = executor.examiner.examine(&answered);
            executor.free(answered);
        }
        let _ = caught(|| drop(executor));
        last
    }

    /// Runs one case with every kind of run. `None` if the case does not belong to the run.
    pub fn examine(&mut self, case: &Case) -> Option<Examination> {
        let prepared = self.executor.preparer.prepare_alone(case);
        let answered = self.executor.run(prepared);
        let examination = self.executor.examiner.examine(&answered);
        self.executor.free(answered);
        examination
    }

    /// Runs the first of these cases in two batches, at least one case, each with every kind of run. The
    /// results are those of [`Trials::examine`], if the backend remembers nothing.
    pub fn examine_first(&mut self, cases: &[Case]) -> Vec<Option<Examination>> {
        let most = self.shared.batch_cases.min(EXAMINED as u64);
        let (mut examined, mut in_flight, mut again) = (Vec::new(), VecDeque::new(), Vec::new());
        // The backend runs one batch while the other is prepared or examined.
        for _ in 0..2 {
            let place = examined.len();
            let (prepared, taken) = self.executor.preparer.prepare_first(&cases[place..], most);
            if taken == 0 {
                self.executor.preparer.keep(prepared.batch);
                break;
            }
            examined.extend((0..taken).map(|_| None));
            if in_flight.len() >= self.shared.in_flight
                && let Some(oldest) = in_flight.pop_front()
            {
                self.finish(oldest, &mut examined, &mut again);
            }
            in_flight.push_back((place, self.executor.start(prepared)));
        }
        while let Some(oldest) = in_flight.pop_front() {
            self.finish(oldest, &mut examined, &mut again);
        }
        if examined.is_empty() {
            // The first one is large, and needs a permit.
            return cases.iter().take(1).map(|case| self.examine(case)).collect();
        }
        for place in again {
            examined[place] = self.examine(&cases[place]);
        }
        examined
    }

    /// Finishes a batch, whose first case has this place among all, and examines its cases. If the backend
    /// panicked, none of them has an answer, and all must run again.
    fn finish(
        &mut self,
        (first, in_flight): (usize, InFlight<'run>),
        examined: &mut [Option<Examination>],
        again: &mut Vec<usize>,
    ) {
        let answered = self.executor.finish(in_flight);
        for (at, planned) in answered.batch.planned.iter().enumerate() {
            let place = first + planned.index as usize;
            if answered.panic.is_some() {
                again.push(place);
            } else {
                examined[place] = Some(self.executor.examiner.examine_at(&answered, at));
            }
        }
        self.executor.free(answered);
    }

    /// Runs a case of a known failure alone. What is not as it is known runs `retries` more times.
    pub fn replay(&mut self, entry: &KnownEntry, case: &Case, retries: u32) -> Rerun {
        let mut run = || {
            let alone = self.examine(case).filter(|alone| !self.is_unanswered(alone))?;
            Some((entry.replayed(case, &alone)?, alone.class))
        };
        match run() {
            None => Rerun::NotRun,
            Some(did) if did.0 == Smallest::AsKnown || (0..retries).all(|_| run() == Some(did)) => {
                Rerun::Did(did.0, did.1)
            }
            Some(_) => Rerun::Varies,
        }
    }

    /// Runs and judges the cases up to one of these limits: a number of cases, of unexpected verdicts, and of
    /// crashes.
    pub(crate) fn run_part(
        &mut self,
        cases: &Range<u64>,
        most: u64,
        (most_unexpected, most_crashes): (u64, u64),
    ) -> BatchResult {
        (self.executor.examiner.max_failures, self.executor.examiner.max_crashes) =
            (Some(most_unexpected), Some(most_crashes));
        let mut result = BatchResult::new(cases.clone(), self.shared.no_totals());
        let (mut next, mut left) = (cases.start, most);
        while next < cases.end && left > 0 && result.cut.is_none() {
            let most = left.min(self.shared.batch_cases);
            let Some(prepared) = self.executor.preparer.prepare(&(next..cases.end), most, true) else {
                result.end_before(next);
                break;
            };
            (next, left) = (prepared.cases.end, left - prepared.batch.planned.len() as u64);
            result.totals.progress.read = next - cases.start;
            let answered = self.executor.run(prepared);
            if !judge_batch(&mut self.executor, answered, &mut result) {
                break;
            }
        }
        result
    }

    /// Runs a failure again this often, and at least once. Returns the first rerun that fails, and how often
    /// the case failed.
    pub fn run_again(&mut self, found: &Found, retries: u32) -> (Failure, Rate) {
        let mut rate = Rate::FOUND;
        let case = self.read(found.index);
        let mut kept = self.describe(found, case.clone());
        if retries == 0 {
            kept.verdict = found.verdict;
            return (kept, rate);
        }
        rate.count(kept.verdict != Verdict::Pass);
        for _ in 1..retries {
            let again = self.describe(found, case.clone());
            rate.count(again.verdict != Verdict::Pass);
            let varies = kept.bytes_vary || again.bytes_vary;
            if kept.verdict == Verdict::Pass {
                kept = again;
            }
            kept.bytes_vary = varies;
        }
        (kept, rate)
    }

    /// Runs a failure and describes it. Its verdict is a pass if it passes alone.
    pub fn describe(&mut self, found: &Found, case: Case) -> Failure {
        let alone = self.examine(&case);
        self.failure(found, case, alone)
    }

    /// Whether a case was not run, because no backend or no time was left.
    pub fn is_unanswered(&self, alone: &Examination) -> bool {
        alone.outcome == Outcome::Lost && (self.shared.lost().is_some() || self.shared.cuts_off())
    }

    /// Describes a failure that ran alone, if it did.
    pub fn failure(&self, found: &Found, case: Case, alone: Option<Examination>) -> Failure {
        let shared = self.shared;
        let operator = &shared.library.operators()[found.operator];
        let of = (case, shared.strategies[found.strategy].as_str());
        let mut failure = found.as_found(operator, shared.level, of, found.judgement);
        let Some(alone) = alone else { return failure };
        let is_unanswered = self.is_unanswered(&alone);
        failure.judgement = alone.judgement;
        failure.expectation = alone.expectation;
        if is_unanswered {
            // The first verdict stands.
            return failure;
        }
        failure.verdict = match alone.verdict {
            // Alone, it matches a known failure, but it failed in another way before: a pass would be untrue.
            Verdict::ExpectedFail => found.verdict,
            // An unexpected pass of a known failure is a pass, too.
            verdict if verdict.is_unexpected() && verdict != Verdict::UnexpectedPass => verdict,
            _ => Verdict::Pass,
        };
        // If the case passes alone, its outcome says nothing about the failure.
        if let Some(class) = alone.class {
            failure.class = class;
            failure.outcome = alone.outcome;
            let output = found.digest.and_then(|digest| digest.output);
            let is_there = |output| alone.outputs.is_empty() || alone.outputs.contains(&output);
            failure.bytes_vary = !output.is_none_or(is_there);
            failure.evidence = alone.evidence;
        }
        failure
    }
}

impl std::fmt::Debug for Trials<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trials").finish_non_exhaustive()
    }
}
