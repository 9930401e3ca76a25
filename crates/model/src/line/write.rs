//! Writes case lines. Listings write millions of lines a second, so this code avoids allocations and
//! `format!`.

use crate::element::{write_bytes, write_element, write_hex, write_signed, write_unsigned};
use crate::{Case, DataType, Desc, Fill, List, Member, MemberKind, Side, Tensor, Value};

/// Appends the canonical form of a case, without a line break.
pub fn write(case: &Case, out: &mut String) {
    // One reservation that suffices for nearly every case.
    out.reserve(256);
    let desc = &case.desc;
    let usual_type = line_data_type(desc);
    out.push_str(&desc.signature.operator);
    out.push(' ');
    write_data_type(usual_type, out);
    for (side, key) in [(Side::Input, " in="), (Side::Output, " out=")] {
        if let Some(tensor) = desc.tensor(side) {
            out.push_str(key);
            write_list(tensor.sizes.as_deref(), out);
        }
    }
    for side in Side::BOTH {
        write_unusual_fields(side, desc.tensor(side), usual_type, out);
    }
    for (member, value) in desc.signature.members.iter().zip(&desc.members) {
        write_member(desc, member, value, usual_type, out);
    }
    for (key, offset) in
        [(" InputBinding.Offset=", case.binding.input), (" OutputBinding.Offset=", case.binding.output)]
    {
        if offset != 0 {
            out.push_str(key);
            write_unsigned(offset, out);
        }
    }
    write_fill(&case.fill, out);
}

/// The second word of a line: the input's data type, or the output's if there is no input.
fn line_data_type(desc: &Desc) -> DataType {
    desc.input.as_ref().or(desc.output.as_ref()).map_or(DataType::UNKNOWN, |tensor| tensor.data_type)
}

fn write_unusual_fields(side: Side, tensor: Option<&Tensor>, usual_type: DataType, out: &mut String) {
    let key = |field: &str, out: &mut String| {
        out.push(' ');
        out.push_str(side.member_name());
        out.push_str(field);
    };
    let Some(tensor) = tensor else { return key("=null", out) };
    if tensor.data_type != usual_type {
        key(".DataType=", out);
        write_data_type(tensor.data_type, out);
    }
    if tensor.dimension_count as usize != tensor.sizes.as_ref().map_or(0, List::len) {
        key(".DimensionCount=", out);
        write_unsigned(tensor.dimension_count.into(), out);
    }
    if tensor.flags != 0 {
        key(".Flags=", out);
        write_unsigned(tensor.flags.into(), out);
    }
    if tensor.strides.is_some() {
        key(".Strides=", out);
        write_list(tensor.strides.as_deref(), out);
    }
    if tensor.total_size != tensor.usual_total_size() {
        key(".TotalTensorSizeInBytes=", out);
        write_unsigned(tensor.total_size, out);
    }
    if tensor.alignment != 0 {
        key(".GuaranteedBaseOffsetAlignment=", out);
        write_unsigned(tensor.alignment.into(), out);
    }
}

fn write_member(desc: &Desc, member: &Member, value: &Value, usual_type: DataType, out: &mut String) {
    let usual = match (&member.kind, value) {
        (MemberKind::Count, Value::Integer(count)) => *count == desc.rank() as i64,
        (MemberKind::DataType, Value::Integer(code)) => *code == i64::from(usual_type.0),
        (MemberKind::U32 | MemberKind::I32, Value::Integer(value)) => *value == 0,
        (_, Value::Scalar(bytes)) => *bytes == [0; 8],
        _ => false,
    };
    if usual {
        return;
    }
    out.push(' ');
    out.push_str(&member.name);
    out.push('=');
    match value {
        Value::List(list) => write_list(list.as_deref(), out),
        Value::Scalar(bytes) => write_scalar(*bytes, usual_type, out),
        Value::Integer(value) => match &member.kind {
            MemberKind::Enumeration(enumeration) => match enumeration.name_of(*value) {
                Some(name) => out.push_str(name),
                None => write_signed(*value, out),
            },
            MemberKind::DataType => match u32::try_from(*value) {
                Ok(code) => write_data_type(DataType(code), out),
                Err(_) => write_signed(*value, out),
            },
            _ => write_signed(*value, out),
        },
    }
}

fn write_data_type(data_type: DataType, out: &mut String) {
    match data_type.name() {
        Some(name) => out.push_str(name),
        None => write_unsigned(data_type.0.into(), out),
    }
}

fn write_list(list: Option<&[i64]>, out: &mut String) {
    let Some(list) = list else { return out.push_str("null") };
    for (index, &value) in list.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_signed(value, out);
    }
}

/// Writes a number if that sets all eight bytes, otherwise hex.
fn write_scalar(bytes: [u8; 8], data_type: DataType, out: &mut String) {
    match data_type.element_size() {
        Some(size) if bytes[size..].iter().all(|&byte| byte == 0) => write_element(data_type, &bytes, out),
        _ => write_bytes(&bytes, out),
    }
}

fn write_fill(fill: &Fill, out: &mut String) {
    let (kind, number) = match fill {
        Fill::Iota | Fill::Coordinates { pass: 0 } => {
            let plain = if matches!(fill, Fill::Iota) { " fill=iota" } else { " fill=coordinates" };
            return out.push_str(plain);
        }
        Fill::Coordinates { pass } => (" fill=coordinates:", u64::from(*pass)),
        Fill::Random { seed } => (" fill=random:", *seed),
        Fill::Special { seed } => (" fill=special:", *seed),
        Fill::Explicit(bytes) => {
            out.push_str(" fill=explicit:");
            out.reserve(2 * bytes.len());
            return bytes.iter().for_each(|&byte| write_hex(byte, out));
        }
    };
    out.push_str(kind);
    write_unsigned(number, out);
}
