//! A prepared batch: a batch together with its expected memory.
//!
//! The image is the expected content of the whole output arena: poison, guard bytes and, at the elements, the
//! oracle's output. After a run, two comparisons of whole arenas (outputs with the image, inputs with a copy)
//! show whether everything is right, tails and holes included. Only if they differ is each job inspected.

use std::ops::Range;

use dmlcts_backend::{Batch, Job, Run, note_writes_out_of_bounds};
use dmlcts_model::{BindingOffsets, Case, Desc, Expectation, Outcome, Tensor, line};
use dmlcts_spec::Judgement;

use crate::{
    Class, Difference, Differences, Partition, Poison, Seen, Sensitivities, Sensitivity, Undeclared,
    compare::{differences, same_elements},
    known::Match,
    sensitivity::{elements, sensitivity_of, tells_places},
    tally::Notes,
};

/// Bytes of poison before and after every output, and between inputs.
const GUARD: usize = 32;
/// The start of a run's memory is a multiple of this.
const ALIGNMENT: usize = 16;

/// A run of a created operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunKind {
    /// On the case's own data.
    First,
    /// On the same data, over memory with another poison, because the expected output looks like the first
    /// poison.
    OtherPoison,
    /// On other data, because a created operator must not remember the data of an earlier run.
    OtherData,
}

impl RunKind {
    /// The content of the output's memory before the run.
    pub(crate) fn poison(self) -> Poison {
        match self {
            Self::First | Self::OtherData => Poison::FIRST,
            Self::OtherPoison => Poison::SECOND,
        }
    }
}

/// The reason for skipping a case that was not sent to the backend.
const NOT_ASKED: &str = "not asked, since it is not declared";

/// The facts about a case of the batch.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) index: u64,
    pub(crate) strategy: usize,
    pub(crate) operator: usize,
    pub(crate) judgement: Judgement,
    pub(crate) expectation: Expectation,
    /// The part of the desc that the backend did not declare, if any.
    pub(crate) lacks: Option<Undeclared>,
    /// Whether the case is valid but too large to run.
    pub(crate) too_large: bool,
    /// The known failures that match it.
    pub(crate) known: Vec<Match>,
    kinds: [RunKind; 3],
    /// The index of its job in the batch.
    job: usize,
    /// Its job, if it is not sent to the backend.
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
        self.kinds.iter().take(job.runs.len()).any(|kind| *kind == RunKind::OtherData)
    }
}

/// The run of a job that went wrong.
#[derive(Clone, Debug)]
pub(crate) struct WrongRun {
    pub(crate) kind: RunKind,
    /// Whether only the run on other data is wrong.
    pub(crate) only_other_data: bool,
    pub(crate) memory: Run,
    pub(crate) differences: Differences,
}

/// A batch, its expected memory, and what is known of its cases.
#[derive(Debug, Default)]
pub(crate) struct PreparedBatch {
    pub(crate) batch: Batch,
    pub(crate) planned: Vec<Planned>,
    /// The expected content of [`Batch::outputs`] after the run.
    image: Vec<u8>,
    /// The content of [`Batch::inputs`] before the run; empty if the backend cannot write to it.
    inputs: Vec<u8>,
    /// Whether the backend cannot write to the inputs.
    is_isolated: bool,
    /// The ranges of the output arena that hold another poison than the first.
    otherwise_poisoned: Vec<(Range<usize>, Poison)>,
    /// The lines of the cases whose line is needed, without separators.
    lines: String,
    /// The end of each case's line.
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

    /// Adds a case with a job for the backend. The caller must write the desc of the job, which may be left
    /// from an earlier job.
    pub(crate) fn add(&mut self, planned: Planned, desc: &Desc, binding: BindingOffsets) {
        let job = self.batch.jobs().len();
        self.batch.push_over(desc, binding);
        self.planned.push(Planned { job, ..planned });
    }

    /// Adds a case that is not sent to the backend, because the backend has not declared what the case needs.
    pub(crate) fn add_unasked(&mut self, planned: Planned, desc: &Desc, binding: BindingOffsets) {
        let outcome = Outcome::Unsupported(NOT_ASKED.into());
        let unasked =
            Box::new(Job { desc: Box::new(desc.clone()), binding, runs: Vec::new(), outcome, alive: 0 });
        self.planned.push(Planned { unasked: Some(unasked), ..planned });
    }

    /// The job of a case, whether it is sent to the backend or not.
    pub(crate) fn job(&self, place: usize) -> Option<&Job> {
        let planned = self.planned.get(place)?;
        planned.unasked.as_deref().or_else(|| self.batch.jobs().get(planned.job))
    }

