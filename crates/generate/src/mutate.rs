//! Changing one thing about a case.

use dmlcts_model::{Case, DataType, Fill, List, MemberKind, Side, Tensor, Value, line, packed_strides};

use crate::{draw::Draws, edit::tensor_slot};

/// Values around which rules break: small ones, and the edges of 16, 31 and 32 bits.
const EDGES: [i64; 12] =
    [0, 1, 2, 3, 8, 65_535, 65_536, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, -1, -0x8000_0000];

const ALIGNMENTS: [u32; 11] = [0, 1, 2, 3, 4, 8, 16, 24, 256, 1 << 31, u32::MAX];

/// Changes one thing about a case, to any value that its place can hold.
pub fn mutate(case: &mut Case, draws: &mut Draws) {
    match draws.below(10) {
        0..=4 => mutate_member(case, draws),
        5..=8 => {
            let side = Side::BOTH[draws.place(2)];
            if draws.chance(1, 40) {
                *tensor_slot(&mut case.desc, side) = None;
            }
            if let Some(tensor) = case.desc.tensor_mut(side) {
                mutate_tensor(tensor, draws);
            }
        }
        _ => {
            case.fill = match draws.below(5) {
                0 => Fill::Iota,
                1 => Fill::Coordinates { pass: draws.word() as u8 },
                2 => Fill::Random { seed: draws.word() },
                3 => Fill::Special { seed: draws.word() },
                _ => Fill::Explicit(draws.word().to_le_bytes().as_slice().into()),
            };
        }
    }
}

fn mutate_member(case: &mut Case, draws: &mut Draws) {
    let signature = &case.desc.signature;
    let place = draws.place(signature.members.len());
    let Some(member) = signature.members.get(place) else { return };
    let (low, high) = member.kind.range().unwrap_or((0, 0));
    match &mut case.desc.members[place] {
        Value::List(list) => mutate_list(list, low, high, draws),
        Value::Scalar(scalar) => *scalar = draws.word().to_le_bytes(),
        Value::Integer(value) => {
            *value = match member.kind {
                MemberKind::DataType => i64::from(data_type(draws).0),
                _ => near(*value, low, high, draws),
            };
        }
    }
}

fn mutate_tensor(tensor: &mut Tensor, draws: &mut Draws) {
    let (least, most) = (0, i64::from(u32::MAX));
    let usual = tensor.total_size == tensor.usual_total_size();
    match draws.below(10) {
        0..=3 => mutate_list(&mut tensor.sizes, least, most, draws),
        4..=5 => {
            if tensor.strides.is_none() {
                tensor.strides = tensor.sizes.as_ref().map(|sizes| packed_strides(sizes));
            }
            // Packed strides of vast sizes are no `UINT`s.
            for stride in tensor.strides.iter_mut().flatten() {
                *stride = (*stride).min(most);
            }
            mutate_list(&mut tensor.strides, least, most, draws);
        }
        6 => tensor.data_type = data_type(draws),
        7 => tensor.flags = draws.below(3) as u32,
        8 => tensor.alignment = ALIGNMENTS[draws.place(ALIGNMENTS.len())],
        _ => {
            let total = tensor.total_size;
            let others = [total.wrapping_sub(1), total.wrapping_sub(4), total.wrapping_add(4), 0, u64::MAX];
            tensor.total_size = others[draws.place(others.len())];
            return;
        }
    }
    // A count and a size that fitted still fit, mostly: or every change would break these two rules as well.
    if draws.chance(7, 8) {
        tensor.dimension_count = tensor.sizes.as_ref().map_or(0, |sizes| sizes.len() as u32);
    }
    if usual {
        tensor.total_size = tensor.usual_total_size();
    }
}

fn data_type(draws: &mut Draws) -> DataType {
    DataType(draws.below(15) as u32)
}

/// Changes a value of a list; seldom its length, or whether it is there at all.
fn mutate_list(list: &mut Option<List>, low: i64, high: i64, draws: &mut Draws) {
    let Some(values) = list else {
        *list = Some(List::from_slice(&[1, 1][..draws.place(3)]));
        return;
    };
    match draws.below(20) {
        0 => *list = None,
        1 if values.len() < line::MAX_LIST_LENGTH => values.push(near(1, low, high, draws)),
        2 => drop(values.pop()),
        _ if values.is_empty() => values.push(1),
        3 => {
            let (one, other) = (draws.place(values.len()), draws.place(values.len()));
            values.swap(one, other);
        }
        _ => {
            let place = draws.place(values.len());
            values[place] = near(values[place], low, high, draws);
        }
    }
}

/// A value beside this one, or one at an edge, within bounds.
fn near(value: i64, low: i64, high: i64, draws: &mut Draws) -> i64 {
    let value = match draws.below(4) {
        0 => value.saturating_add(1),
        1 => value.saturating_sub(1),
        2 => value.saturating_neg(),
        _ => EDGES[draws.place(EDGES.len())],
    };
    value.clamp(low, high)
}
