//! A desc in the form that the library reads: structs with pointers to structs with pointers to arrays.
//!
//! [`Marshalled`] owns the memory and holds no pointers. The pointers exist only while [`Marshalled::with`]
//! runs, and point into borrowed memory. So no pointer outlives its memory, and no code here is unsafe.

use std::ptr;

use dmlcts_model::{Desc, Side, Tensor, Value};
use smallvec::SmallVec;

use crate::raw::{
    DML_BUFFER_TENSOR_DESC, DML_OPERATOR_DESC, DML_OPERATOR_PADDING1, DML_OPERATOR_SLICE,
    DML_OPERATOR_SLICE1, DML_PADDING_MODE, DML_PADDING1_OPERATOR_DESC, DML_SCALAR_UNION,
    DML_SLICE_OPERATOR_DESC, DML_SLICE1_OPERATOR_DESC, DML_TENSOR_DATA_TYPE, DML_TENSOR_DESC,
    DML_TENSOR_FLAGS, DML_TENSOR_TYPE_BUFFER,
};

/// The minimum number of values of an array, whatever its desc says. A library may read as many values of
/// each array as the greatest count of the desc, or as the maximum number of dimensions of any operator. It
/// then stays within the array.
pub const LEAST_VALUES: usize = 16;

/// A desc with a greater count is not sent to the library.
pub const MOST_DIMENSIONS: u32 = 1024;

/// The value of unused elements of an array, where it is a size or a step; for offsets and paddings it is 0.
/// The unused elements describe axes of one element, which have no effect. So if one count of a desc is
/// greater than the others, and a library reads further, only the counts themselves are invalid.
pub const SPARE_SIZE: u32 = 1;

/// The values of a list, followed by unused elements.
type Array = SmallVec<[u32; LEAST_VALUES]>;

/// A desc in the library's form, with its memory. Equal values are the same desc to the library.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Marshalled {
    tensors: [Option<BufferTensor>; 2],
    members: Members,
}

/// The content of a [`DML_BUFFER_TENSOR_DESC`], with its arrays.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct BufferTensor {
    data_type: u32,
    flags: u32,
    dimension_count: u32,
    sizes: Option<Array>,
    strides: Option<Array>,
    total_size: u64,
    alignment: u32,
}

/// The content of an operator's struct, with its arrays, except for the tensors.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Members {
    Slice(Window),
    Slice1(Window),
    Padding1 {
        mode: i32,
        value_type: u32,
        value: [u8; 8],
        dimension_count: u32,
        start: Option<Array>,
        end: Option<Array>,
    },
}

/// What a slice reads.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Window {
    dimension_count: u32,
    offsets: Option<Array>,
    sizes: Option<Array>,
    /// Those of SLICE1 are signed values, bit for bit.
    strides: Option<Array>,
}

/// Why a desc is not sent to the library.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unsendable {
    /// The backend does not know this operator, or not with these members.
    #[error("this backend does not know an operator {0} with such members")]
    Operator(String),
    /// A count is so great that a library which trusts it would read beyond any array.
    #[error(
        "a count of {0} is not sent: the library may believe it, and arrays for at most {most} are made",
        most = MOST_DIMENSIONS
    )]
    Count(u32),
    /// All counts agree, but a list has another length. Arrays in C have no length, so the library would get
    /// another desc than this one.
    #[error("an array has no length in C: that {0} has another than its count cannot be said")]
    Length(String),
}

impl Marshalled {
    /// Copies all members of a desc, valid or not.
    pub fn new(desc: &Desc) -> Result<Self, Unsendable> {
        let room = room(desc)?;
        let tensor = |side| desc.tensor(side).map(|tensor| BufferTensor::new(tensor, room));
        let members =
            Members::new(desc, room).ok_or_else(|| Unsendable::Operator(desc.signature.operator.clone()))?;
        Ok(Self { tensors: Side::BOTH.map(tensor), members })
    }

    /// Passes the desc to `act` in its C form. Its pointers are valid during the call, for reading.
    pub fn with<R>(&self, act: impl FnOnce(&DML_OPERATOR_DESC) -> R) -> R {
        let buffers = self.tensors.each_ref().map(|tensor| tensor.as_ref().map(BufferTensor::raw));
        let tensors = buffers.each_ref().map(|buffer| buffer.as_ref().map(tensor_desc));
        let [input, output] =
            tensors.each_ref().map(|tensor| tensor.as_ref().map_or(ptr::null(), ptr::from_ref));
        match &self.members {
            Members::Slice(Window { dimension_count, offsets, sizes, strides }) => {
                let desc = DML_SLICE_OPERATOR_DESC {
                    InputTensor: input,
                    OutputTensor: output,
                    DimensionCount: *dimension_count,
                    Offsets: pointer(offsets.as_ref()),
                    Sizes: pointer(sizes.as_ref()),
                    Strides: pointer(strides.as_ref()),
                };
                act(&DML_OPERATOR_DESC { Type: DML_OPERATOR_SLICE, Desc: ptr::from_ref(&desc).cast() })
            }
            Members::Slice1(Window { dimension_count, offsets, sizes, strides }) => {
                let desc = DML_SLICE1_OPERATOR_DESC {
                    InputTensor: input,
                    OutputTensor: output,
                    DimensionCount: *dimension_count,
                    InputWindowOffsets: pointer(offsets.as_ref()),
                    InputWindowSizes: pointer(sizes.as_ref()),
                    InputWindowStrides: pointer(strides.as_ref()).cast(),
                };
                act(&DML_OPERATOR_DESC { Type: DML_OPERATOR_SLICE1, Desc: ptr::from_ref(&desc).cast() })
            }
            Members::Padding1 { mode, value_type, value, dimension_count, start, end } => {
                let desc = DML_PADDING1_OPERATOR_DESC {
                    InputTensor: input,
                    OutputTensor: output,
                    PaddingMode: DML_PADDING_MODE(*mode),
                    PaddingValueDataType: DML_TENSOR_DATA_TYPE(*value_type as i32),
                    PaddingValue: DML_SCALAR_UNION { Bytes: *value },
                    DimensionCount: *dimension_count,
                    StartPadding: pointer(start.as_ref()),
                    EndPadding: pointer(end.as_ref()),
                };
                act(&DML_OPERATOR_DESC { Type: DML_OPERATOR_PADDING1, Desc: ptr::from_ref(&desc).cast() })
            }
        }
    }

