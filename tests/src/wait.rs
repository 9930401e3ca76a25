//! Waits for an event.

use std::{
    thread::sleep,
    time::{Duration, Instant},
};

/// Longer than any event takes on a busy machine.
const HANG: Duration = Duration::from_secs(15 * 60);

/// Returns as soon as a condition holds.
///
/// # Panics
///
/// After 15 minutes, which only a hang takes.
pub fn wait_until(mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < HANG, "the event did not come within {HANG:?}");
        sleep(Duration::from_millis(5));
    }
}
