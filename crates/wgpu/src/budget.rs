//! How much device memory all threads may hold together. Drivers grant buffers beyond what there is and fail later, or
//! have the machine end the process, so what is granted is counted here. Whoever finds too little left waits
//! for others to give some back, since they will: a run holds its memory for as long as it takes.

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::device::Fault;

/// The memory that there is to share.
#[derive(Debug)]
pub(crate) struct Budget {
    most: u64,
    state: Mutex<State>,
    /// Some was given back.
    freed: Condvar,
}

#[derive(Debug, Default)]
struct State {
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
    /// A budget of so many bytes.
    pub(crate) fn new(most: u64) -> Arc<Self> {
        Arc::new(Self { most, state: Mutex::default(), freed: Condvar::new() })
    }

    /// Takes a share of the memory. Where too little is left, waits until there is enough, unless nothing is given back for as
    /// long as `timeout`.
    pub(crate) fn take(self: &Arc<Self>, bytes: u64, timeout: Duration) -> Result<Share, Fault> {
        let refused = |reason: String| Err(Fault::OutOfMemory(reason));
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

    /// Whether somebody waits for memory, so that what is kept for later should be given back.
    pub(crate) fn is_wanted(&self) -> bool {
        self.state().waiting > 0
    }

    fn state(&self) -> MutexGuard<'_, State> {
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
    fn what_is_given_back_can_be_taken_again() {
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
        assert!(matches!(fault, Fault::OutOfMemory(_)), "{fault:?}");
    }

    #[test]
    fn whoever_waits_is_seen_and_goes_on_when_there_is_enough() {
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
