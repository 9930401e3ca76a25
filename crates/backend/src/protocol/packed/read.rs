//! The backend's side: reads words into jobs, and reuses the memory of earlier jobs.

use std::sync::Arc;

use dmlcts_model::{BindingOffsets, DataType, Desc, List, MemberKind, Signature, Signatures, Tensor, Value};

use super::{NULL, PackedForm, Word};
use crate::{Batch, protocol::guards::lay_out};

/// Puts the cases of a `packed` into an empty batch, and returns its number. The outputs take at most `most`
/// bytes. An error names the case that it is about.
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

/// Any desc of an operator.
fn blank(signature: &Arc<Signature>) -> Desc {
    let unit = || Tensor::packed(DataType::FLOAT32, List::from_elem(1, 1));
    Desc::usual(Arc::clone(signature), unit(), unit())
}

/// The unread rest of a body.
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
            // All members are overwritten below.
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

/// A number from two halves, the lower one first.
fn whole([low, high]: [u32; 2]) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// The unread words. Every method returns `None` if there are too few.
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

    /// Reads a list into the memory of an earlier one.
    #[inline]
    fn list(&mut self, place: &mut Option<List>, value: impl Fn(u32) -> i64) -> Option<()> {
        let [length] = self.take()?;
        if length == NULL {
            *place = None;
            return Some(());
        }
        let (words, rest) = self.0.split_at_checked(length as usize)?;
        // Eight words are converted at once, including words behind the list: a loop over one or two takes
        // longer.
        let eight = self.0.first_chunk::<8>().filter(|eight| words.len() <= eight.len());
        self.0 = rest;
        if let Some(eight) = eight {
            let values = eight.map(|word| value(u32::from_le_bytes(word)));
            *place = Some(List::from_buf_and_len(values, words.len()));
            return Some(());
        }
        let list = place.get_or_insert_default();
        list.clear();
        list.extend(words.iter().map(|word| value(u32::from_le_bytes(*word))));
        Some(())
    }

    /// Reads a value into the memory of an earlier one.
    fn value(&mut self, kind: &MemberKind, place: &mut Value) -> Option<()> {
        *place = match kind {
            MemberKind::U32List => return self.list(list_of(place)?, i64::from),
            MemberKind::I32List => return self.list(list_of(place)?, |word| i64::from(word as i32)),
            MemberKind::Scalar => Value::Scalar(whole(self.take()?).to_le_bytes()),
            MemberKind::I32 | MemberKind::Enumeration(_) => {
                let [value] = self.take()?;
                Value::Integer(i64::from(value as i32))
            }
            MemberKind::Count | MemberKind::U32 | MemberKind::DataType => {
                let [value] = self.take()?;
                Value::Integer(i64::from(value))
            }
        };
        Some(())
    }
}

/// The list in a value. A value of another kind becomes a null list.
fn list_of(value: &mut Value) -> Option<&mut Option<List>> {
    if !matches!(value, Value::List(_)) {
        *value = Value::List(None);
    }
    match value {
        Value::List(list) => Some(list),
        Value::Integer(_) | Value::Scalar(_) => None,
    }
}
