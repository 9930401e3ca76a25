//! Prepares a batch: reads cases, judges them, fills their inputs and computes their expected outputs.
//!
//! This happens once for every case of a run, in memory that is reused. Each step handles a block of cases
//! before the next step starts, because the code of all steps exceeds a core's instruction cache.

use std::{ops::Range, sync::Arc};

use dmlcts_backend::Run;
use dmlcts_generate::fill;
use dmlcts_model::{BindingOffsets, Case, Expectation, Fill, Signature, Tensor, element_count};
use dmlcts_spec::{Judgement, Operator, Scratch, ValidDesc, program::Values};

use crate::{
    Cursor, Poison, RunKind, Sensitivity, Undeclared,
    compare::{float_of, looks_poisoned},
    desc_pool::{DescPool, any_desc},
    expect,
    prepared_batch::{Planned, PreparedBatch},
    shared::{LargeCasePermit, Shared},
};

/// The number of cases in a block. With 16, a case costs 53 lines of an instruction cache of 32 KiB; alone,
/// it costs 350.
const BLOCK: usize = 16;
/// A case that takes more memory than this, in bytes, is large. It needs a permit before any of its memory is
/// allocated, has a batch of its own, and frees its memory with the permit. So a run takes the memory budget
/// of one case, plus about this much for each thread.
const LARGE: u64 = 16 << 20;
/// One case in this many runs a second time on other data, besides the cases that need it.
const REMEMBER_SAMPLE: u64 = 8;
/// From this index on, the sample is a quarter as dense: it still holds tens of thousands of cases.
const OFTEN_REMEMBERED: u64 = 1 << 18;
/// The other data of a second run.
pub const OTHER_DATA: Fill = Fill::Random { seed: 0x5EED };

/// A batch that is ready for the backend.
pub(crate) struct Prepared<'run> {
    /// The range of cases that were read for the batch. Some of them may be left out.
    pub(crate) cases: Range<u64>,
    pub(crate) batch: PreparedBatch,
    /// The permit, if the only case of the batch is large.
    pub(crate) permit: Option<LargeCasePermit<'run>>,
}

/// How a case runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Manner {
    /// As a case of the run.
    InRun,
    /// As in the run, again: it is a case of this part, or was derived from one.
    Again,
    /// Again, with every kind of run.
    Thoroughly,
}

/// Prepares batches for one backend.
pub(crate) struct Preparer<'run> {
    shared: &'run Shared,
    cursor: Box<dyn Cursor + 'run>,
    block: Vec<ReadCase>,
    pool: DescPool,
    scratch: Scratch,
    /// Memory for evaluating the filter.
    values: Values,
    /// Unused batches, kept for their memory.
    spare: Vec<PreparedBatch>,
}

/// A case of a block.
struct ReadCase {
    case: Case,
    index: u64,
    strategy: usize,
}

/// The index of the operator in the library, and the judgement of the desc; `None` if the case does not
/// belong to the run.
type Judged<'a> = Option<(usize, Result<ValidDesc<'a>, Judgement>)>;

/// The result of placing a case of a block.
#[derive(PartialEq, Eq)]
enum Placed {
    InBatch,
    LeftOut,
    /// The case is large and must be prepared again with a permit.
    NeedsPermit,
}

/// How far a block was prepared.
#[derive(Default)]
struct Taken {
    /// The number of cases, from the first one on, that are in the batch or left out.
    cases: usize,
    /// Whether the next case needs a permit.
    needs_permit: bool,
}

impl<'run> Preparer<'run> {
    pub(crate) fn new(shared: &'run Shared) -> Self {
        let desc = any_desc(Arc::new(Signature { operator: String::new(), members: Vec::new() }));
        let case =
            || Case { desc: Box::new(desc.clone()), binding: BindingOffsets::default(), fill: Fill::Iota };
        Self {
            shared,
            cursor: shared.source.cursor(),
            block: (0..BLOCK).map(|_| ReadCase { case: case(), index: 0, strategy: 0 }).collect(),
            pool: DescPool::default(),
            scratch: Scratch::default(),
            values: Values::default(),
            spare: Vec::new(),
        }
    }

    /// Keeps a batch that has run, so that a later batch uses its memory.
    pub(crate) fn keep(&mut self, batch: PreparedBatch) {
        self.spare.push(batch);
    }

