//! Judges an answered batch. If the backend panicked over it, its cases run again one by one, to find the
//! case that causes the panic.

use crate::{
    batch_result::BatchResult,
    executor::{Answered, Executor, Panic},
};

/// Adds the results of a batch and frees it. Requires that the backend has no batch in flight if the backend
/// that had this one panicked. Returns whether all cases were read: a run that ends leaves the rest out.
pub(crate) fn judge_batch<'run>(
    executor: &mut Executor<'run>,
    answered: Answered<'run>,
    result: &mut BatchResult,
) -> bool {
    let blame = match &answered.panic {
        Some(Panic::Here(message)) if answered.batch.planned.len() > 1 => Some(message.clone()),
        Some(Panic::Elsewhere) => None,
        _ => {
            executor.examiner.add(&answered, result);
            executor.free(answered);
            return true;
        }
    };
    let cases: Vec<u64> = answered.batch.planned.iter().map(|planned| planned.index).collect();
    executor.free(answered);
    // If no case panics alone, the first one counts as crashed, so that no panic is missed. The collector
    // then finds that the case passes alone, and reports a flake.
    let mut blame = blame.filter(|_| !cases.iter().any(|index| panics_alone(executor, *index)));
    for index in cases {
        let Some(mut answered) = run(executor, index).filter(|_| result.cut.is_none()) else {
            result.end_before(index);
            return false;
        };
        if !answered.batch.batch.jobs().is_empty()
            && let Some(message) = blame.take()
        {
            answered.batch.crash(&message);
        }
        executor.examiner.add(&answered, result);
        executor.free(answered);
    }
    true
}

/// Whether the backend panics over this case alone.
fn panics_alone(executor: &mut Executor<'_>, index: u64) -> bool {
    let Some(answered) = run(executor, index) else { return false };
    let panics = answered.panic.is_some();
    executor.free(answered);
    panics
}

/// Runs one case. `None` if the run ends.
fn run<'run>(executor: &mut Executor<'run>, index: u64) -> Option<Answered<'run>> {
    if executor.shared.stop.is_requested() {
        return None;
    }
    let prepared = executor.preparer.prepare(&(index..index + 1), 1, true)?;
    Some(executor.run(prepared))
}
