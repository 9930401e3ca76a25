//! Changes a case by one to three edits. Members of one axis change together, and whole axes come from other
//! valid cases. So most edits keep a valid case valid, and the judge drops the others.

use dmlcts_generate::{
    draw::Draws,
    edit::{
        fit_sizes, integers, lists, offset_mut, recount, remove_axis, repeat_axis, resize_list, retype,
        set_strides, set_tuple, swap_axes, tensor_slot, tuple, tuple_ranges, usual_sizes,
    },
};
use dmlcts_model::{Case, DataType, Desc, MemberKind, Side, Value, packed_strides};

use crate::data::redraw;

/// The largest tensor of a mutant of a valid case, in bytes.
const LARGEST: u64 = 1 << 20;

/// The bytes of a case that is passed over as often as not.
const DEAR: u64 = 1 << 15;

/// The number of the edits of total sizes, alignments and offsets.
const MEMORY: usize = 13;

/// The members of each tensor that [`sweep_memory`] changes.
const MEMBERS_OF_MEMORY: usize = 5;

/// What edits draw from.
pub(crate) struct Donors<'a> {
    /// Cases of the same operator.
    pub(crate) cases: &'a [Case],
    /// Numbers that rules compare with, and their neighbours.
    pub(crate) numbers: &'a [i64],
}

/// A variant of a case.
pub(crate) fn mutant(base: &Case, donors: &Donors<'_>, draws: &mut Draws) -> Case {
    let mut case = base.clone();
    let usual = usual_sizes(&base.desc);
    let mut is_of_memory = false;
    for _ in 0..=draws.place(3) {
        is_of_memory |= edit(&mut case, donors, draws);
    }
    if !is_of_memory {
        fit_sizes(&mut case.desc, usual);
    }
    redraw(&mut case, draws);
    case
}

/// Makes one list of a case a value longer or shorter, which makes a desc invalid.
pub(crate) fn resize_one(case: &mut Case, draws: &mut Draws) {
    let count = lists(&case.desc).count();
    resize_list(&mut case.desc, draws.place(count), draws.chance(1, 2));
}

/// The number of members of a case that [`sweep`] changes.
pub fn swept_members(case: &Case) -> usize {
    tuple(&case.desc, 0).len() + singles(&case.desc).count() + 1 + 2 * MEMBERS_OF_MEMORY
}

/// Sets one member of a case to any value of its range: a small one, one at a power of two, or a random one.
/// Sizes and lists change on one axis. Often the other values of the axis change by the same distance, since
/// few descs stay valid without. A third of the values are among `bounds`, if there are any. For sizes, half
/// of these make the number of elements come near the bound.
pub fn sweep(case: &mut Case, member: usize, bounds: &[i64], draws: &mut Draws) {
    let desc = &mut case.desc;
    let usual = usual_sizes(desc);
    let axis = draws.place(desc.rank());
    let bound = if draws.chance(1, 3) { draws.pick(bounds) } else { None };
    let mut number = bound.map_or_else(|| any_number(draws), |bound| bound.unsigned_abs());
    if let (Some(_), Some(others)) = (bound, other_elements(desc, member, axis))
        && draws.chance(1, 2)
    {
        // The bound may be one of a number of elements.
        number = number / others + draws.below(2);
    }
    let (of_axis, singles) = (tuple(desc, axis).len(), singles(desc).collect::<Vec<_>>());
    let signed = |is_negative: bool| if is_negative { -(number as i64) } else { number as i64 };
    if member < of_axis {
        let is_negative = tuple_ranges(desc)[member].0 < 0 && draws.chance(1, 2);
        set_with_others(desc, axis, (member, signed(is_negative)), draws);
    } else if let Some(single) = singles.get(member - of_axis) {
        let kind = &desc.signature.members[*single].kind;
        desc.members[*single] = match kind {
            MemberKind::Scalar if draws.chance(1, 2) => Value::Scalar(draws.word().to_le_bytes()),
            MemberKind::Scalar => Value::Scalar(number.to_le_bytes()),
            MemberKind::Enumeration(of) if draws.chance(3, 4) => {
                draws.pick(&of.enumerators).map_or(Value::Integer(0), |one| Value::Integer(one.value))
            }
            kind => {
                let (least, most) = kind.range().unwrap_or((0, 0));
                Value::Integer(signed(least < 0 && draws.chance(1, 2)).clamp(least, most))
            }
        };
    } else if member == of_axis + singles.len() {
        let types: Vec<DataType> = DataType::all().collect();
        retype(desc, draws.pick(&types).copied().unwrap_or(DataType::UNKNOWN));
    } else {
        let place = member - of_axis - singles.len() - 1;
        return sweep_memory(case, Side::BOTH[place % 2], place / 2, (axis, number), draws);
    }
    fit_sizes(desc, usual);
}