    /// Whether the library owns the input, which is then bound at initialisation instead of execution.
    pub fn owns_input(&self) -> bool {
        self.tensors[0].as_ref().is_some_and(|tensor| tensor.flags & 1 != 0)
    }

    /// The `GuaranteedBaseOffsetAlignment` of input and output, in bytes.
    pub fn alignments(&self) -> [u32; 2] {
        self.tensors.each_ref().map(|tensor| tensor.as_ref().map_or(0, |tensor| tensor.alignment))
    }
}

impl BufferTensor {
    fn new(tensor: &Tensor, room: usize) -> Self {
        let array =
            |list: &Option<dmlcts_model::List>| list.as_ref().map(|list| array(list, room, SPARE_SIZE));
        Self {
            data_type: tensor.data_type.0,
            flags: tensor.flags,
            dimension_count: tensor.dimension_count,
            sizes: array(&tensor.sizes),
            strides: array(&tensor.strides),
            total_size: tensor.total_size,
            alignment: tensor.alignment,
        }
    }

    fn raw(&self) -> DML_BUFFER_TENSOR_DESC {
        DML_BUFFER_TENSOR_DESC {
            DataType: DML_TENSOR_DATA_TYPE(self.data_type as i32),
            Flags: DML_TENSOR_FLAGS(self.flags as i32),
            DimensionCount: self.dimension_count,
            Sizes: pointer(self.sizes.as_ref()),
            Strides: pointer(self.strides.as_ref()),
            TotalTensorSizeInBytes: self.total_size,
            GuaranteedBaseOffsetAlignment: self.alignment,
        }
    }
}

impl Members {
    /// `None` for another operator, or one without these members.
    fn new(desc: &Desc, room: usize) -> Option<Self> {
        let integer = |name| desc.integer(name);
        let list = |name, spare| match desc.member(name)? {
            Value::List(list) => Some(list.as_ref().map(|list| array(list, room, spare))),
            _ => None,
        };
        let window = |offsets, sizes, strides| {
            Some(Window {
                dimension_count: integer("DimensionCount")? as u32,
                offsets: list(offsets, 0)?,
                sizes: list(sizes, SPARE_SIZE)?,
                strides: list(strides, SPARE_SIZE)?,
            })
        };
        Some(match desc.signature.operator.as_str() {
            "SLICE" => Self::Slice(window("Offsets", "Sizes", "Strides")?),
            "SLICE1" => Self::Slice1(window("InputWindowOffsets", "InputWindowSizes", "InputWindowStrides")?),
            "PADDING1" => Self::Padding1 {
                mode: integer("PaddingMode")? as i32,
                value_type: integer("PaddingValueDataType")? as u32,
                value: desc.scalar("PaddingValue")?,
                dimension_count: integer("DimensionCount")? as u32,
                start: list("StartPadding", 0)?,
                end: list("EndPadding", 0)?,
            },
            _ => return None,
        })
    }
}

/// The number of elements of each array of a desc, or why the desc is not sent.
fn room(desc: &Desc) -> Result<usize, Unsendable> {
    let own = desc.integer("DimensionCount").unwrap_or(0) as u32;
    let tensors = || Side::BOTH.into_iter().filter_map(|side| Some((side, desc.tensor(side)?)));
    let most = tensors().map(|(_, tensor)| tensor.dimension_count).fold(own, u32::max);
    if most > MOST_DIMENSIONS {
        return Err(Unsendable::Count(most));
    }
    // If a tensor is missing or counts differ, the library can detect that the desc is invalid.
    let plain = tensors().count() == 2 && tensors().all(|(_, tensor)| tensor.dimension_count == own);
    let differs =
        |list: &Option<dmlcts_model::List>| list.as_ref().is_some_and(|list| list.len() != own as usize);
    if plain {
        for (side, tensor) in tensors() {
            for (name, list) in [("Sizes", &tensor.sizes), ("Strides", &tensor.strides)] {
                if differs(list) {
                    return Err(Unsendable::Length(format!("{}.{name}", side.member_name())));
                }
            }
        }
        for (member, value) in desc.signature.members.iter().zip(&desc.members) {
            if matches!(value, Value::List(list) if differs(list)) {
                return Err(Unsendable::Length(member.name.clone()));
            }
        }
    }
    Ok(LEAST_VALUES.max(most as usize))
}

fn array(list: &[i64], room: usize, spare: u32) -> Array {
    let mut array: Array = list.iter().map(|value| *value as u32).collect();
    array.resize(room.max(list.len()), spare);
    array
}

fn tensor_desc(buffer: &DML_BUFFER_TENSOR_DESC) -> DML_TENSOR_DESC {
    DML_TENSOR_DESC { Type: DML_TENSOR_TYPE_BUFFER, Desc: ptr::from_ref(buffer).cast() }
}

fn pointer(array: Option<&Array>) -> *const u32 {
    array.map_or(ptr::null(), SmallVec::as_ptr)
}

#[cfg(test)]
pub(crate) mod tests;
