//! One worker: reads cases, [prepares](prepare) lots of them, has them run, and rules on each.
//!
//! Everything that a case needs lives in memory that the worker uses again and again; nothing is shared with
//! other workers until a whole chunk is done.

mod hand;
mod prepare;
mod shelf;

use std::{collections::VecDeque, time::Instant};

use dmlcts_backend::Backend;
use dmlcts_model::{Case, Outcome};
use dmlcts_spec::{Coverage, Scratch, program::Values};

use self::{hand::Read, shelf::Shelf};
use crate::{
    CaseResults, Class, Cursor, Details, Ending, Evidence, Exposures, Fit, Seen, Verdict,
    answers::{reading_of, said},
    event::Notes,
    expect,
    flying::{Done, Flying},
    found::Found,
    lot::{Lot, Planned, WrongRun},
    pace::Pace,
    schedule::{Chunk, ChunkResult, Shared},
    verdict::{Ruling, rule},
};

/// Evidence of larger tensors is not kept.
const EVIDENCE_BYTES: u64 = 32 << 20;

/// One thread's part of a run.
pub(crate) struct Worker<'run> {
    pub(crate) shared: &'run Shared,
    /// This worker's place in [`Shared::busy`], where it has one.
    pub(crate) number: Option<usize>,
    pub(crate) backend: Box<dyn Backend>,
    cursor: Box<dyn Cursor + 'run>,
    /// The cases that are prepared together.
    hand: Vec<Read>,
    shelf: Shelf,
    scratch: Scratch,
    /// The memory of the filter.
    values: Values,
    /// The one that is prepared or ruled on.
    pub(crate) lot: Lot,
    /// Those that the backend has, the oldest first.
    pub(crate) flying: VecDeque<Flying>,
    /// The chunks that those are of, and last the one that is read.
    pub(crate) open: VecDeque<ChunkResult>,
    /// Those that are free.
    pub(crate) spare: Vec<Lot>,
    /// How many cases it is asked at a time.
    pub(crate) pace: Pace,
    /// How many cases it takes at a time: what it hands over at once, and what the others wait for.
    pub(crate) portion: Pace,
    alternative: Vec<u8>,
    /// What the cases ruled on so far exercised.
    pub(crate) coverage: Coverage,
}

/// What one case of a lot that ran came to.
struct Ruled {
    ruling: Ruling,
    /// What the ruling comes to where known failures match the case.
    verdict: Verdict,
    /// Which of them counts it, and as what.
    known: Option<(usize, Fit)>,
    wrong: Option<WrongRun>,
    /// The reading whose output was seen.
    reading: Option<usize>,
}

/// What running one case alone showed.
pub(crate) struct Examination {
    pub(crate) verdict: Verdict,
    pub(crate) class: Option<Class>,
    pub(crate) planned: Planned,
    pub(crate) outcome: Outcome,
    pub(crate) evidence: Option<Evidence>,
}

impl<'run> Worker<'run> {
    /// A worker with a backend of its own; `None` where the spec has no operator, and so no cases.
    pub(crate) fn new(
        shared: &'run Shared,
        number: Option<usize>,
        backend: Box<dyn Backend>,
    ) -> Option<Self> {
        let signature = shared.library.operators().first()?.signature();
        let desc = shelf::any(std::sync::Arc::clone(signature));
        let mut worker = Self {
            shared,
            number,
            backend,
            cursor: shared.source.cursor(),
            hand: hand::any(&desc),
            shelf: Shelf::default(),
            scratch: Scratch::default(),
            values: Values::default(),
            lot: Lot::default(),
            flying: VecDeque::new(),
            open: VecDeque::new(),
            spare: Vec::new(),
            pace: Pace::new(shared.lots.cases),
            portion: Pace::new(shared.chunks.most),
            alternative: Vec::new(),
            coverage: Coverage::new(shared.library),
        };
        worker.set_up();
        Some(worker)
    }

    /// Says to the backend what it is for.
    pub(crate) fn set_up(&mut self) {
        if self.number.is_none() {
            self.backend.look_again();
        }
        if self.backend.capabilities().can_set_feature_level {
            self.backend.set_feature_level(self.shared.level);
        }
    }

    /// Reads, runs and rules on the cases of a chunk, but on no more than `cap` of them, while nothing else is under way.
    pub(crate) fn chunk(&mut self, chunk: &Chunk, cap: u64) -> ChunkResult {
        let mut done = None;
        self.read_chunk(chunk, cap, None, &mut |result| done = Some(result));
        self.finish(&mut |result| done = Some(result));
        done.unwrap_or_else(|| ChunkResult::new(chunk, self.shared))
    }

    /// Rules on everything that is under way, and hands over the chunks that it is of.
    pub(crate) fn finish(&mut self, done: &mut Done<'_>) {
        self.rule_until(0, done);
        self.hand_over(0, done);
    }

