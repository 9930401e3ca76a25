//! Reading `run` as [`super::columns`] writes it: straight into a batch, and without asking what comes next. A header that
//! is written in any other way, or is wrong, is left to [`RunForm`], which reads it at leisure and names what is wrong.

use std::sync::Arc;

use dmlcts_model::{
    BindingOffsets, DataType, Desc, List, MemberKind, Side, Signature, Signatures, Tensor, Value,
};
use smallvec::smallvec;

use super::{RunForm, guards::lay_out, text::Reader};
use crate::{Batch, Job};

/// Puts the cases of a `run` into an empty batch, whose outputs take `most` bytes at most, and returns its number. What is
/// wrong with them is said with its place.
pub fn read_run(
    header: &[u8],
    body: &[u8],
    signatures: &Signatures,
    batch: &mut Batch,
    most: u64,
) -> Result<Option<u64>, String> {
    if let Some(number) = read(header, body, signatures, batch, most) {
        return Ok(number);
    }
    batch.clear();
    let run: RunForm = serde_json::from_slice(header).map_err(|error| error.to_string())?;
    run.fill(body, signatures, batch, most)?;
    Ok(run.number)
}

/// The number, where there is one; `None` where this is not as it is written here.
#[expect(clippy::option_option, reason = "a run without a number is one that can be read")]
fn read(
    header: &[u8],
    body: &[u8],
    signatures: &Signatures,
    batch: &mut Batch,
    most: u64,
) -> Option<Option<u64>> {
    let text = &mut Reader(header);
    text.literal(b"{\"cases\":")?;
    let cases = text.unsigned()?;
    let number = if text.literal(b",\"number\":").is_some() { Some(text.unsigned()?) } else { None };
    text.literal(b",\"operator\":")?;
    operators(text, signatures, batch)?;
    if batch.jobs().len() as u64 != cases {
        return None;
    }
    let (jobs, _, _) = batch.parts();
    text.literal(b",\"InputTensor\":")?;
    tensors(text, jobs, |desc| &mut desc.input)?;
    text.literal(b",\"OutputTensor\":")?;
    tensors(text, jobs, |desc| &mut desc.output)?;
    text.literal(b",\"members\":{")?;
    members(text, jobs)?;
    text.literal(b",\"InputBinding\":{\"Offset\":")?;
    text.column(&mut *jobs, |text, job| text.put(&mut job.binding.input))?;
    text.literal(b"},\"OutputBinding\":{\"Offset\":")?;
    text.column(&mut *jobs, |text, job| text.put(&mut job.binding.output))?;
    text.literal(b"},\"runs\":")?;
    let mut runs = Vec::with_capacity(jobs.len());
    text.column(&*jobs, |text, _| {
        runs.push(text.unsigned()?);
        Some(())
    })?;
    text.literal(b",\"output_fill\":")?;
    let mut fills = Vec::with_capacity(jobs.len());
    text.array(|text| {
        fills.push(u8::try_from(text.unsigned()?).ok()?);
        Some(())
    })?;
    text.literal(b"}")?;
    text.0.is_empty().then(|| memory(&runs, &fills, body, batch, most)).flatten()?;
    Some(number)
}

/// Reads the column of operators, and adds a job for each, whose desc is yet to be written.
fn operators(text: &mut Reader<'_>, signatures: &Signatures, batch: &mut Batch) -> Option<()> {
    let first = blank(signatures.iter().next()?);
    let mut latest = signatures.iter().next()?;
    text.array(|text| {
        let name = text.string()?;
        if latest.operator != name {
            latest = signatures.get(name)?;
        }
        let job = batch.push_over(&first, BindingOffsets::default());
        if !Arc::ptr_eq(&job.desc.signature, latest) {
            job.desc.signature = Arc::clone(latest);
        }
        Some(())
    })
}

/// Any desc of an operator.
pub(super) fn blank(signature: &Arc<Signature>) -> Desc {
    let unit = || Tensor::packed(DataType::FLOAT32, smallvec![1]);
    Desc::usual(Arc::clone(signature), unit(), unit())
}

