//! `run` as JSON. The host turns jobs into columns, and a backend in Rust turns them back into jobs.

use std::{collections::BTreeMap, fmt, sync::Arc};

use dmlcts_model::{
    BindingOffsets, DataType, Desc, List, MemberKind, Side, Signature, Signatures, Tensor, Value,
};
#[cfg(feature = "host")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, SeqAccess, Visitor},
};

use super::guards::lay_out;
use crate::{Batch, Job};

/// `run`, to the backend: create an operator from each desc, and run it. The body holds the inputs' memory,
/// run after run and case after case, `TotalTensorSizeInBytes` each, without gaps.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "host", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RunForm {
    /// The number of cases. It is the length of every column, except `members` and `output_fill`.
    pub cases: u64,
    /// The number of this `run`, for a backend that declares `ahead`; left out for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// The operator's name: `SLICE1`.
    pub operator: Vec<String>,
    /// `InputTensor`, one column for each field. If the tensor is null, every field is null.
    #[serde(rename = "InputTensor")]
    pub input: TensorForm,
    /// `OutputTensor`, one column for each field.
    #[serde(rename = "OutputTensor")]
    pub output: TensorForm,
    /// The other members of each operator's struct, one column for each member. A column has a value for each
    /// case of the operator, in the order of the cases.
    pub members: BTreeMap<String, BTreeMap<String, Vec<MemberForm>>>,
    /// `DML_BUFFER_BINDING` of the input. The body holds the tensor's memory, which begins at the offset.
    #[serde(rename = "InputBinding")]
    pub input_binding: BindingForm,
    /// `DML_BUFFER_BINDING` of the output.
    #[serde(rename = "OutputBinding")]
    pub output_binding: BindingForm,
    /// How often to run the created operator, each time on the next input. 0 means to create it only.
    pub runs: Vec<u32>,
    /// A byte for each run, in the order of the inputs. Fill the output's memory with it before the run, so
    /// that elements that are never written can be detected.
    pub output_fill: Vec<u8>,
}

/// `DML_BUFFER_TENSOR_DESC`, one column for each field.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "host", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub struct TensorForm {
    /// The code of `DML_TENSOR_DATA_TYPE`. Any 32-bit code is possible.
    pub data_type: Vec<Option<u32>>,
    /// The bits of `DML_TENSOR_FLAGS`.
    pub flags: Vec<Option<u32>>,
    /// The value of the member. It may differ from the length of the lists.
    pub dimension_count: Vec<Option<u32>>,
    /// In elements, outermost axis first, each from 0 to 2^32 - 1. Null is a null pointer.
    pub sizes: Vec<Option<ListForm>>,
    /// In elements. Null is a null pointer, which means packed.
    pub strides: Vec<Option<ListForm>>,
    /// Up to 2^64 - 1, which a floating-point number cannot hold exactly.
    pub total_tensor_size_in_bytes: Vec<Option<u64>>,
    /// In bytes.
    pub guaranteed_base_offset_alignment: Vec<Option<u32>>,
}

/// `DML_BUFFER_BINDING`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "host", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub struct BindingForm {
    /// In bytes, one for each case.
    pub offset: Vec<u64>,
}

/// Numbers, one for each axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListForm(pub List);

/// The value of a member: an integer (counts, enumerators, data types), a list, or null for a null list. A
/// scalar union is sixteen hex digits, its eight bytes in the order of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberForm(pub Value);

#[cfg(feature = "host")]
impl JsonSchema for ListForm {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "List".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"description": "Numbers, one for each axis.", "type": "array", "items": {"type": "integer"}})
    }
}

#[cfg(feature = "host")]
impl JsonSchema for MemberForm {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Member".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "An integer (counts, enumerators, data types), a list of integers, or null. A scalar union is \
                sixteen hex digits, its eight bytes in the order of memory.",
            "type": ["integer", "array", "null", "string"],
            "items": {"type": "integer"},
            "pattern": "^[0-9a-f]{16}$",
        })
    }
}

impl Serialize for ListForm {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(&self.0)
    }
}

