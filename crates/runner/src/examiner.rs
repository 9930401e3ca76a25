//! Examines answered batches: compares each outcome with the expectation of its case, and counts verdicts.

use dmlcts_backend::Job;
use dmlcts_model::{Expectation, Outcome};
use dmlcts_spec::{Judgement, Scratch};

use crate::{
    CaseDigest, CaseResults, Class, Details, Digest, Ending, Evidence, Fit, Notes, Seen, Verdict,
    answers::{reading_of, said},
    batch_result::BatchResult,
    executor::Answered,
    expect,
    found::Found,
    known::Match,
    prepared_batch::{Planned, PreparedBatch, WrongRun},
    shared::Shared,
    verdict::{Ruling, verdict_on},
};

/// Evidence of more bytes than this is not kept.
const EVIDENCE_BYTES: u64 = 32 << 20;

/// Gives verdicts, in memory that is used again and again.
pub(crate) struct Examiner<'run> {
    shared: &'run Shared,
    /// Ends the results of a batch at the unexpected verdict with this number.
    pub(crate) max_failures: Option<u64>,
    /// The same for the unexpected crash with this number.
    pub(crate) max_crashes: Option<u64>,
    scratch: Scratch,
    /// Memory for the output of another reading.
    alternative: Vec<u8>,
}

/// The ruling on one case of an answered batch.
struct Ruled {
    ruling: Ruling,
    /// The verdict, after known failures that match the case are taken into account.
    verdict: Verdict,
    /// The index of the known failure that counts the case, and how the case fits it.
    known: Option<(usize, Fit)>,
    wrong: Option<WrongRun>,
    /// The digest of the case, if it failed in a recorded run.
    digest: Option<CaseDigest>,
    /// The reading whose output was seen.
    reading: Option<usize>,
}

/// The result of one case that ran alone.
#[derive(Debug)]
pub struct Examination {
    /// The verdict.
    pub verdict: Verdict,
    /// How it failed, if it did.
    pub class: Option<Class>,
    /// The spec's judgement of its desc.
    pub judgement: Judgement,
    /// What was expected.
    pub expectation: Expectation,
    /// What the backend did.
    pub outcome: Outcome,
    /// The memory of the run that went wrong, if one did and it is not too large to keep.
    pub evidence: Option<Evidence>,
    /// The digests of the outputs of all its runs, if it failed with an output in a recorded run.
    pub outputs: Vec<Digest>,
    /// Whether it was too large to run.
    pub too_large: bool,
    /// The bytes of the inputs and outputs of all its runs.
    pub bytes: usize,
    /// Whether the runs on the case's own data are right, and only a run on other data is wrong.
    pub only_other_data: bool,
}

impl<'run> Examiner<'run> {
    pub(crate) fn new(shared: &'run Shared) -> Self {
        let (max_failures, max_crashes) =
            (shared.configuration.max_failures, shared.configuration.max_crashes);
        Self { shared, max_failures, max_crashes, scratch: Scratch::default(), alternative: Vec::new() }
    }

    /// Adds the results of an answered batch, in the order of its cases. Stops at a case that was cut off:
    /// the later cases count as not run.
    pub(crate) fn add(&mut self, answered: &Answered<'_>, result: &mut BatchResult) {
        let batch = &answered.batch;
        for place in 0..batch.planned.len() {
            if self.is_cut_off(answered, place) {
                result.cut(batch.planned[place].index, self.shared.cut_off_by());
                break;
            }
            let ruled = self.rule(batch, place, answered.is_clean, &mut result.totals.notes);
            self.account(batch, place, &ruled, result);
            if result.cut.is_some() {
                break;
            }
        }
    }

    /// Judges the last case of a batch, which is often the only one. `None` if the batch is empty.
    pub(crate) fn examine(&mut self, answered: &Answered<'_>) -> Option<Examination> {
        let place = answered.batch.planned.len().checked_sub(1)?;
        Some(self.examine_at(answered, place))
    }

