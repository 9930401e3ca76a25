//! Which case it was: a process ended, fell silent or broke the protocol while it had several.
//!
//! A fresh process is asked for the cases without an answer one by one: a question more costs far less than a process more,
//! however many of them fail. The one that it fails at is asked of a fresh process again, and is to blame only if that fails,
//! too, at the first thing that it is asked. Where a process sends more answers than it was asked for, or such as make no
//! sense, nobody knows which answer is whose: a case that fails so and passes alone was given another's answer, and those
//! that were asked before it are asked again, each with time for what comes late. Where no case does it again, the first
//! one that had no answer keeps the blame, so that a crash is never passed over; the runner finds that it passes alone, and
//! reports a flake. But where a process was silent over several cases that take their time, so that all of them together take
//! longer than the deadline, nobody hung: fewer are asked for at a time from then on. Where the time of all is up, nobody is to blame,
//! and what has no answer stays without. And where no process has ever answered anything, it is no case's doing: the backend is
//! lost, and so are all cases. So that this is known soon, a canary is asked for when the first case is found.

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

/// The search for the case that a process failed over, of some jobs that have no answer.
pub(super) struct Settlement {
    jobs: Range<usize>,
    /// How the process failed.
    first: Failure,
    search: Search,
    /// Whether time is taken for what comes late, since a first search has found nothing.
    listens: bool,
}

/// How far a search has come.
#[derive(Default)]
struct Search {
    /// Whether a case was found that fails whenever it is asked.
    is_pinned: bool,
    /// Whether something else went wrong than that several cases together took too long.
    is_troubled: bool,
    /// How long the answers took, added up.
    took: Duration,
    /// The first job that the process was asked for here.
    since: usize,
    /// What else may have done what a job was suspected of: the job and those before it.
    doubted: Option<Range<usize>>,
    /// What is yet to be asked, the first jobs last, and whether each question takes its time.
    open: Vec<(Range<usize>, bool)>,
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
    /// What there is to settle where a process failed over some jobs.
    pub(super) fn settlement(&mut self, jobs: Range<usize>, first: Failure) -> Settlement {
        self.give_up_if_dead(&first.fault);
        let search = Search::over(jobs.clone(), false);
        Settlement { jobs, first, search, listens: false }
    }

    /// Finds an outcome for each of the jobs, of a batch whose poison this is. Where a case is found that is to blame, and others behind it
    /// have no answer yet, says up to where all is settled; it is to be called again.
    pub(super) fn settle(
        &mut self,
        settlement: &mut Settlement,
        poison: &Poison,
        batch: &mut Batch,
    ) -> Option<usize> {
        let Settlement { jobs, first, search, listens } = settlement;
        if let Some(settled) = self.search(search, poison, batch) {
            return Some(settled);
        }
        if !search.is_pinned && first.is_doubtful && !*listens && !self.is_at_its_end() {
            restore(poison, jobs, batch);
            (*search, *listens) = (Search::over(jobs.clone(), true), true);
            if let Some(settled) = self.search(search, poison, batch) {
                return Some(settled);
            }
        }
        if self.is_lost() && !self.has_answered() {
            forget(jobs.clone(), batch);
        } else if search.is_pinned || self.is_at_its_end() {
            // It is written down, or nobody will ever know.
        } else if matches!(first.fault, Fault::Silent(_)) && search.is_slow(jobs.len(), self.patience()) {
            self.note_slow(jobs.len(), search.took);
        } else {
            set(jobs.start, first.fault.outcome("; no case does it again when it is run alone"), batch);
        }
        None
    }

    /// Asks for each job, in as many questions as it takes to pin what fails. Where a case is pinned, nothing can change any more what became
    /// of it and of those before it, and up to where that is so is said; to be called again.
    fn search(&mut self, search: &mut Search, poison: &Poison, batch: &mut Batch) -> Option<usize> {
        while let Some((range, listens)) = search.open.pop() {
            if range.is_empty() {
                continue;
            }
            if self.is_at_its_end() {
                // Nobody will ever know: the jobs stay lost, and the runner ends the run.
                forget(range, batch);
                continue;
            }
            let piece = range.start..range.start + step(range.len(), listens);
            if piece.end < range.end {
                search.open.push((piece.end..range.end, listens));
            }
            let is_fresh = self.is_fresh();
            if is_fresh {
                search.since = piece.start;
            }
            let earlier = search.doubted.take();
            let (tried, took) = self.try_range(piece.clone(), listens, batch);
            let Err(failure) = tried else {
                search.took += took;
                if let Some(earlier) = earlier {
                    restore(poison, &earlier, batch);
                    search.open.push((earlier, true));
                    self.renew();
                }
                continue;
            };
            let left = piece.start + failure.answered..piece.end;
            search.is_troubled |= left.len() < 2 || !matches!(failure.fault, Fault::Silent(_));
            if self.is_at_its_end() {
                search.open.push((left, listens));
                continue;
            }
            let is_pinned = is_fresh && piece.len() == 1;
            if is_pinned {
                search.is_pinned = true;
                if matches!(failure.fault, Fault::Silent(_)) {
                    self.note_hang();
                }
                set(piece.start, failure.fault.outcome(""), batch);
            } else {
                let is_doubted = failure.is_doubtful && !listens && piece.len() == 1;
                search.doubted = is_doubted.then_some(search.since..piece.end);
                search.open.push((left, listens));
            }
            self.give_up_if_dead(&failure.fault);
            // Where nothing was ever answered, a canary neither, it may yet turn out that no case is to blame.
            if is_pinned && !search.open.is_empty() && self.is_alive() {
                return Some(piece.end);
            }
        }
        None
    }
}

impl Search {
    fn over(jobs: Range<usize>, listens: bool) -> Self {
        Self { since: jobs.start, open: vec![(jobs, listens)], ..Self::default() }
    }

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

    /// Several cases were silent together since each takes its time, where they took half of the deadline one by one, and nothing else went wrong.
    #[test]
    fn a_process_is_slow_whose_cases_take_half_of_its_deadline_one_by_one() {
        let (deadline, moment) = (Duration::from_secs(10), Duration::from_millis(1));
        let took = |took| Search { took, ..Search::default() };
        assert!(took(deadline / 2).is_slow(2, deadline) && took(deadline).is_slow(300, deadline));
        assert!(
            !took((deadline / 2).saturating_sub(moment)).is_slow(2, deadline),
            "something hung, and once only"
        );
        assert!(!took(deadline).is_slow(1, deadline), "a single case that takes too long hangs");
        assert!(!Search { is_troubled: true, ..took(deadline) }.is_slow(2, deadline));
    }

    #[test]
    fn what_is_asked_for_gets_shorter_until_it_is_one_job() {
        for listens in [false, true] {
            assert_eq!(step(1, listens), 1);
            assert!((2..10_000).all(|jobs| (1..jobs).contains(&step(jobs, listens))));
        }
        assert_eq!((step(480, false), step(480, true)), (1, 30));
    }
}
