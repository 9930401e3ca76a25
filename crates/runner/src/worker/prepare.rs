//! Preparing a case that was judged: filling its input, computing what its output must be, and adding all that to the lot.
//!
//! This happens once for every case of a run, in memory that is used again and again.

use std::sync::{MutexGuard, PoisonError};

use dmlcts_generate::fill;
use dmlcts_model::{Expectation, Fill, Tensor, element_count};

use super::{
    Worker,
    hand::{Judged, Read},
};
use crate::{
    Poison, RunKind, Undeclared,
    compare::{float_of, looks_poisoned},
    expect,
    lot::Planned,
};

/// A case that takes more than this waits for its turn before any of its memory is allocated, lies in a lot of
/// its own, and gives its memory back before the next one's turn. So a run takes the memory budget of one case,
/// and beside it about this much a thread.
const LARGE: u64 = 16 << 20;
/// One case in so many runs a second time with other data, beside those that need it.
const REMEMBER_SAMPLE: u64 = 8;
/// And of the cases behind so many, one in four times as many: there a smaller share is still tens of thousands.
const OFTEN_REMEMBERED: u64 = 1 << 18;
/// The other data of a second run.
const OTHER_DATA: Fill = Fill::Random { seed: 0x5EED };

/// Whether a case was put into the lot.
#[derive(PartialEq, Eq)]
pub(super) enum Prepared {
    Added,
    LeftOut,
    /// Not yet: it is large, and it is to be prepared again by whoever has the [`Turn`].
    Waits,
}

/// The right to hold a large case in memory.
pub(super) type Turn<'run> = MutexGuard<'run, ()>;

impl<'run> Worker<'run> {
    /// Waits until no other thread holds a large case.
    pub(super) fn turn(&self) -> Turn<'run> {
        self.shared.large.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a case that was judged to the lot, with the memory of its runs, but for the desc of its job.
    pub(super) fn prepare(
        &mut self,
        read: &Read,
        judged: Judged<'_>,
        thoroughly: bool,
        turn: Option<&Turn<'run>>,
    ) -> Prepared {
        let Self { shared, scratch, lot, .. } = self;
        let Read { case, index, strategy } = read;
        let Some((place, valid)) = judged else { return Prepared::LeftOut };
        let operator = &shared.library.operators()[place];
        let desc = &case.desc;
        let judgement = valid.map_or_else(|judgement| judgement, |valid| valid.judgement());
        let mut planned = Planned::new(*index, *strategy, place, judgement);
        planned.lacks = shared.declared.lacks(desc);
        let Ok(valid) = valid else {
            // Everybody is to refuse what is invalid, but for an operator that they do not have.
            if planned.lacks == Some(Undeclared::Operator) {
                lot.add_unasked(planned, desc, case.binding);
            } else {
                lot.add(planned, desc, case.binding);
            }
            return Prepared::Added;
        };
        planned.expectation = if judgement.questions.is_empty() {
            Expectation::Output
        } else {
            expect::open(operator, judgement.questions)
        };
        if planned.lacks.is_some() {
            lot.add_unasked(planned, desc, case.binding);
            return Prepared::Added;
        }
        let (Some(input), Some(output)) = (&desc.input, &desc.output) else { return Prepared::LeftOut };
        let reading = expect::readings(&planned.expectation).next();
        let bytes = expect::bytes_of_a_run(input, output, &planned.expectation);
        let fits = bytes <= shared.memory && shared.declared.runs(desc);
        let most = shared.runs.most();
        let runs = if bytes.saturating_mul(most) <= shared.memory { most } else { 1 };
        let is_large = fits && reading.is_some() && bytes.saturating_mul(runs) > LARGE;
        if is_large && turn.is_none() {
            return Prepared::Waits;
        }
        planned.too_large = !fits;
        if !fits && planned.expectation == Expectation::Output {
            planned.expectation = Expectation::Accept;
        }
        lot.add(planned, desc, case.binding);
        let Some(reading) = reading.filter(|_| fits) else { return Prepared::Added };

        // `fits` bounds both sizes by the budget, and the budget by what the machine can address.
        let (input_bytes, output_bytes) = (input.total_size as usize, output.total_size as usize);
        if is_large {
            lot.reserve(runs as usize, input_bytes, output_bytes);
        }
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
        let repeat = thoroughly || looks_poisoned(output, image, Poison::FIRST);
        lot.push_run(RunKind::First, first.clone());
        if runs == 1 {
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
        if !is_open && (thoroughly || is_sampled(*index) || is_ambiguous(output, &case.fill)) {
            let other = lot.add_run(RunKind::OtherData, input_bytes, output_bytes);
            let (memory, image) = lot.memory(&other);
            fill::write(&OTHER_DATA, input.data_type, memory);
            if plan.execute(memory, image).is_ok() {
                lot.push_run(RunKind::OtherData, other);
            }
        }
        Prepared::Added
    }
}

/// Whether an element of the output that looks as if arithmetic had spoiled it may as well be another one of the input: a zero in
/// the place of a denormal, say. Special values are often so, others only where they are alone. Other data tell.
fn is_ambiguous(output: &Tensor, fill: &Fill) -> bool {
    let is_one = || output.sizes.as_ref().is_some_and(|sizes| element_count(sizes) == 1);
    let is_often = match fill {
        Fill::Special { .. } => true,
        Fill::Iota => false,
        Fill::Coordinates { .. } | Fill::Random { .. } | Fill::Explicit(_) => is_one(),
    };
    is_often && float_of(output.data_type).is_some()
}

/// Picks one case in so many, spread evenly, by its index alone.
fn is_sampled(index: u64) -> bool {
    let one_in = if index < OFTEN_REMEMBERED { REMEMBER_SAMPLE } else { 4 * REMEMBER_SAMPLE };
    index.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32 & (one_in - 1) == 0
}

#[cfg(test)]
mod tests {
    use dmlcts_backend::Backend as _;

    use super::*;
    use crate::schedule::Shared;

    #[test]
    fn a_large_case_takes_no_memory_before_its_turn() {
        let library = dmlcts_spec::Library::embedded();
        let text = "SLICE1 UINT8 in=8388608 out=8388608 InputWindowOffsets=0 InputWindowSizes=8388608 \
                    InputWindowStrides=1 fill=iota";
        let case = dmlcts_model::line::parse(text, library.signatures()).unwrap();
        let backend = || Box::new(dmlcts_reference::Reference::backend());
        let run = crate::Run {
            library,
            source: std::sync::Arc::new(crate::Listed::new(vec![case.clone()], "listed")),
            backend: std::sync::Arc::new(move || Ok(backend())),
            configuration: crate::Configuration::default(),
            stop: crate::Stop::default(),
        };
        let capabilities = backend().capabilities().clone();
        let level = capabilities.feature_level;
        let chunks = crate::schedule::Chunks::new(0..1, 1);
        let shared = Shared::new(&run, &capabilities, level, None, 1, 1, chunks);
        let mut worker = Worker::new(&shared, None, backend()).unwrap();
        worker.hand[0].case.clone_from(&case);
        assert!(worker.prepare_hand(1, false, None).waits);
        assert_eq!((worker.lot.bytes(), worker.lot.planned.len(), worker.lot.batch.jobs().len()), (0, 0, 0));
        let turn = worker.turn();
        assert_eq!(worker.prepare_hand(1, false, Some(&turn)).added, 1);
        assert!(worker.lot.bytes() >= 2 * 8_388_608);
        worker.lot.clear();
        worker.shrink();
        assert_eq!(worker.lot.batch.inputs.capacity(), 0, "and gives it back");
    }
}