    /// Judges the case at this place in a batch.
    pub(crate) fn examine_at(&mut self, answered: &Answered<'_>, place: usize) -> Examination {
        let batch = &answered.batch;
        let planned = &batch.planned[place];
        let Ruled { ruling: (_, class), verdict, wrong, .. } =
            self.rule(batch, place, answered.is_clean, &mut Notes::default());
        let outputs = if class.is_some() && self.shared.configuration.record {
            batch.job(place).map(|job| outputs(batch, job)).unwrap_or_default()
        } else {
            Vec::new()
        };
        let runs = batch.job(place).map_or(&[][..], |job| &job.runs);
        Examination {
            verdict,
            class,
            judgement: planned.judgement,
            expectation: planned.expectation.clone(),
            outcome: batch.job(place).map_or(Outcome::Lost, |job| job.outcome.clone()),
            only_other_data: wrong.as_ref().is_some_and(|wrong| wrong.only_other_data),
            outputs,
            evidence: wrong.and_then(|wrong| evidence(batch, wrong)),
            too_large: planned.too_large,
            bytes: runs.iter().map(|run| run.input.len() + run.output.len()).sum(),
        }
    }

    /// Frees memory that only large cases need.
    pub(crate) fn shrink(&mut self) {
        if self.alternative.capacity() > 4 * self.shared.batch_bytes {
            self.alternative = Vec::new();
        }
    }

    /// Whether a case has no outcome because the run ended.
    fn is_cut_off(&self, answered: &Answered<'_>, place: usize) -> bool {
        let is_lost = || answered.batch.job(place).is_some_and(|job| job.outcome == Outcome::Lost);
        is_lost() && (self.shared.is_time_up() || !answered.is_lost && self.shared.cuts_off())
    }

    fn rule(&mut self, batch: &PreparedBatch, place: usize, is_clean: bool, notes: &mut Notes) -> Ruled {
        let Self { scratch, alternative, shared, .. } = self;
        let lost = Outcome::Lost;
        let job = batch.job(place);
        let outcome = job.map_or(&lost, |job| &job.outcome);
        let planned = &batch.planned[place];
        let mut another = None;
        let (seen, wrong) = match job {
            Some(job) if *outcome == Outcome::Output && !job.runs.is_empty() && !is_clean => {
                let operator = &shared.library.operators()[planned.operator];
                let is_another = |input: &[u8], actual: &[u8]| {
                    another = expect::another_reading(
                        operator,
                        shared.level,
                        &job.desc,
                        &planned.expectation,
                        input,
                        actual,
                        scratch,
                        alternative,
                    );
                    another.is_some()
                };
                batch.inspect(place, &shared.configuration.allow, notes, is_another)
            }
            Some(job) if *outcome == Outcome::Output && !job.runs.is_empty() => (Seen::Same, None),
            Some(job) if *outcome == Outcome::Accepted && !job.runs.is_empty() => {
                (Seen::Wrong(Class::NotRun), None)
            }
            _ => (Seen::Nothing, None),
        };
        let ruling = verdict_on(outcome, seen, &planned.expectation, planned.lacks.is_none());
        let is_kept = |matched: &&Match| shared.changed.get().is_none_or(|all| !all.contains(&matched.place));
        let known: Vec<Match> = planned.known.iter().filter(is_kept).copied().collect();
        let (verdict, known) = shared.configuration.known.reconcile(&known, ruling, outcome);
        let digest = ruling.1.filter(|_| shared.configuration.record).map(|class| {
            let output = job.and_then(|job| failed_output(batch, job, wrong.as_ref()));
            let output = output.map(Digest::of);
            CaseDigest::new(batch.line(place), class, output)
        });
        let reading = reading_of(seen, &planned.expectation, another);
        Ruled { ruling, verdict, known, wrong, digest, reading }
    }