/// The number of elements on all axes but one, if the member is the sizes of a tensor and none of them is 0.
fn other_elements(desc: &Desc, member: usize, axis: usize) -> Option<u64> {
    let sizes = Side::BOTH.iter().filter_map(|side| desc.tensor(*side)?.sizes.as_ref()).nth(member)?;
    let others = sizes.iter().enumerate().filter(|(place, _)| *place != axis);
    let product = others.fold(1_u64, |product, (_, size)| product.saturating_mul(size.unsigned_abs()));
    (product > 0).then_some(product)
}

/// Changes the memory of a tensor.
fn sweep_memory(case: &mut Case, side: Side, member: usize, (axis, number): (usize, u64), draws: &mut Draws) {
    // Most other offsets and total sizes are invalid.
    let aligned = |draws: &mut Draws, by: u64| if draws.chance(7, 8) { number / by * by } else { number };
    if member == 0 {
        *offset_mut(&mut case.binding, side) = aligned(draws, 16);
        return;
    }
    let Some(tensor) = case.desc.tensor_mut(side) else { return };
    match member {
        1 => tensor.flags = if draws.chance(1, 2) { draws.below(2) as u32 } else { number as u32 },
        2 => tensor.alignment = if draws.chance(1, 2) { 1 << draws.below(32) } else { number as u32 },
        3 => tensor.total_size = tensor.usual_total_size().wrapping_add(aligned(draws, 4)),
        _ => {
            let Some(sizes) = &tensor.sizes else { return };
            let mut strides = tensor.strides.take().unwrap_or_else(|| packed_strides(sizes));
            if let Some(stride) = strides.get_mut(axis) {
                *stride = number.min(u32::MAX.into()) as i64;
            }
            set_strides(tensor, Some(strides));
        }
    }
}

/// A small number, one at a power of two, or a random one. Smaller ones are more frequent.
fn any_number(draws: &mut Draws) -> u64 {
    let most = 1 + draws.below(32);
    let bits = draws.below(most + 1);
    match draws.place(4) {
        0 => draws.below(10),
        1 => ((1_u64 << bits) + draws.below(3)).saturating_sub(1),
        _ => draws.below(1 << bits),
    }
}

/// The places of the members with one value.
fn singles(desc: &Desc) -> impl Iterator<Item = usize> + '_ {
    let members = desc.signature.members.iter().enumerate();
    members.filter(|(_, member)| !member.kind.is_list()).map(|(place, _)| place)
}

/// Whether a tensor of the case is too large to ask for.
pub fn is_large(case: &Case) -> bool {
    Side::BOTH.iter().any(|side| {
        case.desc.tensor(*side).is_some_and(|tensor| {
            tensor.total_size > LARGEST
                || tensor.sizes.as_ref().is_some_and(|sizes| dmlcts_model::element_count(sizes) > 1 << 18)
        })
    })
}

/// Whether a case is passed over because of its size. Without this, the few large cases among all that are
/// asked take most of the time.
pub(crate) fn is_passed_over(case: &Case, draws: &mut Draws) -> bool {
    let tensors = Side::BOTH.iter().filter_map(|side| case.desc.tensor(*side));
    let bytes: u64 = tensors.map(|tensor| tensor.total_size.min(LARGEST)).sum();
    !draws.chance(DEAR, DEAR + bytes)
}

/// Returns whether the edit may have changed a total size.
fn edit(case: &mut Case, donors: &Donors<'_>, draws: &mut Draws) -> bool {
    let Some(donor) = draws.pick(donors.cases) else { return false };
    let rank = case.desc.rank();
    let axis = draws.place(rank);
    // The remaining numbers transplant an axis, the edit that most often keeps a case valid.
    let kind = draws.place(17);
    match kind {
        3..=6 => shift(&mut case.desc, axis, donors.numbers, draws),
        7 => swap_axes(&mut case.desc, axis, draws.place(rank)),
        8 if rank > 1 => remove_axis(&mut case.desc, axis),
        9 if rank < 8 => {
            repeat_axis(&mut case.desc, axis);
            if draws.chance(1, 2) {
                transplant(&mut case.desc, axis, &donor.desc, draws);
            }
        }
        10 => {
            if let Some(tensor) = donor.desc.tensor(Side::Input) {
                retype(&mut case.desc, tensor.data_type);
            }
        }
        11 => scalars(&mut case.desc, &donor.desc, draws),
        12 => strides(&mut case.desc, axis, draws),
        MEMORY => memory(case, donor, draws),
        14 => pack(&mut case.desc, draws),
        15 => retype_one(&mut case.desc, &donor.desc, draws),
        16 if !is_usual(&donor.desc) => take_one(&mut case.desc, &donor.desc, draws),
        _ => transplant(&mut case.desc, axis, &donor.desc, draws),
    }
    recount(&mut case.desc, rank);
    kind == MEMORY
}

