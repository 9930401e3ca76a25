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

    fn deal(&mut self, most: u64) -> Option<Range<u64>> {
        let first = self.left.first_mut()?;
        let end = first.start.saturating_add(most).min(first.end);
        let cases = first.start..end;
        first.start = end;
        self.left.retain(|cases| !cases.is_empty());
        self.out += 1;
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
        let dealing = Mutex::new(Dealing { left, out: 0, next, end });
        Self { most: most.max(1), reach: reach.max(1), dealing, moved: Condvar::new() }
    }

    /// Returns the cases for a batch of at most this size, as soon as they are not too far ahead. `None` if
    /// no case is left or the run is to end. Calls `waits` before it blocks.
    pub(crate) fn next(&self, cases: u64, stop: &Stop, waits: impl FnOnce()) -> Option<Range<u64>> {
        let most = cases.clamp(1, self.most).saturating_mul(self.reach);
        let mut waits = Some(waits);
        let mut dealing = self.dealing();
        while dealing.is_far() && !stop.is_requested() {
            dealing = if let Some(waits) = waits.take() {
                // Other workers may fill the window meanwhile, so the check repeats.
                drop(dealing);
                waits();
                self.dealing()
            } else {
                self.moved.wait(dealing).unwrap_or_else(PoisonError::into_inner)
            };
        }
        if stop.is_requested() { None } else { dealing.deal(most) }
    }

    /// The maximum number of cases of a batch.
    pub(crate) fn most(&self) -> u64 {
        self.most
    }

    /// Whether no cases are left to deal at the moment.
    pub(crate) fn is_empty(&self) -> bool {
        self.dealing().left.is_empty()
    }

    /// Takes back cases that were dealt but not read.
    pub(crate) fn give_back(&self, mut cases: Range<u64>) {
        if !cases.is_empty() {
            let left = &mut self.dealing().left;
            let place = left.partition_point(|before| before.start < cases.start);
            if let Some(behind) = left.get(place).filter(|behind| behind.start == cases.end) {
                cases.end = behind.end;
                left.remove(place);
            }
            left.insert(place, cases);
        }
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

    fn dealt(dealer: &Dealer, most: u64) -> Vec<Range<u64>> {
        let stop = Stop::default();
        std::iter::from_fn(|| dealer.next(most, &stop, || ())).collect()
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
        let next = |most| dealer.next(most, &stop, || ());
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
        (0..4).for_each(|_| assert!(dealer.next(8, &stop, || ()).is_some()));
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
        (0..WINDOW).for_each(|_| assert!(dealer.next(8, &stop, || ()).is_some()));
        dealer.give_back(2..8);
        dealer.report(2);
        // Other workers filled the window again in the meantime.
        dealer.dealing().out = WINDOW;
        let waits = || panic!("it is there");
        assert_eq!(dealer.next(8, &stop, waits), Some(2..8));
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
            std::thread::spawn(move || std::iter::from_fn(|| dealer.next(1, &stop, || ())).count() as u64)
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