    /// Adds a ruling to the totals.
    fn account(&mut self, batch: &PreparedBatch, place: usize, ruled: &Ruled, result: &mut BatchResult) {
        let Self { shared, scratch, .. } = self;
        let planned = &batch.planned[place];
        let Some(job) = batch.job(place) else { return };
        let ((ruling, class), verdict) = (ruled.ruling, ruled.verdict);
        let totals = &mut result.totals;
        totals.progress.ran += 1;
        totals.count(planned.strategy, planned.operator, verdict, 1);
        let operator = &shared.library.operators()[planned.operator];
        totals.coverage.mark(operator, &job.desc, shared.level, planned.judgement, scratch);
        if ruling == Verdict::Recorded {
            let questions = planned.judgement.questions;
            for (question, said) in
                said(operator, questions, &job.outcome, ruled.reading, planned.lacks.is_none())
            {
                let key = (planned.operator, question, said);
                totals.answers.count(key, planned.index, batch.line(place));
            }
        }
        if planned.lacks.is_none() {
            totals.refusals.note(planned.operator, planned.judgement, &job.outcome);
        }
        if let Some(lacks) = planned.lacks.filter(|_| verdict == Verdict::Skip) {
            totals.skipped.count(planned.operator, lacks.of(&planned.expectation), 1);
        }
        if let Some((place_of_entry, fit)) = ruled.known
            && let Some(tally) = totals.known.get_mut(place_of_entry)
        {
            tally.counts.count(fit, class, planned.index, batch.line(place));
        }
        result.hangs += u64::from(job.outcome == Outcome::TimedOut);
        totals.work.too_large += u64::from(planned.too_large);
        totals.work.only_created += u64::from(planned.too_large && verdict == Verdict::Pass);
        if job.outcome == Outcome::Output {
            totals.work.runs += job.runs.len() as u64;
            totals.work.on_other_data += u64::from(planned.has_other_data(job));
            totals.work.bytes += job.runs.iter().map(|run| run.output.len() as u64).sum::<u64>();
        }
        if matches!(verdict, Verdict::Pass | Verdict::UnexpectedPass) && !planned.too_large {
            result.passes.push(planned.index);
        }
        if verdict == Verdict::ExpectedFail {
            result.expected.push(found(planned, job, ruled));
        }
        if verdict.is_unexpected() {
            self.note_unexpected(planned, job, ruled, result);
        }
        if self.shared.configuration.record {
            self.record(batch, place, ruled, &mut result.cases);
        }
    }

    /// Adds an unexpected verdict to the failures that were found, and ends the results if the run ends at
    /// its first failure.
    fn note_unexpected(&self, planned: &Planned, job: &Job, ruled: &Ruled, result: &mut BatchResult) {
        let (shared, totals, (_, class), verdict) =
            (self.shared, &mut result.totals, ruled.ruling, ruled.verdict);
        totals.progress.unexpected += 1;
        // The line is filled in later, if this case is the first unexpected one of the run.
        totals.note_unexpected((planned.strategy, planned.operator), planned.index, "", class);
        if verdict == Verdict::Lost && shared.lost().is_some() {
            // It is not a failure of its own: the run reports once why the backend was lost.
            return;
        }
        let found = found(planned, job, ruled);
        match ruled.known.and_then(|(place, _)| shared.configuration.known.failure(place)) {
            // An unexpected pass is reported with its known failure. If it turns out to be a flake, it has
            // the class of that failure.
            Some(entry) if verdict == Verdict::UnexpectedPass => {
                totals.found.add_pass(Found { class: entry.classes[0], ..found });
            }
            _ => {
                result.failures.push(found.clone());
                totals.found.add(found);
            }
        }
        if self.max_failures.is_some_and(|most| totals.progress.unexpected >= most)
            || self.max_crashes.is_some_and(|most| totals.verdicts().of(Verdict::Crash) >= most)
        {
            result.cut(planned.index + 1, Ending::MaxFailures);
        }
    }

