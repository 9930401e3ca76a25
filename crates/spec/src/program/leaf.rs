//! The inputs that a program reads from a desc: lists, integers and properties of pointers.

use dmlcts_model::{DataType, Desc, MemberKind, Side, Signature, Tensor, Value, named_enum};
use smallvec::SmallVec;

use super::{Inputs, MAXIMUM_AXES, Range, overlap::overlap_of};
use crate::{ElementKind, ElementNumber, Elements, IdSet, Validity};

/// A list with one value an axis.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ListSource {
    /// A tensor's `Sizes`.
    Sizes(Side),
    /// A tensor's `Strides`; packed strides if the pointer is null.
    Strides(Side),
    /// The strides that a tensor would have if it was packed. No field of the struct.
    PackedStrides(Side),
    /// The member at this index of the signature.
    Member(usize),
}

named_enum! {
    /// A tensor's fields that are integers.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum Field: name, from_name {
        /// `DataType`.
        DataType = "DataType",
        /// `DimensionCount`.
        DimensionCount = "DimensionCount",
        /// `Flags`.
        Flags = "Flags",
        /// `TotalTensorSizeInBytes`.
        TotalTensorSizeInBytes = "TotalTensorSizeInBytes",
        /// `GuaranteedBaseOffsetAlignment`.
        GuaranteedBaseOffsetAlignment = "GuaranteedBaseOffsetAlignment",
        /// The bytes of an element. No field of the struct: undefined where the data type has no whole number
        /// of bytes.
        ElementSize = "ElementSize",
    }
}

impl Field {
    fn value(self, tensor: &Tensor) -> Option<i128> {
        Some(match self {
            Self::DataType => i128::from(tensor.data_type.0),
            Self::DimensionCount => i128::from(tensor.dimension_count),
            Self::Flags => i128::from(tensor.flags),
            Self::TotalTensorSizeInBytes => i128::from(tensor.total_size),
            Self::GuaranteedBaseOffsetAlignment => i128::from(tensor.alignment),
            Self::ElementSize => tensor.data_type.element_size()? as i128,
        })
    }
}

/// A value that is read from a desc or from the position of evaluation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Leaf {
    /// The integer member at this index of the signature.
    Member(usize),
    /// A list's value on the axis.
    List(ListSource),
    /// A tensor's field.
    Field(Side, Field),
    /// The number of values in a list.
    Length(ListSource),
    /// Whether a list is not a null pointer. Strides may be null.
    ListPresent(ListSource),
    /// Whether a tensor is not a null pointer.
    TensorPresent(Side),
    /// Whether two coordinates of a tensor share an offset; undefined if the search takes too long.
    Overlaps(Side),
    /// Whether the search for such coordinates takes too long.
    Unsettled(Side),
    /// The bytes of the scalar member at this index of the signature that an element of the output does not
    /// use.
    Spare(usize),
    /// The bytes of an element of the data type in the member at this index of the signature.
    Size(usize),
    /// The index of the axis.
    Axis,
    /// The output coordinate on the axis.
    Coordinate,
    /// The feature level's code.
    Level,
    /// The offset of a tensor in its buffer, in bytes.
    BindingOffset(Side),
    /// Whether the desc's validity is this one. Only predicates over cases use it.
    Judged(Validity),
    /// The number of clauses that the desc violates. Only predicates over cases use it.
    Violations,
    /// The code of the clause that the desc violates; see
    /// [`Operator::clause_names`](crate::Operator::clause_names). Undefined unless the violated clauses have
    /// one name. Only predicates over cases use it.
    Violation,
    /// Whether the expected output has an element of a kind. Only predicates over cases use it.
    HasKind(Elements, ElementKind),
    /// A number about the elements of the expected output. Only predicates over cases use it.
    Number(Elements, ElementNumber),
    /// The number of names of violated clauses that are not in this set, by their indices in
    /// [`Operator::clause_names`](crate::Operator::clause_names). Undefined if the desc violates none. Only
    /// predicates over cases use it.
    ViolationsBeside(IdSet),
}

impl Leaf {
    /// Whether it reads the verdict on the desc.
    pub fn asks_for_judge(self) -> bool {
        matches!(self, Self::Judged(_) | Self::Violations | Self::Violation | Self::ViolationsBeside(_))
            || self.asks_for_data()
    }

    /// Whether it reads the data that the case moves.
    pub fn asks_for_data(self) -> bool {
        matches!(self, Self::HasKind(..) | Self::Number(..))
    }

    /// Whether it is a condition rather than an integer.
    pub fn is_condition(self) -> bool {
        matches!(
            self,
            Self::ListPresent(_)
                | Self::TensorPresent(_)
                | Self::Overlaps(_)
                | Self::Unsettled(_)
                | Self::Judged(_)
                | Self::HasKind(..)
        )
    }

    /// The list whose length determines the number of axes on which it has a value.
    pub(super) fn list(self) -> Option<ListSource> {
        match self {
            Self::List(source) => Some(source),
            Self::Axis => Some(ListSource::Sizes(Side::Input)),
            _ => None,
        }
    }

