//! Panics of a backend are caught and become the outcome of a case. A panic hook can ask here whether a panic
//! will be caught, and then print nothing.

use std::{
    any::Any,
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
};

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is inside a backend, where a panic is caught and reported as a crash. For a panic
/// hook.
pub fn is_caught_here() -> bool {
    INSIDE.get()
}

/// Calls a backend. The error is the message of its panic.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    INSIDE.set(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    INSIDE.set(false);
    done.map_err(|payload| message(&*payload))
}

/// The message of a panic.
pub(crate) fn message(payload: &(dyn Any + Send)) -> String {
    let said = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned());
    said.map_or_else(|| "it panicked".to_owned(), |text| format!("it panicked: {text}"))
}