/// Takes the sizes and members of an axis from another case.
fn transplant(desc: &mut Desc, axis: usize, donor: &Desc, draws: &mut Draws) {
    set_tuple(desc, axis, &tuple(donor, draws.place(donor.rank())));
}

/// Changes one value of an axis, and often others by the same distance: a size and its padding, a window and
/// its offset.
fn shift(desc: &mut Desc, axis: usize, numbers: &[i64], draws: &mut Draws) {
    let values = tuple(desc, axis);
    let place = draws.place(values.len());
    let Some(old) = values.get(place).copied() else { return };
    let number = numbers[draws.place(numbers.len()).min(numbers.len().saturating_sub(1))];
    let new = match draws.place(8) {
        0 => old.saturating_add(1),
        1 => old.saturating_sub(1),
        2 => draws.between(0, 4),
        3 => old.saturating_mul(2),
        4 => old.saturating_neg(),
        _ => number,
    };
    set_with_others(desc, axis, (place, new), draws);
}

/// Sets one value of an axis. Often others change by the same distance.
fn set_with_others(desc: &mut Desc, axis: usize, (place, new): (usize, i64), draws: &mut Draws) {
    let mut values = tuple(desc, axis);
    let Some(old) = values.get(place).copied() else { return };
    let distance = new.saturating_sub(old);
    values[place] = new;
    for _ in 0..draws.place(4) {
        let other = draws.place(values.len());
        if other != place {
            let sign = if draws.chance(1, 4) { -1 } else { 1 };
            values[other] = values[other].saturating_add(distance.saturating_mul(sign));
        }
    }
    // A desc holds no other numbers.
    for (value, (least, most)) in values.iter_mut().zip(tuple_ranges(desc)) {
        *value = (*value).clamp(least, most);
    }
    set_tuple(desc, axis, &values);
}

/// Takes the data type of another case for one tensor or member.
fn retype_one(desc: &mut Desc, donor: &Desc, draws: &mut Draws) {
    let Some(data_type) = donor.tensor(Side::Input).map(|tensor| tensor.data_type) else { return };
    let mut members: Vec<&mut i64> = integers(desc, &MemberKind::DataType).collect();
    let place = draws.place(2 + members.len());
    if let Some(code) = members.get_mut(place.wrapping_sub(2)) {
        **code = data_type.0.into();
    } else if let Some(tensor) = desc.tensor_mut(Side::BOTH[place % 2]) {
        tensor.data_type = data_type;
    }
}

/// Takes a member with one value from another case, or draws a mode.
fn scalars(desc: &mut Desc, donor: &Desc, draws: &mut Draws) {
    let members = desc.signature.members.iter().zip(&mut desc.members).zip(&donor.members);
    for ((member, value), other) in members {
        match &member.kind {
            MemberKind::Enumeration(enumeration) if draws.chance(3, 4) => {
                if let Some(enumerator) = draws.pick(&enumeration.enumerators) {
                    *value = Value::Integer(enumerator.value);
                }
            }
            MemberKind::Enumeration(_) | MemberKind::DataType => value.clone_from(other),
            MemberKind::U32 | MemberKind::I32 | MemberKind::Scalar if draws.chance(1, 2) => {
                value.clone_from(other);
            }
            _ => {}
        }
    }
}

/// Gives a tensor strides: packed in some order, with holes, or a broadcast.
fn strides(desc: &mut Desc, axis: usize, draws: &mut Draws) {
    let side = Side::BOTH[draws.place(2)];
    let Some(tensor) = desc.tensor_mut(side) else { return };
    let Some(sizes) = tensor.sizes.clone() else { return };
    let mut strides = tensor.strides.clone().unwrap_or_else(|| packed_strides(&sizes));
    match draws.place(5) {
        0 => strides = packed_strides(&sizes),
        1 => {
            // A desc holds no larger strides.
            let twice = |stride: &i64| stride.saturating_mul(2).min(u32::MAX.into());
            strides = strides.iter().map(twice).collect();
        }
        2 => {
            let mut padded = sizes.clone();
            if let Some(last) = padded.last_mut() {
                *last += 1 + draws.place(8) as i64;
            }
            strides = packed_strides(&padded);
        }
        3 => strides.reverse(),
        _ => {
            if let Some(stride) = strides.get_mut(axis) {
                *stride = if draws.chance(1, 2) { 0 } else { draws.between(0, 8) };
            }
        }
    }
    set_strides(tensor, Some(strides));
}

