//! The signature of an operator: its name, and its members in the order of the struct.

use std::sync::Arc;

/// An operator's name and members. The two tensors, `InputTensor` and `OutputTensor`, come first in every
/// operator's struct and are not listed.
#[derive(Debug, PartialEq, Eq)]
pub struct Signature {
    /// The name as the pages spell it, without `DML_` and `_OPERATOR_DESC`, such as `SLICE1`.
    pub operator: String,
    /// The members, in the order of the struct.
    pub members: Vec<Member>,
}

impl Signature {
    /// The index of a member in [`Signature::members`].
    pub fn position(&self, member: &str) -> Option<usize> {
        self.members.iter().position(|candidate| candidate.name == member)
    }
}

/// One member of an operator's struct.
#[derive(Debug, PartialEq, Eq)]
pub struct Member {
    /// The name as the struct spells it, such as `InputWindowOffsets`.
    pub name: String,
    /// The kind of its values.
    pub kind: MemberKind,
}

/// The kind of a member's values, and the usual value, which a case line may omit.
#[derive(Debug, PartialEq, Eq, Clone)]
pub enum MemberKind {
    /// `UINT`: the length of the lists. Usually the input's number of sizes.
    Count,
    /// `UINT`.
    U32,
    /// `INT`.
    I32,
    /// `const UINT*`: one value per axis, or null.
    U32List,
    /// `const INT*`: one value per axis, or null.
    I32List,
    /// An enumeration; it can hold any 32-bit value.
    Enumeration(Arc<Enumeration>),
    /// `DML_TENSOR_DATA_TYPE`. Usually the input's data type.
    DataType,
    /// `DML_SCALAR_UNION`: eight bytes. Usually zero.
    Scalar,
}

impl MemberKind {
    /// Whether the member holds one value per axis.
    pub fn is_list(&self) -> bool {
        matches!(self, Self::U32List | Self::I32List)
    }

    /// The least and greatest value (of an element, for a list); `None` for a scalar union.
    pub fn range(&self) -> Option<(i64, i64)> {
        match self {
            Self::Count | Self::U32 | Self::U32List | Self::DataType => Some((0, i64::from(u32::MAX))),
            Self::I32 | Self::I32List | Self::Enumeration(_) => {
                Some((i64::from(i32::MIN), i64::from(i32::MAX)))
            }
            Self::Scalar => None,
        }
    }
}

/// An enumeration of `DirectML.h`, such as `DML_PADDING_MODE`.
#[derive(Debug, PartialEq, Eq)]
pub struct Enumeration {
    /// The name as the header spells it.
    pub name: String,
    /// The enumerators, in the order of the header.
    pub enumerators: Vec<Enumerator>,
}

/// A named value of an enumeration.
#[derive(Debug, PartialEq, Eq)]
pub struct Enumerator {
    /// The name without the enumeration's prefix, such as `REFLECTION`.
    pub name: String,
    /// The value in the header.
    pub value: i64,
}

impl Enumeration {
    /// The value of an enumerator.
    pub fn value(&self, name: &str) -> Option<i64> {
        self.enumerators.iter().find(|candidate| candidate.name == name).map(|found| found.value)
    }

    /// The names of the enumerators, in the order of the header.
    pub fn names(&self) -> Vec<&str> {
        self.enumerators.iter().map(|enumerator| enumerator.name.as_str()).collect()
    }

    /// The name of a value.
    pub fn name_of(&self, value: i64) -> Option<&str> {
        self.enumerators.iter().find(|candidate| candidate.value == value).map(|found| found.name.as_str())
    }
}

/// The operators that a case line may name.
#[derive(Debug, Clone, Default)]
pub struct Signatures(Vec<Arc<Signature>>);

impl Signatures {
    /// Collects signatures, in the order given.
    pub fn new(signatures: impl IntoIterator<Item = Arc<Signature>>) -> Self {
        Self(signatures.into_iter().collect())
    }

    /// The signature of an operator.
    pub fn get(&self, operator: &str) -> Option<&Arc<Signature>> {
        self.0.iter().find(|signature| signature.operator == operator)
    }

    /// Every signature, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Signature>> {
        self.0.iter()
    }
}
