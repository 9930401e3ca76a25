//! Panics inside a backend are caught and become a case's outcome. A program that prints panics can ask here
//! whether the one at hand is such a one, and stay silent about it.

use std::{any::Any, cell::Cell};

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is inside a backend, where a panic is caught and reported as a crash. For a panic hook.
pub fn is_caught_here() -> bool {
    INSIDE.get()
}

/// Runs something that catches its panics.
pub(crate) fn caught<T>(inside: impl FnOnce() -> T) -> T {
    INSIDE.set(true);
    let done = inside();
    INSIDE.set(false);
    done
}

/// What a panic said.
pub(crate) fn message(payload: &(dyn Any + Send)) -> String {
    let said = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned());
    said.map_or_else(|| "it panicked".to_owned(), |text| format!("it panicked: {text}"))
}