    /// The desc of a case's job; `None` if the case is not sent to the backend.
    pub(crate) fn desc(&mut self, place: usize) -> Option<&mut Box<Desc>> {
        let planned = self.planned.get(place)?;
        let job = planned.unasked.is_none().then_some(planned.job)?;
        let (jobs, _, _) = self.batch.parts();
        jobs.get_mut(job).map(|job| &mut job.desc)
    }

    /// Keeps the line of the last case, or an empty line if it is not needed.
    pub(crate) fn keep_line(&mut self, case: Option<&Case>) {
        if let Some(case) = case {
            line::write(case, &mut self.lines);
        }
        self.ends.push(self.lines.len());
    }

    /// The line of a case; empty if it was not kept.
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

    /// The number of bytes in both arenas.
    pub(crate) fn bytes(&self) -> usize {
        self.batch.inputs.len() + self.image.len()
    }

    /// Frees memory that only a large case needs.
    pub(crate) fn shrink(&mut self, capacity: usize) {
        for arena in [&mut self.batch.inputs, &mut self.batch.outputs, &mut self.image, &mut self.inputs] {
            if arena.capacity() > capacity {
                *arena = Vec::new();
            }
        }
    }

    /// Reserves room for this many runs of one job, and no more: growing by doubling would take twice the
    /// memory of a large case.
    pub(crate) fn reserve(&mut self, runs: usize, input_bytes: usize, output_bytes: usize) {
        let room = |bytes: usize| bytes.saturating_add(2 * GUARD + ALIGNMENT).saturating_mul(runs);
        for arena in [&mut self.batch.inputs, &mut self.inputs] {
            arena.reserve_exact(room(input_bytes));
        }
        for arena in [&mut self.batch.outputs, &mut self.image] {
            arena.reserve_exact(room(output_bytes));
        }
    }

    /// Lays out the memory of one more run of the last job, which must have fewer than three. The caller
    /// writes the input. The output is poisoned in the image.
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

    /// Adds a run to the last job.
    pub(crate) fn push_run(&mut self, kind: RunKind, run: Run) {
        let (jobs, _, _) = self.batch.parts();
        if let (Some(job), Some(planned)) = (jobs.last_mut(), self.planned.last_mut()) {
            if let Some(place) = planned.kinds.get_mut(job.runs.len()) {
                *place = kind;
            }
            job.runs.push(run);
        }
    }

    /// The memory of a run during preparation: its input, and its output in the image.
    pub(crate) fn memory(&mut self, run: &Run) -> (&mut [u8], &mut [u8]) {
        (&mut self.batch.inputs[run.input.clone()], &mut self.image[run.output.clone()])
    }

