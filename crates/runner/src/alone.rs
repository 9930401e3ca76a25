//! Runs cases alone, on a backend for retries: failures again, smaller cases, and parts of a batch.

use std::ops::Range;

use dmlcts_backend::{Pipelined, Purpose};
use dmlcts_model::{Case, Outcome};

use crate::{
    Failure, Found, Rate, Verdict,
    batch_result::BatchResult,
    executor::Executor,
    expect,
    judge::{Examination, Judge},
    one_by_one,
    shared::Shared,
};

/// Runs cases while nothing else is in flight.
pub(crate) struct Alone<'run> {
    shared: &'run Shared,
    strategies: &'run [String],
    executor: Executor<'run>,
    judge: Judge<'run>,
}

impl<'run> Alone<'run> {
    pub(crate) fn new(shared: &'run Shared, strategies: &'run [String], backend: Box<dyn Pipelined>) -> Self {
        let executor = Executor::new(shared, backend, Purpose::Retries);
        Self { shared, strategies, executor, judge: Judge::new(shared) }
    }

    /// The case at an index.
    pub(crate) fn read(&mut self, index: u64) -> Case {
        self.executor.read(index)
    }

    /// The executor, to read and prepare cases.
    pub(crate) fn executor(&mut self) -> &mut Executor<'run> {
        &mut self.executor
    }

    /// Runs one case with every kind of run. `None` if the case does not belong to the run.
    pub(crate) fn examine(&mut self, case: &Case, index: u64, strategy: usize) -> Option<Examination> {
        let prepared = self.executor.prepare_alone(case, index, strategy);
        let answered = self.executor.run(prepared);
        let examination = self.judge.examine(&answered);
        self.executor.free(answered);
        self.judge.shrink();
        examination
    }

    /// Runs and judges at most this many of the cases.
    pub(crate) fn run_part(&mut self, cases: &Range<u64>, most: u64) -> BatchResult {
        let mut result = BatchResult::new(cases.clone(), self.shared.no_totals());
        let (mut next, mut left) = (cases.start, most);
        while next < cases.end && left > 0 && result.cut.is_none() {
            let most = left.min(self.shared.batch_cases);
            let Some(prepared) = self.executor.prepare(&(next..cases.end), most, true) else {
                result.end_before(next);
                break;
            };
            (next, left) = (prepared.cases.end, left - prepared.batch.planned.len() as u64);
            result.totals.progress.read = next - cases.start;
            let answered = self.executor.run(prepared);
            if !one_by_one::judge(&mut self.executor, &mut self.judge, answered, &mut result) {
                break;
            }
        }
        result
    }

    /// Runs a failure again this often, and at least once. Returns the first rerun that fails, and how often
    /// the case failed.
    pub(crate) fn run_again(&mut self, found: &Found, retries: u32) -> (Failure, Rate) {
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
    pub(crate) fn describe(&mut self, found: &Found, case: Case) -> Failure {
        let alone = self.examine(&case, found.index, found.strategy);
        self.failure(found, case, alone)
    }

    /// Whether a case was not run, because no backend or no time was left.
    pub(crate) fn is_unanswered(&self, alone: &Examination) -> bool {
        alone.outcome == Outcome::Lost && (self.shared.lost().is_some() || self.shared.cuts_off())
    }

    /// Describes a failure that ran alone, if it did.
    pub(crate) fn failure(&self, found: &Found, case: Case, alone: Option<Examination>) -> Failure {
        let shared = self.shared;
        let operator = &shared.library.operators()[found.operator];
        let mut failure = Failure {
            index: found.index,
            strategy: self.strategies[found.strategy].clone(),
            case,
            operator,
            level: shared.level,
            judgement: found.judgement,
            expectation: expect::by_judgement(operator, found.judgement),
            outcome: found.outcome.clone(),
            verdict: found.verdict,
            rate: found.rate,
            alive: found.alive,
            class: found.class,
            evidence: None,
            bytes_vary: false,
            tried: None,
        };
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
