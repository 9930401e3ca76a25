//! The rules of the page of `DML_BUFFER_TENSOR_DESC` for every tensor, and the rules for pairs of tensors
//! that the pages of all three operators share.

use dmlcts_backend::Refusal;
use dmlcts_model::{DataType, Desc, List, Side, Tensor};

use crate::support::{self, SupportRow};
use crate::{Checks, invalid};

/// One value for each axis. No valid desc has more than eight axes.
pub(crate) type Axes = [i64; 8];

/// The layout of a valid tensor. All values fit 32 bits, and so does the distance from the first element to
/// the last.
pub(crate) struct TensorLayout<'a> {
    pub(crate) sizes: &'a [i64],
    /// In elements; the packed strides if the desc has none.
    pub(crate) strides: Axes,
    /// The number of bytes from the first element to the end of the last one.
    pub(crate) required_bytes: u64,
}

/// Both tensors of a desc.
pub(crate) struct Pair<'a> {
    pub(crate) rank: usize,
    pub(crate) data_type: DataType,
    pub(crate) element_size: usize,
    pub(crate) input: TensorLayout<'a>,
    pub(crate) output: TensorLayout<'a>,
}

impl Pair<'_> {
    /// Checks the operator's own number of axes.
    #[inline]
    pub(crate) fn check_count(&self, count: i64, checks: Checks<'_>) -> Result<(), Refusal> {
        if count == self.rank as i64 {
            return Ok(());
        }
        checks.refuse("DimensionCount is not that of the tensors")
    }
}

/// Validates both tensors, and checks that their types and dimension counts agree.
#[inline]
pub(crate) fn pair<'a>(
    desc: &'a Desc,
    checks: Checks<'_>,
    rows: &'static [SupportRow],
) -> Result<Pair<'a>, Refusal> {
    let row = support::at(checks, rows)?;
    let input = desc.input.as_ref().ok_or_else(|| invalid("InputTensor is null"))?;
    let output = desc.output.as_ref().ok_or_else(|| invalid("OutputTensor is null"))?;
    if input.data_type != output.data_type {
        checks.refuse("the tensors' data types differ")?;
    }
    if input.dimension_count != output.dimension_count {
        checks.refuse("the tensors' dimension counts differ")?;
    }
    if !row.types.contains(input.data_type) {
        checks.refuse("the data type is not supported at this feature level")?;
    }
    if !row.dimensions.contains(&input.dimension_count) {
        checks.refuse("the dimension count is not supported at this feature level")?;
    }
    let rank = input.dimension_count as usize;
    if rank > Axes::default().len() {
        return Err(invalid("there are more than eight axes"));
    }
    Ok(Pair {
        rank,
        data_type: input.data_type,
        element_size: element_size(input.data_type),
        input: layout(input, Side::Input, rank, checks)?,
        output: layout(output, Side::Output, rank, checks)?,
    })
}

/// The number of bytes of an element of a supported type.
#[inline]
fn element_size(data_type: DataType) -> usize {
    match data_type {
        DataType::FLOAT16 | DataType::INT16 | DataType::UINT16 => 2,
        DataType::FLOAT32 | DataType::INT32 | DataType::UINT32 => 4,
        DataType::FLOAT64 | DataType::INT64 | DataType::UINT64 => 8,
        _ => 1,
    }
}

