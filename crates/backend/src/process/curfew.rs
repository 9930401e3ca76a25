//! When nobody waits for processes any more, other than at a time that is known beforehand: whoever ends a run says so while it goes on.

use std::{
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

/// A time that may yet be set, from any thread. Copies share it.
#[derive(Clone, Debug, Default)]
pub struct Curfew(Arc<OnceLock<Instant>>);

impl Curfew {
    /// Sets the time, where nobody has.
    pub fn set(&self, time: Instant) {
        self.0.get_or_init(|| time);
    }

    /// The time, if it is set.
    pub fn time(&self) -> Option<Instant> {
        self.0.get().copied()
    }

    /// Whether the time is set, and over.
    pub fn is_over(&self) -> bool {
        self.time().is_some_and(|time| Instant::now() >= time)
    }

    /// As much of this time as there is left until then.
    pub(super) fn cut(&self, time: Duration) -> Duration {
        self.time().map_or(time, |until| until.saturating_duration_since(Instant::now()).min(time))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_time_that_is_set_cuts_what_is_left() {
        let (curfew, minute) = (Curfew::default(), Duration::from_secs(60));
        assert_eq!((curfew.time(), curfew.is_over(), curfew.cut(minute)), (None, false, minute));
        let now = Instant::now();
        curfew.clone().set(now + minute);
        curfew.set(now);
        assert_eq!((curfew.time(), curfew.is_over()), (Some(now + minute), false));
        assert!(curfew.cut(2 * minute) <= minute);
        let over = Curfew::default();
        over.set(now);
        assert_eq!((over.is_over(), over.cut(minute)), (true, Duration::ZERO));
    }
}
