//! Panics of a backend are caught and become the outcome of a case.

use std::{
    any::Any,
    cell::Cell,
    panic::{self, AssertUnwindSafe, catch_unwind},
};

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Prints no panic of a backend, since it becomes a verdict and is reported as one. Any other panic is
/// printed as before.
pub fn silence_caught_panics() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |information| {
        if !INSIDE.get() {
            usual(information);
        }
    }));
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
