//! What an operator remembers of its initialisation: that there was one, and with which persistent resource.
//! The pages want one before the first dispatch, none after that, and the same resource ever after.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Where a persistent resource lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The address of the resource that it is a part of.
    pub resource: usize,
    /// Where it starts in there, in bytes.
    pub offset: u64,
}

/// Whether an operator was initialised, and with what.
#[derive(Debug, Default)]
pub struct Initialization(Mutex<State>);

#[derive(Clone, Copy, Debug, Default)]
enum State {
    #[default]
    Never,
    /// With this persistent resource, where it needs one.
    Once(Option<Place>),
}

impl Initialization {
    /// Notes that an initialiser of the operator is dispatched; `Err` says why it must not be.
    pub fn begin(&self, persistent: Option<Place>) -> Result<(), &'static str> {
        let mut state = self.state();
        if let State::Once(_) = *state {
            return Err("the operator was initialised before");
        }
        *state = State::Once(persistent);
        Ok(())
    }

    /// Why the operator must not be dispatched with this persistent resource.
    pub fn check(&self, persistent: Option<Place>) -> Result<(), &'static str> {
        match *self.state() {
            State::Never => Err("the operator was never initialised"),
            State::Once(place) if place != persistent => {
                Err("the persistent resource is not the one of the operator's initialisation")
            }
            State::Once(_) => Ok(()),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place = Place { resource: 64, offset: 256 };

    #[test]
    fn an_operator_is_initialised_once_before_it_is_dispatched() {
        for persistent in [None, Some(PLACE)] {
            let operator = Initialization::default();
            assert_eq!(operator.check(persistent), Err("the operator was never initialised"));
            assert_eq!(operator.begin(persistent), Ok(()));
            assert_eq!([operator.check(persistent), operator.check(persistent)], [Ok(()); 2]);
            assert_eq!(operator.begin(persistent), Err("the operator was initialised before"));
        }
    }

    #[test]
    fn its_persistent_resource_stays_the_same() {
        let operator = Initialization::default();
        operator.begin(Some(PLACE)).expect("it is the first");
        let others = [Some(Place { resource: 128, ..PLACE }), Some(Place { offset: 0, ..PLACE }), None];
        for other in others {
            let fault = operator.check(other).expect_err("it is another");
            assert_eq!(fault, "the persistent resource is not the one of the operator's initialisation");
        }
        assert_eq!(operator.check(Some(PLACE)), Ok(()));
    }
}
