//! A deadline that any thread can set during a run, such as the one that handles Ctrl-C.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use super::locked;

/// The time after which the host waits for no process. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Deadline(Arc<Mutex<Option<Instant>>>);

impl Deadline {
    /// Sets the time, if it is not set.
    pub fn set(&self, time: Instant) {
        locked(&self.0).get_or_insert(time);
    }

    /// Sets another time in its place.
    pub fn move_to(&self, time: Instant) {
        *locked(&self.0) = Some(time);
    }

    /// The time, if it is set.
    pub fn time(&self) -> Option<Instant> {
        *locked(&self.0)
    }

    /// Whether the time is set, and over.
    pub fn is_over(&self) -> bool {
        self.time().is_some_and(|time| Instant::now() >= time)
    }

    /// The part of this time that is left until the deadline.
    pub(super) fn cut(&self, time: Duration) -> Duration {
        self.time().map_or(time, |until| until.saturating_duration_since(Instant::now()).min(time))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_time_that_is_set_cuts_what_is_left() {
        let (deadline, minute) = (Deadline::default(), Duration::from_secs(60));
        assert_eq!((deadline.time(), deadline.is_over(), deadline.cut(minute)), (None, false, minute));
        let now = Instant::now();
        deadline.clone().set(now + minute);
        deadline.set(now);
        assert_eq!((deadline.time(), deadline.is_over()), (Some(now + minute), false));
        assert!(deadline.cut(2 * minute) <= minute);
        deadline.move_to(now + 2 * minute);
        assert_eq!(deadline.time(), Some(now + 2 * minute));
        let over = Deadline::default();
        over.set(now);
        assert_eq!((over.is_over(), over.cut(minute)), (true, Duration::ZERO));
    }
}
