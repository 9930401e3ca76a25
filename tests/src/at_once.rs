//! Several tests at once, where they wait more than they compute.

use std::{panic, thread};

/// Does this with each of these at once, on a thread each, and gives what came of them in their order.
///
/// # Panics
///
/// As the first of them that does.
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
