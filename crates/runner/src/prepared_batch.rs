//! A prepared batch: a batch together with what is expected of it.
//!
//! The expected memory is an image of the batch's whole output arena: poison, guard bytes and, where elements
//! are to be written, what the oracle computed. After a run, two comparisons of whole arenas (outputs against
//! the image, inputs against a copy) tell that everything is right, tails and holes included. Only where they
//! differ is a job looked at by itself.

use std::ops::Range;

use dmlcts_backend::{Batch, Job, Run, note_writes_out_of_bounds};
use dmlcts_model::{BindingOffsets, Case, Desc, Expectation, Outcome, Tensor, line};
use dmlcts_spec::Judgement;

use crate::{
    Class, Difference, Differences, Partition, Poison, Seen, Sensitivities, Sensitivity, Undeclared,
    compare::{differences, same_elements},
    event::Notes,
    known::Match,
    sensitivity::{elements, sensitivity_of, tells_places},
};

/// Bytes of poison before and behind every output, and between inputs.
const GUARD: usize = 32;
/// What a run's memory starts at a multiple of.
const ALIGNMENT: usize = 16;

/// Which run of a created operator it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunKind {
    /// The case's own data.
    First,
    /// The same data again over memory with another poison, since the result looks like the first.
    OtherPoison,
    /// Other data: a created operator must not remember what it ran on before.
    OtherData,
}

impl RunKind {
    /// What the output's memory holds before.
    pub(crate) fn poison(self) -> Poison {
        match self {
            Self::First | Self::OtherData => Poison::FIRST,
            Self::OtherPoison => Poison::SECOND,
        }
    }
}

/// Why a case is skipped that was put to nobody.
const NOT_ASKED: &str = "not asked, since it is not declared";

/// What is known of a case of the batch.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) index: u64,
    pub(crate) strategy: usize,
    pub(crate) operator: usize,
    pub(crate) judgement: Judgement,
    pub(crate) expectation: Expectation,
    /// What of the desc the backend declared no support for.
    pub(crate) lacks: Option<Undeclared>,
    /// Whether it is valid but too large to run.
    pub(crate) too_large: bool,
    /// The known failures that match it.
    pub(crate) known: Vec<Match>,
    kinds: [RunKind; 3],
    /// The place of its job in the batch.
    job: usize,
    /// Its job, where it is not put to the backend.
    unasked: Option<Box<Job>>,
}

impl Planned {
    pub(crate) fn new(index: u64, strategy: usize, operator: usize, judgement: Judgement) -> Self {
        Self {
            index,
            strategy,
            operator,
            judgement,
            expectation: Expectation::Reject,
            lacks: None,
            too_large: false,
            known: Vec::new(),
            kinds: [RunKind::First; 3],
            job: 0,
            unasked: None,
        }
    }

    /// Whether a job runs a second time on other data.
    pub(crate) fn has_other_data(&self, job: &Job) -> bool {
        self.kinds(job).any(|kind| kind == RunKind::OtherData)
    }

    /// Which runs a job has.
    fn kinds(&self, job: &Job) -> impl Iterator<Item = RunKind> {
        self.kinds.into_iter().take(job.runs.len())
    }
}

/// The run of a job that went wrong.
#[derive(Clone, Debug)]
pub(crate) struct WrongRun {
    pub(crate) kind: RunKind,
    pub(crate) memory: Run,
    pub(crate) differences: Differences,
}

/// A batch, what is expected of it, and what was found.
#[derive(Debug, Default)]
pub(crate) struct PreparedBatch {
    pub(crate) batch: Batch,
    pub(crate) planned: Vec<Planned>,
    /// What [`Batch::outputs`] must hold after the run.
    image: Vec<u8>,
    /// What [`Batch::inputs`] holds before the run, where somebody could write to it.
    inputs: Vec<u8>,
    /// Whether nobody can.
    is_apart: bool,
    /// The parts of the output arena that hold another poison than the first.
    otherwise_poisoned: Vec<(Range<usize>, Poison)>,
    /// The cases' lines, one behind the other, of those whose line is needed.
    lines: String,
    /// Where the line of each ends.
    ends: Vec<usize>,
}

