//! Deals the cases of a run to its workers.

use std::{
    ops::Range,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

use crate::Stop;

/// The maximum number of batches that were dealt and not reported, while an earlier case is with another
/// worker. It bounds the results that wait, and those that are lost with the program if one case takes long.
const WINDOW: u64 = 256;

/// Deals cases: always the first ones that no worker has, and a bounded number of batches ahead of the oldest
/// that is not reported.
#[derive(Debug)]
pub(crate) struct Dealer {
    /// The maximum number of cases of a batch.
    most: u64,
    /// The number of cases dealt for each case of a batch, since some may be left out.
    reach: u64,
    dealing: Mutex<Dealing>,
    moved: Condvar,
}

#[derive(Debug)]
struct Dealing {
    /// The cases that no worker has, in order: those that were given back, and the rest.
    left: Vec<Range<u64>>,
    /// The number of workers that may still give cases back.
    preparing: u64,
    /// The number of batches that were dealt and not reported.
    out: u64,
    /// The next case to report.
    next: u64,
    /// The end of all cases.
    end: u64,
}

impl Dealing {
    /// Whether enough batches wait for a case that a worker has. If no worker has that case, it must be
    /// dealt.
    fn is_far(&self) -> bool {
        self.out >= WINDOW && self.left.first().is_some_and(|first| first.start > self.next)
    }

    /// Whether no worker has the next case to deal, and none will give one back.
    fn is_over(&self) -> bool {
        self.left.is_empty() && self.preparing == 0
    }

    /// Whether the next cases to deal precede this one.
    fn precede(&self, newest: u64) -> bool {
        self.left.first().is_some_and(|first| first.start < newest)
    }

    fn deal(&mut self, most: u64) -> Option<Range<u64>> {
        let first = self.left.first_mut()?;
        let end = first.start.saturating_add(most).min(first.end);
        let cases = first.start..end;
        first.start = end;
        self.left.retain(|cases| !cases.is_empty());
        self.out += 1;
        self.preparing += 1;
        Some(cases)
    }
}

impl Dealer {
    /// Deals these cases, at most `most` times `reach` for a batch. `reach` is above 1 if some cases may be
    /// left out.
    pub(crate) fn new(cases: Range<u64>, most: u64, reach: u64) -> Self {
        let (next, end) = (cases.start, cases.end);
        let mut left = vec![cases];
        left.retain(|cases| !cases.is_empty());
        let dealing = Mutex::new(Dealing { left, preparing: 0, out: 0, next, end });
        Self { most: most.max(1), reach: reach.max(1), dealing, moved: Condvar::new() }
    }

    /// Returns the cases for a batch of at most this size, as soon as they are not too far ahead. The worker
    /// must call [`Dealer::give_back`] when it has prepared its batch. `None` if no case is left or the run
    /// is to end.
    ///
    /// `newest` is the first case of the worker's newest unfinished batch. `finish` finishes all its batches.
    /// It is called before this blocks, and before the worker gets cases that precede `newest`: otherwise
    /// those would wait for a later case that hangs.
    pub(crate) fn next(
        &self,
        cases: u64,
        stop: &Stop,
        newest: u64,
        finish: impl FnOnce(),
    ) -> Option<Range<u64>> {
        let most = cases.clamp(1, self.most).saturating_mul(self.reach);
        let mut finish = Some(finish);
        let mut dealing = self.dealing();
        while !stop.is_requested() {
            let blocks = dealing.is_far() || dealing.left.is_empty() && !dealing.is_over();
            dealing = if let Some(finish) = finish.take_if(|_| blocks || dealing.precede(newest)) {
                // Other workers may deal and report meanwhile, so the check repeats.
                drop(dealing);
                finish();
                self.dealing()
            } else if blocks {
                self.moved.wait(dealing).unwrap_or_else(PoisonError::into_inner)
            } else {
                return dealing.deal(most);
            };
        }
        None
    }

    /// The maximum number of cases of a batch.
    pub(crate) fn most(&self) -> u64 {
        self.most
    }

    /// Whether no case is left to deal, and no worker will give one back.
    pub(crate) fn is_over(&self) -> bool {
        self.dealing().is_over()
    }

    /// Takes back the dealt cases that are not in the worker's batch, if there are any.
    pub(crate) fn give_back(&self, mut cases: Range<u64>) {
        let mut dealing = self.dealing();
        dealing.preparing = dealing.preparing.saturating_sub(1);
        if !cases.is_empty() {
            let left = &mut dealing.left;
            let place = left.partition_point(|before| before.start < cases.start);
            if let Some(behind) = left.get(place).filter(|behind| behind.start == cases.end) {
                cases.end = behind.end;
                left.remove(place);
            }
            left.insert(place, cases);
        }
        drop(dealing);
        self.wake();
    }

    /// The next case to report.
    pub(crate) fn due(&self) -> u64 {
        self.dealing().next
    }

    /// The cases that were dealt, and are neither reported nor in these results, which are in order.
    pub(crate) fn missing(&self, results: impl Iterator<Item = Range<u64>>) -> Vec<Range<u64>> {
        let dealing = self.dealing();
        let mut known: Vec<Range<u64>> = dealing.left.iter().cloned().chain(results).collect();
        known.sort_unstable_by_key(|cases| cases.start);
        known.push(dealing.end..dealing.end);
        let mut next = dealing.next;
        let before = known.into_iter().map(|known| {
            let missing = next..known.start;
            next = known.end;
            missing
        });
        before.filter(|missing| !missing.is_empty()).collect()
    }

    fn dealing(&self) -> MutexGuard<'_, Dealing> {
        self.dealing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that one more batch was reported, and every case before `next`. Wakes waiting workers.
    pub(crate) fn report(&self, next: u64) {
        let mut dealing = self.dealing();
        dealing.out = dealing.out.saturating_sub(1);
        dealing.next = next;
        drop(dealing);
        self.wake();
    }

    /// Wakes waiting workers, so that they check the stop switch again.
    pub(crate) fn wake(&self) {
        self.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::Ending;

    /// The next cases for a worker that has no batch in flight and puts all of them into one.
    fn next(dealer: &Dealer, most: u64, stop: &Stop) -> Option<Range<u64>> {
        let dealt = dealer.next(most, stop, 0, || ())?;
        dealer.give_back(dealt.end..dealt.end);
        Some(dealt)
    }

    fn dealt(dealer: &Dealer, most: u64) -> Vec<Range<u64>> {
        let stop = Stop::default();
        std::iter::from_fn(|| next(dealer, most, &stop)).collect()
    }

    #[test]
    fn every_case_is_dealt_once_and_the_last_batch_is_smaller() {
        assert_eq!(dealt(&Dealer::new(0..10, 4, 1), u64::MAX), [0..4, 4..8, 8..10]);
        assert_eq!(
            dealt(&Dealer::new(0..10, 4, 1), 3),
            [0..3, 3..6, 6..9, 9..10],
            "as small as they are asked for"
        );
        assert_eq!(dealt(&Dealer::new(0..0, 4, 1), u64::MAX), []);
        assert_eq!(dealt(&Dealer::new(5..10, 4, 1), u64::MAX), [5..9, 9..10]);
    }

    #[test]
    fn what_is_given_back_is_dealt_first() {
        let (dealer, stop) = (Dealer::new(0..20, 8, 1), Stop::default());
        let next = |most| next(&dealer, most, &stop);
        assert_eq!((next(8), next(8)), (Some(0..8), Some(8..16)));
        dealer.give_back(10..16);
        dealer.give_back(3..8);
        dealer.give_back(16..16);
        assert_eq!(
            (next(2), next(8), next(8), next(8)),
            (Some(3..5), Some(5..8), Some(10..18), Some(18..20))
        );
        assert_eq!(next(8), None);
    }

    #[test]
    fn what_is_dealt_and_not_reported_is_missing() {
        let (dealer, stop) = (Dealer::new(0..40, 8, 1), Stop::default());
        let missing = |results: &[(u64, u64)]| {
            let missing = dealer.missing(results.iter().map(|(start, end)| *start..*end));
            missing.into_iter().map(|cases| (cases.start, cases.end)).collect::<Vec<_>>()
        };
        assert_eq!(missing(&[]), []);
        (0..4).for_each(|_| assert!(next(&dealer, 8, &stop).is_some()));
        dealer.give_back(12..16);
        dealer.report(8);
        assert_eq!(missing(&[]), [(8, 12), (16, 32)]);
        assert_eq!(missing(&[(16, 24)]), [(8, 12), (24, 32)]);
        assert_eq!(missing(&[(8, 12), (24, 32)]), [(16, 24)]);
        assert_eq!(missing(&[(8, 12), (16, 24), (24, 32)]), []);
    }

    /// A worker that waits for a report must not wait for a case that no worker has.
    #[test]
    fn the_case_that_all_others_wait_for_is_always_dealt() {
        let (dealer, stop) = (Dealer::new(0..u64::MAX, 8, 1), Stop::default());
        (0..WINDOW).for_each(|_| assert!(next(&dealer, 8, &stop).is_some()));
        dealer.give_back(2..8);
        dealer.report(2);
        // Other workers filled the window again in the meantime.
        dealer.dealing().out = WINDOW;
        let waits = || panic!("it is there");
        assert_eq!(dealer.next(8, &stop, 0, waits), Some(2..8));
    }

    /// Otherwise they would wait for a later case that hangs.
    #[test]
    fn a_worker_finishes_its_batch_before_it_gets_earlier_cases() {
        let (dealer, stop) = (Dealer::new(0..20, 8, 1), Stop::default());
        let first = dealer.next(8, &stop, 0, || ()).expect("there are cases");
        let newest = next(&dealer, 8, &stop).expect("there are cases");
        assert_eq!((&first, &newest), (&(0..8), &(8..16)));
        dealer.give_back(3..8);
        let mut is_finished = false;
        let others = || {
            assert_eq!(next(&dealer, 1, &stop), Some(3..4), "another worker gets them meanwhile");
            is_finished = true;
        };
        assert_eq!(dealer.next(8, &stop, newest.start, others), Some(4..8));
        assert!(is_finished);
    }

    #[test]
    fn a_worker_waits_for_cases_that_another_may_give_back() {
        let (dealer, stop) = (Arc::new(Dealer::new(0..8, 8, 1)), Stop::default());
        let all = dealer.next(8, &stop, 0, || ());
        assert_eq!((all, dealer.is_over()), (Some(0..8), false));
        let (told, waits) = std::sync::mpsc::channel();
        let other = {
            let (dealer, stop) = (Arc::clone(&dealer), stop.clone());
            std::thread::spawn(move || dealer.next(8, &stop, 0, || told.send(()).expect("it listens")))
        };
        waits.recv().expect("it finishes its batches before it waits");
        dealer.give_back(3..8);
        assert_eq!(other.join().expect("it ends"), Some(3..8));
        dealer.give_back(8..8);
        assert!(dealer.is_over());
    }

    #[test]
    fn more_is_dealt_where_cases_may_be_left_out() {
        assert_eq!(dealt(&Dealer::new(0..10, 2, 3), 1), [0..3, 3..6, 6..9, 9..10]);
    }

    #[test]
    fn a_worker_that_is_too_far_ahead_waits_until_the_run_ends() {
        let (dealer, stop) = (Arc::new(Dealer::new(0..u64::MAX, 1, 1)), Stop::default());
        let ahead = {
            let (dealer, stop) = (Arc::clone(&dealer), stop.clone());
            std::thread::spawn(move || std::iter::from_fn(|| next(&dealer, 1, &stop)).count() as u64)
        };
        while dealer.dealing().out < WINDOW {
            std::thread::yield_now();
        }
        stop.request(Ending::Limit);
        // The worker may not wait yet, so that one call could come too early.
        while !ahead.is_finished() {
            dealer.wake();
        }
        assert_eq!(ahead.join().unwrap(), WINDOW);
    }
}
