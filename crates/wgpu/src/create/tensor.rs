//! The rules for the two tensors of every operator (page: DML_BUFFER_TENSOR_DESC).

use dmlcts_backend::Refusal;
use dmlcts_model::{DataType, Desc, List, Side, Tensor};

use super::invalid;
use crate::plan::Shape;

/// The maximum number of elements that a `UINT` can count.
const MOST_ELEMENTS: u64 = u32::MAX as u64;

/// Both tensors of a desc, which have the same type and rank.
pub(super) struct Tensors<'a> {
    pub(super) rank: usize,
    /// The code of their data type.
    pub(super) data_type: i64,
    /// The bytes of an element.
    pub(super) width: u32,
    pub(super) input: Valid<'a>,
    pub(super) output: Valid<'a>,
}

/// A valid tensor. Its sizes are between 1 and 2^32 - 1, and so is the number of elements from its first to
/// its last.
pub(super) struct Valid<'a> {
    pub(super) sizes: &'a [i64],
    /// In elements, one for each axis.
    pub(super) strides: [u32; 8],
    /// Whether the elements are contiguous in the order of coordinates.
    pub(super) packed: bool,
    /// `TotalTensorSizeInBytes`.
    pub(super) bytes: u64,
}

/// The number of bytes of an element, for the types that the operators support.
pub(crate) fn width_of(data_type: DataType) -> Option<u32> {
    // Indexed by code, in the order of the header. Codes 12 and 13 are half a byte wide.
    const WIDTHS: [u32; 12] = [0, 4, 2, 4, 2, 1, 4, 2, 1, 8, 8, 8];
    WIDTHS.get(data_type.0 as usize).copied().filter(|&width| width > 0)
}

/// Checks both tensors.
pub(super) fn tensors(desc: &Desc) -> Result<Tensors<'_>, Refusal> {
    let Some(input) = &desc.input else { return Err(invalid("InputTensor is null")) };
    let Some(output) = &desc.output else { return Err(invalid("OutputTensor is null")) };
    let Some(width) = width_of(input.data_type) else {
        return Err(invalid("InputTensor.DataType is none of those that are supported"));
    };
    if output.data_type != input.data_type {
        return Err(invalid("OutputTensor.DataType is not InputTensor.DataType"));
    }
    let rank = input.dimension_count as usize;
    if !(1..=8).contains(&rank) {
        return Err(invalid("InputTensor.DimensionCount is not between 1 and 8"));
    }
    if output.dimension_count != input.dimension_count {
        return Err(invalid("OutputTensor.DimensionCount is not InputTensor.DimensionCount"));
    }
    Ok(Tensors {
        rank,
        data_type: i64::from(input.data_type.0),
        width,
        input: check(input, rank, width, Side::Input)?,
        output: check(output, rank, width, Side::Output)?,
    })
}

fn check(tensor: &Tensor, rank: usize, width: u32, side: Side) -> Result<Valid<'_>, Refusal> {
    let [named_sizes, named_strides] = match side {
        Side::Input => ["InputTensor.Sizes", "InputTensor.Strides"],
        Side::Output => ["OutputTensor.Sizes", "OutputTensor.Strides"],
    };
    let sizes = unsigned(tensor.sizes.as_ref(), rank, named_sizes)?;
    // From the innermost axis outwards, the number of elements so far is the packed stride of the next axis.
    let mut strides = [1; 8];
    let mut elements = 1_u64;
    for (axis, &size) in sizes.iter().enumerate().rev() {
        strides[axis] = elements as u32;
        // Both factors are below 2^32.
        elements *= size as u64;
        if elements == 0 || elements > MOST_ELEMENTS {
            return Err(invalid("a tensor has no elements, or more than 2^32 - 1"));
        }
    }
    let mut packed = true;
    let mut span = elements;
    if tensor.strides.is_some() {
        let given = unsigned(tensor.strides.as_ref(), rank, named_strides)?;
        span = 1;
        for axis in 0..rank {
            let (size, stride) = (sizes[axis] as u64, given[axis] as u32);
            packed &= size == 1 || stride == strides[axis];
            strides[axis] = stride;
            // The sum is below 2^32 + 2^32 * 2^32.
            span = span.saturating_add((size - 1) * u64::from(stride));
            if span > MOST_ELEMENTS {
                return Err(invalid("a tensor's strides span more than 2^32 - 1 elements"));
            }
        }
    }
    let needed = (span * u64::from(width)).next_multiple_of(4);
    if tensor.total_size < needed {
        return Err(invalid("TotalTensorSizeInBytes is less than the tensor needs"));
    }
    let alignment = tensor.alignment;
    if alignment != 0 && (alignment < width || !alignment.is_power_of_two()) {
        return Err(invalid(
            "GuaranteedBaseOffsetAlignment is no power of two of at least an element's size",
        ));
    }
    if tensor.flags > u32::from(side == Side::Input) {
        return Err(invalid("a tensor has flags that have no meaning for it"));
    }
    Ok(Valid { sizes, strides, packed, bytes: tensor.total_size })
}

/// A list of `UINT`, one for each axis.
pub(super) fn unsigned<'a>(
    list: Option<&'a List>,
    rank: usize,
    name: &'static str,
) -> Result<&'a [i64], Refusal> {
    let list = list.map(List::as_slice).filter(|list| list.len() == rank);
    // A negative number has bits above the lower 32, too.
    list.filter(|list| list.iter().fold(0, |all, &value| all | value) >> 32 == 0)
        .ok_or_else(|| not_one_an_axis(name, "UINT"))
}

/// A list of `INT`, one for each axis.
pub(super) fn signed<'a>(
    list: Option<&'a List>,
    rank: usize,
    name: &'static str,
) -> Result<&'a [i64], Refusal> {
    let list = list.map(List::as_slice).filter(|list| list.len() == rank);
    list.filter(|list| list.iter().all(|&value| i32::try_from(value).is_ok()))
        .ok_or_else(|| not_one_an_axis(name, "INT"))
}

#[cold]
fn not_one_an_axis(name: &str, kind: &str) -> Refusal {
    Refusal::Invalid(format!("{name} is not one {kind} for each axis").into())
}

impl Tensors<'_> {
    /// The shape for the plan of any operator.
    pub(super) fn shape(&self) -> Shape {
        // The product is below 2^32, as checked above.
        let elements = self.output.sizes.iter().fold(1, |count: u32, &size| count.wrapping_mul(size as u32));
        Shape {
            width: self.width,
            elements,
            packed: self.output.packed,
            bytes: [self.input.bytes, self.output.bytes],
        }
    }

    /// The strides of input and output on an axis.
    pub(super) fn strides(&self, axis: usize) -> [u32; 2] {
        [self.input.strides[axis], self.output.strides[axis]]
    }
}