/// Takes total sizes, alignments and offsets from another case.
fn memory(case: &mut Case, donor: &Case, draws: &mut Draws) {
    if draws.chance(1, 2) {
        case.binding = donor.binding;
        return;
    }
    let side = Side::BOTH[draws.place(2)];
    let Some(other) = donor.desc.tensor(side).cloned() else { return };
    if let Some(tensor) = case.desc.tensor_mut(side) {
        match draws.place(3) {
            0 => tensor.alignment = other.alignment,
            1 => tensor.flags = other.flags,
            _ if draws.chance(1, 2) => {
                tensor.total_size = tensor.usual_total_size().wrapping_add(4 * draws.below(64));
            }
            // As much more or less than needed as in the other case.
            _ => {
                let own = tensor.usual_total_size();
                let more = other.total_size.wrapping_sub(other.usual_total_size());
                tensor.total_size = own.wrapping_add(more);
            }
        }
    }
}

/// Removes the strides of a tensor.
fn pack(desc: &mut Desc, draws: &mut Draws) {
    if let Some(tensor) = desc.tensor_mut(Side::BOTH[draws.place(2)]) {
        set_strides(tensor, None);
    }
}

/// Whether both tensors and all lists are there, and each count is that of the sizes.
fn is_usual(desc: &Desc) -> bool {
    let rank = desc.rank();
    let is_whole = |side| {
        desc.tensor(side)
            .is_some_and(|tensor| tensor.sizes.is_some() && tensor.dimension_count as usize == rank)
    };
    let mut members = desc.signature.members.iter().zip(&desc.members);
    Side::BOTH.into_iter().all(is_whole)
        && members.all(|(member, value)| match (&member.kind, value) {
            (MemberKind::Count, Value::Integer(count)) => *count == rank as i64,
            (_, Value::List(list)) => list.is_some(),
            _ => true,
        })
}

/// Takes a count, a member with one value, or the absence of a list or a tensor from another case.
fn take_one(desc: &mut Desc, donor: &Desc, draws: &mut Draws) {
    let (rank, of_donor) = (desc.rank() as i64, donor.rank() as i64);
    // A count means itself, or its distance from the number of axes.
    let more = if draws.chance(1, 2) { rank - of_donor } else { 0 };
    let side = Side::BOTH[draws.place(2)];
    let place = draws.place(3 + desc.members.len());
    let other = donor.tensor(side);
    match (place, other) {
        (0, None) => *tensor_slot(desc, side) = None,
        (0 | 1, Some(other)) => {
            if let Some(tensor) = desc.tensor_mut(side) {
                tensor.dimension_count = u32::try_from(i64::from(other.dimension_count) + more).unwrap_or(0);
            }
        }
        (2, Some(other)) if other.sizes.is_none() => {
            if let Some(tensor) = desc.tensor_mut(side) {
                tensor.sizes = None;
            }
        }
        (3.., _) => match (&mut desc.members[place - 3], &donor.members[place - 3]) {
            (Value::Integer(own), Value::Integer(other)) => {
                let is_count = matches!(desc.signature.members[place - 3].kind, MemberKind::Count);
                let number = if is_count { other + more } else { *other };
                *own = number.clamp(i32::MIN.into(), u32::MAX.into());
            }
            (Value::List(list), Value::List(None)) => *list = None,
            _ => {}
        },
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use dmlcts_model::line;
    use dmlcts_spec::Library;

    use super::*;

    #[test]
    fn large_cases_are_passed_over_more_often() {
        let mut draws = Draws::new(1);
        let mut passed_over = |size: u64| {
            let text = format!("SLICE UINT8 in={size} out={size} Offsets=0 Sizes={size} Strides=1");
            let case = line::parse(&text, Library::embedded().signatures()).expect("it is a case");
            (0..1_000).filter(|_| is_passed_over(&case, &mut draws)).count()
        };
        assert!(passed_over(8) < 20);
        assert!((400..600).contains(&passed_over(DEAR / 2)));
        assert!((900..1_000).contains(&passed_over(16 * DEAR)), "some are asked");
    }
}
