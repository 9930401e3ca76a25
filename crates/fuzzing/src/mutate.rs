//! Changing one thing about a case.

use arbitrary::{Arbitrary, Result, Unstructured};
use dmlcts_model::{Case, DataType, Fill, List, MemberKind, Side, Tensor, Value, line};

/// Values around which rules break: small ones, and the edges of 16, 31 and 32 bits.
const EDGES: [i64; 12] =
    [0, 1, 2, 3, 8, 65_535, 65_536, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, -1, -0x8000_0000];

/// Changes one thing about a case, to any value that its place can hold.
pub fn mutate(case: &mut Case, bytes: &mut Unstructured<'_>) -> Result<()> {
    match bytes.int_in_range(0..=9)? {
        0..=4 => mutate_member(case, bytes),
        5..=8 => {
            let side = *bytes.choose(&Side::BOTH)?;
            if bytes.ratio(1, 40)? {
                *(if side == Side::Input { &mut case.desc.input } else { &mut case.desc.output }) = None;
            }
            match case.desc.tensor_mut(side) {
                Some(tensor) => mutate_tensor(tensor, bytes),
                None => Ok(()),
            }
        }
        _ => {
            case.fill = match bytes.int_in_range(0..=4)? {
                0 => Fill::Iota,
                1 => Fill::Coordinates { pass: bytes.arbitrary()? },
                2 => Fill::Random { seed: bytes.arbitrary()? },
                3 => Fill::Special { seed: bytes.arbitrary()? },
                _ => Fill::Explicit(<[u8; 8]>::arbitrary(bytes)?.as_slice().into()),
            };
            Ok(())
        }
    }
}

fn mutate_member(case: &mut Case, bytes: &mut Unstructured<'_>) -> Result<()> {
    let signature = &case.desc.signature;
    if signature.members.is_empty() {
        return Ok(());
    }
    let place = bytes.choose_index(signature.members.len())?;
    let kind = &signature.members[place].kind;
    let (low, high) = kind.range().unwrap_or((0, 0));
    match &mut case.desc.members[place] {
        Value::List(list) => mutate_list(list, low, high, bytes),
        Value::Scalar(scalar) => {
            *scalar = bytes.arbitrary()?;
            Ok(())
        }
        Value::Integer(value) => {
            *value = match kind {
                MemberKind::DataType => i64::from(data_type(bytes)?.0),
                _ => near(*value, low, high, bytes)?,
            };
            Ok(())
        }
    }
}

fn mutate_tensor(tensor: &mut Tensor, bytes: &mut Unstructured<'_>) -> Result<()> {
    let uints = (0, i64::from(u32::MAX));
    let usual = tensor.total_size == tensor.usual_total_size();
    match bytes.int_in_range(0..=9)? {
        0..=3 => mutate_list(&mut tensor.sizes, uints.0, uints.1, bytes)?,
        4..=5 => {
            if tensor.strides.is_none() {
                tensor.strides = tensor.sizes.as_ref().map(|sizes| dmlcts_model::packed_strides(sizes));
            }
            // Packed strides of vast sizes are no `UINT`s.
            for stride in tensor.strides.iter_mut().flatten() {
                *stride = (*stride).min(uints.1);
            }
            mutate_list(&mut tensor.strides, uints.0, uints.1, bytes)?;
        }
        6 => tensor.data_type = data_type(bytes)?,
        7 => tensor.flags = bytes.int_in_range(0..=2)?,
        8 => tensor.alignment = *bytes.choose(&[0, 1, 2, 3, 4, 8, 16, 24, 256, 1 << 31, u32::MAX])?,
        _ => {
            let total = tensor.total_size;
            let near = [total.wrapping_sub(1), total.wrapping_sub(4), total.wrapping_add(4)];
            tensor.total_size = *bytes.choose(&[near[0], near[1], near[2], 0, u64::MAX])?;
            return Ok(());
        }
    }
    // A count and a size that fitted still fit, mostly: or every change would break these two rules as well.
    if bytes.ratio(7, 8)? {
        tensor.dimension_count = tensor.sizes.as_ref().map_or(0, |sizes| sizes.len() as u32);
    }
    if usual {
        tensor.total_size = tensor.usual_total_size();
    }
    Ok(())
}

fn data_type(bytes: &mut Unstructured<'_>) -> Result<DataType> {
    Ok(DataType(bytes.int_in_range(0..=14)?))
}

/// Changes a value of a list; seldom its length, or whether it is there at all.
fn mutate_list(list: &mut Option<List>, low: i64, high: i64, bytes: &mut Unstructured<'_>) -> Result<()> {
    let Some(values) = list else {
        *list = Some(List::from_slice(&[1, 1][..bytes.int_in_range(0..=2)?]));
        return Ok(());
    };
    match bytes.int_in_range(0..=19)? {
        0 => *list = None,
        1 if values.len() < line::MAX_LIST_LENGTH => values.push(near(1, low, high, bytes)?),
        2 => drop(values.pop()),
        _ if values.is_empty() => values.push(1),
        3 => {
            let (one, other) = (bytes.choose_index(values.len())?, bytes.choose_index(values.len())?);
            values.swap(one, other);
        }
        _ => {
            let place = bytes.choose_index(values.len())?;
            values[place] = near(values[place], low, high, bytes)?;
        }
    }
    Ok(())
}

/// A value beside this one, or one at an edge, within bounds.
fn near(value: i64, low: i64, high: i64, bytes: &mut Unstructured<'_>) -> Result<i64> {
    let value = match bytes.int_in_range(0..=3)? {
        0 => value.saturating_add(1),
        1 => value.saturating_sub(1),
        2 => value.saturating_neg(),
        _ => *bytes.choose(&EDGES)?,
    };
    Ok(value.clamp(low, high))
}