    /// An empty batch.
    fn empty(&mut self) -> PreparedBatch {
        let mut batch = self.spare.pop().unwrap_or_default();
        batch.clear();
        batch
    }

    /// The case at an index, and its strategy.
    pub(crate) fn read(&mut self, index: u64) -> (Case, usize) {
        self.read_block(index, 1);
        (self.block[0].case.clone(), self.block[0].strategy)
    }

    /// Prepares a batch of at most this many of the dealt cases, from the first one on. If the first one is
    /// large and another thread holds a large case, it waits, or returns `None` if `waits` is false. It also
    /// returns `None` if the run ends while it waits.
    pub(crate) fn prepare(&mut self, dealt: &Range<u64>, most: u64, waits: bool) -> Option<Prepared<'run>> {
        let (mut index, mut permit, mut batch) = (dealt.start, None, self.empty());
        while index < dealt.end && permit.is_none() && !self.is_full(&batch, most) {
            let chosen = self.shared.chosen(index..dealt.end);
            index = chosen.start;
            if chosen.is_empty() {
                break;
            }
            let room = most - batch.planned.len() as u64;
            let count = self.read_block(index, room.min(chosen.end - chosen.start));
            let taken = self.prepare_block(count, most, Manner::InRun, None, &mut batch);
            index += taken.cases as u64;
            if taken.needs_permit {
                if batch.planned.is_empty() {
                    permit = self.shared.large_case_permit(waits);
                }
                if permit.is_none() {
                    break;
                }
                self.read_block(index, 1);
                index += self.prepare_block(1, most, Manner::InRun, permit.as_ref(), &mut batch).cases as u64;
            }
        }
        if index == dealt.start {
            self.keep(batch);
            return None;
        }
        Some(Prepared { cases: dealt.start..index, batch, permit })
    }

    /// Prepares one case for a thorough check, with every kind of run. The batch is empty if the case does
    /// not belong to the run.
    pub(crate) fn prepare_alone(&mut self, case: &Case) -> Prepared<'run> {
        let mut batch = self.empty();
        self.block[0] = ReadCase { case: case.clone(), index: 0, strategy: 0 };
        let taken = self.prepare_block(1, 1, Manner::Thoroughly, None, &mut batch);
        let permit = if taken.needs_permit { self.shared.large_case_permit(true) } else { None };
        if permit.is_some() {
            self.prepare_block(1, 1, Manner::Thoroughly, permit.as_ref(), &mut batch);
        }
        Prepared { cases: 0..0, batch, permit }
    }

    /// Prepares the first of these cases, at most this many, until the batch is full or a case is large. Each
    /// has every kind of run, and its place among these cases as its index. Returns the number of the cases
    /// that are in the batch or left out.
    pub(crate) fn prepare_first(&mut self, cases: &[Case], most: u64) -> (Prepared<'run>, usize) {
        let (mut batch, mut taken) = (self.empty(), 0);
        while taken < cases.len() && !self.is_full(&batch, most) {
            self.block[0] = ReadCase { case: cases[taken].clone(), index: taken as u64, strategy: 0 };
            if self.prepare_block(1, u64::MAX, Manner::Thoroughly, None, &mut batch).needs_permit {
                break;
            }
            taken += 1;
        }
        (Prepared { cases: 0..0, batch, permit: None }, taken)
    }

    /// Prepares cases together, as a run does. A case that does not belong to the run or is large is left
    /// out.
    pub(crate) fn prepare_together<'a>(
        &mut self,
        cases: impl Iterator<Item = (&'a Case, u64, usize)>,
        manner: Manner,
    ) -> Prepared<'run> {
        let mut batch = self.empty();
        for (case, index, strategy) in cases {
            self.block[0] = ReadCase { case: case.clone(), index, strategy };
            self.prepare_block(1, u64::MAX, manner, None, &mut batch);
        }
        Prepared { cases: 0..0, batch, permit: None }
    }

    fn is_full(&self, batch: &PreparedBatch, most: u64) -> bool {
        batch.planned.len() as u64 >= most || batch.bytes() >= self.shared.batch_bytes
    }

    /// Reads cases from an index on: at most this many, and at most a block. Returns their number.
    fn read_block(&mut self, index: u64, most: u64) -> usize {
        let count = most.clamp(1, BLOCK as u64) as usize;
        for (read, index) in self.block.iter_mut().take(count).zip(index..) {
            self.pool.exchange(&mut read.case.desc, self.shared);
            read.index = index;
            read.strategy = self.cursor.read(index, &mut read.case);
            self.pool.note(&read.case.desc, self.shared);
        }
        count
    }

    /// Judges the first cases of the block and adds them to the batch until it is full. Their descs are
    /// swapped with old ones of the batch.
    fn prepare_block(
        &mut self,
        count: usize,
        most: u64,
        manner: Manner,
        permit: Option<&LargeCasePermit<'run>>,
        batch: &mut PreparedBatch,
    ) -> Taken {
        let mut block = std::mem::take(&mut self.block);
        let mut judged: [Judged<'_>; BLOCK] = [None; BLOCK];
        for (judged, read) in judged.iter_mut().zip(&block).take(count) {
            *judged = self.judge(&read.case, manner, batch);
        }
        let before = batch.planned.len();
        let (mut taken, mut places, mut added) = (Taken::default(), [0; BLOCK], 0);
        for (place, (read, judged)) in block.iter().zip(judged).take(count).enumerate() {
            match self.place(read, judged, manner, permit, batch) {
                Placed::InBatch => {
                    places[added] = place;
                    added += 1;
                    self.keep_facts(&read.case, batch);
                }
                Placed::LeftOut => {}
                Placed::NeedsPermit => {
                    taken.needs_permit = true;
                    break;
                }
            }
            taken.cases += 1;
            if self.is_full(batch, most) {
                break;
            }
        }
        for (new, place) in places.into_iter().take(added).enumerate() {
            if let (Some(desc), Some(read)) = (batch.desc(before + new), block.get_mut(place)) {
                // Swapping is cheaper than copying. The next case is written over the desc that an earlier
                // job left.
                std::mem::swap(desc, &mut read.case.desc);
            }
        }
        self.block = block;
        taken
    }

    /// Judges a case, if it belongs to the run.
    fn judge<'a>(&mut self, case: &'a Case, manner: Manner, batch: &mut PreparedBatch) -> Judged<'a>
    where
        'run: 'a,
    {
        let Self { shared, scratch, values, .. } = self;
        let (place, operator) = shared.operator_of(&case.desc)?;
        if shared
            .configuration
            .filter
            .as_ref()
            .is_some_and(|filter| !filter.holds(case, shared.level, values))
        {
            return None;
        }
        // A case that runs again comes from this part, or was derived from a case of this part.
        if manner == Manner::InRun
            && shared.configuration.partition.is_some_and(|partition| !batch.is_of(partition, case))
        {
            return None;
        }
        let valid = operator.judge_valid(&case.desc, shared.level, scratch);
        let is_left_out = shared.selected_level.is_some_and(|selected| {
            valid.is_ok() && operator.judge_valid(&case.desc, selected, scratch).is_err()
        });
        (!is_left_out).then_some((place, valid))
    }

    /// Adds a judged case to the batch, with the memory of its runs. The caller sets the desc of its job.
    fn place(
        &mut self,
        read: &ReadCase,
        judged: Judged<'_>,
        manner: Manner,
        permit: Option<&LargeCasePermit<'run>>,
        batch: &mut PreparedBatch,
    ) -> Placed {
        let shared = self.shared;
        let ReadCase { case, index, strategy } = read;
        let Some((place, valid)) = judged else { return Placed::LeftOut };
        let operator = &shared.library.operators()[place];
        let desc = &case.desc;
        let judgement = valid.map_or_else(|judgement| judgement, |valid| valid.judgement());
        let mut planned = Planned::new(*index, *strategy, place, judgement);
        planned.lacks = shared.declared.lacks(case, shared.level, &mut self.values);
        let Ok(valid) = valid else {
            // Every backend must refuse invalid descs, except those of operators that it lacks.
            if planned.lacks == Some(Undeclared::Operator) {
                batch.add_unasked(planned, desc, case.binding);
            } else {
                batch.add(planned, desc, case.binding);
            }
            return Placed::InBatch;
        };
        planned.expectation = if judgement.questions.is_empty() {
            Expectation::Output
        } else {
            expect::open(operator, judgement.questions)
        };
        if planned.lacks.is_some() {
            batch.add_unasked(planned, desc, case.binding);
            return Placed::InBatch;
        }
        let (Some(input), Some(output)) = (&desc.input, &desc.output) else { return Placed::LeftOut };
        let reading = expect::readings(&planned.expectation).next();
        let bytes = expect::bytes_of_a_run(input, output, &planned.expectation);
        let fits = bytes <= shared.configuration.memory && shared.declared.runs(desc);
        let most = shared.configuration.runs.most();
        let runs = if bytes.saturating_mul(most) <= shared.configuration.memory { most } else { 1 };
        let is_large = fits && reading.is_some() && bytes.saturating_mul(runs) > LARGE;
        if is_large && permit.is_none() {
            return Placed::NeedsPermit;
        }
        planned.too_large = !fits;
        if !fits && planned.expectation == Expectation::Output {
            planned.expectation = Expectation::Accept;
        }
        batch.add(planned, desc, case.binding);
        if let Some(reading) = reading.filter(|_| fits) {
            if is_large {
                // `fits` bounds both sizes by the memory limit, which is at most `isize::MAX`.
                batch.reserve(runs as usize, input.total_size as usize, output.total_size as usize);
            }
            let (is_repeated, thoroughly) = (runs > 1, manner == Manner::Thoroughly);
            self.lay_out((operator, valid, reading), (input, output), read, (is_repeated, thoroughly), batch);
        }
        Placed::InBatch
    }

    /// Adds the runs of the last case: their inputs and their expected outputs.
    fn lay_out(
        &mut self,
        (operator, valid, reading): (&Operator, ValidDesc<'_>, usize),
        (input, output): (&Tensor, &Tensor),
        ReadCase { case, index, .. }: &ReadCase,
        (is_repeated, thoroughly): (bool, bool),
        batch: &mut PreparedBatch,
    ) {
        let sizes = (input.total_size as usize, output.total_size as usize);
        let is_open = !valid.judgement().questions.is_empty();
        let first = batch.add_run(RunKind::First, sizes.0, sizes.1);
        let (memory, image) = batch.memory(&first);
        fill::write(&case.fill, input.data_type, memory);
        let plan = operator.plan(valid, reading, &mut self.scratch).ok();
        let plan = plan.and_then(|mut plan| plan.execute(memory, image).is_ok().then_some(plan));
        let Some(mut plan) = plan else {
            // The oracle has no output for this desc, so the backend must only accept it.
            if let Some(planned) = batch.planned.last_mut() {
                planned.expectation = Expectation::Accept;
            }
            return;
        };
        let looks_poisoned = thoroughly || looks_poisoned(output, image, Poison::FIRST);
        batch.push_run(RunKind::First, first.clone());
        if !is_repeated {
            return;
        }
        let mut repeat = |kind, write: &dyn Fn(&mut PreparedBatch, &Run)| {
            let run = batch.add_run(kind, sizes.0, sizes.1);
            write(batch, &run);
            let (memory, image) = batch.memory(&run);
            if plan.execute(memory, image).is_ok() {
                batch.push_run(kind, run);
            }
        };
        if looks_poisoned {
            repeat(RunKind::OtherPoison, &|batch, run| batch.repeat_input(&first, run));
        }
        if !is_open && (thoroughly || is_sampled(*index) || is_ambiguous(output, &case.fill)) {
            let write = |batch: &mut PreparedBatch, run: &Run| {
                fill::write(&OTHER_DATA, input.data_type, batch.memory(run).0);
            };
            repeat(RunKind::OtherData, &write);
        }
    }

    /// Keeps facts about the last case that are needed later: its line and the known failures that match it.
    fn keep_facts(&mut self, case: &Case, batch: &mut PreparedBatch) {
        let Self { shared, values, .. } = self;
        let is_kept = shared.configuration.record || !shared.configuration.known.is_empty();
        let is_open = |planned: &Planned| matches!(planned.expectation, Expectation::Open(_));
        // One example of each answer to an open question is kept.
        batch.keep_line((is_kept || batch.planned.last().is_some_and(is_open)).then_some(case));
        if shared.configuration.known.is_empty() {
            return;
        }
        let place = batch.planned.len().saturating_sub(1);
        let known = batch.planned.last().map(|planned| {
            let about = (batch.line(place), &planned.expectation);
            let sensitivities = || batch.sensitivities(place, &case.desc);
            shared.configuration.known.matching(case, about, shared.level, values, sensitivities)
        });
        if let (Some(planned), Some(mut known)) = (batch.planned.last_mut(), known) {
            // A refusal may be an answer to the question.
            let may_be_refused =
                planned.expectation == Expectation::Reject && !planned.judgement.questions.is_empty();
            for matched in &mut known {
                let failure = shared.configuration.known.failure(matched.place);
                // Of a case that is only created, failures of a run are not seen.
                let needs_run =
                    failure.is_some_and(|known| !known.classes.iter().any(|class| class.shows_on_creation()));
                if may_be_refused || planned.too_large && needs_run {
                    matched.sensitivity = Sensitivity::Perhaps;
                }
            }
            planned.known = known;
        }
    }
}

