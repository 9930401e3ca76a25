//! One worker: reads cases, prepares lots of them, has them run, and rules on each.
//!
//! Everything that a case needs lives in memory that the worker uses again and again; nothing is shared with
//! other workers until a whole chunk is done.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{PoisonError, atomic::Ordering},
};

use dmlcts_backend::Backend;
use dmlcts_generate::fill;
use dmlcts_model::{BindingOffsets, Case, DataType, Desc, Expectation, Fill, List, Outcome, Tensor};
use dmlcts_spec::{Coverage, Operator, Scratch, ValidDesc, program::Values};

use crate::{
    Class, Cursor, Evidence, Poison, RunKind, Seen,
    compare::looks_poisoned,
    event::Notes,
    expect,
    lot::{Lot, Planned, WrongRun},
    panics,
    schedule::{Chunk, ChunkResult, Found, Shared},
    verdict::{Ruling, rule},
};

/// A lot is run when its arenas hold this much: little enough to stay in a core's cache.
const LOT_BYTES: usize = 256 << 10;
/// Cases above this take turns, so that the memory budget of a case is that of the run.
const LARGE: u64 = 16 << 20;
/// One case in so many runs a second time with other data.
const REMEMBER_SAMPLE: u64 = 8;
/// The other data of a second run.
const OTHER_DATA: Fill = Fill::Random { seed: 0x5EED };
/// Evidence of larger tensors is not kept.
const EVIDENCE_BYTES: u64 = 32 << 20;

/// One thread's part of a run.
pub(crate) struct Worker<'run> {
    shared: &'run Shared,
    /// This worker's place in [`Shared::busy`], where it has one.
    number: Option<usize>,
    backend: Box<dyn Backend>,
    cursor: Box<dyn Cursor + 'run>,
    case: Case,
    scratch: Scratch,
    /// The memory of the filter.
    values: Values,
    lot: Lot,
    alternative: Vec<u8>,
    /// What the cases ruled on so far exercised.
    coverage: Coverage,
}

/// Whether a case was put into the lot.
#[derive(PartialEq, Eq)]
enum Prepared {
    Added,
    LeftOut,
}

