//! The number of cases of a batch: one at first, and more while batches are quick. An ending run waits for
//! the batches in flight, and a killed program loses them. So a batch should take no longer than half a
//! second.

use std::time::{Duration, Instant};

/// The size of one worker's batches.
#[derive(Debug)]
pub(crate) struct BatchSizer {
    cases: u64,
    most: u64,
    /// When the last batch was done. The backend did not work on the next batch before this time.
    last: Option<Instant>,
}

impl BatchSizer {
    /// The longest time that a batch should take.
    const LONG: Duration = Duration::from_millis(500);

    /// A sizer for batches of at most `most` cases.
    pub(crate) fn new(most: u64) -> Self {
        Self { cases: 1, most, last: None }
    }

    /// The number of cases of the next batch.
    pub(crate) fn cases(&self) -> u64 {
        self.cases
    }

    /// Records a batch of this many cases: when it was handed to the backend, and when it was done.
    pub(crate) fn note(&mut self, cases: u64, asked: Instant, done: Instant) {
        let since = self.last.map_or(asked, |last| last.max(asked));
        self.last = Some(done);
        let took = done.saturating_duration_since(since);
        if took > Self::LONG {
            let share = Self::LONG.as_secs_f64() / took.as_secs_f64();
            self.cases = ((cases as f64 * share) as u64).clamp(1, self.most);
        } else if took < Self::LONG / 2 {
            self.cases = self.cases.saturating_mul(2).min(self.most);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The size of the next batch, after batches that took `each` milliseconds a case.
    fn after(most: u64, each: u64, batches: usize) -> u64 {
        let mut sizer = BatchSizer::new(most);
        let mut now = Instant::now();
        for _ in 0..batches {
            let (cases, asked) = (sizer.cases(), now);
            now += Duration::from_millis(each * cases);
            sizer.note(cases, asked, now);
        }
        sizer.cases()
    }

    #[test]
    fn a_quick_backend_soon_gets_full_batches() {
        assert_eq!(after(480, 0, 0), 1);
        assert_eq!(after(480, 0, 3), 8);
        assert_eq!(after(480, 0, 9), 480);
        assert_eq!(after(3, 0, 2), 3);
    }

    #[test]
    fn a_slow_backend_gets_batches_of_half_a_second() {
        assert_eq!(after(480, 20, 9), 16, "twice as many would take longer");
        assert_eq!(after(480, 100, 9), 4);
        assert_eq!(after(480, 400, 9), 1);
        assert_eq!(after(480, 5000, 9), 1);
    }

    /// The time in which a batch waits for the one before it does not count.
    #[test]
    fn waiting_for_another_batch_does_not_count() {
        let (mut sizer, start) = (BatchSizer::new(480), Instant::now());
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        sizer.note(1, start, at(200));
        sizer.note(1, start, at(400));
        sizer.note(2, start, at(600));
        assert_eq!(sizer.cases(), 8);
    }
}
