//! The same work on many items, on several threads.

use std::{
    panic::resume_unwind,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// Applies a function to all items, on several threads. The results are in the order of the items.
pub fn side_by_side<'a, T: Sync, R: Send, E: Send>(
    items: &'a [T],
    threads: usize,
    work: impl Fn(&'a T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let next = AtomicUsize::new(0);
    let share = || {
        let mut results = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(place) else { return Ok::<_, E>(results) };
            results.push((place, work(item)?));
        }
    };
    let mut results = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.min(items.len())).map(|_| scope.spawn(share)).collect();
        let mut results = Vec::new();
        for worker in workers {
            results.extend(worker.join().unwrap_or_else(|panic| resume_unwind(panic))?);
        }
        Ok::<_, E>(results)
    })?;
    results.sort_by_key(|(place, _)| *place);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}