/// Validates one tensor whose dimension count is between 1 and 8.
#[inline]
fn layout<'a>(
    tensor: &'a Tensor,
    side: Side,
    rank: usize,
    checks: Checks<'_>,
) -> Result<TensorLayout<'a>, Refusal> {
    let element_size = element_size(tensor.data_type);
    let sizes = uints(tensor.sizes.as_ref(), rank).map_err(|fault| fault.of(side, "Sizes"))?;
    // Without strides the elements are contiguous: the innermost axis has a stride of one, and each other
    // axis has a stride of the number of elements inside it.
    let mut strides = [1; 8];
    let mut count: u64 = 1;
    for (stride, &size) in strides[..rank].iter_mut().zip(sizes).rev() {
        if size == 0 {
            checks.refuse("a size is 0")?;
        }
        *stride = count as i64;
        // Both factors fit 32 bits, so the product fits 64 bits; unless the check of the count is missing.
        count = count.saturating_mul(size as u64);
        if count > u64::from(u32::MAX) {
            checks.refuse("a tensor has more than 2^32 - 1 elements")?;
        }
    }
    let mut span = count;
    if tensor.strides.is_some() {
        let given = uints(tensor.strides.as_ref(), rank).map_err(|fault| fault.of(side, "Strides"))?;
        strides[..rank].copy_from_slice(given);
        span = 1;
        for (&size, &stride) in sizes.iter().zip(given) {
            // At most 2^32 + (2^32 - 2) * (2^32 - 1), which fits 64 bits.
            span += (size as u64 - 1) * stride as u64;
            if span > u64::from(u32::MAX) {
                checks.refuse("a tensor's strides span more than 2^32 - 1 elements")?;
            }
        }
    }
    let required_bytes = span.saturating_mul(element_size as u64);
    if tensor.total_size < required_bytes.div_ceil(4).saturating_mul(4) {
        checks.refuse("TotalTensorSizeInBytes is less than sizes and strides need")?;
    }

    if tensor.alignment != 0
        && (!tensor.alignment.is_power_of_two() || (tensor.alignment as usize) < element_size)
    {
        checks.refuse(
            "GuaranteedBaseOffsetAlignment is neither 0 nor a power of two of the element's size or more",
        )?;
    }
    match (tensor.flags, side) {
        (0, _) | (1, Side::Input) => {}
        (1, Side::Output) => checks.refuse("DML_TENSOR_FLAG_OWNED_BY_DML is for inputs only")?,
        _ => checks.refuse("a tensor has flags without a name")?,
    }
    Ok(TensorLayout { sizes, strides, required_bytes })
}

/// The mistake in a list.
pub(crate) enum ListFault {
    Null,
    Length,
    Range,
}

impl ListFault {
    /// The refusal for a list of a tensor desc.
    fn of(self, side: Side, list: &str) -> Refusal {
        self.refusal(&format!("{}.{list}", side.member_name()))
    }

    /// The refusal for a list with this name.
    pub(crate) fn refusal(self, name: &str) -> Refusal {
        let what = match self {
            Self::Null => "is null",
            Self::Length => "has not one value an axis",
            Self::Range => "holds what its type cannot hold",
        };
        Refusal::Invalid(format!("{name} {what}").into())
    }
}

/// A `UINT` list with one value for each axis.
#[inline]
pub(crate) fn uints(list: Option<&List>, rank: usize) -> Result<&[i64], ListFault> {
    // The bits of the value itself. A negative value has the highest bit.
    values(list, rank, u64::from(u32::MAX), |value| value as u64)
}

/// An `INT` list with one value for each axis.
#[inline]
pub(crate) fn ints(list: Option<&List>, rank: usize) -> Result<&[i64], ListFault> {
    // A negative value is replaced by its complement, which has the same range as the values that are not
    // negative.
    values(list, rank, i32::MAX as u64, |value| (value ^ (value >> 63)) as u64)
}

/// A list with one value for each axis. `bits` of each value may only have bits of `allowed`.
#[inline]
fn values(
    list: Option<&List>,
    rank: usize,
    allowed: u64,
    bits: impl Fn(i64) -> u64,
) -> Result<&[i64], ListFault> {
    let list = list.ok_or(ListFault::Null)?.as_slice();
    if list.len() != rank {
        return Err(ListFault::Length);
    }
    if list.iter().fold(0, |all, &value| all | bits(value)) & !allowed != 0 {
        return Err(ListFault::Range);
    }
    Ok(list)
}
