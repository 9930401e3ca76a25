//! Creating an operator: from a raw desc to a [`Plan`] of what to move where, or a refusal.
//!
//! The rules are those of the operators' pages and of the page of buffer tensors, at the newest feature level, written
//! here by hand: a device that asked somebody else what is valid would prove nothing.
//!
//! Where the pages leave a point open, this backend does as DirectML does where that is known: SLICE with a stride of
//! 0 or above `INT_MAX` is refused; REFLECTION of a single element repeats it; a `TotalTensorSizeInBytes` that is
//! no multiple of 4 is accepted if it is large enough; so is an alignment below 16. Flags without a name are refused,
//! and so are strides that span more than 2^32 - 1 elements, which no `UINT` can count.

mod overlap;
mod padding;
mod slice;
mod tensor;

pub(crate) use tensor::width_of;

use dmlcts_backend::Refusal;
use dmlcts_model::Desc;

use crate::plan::Plan;

/// Creates an operator.
pub(crate) fn create(desc: &Desc) -> Result<Plan, Refusal> {
    match desc.signature.operator.as_str() {
        "SLICE" => slice::slice(desc),
        "SLICE1" => slice::slice1(desc),
        "PADDING1" => padding::padding1(desc),
        _ => Err(Refusal::Unsupported("there are kernels for SLICE, SLICE1 and PADDING1 only".into())),
    }
}

/// A refusal of an invalid desc.
#[cold]
fn invalid(reason: &'static str) -> Refusal {
    Refusal::Invalid(reason.into())
}
