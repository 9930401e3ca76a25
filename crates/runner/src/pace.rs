//! How many cases a backend is asked at a time: few at first, and as many as it likes once it has shown that it is quick. A
//! run that is to end waits for what the backend has, and of one that takes its time it should not have much. So it is with the
//! cases that a worker takes at a time: what it has not handed over is lost where the program is killed.

use std::time::{Duration, Instant};

/// What one worker's backend is asked at a time, or what the worker takes.
#[derive(Debug)]
pub(crate) struct Pace {
    cases: u64,
    most: u64,
    /// When it finished last: until then it was not busy with what it was asked meanwhile.
    last: Option<Instant>,
}

impl Pace {
    /// Cases that it is asked first.
    const FIRST: u64 = 8;
    /// What it should not take longer than.
    pub(crate) const LONG: Duration = Duration::from_millis(500);

    /// For a backend that is asked no more than `most` cases at a time.
    pub(crate) fn new(most: u64) -> Self {
        Self { cases: most.min(Self::FIRST), most, last: None }
    }

    /// Cases to ask it next.
    pub(crate) fn cases(&self) -> u64 {
        self.cases
    }

    /// Takes note that so many cases are done that the backend was asked at a time.
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

    /// What is asked next, after lots that took so many milliseconds a case.
    fn after(most: u64, each: u64, lots: usize) -> u64 {
        let mut pace = Pace::new(most);
        let mut now = Instant::now();
        for _ in 0..lots {
            let (cases, asked) = (pace.cases(), now);
            now += Duration::from_millis(each * cases);
            pace.note(cases, asked, now);
        }
        pace.cases()
    }

    #[test]
    fn who_is_quick_is_soon_asked_all_that_it_likes() {
        assert_eq!(after(480, 0, 0), 8);
        assert_eq!(after(480, 0, 3), 64);
        assert_eq!(after(480, 0, 7), 480);
        assert_eq!(after(3, 0, 0), 3);
    }

    #[test]
    fn who_is_slow_is_asked_no_more_than_it_does_in_half_a_second() {
        assert_eq!(after(480, 20, 9), 16, "twice as many would take longer");
        assert_eq!(after(480, 100, 3), 5);
        assert_eq!(after(480, 5000, 1), 1);
    }

    /// What waited while the one before it was worked on took no longer for it.
    #[test]
    fn waiting_is_not_working() {
        let (mut pace, start) = (Pace::new(480), Instant::now());
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        pace.note(8, start, at(200));
        pace.note(8, start, at(400));
        pace.note(16, start, at(600));
        assert_eq!(pace.cases(), 64);
    }
}
