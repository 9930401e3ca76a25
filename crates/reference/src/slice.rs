//! SLICE (page: ns-directml-dml_slice_operator_desc).
//!
//! ```text
//! OutputTensor[c] = InputTensor[Offsets + Strides * c]
//! ```

use dmlcts_backend::Refusal;
use dmlcts_model::{DataType, Desc, FeatureLevel, Value};

use crate::support::{EVERY, Row, Types, UP_TO_32_BITS};
use crate::tensor::{pair, uints};
use crate::walk::{Steps, Walk};
use crate::{Operator, Plan, invalid};

/// Page: Tensor support.
const SUPPORT: &[Row] = &[
    Row { since: 0x1000, dimensions: 4..=5, types: FIRST_TYPES },
    Row { since: 0x2100, dimensions: 4..=5, types: UP_TO_32_BITS },
    Row { since: 0x3000, dimensions: 1..=8, types: UP_TO_32_BITS },
    Row { since: 0x4100, dimensions: 1..=8, types: EVERY },
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

/// Validates the desc and plans the copy.
pub(crate) fn create(desc: &Desc, level: FeatureLevel) -> Result<Operator, Refusal> {
    let pair = pair(desc, level, SUPPORT)?;
    // The order is that of the struct.
    let [Value::Integer(count), Value::List(offsets), Value::List(sizes), Value::List(strides)] =
        desc.members.as_slice()
    else {
        return Err(invalid("the desc has not the members of SLICE"));
    };
    if *count != pair.rank as i64 {
        return Err(invalid("DimensionCount is not that of the tensors"));
    }
    let offsets = uints(offsets.as_ref(), pair.rank).map_err(|fault| fault.refusal("Offsets"))?;
    let sizes = uints(sizes.as_ref(), pair.rank).map_err(|fault| fault.refusal("Sizes"))?;
    let strides = uints(strides.as_ref(), pair.rank).map_err(|fault| fault.refusal("Strides"))?;

    for axis in 0..pair.rank {
        if sizes[axis] != pair.output.sizes[axis] {
            return Err(invalid("Sizes is not OutputTensor.Sizes"));
        }
        // The page leaves this open: it does not mention 0.
        if strides[axis] == 0 {
            return Err(invalid("a stride is 0"));
        }
        // The page leaves this open: its strides are UINT, without a bound.
        if strides[axis] > i64::from(i32::MAX) {
            return Err(invalid("a stride is above INT_MAX"));
        }
        // The sum is below 2^32 + 2^32 * 2^31.
        let last = offsets[axis] + (sizes[axis] - 1) * strides[axis];
        if last >= pair.input.sizes[axis] {
            return Err(invalid("the slice reads beyond the input"));
        }
    }
    let steps = |axis: usize| Steps { start: offsets[axis] as u32, step: strides[axis] as i32 };
    Ok(Operator {
        plan: Plan::Slice(Walk::new(&pair, steps)),
        element_size: pair.element_size,
        required: [pair.input.required_bytes, pair.output.required_bytes],
    })
}
