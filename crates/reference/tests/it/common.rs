//! Shared by the tests and benchmarks of the reference: the operators' signatures, typed from the structs'
//! syntax, and running one case line.

use std::sync::Arc;

use dmlcts_backend::{Operators, Refusal};
use dmlcts_model::{
    BindingOffsets, Case, Enumeration, Enumerator, Member, MemberKind, Signature, Signatures, line,
};
use dmlcts_reference::Reference;

/// SLICE, SLICE1 and PADDING1, as in the pages' syntax blocks.
pub(crate) fn signatures() -> Signatures {
    use MemberKind::{Count, DataType, I32List, Scalar, U32List};
    let modes = ["CONSTANT", "EDGE", "REFLECTION", "SYMMETRIC", "WRAP"];
    let enumerators =
        modes.iter().zip(0..).map(|(&name, value)| Enumerator { name: name.to_owned(), value }).collect();
    let mode =
        MemberKind::Enumeration(Arc::new(Enumeration { name: "DML_PADDING_MODE".to_owned(), enumerators }));
    let signature = |operator: &str, members: Vec<(&str, MemberKind)>| {
        let members =
            members.into_iter().map(|(name, kind)| Member { name: name.to_owned(), kind }).collect();
        Arc::new(Signature { operator: operator.to_owned(), members })
    };
    Signatures::new([
        signature(
            "SLICE",
            vec![("DimensionCount", Count), ("Offsets", U32List), ("Sizes", U32List), ("Strides", U32List)],
        ),
        signature(
            "SLICE1",
            vec![
                ("DimensionCount", Count),
                ("InputWindowOffsets", U32List),
                ("InputWindowSizes", U32List),
                ("InputWindowStrides", I32List),
            ],
        ),
        signature(
            "PADDING1",
            vec![
                ("PaddingMode", mode),
                ("PaddingValueDataType", DataType),
                ("PaddingValue", Scalar),
                ("DimensionCount", Count),
                ("StartPadding", U32List),
                ("EndPadding", U32List),
            ],
        ),
    ])
}

/// Reads a case line that is known to be well formed.
pub(crate) fn case(text: &str) -> Case {
    line::parse(text, &signatures()).unwrap_or_else(|error| panic!("{text}\n{error:?}"))
}

/// Creates the operator of a line at the newest level, or returns the reason why not.
pub(crate) fn create(text: &str) -> Result<dmlcts_reference::Operator, Refusal> {
    Reference::new().create(&case(text).desc)
}

/// Runs the operator of a line into memory filled with `poison`.
pub(crate) fn run(text: &str, input: &[u8], poison: u8) -> Vec<u8> {
    let case = case(text);
    let mut reference = Reference::new();
    let mut operator = reference.create(&case.desc).unwrap_or_else(|refusal| panic!("{text}\n{refusal:?}"));
    let total_size = case.desc.output.map_or(0, |tensor| tensor.total_size);
    let mut output = vec![poison; total_size as usize];
    reference.run(&mut operator, BindingOffsets::default(), input, &mut output).expect("it runs");
    output
}
