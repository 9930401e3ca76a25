//! Decides which batch reports the loss of a device.
//!
//! A removed device takes the work of many batches with it. The case that caused the removal is only found by
//! running each case alone. If one removes the device again, that case has failed, and the other batches
//! report nothing. If none does, the loss must still be reported: the last of the affected batches to finish
//! its cases does so.

use std::sync::{Arc, Mutex, PoisonError};

/// The batches that lost work on one device.
#[derive(Debug, Default)]
pub(crate) struct Losses(Mutex<OpenBatches>);

#[derive(Debug, Default)]
struct OpenBatches {
    /// The number of batches whose cases have not all run alone yet.
    open: usize,
    /// Whether a case removed a device again.
    is_explained: bool,
}

/// A batch's loss of work. All losses of a device must be registered before the first is settled. That holds
/// if cases run alone only after all shared access to the device has ended.
#[derive(Debug)]
pub(crate) struct Loss(Arc<Losses>);

impl Losses {
    fn change<T>(&self, change: impl FnOnce(&mut OpenBatches) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Loss {
    pub(crate) fn new(losses: &Arc<Losses>) -> Self {
        losses.change(|state| state.open += 1);
        Self(Arc::clone(losses))
    }

    /// Ends the loss after each case of the batch ran alone. Returns whether the batch must report the loss.
    /// `is_again` is whether one of its cases removed a device while it was alone.
    pub(crate) fn settle(self, is_again: bool) -> bool {
        self.0.change(|state| {
            state.is_explained |= is_again;
            state.open == 1 && !state.is_explained
        })
    }
}

impl Drop for Loss {
    fn drop(&mut self) {
        self.0.change(|state| state.open -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether each batch reports the loss; `again` is whether its cases removed a device again, in this
    /// order.
    fn told(again: &[bool]) -> Vec<bool> {
        let losses = Arc::default();
        let all: Vec<Loss> = again.iter().map(|_| Loss::new(&losses)).collect();
        all.into_iter().zip(again).map(|(loss, is_again)| loss.settle(*is_again)).collect()
    }

    #[test]
    fn a_loss_that_does_not_come_again_is_told_by_the_last() {
        assert_eq!(told(&[false]), [true]);
        assert_eq!(told(&[false, false, false]), [false, false, true]);
    }

    #[test]
    fn a_repeated_removal_is_reported_by_no_case() {
        assert_eq!(told(&[true]), [false]);
        assert_eq!(told(&[false, true, false]), [false; 3]);
        assert_eq!(told(&[true, false, true]), [false; 3]);
    }

    #[test]
    fn a_case_without_a_result_does_not_prevent_a_report() {
        let losses = Arc::default();
        let (one, other) = (Loss::new(&losses), Loss::new(&losses));
        drop(one);
        assert!(other.settle(false));
    }

    #[test]
    fn devices_have_nothing_to_do_with_each_other() {
        let (one, other) = (Loss::new(&Arc::default()), Loss::new(&Arc::default()));
        assert!(!one.settle(true));
        assert!(other.settle(false));
    }
}
