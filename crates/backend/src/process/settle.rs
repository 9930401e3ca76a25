//! Which case it was: a process ended, fell silent or broke the protocol while it had several.
//!
//! A fresh process is asked for the cases without an answer one by one: a question more costs far less than a process more,
//! however many of them fail. The one that it fails at is asked of a fresh process again, and is to blame only if that fails,
//! too, at the first thing that it is asked. Where a process sends more answers than it was asked for, or such as make no
//! sense, nobody knows which answer is whose: a case that fails so and passes alone was given another's answer, and those
//! that were asked before it are asked again, each with time for what comes late. Where no case does it again, the first
//! one that had no answer keeps the blame, so that a crash is never passed over; the runner finds that it passes alone, and
//! reports a flake. But where a process was silent over several cases that take their time, so that all of them together take
//! longer than the deadline, nobody hung: fewer are asked for at a time from then on. And where no process has ever answered anything, it is no case's doing: the backend is lost, and so are
//! all cases.

use std::{ops::Range, time::Duration};

use dmlcts_model::{Outcome, Phase};

use super::{Host, answers::Failure, child::Fault, poison::Poison};
use crate::Batch;

/// In about so many questions a process is asked for the jobs of a range: more would take longer than another process, where
/// there are thousands of jobs.
const QUESTIONS: usize = 512;
/// The same where each question takes time for what comes late.
const LISTENING_QUESTIONS: usize = 16;

/// A process was silent since it is slow where the cases took more than one part in so many of its deadline when they were asked in small
/// questions. What is asked ahead may have been busy with as much again, and no machine is equally quick all the time.
const SLOW: u32 = 2;

/// What a search came to.
#[derive(Default)]
struct Search {
    /// Whether a case was found that fails whenever it is asked.
    is_pinned: bool,
    /// Whether something else went wrong than that several cases together took too long.
    is_troubled: bool,
    /// How long the answers took, added up.
    took: Duration,
}

impl Fault {
    /// What becomes of the case that did it.
    fn outcome(&self, remark: &str) -> Outcome {
        match self {
            Self::Ended(how) => Outcome::Crashed(format!("{how}{remark}").into()),
            Self::Silent(_) => Outcome::TimedOut,
            Self::Wrong(_) | Self::Version(_) => {
                Outcome::Failed { phase: Phase::Execute, reason: format!("{self}{remark}").into() }
            }
        }
    }
}

impl Host {
    /// Finds an outcome for each job of a range, over which the process failed. `poison` is that of all jobs of the batch.
    pub(super) fn settle(
        &mut self,
        range: Range<usize>,
        first: &Failure,
        poison: &Poison,
        batch: &mut Batch,
    ) {
        self.give_up_if_dead(&first.fault);
        let mut found = self.search(range.clone(), false, poison, batch);
        if !found.is_pinned && first.is_doubtful && !self.is_lost() {
            restore(poison, &range, batch);
            found = self.search(range.clone(), true, poison, batch);
        }
        if self.is_lost() && !self.has_answered() {
            forget(range, batch);
        } else if found.is_pinned || self.is_lost() {
            // It is written down.
        } else if matches!(first.fault, Fault::Silent(_)) && found.is_slow(range.len(), self.patience()) {
            self.note_slow(range.len(), found.took);
        } else {
            set(range.start, first.fault.outcome("; no case does it again when it is run alone"), batch);
        }
    }

    /// Asks for each job of a range, in as many questions as it takes to pin what fails, and returns what was found.
    /// With `listens`, each question takes its time.
    fn search(&mut self, range: Range<usize>, listens: bool, poison: &Poison, batch: &mut Batch) -> Search {
        let mut found = Search::default();
        // The first job that the process was asked for here.
        let mut since = range.start;
        // What else may have done what a job was suspected of: the job and those before it.
        let mut doubted: Option<Range<usize>> = None;
        let mut open = vec![(range, listens)];
        while let Some((range, listens)) = open.pop() {
            if range.is_empty() {
                continue;
            }
            if self.is_lost() {
                // Nobody will ever know: the jobs stay lost, and the runner ends the run.
                forget(range, batch);
                continue;
            }
            let piece = range.start..range.start + step(range.len(), listens);
            if piece.end < range.end {
                open.push((piece.end..range.end, listens));
            }
            let is_fresh = self.is_fresh();
            if is_fresh {
                since = piece.start;
            }
            let earlier = doubted.take();
            let (tried, took) = self.try_range(piece.clone(), listens, batch);
            let Err(failure) = tried else {
                found.took += took;
                if let Some(earlier) = earlier {
                    restore(poison, &earlier, batch);
                    open.push((earlier, true));
                    self.renew();
                }
                continue;
            };
            let left = piece.start + failure.answered..piece.end;
            found.is_troubled |= left.len() < 2 || !matches!(failure.fault, Fault::Silent(_));
            if self.is_lost() {
                open.push((left, listens));
                continue;
            }
            if is_fresh && piece.len() == 1 {
                found.is_pinned = true;
                set(piece.start, failure.fault.outcome(""), batch);
            } else {
                doubted = (failure.is_doubtful && !listens && piece.len() == 1).then_some(since..piece.end);
                open.push((left, listens));
            }
            self.give_up_if_dead(&failure.fault);
        }
        found
    }
}

impl Search {
    /// Whether a process was silent over so many cases since they take that long, and none of them hangs.
    fn is_slow(&self, cases: usize, patience: Duration) -> bool {
        cases > 1 && !self.is_troubled && self.took * SLOW >= patience
    }
}

/// For how many of so many jobs a process is asked at a time: one of the usual few hundred.
fn step(jobs: usize, listens: bool) -> usize {
    jobs.div_ceil(if listens { LISTENING_QUESTIONS } else { QUESTIONS })
}

fn restore(poison: &Poison, range: &Range<usize>, batch: &mut Batch) {
    let (jobs, _, outputs) = batch.parts();
    poison.restore(range, jobs, outputs);
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
    fn what_is_asked_for_gets_shorter_until_it_is_one_job() {
        for listens in [false, true] {
            assert_eq!(step(1, listens), 1);
            assert!((2..10_000).all(|jobs| (1..jobs).contains(&step(jobs, listens))));
        }
        assert_eq!((step(480, false), step(480, true)), (1, 30));
    }
}
