//! The offsets of a tensor's elements, in the order of their coordinates. All stride walks of the project use
//! it.

use crate::{List, packed_strides};

/// Iterates over the elements of a tensor in the order of their coordinates, innermost axis fastest. Yields
/// the offset of each, in elements from the tensor's start. Yields nothing if a size is below 1.
#[derive(Debug, Clone)]
pub struct Offsets<'a> {
    sizes: &'a [i64],
    strides: List,
    coordinates: List,
    offset: u64,
    ended: bool,
}

impl<'a> Offsets<'a> {
    /// The walk over these sizes. `strides` of `None` means packed. Missing strides at the end count as 0.
    pub fn new(sizes: &'a [i64], strides: Option<&[i64]>) -> Self {
        let mut strides = strides.map_or_else(|| packed_strides(sizes), List::from_slice);
        strides.resize(sizes.len(), 0);
        let ended = sizes.iter().any(|&size| size < 1);
        Self { sizes, strides, coordinates: List::from_elem(0, sizes.len()), offset: 0, ended }
    }
}

impl Iterator for Offsets<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if self.ended {
            return None;
        }
        let current = self.offset;
        for axis in (0..self.sizes.len()).rev() {
            let stride = self.strides[axis] as u64;
            if self.coordinates[axis] + 1 < self.sizes[axis] {
                self.coordinates[axis] += 1;
                self.offset = self.offset.wrapping_add(stride);
                return Some(current);
            }
            self.offset = self.offset.wrapping_sub(stride.wrapping_mul(self.coordinates[axis] as u64));
            self.coordinates[axis] = 0;
        }
        self.ended = true;
        Some(current)
    }
}

/// The coordinates of the element at `index`, in the order of coordinates; all zero if a size is below 1.
pub fn coordinates_of(index: u64, sizes: &[i64]) -> List {
    let mut rest = index;
    let mut coordinates = List::from_elem(0, sizes.len());
    for axis in (0..sizes.len()).rev() {
        let size = sizes[axis].max(1) as u64;
        coordinates[axis] = (rest % size) as i64;
        rest /= size;
    }
    coordinates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_tensors_are_walked_from_start_to_end() {
        assert!(Offsets::new(&[2, 1, 3], None).eq(0..6));
        assert!(Offsets::new(&[], None).eq(0..1));
        assert!(Offsets::new(&[2, 0], None).eq(0..0));
    }

    #[test]
    fn strides_are_followed_and_broadcasts_repeat() {
        assert!(Offsets::new(&[2, 3], Some(&[1, 10])).eq([0, 10, 20, 1, 11, 21]));
        assert!(Offsets::new(&[2, 2], Some(&[0, 1])).eq([0, 1, 0, 1]));
    }

    #[test]
    fn an_index_leads_to_its_coordinates() {
        let sizes = [2, 3, 4];
        for (index, coordinates) in [(0, [0, 0, 0]), (5, [0, 1, 1]), (23, [1, 2, 3])] {
            assert_eq!(coordinates_of(index, &sizes).as_slice(), coordinates);
        }
    }
}
