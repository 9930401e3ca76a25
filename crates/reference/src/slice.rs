//! SLICE (page: ns-directml-dml_slice_operator_desc).
//!
//! ```text
//! OutputTensor[c] = InputTensor[Offsets + Strides * c]
//! ```

use dmlcts_backend::Refusal;
use dmlcts_model::{DataType, Desc, Value};

use crate::support::{EVERY, SupportRow, Types, UP_TO_32_BITS};
use crate::tensor::{Pair, pair, uints};
use crate::walk::{Steps, Walk};
use crate::{Checks, Operator, Plan, invalid};

/// Page: Tensor support.
const SUPPORT: &[SupportRow] = &[
    SupportRow { since: 0x1000, dimensions: 4..=5, types: FIRST_TYPES },
    SupportRow { since: 0x2100, dimensions: 4..=5, types: UP_TO_32_BITS },
    SupportRow { since: 0x3000, dimensions: 1..=8, types: UP_TO_32_BITS },
    SupportRow { since: 0x4100, dimensions: 1..=8, types: EVERY },
];

/// Level 1.0 has no types of 8 bits.
const FIRST_TYPES: Types = Types::new(&[
    DataType::FLOAT32,
    DataType::FLOAT16,
    DataType::INT32,
    DataType::INT16,
    DataType::UINT32,
    DataType::UINT16,
]);

/// A desc that passed the checks.
pub(crate) struct Checked<'a> {
    pair: Pair<'a>,
    offsets: &'a [i64],
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
        return Err(invalid("the desc has not the members of SLICE"));
    };
    pair.check_count(*count, checks)?;
    let offsets = uints(offsets.as_ref(), pair.rank).map_err(|fault| fault.refusal("Offsets"))?;
    let sizes = uints(sizes.as_ref(), pair.rank).map_err(|fault| fault.refusal("Sizes"))?;
    let strides = uints(strides.as_ref(), pair.rank).map_err(|fault| fault.refusal("Strides"))?;

    for axis in 0..pair.rank {
        if sizes[axis] != pair.output.sizes[axis] {
            checks.refuse("Sizes is not OutputTensor.Sizes")?;
        }
        // The page leaves this open: it does not mention 0.
        if strides[axis] == 0 {
            checks.refuse("a stride is 0")?;
        }
        // The page leaves this open: its strides are UINT, without a bound.
        if strides[axis] > i64::from(i32::MAX) {
            checks.refuse("a stride is above INT_MAX")?;
        }
        // The sum is below 2^32 + 2^32 * 2^31; unless the check of the stride is missing.
        let last = (sizes[axis] - 1).saturating_mul(strides[axis]).saturating_add(offsets[axis]);
        if last >= pair.input.sizes[axis] {
            checks.refuse("the slice reads beyond the input")?;
        }
    }
    Ok(Checked { pair, offsets, strides })
}

/// Plans the copy.
#[inline]
pub(crate) fn create(Checked { pair, offsets, strides }: Checked<'_>) -> Operator {
    let steps = |axis: usize| Steps { start: offsets[axis] as u32, step: strides[axis] as i32 };
    Operator::new(Plan::Slice(Walk::new(&pair, steps)), &pair)
}