    /// The values that it can take, for a desc whose members are in the ranges of their types.
    pub(super) fn range(self, signature: &Signature) -> Range {
        const UNSIGNED: Range = Range { least: 0, greatest: u32::MAX as i128 };
        let member = |position: usize| {
            let kind = signature.members.get(position).map(|member| &member.kind);
            kind.and_then(MemberKind::range).map_or(UNSIGNED, |(least, greatest)| Range {
                least: i128::from(least),
                greatest: i128::from(greatest),
            })
        };
        match self {
            Self::Member(position) | Self::List(ListSource::Member(position)) => member(position),
            Self::Field(_, Field::ElementSize) | Self::Size(_) => Range { least: 1, greatest: 8 },
            Self::Field(_, Field::TotalTensorSizeInBytes) | Self::BindingOffset(_) => {
                Range { least: 0, greatest: i128::from(u64::MAX) }
            }
            // Packed strides may exceed this range; loading them checks for that.
            Self::Field(..) | Self::List(_) | Self::Length(_) | Self::Level | Self::Violation => UNSIGNED,
            Self::ListPresent(_)
            | Self::TensorPresent(_)
            | Self::Overlaps(_)
            | Self::Unsettled(_)
            | Self::Judged(_)
            | Self::HasKind(..) => Range::CONDITION,
            Self::Violations | Self::Number(..) => Range { least: 0, greatest: 64 },
            Self::ViolationsBeside(_) => Range { least: 0, greatest: IdSet::CAPACITY as i128 },
            // Seven of the eight bytes.
            Self::Spare(_) => Range { least: 0, greatest: (1 << 56) - 1 },
            Self::Axis => Range { least: 0, greatest: MAXIMUM_AXES as i128 - 1 },
            // An output's size is below 2^32, and lanes exceed it by at most seven.
            Self::Coordinate => Range { least: 0, greatest: 1 << 33 },
        }
    }

    /// The value of a leaf with one value for the desc; 0 or 1 for a condition. `None` is undefined.
    pub(crate) fn scalar(self, inputs: &Inputs<'_>) -> Option<i128> {
        let desc = inputs.desc;
        match self {
            Self::Member(position) => desc.members.get(position)?.integer().map(i128::from),
            Self::Field(side, field) => field.value(desc.tensor(side)?),
            Self::Length(source) => length(desc, source).map(|length| length as i128),
            Self::ListPresent(source) => Some(i128::from(match source {
                ListSource::Sizes(side) => desc.tensor(side)?.sizes.is_some(),
                ListSource::Strides(side) => desc.tensor(side)?.strides.is_some(),
                ListSource::PackedStrides(_) => return None,
                ListSource::Member(position) => desc.members.get(position).and_then(Value::list).is_some(),
            })),
            Self::TensorPresent(side) => Some(i128::from(desc.tensor(side).is_some())),
            Self::Overlaps(side) => overlap_of(desc, side)?.is_somewhere().map(i128::from),
            Self::Unsettled(side) => Some(i128::from(overlap_of(desc, side)?.is_unsettled())),
            Self::Spare(position) => {
                let used = desc.tensor(Side::Output)?.data_type.element_size()?;
                let bytes = desc.members.get(position)?.scalar()?;
                let spare = bytes.get(used..)?.iter().rev();
                Some(spare.fold(0, |number, &byte| number << 8 | i128::from(byte)))
            }
            Self::Size(position) => {
                let code = u32::try_from(desc.members.get(position)?.integer()?).ok()?;
                DataType(code).element_size().map(|size| size as i128)
            }
            Self::Level => Some(i128::from(inputs.level.code())),
            Self::BindingOffset(Side::Input) => Some(i128::from(inputs.binding.input)),
            Self::BindingOffset(Side::Output) => Some(i128::from(inputs.binding.output)),
            Self::Judged(validity) => Some(i128::from(inputs.judged?.validity == validity)),
            Self::Violations => Some(inputs.judged?.violations as i128),
            Self::Violation => inputs.judged?.violation.map(i128::from),
            Self::ViolationsBeside(others) => {
                let names = inputs.judged?.names;
                (!names.is_empty()).then(|| names.without(others).len() as i128)
            }
            Self::HasKind(elements, kind) => Some(i128::from(inputs.data?.has(elements, kind))),
            Self::Number(elements, number) => inputs.data?.number(elements, number).map(i128::from),
            Self::List(_) | Self::Axis | Self::Coordinate => None,
        }
    }
}

/// The values of a list in the desc. `None` for a null pointer, even for strides, and for packed strides.
pub(super) fn list(desc: &Desc, source: ListSource) -> Option<&[i64]> {
    match source {
        ListSource::Sizes(side) => desc.tensor(side)?.sizes.as_deref(),
        ListSource::Strides(side) => desc.tensor(side)?.strides.as_deref(),
        ListSource::PackedStrides(_) => None,
        ListSource::Member(position) => desc.members.get(position)?.list().map(SmallVec::as_slice),
    }
}

/// The length of a list. Null strides and packed strides are as long as the sizes.
pub(super) fn length(desc: &Desc, source: ListSource) -> Option<usize> {
    let sizes = match source {
        ListSource::Strides(side) | ListSource::PackedStrides(side) => Some(ListSource::Sizes(side)),
        _ => None,
    };
    list(desc, source).or_else(|| list(desc, sizes?)).map(<[i64]>::len)
}