impl Serialize for MemberForm {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Value::Integer(value) => serializer.serialize_i64(*value),
            Value::List(Some(list)) => serializer.collect_seq(list),
            Value::List(None) => serializer.serialize_unit(),
            Value::Scalar(bytes) => {
                serializer.collect_str(&format_args!("{:016x}", u64::from_be_bytes(*bytes)))
            }
        }
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

/// Puts the cases of a `run` into an empty batch and returns the run's number. The outputs take at most
/// `most` bytes.
///
/// # Errors
///
/// The header is malformed or contradicts the body; the message says where.
pub fn read_run(
    header: &[u8],
    body: &[u8],
    signatures: &Signatures,
    batch: &mut Batch,
    most: u64,
) -> Result<Option<u64>, String> {
    let run: RunForm = serde_json::from_slice(header).map_err(|error| error.to_string())?;
    run.fill(body, signatures, batch, most)?;
    Ok(run.number)
}

impl RunForm {
    /// The header for these jobs. `output_fill` has a byte for each run, which fills the output before the
    /// run.
    pub(crate) fn new(jobs: &[Job], output_fill: &[u8], number: Option<u64>) -> Self {
        let mut run =
            Self { cases: jobs.len() as u64, number, output_fill: output_fill.to_vec(), ..Self::default() };
        for Job { desc, binding, runs, .. } in jobs {
            let operator = &desc.signature.operator;
            run.operator.push(operator.clone());
            run.input.push(desc.tensor(Side::Input));
            run.output.push(desc.tensor(Side::Output));
            run.input_binding.offset.push(binding.input);
            run.output_binding.offset.push(binding.output);
            run.runs.push(runs.len() as u32);
            let columns = run.members.entry(operator.clone()).or_default();
            for (place, member) in desc.signature.members.iter().enumerate() {
                let value = desc.members.get(place).cloned().unwrap_or(Value::List(None));
                match columns.get_mut(&member.name) {
                    Some(column) => column.push(MemberForm(value)),
                    None => _ = columns.insert(member.name.clone(), vec![MemberForm(value)]),
                }
            }
        }
        run
    }