    /// Keeps the result of a case for the record.
    fn record(&self, batch: &PreparedBatch, place: usize, ruled: &Ruled, cases: &mut CaseResults) {
        let planned = &batch.planned[place];
        let Some(job) = batch.job(place) else { return };
        let ((ruling, class), verdict) = (ruled.ruling, ruled.verdict);
        let details = (verdict != Verdict::Pass || planned.too_large).then(|| {
            let operator = &self.shared.library.operators()[planned.operator];
            let answers = || {
                let questions = planned.judgement.questions;
                said(operator, questions, &job.outcome, ruled.reading, planned.lacks.is_none())
            };
            let differences = ruled.wrong.as_ref().map(|wrong| wrong.differences.in_short());
            Details {
                outcome: job.outcome.clone(),
                class,
                judgement: planned.judgement,
                answers: if ruling == Verdict::Recorded { answers().collect() } else { Vec::new() },
                differences: differences.filter(|differences| differences.wrong() > 0),
                known: ruled.known.and_then(|(place, _)| self.shared.configuration.known.failure(place)),
                rate: None,
                only_other_data: ruled.wrong.as_ref().is_some_and(|wrong| wrong.only_other_data),
                digest: ruled.digest.and_then(|digest| digest.output),
                output: class.and_then(|_| small_output(batch, job, ruled.wrong.as_ref())),
            }
        });
        let of = (planned.index, planned.strategy, planned.operator);
        cases.push(of, batch.line(place), verdict, details);
    }
}

/// A failure with this ruling.
fn found(planned: &Planned, job: &Job, ruled: &Ruled) -> Found {
    Found {
        index: planned.index,
        strategy: planned.strategy,
        operator: planned.operator,
        verdict: ruled.verdict,
        class: ruled.ruling.1.unwrap_or(Class::Lost),
        outcome: job.outcome.clone(),
        alive: job.alive,
        judgement: planned.judgement,
        mode: Found::mode_of(&job.desc),
        rate: None,
        again: 0,
        known: ruled.known.map(|(place, _)| place),
        only_other_data: ruled.wrong.as_ref().is_some_and(|wrong| wrong.only_other_data),
        digest: ruled.digest,
    }
}

/// The output of the run that went wrong. If no run did, it is that of the first run.
fn failed_output<'a>(batch: &'a PreparedBatch, job: &Job, wrong: Option<&WrongRun>) -> Option<&'a [u8]> {
    let run = wrong.map(|wrong| &wrong.memory).or(job.runs.first());
    let run = run.filter(|_| job.outcome == Outcome::Output);
    run.map(|run| batch.evidence(run).2)
}

/// The output of the run that went wrong, if it is small.
fn small_output(batch: &PreparedBatch, job: &Job, wrong: Option<&WrongRun>) -> Option<Vec<u8>> {
    let output = failed_output(batch, job, wrong).filter(|output| output.len() <= Details::MOST_OUTPUT);
    output.map(<[u8]>::to_vec)
}

/// The digests of the outputs of all runs.
fn outputs(batch: &PreparedBatch, job: &Job) -> Vec<Digest> {
    let runs = job.runs.iter().filter(|_| job.outcome == Outcome::Output);
    runs.map(|run| Digest::of(batch.evidence(run).2)).collect()
}

/// Copies the memory of a run that went wrong, unless it is too large to keep.
fn evidence(batch: &PreparedBatch, wrong: WrongRun) -> Option<Evidence> {
    let (input, expected, actual) = batch.evidence(&wrong.memory);
    let bytes = (input.len() + expected.len() + actual.len()) as u64;
    (bytes <= EVIDENCE_BYTES).then(|| Evidence {
        run: wrong.kind,
        input: input.to_vec(),
        expected: expected.to_vec(),
        actual: actual.to_vec(),
        differences: wrong.differences,
    })
}
