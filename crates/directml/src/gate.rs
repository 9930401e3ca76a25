//! The gate at a device: it gives backends shared or exclusive access.
//!
//! Direct3D 12 removes a device for all its users, and creates no other one until all of them have released
//! it. So a case is blamed for a removal only if it had exclusive access. After a removal, every case that
//! shared the device runs again with exclusive access. Only a backend with exclusive access can replace a
//! removed device.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The gate at a device, which also stores the device.
#[derive(Debug)]
pub(crate) struct Gate<D> {
    state: Mutex<GateState<D>>,
    changed: Condvar,
}

#[derive(Debug)]
struct GateState<D> {
    /// `None` during exclusive access, whose holder has the device, and if no device is left.
    device: Option<D>,
    together: usize,
    wanting_alone: usize,
    alone: bool,
}

/// Shared access to the device. The device does not change while it is held.
#[derive(Debug)]
pub(crate) struct SharedAccess<D> {
    gate: Arc<Gate<D>>,
    device: Option<D>,
}

/// Exclusive access to the device.
#[derive(Debug)]
pub(crate) struct ExclusiveAccess<'gate, D> {
    gate: &'gate Gate<D>,
    /// The device. When the access ends, this becomes the device for the next users.
    pub(crate) device: Option<D>,
}

impl<D: Clone> Gate<D> {
    pub(crate) fn new(device: D) -> Self {
        let state = GateState { device: Some(device), together: 0, wanting_alone: 0, alone: false };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Takes shared access, unless a user has exclusive access or waits for it.
    pub(crate) fn try_enter(self: &Arc<Self>) -> Option<SharedAccess<D>> {
        let state = self.lock();
        (!state.alone && state.wanting_alone == 0).then(|| self.let_in(state))
    }

    /// Takes shared access as soon as no user has exclusive access or waits for it.
    pub(crate) fn enter(self: &Arc<Self>) -> SharedAccess<D> {
        let mut state = self.lock();
        while state.alone || state.wanting_alone > 0 {
            state = self.wait(state);
        }
        self.let_in(state)
    }

    fn let_in(self: &Arc<Self>, mut state: MutexGuard<'_, GateState<D>>) -> SharedAccess<D> {
        state.together += 1;
        SharedAccess { gate: Arc::clone(self), device: state.device.clone() }
    }

    /// Whether a user waits for exclusive access. Other users should then start nothing new.
    pub(crate) fn is_wanted(&self) -> bool {
        self.lock().wanting_alone > 0
    }

    /// Waits for exclusive access. The caller must have released its own shared access.
    pub(crate) fn alone(&self) -> ExclusiveAccess<'_, D> {
        let mut state = self.lock();
        state.wanting_alone += 1;
        while state.alone || state.together > 0 {
            state = self.wait(state);
        }
        state.wanting_alone -= 1;
        state.alone = true;
        ExclusiveAccess { gate: self, device: state.device.take() }
    }
}

impl<D> Gate<D> {
    fn lock(&self) -> MutexGuard<'_, GateState<D>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'state>(&self, state: MutexGuard<'state, GateState<D>>) -> MutexGuard<'state, GateState<D>> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }
}

impl<D> SharedAccess<D> {
    /// The device, if there is one.
    pub(crate) fn device(&self) -> Option<&D> {
        self.device.as_ref()
    }
}

impl<D> Drop for SharedAccess<D> {
    fn drop(&mut self) {
        // The device must be released before the count changes, so that the next exclusive user is its last
        // holder.
        self.device = None;
        self.gate.lock().together -= 1;
        self.gate.changed.notify_all();
    }
}

impl<D> Drop for ExclusiveAccess<'_, D> {
    fn drop(&mut self) {
        let mut state = self.gate.lock();
        state.device = self.device.take();
        state.alone = false;
        drop(state);
        self.gate.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc::channel, thread};

    use super::*;

    #[test]
    fn one_is_alone_only_after_the_others_left_and_then_nobody_enters() {
        let gate = Arc::new(Gate::new(()));
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
        let gate = Arc::new(Gate::new(()));
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

    /// Windows requires this: no other device can be created before the last holder of a removed one releases
    /// it.
    #[test]
    fn exclusive_access_is_the_only_reference_to_the_device() {
        let gate = Arc::new(Gate::new(Arc::new(0)));
        thread::scope(|scope| {
            for number in 1..=8 {
                let gate = &gate;
                scope.spawn(move || {
                    for _ in 0..50 {
                        let together = gate.enter();
                        assert!(together.device().is_some());
                        drop(together);
                        let mut alone = gate.alone();
                        let device = alone.device.take().expect("there is one");
                        assert_eq!(
                            Arc::into_inner(device).map(|_| ()),
                            Some(()),
                            "nobody else holds on to it"
                        );
                        alone.device = Some(Arc::new(number));
                    }
                });
            }
        });
    }

    #[test]
    fn a_new_device_is_used_by_later_users() {
        let gate = Arc::new(Gate::new(1));
        gate.alone().device = Some(2);
        assert_eq!(gate.enter().device(), Some(&2));
        gate.alone().device = None;
        assert_eq!(gate.enter().device(), None);
        assert_eq!(gate.alone().device, None);
    }
}