impl PreparedBatch {
    pub(crate) fn clear(&mut self) {
        self.batch.clear();
        self.planned.clear();
        self.image.clear();
        self.inputs.clear();
        self.otherwise_poisoned.clear();
        self.lines.clear();
        self.ends.clear();
    }

    /// Adds a case with a job for the backend, whose desc is yet to be written: it may be what an earlier job left behind.
    pub(crate) fn add(&mut self, planned: Planned, desc: &Desc, binding: BindingOffsets) {
        let job = self.batch.jobs().len();
        self.batch.push_over(desc, binding);
        self.planned.push(Planned { job, ..planned });
    }

    /// Adds a case that the backend is not asked, since it has not declared what the case needs.
    pub(crate) fn add_unasked(&mut self, planned: Planned, desc: &Desc, binding: BindingOffsets) {
        let outcome = Outcome::Unsupported(NOT_ASKED.into());
        let unasked = Box::new(Job { desc: Box::new(desc.clone()), binding, runs: Vec::new(), outcome });
        self.planned.push(Planned { unasked: Some(unasked), ..planned });
    }

    /// The job of the case at a place, whether the backend is asked or not.
    pub(crate) fn job(&self, place: usize) -> Option<&Job> {
        let planned = self.planned.get(place)?;
        planned.unasked.as_deref().or_else(|| self.batch.jobs().get(planned.job))
    }

    /// The desc of the job at a place; `None` where the case is not put to the backend.
    pub(crate) fn desc(&mut self, place: usize) -> Option<&mut Box<Desc>> {
        let planned = self.planned.get(place)?;
        let job = planned.unasked.is_none().then_some(planned.job)?;
        let (jobs, _, _) = self.batch.parts();
        jobs.get_mut(job).map(|job| &mut job.desc)
    }

    /// Keeps the line of the case that was added last, or remembers that nobody needs it.
    pub(crate) fn keep_line(&mut self, case: Option<&Case>) {
        if let Some(case) = case {
            line::write(case, &mut self.lines);
        }
        self.ends.push(self.lines.len());
    }

    /// The line of the case at a place; empty where it was not kept.
    pub(crate) fn line(&self, place: usize) -> &str {
        let start = place.checked_sub(1).map_or(Some(&0), |before| self.ends.get(before));
        let range = start.zip(self.ends.get(place)).map_or(0..0, |(start, end)| *start..*end);
        &self.lines[range]
    }

    /// Whether a case belongs to a part of the run.
    pub(crate) fn is_of(&mut self, partition: Partition, case: &Case) -> bool {
        let start = self.lines.len();
        line::write(case, &mut self.lines);
        let is_of = partition.holds(&self.lines[start..]);
        self.lines.truncate(start);
        is_of
    }

    /// Bytes in both arenas.
    pub(crate) fn bytes(&self) -> usize {
        self.batch.inputs.len() + self.image.len()
    }

    /// Gives back memory that only a large case needs.
    pub(crate) fn shrink(&mut self, capacity: usize) {
        for arena in [&mut self.batch.inputs, &mut self.batch.outputs, &mut self.image, &mut self.inputs] {
            if arena.capacity() > capacity {
                *arena = Vec::new();
            }
        }
    }

    /// Makes room for so many runs of one job and for no more: growing by doubling would take twice what a large
    /// case needs.
    pub(crate) fn reserve(&mut self, runs: usize, input_bytes: usize, output_bytes: usize) {
        let room = |bytes: usize| bytes.saturating_add(2 * GUARD + ALIGNMENT).saturating_mul(runs);
        for arena in [&mut self.batch.inputs, &mut self.inputs] {
            arena.reserve_exact(room(input_bytes));
        }
        for arena in [&mut self.batch.outputs, &mut self.image] {
            arena.reserve_exact(room(output_bytes));
        }
    }

    /// Lays out the memory of one more run of the latest job, which has fewer than three: an input that is yet to be
    /// written, and an output that is poisoned in the image.
    pub(crate) fn add_run(&mut self, kind: RunKind, input_bytes: usize, output_bytes: usize) -> Run {
        let poison = kind.poison();
        let input = place(self.batch.inputs.len(), input_bytes);
        self.batch.inputs.resize(input.end + GUARD, poison.0);
        let start = self.image.len();
        let output = place(start, output_bytes);
        self.image.resize(output.end + GUARD, poison.0);
        if poison != Poison::FIRST {
            self.otherwise_poisoned.push((start..self.image.len(), poison));
        }
        Run { input, output }
    }

