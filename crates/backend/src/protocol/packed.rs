//! `packed`: what `run` says in columns of JSON, as 32-bit words in the body, for backends that ask for it. Most of what a
//! tiny case takes on its way to a process and back is writing and reading numbers as text, and words need neither.

use std::sync::Arc;

use dmlcts_model::{
    BindingOffsets, DataType, Desc, List, MemberKind, Side, Signature, Signatures, Tensor, Value,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{guards::lay_out, quick::blank};
use crate::{Batch, Job};

/// The length of a list that is a null pointer.
const NULL: u32 = u32::MAX;
/// Room that the words of most cases do not need.
const MOST_WORDS: usize = 128;

/// `packed`, to the backend: as `run`, but the body begins with words that say what `run` says in columns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PackedForm {
    /// How many cases.
    pub cases: u64,
    /// Which question it is, for a backend that says `ahead`; left out for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// The operators' names. A case names one by its place in this list, from 0 on.
    pub operators: Vec<String>,
    /// How many words of four bytes each, little-endian, the body begins with. Behind them lies the inputs' memory.
    pub words: u64,
}

/// A word as it travels.
type Word = [u8; 4];

/// The words of cases, and the operators that they are of.
#[derive(Default)]
pub(crate) struct Packed<'a> {
    pub(crate) words: Vec<Word>,
    operators: Vec<&'a Arc<Signature>>,
    cases: usize,
    /// Bits that a word has no room for; none, as long as every member holds what its integer type can hold.
    excess: u64,
}

impl<'a> Packed<'a> {
    /// Packs cases, whose outputs' memory is full of `output_fill` before, a byte a run. `None` where a member holds what its
    /// type in the struct cannot hold: that is for `run` to say.
    pub(crate) fn of(jobs: &'a [Job], output_fill: &[u8]) -> Option<Self> {
        let mut packed = Self { cases: jobs.len(), ..Self::default() };
        packed.words.reserve(MOST_WORDS * jobs.len());
        let mut fills = output_fill.iter();
        for job in jobs {
            packed.job(job, &mut fills)?;
        }
        (packed.excess == 0).then_some(packed)
    }

    /// The header of the message.
    pub(crate) fn form(&self, number: Option<u64>) -> PackedForm {
        PackedForm {
            cases: self.cases as u64,
            number,
            operators: self.operators.iter().map(|signature| signature.operator.clone()).collect(),
            words: self.words.len() as u64,
        }
    }

    fn push<const N: usize>(&mut self, words: [u32; N]) {
        self.words.extend_from_slice(&words.map(u32::to_le_bytes));
    }

    fn job(&mut self, job: &'a Job, fills: &mut std::slice::Iter<'_, u8>) -> Option<()> {
        let Job { desc, binding, runs, .. } = job;
        let known = self.operators.iter().rposition(|known| Arc::ptr_eq(known, &desc.signature));
        let operator = known.unwrap_or_else(|| {
            self.operators.push(&desc.signature);
            self.operators.len() - 1
        });
        let [input, output] = [halves(binding.input), halves(binding.output)];
        self.push([operator as u32, input[0], input[1], output[0], output[1]]);
        for side in Side::BOTH {
            self.tensor(desc.tensor(side));
        }
        let members = &desc.signature.members;
        if members.len() != desc.members.len() {
            return None;
        }
        for (member, value) in members.iter().zip(&desc.members) {
            self.value(&member.kind, value)?;
        }
        self.push([u32::try_from(runs.len()).ok()?]);
        for _ in runs {
            self.push([u32::from(*fills.next()?)]);
        }
        Some(())
    }

    fn tensor(&mut self, tensor: Option<&Tensor>) {
        let Some(tensor) = tensor else { return self.push([0]) };
        let size = halves(tensor.total_size);
        self.push([
            1,
            tensor.data_type.0,
            tensor.flags,
            tensor.dimension_count,
            size[0],
            size[1],
            tensor.alignment,
        ]);
        self.list(tensor.sizes.as_deref(), unsigned_excess);
        self.list(tensor.strides.as_deref(), unsigned_excess);
    }