    /// The sensitivities of a case with this desc.
    pub(crate) fn sensitivities(&self, place: usize, desc: &Desc) -> Sensitivities {
        // Sensitivities are only computed for cases that are sent to the backend.
        let sent = self.planned.get(place).filter(|planned| planned.unasked.is_none());
        let (Some(planned), Some(job)) = (sent, self.job(place)) else { return Sensitivities::default() };
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

    /// Prepares the memory for the run: poisons the outputs and copies the inputs. A backend that is
    /// [isolated](dmlcts_backend::Capabilities::is_isolated) cannot write to the inputs, so they are not
    /// copied.
    pub(crate) fn seal(&mut self, is_isolated: bool) {
        let outputs = &mut self.batch.outputs;
        outputs.clear();
        outputs.resize(self.image.len(), Poison::FIRST.0);
        for (range, poison) in &self.otherwise_poisoned {
            outputs[range.clone()].fill(poison.0);
        }
        self.inputs.clear();
        self.is_isolated = is_isolated;
        if !is_isolated {
            self.inputs.extend_from_slice(&self.batch.inputs);
        }
    }

    /// The content of the inputs before the run.
    fn inputs(&self) -> &[u8] {
        if self.is_isolated { &self.batch.inputs } else { &self.inputs }
    }

    /// Sets the outcome of every job to a crash with this message.
    pub(crate) fn crash(&mut self, message: &str) {
        let (jobs, _, _) = self.batch.parts();
        for job in jobs {
            job.outcome = Outcome::Crashed(message.to_owned().into());
        }
    }

    /// Returns whether all memory after a run is as expected. If not, the jobs that wrote out of bounds get
    /// [`Outcome::Strayed`].
    pub(crate) fn look_over(&mut self) -> bool {
        self.overlook_refused();
        let is_clean =
            self.batch.outputs == self.image && (self.is_isolated || self.batch.inputs == self.inputs);
        if !is_clean {
            let Self { batch, image, inputs, .. } = self;
            let jobs = 0..batch.jobs().len();
            // If the backend cannot write to the inputs, no copy exists, and no change is found.
            let input_was = |run: &Run| inputs.get(run.input.clone()).unwrap_or_default();
            note_writes_out_of_bounds(batch, jobs, GUARD, input_was, |guard| {
                image.get(guard).unwrap_or_default()
            });
        }
        is_clean
    }

    /// Copies the outputs of jobs that did not run into the image. They have no expected output, and one
    /// refusal must not cause an inspection of every other job.
    fn overlook_refused(&mut self) {
        let Self { batch, image, .. } = self;
        let (jobs, _, outputs) = batch.parts();
        for run in jobs.iter().filter(|job| job.outcome != Outcome::Output).flat_map(|job| &job.runs) {
            image[run.output.clone()].copy_from_slice(&outputs[run.output.clone()]);
        }
    }

    /// Inspects the outputs of one job and returns the first run that went wrong. If that run looks as if
    /// only arithmetic had changed the values, a later run that went wrong in another way is returned
    /// instead.
    ///
    /// `another_reading` returns whether the output of a run is that of another allowed reading.
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
            let only_other_data = kind == RunKind::OtherData && spoiled.is_none();
            let wrong = |class, differences| {
                (
                    Seen::Wrong(class),
                    Some(WrongRun { kind, only_other_data, memory: run.clone(), differences }),
                )
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
                        && (difference == Difference::Unwritten
                            || self.is_of_first_run(job, run, tensor, &found));
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

    /// The outputs of the job's runs on the same data as a run of this kind, each with its poison.
    fn poisoned(&self, planned: &Planned, job: &Job, kind: RunKind) -> Vec<(&[u8], Poison)> {
        let runs = job.runs.iter().zip(planned.kinds);
        let alike = runs.filter(|(_, other)| (*other == RunKind::OtherData) == (kind == RunKind::OtherData));
        alike
            .filter_map(|(run, kind)| Some((self.batch.outputs.get(run.output.clone())?, kind.poison())))
            .collect()
    }

    /// Whether elements that look as if arithmetic had changed them are rather other elements of the input.
    /// That holds if all of them occur in the input, and a value that this arithmetic changes for certain
    /// came through unchanged.
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

    /// Whether a later run shows that the operator remembers its first run, which was right. That holds if
    /// its output is the expected output of the first run, unless that is 0. It holds, too, if the first run
    /// would have shown any element from the wrong place, and all wrong elements are from a place of one of
    /// the inputs. Other elements come from arithmetic, which other data may go through unchanged.
    fn is_of_first_run(&self, job: &Job, run: &Run, tensor: &Tensor, found: &Differences) -> bool {
        let (Some(first), Some(input)) = (job.runs.first(), &job.desc.input) else { return false };
        let of_first = &self.image[first.output.clone()];
        let given = [first, run].map(|run| &self.inputs()[run.input.clone()]);
        let is_first = same_elements(tensor, of_first, &self.batch.outputs[run.output.clone()]);
        if is_first && elements(tensor, of_first).is_some_and(|all| all.iter().any(|one| *one != 0)) {
            return true;
        }
        let given_elements: Vec<u64> =
            given.iter().filter_map(|given| elements(input, given)).flatten().collect();
        found.first.iter().all(|wrong| given_elements.contains(&wrong.actual))
            && tells_places(&job.desc, given[0], of_first)
    }

    /// The memory of a run, for a report: the former input, the expected output, and the actual output.
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

/// The next range of an arena of this length. It starts at a multiple of the alignment and after a guard,
/// with which the arena ends already.
fn place(length: usize, bytes: usize) -> Range<usize> {
    let start = length.max(GUARD).next_multiple_of(ALIGNMENT);
    start..start + bytes
}

/// Counts writes between elements, and between the last element and the end of the tensor's memory. The
/// documentation allows them.
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
        let batch_of = |outcome: Outcome, is_isolated: bool| {
            let mut batch = PreparedBatch::default();
            batch.add(Planned::new(0, 0, 0, Judgement::default()), &case.desc, BindingOffsets::default());
            let run = batch.add_run(RunKind::First, 4, 4);
            batch.memory(&run).1.copy_from_slice(&[1, 2, 3, 4]);
            batch.push_run(RunKind::First, run);
            batch.seal(is_isolated);
            batch.batch.parts().0[0].outcome = outcome;
            batch
        };
        for is_isolated in [false, true] {
            let mut unwritten = batch_of(Outcome::Output, is_isolated);
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