    /// Notes a laid out run in the latest job.
    pub(crate) fn push_run(&mut self, kind: RunKind, run: Run) {
        let (jobs, _, _) = self.batch.parts();
        if let (Some(job), Some(planned)) = (jobs.last_mut(), self.planned.last_mut()) {
            if let Some(place) = planned.kinds.get_mut(job.runs.len()) {
                *place = kind;
            }
            job.runs.push(run);
        }
    }

    /// The memory of a run while it is prepared: its input, and its output in the image.
    pub(crate) fn memory(&mut self, run: &Run) -> (&mut [u8], &mut [u8]) {
        (&mut self.batch.inputs[run.input.clone()], &mut self.image[run.output.clone()])
    }

    /// The sensitivity of the job at a place, with this desc.
    pub(crate) fn sensitivities(&self, place: usize, desc: &Desc) -> Sensitivities {
        let (Some(planned), Some(job)) = (self.planned.get(place), self.job(place)) else {
            return Sensitivities::default();
        };
        if planned.unasked.is_some() {
            // Nobody computed what it could have shown.
            return Sensitivities::default();
        }
        let runs = job.runs.iter().filter_map(|run| {
            let input = self.batch.inputs.get(run.input.clone())?;
            Some((input, self.image.get(run.output.clone())?))
        });
        let sensitivities = Sensitivities::of(desc, &runs, planned.has_other_data(job));
        match &planned.expectation {
            Expectation::Open(allowed) => sensitivities.with_answers(allowed),
            _ => sensitivities,
        }
    }

    /// Copies the input of one run to another of the same size.
    pub(crate) fn repeat_input(&mut self, from: &Run, to: &Run) {
        self.batch.inputs.copy_within(from.input.clone(), to.input.start);
    }

    /// Makes ready for the run: what the inputs hold is remembered, unless the backend is [apart](dmlcts_backend::Capabilities::is_apart),
    /// and the outputs are poisoned.
    pub(crate) fn seal(&mut self, is_apart: bool) {
        let outputs = &mut self.batch.outputs;
        outputs.clear();
        outputs.resize(self.image.len(), Poison::FIRST.0);
        for (range, poison) in &self.otherwise_poisoned {
            outputs[range.clone()].fill(poison.0);
        }
        self.inputs.clear();
        self.is_apart = is_apart;
        if !is_apart {
            self.inputs.extend_from_slice(&self.batch.inputs);
        }
    }

    /// What the inputs held before the run.
    fn inputs(&self) -> &[u8] {
        if self.is_apart { &self.batch.inputs } else { &self.inputs }
    }

    /// Writes down that the backend panicked over these jobs.
    pub(crate) fn crash(&mut self, message: &str) {
        let (jobs, _, _) = self.batch.parts();
        for job in jobs {
            job.outcome = Outcome::Crashed(message.to_owned().into());
        }
    }

    /// Looks at the memory after a run: whether all of it is exactly as it should be. Where it is not, jobs that wrote to what is
    /// not theirs have strayed.
    pub(crate) fn look_over(&mut self) -> bool {
        self.overlook_refused();
        let is_clean =
            self.batch.outputs == self.image && (self.is_apart || self.batch.inputs == self.inputs);
        if !is_clean {
            let Self { batch, image, inputs, .. } = self;
            let jobs = 0..batch.jobs().len();
            // Where nobody can write to inputs, none were kept, and nothing is found there.
            let input_was = |run: &Run| inputs.get(run.input.clone()).unwrap_or_default();
            note_writes_out_of_bounds(batch, jobs, GUARD, input_was, |guard| {
                image.get(guard).unwrap_or_default()
            });
        }
        is_clean
    }

    /// Takes the output memory of jobs that were not run as it is: nothing is expected of it, and one refusal
    /// in a batch must not make every other job be looked at.
    fn overlook_refused(&mut self) {
        let Self { batch, image, .. } = self;
        let (jobs, _, outputs) = batch.parts();
        for run in jobs.iter().filter(|job| job.outcome != Outcome::Output).flat_map(|job| &job.runs) {
            image[run.output.clone()].copy_from_slice(&outputs[run.output.clone()]);
        }
    }

