//! A tensor as the stand-in reads it, and what is refused of any tensor.

use std::collections::HashSet;

use dmlcts_directml::raw::{
    DML_BUFFER_TENSOR_DESC, DML_TENSOR_DATA_TYPE, DML_TENSOR_DESC, DML_TENSOR_DIMENSION_COUNT_MAX1,
    DML_TENSOR_FLAG_NONE, DML_TENSOR_FLAG_OWNED_BY_DML, DML_TENSOR_TYPE_BUFFER,
};

use crate::operator::{Refusal, refuse};

/// A buffer tensor that may be bound: its numbers have been copied, so that it holds no pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// What an element is.
    pub data_type: DML_TENSOR_DATA_TYPE,
    /// Bytes of an element.
    pub element: u64,
    /// Whether it is bound at initialisation, and not at execution.
    pub owned: bool,
    /// Elements along each axis, none of them 0.
    pub sizes: Vec<u32>,
    /// How far apart neighbours along each axis are, in elements.
    pub strides: Vec<u64>,
    /// What a binding must be long enough for, in bytes.
    pub total_size: u64,
    /// What a binding's offset is promised to be a multiple of; 0 where nothing is.
    pub alignment: u32,
}

/// Above this many elements, an output whose strides do not nest is refused unseen: whether two elements
/// share a place would take too long to find out.
const MOST_COMPARED: u64 = 1 << 20;

impl Tensor {
    /// Copies what a desc points at.
    ///
    /// # Safety
    ///
    /// `desc` is null, or good for reading; so are the pointers in it, and its arrays hold as many values as
    /// its count says, or eight where it says more.
    pub unsafe fn read(desc: *const DML_TENSOR_DESC) -> Result<Self, Refusal> {
        // SAFETY: the caller says so.
        let Some(desc) = (unsafe { desc.as_ref() }) else { return refuse("it is null") };
        if desc.Type != DML_TENSOR_TYPE_BUFFER {
            return refuse("its type is not BUFFER");
        }
        // SAFETY: the caller says so, and the type says which struct it is.
        let Some(buffer) = (unsafe { desc.Desc.cast::<DML_BUFFER_TENSOR_DESC>().as_ref() }) else {
            return refuse("its desc is null");
        };
        let count = buffer.DimensionCount;
        if count > DML_TENSOR_DIMENSION_COUNT_MAX1 {
            return refuse("it has more dimensions than any operator takes");
        }
        // SAFETY: the caller says so, and the count is eight at most.
        let (sizes, strides) = unsafe { (list(buffer.Sizes, count), list(buffer.Strides, count)) };
        let Some(sizes) = sizes else { return refuse("it has no sizes") };
        let Some(element) = element_size(buffer.DataType) else { return refuse("its elements have no size") };
        if sizes.contains(&0) {
            return refuse("a size is 0");
        }
        if sizes.iter().map(|size| u128::from(*size)).fold(1, u128::saturating_mul) > u128::from(u32::MAX) {
            return refuse("it has 2^32 elements or more");
        }
        if buffer.Flags != DML_TENSOR_FLAG_NONE && buffer.Flags != DML_TENSOR_FLAG_OWNED_BY_DML {
            return refuse("a flag has no name");
        }
        let alignment = buffer.GuaranteedBaseOffsetAlignment;
        if alignment != 0 && (!alignment.is_power_of_two() || u64::from(alignment) < element) {
            return refuse("its alignment is no power of two, or smaller than an element");
        }
        let strides = match strides {
            Some(strides) => strides.into_iter().map(u64::from).collect(),
            None => packed(&sizes),
        };
        let tensor = Self {
            data_type: buffer.DataType,
            element,
            owned: buffer.Flags == DML_TENSOR_FLAG_OWNED_BY_DML,
            sizes,
            strides,
            total_size: buffer.TotalTensorSizeInBytes,
            alignment,
        };
        if u128::from(tensor.total_size) < tensor.needed_size() {
            return refuse("its total size is too small for its sizes and strides");
        }
        Ok(tensor)
    }

    /// How many elements: fewer than 2^32.
    pub fn count(&self) -> u64 {
        self.sizes.iter().map(|size| u64::from(*size)).product()
    }

