//! Writing `run`: the jobs of a batch as columns, straight from where they lie. It is written by hand, since tiny cases
//! come by the hundred thousand a second and most of what is written of them is small integers; [`super::quick`] reads
//! it as it is written here, and [`super::RunForm`] however it is written.

use std::sync::Arc;

use dmlcts_model::{Desc, Side, Tensor, Value};

use super::text::{self, column};
use crate::Job;

/// Writes the header of `run`, which may have a number. `output_fill` is what the outputs' memory holds before, a byte a run.
pub(crate) fn write(jobs: &[Job], output_fill: &[u8], number: Option<u64>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"cases\":");
    text::unsigned(jobs.len() as u64, out);
    if let Some(number) = number {
        out.extend_from_slice(b",\"number\":");
        text::unsigned(number, out);
    }
    out.extend_from_slice(b",\"operator\":");
    column(jobs, out, |job, out| text::string(&job.desc.signature.operator, out));
    for side in Side::BOTH {
        tensors(jobs, side, out);
    }
    members(jobs, out);
    out.extend_from_slice(b",\"InputBinding\":{\"Offset\":");
    column(jobs, out, |job, out| text::unsigned(job.binding.input, out));
    out.extend_from_slice(b"},\"OutputBinding\":{\"Offset\":");
    column(jobs, out, |job, out| text::unsigned(job.binding.output, out));
    out.extend_from_slice(b"},\"runs\":");
    column(jobs, out, |job, out| text::unsigned(job.runs.len() as u64, out));
    out.extend_from_slice(b",\"output_fill\":");
    column(output_fill, out, |fill, out| text::unsigned(u64::from(*fill), out));
    out.push(b'}');
}

/// The fields of one tensor. Where the tensor is null, so is every field.
fn tensors(jobs: &[Job], side: Side, out: &mut Vec<u8>) {
    let field = |name: &str, out: &mut Vec<u8>, value: &dyn Fn(&Tensor, &mut Vec<u8>)| {
        out.push(if name == "DataType" { b'{' } else { b',' });
        text::key(name, out);
        column(jobs, out, |job, out| match job.desc.tensor(side) {
            Some(tensor) => value(tensor, out),
            None => text::null(out),
        });
    };
    out.push(b',');
    text::key(side.member_name(), out);
    field("DataType", out, &|tensor, out| text::unsigned(u64::from(tensor.data_type.0), out));
    field("Flags", out, &|tensor, out| text::unsigned(u64::from(tensor.flags), out));
    field("DimensionCount", out, &|tensor, out| text::unsigned(u64::from(tensor.dimension_count), out));
    field("Sizes", out, &|tensor, out| list(tensor.sizes.as_deref(), out));
    field("Strides", out, &|tensor, out| list(tensor.strides.as_deref(), out));
    field("TotalTensorSizeInBytes", out, &|tensor, out| text::unsigned(tensor.total_size, out));
    field("GuaranteedBaseOffsetAlignment", out, &|tensor, out| {
        text::unsigned(u64::from(tensor.alignment), out);
    });
    out.push(b'}');
}

fn list(list: Option<&[i64]>, out: &mut Vec<u8>) {
    match list {
        Some(list) => column(list, out, |value, out| text::signed(*value, out)),
        None => text::null(out),
    }
}

/// The members of each operator that occurs: a column a member, with a value for each case of that operator.
fn members(jobs: &[Job], out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"members\":{");
    let mut seen: Vec<&Desc> = Vec::new();
    for Job { desc, .. } in jobs {
        if seen.iter().any(|seen| is_of(desc, seen)) {
            continue;
        }
        if !seen.is_empty() {
            out.push(b',');
        }
        seen.push(desc);
        text::key(&desc.signature.operator, out);
        out.push(b'{');
        for (place, member) in desc.signature.members.iter().enumerate() {
            if place > 0 {
                out.push(b',');
            }
            text::key(&member.name, out);
            let own = jobs.iter().filter(|job| is_of(&job.desc, desc));
            column(own, out, |job, out| value(job.desc.members.get(place), out));
        }
        out.push(b'}');
    }
    out.push(b'}');
}

/// Whether both are descs of the same operator.
fn is_of(desc: &Desc, other: &Desc) -> bool {
    Arc::ptr_eq(&desc.signature, &other.signature) || desc.signature.operator == other.signature.operator
}

/// What a member holds: an integer, a list or null, or sixteen hex digits.
fn value(value: Option<&Value>, out: &mut Vec<u8>) {
    match value {
        Some(Value::Integer(value)) => text::signed(*value, out),
        Some(Value::List(values)) => list(values.as_deref(), out),
        Some(Value::Scalar(bytes)) => {
            out.push(b'"');
            for nibble in bytes.iter().flat_map(|byte| [byte >> 4, byte & 0xF]) {
                out.push(b"0123456789abcdef"[usize::from(nibble)]);
            }
            out.push(b'"');
        }
        None => text::null(out),
    }
}
