//! A raw operator description.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::{MemberKind, Signature, Tensor};

/// A list with one value per axis. Eight values fit without an allocation; an invalid desc may hold more.
pub type List = SmallVec<[i64; 8]>;

/// One of an operator's two tensors.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Side {
    /// `InputTensor`.
    Input,
    /// `OutputTensor`.
    Output,
}

impl Side {
    /// Both sides, in the order of the struct.
    pub const BOTH: [Self; 2] = [Self::Input, Self::Output];

    /// The member's name in the struct.
    pub fn member_name(self) -> &'static str {
        match self {
            Self::Input => "InputTensor",
            Self::Output => "OutputTensor",
        }
    }

    /// The name of the tensor's binding offset in a case line and in expressions.
    pub fn binding_name(self) -> &'static str {
        match self {
            Self::Input => "InputBinding.Offset",
            Self::Output => "OutputBinding.Offset",
        }
    }
}

/// The value of a member. Integers of every width are held as `i64`; [`MemberKind::range`] bounds them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// A count, an integer, an enumerator's value or a data type's code.
    Integer(i64),
    /// A list, or a null pointer.
    List(Option<List>),
    /// A scalar union: all eight bytes, little-endian.
    Scalar([u8; 8]),
}

impl Value {
    /// The number of an integer.
    #[inline]
    pub fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(value) => Some(*value),
            _ => None,
        }
    }

    /// The list, if it is one that is not null.
    #[inline]
    pub fn list(&self) -> Option<&List> {
        match self {
            Self::List(list) => list.as_ref(),
            _ => None,
        }
    }

    /// The bytes of a scalar union.
    #[inline]
    pub fn scalar(&self) -> Option<[u8; 8]> {
        match self {
            Self::Scalar(bytes) => Some(*bytes),
            _ => None,
        }
    }
}

/// A raw operator description: it may hold anything that the C structs can hold.
#[derive(PartialEq, Eq, Debug)]
pub struct Desc {
    /// The operator and its members.
    pub signature: Arc<Signature>,
    /// `InputTensor`; `None` is a null pointer.
    pub input: Option<Tensor>,
    /// `OutputTensor`; `None` is a null pointer.
    pub output: Option<Tensor>,
    /// One value for each of [`Signature::members`], in the same order.
    pub members: SmallVec<[Value; 6]>,
}

impl Clone for Desc {
    fn clone(&self) -> Self {
        Self {
            signature: Arc::clone(&self.signature),
            input: self.input.clone(),
            output: self.output.clone(),
            members: self.members.clone(),
        }
    }

    /// Does not touch the signature's reference count if the signature is the same. Threads that copy descs
    /// would otherwise contend for the cache line of that count.
    fn clone_from(&mut self, source: &Self) {
        if !Arc::ptr_eq(&self.signature, &source.signature) {
            self.signature = Arc::clone(&source.signature);
        }
        self.input.clone_from(&source.input);
        self.output.clone_from(&source.output);
        self.members.clone_from(&source.members);
    }
}

impl Desc {
    /// A desc with packed tensors and the usual value in every member. Lists have a zero on each axis, and
    /// enumerations are 0.
    pub fn usual(signature: Arc<Signature>, input: Tensor, output: Tensor) -> Self {
        let rank = input.sizes.as_ref().map_or(0, SmallVec::len);
        let members = signature
            .members
            .iter()
            .map(|member| match member.kind {
                MemberKind::Count => Value::Integer(rank as i64),
                MemberKind::U32 | MemberKind::I32 | MemberKind::Enumeration(_) => Value::Integer(0),
                MemberKind::DataType => Value::Integer(i64::from(input.data_type.0)),
                MemberKind::U32List | MemberKind::I32List => Value::List(Some(List::from_elem(0, rank))),
                MemberKind::Scalar => Value::Scalar([0; 8]),
            })
            .collect();
        Self { signature, input: Some(input), output: Some(output), members }
    }

    /// One of the two tensors; `None` is a null pointer.
    pub fn tensor(&self, side: Side) -> Option<&Tensor> {
        match side {
            Side::Input => self.input.as_ref(),
            Side::Output => self.output.as_ref(),
        }
    }

    /// One of the two tensors, mutably.
    pub fn tensor_mut(&mut self, side: Side) -> Option<&mut Tensor> {
        match side {
            Side::Input => self.input.as_mut(),
            Side::Output => self.output.as_mut(),
        }
    }

    /// The value of a member; `None` if the operator has no member of this name.
    pub fn member(&self, name: &str) -> Option<&Value> {
        self.members.get(self.signature.position(name)?)
    }

    /// The value of an integer member.
    pub fn integer(&self, name: &str) -> Option<i64> {
        self.member(name)?.integer()
    }

    /// The values of a list member that is not null.
    pub fn list(&self, name: &str) -> Option<&[i64]> {
        self.member(name)?.list().map(SmallVec::as_slice)
    }

    /// The bytes of a scalar union.
    pub fn scalar(&self, name: &str) -> Option<[u8; 8]> {
        self.member(name)?.scalar()
    }

    /// The number of input sizes; 0 if there are none.
    pub fn rank(&self) -> usize {
        self.input.as_ref().and_then(|tensor| tensor.sizes.as_ref()).map_or(0, SmallVec::len)
    }
}
