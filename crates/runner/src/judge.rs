//! Judges an answered batch: compares each outcome with the expectation of its case, and counts the verdicts.

use std::ops::Range;

use dmlcts_model::Outcome;
use dmlcts_spec::{Coverage, Scratch};

use crate::{
    CaseResults, Class, Details, Ending, Evidence, Fit, Notes, Seen, Sensitivities, Verdict,
    answers::{reading_of, said},
    deal::{BatchResult, Shared},
    expect,
    found::Found,
    prepare::LargeCasePermit,
    prepared_batch::{Planned, PreparedBatch, WrongRun},
    verdict::{Ruling, rule},
};

/// Evidence of more bytes than this is not kept.
const EVIDENCE_BYTES: u64 = 32 << 20;

/// A batch that the backend has answered.
pub(crate) struct Answered<'run> {
    pub(crate) cases: Range<u64>,
    pub(crate) batch: PreparedBatch,
    /// Held until the batch's memory is given back.
    pub(crate) permit: Option<LargeCasePermit<'run>>,
    /// The message, where the backend panicked over it.
    pub(crate) panic: Option<String>,
    /// Whether the backend can do nothing more.
    pub(crate) is_lost: bool,
}

/// What judging needs beside the batch, in memory that is used again and again.
pub(crate) struct Judge<'run> {
    shared: &'run Shared,
    scratch: Scratch,
    /// Memory for the output of another reading.
    alternative: Vec<u8>,
    /// The parts of the spec that the judged cases exercised.
    coverage: Coverage,
    /// Whether hangs count. Only cases that run for the first time count, not those that run again alone.
    counts_hangs: bool,
}

/// The ruling on one case of an answered batch.
struct Ruled {
    ruling: Ruling,
    /// The verdict, after known failures that match the case are taken into account.
    verdict: Verdict,
    /// The index of the known failure that counts the case, and how the case fits it.
    known: Option<(usize, Fit)>,
    wrong: Option<WrongRun>,
    /// The reading whose output was seen.
    reading: Option<usize>,
}

/// The result of one case that ran alone.
pub(crate) struct Examination {
    pub(crate) verdict: Verdict,
    pub(crate) class: Option<Class>,
    pub(crate) planned: Planned,
    pub(crate) outcome: Outcome,
    pub(crate) evidence: Option<Evidence>,
}

impl<'run> Judge<'run> {
    pub(crate) fn new(shared: &'run Shared, counts_hangs: bool) -> Self {
        Self {
            shared,
            scratch: Scratch::default(),
            alternative: Vec::new(),
            coverage: Coverage::new(shared.library),
            counts_hangs,
        }
    }

    /// Judges the cases of a batch in order. Stops at a case that has no answer because the run was cut off
    /// or too many cases hung: the later cases count as not run.
    pub(crate) fn judge(&mut self, answered: &mut Answered<'_>, result: &mut BatchResult) {
        let Answered { batch, is_lost, .. } = answered;
        let is_clean = batch.look_over();
        for place in 0..batch.planned.len() {
            if self.is_unanswered(batch, place, *is_lost) {
                let ending = self.shared.cut_off_by();
                result.cut(batch.planned[place].index, ending);
                self.shared.stop.request(ending);
                break;
            }
            let ruled = self.rule(batch, place, is_clean, &mut result.totals.notes);
            self.account(batch, place, &ruled, result);
            if result.cut.is_some() {
                break;
            }
        }
        result.totals.coverage.merge(&self.coverage);
    }

    /// Judges the only case of a batch. `None` if the batch is empty.
    pub(crate) fn examine(&mut self, mut answered: Answered<'_>) -> (Option<Examination>, PreparedBatch) {
        let batch = &mut answered.batch;
        if batch.planned.is_empty() {
            return (None, answered.batch);
        }
        let is_clean = batch.look_over();
        let Ruled { ruling: (_, class), verdict, wrong, .. } =
            self.rule(batch, 0, is_clean, &mut Notes::default());
        let outcome = batch.job(0).map_or(Outcome::Lost, |job| job.outcome.clone());
        let evidence = wrong.and_then(|wrong| evidence(batch, wrong));
        let planned = batch.planned.pop();
        let examination = planned.map(|planned| Examination { verdict, class, planned, outcome, evidence });
        (examination, answered.batch)
    }

    /// Frees memory that only large cases need.
    pub(crate) fn shrink(&mut self, most: usize) {
        if self.alternative.capacity() > most {
            self.alternative = Vec::new();
        }
    }