    /// Puts the cases into an empty batch. The outputs take at most `most` bytes.
    ///
    /// # Errors
    ///
    /// Columns differ in length, a case is not possible, or the body does not match. The message names the
    /// place.
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
                        "case {index} asks for a run, and has no tensors or no `output_fill` for it"
                    ));
                };
                let (memory, rest) = body
                    .split_at_checked(input)
                    .ok_or_else(|| format!("case {index}: the body ends within its input"))?;
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

    /// Checks that every column has a value for each case.
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
            Some((name, length)) => Err(format!("`{name}` has {length} cases, and `operator` has {cases}")),
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
                .ok_or_else(|| format!("`{}` is missing, or has another type", member.name))
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
    fn push(&mut self, tensor: Option<&Tensor>) {
        self.data_type.push(tensor.map(|tensor| tensor.data_type.0));
        self.flags.push(tensor.map(|tensor| tensor.flags));
        self.dimension_count.push(tensor.map(|tensor| tensor.dimension_count));
        self.sizes.push(tensor.and_then(|tensor| tensor.sizes.clone()).map(ListForm));
        self.strides.push(tensor.and_then(|tensor| tensor.strides.clone()).map(ListForm));
        self.total_tensor_size_in_bytes.push(tensor.map(|tensor| tensor.total_size));
        self.guaranteed_base_offset_alignment.push(tensor.map(|tensor| tensor.alignment));
    }

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

    /// The tensor of a case. All columns must be long enough.
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
            _ => Err("a tensor has both null fields and fields with values".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use dmlcts_model::Member;
    use proptest::{collection::vec, option, prelude::*};

    use super::*;
    use crate::Run;

    fn signatures() -> Signatures {
        let operator = |name: &str, kinds: &[(&str, MemberKind)]| {
            let member =
                |(name, kind): &(&str, MemberKind)| Member { name: (*name).to_owned(), kind: kind.clone() };
            let members = kinds.iter().map(member).collect();
            Arc::new(Signature { operator: name.to_owned(), members })
        };
        Signatures::new([
            operator(
                "PAD",
                &[
                    ("Count", MemberKind::Count),
                    ("Steps", MemberKind::I32List),
                    ("Value", MemberKind::Scalar),
                ],
            ),
            operator("BARE", &[]),
            operator("CUT", &[("Sizes", MemberKind::U32List), ("Mode", MemberKind::I32)]),
        ])
    }

    fn any_list() -> impl Strategy<Value = Option<List>> {
        let value = prop_oneof![0..20_i64, Just(4_294_967_295), Just(-2_147_483_648)];
        option::weighted(0.8, vec(value, 0..10).prop_map(List::from_vec))
    }

    fn any_tensor() -> impl Strategy<Value = Option<Tensor>> {
        let fields = (0..14_u32, 0..3_u32, any::<u32>(), any_list(), any_list(), 0..40_u64, any::<u32>());
        let tensor =
            fields.prop_map(|(code, flags, dimension_count, sizes, strides, total_size, alignment)| Tensor {
                data_type: DataType(code),
                flags,
                dimension_count,
                sizes,
                strides,
                total_size,
                alignment,
            });
        option::weighted(0.9, tensor)
    }

    /// An operator, both tensors, lists for its members, a scalar, and the number of runs.
    type Draft = (usize, Option<Tensor>, Option<Tensor>, Option<List>, [u8; 8], usize);

    fn any_draft() -> impl Strategy<Value = Draft> {
        (0..3_usize, any_tensor(), any_tensor(), any_list(), any::<[u8; 8]>(), 0..4_usize)
    }

    /// The drafts as jobs, their inputs one after the other, and the bytes that fill their outputs.
    fn batch(drafts: &[Draft]) -> (Batch, Vec<u8>, Vec<u8>) {
        let (mut batch, mut body, mut fills) = (Batch::default(), Vec::new(), Vec::new());
        let signatures = signatures();
        for (operator, input, output, list, bytes, runs) in drafts {
            let signature = signatures.iter().nth(*operator).expect("there are three");
            let values = signature.members.iter().map(|member| match member.kind {
                MemberKind::I32List | MemberKind::U32List => Value::List(list.clone()),
                MemberKind::Scalar => Value::Scalar(*bytes),
                _ => Value::Integer(i64::from(bytes[0]) - 100),
            });
            let desc = Desc {
                signature: Arc::clone(signature),
                input: input.clone(),
                output: output.clone(),
                members: values.collect(),
            };
            let binding = BindingOffsets { input: bytes[1].into(), output: bytes[2].into() };
            let job = batch.push(&desc, binding);
            if let (Some(input), Some(output)) = (input, output) {
                for run in 0..*runs {
                    job.runs.push(Run {
                        input: 0..input.total_size as usize,
                        output: 0..output.total_size as usize,
                    });
                    body.extend(vec![run as u8; input.total_size as usize]);
                    fills.push(bytes[3]);
                }
            }
        }
        (batch, body, fills)
    }

    /// Checks that both batches have the same jobs.
    fn check_same(one: &Batch, other: &Batch) {
        assert_eq!(one.jobs().len(), other.jobs().len());
        for (one, other) in one.jobs().iter().zip(other.jobs()) {
            assert_eq!(
                (&one.desc, one.binding, one.runs.len()),
                (&other.desc, other.binding, other.runs.len())
            );
        }
    }

    proptest! {
        #[test]
        fn a_written_run_reads_back(
            drafts in vec(any_draft(), 1..12),
            number in option::of(any::<u64>()),
        ) {
            let (written, body, fills) = batch(&drafts);
            let header = serde_json::to_vec(&RunForm::new(written.jobs(), &fills, number)).expect("it is JSON");
            let mut read = Batch::default();
            prop_assert_eq!(read_run(&header, &body, &signatures(), &mut read, 1 << 20), Ok(number));
            check_same(&read, &written);
        }
    }
}
