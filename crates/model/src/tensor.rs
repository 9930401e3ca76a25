//! `DML_BUFFER_TENSOR_DESC`, and the arithmetic of its memory.

use crate::{DataType, List};

/// A buffer tensor desc, with every field of `DML_BUFFER_TENSOR_DESC`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tensor {
    /// `DataType`.
    pub data_type: DataType,
    /// `Flags`: 0, or 1 for OWNED_BY_DML.
    pub flags: u32,
    /// `DimensionCount`, which may differ from the lengths of the lists.
    pub dimension_count: u32,
    /// `Sizes`, in elements, outermost axis first; `None` is a null pointer.
    pub sizes: Option<List>,
    /// `Strides`, in elements; `None` is a null pointer and means packed.
    pub strides: Option<List>,
    /// `TotalTensorSizeInBytes`.
    pub total_size: u64,
    /// `GuaranteedBaseOffsetAlignment`, in bytes; 0 guarantees nothing.
    pub alignment: u32,
}

impl Tensor {
    /// A packed tensor, with the usual value in every field.
    pub fn packed(data_type: DataType, sizes: List) -> Self {
        let mut tensor = Self {
            data_type,
            flags: 0,
            dimension_count: sizes.len() as u32,
            sizes: Some(sizes),
            strides: None,
            total_size: 0,
            alignment: 0,
        };
        tensor.total_size = tensor.usual_total_size();
        tensor
    }

    /// The `TotalTensorSizeInBytes` that the sizes and strides need. DirectML's documentation computes it
    /// with `DMLCalcBufferTensorSize`; this computation does not wrap around. 0 if the sizes or strides are
    /// invalid, and `u64::MAX` if the result does not fit.
    pub fn usual_total_size(&self) -> u64 {
        let Some(sizes) = &self.sizes else { return 0 };
        required_bytes(sizes, self.strides.as_deref(), self.data_type).unwrap_or(0)
    }
}

/// Strides of a tensor without gaps between elements, innermost axis last; saturating.
pub fn packed_strides(sizes: &[i64]) -> List {
    let mut strides = List::from_elem(1, sizes.len());
    for axis in (1..sizes.len()).rev() {
        strides[axis - 1] = strides[axis].saturating_mul(sizes[axis]);
    }
    strides
}

/// The number of elements; saturates at `u128::MAX`. 1 for an empty list.
pub fn element_count(sizes: &[i64]) -> u128 {
    sizes.iter().fold(1, |count: u128, &size| count.saturating_mul(size.max(0) as u128))
}

/// The number of elements from the first to the last that the sizes and strides reach: `Σ (size-1)*stride +
/// 1`. `None` if a size is below 1 or the lists differ in length.
pub fn span_elements(sizes: &[i64], strides: Option<&[i64]>) -> Option<u128> {
    if sizes.iter().any(|&size| size < 1) {
        return None;
    }
    let Some(strides) = strides else { return Some(element_count(sizes)) };
    if strides.len() != sizes.len() {
        return None;
    }
    let reach = |(&size, &stride): (&i64, &i64)| (size as u128 - 1).saturating_mul(stride.max(0) as u128);
    Some(sizes.iter().zip(strides).map(reach).fold(1, u128::saturating_add))
}

/// The number of bytes that a tensor needs, rounded up to four (page: DML_BUFFER_TENSOR_DESC, Members /
/// TotalTensorSizeInBytes). `u64::MAX` if it does not fit. `None` if the lists or the data type are invalid.
pub fn required_bytes(sizes: &[i64], strides: Option<&[i64]>, data_type: DataType) -> Option<u64> {
    let bits = span_elements(sizes, strides)?.saturating_mul(u128::from(data_type.bits()?));
    let bytes = bits.div_ceil(8).div_ceil(4).saturating_mul(4);
    Some(u64::try_from(bytes).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use smallvec::smallvec;

    #[test]
    fn packed_tensors_need_their_elements_rounded_up_to_four_bytes() {
        assert_eq!(packed_strides(&[2, 3, 4]).as_slice(), [12, 4, 1]);
        assert_eq!(required_bytes(&[3, 1], None, DataType::UINT8), Some(4));
        assert_eq!(required_bytes(&[5], None, DataType::INT4), Some(4));
        assert_eq!(Tensor::packed(DataType::FLOAT64, smallvec![2, 3]).total_size, 48);
    }

    #[test]
    fn strides_reach_from_the_first_to_the_last_element() {
        assert_eq!(span_elements(&[2, 3], Some(&[10, 2])), Some(15));
        assert_eq!(span_elements(&[2, 3], Some(&[0, 0])), Some(1));
        assert_eq!(span_elements(&[2, 0], None), None);
        assert_eq!(span_elements(&[2, 3], Some(&[1])), None);
    }

    #[test]
    fn nothing_wraps() {
        let huge = [i64::from(u32::MAX); 8];
        assert_eq!(required_bytes(&huge, None, DataType::FLOAT64), Some(u64::MAX));
        assert_eq!(required_bytes(&huge, Some(&huge), DataType::UINT8), Some(u64::MAX));
        assert_eq!(packed_strides(&huge)[0], i64::MAX);
    }
}