/// Whether an output element that looks as if arithmetic had changed it may be another element of the input
/// instead, such as a zero in place of a denormal. This is common for special values, and for other values
/// only if the output has one element. A run on other data distinguishes the two.
fn is_ambiguous(output: &Tensor, fill: &Fill) -> bool {
    let is_one = || output.sizes.as_ref().is_some_and(|sizes| element_count(sizes) == 1);
    let is_often = match fill {
        Fill::Special { .. } => true,
        Fill::Iota => false,
        Fill::Coordinates { .. } | Fill::Random { .. } | Fill::Explicit(_) => is_one(),
    };
    is_often && float_of(output.data_type).is_some()
}

/// Whether a case of a run, whose desc is not open, runs a second time on other data.
pub fn runs_on_other_data(index: u64, case: &Case) -> bool {
    is_sampled(index) || case.desc.output.as_ref().is_some_and(|output| is_ambiguous(output, &case.fill))
}

/// Whether the case at an index belongs to the sample, which is spread evenly.
fn is_sampled(index: u64) -> bool {
    let one_in = if index < OFTEN_REMEMBERED { REMEMBER_SAMPLE } else { 4 * REMEMBER_SAMPLE };
    index.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32 & (one_in - 1) == 0
}

#[cfg(test)]
mod tests {
    use dmlcts_backend::Backend as _;