    /// Reads the cases of a chunk and has them run, as many as there is time for, and gives back the others. Of this chunk
    /// and those before it, the ones that are ruled on as a whole are handed over, in order; the others are with the next
    /// chunk.
    pub(crate) fn go_through(&mut self, chunk: &Chunk, done: &mut Done<'_>) {
        let began = Instant::now();
        let end = self.read_chunk(chunk, u64::MAX, Some(began + Pace::LONG), done);
        self.portion.note(end - chunk.cases.start, began, Instant::now());
    }

    /// Reads the cases of a chunk, but runs no more than `cap` of them, and gives back those that it has not read when the
    /// time is up. Returns where it ended.
    fn read_chunk(&mut self, chunk: &Chunk, cap: u64, time: Option<Instant>, done: &mut Done<'_>) -> u64 {
        self.open.push_back(ChunkResult::new(chunk, self.shared));
        let mut index = chunk.cases.start;
        let mut prepared = 0;
        let mut waits = false;
        let is_cut = |open: &VecDeque<ChunkResult>| open.back().is_some_and(|result| result.cut.is_some());
        while index < chunk.cases.end && !is_cut(&self.open) && !self.shared.stop.is_requested() {
            self.lot.clear();
            let turn = std::mem::take(&mut waits).then(|| self.turn());
            while index < chunk.cases.end && !self.is_full() && prepared < cap {
                let chosen = self.shared.chosen(index..chunk.cases.end);
                index = chosen.start;
                if chosen.is_empty() {
                    break;
                }
                let most = if turn.is_some() { 1 } else { (chosen.end - index).min(cap - prepared) };
                let count = self.read_hand(index, most);
                let taken = self.prepare_hand(count, false, turn.as_ref());
                index += taken.cases as u64;
                prepared += taken.added as u64;
                waits = taken.waits;
                if waits || turn.is_some() {
                    break;
                }
            }
            // Where some of it is handed over already, what is left of it begins later.
            let mut first = chunk.cases.start;
            if let Some(result) = self.open.back_mut() {
                first = result.chunk.cases.start;
                result.totals.progress.read = index - first;
            }
            if !self.lot.planned.is_empty() {
                self.start_lot(first);
            }
            // A large case has its turn to itself.
            let kept = if waits || turn.is_some() { 0 } else { self.shared.lots.in_flight - 1 };
            self.rule_until(kept, done);
            if prepared >= cap {
                break;
            }
            if time.is_some_and(|time| Instant::now() >= time) && index > chunk.cases.start {
                self.give_back(index);
                break;
            }
        }
        self.hand_over(0, done);
        // A whole chunk that had nothing to run does not hold back the one before it.
        if self.open.len() > 1 {
            self.finish(done);
        }
        index
    }

    /// Ends the chunk that is read before this case, so that others need not wait for the rest.
    fn give_back(&mut self, index: u64) {
        if let Some(result) = self.open.back_mut().filter(|result| result.cut.is_none()) {
            let end = std::mem::replace(&mut result.chunk.cases.end, index);
            self.shared.chunks.give_back(index..end);
        }
    }

    /// Rules on the cases of a lot, of whose jobs so many are answered, from one place on, and returns where it ended. What is not as it should
    /// be waits for the others: not before all are answered, or the process has ended over one, is it known that none has the answer of another.
    pub(crate) fn rule_some(&mut self, from: usize, answered: usize, result: &mut ChunkResult) -> usize {
        let places = from..self.lot.planned.len();
        let known = places.take_while(|place| self.lot.is_known(*place, answered)).count();
        let is_end = |place: &usize| {
            let outcome = self.lot.job(*place).map(|job| &job.outcome);
            matches!(outcome, Some(Outcome::Crashed(_) | Outcome::TimedOut))
        };
        let sure = (from..from + known).rev().find(is_end).map_or(from, |end| end + 1);
        for place in from..from + known {
            let mut notes = result.totals.notes;
            let ruled = self.rule(place, false, &mut notes);
            if place >= sure && ruled.verdict.is_unexpected() || result.cut.is_some() {
                return place;
            }
            result.totals.notes = notes;
            self.account(place, &ruled, result);
        }
        from + known
    }

    /// Rules on every case of a lot that ran, from one place on. Those behind one that had no answer when the run was cut off, or when too many
    /// cases hung, were not run, as far as anybody knows.
    pub(crate) fn rule_lot(&mut self, from: usize, result: &mut ChunkResult) {
        let clean = self.lot.look_over();
        for place in from..self.lot.planned.len() {
            if self.is_unanswered(place) {
                let ending = self.shared.cut_off_by();
                result.cut(self.lot.planned[place].index, ending);
                self.shared.stop.request(ending);
                break;
            }
            let ruled = self.rule(place, clean, &mut result.totals.notes);
            self.account(place, &ruled, result);
            if result.cut.is_some() {
                break;
            }
        }
        self.shrink();
    }

    /// Whether the run was cut off, or too many cases hung, before there was an answer to the case at a place.
    fn is_unanswered(&self, place: usize) -> bool {
        self.lot.job(place).is_some_and(|job| job.outcome == Outcome::Lost)
            && (self.shared.is_time_up() || self.shared.may_have_hung_up() && self.backend.lost().is_none())
    }

