//! An operator that does not exist, with a member of every kind, and descs of it.

use std::sync::Arc;

use dmlcts_model::{
    DataType, Desc, Enumeration, Enumerator, FeatureLevel, List, Member, MemberKind, Signature, Tensor, Value,
};
use dmlcts_spec::expression::{Mistake, Position, Scope, parse};

pub(crate) const LEVEL: FeatureLevel = FeatureLevel::NEWEST;

pub(crate) fn mode() -> Arc<Enumeration> {
    let names = ["CONSTANT", "EDGE", "REFLECTION", "SYMMETRIC"];
    let enumerators = names.into_iter().zip(0..).map(|(name, value)| Enumerator { name: name.into(), value });
    Arc::new(Enumeration { name: "DML_PADDING_MODE".into(), enumerators: enumerators.collect() })
}

/// Another enumeration; both have one name in common.
pub(crate) fn axis_direction() -> Arc<Enumeration> {
    let enumerators = ["INCREASING", "EDGE"].into_iter().zip(0..);
    let enumerators = enumerators.map(|(name, value)| Enumerator { name: name.into(), value }).collect();
    Arc::new(Enumeration { name: "DML_AXIS_DIRECTION".into(), enumerators })
}

pub(crate) fn signature(operator: &str, members: &[(&str, MemberKind)]) -> Arc<Signature> {
    let members = members.iter().map(|(name, kind)| Member { name: (*name).into(), kind: kind.clone() });
    Arc::new(Signature { operator: operator.into(), members: members.collect() })
}

pub(crate) fn fold() -> Arc<Signature> {
    signature(
        "FOLD",
        &[
            ("PaddingMode", MemberKind::Enumeration(mode())),
            ("Direction", MemberKind::Enumeration(axis_direction())),
            ("ValueDataType", MemberKind::DataType),
            ("Value", MemberKind::Scalar),
            ("DimensionCount", MemberKind::Count),
            ("Limit", MemberKind::U32),
            ("Shift", MemberKind::I32),
            ("Offsets", MemberKind::U32List),
            ("WindowStrides", MemberKind::I32List),
        ],
    )
}

pub(crate) fn scope() -> Scope {
    let mut scope = Scope::new(fold());
    let mut define = |name: &str, text: &str| {
        scope.define(name, parse(text).unwrap()).unwrap();
    };
    define("magnitude", "abs(WindowStrides)");
    define("at", "c - Offsets");
    define("half", "Limit / 2");
    scope
}

/// A packed desc of one data type, with one list each.
pub(crate) fn desc(input: &[i64], output: &[i64], offsets: &[i64], strides: &[i64]) -> Desc {
    let tensor = |sizes: &[i64]| Tensor::packed(DataType::FLOAT32, List::from_slice(sizes));
    let mut desc = Desc::usual(fold(), tensor(input), tensor(output));
    desc.members[7] = Value::List(Some(List::from_slice(offsets)));
    desc.members[8] = Value::List(Some(List::from_slice(strides)));
    desc
}

/// The mistake in a text, as a user sees it.
pub(crate) fn complaint(text: &str, place: Position) -> String {
    let checked = parse(text).and_then(|expression| match place {
        Position::Read => scope().read(&expression),
        Position::Definition => scope().check(&expression, place),
        _ => scope().condition(&expression, place),
    });
    match checked {
        Ok(term) => format!("no mistake in `{text}`: {}", term.value_type),
        Err(mistake) => shown(text, &mistake),
    }
}

pub(crate) fn shown(text: &str, mistake: &Mistake) -> String {
    let before = text[..mistake.span.start].chars().count();
    let marked = text[mistake.span.start..mistake.span.end].chars().count().max(1);
    let help = mistake.help.as_ref().map_or(String::new(), |help| format!("\nhelp: {help}"));
    format!("{text}\n{}{}\n{}{help}", " ".repeat(before), "^".repeat(marked), mistake.message)
}
