//! A budget for the device memory of all threads. Drivers allocate buffers beyond the available memory and
//! fail later, or the system kills the process, so memory is counted here. A thread that finds too little
//! left waits until others release some, which they do after each run.

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::device::BatchFault;

/// The shared memory budget.
#[derive(Debug)]
pub(crate) struct Budget {
    most: u64,
    state: Mutex<BudgetState>,
    /// Signals that memory was released.
    freed: Condvar,
}

#[derive(Debug, Default)]
struct BudgetState {
    held: u64,
    waiting: usize,
}

/// Memory that is held until this is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    budget: Arc<Budget>,
    bytes: u64,
}

impl Budget {
    /// A budget of this many bytes.
    pub(crate) fn new(most: u64) -> Arc<Self> {
        Arc::new(Self { most, state: Mutex::default(), freed: Condvar::new() })
    }

    /// Takes a share of the memory. If too little is left, it waits until enough is released. It fails if
    /// nothing is released for `timeout`.
    pub(crate) fn take(self: &Arc<Self>, bytes: u64, timeout: Duration) -> Result<Share, BatchFault> {
        let refused = |reason: String| Err(BatchFault::OutOfMemory(reason));
        if bytes > self.most {
            return refused(format!(
                "buffers of {bytes} bytes are asked for at once, of the {} that this backend takes in all",
                self.most
            ));
        }
        let mut state = self.state();
        while state.held.saturating_add(bytes) > self.most {
            state.waiting += 1;
            let (woken, waited) =
                self.freed.wait_timeout(state, timeout).unwrap_or_else(PoisonError::into_inner);
            state = woken;
            state.waiting -= 1;
            if waited.timed_out() && state.held.saturating_add(bytes) > self.most {
                return refused(format!(
                    "buffers of {bytes} bytes are asked for, and of the {} that this backend takes in all, others have held {} for {timeout:?}",
                    self.most, state.held
                ));
            }
        }
        state.held += bytes;
        Ok(Share { budget: Arc::clone(self), bytes })
    }

    /// Whether a thread waits for memory, so that unused buffers should be released.
    pub(crate) fn is_wanted(&self) -> bool {
        self.state().waiting > 0
    }

    fn state(&self) -> MutexGuard<'_, BudgetState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.budget.state().held -= self.bytes;
        self.budget.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn released_memory_can_be_taken_again() {
        let budget = Budget::new(100);
        let first = budget.take(60, Duration::ZERO).expect("there is enough");
        let fault = budget.take(41, Duration::ZERO).expect_err("there is too little");
        assert_eq!(
            fault.to_string(),
            "out of memory: buffers of 41 bytes are asked for, and of the 100 that this backend takes in all, \
             others have held 60 for 0ns"
        );
        let second = budget.take(40, Duration::ZERO).expect("there is just enough");
        drop((first, second));
        assert!(budget.take(100, Duration::ZERO).is_ok());
    }

    #[test]
    fn more_than_all_is_refused_without_waiting() {
        let fault = Budget::new(100).take(101, Duration::MAX).expect_err("there is never so much");
        assert!(matches!(fault, BatchFault::OutOfMemory(_)), "{fault:?}");
    }

    #[test]
    fn a_waiting_thread_is_counted_and_continues_when_memory_is_free() {
        let budget = Budget::new(100);
        let share = budget.take(100, Duration::ZERO).expect("there is enough");
        assert!(!budget.is_wanted());
        thread::scope(|scope| {
            let waiting = scope.spawn(|| budget.take(1, Duration::from_secs(60)).is_ok());
            while !budget.is_wanted() {
                thread::yield_now();
            }
            drop(share);
            assert!(waiting.join().expect("it does not panic"));
        });
        assert!(!budget.is_wanted());
    }
}