/// Reads the columns of one tensor. The first says which tensors are null.
fn tensors(
    text: &mut Reader<'_>,
    jobs: &mut [Job],
    tensor: impl Fn(&mut Desc) -> &mut Option<Tensor>,
) -> Option<()> {
    text.literal(b"{\"DataType\":")?;
    text.column(&mut *jobs, |text, job| {
        let tensor = tensor(&mut job.desc);
        if text.skips_null() {
            *tensor = None;
        } else {
            let code = DataType(text.unsigned()?.try_into().ok()?);
            tensor.get_or_insert_with(|| Tensor::packed(code, List::new())).data_type = code;
        }
        Some(())
    })?;
    let mut field = |name: &[u8], read: &dyn Fn(&mut Reader<'_>, &mut Tensor) -> Option<()>| {
        text.literal(b",\"")?;
        text.literal(name)?;
        text.literal(b"\":")?;
        text.column(&mut *jobs, |text, job| match tensor(&mut job.desc) {
            Some(tensor) => read(text, tensor),
            None => text.literal(b"null"),
        })
    };
    field(b"Flags", &|text, tensor| text.put(&mut tensor.flags))?;
    field(b"DimensionCount", &|text, tensor| text.put(&mut tensor.dimension_count))?;
    field(b"Sizes", &|text, tensor| list(text, &mut tensor.sizes))?;
    field(b"Strides", &|text, tensor| list(text, &mut tensor.strides))?;
    field(b"TotalTensorSizeInBytes", &|text, tensor| text.put(&mut tensor.total_size))?;
    field(b"GuaranteedBaseOffsetAlignment", &|text, tensor| text.put(&mut tensor.alignment))?;
    text.literal(b"}")
}

/// Reads a list over what is there.
fn list(text: &mut Reader<'_>, list: &mut Option<List>) -> Option<()> {
    if text.skips_null() {
        *list = None;
        return Some(());
    }
    let list = list.get_or_insert_default();
    list.clear();
    text.array(|text| {
        list.push(text.signed()?);
        Some(())
    })
}

/// Reads the members of each operator, behind the brace.
fn members(text: &mut Reader<'_>, jobs: &mut [Job]) -> Option<()> {
    let (mut read, mut seen) = (0, Vec::new());
    while !text.skips(b'}') {
        if read > 0 {
            text.literal(b",")?;
        }
        let name = text.string().filter(|name| !seen.contains(name))?;
        seen.push(name);
        text.literal(b":{")?;
        let own = |job: &&mut Job| job.desc.signature.operator == name;
        let signature = Arc::clone(&jobs.iter_mut().find(own)?.desc.signature);
        for job in jobs.iter_mut().filter(own) {
            read += 1;
            if job.desc.members.len() != signature.members.len() {
                job.desc.members.resize(signature.members.len(), Value::Integer(0));
            }
        }
        for (place, member) in signature.members.iter().enumerate() {
            if place > 0 {
                text.literal(b",")?;
            }
            text.literal(b"\"")?;
            text.literal(member.name.as_bytes())?;
            text.literal(b"\":")?;
            let own = jobs.iter_mut().filter(own);
            text.column(own, |text, job| value(text, &member.kind, job.desc.members.get_mut(place)?))?;
        }
        text.literal(b"}")?;
    }
    (read == jobs.len()).then_some(())
}

/// Reads a value over what is there.
fn value(text: &mut Reader<'_>, kind: &MemberKind, value: &mut Value) -> Option<()> {
    match kind {
        MemberKind::U32List | MemberKind::I32List => {
            if !matches!(value, Value::List(_)) {
                *value = Value::List(None);
            }
            let Value::List(values) = value else { return None };
            list(text, values)?;
        }
        MemberKind::Scalar => {
            let digits = text.string().filter(|digits| digits.len() == 16)?;
            // A sign is no digit.
            let digits =
                Some(digits).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
            *value = Value::Scalar(u64::from_str_radix(digits, 16).ok()?.to_be_bytes());
        }
        _ => *value = Value::Integer(text.signed()?),
    }
    Some(())
}

/// Lays out the memory of all runs.
fn memory(runs: &[u64], fills: &[u8], body: &[u8], batch: &mut Batch, most: u64) -> Option<()> {
    let (mut body, mut fills) = (body, fills.iter());
    for (place, runs) in runs.iter().enumerate() {
        for _ in 0..*runs {
            let desc = &batch.jobs().get(place)?.desc;
            let [input, output] = Side::BOTH.map(|side| usize::try_from(desc.tensor(side)?.total_size).ok());
            let (memory, rest) = body.split_at_checked(input?)?;
            body = rest;
            let run = lay_out(batch, memory, output?, *fills.next()?, most)?;
            batch.parts().0.get_mut(place)?.runs.push(run);
        }
    }
    (body.is_empty() && fills.next().is_none()).then_some(())
}