    /// Whether a case has no answer because the run was cut off or too many cases hung.
    fn is_unanswered(&self, batch: &PreparedBatch, place: usize, is_lost: bool) -> bool {
        batch.job(place).is_some_and(|job| job.outcome == Outcome::Lost)
            && (self.shared.is_time_up() || self.shared.may_have_hung_up() && !is_lost)
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
                batch.inspect(place, &shared.allow, notes, is_another)
            }
            Some(job) if *outcome == Outcome::Output && !job.runs.is_empty() => (Seen::Same, None),
            Some(job) if *outcome == Outcome::Accepted && !job.runs.is_empty() => {
                (Seen::Wrong(Class::NotRun), None)
            }
            _ => (Seen::Nothing, None),
        };
        let ruling = rule(outcome, seen, &planned.expectation, planned.lacks.is_none());
        let (verdict, known) = shared.known.reconcile(&planned.known, ruling, outcome);
        Ruled { ruling, verdict, known, wrong, reading: reading_of(seen, &planned.expectation, another) }
    }

    /// Adds a ruling to the totals.
    fn account(&mut self, batch: &PreparedBatch, place: usize, ruled: &Ruled, result: &mut BatchResult) {
        let Self { shared, scratch, coverage, counts_hangs, .. } = self;
        let planned = &batch.planned[place];
        let Some(job) = batch.job(place) else { return };
        let ((ruling, class), verdict) = (ruled.ruling, ruled.verdict);
        let totals = &mut result.totals;
        totals.progress.ran += 1;
        totals.count(planned.strategy, planned.operator, verdict, 1);
        let operator = &shared.library.operators()[planned.operator];
        coverage.mark(operator, &job.desc, shared.level, planned.judgement, scratch);
        if ruling == Verdict::Recorded {
            let questions = planned.judgement.questions;
            for (question, said) in
                said(operator, questions, &job.outcome, ruled.reading, planned.lacks.is_none())
            {
                let key = (planned.operator, question, said);
                totals.answers.count(key, planned.index, batch.line(place));
            }
        }
        if let Some(lacks) = planned.lacks.filter(|_| verdict == Verdict::Skip) {
            totals.skipped.count(planned.operator, lacks.of(&planned.expectation), 1);
        }
        if let Some((place_of_entry, fit)) = ruled.known
            && let Some(tally) = totals.known.get_mut(place_of_entry)
        {
            tally.counts.count(fit, class, planned.index, batch.line(place));
        }
        if job.outcome == Outcome::TimedOut && *counts_hangs {
            shared.note_hang();
        }
        totals.work.too_large += u64::from(planned.too_large);
        totals.work.only_created += u64::from(planned.too_large && verdict == Verdict::Pass);
        if job.outcome == Outcome::Output {
            totals.work.runs += job.runs.len() as u64;
            totals.work.on_other_data += u64::from(planned.has_other_data(job));
            totals.work.bytes += job.runs.iter().map(|run| run.output.len() as u64).sum::<u64>();
        }
        totals.progress.unexpected += u64::from(verdict.is_unexpected());
        if verdict.is_unexpected() {
            let of = (planned.strategy, planned.operator);
            // The line is filled in later, if this case is the first unexpected one of the run.
            totals.note_unexpected(of, planned.index, "", class);
        }
        // Cases that were lost with a backend are not failures of their own: the run reports once why the
        // backend was lost.
        if verdict.is_unexpected() && !(verdict == Verdict::Lost && shared.lost().is_some()) {
            let found = Found {
                index: planned.index,
                strategy: planned.strategy,
                operator: planned.operator,
                verdict,
                class: class.unwrap_or(Class::Lost),
                outcome: job.outcome.clone(),
                judgement: planned.judgement,
                mode: Found::mode_of(&job.desc),
                rate: None,
                again: 0,
                known: ruled.known.map(|(place, _)| place),
            };
            match ruled.known.and_then(|(place, _)| shared.known.entry(place)) {
                // An unexpected pass is reported with its known failure. If it turns out to be a flake, it
                // has the class of that failure.
                Some(entry) if verdict == Verdict::UnexpectedPass => {
                    totals.found.add_pass(Found { class: entry.signature, ..found });
                }
                _ => {
                    totals.found.add(found);
                }
            }
            if shared.fail_fast {
                result.cut(planned.index + 1, Ending::FirstFailure);
            }
        }
        if shared.record {
            self.record(batch, place, ruled, &mut result.cases);
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
                known: ruled.known.and_then(|(place, _)| self.shared.known.entry(place)),
                rate: None,
            }
        });
        let of = (planned.index, planned.strategy, planned.operator);
        let sensitivities = if self.shared.record_sensitivity {
            batch.sensitivities(place, &job.desc)
        } else {
            Sensitivities::default()
        };
        cases.push(of, batch.line(place), (verdict, sensitivities), details);
    }
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
