//! Cases from bytes.

use arbitrary::{Error, Result, Unstructured};
use dmlcts_model::Case;

use crate::random_case::random_case;

/// A case of one of the embedded operators.
pub fn arbitrary_case(bytes: &mut Unstructured<'_>) -> Result<Case> {
    let index = bytes.arbitrary()?;
    let mutations = if bytes.ratio(1, 2)? { bytes.int_in_range(1..=3)? } else { 0 };
    random_case(index, mutations, bytes.arbitrary()?).ok_or(Error::IncorrectFormat)
}
