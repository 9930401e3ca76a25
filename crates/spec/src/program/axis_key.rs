//! Cache keys of axes: the values of a few lists on the axis, in 32 bits each.

use dmlcts_model::{Desc, Side, Signature};

use super::{Leaf, ListSource, MAXIMUM_AXES, leaf};

/// The number of values in a key.
pub(crate) const VALUES: usize = 8;

/// The values of an axis, two to a word; unused ones are 0.
pub(crate) type AxisKey = [u64; VALUES / 2];

/// The keys of a desc's axes.
pub(crate) type AxisKeys = [AxisKey; MAXIMUM_AXES];

/// A list whose values are part of the key.
#[derive(Debug)]
pub(crate) struct KeyList {
    source: ListSource,
    /// The least value of the member's type, and the distance from it to the greatest.
    least: i64,
    more: u64,
}

impl KeyList {
    pub(crate) fn new(source: ListSource, signature: &Signature) -> Self {
        let range = Leaf::List(source).range(signature);
        // Members are 32 bits wide, so both ends of their ranges and the distance fit 64 bits.
        Self { source, least: range.least as i64, more: (range.greatest - range.least) as u64 }
    }

    /// Puts the list's values into the keys at this index. `None` if the list is shorter than `keys`, or if a
    /// value is out of its member's range. A null `Strides` pointer stands for packed strides.
    #[inline]
    pub(crate) fn load(&self, desc: &Desc, keys: &mut [AxisKey], place: usize) -> Option<()> {
        let Some(values) = leaf::list(desc, self.source) else {
            return match self.source {
                ListSource::Strides(side) | ListSource::PackedStrides(side) => {
                    self.load_packed(desc, side, keys, place)
                }
                _ => None,
            };
        };
        let values = values.get(..keys.len())?;
        let mut farthest = 0;
        for (key, &value) in keys.iter_mut().zip(values) {
            farthest = farthest.max(value.wrapping_sub(self.least) as u64);
            put(key, place, value as u32);
        }
        (farthest <= self.more).then_some(())
    }

    fn load_packed(&self, desc: &Desc, side: Side, keys: &mut [AxisKey], place: usize) -> Option<()> {
        let sizes = leaf::list(desc, ListSource::Sizes(side))?.get(..keys.len())?;
        let mut stride = 1_i64;
        for (key, &size) in keys.iter_mut().zip(sizes).rev() {
            if stride.wrapping_sub(self.least) as u64 > self.more {
                return None;
            }
            put(key, place, stride as u32);
            stride = stride.checked_mul(size)?;
        }
        Some(())
    }
}

/// Puts one value into a key. The bits at this index must be 0.
#[inline]
pub(crate) fn put(key: &mut AxisKey, place: usize, value: u32) {
    key[place / 2 % key.len()] |= u64::from(value) << (place % 2 * 32);
}