    #[inline]
    fn list(&mut self, list: Option<&[i64]>, excess: impl Fn(i64) -> u64) {
        let Some(list) = list else { return self.push([NULL]) };
        self.push([list.len() as u32]);
        self.excess |= list.iter().fold(0, |all, value| all | excess(*value));
        self.words.extend(list.iter().map(|value| (*value as u32).to_le_bytes()));
    }

    fn value(&mut self, kind: &MemberKind, value: &Value) -> Option<()> {
        match (kind, value) {
            (MemberKind::U32List, Value::List(values)) => self.list(values.as_deref(), unsigned_excess),
            (MemberKind::I32List, Value::List(values)) => self.list(values.as_deref(), signed_excess),
            (MemberKind::Scalar, Value::Scalar(bytes)) => self.words.extend_from_slice(bytes.as_chunks().0),
            (MemberKind::I32 | MemberKind::Enumeration(_), Value::Integer(value)) => {
                self.excess |= signed_excess(*value);
                self.push([*value as u32]);
            }
            (MemberKind::Count | MemberKind::U32 | MemberKind::DataType, Value::Integer(value)) => {
                self.excess |= unsigned_excess(*value);
                self.push([*value as u32]);
            }
            _ => return None,
        }
        Some(())
    }
}

/// The lower and the upper half of a number.
fn halves(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

/// The bits of an integer that an unsigned word does not hold.
fn unsigned_excess(value: i64) -> u64 {
    value as u64 >> 32
}

/// The bits of an integer that a signed word does not hold.
fn signed_excess(value: i64) -> u64 {
    (value ^ i64::from(value as i32)) as u64
}

/// Puts the cases of a `packed` into an empty batch, whose outputs take `most` bytes at most, and returns its number. What is
/// wrong with them is said with its place.
pub fn read_packed(
    header: &[u8],
    body: &[u8],
    signatures: &Signatures,
    batch: &mut Batch,
    most: u64,
) -> Result<Option<u64>, String> {
    let form: PackedForm = serde_json::from_slice(header).map_err(|error| error.to_string())?;
    let operators = form.operators.iter().map(|name| {
        let signature = signatures.get(name).ok_or_else(|| format!("there is no operator `{name}`"))?;
        Ok((signature, blank(signature)))
    });
    let operators: Vec<(&Arc<Signature>, Desc)> = operators.collect::<Result<_, String>>()?;
    let bytes = usize::try_from(form.words).ok().and_then(|words| words.checked_mul(size_of::<Word>()));
    let (words, inputs) = bytes
        .and_then(|bytes| body.split_at_checked(bytes))
        .ok_or_else(|| "the body is shorter than its words".to_owned())?;
    let mut reader = Reader { words: Words(words.as_chunks().0), inputs, operators: &operators, most };
    for case in 0..form.cases {
        reader.job(batch).map_err(|what| format!("case {case}: {what}"))?;
    }
    if !reader.words.0.is_empty() || !reader.inputs.is_empty() {
        return Err("the body is longer than the cases need".to_owned());
    }
    Ok(form.number)
}

/// What is left of a body.
struct Reader<'a> {
    words: Words<'a>,
    inputs: &'a [u8],
    operators: &'a [(&'a Arc<Signature>, Desc)],
    most: u64,
}

