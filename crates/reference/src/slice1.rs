//! SLICE1 (page: ns-directml-dml_slice1_operator_desc).
//!
//! ```text
//! CopyStart = InputWindowOffsets
//! for each axis i with InputWindowStrides[i] < 0:
//!     CopyStart[i] += InputWindowSizes[i] - 1
//! OutputTensor[c] = InputTensor[CopyStart + InputWindowStrides * c]
//! ```

use dmlcts_backend::Refusal;
use dmlcts_model::{Desc, Value};

use crate::support::{EVERY, SupportRow, UP_TO_32_BITS};
use crate::tensor::{Axes, Pair, ints, pair, uints};
use crate::walk::{Steps, Walk};
use crate::{Checks, Operator, Plan, invalid};

/// Page: Tensor support.
const SUPPORT: &[SupportRow] = &[
    SupportRow { since: 0x2100, dimensions: 4..=5, types: UP_TO_32_BITS },
    SupportRow { since: 0x3000, dimensions: 1..=8, types: UP_TO_32_BITS },
    SupportRow { since: 0x4100, dimensions: 1..=8, types: EVERY },
];

/// A desc that passed the checks.
pub(crate) struct Checked<'a> {
    pair: Pair<'a>,
    copy_start: Axes,
    strides: &'a [i64],
}

/// Validates the desc.
#[inline]
pub(crate) fn check<'a>(desc: &'a Desc, checks: Checks<'_>) -> Result<Checked<'a>, Refusal> {
    let pair = pair(desc, checks, SUPPORT)?;
    // The order is that of the struct.
    let [Value::Integer(count), Value::List(offsets), Value::List(sizes), Value::List(strides)] =
        desc.members.as_slice()
    else {
        return Err(invalid("the desc has not the members of SLICE1"));
    };
    pair.check_count(*count, checks)?;
    let offsets = uints(offsets.as_ref(), pair.rank).map_err(|fault| fault.refusal("InputWindowOffsets"))?;
    let sizes = uints(sizes.as_ref(), pair.rank).map_err(|fault| fault.refusal("InputWindowSizes"))?;
    let strides = ints(strides.as_ref(), pair.rank).map_err(|fault| fault.refusal("InputWindowStrides"))?;

    let mut copy_start = [0; 8];
    for axis in 0..pair.rank {
        if sizes[axis] == 0 {
            checks.refuse("the window is empty")?;
        }
        if offsets[axis] + sizes[axis] > pair.input.sizes[axis] {
            checks.refuse("the window reaches beyond the input")?;
        }
        if strides[axis] == 0 {
            checks.refuse("a stride is 0")?;
        }
        // The page allows 1 + (size - 1) / stride elements, so the last element must lie in the window. The
        // page divides by the signed stride, but its own Example 2 needs the magnitude.
        let last = (pair.output.sizes[axis] - 1) * strides[axis].abs();
        if last > sizes[axis] - 1 {
            checks.refuse("the output is larger than what the window's strides reach")?;
        }
        copy_start[axis] = offsets[axis];
        if strides[axis] < 0 {
            copy_start[axis] += sizes[axis] - 1;
        }
    }
    Ok(Checked { pair, copy_start, strides })
}

/// Plans the copy.
#[inline]
pub(crate) fn create(Checked { pair, copy_start, strides }: Checked<'_>) -> Operator {
    let steps = |axis: usize| Steps { start: copy_start[axis] as u32, step: strides[axis] as i32 };
    Operator::new(Plan::Slice(Walk::new(&pair, steps)), &pair)
}
