//! The test vectors of other projects, as they are: every case of every file, on the types and ranks of the
//! part.

use dmlcts_model::{Case, DataType, Side};
use dmlcts_spec::Operator;

use super::SearchResult;

/// The vectors of these operators, types and ranks.
pub(crate) fn search(
    cases: &[Case],
    operators: &[&Operator],
    types: &[DataType],
    (least, most): (usize, usize),
) -> SearchResult {
    let mut found = SearchResult::default();
    for case in cases {
        let is_of = |operator: &&&Operator| operator.name() == case.desc.signature.operator;
        let data_type = case.desc.tensor(Side::Input).map(|tensor| tensor.data_type);
        let is_chosen = operators.iter().any(|operator| is_of(&operator))
            && data_type.is_some_and(|data_type| types.contains(&data_type))
            && (least..=most).contains(&case.desc.rank());
        if is_chosen {
            found.cases.push(case.clone());
        }
    }
    found
}
