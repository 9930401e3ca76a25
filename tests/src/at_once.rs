//! Runs several tests at once if they wait more than they compute.

use std::{panic, thread};

/// Calls a closure with each item, on one thread each, and returns the results in the order of the items.
///
/// # Panics
///
/// If a call panics, with the panic of the first such item.
pub fn at_once<A: Send, T: Send>(all: impl IntoIterator<Item = A>, test: impl Fn(A) -> T + Sync) -> Vec<T> {
    let test = &test;
    thread::scope(|scope| {
        let threads: Vec<_> = all.into_iter().map(|one| scope.spawn(move || test(one))).collect();
        let ends = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic)));
        ends.collect()
    })
}
