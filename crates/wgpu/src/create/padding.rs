//! PADDING1 (page: DML_PADDING1_OPERATOR_DESC). On each axis, output coordinate `c` reads `c - StartPadding`.
//! Outside the input, the mode determines the value.

use dmlcts_backend::Refusal;
use dmlcts_model::{Desc, Value};

use super::{
    invalid,
    slice::agreed_rank,
    tensor::{tensors, unsigned},
};
use crate::plan::{Mode, Plan};

/// Creates PADDING1.
pub(super) fn padding1(desc: &Desc) -> Result<Plan, Refusal> {
    let tensors = tensors(desc)?;
    let [
        Value::Integer(mode),
        Value::Integer(value_type),
        Value::Scalar(value),
        Value::Integer(count),
        Value::List(start),
        Value::List(end),
    ] = desc.members.as_slice()
    else {
        return Err(invalid("the members are not those of PADDING1"));
    };
    // WRAP is in the header and in the history of feature levels, but not on the page.
    let mode = match mode {
        0 => Mode::Constant,
        1 => Mode::Edge,
        2 => Mode::Reflection,
        3 => Mode::Symmetric,
        4 => Mode::Wrap,
        _ => return Err(invalid("PaddingMode is no mode")),
    };
    if *value_type != tensors.data_type {
        // This applies in every mode, although most modes do not use the value.
        return Err(invalid("PaddingValueDataType is not the tensors' data type"));
    }
    let rank = agreed_rank(&tensors, *count)?;
    let start = unsigned(start.as_ref(), rank, "StartPadding")?;
    let end = unsigned(end.as_ref(), rank, "EndPadding")?;
    let mut plan = Plan::new(&tensors.shape());
    plan.pad_with(mode, *value);
    for axis in (0..rank).rev() {
        let n = tensors.input.sizes[axis];
        // The sum of three numbers below 2^32.
        if start[axis] + n + end[axis] != tensors.output.sizes[axis] {
            return Err(invalid("OutputTensor.Sizes is not InputTensor.Sizes with both paddings"));
        }
        plan.fold(mode, n, start[axis], end[axis], tensors.strides(axis));
    }
    Ok(plan)
}
