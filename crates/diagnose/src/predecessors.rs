//! Tries to explain a flake, or a failure that passes as the first case of a fresh backend: runs it alone, on
//! other data, and in a fresh backend after the cases that came before it. If it fails after them each time,
//! halving finds the shortest list of cases that it needs.
//!
//! The cases of a worker are not recorded, so the nearest cases by index stand for them. The run had the same
//! cases in about the same order, but dealt them to several workers.

use dmlcts_findings::with_other_data;
use dmlcts_generate::fill;
use dmlcts_model::{Case, Fill, Tensor, packed_strides};
use dmlcts_runner::{
    DataOf, Examination, Failure, OTHER_DATA, Place, Rate, Replayed, Trials, Tried, Verdict, Way,
};
use dmlcts_spec::Scratch;

use crate::spending::Spending;

/// The cases before a flake that run again, and how many are read to find them.
const MOST: usize = 256;
const READ: u64 = 16_384;
/// The times that each trial runs. If the case fails each time, earlier cases are the reason and not chance.
const TIMES: u32 = 2;
/// The data that shows whose element a wrong one is.
const TELLING: Fill = Fill::Random { seed: 0x0DD };

/// Runs a flake after other cases.
pub(crate) struct Predecessors<'a, 'run> {
    pub(crate) trials: &'a mut Trials<'run>,
    pub(crate) spending: &'a mut Spending,
}

impl Predecessors<'_, '_> {
    /// Whether a failure passes as the first case of a fresh backend. Failures run again alone in a backend
    /// that other cases may have spoiled. False if nothing may run.
    pub(crate) fn passes_first(&mut self, failure: &Failure) -> bool {
        let victim = self.victim(failure);
        let passes = |seen: Examination| matches!(seen.verdict, Verdict::Pass | Verdict::Recorded);
        self.spending.may_run() && self.run(&[], &victim, Way::After).is_some_and(passes)
    }

    /// What trials show of a failure, which did this `alone`. If it fails after other cases, it gets the
    /// memory of that run. `None` if nothing may run. Each trial that the budget leaves out has a rate of no
    /// runs.
    pub(crate) fn tried(&mut self, flake: &mut Failure, alone: Rate) -> Option<Tried> {
        let victim = self.victim(flake);
        if !self.spending.may_run() {
            return None;
        }
        let other_data = self.on_other_data(&flake.case);
        let fresh = self.rate(&[], &victim, Way::After);
        let mut tried = Tried { alone, other_data, fresh, replayed: None };
        // Cases before it cannot matter if it fails without them.
        if fresh.failed == 0 {
            let before = self.before(flake.index);
            tried.replayed = (!before.is_empty()).then(|| self.replayed(&before, &victim, flake));
        }
        Some(tried)
    }

    /// The case of a failure, which runs after others.
    fn victim(&self, failure: &Failure) -> Place {
        (failure.case.clone(), failure.index, self.trials.strategy(&failure.strategy))
    }

    /// Runs a case alone on other data.
    fn on_other_data(&mut self, case: &Case) -> Rate {
        let mut rate = Rate { failed: 0, runs: 0 };
        for case in with_other_data(case) {
            if !self.spending.may_run() {
                break;
            }
            let alone = self.trials.examine(&case);
            self.spending.note(alone.as_ref());
            rate.count(alone.is_some_and(|alone| fails(&alone)));
        }
        rate
    }

    /// The cases of the run before an index, the nearest ones, in order.
    fn before(&mut self, index: u64) -> Vec<Place> {
        let mut found: Vec<Place> = Vec::new();
        for index in (index.saturating_sub(READ)..index).rev() {
            if found.len() >= MOST || self.spending.over().is_some() {
                break;
            }
            found.extend(self.trials.read_as_it_ran(index));
        }
        found.reverse();
        found
    }

    /// Runs the victim after and beside the cases before it, and looks for those that it needs.
    fn replayed(&mut self, before: &[Place], victim: &Place, flake: &mut Failure) -> Replayed {
        let after = self.rate(before, victim, Way::After);
        let none = Rate { failed: 0, runs: 0 };
        let beside = if after.failed == 0 { self.rate(before, victim, Way::Beside) } else { none };
        let mut replayed = Replayed {
            cases: before.len(),
            after,
            beside,
            needs: Vec::new(),
            in_one_batch: beside.is_always(),
            data: None,
        };
        // One run of two may be chance.
        let decides = |rate: Rate| rate.is_always() && rate.runs == TIMES;
        let way = if decides(after) { Way::After } else { Way::Beside };
        if !decides(after) && !decides(beside) {
            return replayed;
        }
        let needs = self.shortest(before, victim, way);
        let Some(seen) = self.run(&needs, victim, way).filter(fails) else { return replayed };
        replayed.data = self.data_of(&needs, victim, way);
        replayed.needs = needs.into_iter().map(|(case, ..)| case).collect();
        if seen.class == Some(flake.class) {
            (flake.outcome, flake.evidence) = (seen.outcome, seen.evidence);
        }
        replayed
    }

