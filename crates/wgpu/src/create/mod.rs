//! Creates an operator: turns a raw desc into a [`Plan`] of copies, or refuses it.
//!
//! The rules are those of the operators' pages and of the page of buffer tensors, at the newest feature
//! level. They are written by hand here, because a backend that used another implementation's validation
//! would prove nothing.
//!
//! At points that the pages leave open, this backend does the same as DirectML where that is known:
//!
//! * SLICE with a stride of 0 or above `INT_MAX` is refused.
//! * REFLECTION of a single element repeats the element.
//! * A `TotalTensorSizeInBytes` that is not a multiple of 4 is accepted if it is large enough.
//! * An alignment below 16 is accepted.
//! * Flags without a name are refused.
//! * Strides that span more than 2^32 - 1 elements are refused, since no `UINT` can count them.

mod overlap;
mod padding;
mod slice;
mod tensor;

pub(crate) use tensor::width_of;

use dmlcts_backend::Refusal;
use dmlcts_model::{Desc, Tensor};

use crate::plan::Plan;

/// Creates an operator.
pub(crate) fn create(desc: &Desc) -> Result<Plan, Refusal> {
    let plan = match desc.signature.operator.as_str() {
        "SLICE" => slice::slice(desc),
        "SLICE1" => slice::slice1(desc),
        "PADDING1" => padding::padding1(desc),
        _ => Err(Refusal::Unsupported("there are kernels for SLICE, SLICE1 and PADDING1 only".into())),
    }?;
    // This comes last, because it can give up. A desc that breaks another rule is invalid.
    if let Some(Tensor { sizes: Some(sizes), strides: Some(strides), .. }) = &desc.output {
        overlap::check(sizes, strides)?;
    }
    Ok(plan)
}

/// A refusal of an invalid desc.
#[cold]
fn invalid(reason: &'static str) -> Refusal {
    Refusal::Invalid(reason.into())
}