impl Reader<'_> {
    fn job(&mut self, batch: &mut Batch) -> Result<(), &'static str> {
        const SHORT: &str = "the words end before it does";
        let [operator, numbers @ ..] = self.words.take::<5>().ok_or(SHORT)?;
        let operator = self.operators.get(operator as usize);
        let (signature, blank) = operator.ok_or("its operator is not among those of the header")?;
        let binding = BindingOffsets {
            input: whole([numbers[0], numbers[1]]),
            output: whole([numbers[2], numbers[3]]),
        };
        let desc = &mut batch.push_over(blank, binding).desc;
        if !Arc::ptr_eq(&desc.signature, signature) {
            // Whatever its members hold is written over.
            desc.signature = Arc::clone(signature);
            desc.members.resize(signature.members.len(), Value::Integer(0));
        }
        self.words.tensor(&mut desc.input).ok_or(SHORT)?;
        self.words.tensor(&mut desc.output).ok_or(SHORT)?;
        for (member, value) in signature.members.iter().zip(&mut desc.members) {
            self.words.value(&member.kind, value).ok_or(SHORT)?;
        }
        let size = |tensor: &Option<Tensor>| usize::try_from(tensor.as_ref()?.total_size).ok();
        let sizes = size(&desc.input).zip(size(&desc.output));
        let [runs] = self.words.take().ok_or(SHORT)?;
        for _ in 0..runs {
            let (input, output) = sizes.ok_or("it is to run, and has no tensors to run on")?;
            let [fill] = self.words.take().ok_or(SHORT)?;
            let fill = u8::try_from(fill).map_err(|_| "its output cannot be full of more than a byte")?;
            let (memory, rest) =
                self.inputs.split_at_checked(input).ok_or("the body ends before its input")?;
            self.inputs = rest;
            let run = lay_out(batch, memory, output, fill, self.most).ok_or("it is larger than memory")?;
            if let Some(job) = batch.parts().0.last_mut() {
                job.runs.push(run);
            }
        }
        Ok(())
    }
}

/// A number of two halves, the lower one first.
fn whole([low, high]: [u32; 2]) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// The words that are left. Every method gives up, with `None`, where there are too few.
struct Words<'a>(&'a [Word]);

impl Words<'_> {
    #[inline]
    fn take<const N: usize>(&mut self) -> Option<[u32; N]> {
        let (words, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(words.map(u32::from_le_bytes))
    }

    fn tensor(&mut self, place: &mut Option<Tensor>) -> Option<()> {
        let [is_there] = self.take()?;
        if is_there == 0 {
            *place = None;
            return Some(());
        }
        let [data_type, flags, dimension_count, low, high, alignment] = self.take()?;
        let tensor = place.get_or_insert_with(|| Tensor::packed(DataType(data_type), List::new()));
        tensor.data_type = DataType(data_type);
        tensor.flags = flags;
        tensor.dimension_count = dimension_count;
        tensor.total_size = whole([low, high]);
        tensor.alignment = alignment;
        self.list(&mut tensor.sizes, i64::from)?;
        self.list(&mut tensor.strides, i64::from)
    }

    /// Reads a list over what is there.
    #[inline]
    fn list(&mut self, place: &mut Option<List>, value: impl Fn(u32) -> i64) -> Option<()> {
        let [length] = self.take()?;
        if length == NULL {
            *place = None;
            return Some(());
        }
        let (words, rest) = self.0.split_at_checked(length as usize)?;
        self.0 = rest;
        let list = place.get_or_insert_default();
        list.clear();
        list.extend(words.iter().map(|word| value(u32::from_le_bytes(*word))));
        Some(())
    }

    /// Reads a value over what is there.
    fn value(&mut self, kind: &MemberKind, place: &mut Value) -> Option<()> {
        match kind {
            MemberKind::U32List => self.list(list_of(place)?, i64::from),
            MemberKind::I32List => self.list(list_of(place)?, |word| i64::from(word as i32)),
            MemberKind::Scalar => {
                *place = Value::Scalar(whole(self.take()?).to_le_bytes());
                Some(())
            }
            MemberKind::I32 | MemberKind::Enumeration(_) => {
                let [value] = self.take()?;
                *place = Value::Integer(i64::from(value as i32));
                Some(())
            }
            MemberKind::Count | MemberKind::U32 | MemberKind::DataType => {
                let [value] = self.take()?;
                *place = Value::Integer(i64::from(value));
                Some(())
            }
        }
    }
}

