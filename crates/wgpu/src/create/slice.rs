//! SLICE (page: DML_SLICE_OPERATOR_DESC) and SLICE1 (page: DML_SLICE1_OPERATOR_DESC): on each axis, output
//! coordinate `c` reads `start + step * c`.

use dmlcts_backend::Refusal;
use dmlcts_model::{Desc, Value};

use super::{
    invalid,
    tensor::{Tensors, signed, tensors, unsigned},
};
use crate::plan::Plan;

/// Creates SLICE, which reads from `Offsets` in steps of `Strides`.
pub(super) fn slice(desc: &Desc) -> Result<Plan, Refusal> {
    let tensors = tensors(desc)?;
    let [Value::Integer(count), Value::List(offsets), Value::List(sizes), Value::List(strides)] =
        desc.members.as_slice()
    else {
        return Err(invalid("the members are not those of SLICE"));
    };
    let rank = agreed_rank(&tensors, *count)?;
    let offsets = unsigned(offsets.as_ref(), rank, "Offsets")?;
    let sizes = unsigned(sizes.as_ref(), rank, "Sizes")?;
    let strides = unsigned(strides.as_ref(), rank, "Strides")?;
    if sizes != tensors.output.sizes {
        return Err(invalid("Sizes is not OutputTensor.Sizes"));
    }
    let mut plan = Plan::new(&tensors.shape());
    for axis in (0..rank).rev() {
        if strides[axis] == 0 || strides[axis] > i64::from(i32::MAX) {
            return Err(invalid("a stride is not between 1 and INT_MAX"));
        }
        // The sum is below 2^32 + 2^32 * 2^31.
        if offsets[axis] + strides[axis] * (sizes[axis] - 1) >= tensors.input.sizes[axis] {
            return Err(invalid("the last element read lies outside of the input"));
        }
        plan.step(sizes[axis], offsets[axis], strides[axis], tensors.strides(axis));
    }
    Ok(plan)
}

/// Creates SLICE1, which reads a window, starting at its far end if the stride is negative.
pub(super) fn slice1(desc: &Desc) -> Result<Plan, Refusal> {
    let tensors = tensors(desc)?;
    let [Value::Integer(count), Value::List(offsets), Value::List(sizes), Value::List(strides)] =
        desc.members.as_slice()
    else {
        return Err(invalid("the members are not those of SLICE1"));
    };
    let rank = agreed_rank(&tensors, *count)?;
    let offsets = unsigned(offsets.as_ref(), rank, "InputWindowOffsets")?;
    let windows = unsigned(sizes.as_ref(), rank, "InputWindowSizes")?;
    let strides = signed(strides.as_ref(), rank, "InputWindowStrides")?;
    let mut plan = Plan::new(&tensors.shape());
    for axis in (0..rank).rev() {
        let (offset, window, stride) = (offsets[axis], windows[axis], strides[axis]);
        if window == 0 || offset + window > tensors.input.sizes[axis] {
            return Err(invalid("the window is empty, or reaches beyond the input"));
        }
        if stride == 0 {
            return Err(invalid("a stride is 0"));
        }
        // The page divides by the signed stride, but its own second example needs the magnitude. An output is
        // refused if it takes more steps than the window has room for.
        let size = tensors.output.sizes[axis];
        if (size - 1) * stride.abs() > window - 1 {
            return Err(invalid("the output has more elements than the window's strides reach"));
        }
        let start = if stride < 0 { offset + window - 1 } else { offset };
        plan.step(size, start, stride, tensors.strides(axis));
    }
    Ok(plan)
}

/// Returns the rank, which `DimensionCount` must repeat.
pub(super) fn agreed_rank(tensors: &Tensors<'_>, count: i64) -> Result<usize, Refusal> {
    if count == tensors.rank as i64 {
        Ok(tensors.rank)
    } else {
        Err(invalid("DimensionCount is not the tensors' DimensionCount"))
    }
}