    /// Looks at the outputs of one job, and at the first of its runs that went wrong; where that looks as if only arithmetic had
    /// spoiled it, at the others, too, which may tell better. Where several readings are
    /// allowed, `another_reading` is asked whether the output of a run is that of another one.
    pub(crate) fn inspect(
        &self,
        place: usize,
        allow: &[Difference],
        notes: &mut Notes,
        mut another_reading: impl FnMut(&[u8], &[u8]) -> bool,
    ) -> (Seen, Option<WrongRun>) {
        let (Some(planned), Some(job)) = (self.planned.get(place), self.job(place)) else {
            return (Seen::Wrong(Class::Lost), None);
        };
        let Some(tensor) = &job.desc.output else { return (Seen::Nothing, None) };
        let mut spoiled: Option<(Seen, Option<WrongRun>)> = None;
        for (run, kind) in job.runs.iter().zip(planned.kinds) {
            let wrong = |class, differences| {
                (Seen::Wrong(class), Some(WrongRun { kind, memory: run.clone(), differences }))
            };
            let (Some(expected), Some(actual)) =
                (self.image.get(run.output.clone()), self.batch.outputs.get(run.output.clone()))
            else {
                return wrong(Class::Lost, Differences::default());
            };
            if expected == actual {
                continue;
            }
            if !same_elements(tensor, expected, actual) {
                let found = differences(tensor, expected, actual, &self.poisoned(planned, job, kind));
                let forgiven: u64 = allow.iter().map(|kind| found.counts[*kind as usize]).sum();
                if found.wrong() > forgiven && !another_reading(&self.inputs()[run.input.clone()], actual) {
                    let difference = found.gravest().unwrap_or(Difference::WrongValue);
                    if difference.is_of_arithmetic() {
                        let is_sure = planned.has_other_data(job)
                            || !self.is_of_places((&job.desc, run), &found, difference);
                        let class = Class::Output(if is_sure { difference } else { Difference::WrongValue });
                        spoiled.get_or_insert_with(|| wrong(class, found));
                        continue;
                    }
                    let remembers = kind == RunKind::OtherData
                        && spoiled.is_none()
                        && (difference == Difference::Unwritten || self.is_of_first_run(job, run, tensor));
                    return wrong(
                        if remembers { Class::Remembered } else { Class::Output(difference) },
                        found,
                    );
                }
                notes.forgiven += u64::from(found.wrong() <= forgiven);
            }
            note_spare_bytes(tensor, expected, actual, notes);
        }
        spoiled.unwrap_or((Seen::Same, None))
    }

    /// What the runs of a job left behind that are on the same data as one of this kind, each with what was there before.
    fn poisoned(&self, planned: &Planned, job: &Job, kind: RunKind) -> Vec<(&[u8], Poison)> {
        let runs = job.runs.iter().zip(planned.kinds);
        let alike = runs.filter(|(_, other)| (*other == RunKind::OtherData) == (kind == RunKind::OtherData));
        alike
            .filter_map(|(run, kind)| Some((self.batch.outputs.get(run.output.clone())?, kind.poison())))
            .collect()
    }

    /// Whether elements that look as if arithmetic had spoiled them are rather others of the input: all of them stand in it, and
    /// one that arithmetic spoils came through.
    fn is_of_places(&self, (desc, run): (&Desc, &Run), found: &Differences, difference: Difference) -> bool {
        let (Some(input), Some(output)) = (&desc.input, &desc.output) else { return false };
        let memory = |tensor: &Tensor, memory: &[u8]| elements(tensor, memory).unwrap_or_default();
        let mut given = memory(input, &self.inputs()[run.input.clone()]);
        given.sort_unstable();
        let expected = memory(output, &self.image[run.output.clone()]);
        let actual = memory(output, &self.batch.outputs[run.output.clone()]);
        let came_through = expected.iter().zip(&actual).any(|(expected, actual)| {
            expected == actual && sensitivity_of(difference, output.data_type, *expected) == Sensitivity::Yes
        });
        came_through && found.first.iter().all(|wrong| given.binary_search(&wrong.actual).is_ok())
    }