/// The list that a value is.
fn list_of(value: &mut Value) -> Option<&mut Option<List>> {
    if !matches!(value, Value::List(_)) {
        *value = Value::List(None);
    }
    match value {
        Value::List(list) => Some(list),
        Value::Integer(_) | Value::Scalar(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use dmlcts_model::Member;
    use proptest::{collection::vec, option, prelude::*};

    use super::*;
    use crate::Run;

    fn signatures() -> Signatures {
        let member = |(name, kind): (&str, MemberKind)| Member { name: name.to_owned(), kind };
        let operator = |name: &str, members: Vec<(&str, MemberKind)>| {
            let members = members.into_iter().map(member).collect();
            Arc::new(Signature { operator: name.to_owned(), members })
        };
        Signatures::new([
            operator(
                "PAD",
                vec![
                    ("Count", MemberKind::Count),
                    ("Steps", MemberKind::I32List),
                    ("Value", MemberKind::Scalar),
                ],
            ),
            operator("BARE", vec![]),
            operator("CUT", vec![("Mode", MemberKind::I32), ("Sizes", MemberKind::U32List)]),
        ])
    }

    fn any_list(value: impl Strategy<Value = i64>) -> impl Strategy<Value = Option<List>> {
        option::weighted(0.8, vec(value, 0..10).prop_map(List::from_vec))
    }

    fn unsigned() -> impl Strategy<Value = i64> {
        prop_oneof![0..20_i64, Just(i64::from(u32::MAX))]
    }

    fn signed() -> impl Strategy<Value = i64> {
        prop_oneof![-20..20_i64, Just(i64::from(i32::MIN)), Just(i64::from(i32::MAX))]
    }

    fn any_tensor() -> impl Strategy<Value = Option<Tensor>> {
        let lists = (any_list(unsigned()), any_list(unsigned()));
        let fields = (any::<u32>(), any::<u32>(), any::<u32>(), lists, 0..40_u64, any::<u32>());
        let tensor =
            fields.prop_map(|(code, flags, dimension_count, (sizes, strides), total_size, alignment)| {
                Tensor {
                    data_type: DataType(code),
                    flags,
                    dimension_count,
                    sizes,
                    strides,
                    total_size,
                    alignment,
                }
            });
        option::weighted(0.9, tensor)
    }

    fn any_desc() -> impl Strategy<Value = Desc> {
        let integers = (unsigned(), signed());
        let lists = (any_list(unsigned()), any_list(signed()));
        let parts = (0..3_usize, any_tensor(), any_tensor(), integers, lists, any::<[u8; 8]>());
        parts.prop_map(|(operator, input, output, integers, lists, bytes)| {
            let signatures = signatures();
            let signature = signatures.iter().nth(operator).expect("there are three");
            let value = |member: &Member| match member.kind {
                MemberKind::U32List => Value::List(lists.0.clone()),
                MemberKind::I32List => Value::List(lists.1.clone()),
                MemberKind::Scalar => Value::Scalar(bytes),
                MemberKind::I32 => Value::Integer(integers.1),
                _ => Value::Integer(integers.0),
            };
            let members = signature.members.iter().map(value).collect();
            Desc { signature: Arc::clone(signature), input, output, members }
        })
    }

    /// The descs as jobs that run so often, the inputs one behind the other, and what the outputs are full of.
    fn batch(descs: &[(Desc, u64, usize)]) -> (Batch, Vec<u8>, Vec<u8>) {
        let (mut batch, mut inputs, mut fills) = (Batch::default(), Vec::new(), Vec::new());
        for (desc, offset, runs) in descs {
            let job = batch.push(desc, BindingOffsets { input: *offset, output: !*offset });
            if let (Some(input), Some(output)) = (&desc.input, &desc.output) {
                for run in 0..*runs {
                    let [input, output] = [input.total_size as usize, output.total_size as usize];
                    job.runs.push(Run { input: 0..input, output: 0..output });
                    inputs.extend(vec![run as u8; input]);
                    fills.push(run as u8 ^ 0xB5);
                }
            }
        }
        (batch, inputs, fills)
    }

    /// A header and a body.
    fn written(jobs: &[Job], inputs: &[u8], fills: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let packed = Packed::of(jobs, fills).expect("every member holds what it can");
        let header = serde_json::to_vec(&packed.form(None)).expect("it is JSON");
        (header, [packed.words.as_flattened(), inputs].concat())
    }

    proptest! {
        #[test]
        fn what_is_packed_reads_back_over_what_was_there(
            descs in vec((any_desc(), any::<u64>(), 0..4_usize), 0..12),
            before in vec((any_desc(), any::<u64>(), 0..4_usize), 0..12),
        ) {
            let (jobs, inputs, fills) = batch(&descs);
            let (header, body) = written(jobs.jobs(), &inputs, &fills);
            let (mut read, _, _) = batch(&before);
            read.clear();
            prop_assert_eq!(read_packed(&header, &body, &signatures(), &mut read, 1 << 20), Ok(None));
            prop_assert_eq!(read.jobs().len(), jobs.jobs().len());
            for (read, job) in read.jobs().iter().zip(jobs.jobs()) {
                prop_assert_eq!((&read.desc, read.binding), (&job.desc, job.binding));
                prop_assert_eq!(read.runs.len(), job.runs.len());
            }
            let runs = || read.jobs().iter().flat_map(|job| &job.runs);
            let came: Vec<u8> = runs().flat_map(|run| read.inputs[run.input.clone()].to_vec()).collect();
            prop_assert_eq!(came, inputs);
            for (run, fill) in runs().zip(fills) {
                prop_assert!(read.outputs[run.output.clone()].iter().all(|byte| *byte == fill));
            }
        }

        #[test]
        fn a_body_that_is_cut_or_changed_makes_sense_or_says_what_does_not(
            descs in vec((any_desc(), any::<u64>(), 0..3_usize), 1..6),
            place in any::<prop::sample::Index>(),
            change in prop::sample::select(vec![vec![], vec![0; 4], vec![255; 4], vec![7]]),
            cut in 0..5_usize,
        ) {
            let (jobs, inputs, fills) = batch(&descs);
            let (header, mut body) = written(jobs.jobs(), &inputs, &fills);
            prop_assume!(!body.is_empty());
            let place = place.index(body.len());
            let length = body.len();
            body.splice(place..(place + cut).min(length), change);
            let (mut read, most) = (Batch::default(), 1 << 20);
            let said = read_packed(&header, &body, &signatures(), &mut read, most);
            prop_assert!(said.is_err() || body.len() == length, "{said:?}");
            prop_assert!(read.outputs.len() as u64 <= most + (1 << 10) * (1 + read.jobs().len() as u64));
        }
    }

    #[test]
    fn what_a_member_cannot_hold_is_not_packed() {
        let signatures = signatures();
        for (operator, values) in [
            ("CUT", [Value::Integer(1 << 31), Value::List(None)]),
            ("CUT", [Value::Integer(0), Value::List(Some(List::from_elem(-1, 1)))]),
            ("CUT", [Value::Integer(0), Value::List(Some(List::from_elem(1 << 32, 9)))]),
            ("CUT", [Value::List(None), Value::List(None)]),
        ] {
            let signature = signatures.get(operator).expect("it is one of them");
            let desc = Desc {
                signature: Arc::clone(signature),
                input: None,
                output: None,
                members: values.into_iter().collect(),
            };
            let (jobs, _, fills) = batch(&[(desc, 0, 0)]);
            assert!(Packed::of(jobs.jobs(), &fills).is_none());
        }
    }

    #[test]
    fn what_makes_no_sense_is_named_with_its_case() {
        let said = |header: &str, words: &[u32]| {
            let body: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let read = read_packed(header.as_bytes(), &body, &signatures(), &mut Batch::default(), 100);
            read.expect_err("it makes no sense")
        };
        let bare = r#"{"cases":2,"operators":["BARE"],"words":"#;
        assert!(said(&format!("{bare}9}}"), &[0; 8]).contains("shorter than its words"));
        assert!(said(&format!("{bare}9}}"), &[0; 9]).starts_with("case 1: the words end"));
        assert!(
            said(&format!("{bare}8}}"), &[0, 0, 0, 0, 0, 0, 0, 1])
                .starts_with("case 0: it is to run, and has no")
        );
        assert!(said(&format!("{bare}16}}"), &[1; 16]).starts_with("case 0: its operator"));
        assert!(said(&format!("{bare}17}}"), &[0; 17]).contains("longer than the cases need"));
        let unknown = r#"{"cases":0,"operators":["NONE"],"words":0}"#;
        assert!(said(unknown, &[]).contains("no operator `NONE`"));
    }
}