    /// Gives back memory that only large cases need.
    fn shrink(&mut self) {
        let most = 4 * self.shared.lots.bytes;
        self.lot.shrink(most);
        if self.alternative.capacity() > most {
            self.alternative = Vec::new();
        }
    }

    fn rule(&mut self, place: usize, clean: bool, notes: &mut Notes) -> Ruled {
        let Self { lot, scratch, alternative, shared, .. } = self;
        let lost = Outcome::Lost;
        let job = lot.job(place);
        let outcome = job.map_or(&lost, |job| &job.outcome);
        let planned = &lot.planned[place];
        let mut another = None;
        let (seen, wrong) = match job {
            Some(job) if *outcome == Outcome::Output && !job.runs.is_empty() && !clean => {
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
                lot.inspect(place, &shared.allow, notes, is_another)
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

    /// Counts a ruling.
    fn account(&mut self, place: usize, ruled: &Ruled, result: &mut ChunkResult) {
        let Self { shared, number, lot, scratch, coverage, .. } = self;
        let planned = &lot.planned[place];
        let Some(job) = lot.job(place) else { return };
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
                totals.answers.count(key, planned.index, lot.line(place));
            }
        }
        if let Some(lacks) = planned.lacks.filter(|_| verdict == Verdict::Skip) {
            totals.skipped.count(planned.operator, lacks.of(&planned.expectation), 1);
        }
        if let Some((place_of_entry, fit)) = ruled.known
            && let Some(tally) = totals.known.get_mut(place_of_entry)
        {
            tally.counts.count(fit, class, planned.index, lot.line(place));
        }
        // Who has no place among the workers only looks again.
        if job.outcome == Outcome::TimedOut && number.is_some() {
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
            // Its line is written where it turns out to be the first of all.
            totals.note_unexpected(of, planned.index, "", class);
        }
        // Why all that is lost with a backend is lost is said once.
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
                // Which known failure passes is said with the known failures; where it fails at times, it does as it is known to.
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
            self.record(place, ruled, &mut result.cases);
        }
    }

    /// Keeps what became of a case.
    fn record(&self, place: usize, ruled: &Ruled, cases: &mut CaseResults) {
        let planned = &self.lot.planned[place];
        let Some(job) = self.lot.job(place) else { return };
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
        let exposures =
            if self.shared.expose { self.lot.exposures(place, &job.desc) } else { Exposures::default() };
        cases.push(of, self.lot.line(place), (verdict, exposures), details);
    }

    /// After a panic: the cases of the lot again, each alone, so that the one that panics is pinned down.
    pub(crate) fn run_one_by_one(&mut self, panic: &str, from: usize, result: &mut ChunkResult) {
        let indices: Vec<u64> = self.lot.planned.iter().map(|planned| planned.index).collect();
        let alone = indices.len() == 1;
        for index in indices.into_iter().skip(from) {
            if result.cut.is_some() || self.shared.stop.is_requested() {
                // The rest of the chunk has not been looked at.
                let progress = &mut result.totals.progress;
                progress.read = progress.read.min(index - result.chunk.cases.start);
                return;
            }
            let (ran, _turn) = if alone {
                (Err(panic.to_owned()), None)
            } else {
                self.read_hand(index, 1);
                let (_, turn) = self.prepare_alone(false);
                (self.run_lot(), turn)
            };
            if let Err(message) = ran {
                self.lot.crash(&message);
            }
            self.rule_lot(0, result);
        }
    }

    /// Reads the case at an index.
    pub(crate) fn read(&mut self, index: u64) -> Case {
        self.read_hand(index, 1);
        self.hand[0].case.clone()
    }

    /// Runs one case alone and thoroughly. `None` where it is none of this run's.
    pub(crate) fn examine(&mut self, case: &Case, index: u64, strategy: usize) -> Option<Examination> {
        self.hand[0] = Read { case: case.clone(), index, strategy };
        let (is_added, _turn) = self.prepare_alone(true);
        if !is_added {
            return None;
        }
        if let Err(message) = self.run_lot() {
            self.lot.crash(&message);
        }
        let clean = self.lot.look_over();
        let Ruled { ruling: (_, class), verdict, wrong, .. } = self.rule(0, clean, &mut Notes::default());
        let outcome = self.lot.job(0).map_or(Outcome::Lost, |job| job.outcome.clone());
        let evidence = wrong.and_then(|wrong| self.evidence(wrong));
        let planned = self.lot.planned.pop()?;
        self.shrink();
        Some(Examination { verdict, class, planned, outcome, evidence })
    }

    fn evidence(&self, wrong: WrongRun) -> Option<Evidence> {
        let (input, expected, actual) = self.lot.evidence(&wrong.memory);
        let bytes = (input.len() + expected.len() + actual.len()) as u64;
        (bytes <= EVIDENCE_BYTES).then(|| Evidence {
            run: wrong.kind,
            input: input.to_vec(),
            expected: expected.to_vec(),
            actual: actual.to_vec(),
            differences: wrong.differences,
        })
    }
}