#[cfg(test)]
mod tests {
    use dmlcts_model::Member;
    use proptest::{collection::vec, option, prelude::*};

    use super::*;
    use crate::{Run, protocol::columns::write as write_run};

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

    /// An operator, both tensors, lists for its members, a scalar, and how often it runs.
    type Draft = (usize, Option<Tensor>, Option<Tensor>, Option<List>, [u8; 8], usize);

    fn any_draft() -> impl Strategy<Value = Draft> {
        (0..3_usize, any_tensor(), any_tensor(), any_list(), any::<[u8; 8]>(), 0..4_usize)
    }

    /// The drafts as jobs, their inputs one behind the other, and what their outputs are full of.
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

    /// That both batches hold the same jobs on the same memory.
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
        fn what_is_written_reads_back_either_way(
            drafts in vec(any_draft(), 1..12),
            before in vec(any_draft(), 0..12),
            number in option::of(any::<u64>()),
        ) {
            let (written, body, fills) = batch(&drafts);
            let mut header = Vec::new();
            write_run(written.jobs(), &fills, number, &mut header);
            // What an earlier batch left behind is written over.
            let (mut quick, _, _) = batch(&before);
            quick.clear();
            prop_assert_eq!(read(&header, &body, &signatures(), &mut quick, 1 << 20), Some(number));
            check_same(&quick, &written);
            let mut slow = Batch::default();
            let form: RunForm = serde_json::from_slice(&header).expect("it is the form's");
            form.fill(&body, &signatures(), &mut slow, 1 << 20).expect("it makes sense");
            prop_assert_eq!(form.number, number);
            check_same(&slow, &written);
            prop_assert_eq!((quick.inputs, quick.outputs), (slow.inputs, slow.outputs));
        }

        #[test]
        fn a_header_that_is_written_otherwise_or_is_wrong_comes_to_the_same(
            drafts in vec(any_draft(), 1..6),
            place in any::<prop::sample::Index>(),
            change in prop::sample::select(vec![" ", "0", "null", ",1", "]", "\""]),
            cut in 0..3_usize,
            number in option::of(any::<u64>()),
        ) {
            let (written, body, fills) = batch(&drafts);
            let mut header = Vec::new();
            write_run(written.jobs(), &fills, number, &mut header);
            let place = place.index(header.len());
            header.splice(place..(place + cut).min(header.len()), change.bytes());
            let (mut either, mut slow) = (Batch::default(), Batch::default());
            let read = read_run(&header, &body, &signatures(), &mut either, 1 << 20);
            let form = serde_json::from_slice::<RunForm>(&header).map_err(|error| error.to_string());
            let form = form.and_then(|form| {
                form.fill(&body, &signatures(), &mut slow, 1 << 20).map(|()| form.number)
            });
            prop_assert_eq!(&read, &form);
            if read.is_ok() {
                check_same(&either, &slow);
                prop_assert_eq!((either.inputs, either.outputs), (slow.inputs, slow.outputs));
            }
        }
    }

    #[test]
    fn members_that_come_twice_are_left_to_the_form() {
        let header = |members: &str| {
            let tensor = r#"{"DataType":[null,null],"Flags":[null,null],"DimensionCount":[null,null],"Sizes":[null,null],"Strides":[null,null],"TotalTensorSizeInBytes":[null,null],"GuaranteedBaseOffsetAlignment":[null,null]}"#;
            format!(
                r#"{{"cases":2,"operator":["CUT","BARE"],"InputTensor":{tensor},"OutputTensor":{tensor},"members":{members},"InputBinding":{{"Offset":[0,0]}},"OutputBinding":{{"Offset":[0,0]}},"runs":[0,0],"output_fill":[]}}"#
            )
        };
        let reads = |members: &str| {
            let header = header(members);
            read(header.as_bytes(), &[], &signatures(), &mut Batch::default(), 1000).is_some()
        };
        assert!(reads(r#"{"CUT":{"Sizes":[null],"Mode":[1]},"BARE":{}}"#));
        assert!(!reads(r#"{"CUT":{"Sizes":[null],"Mode":[1]},"CUT":{"Sizes":[null],"Mode":[1]}}"#));
        assert!(!reads(r#"{"CUT":{"Sizes":[null],"Mode":[1]}}"#));
        assert!(!reads(r#"{"CUT":{"Mode":[1],"Sizes":[null]},"BARE":{}}"#));
    }
}
