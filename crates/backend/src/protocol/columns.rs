//! Writing `run`: the jobs of a batch as columns, straight from where they lie.

use std::sync::Arc;

use dmlcts_model::{Desc, Side, Tensor, Value};
use serde::{Serialize, Serializer, ser::SerializeMap};

use crate::Job;

/// Cases as the message `run` has them; [`super::RunForm`] is what it reads as.
pub(crate) struct Columns<'a> {
    /// The jobs.
    pub(crate) jobs: &'a [Job],
    /// What the outputs' memory holds before: a byte a run.
    pub(crate) output_fill: &'a [u8],
}

impl Serialize for Columns<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let jobs = self.jobs;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("cases", &jobs.len())?;
        map.serialize_entry("operator", &Column(|| jobs.iter().map(|job| &*job.desc.signature.operator)))?;
        for side in Side::BOTH {
            map.serialize_entry(side.member_name(), &Tensors { jobs, side })?;
        }
        map.serialize_entry("members", &Members(jobs))?;
        map.serialize_entry("InputBinding", &Binding(|| jobs.iter().map(|job| job.binding.input)))?;
        map.serialize_entry("OutputBinding", &Binding(|| jobs.iter().map(|job| job.binding.output)))?;
        map.serialize_entry("runs", &Column(|| jobs.iter().map(|job| job.runs.len())))?;
        map.serialize_entry("output_fill", self.output_fill)?;
        map.end()
    }
}

/// A column: what makes an iterator over its values.
struct Column<F>(F);

impl<F: Fn() -> I, I: Iterator<Item: Serialize>> Serialize for Column<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

/// A binding has one column.
struct Binding<F>(F);

impl<F: Fn() -> I, I: Iterator<Item = u64>> Serialize for Binding<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([("Offset", Column(&self.0))])
    }
}

/// The fields of one tensor. Where the tensor is null, so is every field.
struct Tensors<'a> {
    jobs: &'a [Job],
    side: Side,
}

/// One field of them.
struct Field<'a, F> {
    jobs: &'a [Job],
    side: Side,
    of: F,
}

impl<'a, T: Serialize, F: Fn(&'a Tensor) -> T> Serialize for Field<'a, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.jobs.iter().map(|job| job.desc.tensor(self.side).map(&self.of)))
    }
}

impl<'a> Tensors<'a> {
    fn field<T, F: Fn(&'a Tensor) -> T>(&self, of: F) -> Field<'a, F> {
        Field { jobs: self.jobs, side: self.side, of }
    }
}

impl Serialize for Tensors<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(7))?;
        map.serialize_entry("DataType", &self.field(|tensor| tensor.data_type.0))?;
        map.serialize_entry("Flags", &self.field(|tensor| tensor.flags))?;
        map.serialize_entry("DimensionCount", &self.field(|tensor| tensor.dimension_count))?;
        map.serialize_entry("Sizes", &self.field(|tensor| tensor.sizes.as_deref()))?;
        map.serialize_entry("Strides", &self.field(|tensor| tensor.strides.as_deref()))?;
        map.serialize_entry("TotalTensorSizeInBytes", &self.field(|tensor| tensor.total_size))?;
        map.serialize_entry("GuaranteedBaseOffsetAlignment", &self.field(|tensor| tensor.alignment))?;
        map.end()
    }
}

/// The members of each operator that occurs: a column a member, with a value for each case of that operator.
struct Members<'a>(&'a [Job]);

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let jobs = self.0;
        let mut map = serializer.serialize_map(None)?;
        let mut seen: Vec<&Desc> = Vec::new();
        for job in jobs {
            if !seen.iter().any(|desc| is_of(&job.desc, desc)) {
                seen.push(&job.desc);
                map.serialize_entry(&job.desc.signature.operator, &MembersOf { jobs, desc: &job.desc })?;
            }
        }
        map.end()
    }
}

/// Whether both are descs of the same operator.
fn is_of(desc: &Desc, other: &Desc) -> bool {
    Arc::ptr_eq(&desc.signature, &other.signature) || desc.signature.operator == other.signature.operator
}

/// The members of the operator of this desc.
struct MembersOf<'a> {
    jobs: &'a [Job],
    desc: &'a Desc,
}

impl Serialize for MembersOf<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let members = self.desc.signature.members.iter().enumerate();
        serializer.collect_map(members.map(|(place, member)| {
            let values = move || {
                let own = self.jobs.iter().filter(|job| is_of(&job.desc, self.desc));
                own.map(move |job| job.desc.members.get(place).map(MemberValue))
            };
            (&member.name, Column(values))
        }))
    }
}

/// What a member holds: an integer, a list or null, or sixteen hex digits.
struct MemberValue<'a>(&'a Value);

impl Serialize for MemberValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Integer(value) => serializer.serialize_i64(*value),
            Value::List(Some(list)) => list.as_slice().serialize(serializer),
            Value::List(None) => serializer.serialize_none(),
            Value::Scalar(bytes) => {
                let mut hex = [0; 16];
                for (pair, byte) in hex.chunks_exact_mut(2).zip(bytes) {
                    for (digit, nibble) in pair.iter_mut().zip([byte >> 4, byte & 0xF]) {
                        *digit = b"0123456789abcdef"[usize::from(nibble)];
                    }
                }
                serializer.serialize_str(std::str::from_utf8(&hex).unwrap_or_default())
            }
        }
    }
}
