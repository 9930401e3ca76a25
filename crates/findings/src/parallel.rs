//! Work on parts of a list, on several threads.

use std::{panic::resume_unwind, thread};

/// The results of `work` for consecutive parts of a list, in their order. Each part runs on a thread of its
/// own.
pub(crate) fn in_parts<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    work: impl Fn(&[T]) -> R + Sync,
) -> Vec<R> {
    let size = items.len().div_ceil(threads.max(1)).max(1);
    let parts = items.chunks(size);
    if threads <= 1 {
        return parts.map(work).collect();
    }
    let work = &work;
    thread::scope(|scope| {
        let running: Vec<_> = parts.map(|part| scope.spawn(move || work(part))).collect();
        running.into_iter().map(|one| one.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

/// The places of a list in an order whose parts cost about the same: neighbours in the list are often alike.
pub(crate) fn dealt(length: usize, threads: usize) -> Vec<usize> {
    let threads = threads.max(1);
    (0..threads).flat_map(|first| (first..length).step_by(threads)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_in_their_order() {
        let items: Vec<usize> = (0..10).collect();
        for threads in [0, 1, 2, 3, 10, 99] {
            let parts = in_parts(&items, threads, <[usize]>::to_vec);
            assert!(parts.len() <= threads.max(1), "{threads}");
            assert_eq!(parts.concat(), items, "{threads}");
        }
        assert_eq!(in_parts(&[0; 0], 4, <[_]>::len), [0; 0]);
    }

    #[test]
    fn each_place_is_dealt_once() {
        assert_eq!(dealt(5, 2), [0, 2, 4, 1, 3]);
        assert_eq!(dealt(3, 0), [0, 1, 2]);
        assert_eq!(dealt(2, 9), [0, 1]);
    }
}
