//! Reading `run`: columns become jobs again, for a backend that is written in Rust.

use std::{collections::BTreeMap, fmt, sync::Arc};

use dmlcts_model::{BindingOffsets, DataType, Desc, List, MemberKind, Signature, Signatures, Tensor, Value};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer,
    de::{Error, SeqAccess, Visitor},
};

use super::guards::lay_out;
use crate::Batch;

/// `run`, to the backend: create an operator from each desc, and run what was created. The body holds the inputs'
/// memory, run after run and case after case, `TotalTensorSizeInBytes` each and nothing between them.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunForm {
    /// How many cases: the length of every column but those of `members` and `output_fill`.
    pub cases: u64,
    /// Which `run` it is, for a backend that says `ahead`; left out for others.
    #[serde(default)]
    pub number: Option<u64>,
    /// The operator's name: `SLICE1`.
    pub operator: Vec<String>,
    /// `InputTensor`, a column a field. Where the tensor is null, every field is.
    #[serde(rename = "InputTensor")]
    pub input: TensorForm,
    /// `OutputTensor`, a column a field.
    #[serde(rename = "OutputTensor")]
    pub output: TensorForm,
    /// By operator, the other members of its struct: a column a member, with a value for each case of this operator, in
    /// the order of the cases.
    pub members: BTreeMap<String, BTreeMap<String, Vec<MemberForm>>>,
    /// `DML_BUFFER_BINDING` of the input. The body holds the tensor's memory without what lies before the offset.
    #[serde(rename = "InputBinding")]
    pub input_binding: BindingForm,
    /// `DML_BUFFER_BINDING` of the output.
    #[serde(rename = "OutputBinding")]
    pub output_binding: BindingForm,
    /// How often to run the created operator, each time on the next input; 0 where creating it is all.
    pub runs: Vec<u32>,
    /// A byte for each run, in the order of the inputs: the output's memory is to be full of it before the run, so that
    /// elements that are never written show.
    pub output_fill: Vec<u8>,
}

/// `DML_BUFFER_TENSOR_DESC`, a column a field.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub struct TensorForm {
    /// The code of `DML_TENSOR_DATA_TYPE`; any 32-bit code can be met.
    pub data_type: Vec<Option<u32>>,
    /// The bits of `DML_TENSOR_FLAGS`.
    pub flags: Vec<Option<u32>>,
    /// What the member says, which may not be the length of the lists.
    pub dimension_count: Vec<Option<u32>>,
    /// In elements, outermost axis first, each from 0 to 2^32 - 1; null is a null pointer.
    pub sizes: Vec<Option<ListForm>>,
    /// In elements; null is a null pointer, and means packed.
    pub strides: Vec<Option<ListForm>>,
    /// Up to 2^64 - 1: more than a floating-point number holds exactly.
    pub total_tensor_size_in_bytes: Vec<Option<u64>>,
    /// In bytes.
    pub guaranteed_base_offset_alignment: Vec<Option<u32>>,
}

/// `DML_BUFFER_BINDING`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub struct BindingForm {
    /// In bytes, one a case.
    pub offset: Vec<u64>,
}

/// Numbers, one an axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListForm(pub List);

/// What a member holds: an integer (counts, enumerators, data types), a list, null for a null list, or for a scalar union
/// sixteen hex digits, which are its eight bytes in the order of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberForm(pub Value);

impl JsonSchema for ListForm {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "List".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"description": "Numbers, one an axis.", "type": "array", "items": {"type": "integer"}})
    }
}

impl JsonSchema for MemberForm {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Member".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "An integer (counts, enumerators, data types), a list of integers or null, or for a scalar union \
                its eight bytes in the order of memory, as sixteen hex digits.",
            "type": ["integer", "array", "null", "string"],
            "items": {"type": "integer"},
            "pattern": "^[0-9a-f]{16}$",
        })
    }
}

impl<'de> Deserialize<'de> for ListForm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match MemberForm::deserialize(deserializer)?.0 {
            Value::List(Some(list)) => Ok(Self(list)),
            _ => Err(D::Error::custom("expected a list of integers")),
        }
    }
}

impl<'de> Deserialize<'de> for MemberForm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MemberVisitor).map(Self)
    }
}

struct MemberVisitor;

impl<'de> Visitor<'de> for MemberVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an integer, a list of integers, null, or sixteen hex digits")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Integer(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        i64::try_from(value).map(Value::Integer).map_err(|_| E::custom("the integer is above 2^63 - 1"))
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::List(None))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        let wrong = || E::custom("a scalar union is sixteen hex digits");
        if text.len() != 16 || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(wrong());
        }
        u64::from_str_radix(text, 16).map(|value| Value::Scalar(value.to_be_bytes())).map_err(|_| wrong())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Value, A::Error> {
        let mut list = List::new();
        while let Some(value) = values.next_element()? {
            list.push(value);
        }
        Ok(Value::List(Some(list)))
    }
}

