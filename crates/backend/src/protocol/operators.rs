//! The operators that a host asks for, as its `hello` describes them. So a backend in Rust knows each desc's
//! members without the specs.

use std::sync::Arc;

use dmlcts_model::{Enumeration, Enumerator, Member, MemberKind, Signature, Signatures};
use serde::{Deserialize, Serialize};

/// An operator: its name and the members of its struct, without the two tensors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "host", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OperatorForm {
    /// The name as the pages spell it, such as `SLICE1`.
    pub name: String,
    /// The members in the order of the struct.
    pub members: Vec<DescMemberForm>,
}

/// A member of an operator's struct.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "host", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DescMemberForm {
    /// The name as the struct spells it, such as `InputWindowOffsets`.
    pub name: String,
    /// The kind of its values.
    pub kind: KindForm,
}

/// The kind of a member's values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "host", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum KindForm {
    /// `UINT`, the length of the lists.
    Count,
    /// `UINT`.
    U32,
    /// `INT`.
    I32,
    /// `const UINT*`, with one value for each axis, or null.
    U32List,
    /// `const INT*`, with one value for each axis, or null.
    I32List,
    /// An enumeration.
    Enumeration(EnumerationForm),
    /// `DML_TENSOR_DATA_TYPE`.
    DataType,
    /// `DML_SCALAR_UNION`.
    Scalar,
}

/// An enumeration of `DirectML.h`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "host", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct EnumerationForm {
    /// The name, such as `DML_PADDING_MODE`.
    pub name: String,
    /// The enumerators in the order of the header: the name without the prefix of the enumeration, and the
    /// value.
    pub enumerators: Vec<(String, i64)>,
}

impl From<&Signature> for OperatorForm {
    fn from(signature: &Signature) -> Self {
        let member = |member: &Member| DescMemberForm {
            name: member.name.clone(),
            kind: match &member.kind {
                MemberKind::Count => KindForm::Count,
                MemberKind::U32 => KindForm::U32,
                MemberKind::I32 => KindForm::I32,
                MemberKind::U32List => KindForm::U32List,
                MemberKind::I32List => KindForm::I32List,
                MemberKind::Enumeration(of) => KindForm::Enumeration(EnumerationForm {
                    name: of.name.clone(),
                    enumerators: of.enumerators.iter().map(|one| (one.name.clone(), one.value)).collect(),
                }),
                MemberKind::DataType => KindForm::DataType,
                MemberKind::Scalar => KindForm::Scalar,
            },
        };
        Self { name: signature.operator.clone(), members: signature.members.iter().map(member).collect() }
    }
}

impl From<OperatorForm> for Signature {
    fn from(operator: OperatorForm) -> Self {
        let member = |member: DescMemberForm| Member {
            name: member.name,
            kind: match member.kind {
                KindForm::Count => MemberKind::Count,
                KindForm::U32 => MemberKind::U32,
                KindForm::I32 => MemberKind::I32,
                KindForm::U32List => MemberKind::U32List,
                KindForm::I32List => MemberKind::I32List,
                KindForm::Enumeration(EnumerationForm { name, enumerators }) => {
                    let enumerators =
                        enumerators.into_iter().map(|(name, value)| Enumerator { name, value }).collect();
                    MemberKind::Enumeration(Arc::new(Enumeration { name, enumerators }))
                }
                KindForm::DataType => MemberKind::DataType,
                KindForm::Scalar => MemberKind::Scalar,
            },
        };
        Self { operator: operator.name, members: operator.members.into_iter().map(member).collect() }
    }
}

/// The forms of signatures.
pub(crate) fn forms(signatures: &Signatures) -> Vec<OperatorForm> {
    signatures.iter().map(|signature| OperatorForm::from(&**signature)).collect()
}

/// The signatures that these forms describe.
pub(crate) fn signatures(forms: Vec<OperatorForm>) -> Signatures {
    Signatures::new(forms.into_iter().map(|form| Arc::new(Signature::from(form))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every kind of member arrives as it was sent.
    #[test]
    fn signatures_arrive_as_they_were_sent() {
        let modes = Enumeration {
            name: "MODE".to_owned(),
            enumerators: vec![
                Enumerator { name: "B".to_owned(), value: 4 },
                Enumerator { name: "A".to_owned(), value: -1 },
            ],
        };
        let kinds = [
            MemberKind::Count,
            MemberKind::U32,
            MemberKind::I32,
            MemberKind::U32List,
            MemberKind::I32List,
            MemberKind::Enumeration(Arc::new(modes)),
            MemberKind::DataType,
            MemberKind::Scalar,
        ];
        let members = kinds.map(|kind| Member { name: format!("{kind:?}"), kind }).into();
        let sent = Signatures::new([Arc::new(Signature { operator: "MOVE".to_owned(), members })]);
        let text = serde_json::to_vec(&forms(&sent)).expect("forms are JSON");
        let received = signatures(serde_json::from_slice(&text).expect("it was written here"));
        assert!(received.iter().eq(sent.iter()), "{received:?}");
    }
}
