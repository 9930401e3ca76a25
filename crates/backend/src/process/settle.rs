//! Which case it was: a process ended, fell silent or broke the protocol while it had several.
//!
//! The first case without an answer is tried alone, in a fresh process, since most backends answer each case as it is
//! done. Where it is innocent, the others are halved. Where a process sent more answers than it was asked for, or such as
//! make no sense, nobody knows which answer is whose: then the first case of all is the first without an answer. A case is to blame only if it is the first thing that a fresh
//! process is asked, and the process fails. Where no case does it again, the first one that had no answer keeps the blame,
//! so that a crash is never passed over; the runner finds that it passes alone, and reports a flake. And where no process
//! has ever answered anything, it is no case's doing: the backend is lost, and so are all cases.

use std::ops::Range;

use dmlcts_model::{Outcome, Phase};

use super::{Host, child::Fault, host::Failure};
use crate::Batch;

impl Fault {
    /// What becomes of the case that did it.
    fn outcome(&self, remark: &str) -> Outcome {
        match self {
            Self::Ended(how) => Outcome::Crashed(format!("{how}{remark}").into()),
            Self::Silent(_) => Outcome::TimedOut,
            Self::Wrong(what) => {
                Outcome::Failed { phase: Phase::Execute, reason: format!("{what}{remark}").into() }
            }
        }
    }
}

impl Host {
    /// Finds an outcome for each job of a range, over which the process failed.
    pub(super) fn settle(&mut self, range: Range<usize>, first: &Failure, batch: &mut Batch) {
        let whole = range.clone();
        let (mut is_pinned, mut listens) = (false, first.is_doubtful);
        let mut open = split(range);
        while let Some(range) = open.pop() {
            if self.is_lost() {
                // Nobody will ever know: the jobs stay lost, and the runner ends the run.
                forget(range, batch);
                continue;
            }
            let fresh = self.is_fresh();
            let Err(failure) = self.try_range(range.clone(), listens, batch) else { continue };
            listens |= failure.is_doubtful;
            let left = range.start + failure.answered..range.end;
            if left.len() > 1 || self.is_lost() {
                open.extend(split(left));
            } else if fresh && failure.answered == 0 {
                is_pinned = true;
                set(left.start, failure.fault.outcome(""), batch);
            } else {
                // Again, as the first thing that a process is asked.
                open.push(left);
            }
        }
        if self.is_lost() && !self.has_answered() {
            forget(whole, batch);
        } else if !is_pinned && !self.is_lost() {
            set(whole.start, first.fault.outcome("; no case does it again when it is run alone"), batch);
        }
    }
}

/// The first case of a range alone, and the halves of the others; the last one is the next one to try.
fn split(range: Range<usize>) -> Vec<Range<usize>> {
    let first = range.start..range.end.min(range.start + 1);
    let middle = first.end + (range.end - first.end) / 2;
    [middle..range.end, first.end..middle, first].into_iter().filter(|part| !part.is_empty()).collect()
}

fn set(place: usize, outcome: Outcome, batch: &mut Batch) {
    if let Some(job) = batch.parts().0.get_mut(place) {
        job.outcome = outcome;
    }
}

fn forget(range: Range<usize>, batch: &mut Batch) {
    for place in range {
        set(place, Outcome::Lost, batch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_loses_no_case_and_begins_with_the_first() {
        for end in 1..40 {
            let mut parts = split(3..3 + end);
            assert_eq!(parts.pop(), Some(3..4));
            let mut places: Vec<usize> = parts.into_iter().rev().flatten().collect();
            places.sort_unstable();
            assert_eq!(places, (4..3 + end).collect::<Vec<_>>());
        }
    }
}