impl RunForm {
    /// Puts the cases into an empty batch, whose outputs take `most` bytes at most. What is wrong with them is said with
    /// its place.
    pub fn fill(
        &self,
        body: &[u8],
        signatures: &Signatures,
        batch: &mut Batch,
        most: u64,
    ) -> Result<(), String> {
        let cases = self.operator.len();
        self.check(cases)?;
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        let (mut body, mut fills) = (body, self.output_fill.iter());
        for index in 0..cases {
            let operator = self.operator[index].as_str();
            let place = places.entry(operator).or_insert(0);
            let desc = self
                .desc(index, operator, *place, signatures)
                .map_err(|what| format!("case {index}: {what}"))?;
            *place += 1;
            let sizes = [&desc.input, &desc.output]
                .map(|tensor| tensor.as_ref().and_then(|tensor| usize::try_from(tensor.total_size).ok()));
            let binding = BindingOffsets {
                input: self.input_binding.offset[index],
                output: self.output_binding.offset[index],
            };
            batch.push(&desc, binding);
            for _ in 0..self.runs[index] {
                let ([Some(input), Some(output)], Some(fill)) = (sizes, fills.next()) else {
                    return Err(format!(
                        "case {index} is to run, and has no tensors to run on, or no `output_fill`"
                    ));
                };
                let (memory, rest) = body
                    .split_at_checked(input)
                    .ok_or_else(|| format!("case {index}: the body ends before its input"))?;
                body = rest;
                let run = lay_out(batch, memory, output, *fill, most)
                    .ok_or_else(|| format!("case {index} is larger than memory"))?;
                if let Some(job) = batch.parts().0.last_mut() {
                    job.runs.push(run);
                }
            }
        }
        if !body.is_empty() || fills.next().is_some() {
            return Err("the body or `output_fill` is longer than the runs need".to_owned());
        }
        Ok(())
    }

    /// Whether every column has a value for each case.
    fn check(&self, cases: usize) -> Result<(), String> {
        let (input, output) = (&self.input, &self.output);
        let tensors =
            [("InputTensor", input), ("OutputTensor", output)].map(|(name, tensor)| (name, tensor.lengths()));
        let own = [
            ("cases", usize::try_from(self.cases).unwrap_or(usize::MAX)),
            ("runs", self.runs.len()),
            ("InputBinding.Offset", self.input_binding.offset.len()),
            ("OutputBinding.Offset", self.output_binding.offset.len()),
        ];
        let of_tensors = tensors.iter().flat_map(|(name, lengths)| lengths.map(|length| (*name, length)));
        match own.into_iter().chain(of_tensors).find(|(_, length)| *length != cases) {
            Some((name, length)) => Err(format!("`{name}` counts {length} cases, and `operator` {cases}")),
            None => Ok(()),
        }
    }

    fn desc(
        &self,
        index: usize,
        operator: &str,
        place: usize,
        signatures: &Signatures,
    ) -> Result<Desc, String> {
        let signature =
            signatures.get(operator).ok_or_else(|| format!("there is no operator `{operator}`"))?;
        let columns =
            self.members.get(operator).ok_or_else(|| format!("the members of {operator} are missing"))?;
        let members = signature.members.iter().map(|member| {
            let value = columns.get(&member.name).and_then(|column| column.get(place));
            let value = value.filter(|value| can_hold(&member.kind, &value.0));
            value
                .map(|value| value.0.clone())
                .ok_or_else(|| format!("`{}` is missing, or of another kind", member.name))
        });
        let members = members.collect::<Result<_, _>>()?;
        let unknown = columns.keys().find(|name| signature.position(name).is_none());
        if let Some(name) = unknown {
            return Err(format!("{operator} has no member `{name}`"));
        }
        let signature: &Arc<Signature> = signature;
        Ok(Desc {
            signature: Arc::clone(signature),
            input: self.input.tensor(index)?,
            output: self.output.tensor(index)?,
            members,
        })
    }
}

/// Whether a member of this kind can hold the value.
fn can_hold(kind: &MemberKind, value: &Value) -> bool {
    match value {
        Value::Integer(_) => !kind.is_list() && *kind != MemberKind::Scalar,
        Value::List(_) => kind.is_list(),
        Value::Scalar(_) => *kind == MemberKind::Scalar,
    }
}

impl TensorForm {
    fn lengths(&self) -> [usize; 7] {
        [
            self.data_type.len(),
            self.flags.len(),
            self.dimension_count.len(),
            self.sizes.len(),
            self.strides.len(),
            self.total_tensor_size_in_bytes.len(),
            self.guaranteed_base_offset_alignment.len(),
        ]
    }

    /// The tensor of a case, where all columns are long enough.
    fn tensor(&self, index: usize) -> Result<Option<Tensor>, String> {
        let list = |column: &[Option<ListForm>]| column[index].as_ref().map(|list| list.0.clone());
        let (sizes, strides) = (list(&self.sizes), list(&self.strides));
        let fields = (
            self.data_type[index],
            self.flags[index],
            self.dimension_count[index],
            self.total_tensor_size_in_bytes[index],
            self.guaranteed_base_offset_alignment[index],
        );
        match fields {
            (Some(data_type), Some(flags), Some(dimension_count), Some(total_size), Some(alignment)) => {
                Ok(Some(Tensor {
                    data_type: DataType(data_type),
                    flags,
                    dimension_count,
                    sizes,
                    strides,
                    total_size,
                    alignment,
                }))
            }
            (None, None, None, None, None) if sizes.is_none() && strides.is_none() => Ok(None),
            _ => Err("some fields of a tensor are null, and some are not".to_owned()),
        }
    }
}
