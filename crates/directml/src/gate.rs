//! Who is on the device: many together, or one alone.
//!
//! Direct3D 12 removes a device under everybody who uses it. So a case is blamed for that only where it was alone on the
//! device, and whoever lost work with others tries again alone.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The door to a device.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    together: usize,
    wanting_alone: usize,
    alone: bool,
}

/// The right to use the device together with others.
#[derive(Debug)]
pub(crate) struct Together(Arc<Gate>);

/// The right to be the only one on the device.
#[derive(Debug)]
pub(crate) struct Alone<'gate>(&'gate Gate);

impl Gate {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters where nobody is alone or wants to be.
    pub(crate) fn try_enter(self: &Arc<Self>) -> Option<Together> {
        let mut state = self.lock();
        if state.alone || state.wanting_alone > 0 {
            return None;
        }
        state.together += 1;
        Some(Together(Arc::clone(self)))
    }

    /// Enters, as soon as nobody is alone or wants to be.
    pub(crate) fn enter(self: &Arc<Self>) -> Together {
        let mut state = self.lock();
        while state.alone || state.wanting_alone > 0 {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.together += 1;
        Together(Arc::clone(self))
    }

    /// Whether somebody waits for the others to leave: they should start nothing new.
    pub(crate) fn is_wanted(&self) -> bool {
        self.lock().wanting_alone > 0
    }

    /// Waits until everybody else has left. Whoever calls it has to have left before.
    pub(crate) fn alone(&self) -> Alone<'_> {
        let mut state = self.lock();
        state.wanting_alone += 1;
        while state.alone || state.together > 0 {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.wanting_alone -= 1;
        state.alone = true;
        Alone(self)
    }
}

impl Drop for Together {
    fn drop(&mut self) {
        self.0.lock().together -= 1;
        self.0.changed.notify_all();
    }
}

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        self.0.lock().alone = false;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc::channel, thread};

    use super::*;

    #[test]
    fn one_is_alone_only_after_the_others_left_and_then_nobody_enters() {
        let gate = Arc::new(Gate::default());
        let (first, second) = (gate.try_enter().unwrap(), gate.enter());
        let (sender, receiver) = channel();
        thread::scope(|scope| {
            scope.spawn(|| {
                let alone = gate.alone();
                sender.send("alone").unwrap();
                assert!(gate.try_enter().is_none());
                drop(alone);
            });
            while !gate.is_wanted() {
                thread::yield_now();
            }
            assert!(gate.try_enter().is_none(), "whoever wants to be alone comes first");
            assert!(receiver.try_recv().is_err());
            drop(first);
            drop(second);
            assert_eq!(receiver.recv().unwrap(), "alone");
            drop(gate.enter());
        });
        assert!(gate.try_enter().is_some());
    }

    #[test]
    fn several_are_alone_one_after_the_other() {
        let gate = Arc::new(Gate::default());
        let inside = Mutex::new(());
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let _alone = gate.alone();
                        drop(inside.try_lock().expect("nobody else is alone"));
                    }
                });
            }
        });
    }
}
