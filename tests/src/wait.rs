//! Waits for an event, however long it takes.

use std::{thread::sleep, time::Duration};

/// Returns as soon as a condition holds. It has no time limit, so that a busy machine fails no test.
pub fn wait_until(mut holds: impl FnMut() -> bool) {
    while !holds() {
        sleep(Duration::from_millis(5));
    }
}