/// What running one case alone showed.
pub(crate) struct Examination {
    pub(crate) ruling: Ruling,
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
        let unit = || Tensor::packed(DataType::FLOAT32, List::from_elem(1, 1));
        let desc = Desc::usual(std::sync::Arc::clone(signature), unit(), unit());
        let mut worker = Self {
            shared,
            number,
            backend,
            cursor: shared.source.cursor(),
            case: Case { desc, binding: BindingOffsets::default(), fill: Fill::Iota },
            scratch: Scratch::default(),
            values: Values::default(),
            lot: Lot::default(),
            alternative: Vec::new(),
            coverage: Coverage::new(shared.library),
        };
        worker.set_level();
        Some(worker)
    }

    fn set_level(&mut self) {
        if self.backend.capabilities().can_set_feature_level {
            self.backend.set_feature_level(self.shared.level);
        }
    }

    /// Reads, runs and rules on the cases of a chunk, but on no more than `cap` of them.
    pub(crate) fn chunk(&mut self, chunk: &Chunk, cap: u64) -> ChunkResult {
        let mut result = ChunkResult::new(chunk, self.shared);
        let mut index = chunk.cases.start;
        let mut prepared = 0;
        while index < chunk.cases.end && !result.is_cut && !self.shared.stop.is_requested() {
            self.lot.clear();
            let first = index;
            while index < chunk.cases.end && self.lot.bytes() < LOT_BYTES && prepared < cap {
                let strategy = self.cursor.read(index, &mut self.case);
                if self.prepare(index, strategy, false) == Prepared::Added {
                    prepared += 1;
                }
                index += 1;
            }
            result.read = index - chunk.cases.start;
            self.busy(first..index);
            match self.run_lot() {
                Ok(()) => self.rule_lot(&mut result),
                Err(panic) => self.run_one_by_one(&panic, &mut result),
            }
            self.busy(0..0);
            if prepared >= cap {
                break;
            }
        }
        result.coverage.merge(&self.coverage);
        result
    }

    fn busy(&self, cases: std::ops::Range<u64>) {
        if let Some(busy) = self.number.and_then(|number| self.shared.busy.get(number)) {
            busy.0.store(cases.start, Ordering::Relaxed);
            busy.1.store(cases.end, Ordering::Relaxed);
        }
    }

    /// Judges the case in hand and adds it to the lot, with the memory of its runs.
    fn prepare(&mut self, index: u64, strategy: usize, thoroughly: bool) -> Prepared {
        let Self { shared, case, scratch, values, lot, .. } = self;
        let Some((place, operator)) = shared.operator_of(&case.desc) else { return Prepared::LeftOut };
        if shared.filter.as_ref().is_some_and(|filter| !filter.holds(case, shared.level, values)) {
            return Prepared::LeftOut;
        }
        let desc = &case.desc;
        let valid = operator.judge_valid(desc, shared.level, scratch);
        let judgement =
            valid.map_or_else(|| operator.judge(desc, shared.level, scratch), |valid| valid.judgement());
        if shared.selected_level.is_some_and(|selected| {
            valid.is_some() && operator.judge_valid(desc, selected, scratch).is_none()
        }) {
            return Prepared::LeftOut;
        }
        let mut planned = Planned::new(index, strategy, place, judgement);
        planned.declared = shared.declared.creates(desc);
        let Some(valid) = valid else {
            lot.batch.push(desc, case.binding);
            lot.planned.push(planned);
            return Prepared::Added;
        };
        planned.expectation = if judgement.questions.is_empty() {
            Expectation::Output
        } else {
            expect::open(operator, judgement.questions)
        };
        let (Some(input), Some(output)) = (&desc.input, &desc.output) else { return Prepared::LeftOut };
        let reading = expect::readings(&planned.expectation).next();
        // Each byte lies in the batch and once more in what it is compared with; three runs at most.
        let bytes = input.total_size.saturating_add(output.total_size).saturating_mul(2);
        let fits = bytes <= shared.memory && shared.declared.runs(desc);
        planned.too_large = !fits;
        if !fits && planned.expectation == Expectation::Output {
            planned.expectation = Expectation::Accept;
        }
        lot.batch.push(desc, case.binding);
        lot.planned.push(planned);
        let Some(reading) = reading.filter(|_| fits) else { return Prepared::Added };

        // `fits` bounds both sizes by the budget, and the budget by what the machine can address.
        let (input_bytes, output_bytes) = (input.total_size as usize, output.total_size as usize);
        let first = lot.add_run(RunKind::First, input_bytes, output_bytes);
        let (memory, image) = lot.memory(&first);
        fill::write(&case.fill, input.data_type, memory);
        let plan = operator.plan(valid, reading, scratch).ok();
        let plan = plan.and_then(|mut plan| plan.execute(memory, image).is_ok().then_some(plan));
        let Some(mut plan) = plan else {
            // The oracle has no output for it: all that can be asked is that it is created.
            if let Some(planned) = lot.planned.last_mut() {
                planned.expectation = Expectation::Accept;
            }
            return Prepared::Added;
        };
        let size = output.data_type.element_size().unwrap_or(1);
        let element_bytes = spanned_bytes(output, size).min(image.len());
        let repeat = thoroughly || looks_poisoned(&image[..element_bytes], size, Poison::FIRST);
        lot.push_run(RunKind::First, first.clone());
        if bytes.saturating_mul(3) > shared.memory {
            return Prepared::Added;
        }
        if repeat {
            let second = lot.add_run(RunKind::OtherPoison, input_bytes, output_bytes);
            lot.repeat_input(&first, &second);
            let (memory, image) = lot.memory(&second);
            if plan.execute(memory, image).is_ok() {
                lot.push_run(RunKind::OtherPoison, second);
            }
        }
        let is_open = !judgement.questions.is_empty();
        if !is_open && (thoroughly || is_sampled(index)) {
            let other = lot.add_run(RunKind::OtherData, input_bytes, output_bytes);
            let (memory, image) = lot.memory(&other);
            fill::write(&OTHER_DATA, input.data_type, memory);
            if plan.execute(memory, image).is_ok() {
                lot.push_run(RunKind::OtherData, other);
            }
        }
        Prepared::Added
    }

    /// Has the backend run the lot. A panic is caught, its message returned, and the backend replaced.
    fn run_lot(&mut self) -> Result<(), String> {
        self.lot.seal();
        let _turn = (self.lot.bytes() as u64 > LARGE)
            .then(|| self.shared.large.lock().unwrap_or_else(PoisonError::into_inner));
        let Self { lot, backend, .. } = self;
        let ran = panics::caught(|| catch_unwind(AssertUnwindSafe(|| backend.run(&mut lot.batch))));
        ran.map_err(|payload| {
            match (self.shared.backend)() {
                Ok(fresh) => {
                    // The old one may panic again while it is dropped; it is of no use any more.
                    let old = std::mem::replace(&mut self.backend, fresh);
                    let _ = panics::caught(|| catch_unwind(AssertUnwindSafe(|| drop(old))));
                    self.set_level();
                }
                Err(reason) => self.shared.lose_backend(reason),
            }
            panics::message(&*payload)
        })
    }

    /// Rules on every case of a lot that ran.
    fn rule_lot(&mut self, result: &mut ChunkResult) {
        let clean = self.lot.is_clean();
        for place in 0..self.lot.planned.len() {
            let (ruling, _) = self.rule(place, clean, &mut result.notes);
            self.account(place, ruling, result);
            if result.is_cut {
                break;
            }
        }
        self.lot.shrink(4 * LOT_BYTES);
    }

    fn rule(&mut self, place: usize, clean: bool, notes: &mut Notes) -> (Ruling, Option<WrongRun>) {
        let Self { lot, scratch, alternative, shared, .. } = self;
        let lost = Outcome::Lost;
        let job = lot.batch.jobs().get(place);
        let outcome = job.map_or(&lost, |job| &job.outcome);
        let planned = &lot.planned[place];
        let (seen, wrong) = match job {
            Some(job) if *outcome == Outcome::Output && !job.runs.is_empty() && !clean => {
                let operator = &shared.library.operators()[planned.operator];
                let another = |input: &[u8], actual: &[u8]| {
                    is_another_reading(
                        operator,
                        shared,
                        &job.desc,
                        planned,
                        input,
                        actual,
                        scratch,
                        alternative,
                    )
                };
                lot.inspect(place, &shared.allow, notes, another)
            }
            Some(job) if *outcome == Outcome::Output && !job.runs.is_empty() => (Seen::Same, None),
            Some(job) if *outcome == Outcome::Accepted && !job.runs.is_empty() => {
                (Seen::Wrong(Class::NotRun), None)
            }
            _ => (Seen::Nothing, None),
        };
        (rule(outcome, seen, &planned.expectation, planned.declared), wrong)
    }

    /// Counts a ruling.
    fn account(&mut self, place: usize, ruling: Ruling, result: &mut ChunkResult) {
        let Self { shared, lot, scratch, coverage, .. } = self;
        let planned = &lot.planned[place];
        let Some(job) = lot.batch.jobs().get(place) else { return };
        let (verdict, class) = ruling;
        result.ran += 1;
        result.tallies[planned.strategy].count(verdict);
        let operator = &shared.library.operators()[planned.operator];
        coverage.mark(operator, &job.desc, shared.level, planned.judgement, scratch);
        result.work.too_large += u64::from(planned.too_large);
        result.work.runs += job.runs.len() as u64;
        result.work.bytes += job.runs.iter().map(|run| run.output.len() as u64).sum::<u64>();
        if verdict.is_unexpected() {
            let found = Found {
                index: planned.index,
                strategy: planned.strategy,
                operator: planned.operator,
                verdict,
                class: class.unwrap_or(Class::Lost),
                judgement: planned.judgement,
                mode: Found::mode_of(&job.desc),
            };
            result.found.add(found);
            if shared.fail_fast {
                result.is_cut = true;
                result.read = planned.index + 1 - result.chunk.cases.start;
            }
        }
    }

    /// After a panic: the cases of the lot again, each alone, so that the one that panics is pinned down.
    fn run_one_by_one(&mut self, panic: &str, result: &mut ChunkResult) {
        let places: Vec<(u64, usize)> =
            self.lot.planned.iter().map(|planned| (planned.index, planned.strategy)).collect();
        let alone = places.len() == 1;
        for (index, strategy) in places {
            if result.is_cut || self.shared.stop.is_requested() {
                return;
            }
            let ran = if alone {
                Err(panic.to_owned())
            } else {
                self.cursor.read(index, &mut self.case);
                self.lot.clear();
                self.prepare(index, strategy, false);
                self.run_lot()
            };
            if let Err(message) = ran {
                self.lot.crash(&message);
            }
            self.rule_lot(result);
        }
    }

    /// Reads the case at an index.
    pub(crate) fn read(&mut self, index: u64) -> Case {
        self.cursor.read(index, &mut self.case);
        self.case.clone()
    }

    /// Runs one case alone and thoroughly. `None` where it is none of this run's.
    pub(crate) fn examine(&mut self, case: &Case, index: u64, strategy: usize) -> Option<Examination> {
        self.case.clone_from(case);
        self.lot.clear();
        if self.prepare(index, strategy, true) == Prepared::LeftOut {
            return None;
        }
        if let Err(message) = self.run_lot() {
            self.lot.crash(&message);
        }
        let clean = self.lot.is_clean();
        let (ruling, wrong) = self.rule(0, clean, &mut Notes::default());
        let outcome = self.lot.batch.jobs().first().map_or(Outcome::Lost, |job| job.outcome.clone());
        let evidence = wrong.and_then(|wrong| self.evidence(wrong));
        let planned = self.lot.planned.pop()?;
        self.lot.shrink(4 * LOT_BYTES);
        Some(Examination { ruling, planned, outcome, evidence })
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

/// Whether an output is that of another reading than the first, of those that open questions allow.
#[expect(clippy::too_many_arguments, reason = "the parts of a worker that are borrowed one by one")]
fn is_another_reading(
    operator: &Operator,
    shared: &Shared,
    desc: &Desc,
    planned: &Planned,
    input: &[u8],
    actual: &[u8],
    scratch: &mut Scratch,
    memory: &mut Vec<u8>,
) -> bool {
    let Some(output) = &desc.output else { return false };
    expect::readings(&planned.expectation).skip(1).any(|reading| {
        memory.clear();
        memory.resize(actual.len(), 0);
        let valid: Option<ValidDesc<'_>> = operator.judge_valid(desc, shared.level, scratch);
        valid.is_some_and(|valid| {
            expect::write_output(valid, reading, input, memory, scratch)
                && crate::compare::same_elements(output, memory, actual)
        })
    })
}

/// From the start of the first element to the end of the last, in bytes.
fn spanned_bytes(tensor: &Tensor, element_size: usize) -> usize {
    let span =
        tensor.sizes.as_ref().and_then(|sizes| dmlcts_model::span_elements(sizes, tensor.strides.as_deref()));
    usize::try_from(span.unwrap_or(0)).unwrap_or(usize::MAX).saturating_mul(element_size)
}

/// Picks one case in [`REMEMBER_SAMPLE`], spread evenly, by its index alone.
fn is_sampled(index: u64) -> bool {
    index.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32 & (REMEMBER_SAMPLE - 1) == 0
}