    use super::*;

    #[test]
    fn a_large_case_takes_no_memory_before_its_permit() {
        let library = dmlcts_spec::Library::embedded();
        let text = "SLICE1 UINT8 in=8388608 out=8388608 InputWindowOffsets=0 InputWindowSizes=8388608 \
                    InputWindowStrides=1 fill=iota";
        let case = dmlcts_model::line::parse(text, library.signatures()).unwrap();
        let backend = || Box::new(dmlcts_reference::Reference::backend());
        let run = crate::Run {
            library,
            source: std::sync::Arc::new(crate::Listed::new(vec![case.clone()], "listed")),
            backend: std::sync::Arc::new(move |_| Ok(backend())),
            configuration: crate::Configuration::default(),
            stop: crate::Stop::default(),
        };
        let capabilities = backend().capabilities().clone();
        let level = capabilities.feature_level;
        let dealer = crate::deal::Dealer::new(0..1, 1, 1);
        let shared = Shared::new(&run, &capabilities, level, None, dealer).expect("it declares no lack");
        let mut preparer = Preparer::new(&shared);
        let mut batch = PreparedBatch::default();
        preparer.read_block(0, 1);
        assert!(preparer.prepare_block(1, 1, Manner::InRun, None, &mut batch).needs_permit);
        assert_eq!((batch.bytes(), batch.planned.len(), batch.batch.jobs().len()), (0, 0, 0));
        let elsewhere = shared.large_case_permit(true);
        preparer.keep(batch);
        assert!(preparer.prepare(&(0..1), 1, false).is_none(), "another thread holds a large case");
        assert_eq!(preparer.spare[0].bytes(), 0);
        drop(elsewhere);
        let Prepared { mut batch, permit, .. } = preparer.prepare(&(0..1), 1, false).expect("a permit");
        assert!(permit.is_some() && batch.bytes() >= 2 * 8_388_608);
        batch.clear();
        batch.shrink(4 * shared.batch_bytes);
        assert_eq!(batch.batch.inputs.capacity(), 0, "and gives it back");
    }
}