    /// Whether a later run shows that the operator remembers its first one, which was right: it gives what was right then, or it
    /// goes wrong where the first run would have shown any element from the wrong place.
    fn is_of_first_run(&self, job: &Job, run: &Run, tensor: &Tensor) -> bool {
        let Some(first) = job.runs.first() else { return false };
        let of_first = &self.image[first.output.clone()];
        same_elements(tensor, of_first, &self.batch.outputs[run.output.clone()])
            || tells_places(&job.desc, &self.inputs()[first.input.clone()], of_first)
    }

    /// The memory of a run, for a report: the input as it was, the expected output, the actual one.
    pub(crate) fn evidence(&self, run: &Run) -> (&[u8], &[u8], &[u8]) {
        let inputs = self.inputs();
        let of = |arena: &[u8], range: &Range<usize>| -> Range<usize> {
            range.start.min(arena.len())..range.end.min(arena.len())
        };
        (
            &inputs[of(inputs, &run.input)],
            &self.image[of(&self.image, &run.output)],
            &self.batch.outputs[of(&self.batch.outputs, &run.output)],
        )
    }
}

/// Where the next range of an arena lies: at a multiple of the alignment, and behind a guard, which ends what
/// the arena holds already.
fn place(length: usize, bytes: usize) -> Range<usize> {
    let start = length.max(GUARD).next_multiple_of(ALIGNMENT);
    start..start + bytes
}

/// Counts writes between elements, and between the last element and the end of the tensor's memory. The
/// documentation lets an implementation write there.
fn note_spare_bytes(tensor: &Tensor, expected: &[u8], actual: &[u8], notes: &mut Notes) {
    let (Some(sizes), Some(size)) = (&tensor.sizes, tensor.data_type.element_size()) else { return };
    let span = dmlcts_model::span_elements(sizes, tensor.strides.as_deref()).unwrap_or(0);
    let end = usize::try_from(span).unwrap_or(usize::MAX).saturating_mul(size).min(expected.len());
    notes.tails += u64::from(expected[end..] != actual[end..]);
    if tensor.strides.is_some() {
        let mut elements = vec![false; end / size.max(1)];
        for offset in dmlcts_model::Offsets::new(sizes, tensor.strides.as_deref()) {
            if let Some(element) = usize::try_from(offset).ok().and_then(|offset| elements.get_mut(offset)) {
                *element = true;
            }
        }
        let hole = |place: usize| {
            !elements[place] && expected[place * size..][..size] != actual[place * size..][..size]
        };
        notes.holes += u64::from((0..elements.len()).any(hole));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_job_leaves_the_batch_clean_and_a_write_beside_it_does_not() {
        let library = dmlcts_spec::Library::embedded();
        let text = "SLICE UINT8 in=4 out=4 Offsets=0 Sizes=4 Strides=1 fill=iota";
        let case = dmlcts_model::line::parse(text, library.signatures()).unwrap();
        let batch_of = |outcome: Outcome, is_apart: bool| {
            let mut batch = PreparedBatch::default();
            batch.add(Planned::new(0, 0, 0, Judgement::default()), &case.desc, BindingOffsets::default());
            let run = batch.add_run(RunKind::First, 4, 4);
            batch.memory(&run).1.copy_from_slice(&[1, 2, 3, 4]);
            batch.push_run(RunKind::First, run);
            batch.seal(is_apart);
            batch.batch.parts().0[0].outcome = outcome;
            batch
        };
        for is_apart in [false, true] {
            let mut unwritten = batch_of(Outcome::Output, is_apart);
            assert!(!unwritten.look_over());
            assert_eq!(
                unwritten.batch.jobs()[0].outcome,
                Outcome::Output,
                "nothing lies where it should not"
            );
        }
        let mut refused = batch_of(Outcome::Unsupported("no".into()), false);
        assert!(refused.look_over());
        let end = refused.batch.jobs()[0].runs[0].output.end;
        refused.batch.outputs[end] ^= 1;
        assert!(!refused.look_over());
        let outcome = &refused.batch.jobs()[0].outcome;
        assert!(matches!(outcome, Outcome::Strayed(_)), "whatever it says: {outcome:?}");
    }
}
