//! Who lost work with a device, and who tells of it.
//!
//! A device that is removed takes the work of many batches with it, and which case did it shows only as each runs alone.
//! Where one does it again, that one has failed, and the others have nothing to tell. Where none does, the loss is not
//! passed over: of the batches that had a part in it, the last to find out tells.

use std::sync::{Arc, Mutex, PoisonError};

/// The batches that lost work with one device.
#[derive(Debug, Default)]
pub(crate) struct Losses(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Those whose cases did not all run alone yet.
    open: usize,
    /// Whether a case did it again.
    is_explained: bool,
}

/// That a batch lost work. All that belong to one device have to be there before the first is settled: so it is where
/// cases run alone only after everybody left the device.
#[derive(Debug)]
pub(crate) struct Loss(Arc<Losses>);

impl Losses {
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Loss {
    pub(crate) fn new(losses: &Arc<Losses>) -> Self {
        losses.change(|state| state.open += 1);
        Self(Arc::clone(losses))
    }

    /// Ends it as soon as each case of the batch ran alone, and says whether the batch has to tell of the loss. `is_again` is
    /// whether one of them removed a device when it was alone on it.
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

    /// Whether each of the batches tells, where these do it again, in this order.
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
    fn nobody_tells_where_a_case_did_it_again_whichever_comes_first() {
        assert_eq!(told(&[true]), [false]);
        assert_eq!(told(&[false, true, false]), [false; 3]);
        assert_eq!(told(&[true, false, true]), [false; 3]);
    }

    #[test]
    fn who_never_finds_out_keeps_nobody_from_telling() {
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