    /// A short list of cases after which the victim fails, found by halving.
    fn shortest(&mut self, before: &[Place], victim: &Place, way: Way) -> Vec<Place> {
        // The victim fails after the last `failing` cases, and passes after the last `passing`.
        let (mut passing, mut failing) = (0, before.len());
        while failing - passing > 1 {
            let middle = usize::midpoint(passing, failing);
            if !self.spending.may_run_cases(middle + 1) {
                break;
            }
            if self.run(&before[before.len() - middle..], victim, way).as_ref().is_some_and(fails) {
                failing = middle;
            } else {
                passing = middle;
            }
        }
        let mut needs = before[before.len() - failing..].to_vec();
        // If halving finished, the first one is needed. Of the others, parts are left out.
        let mut part = needs.len() - 1;
        while part > 0 {
            let mut start = 1;
            while start < needs.len() {
                if !self.spending.may_run_cases(needs.len()) {
                    return needs;
                }
                let mut fewer = needs.clone();
                fewer.drain(start..(start + part).min(needs.len()));
                if self.run(&fewer, victim, way).as_ref().is_some_and(fails) {
                    needs = fewer;
                } else {
                    start += part;
                }
            }
            part /= 2;
        }
        needs
    }

    /// Which data of the last case that the victim needs its wrong elements are. That case runs with telling
    /// data, so that equal elements are no chance.
    fn data_of(&mut self, needs: &[Place], victim: &Place, way: Way) -> Option<DataOf> {
        let mut needs = needs.to_vec();
        let last = &mut needs.last_mut()?.0;
        // The case may have run a second time, on other data.
        let mut memories = Vec::new();
        for fill in [OTHER_DATA, TELLING] {
            last.fill = fill;
            let (input, output) = memory(self.trials, last)?;
            memories.extend([(DataOf::Output, output), (DataOf::Input, input)]);
        }
        if !self.spending.may_run_cases(needs.len() + 1) {
            return None;
        }
        let evidence = self.run(&needs, victim, way)?.evidence?;
        let tensor = victim.0.desc.output.as_ref()?;
        let size = tensor.data_type.element_size()?;
        let wrong = &evidence.differences.first;
        let is_of = |memory: &[u8]| {
            wrong.len() > 1
                && wrong.iter().all(|wrong| {
                    let place = offset(tensor, &wrong.coordinates).and_then(|at| at.checked_mul(size));
                    let element = place.and_then(|start| memory.get(start..start.saturating_add(size)));
                    element.is_some() && element == wrong.actual.to_le_bytes().get(..size)
                })
        };
        memories.into_iter().find_map(|(data, memory)| is_of(&memory).then_some(data))
    }

    /// How often a case fails after others, in a fresh backend each time.
    fn rate(&mut self, before: &[Place], victim: &Place, way: Way) -> Rate {
        let mut rate = Rate { failed: 0, runs: 0 };
        for _ in 0..TIMES {
            if !self.spending.may_run_cases(before.len() + 1) {
                break;
            }
            let Some(seen) = self.run(before, victim, way) else { break };
            rate.count(fails(&seen));
        }
        rate
    }

    /// Runs a case after others in a fresh backend. `None` if the backend does not start.
    fn run(&mut self, before: &[Place], victim: &Place, way: Way) -> Option<Examination> {
        let last = self.trials.run_after(before, victim, way);
        self.spending.count(before.len());
        self.spending.note(last.as_ref());
        last
    }
}

/// Whether a case failed.
fn fails(seen: &Examination) -> bool {
    seen.verdict.is_unexpected() && !matches!(seen.verdict, Verdict::UnexpectedPass | Verdict::Lost)
}

/// The number of elements before the one at these coordinates in the memory of a tensor.
fn offset(tensor: &Tensor, coordinates: &[i64]) -> Option<usize> {
    let sizes = tensor.sizes.as_ref()?;
    let packed = packed_strides(sizes);
    let strides = tensor.strides.as_ref().unwrap_or(&packed);
    let offset: i64 = strides.iter().zip(coordinates).map(|(stride, at)| stride * at).sum();
    usize::try_from(offset).ok()
}

/// The memory of a valid case: its input, and the output of its semantics.
fn memory(trials: &Trials<'_>, case: &Case) -> Option<(Vec<u8>, Vec<u8>)> {
    let operator = trials.library().operator(&case.desc.signature.operator)?;
    let mut scratch = Scratch::default();
    let (input, output) = (case.desc.input.as_ref()?, case.desc.output.as_ref()?);
    let valid = operator.judge_valid(&case.desc, trials.level(), &mut scratch).ok()?;
    if input.total_size.saturating_add(output.total_size) > trials.memory() {
        return None;
    }
    let [mut read, mut written] = [input, output].map(|tensor| vec![0; tensor.total_size as usize]);
    fill::write(&case.fill, input.data_type, &mut read);
    operator.plan(valid, 0, &mut scratch).ok()?.execute(&read, &mut written).ok()?;
    Some((read, written))
}
