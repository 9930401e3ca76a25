//! How long the lists of a desc are, which decides the lanes of operations.

use dmlcts_model::Desc;

use super::{MAXIMUM_AXES, Program, leaf};

/// How long the lists of a desc are.
#[derive(Debug, Default)]
pub(super) struct Lengths {
    /// Of each list of the program; `None` where it is null or has more than eight values.
    each: Vec<Option<u8>>,
    /// The length that all of them have.
    pub(super) agreed: Option<u8>,
}

impl Lengths {
    /// Of lists that are all as long as this.
    pub(super) fn of(agreed: u8) -> Self {
        Self { each: Vec::new(), agreed: Some(agreed) }
    }

    pub(super) fn measure(&mut self, program: &Program, desc: &Desc) {
        self.each.clear();
        self.each.extend(program.lists.iter().map(|&source| {
            leaf::length(desc, source).filter(|&length| length <= MAXIMUM_AXES).map(|length| length as u8)
        }));
        let first = self.each.first().copied().flatten();
        self.agreed = first.filter(|_| self.each.iter().all(|length| *length == first));
    }

    /// On how many axes an operation that needs these lists has a value.
    #[inline]
    pub(super) fn lanes(&self, lists: u64) -> Option<u8> {
        if self.agreed.is_some() || lists == 0 {
            return self.agreed;
        }
        let mut needed = self.each.iter().enumerate().filter(|(at, _)| lists >> (*at).min(63) & 1 == 1);
        let (_, first) = needed.next()?;
        needed.all(|(_, length)| length == first).then_some(*first).flatten()
    }
}