    /// Bytes up to the last element, rounded up to a multiple of four.
    fn needed_size(&self) -> u128 {
        let steps = |(size, stride): (&u32, &u64)| u128::from(size - 1) * u128::from(*stride);
        let last: u128 = self.sizes.iter().zip(&self.strides).map(steps).sum();
        ((last + 1) * u128::from(self.element)).next_multiple_of(4)
    }

    /// Whether two of its elements may share a place.
    pub fn overlaps(&self) -> bool {
        let axes = self.sizes.iter().zip(&self.strides).filter(|(size, _)| **size > 1);
        let mut axes: Vec<(u64, u64)> =
            axes.map(|(size, stride)| (*stride, u64::from(size - 1) * *stride)).collect();
        axes.sort_unstable();
        // Where each stride passes what all smaller ones reach together, no two elements meet.
        let mut reach = 0;
        let nested = axes.iter().all(|(stride, span)| {
            let passes = *stride > reach;
            reach += span;
            passes
        });
        if nested {
            return false;
        }
        if self.count() > MOST_COMPARED {
            return true;
        }
        let mut seen = HashSet::new();
        let mut places = vec![0];
        for (size, stride) in self.sizes.iter().zip(&self.strides) {
            places =
                places.iter().flat_map(|at| (0..u64::from(*size)).map(move |c| at + c * stride)).collect();
        }
        !places.into_iter().all(|place: u64| seen.insert(place))
    }
}

/// Bytes of an element of a type that an operator here may have.
fn element_size(data_type: DML_TENSOR_DATA_TYPE) -> Option<u64> {
    // In the order of the enumeration, from FLOAT32 to INT64.
    const SIZES: [u64; 11] = [4, 2, 4, 2, 1, 4, 2, 1, 8, 8, 8];
    usize::try_from(data_type.0).ok()?.checked_sub(1).and_then(|index| SIZES.get(index)).copied()
}

/// The strides of a tensor without holes.
fn packed(sizes: &[u32]) -> Vec<u64> {
    let mut strides = vec![1; sizes.len()];
    for axis in (1..sizes.len()).rev() {
        strides[axis - 1] = strides[axis] * u64::from(sizes[axis]);
    }
    strides
}

/// Copies an array, if there is one.
///
/// # Safety
///
/// `values` is null, or that many values can be read there.
pub(crate) unsafe fn list<T: Copy>(values: *const T, count: u32) -> Option<Vec<T>> {
    if values.is_null() {
        return None;
    }
    // SAFETY: the caller says so.
    Some(unsafe { std::slice::from_raw_parts(values, count as usize) }.to_vec())
}

#[cfg(test)]
mod tests {
    use dmlcts_directml::raw::DML_TENSOR_DATA_TYPE_FLOAT16;

    use super::*;

    fn tensor(sizes: &[u32], strides: &[u64]) -> Tensor {
        Tensor {
            data_type: DML_TENSOR_DATA_TYPE_FLOAT16,
            element: 2,
            owned: false,
            sizes: sizes.to_vec(),
            strides: strides.to_vec(),
            total_size: 0,
            alignment: 0,
        }
    }

    #[test]
    fn strides_without_holes_count_the_elements_further_in() {
        assert_eq!(packed(&[2, 3, 4]), [12, 4, 1]);
        assert_eq!(packed(&[7]), [1]);
        assert_eq!(packed(&[]), [0; 0]);
    }

    #[test]
    fn the_needed_size_ends_with_the_last_element_in_fours() {
        assert_eq!(tensor(&[3], &[1]).needed_size(), 8);
        assert_eq!(tensor(&[2, 3], &[10, 0]).needed_size(), 24);
        assert!(tensor(&[u32::MAX], &[u64::from(u32::MAX)]).needed_size() > u128::from(u64::MAX));
    }

    #[test]
    fn two_elements_in_one_place_are_found() {
        assert!(!tensor(&[2, 3], &[3, 1]).overlaps());
        assert!(!tensor(&[3, 2], &[1, 3]).overlaps());
        assert!(!tensor(&[1, 3], &[0, 1]).overlaps());
        assert!(tensor(&[2, 3], &[0, 1]).overlaps());
        assert!(tensor(&[2, 3], &[2, 1]).overlaps());
        // Not nested: 0, 3, 6, 9 with 0, 2, 4 behind each are apart, and 0, 2, 4, 6 with 0, 3, 6 are not.
        assert!(!tensor(&[4, 3], &[3, 2]).overlaps());
        assert!(tensor(&[4, 3], &[2, 3]).overlaps());
    }
}
