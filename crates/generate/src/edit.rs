//! Edits of descs that several generators share: the values of one axis, the number of axes, data types,
//! strides and total sizes.
//!
//! A desc may lack tensors and lists, and its lists may be short. Edits skip the missing parts. The *tuple*
//! of an axis has its input size, its output size, and its value in each list member, in the order of the
//! struct.

use std::{iter, sync::Arc};

use dmlcts_model::{BindingOffsets, DataType, Desc, List, MemberKind, Side, Signature, Tensor, Value};

/// One list of a desc.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ListPlace {
    /// The sizes of a tensor.
    Sizes(Side),
    /// The strides of a tensor.
    Strides(Side),
    /// A list member, by its index in [`Signature::members`].
    Member(usize),
}

impl ListPlace {
    fn is_of_tuple(self) -> bool {
        !matches!(self, Self::Strides(_))
    }

    /// The tensor of the list; `None` for a member.
    fn side(self) -> Option<Side> {
        match self {
            Self::Sizes(side) | Self::Strides(side) => Some(side),
            Self::Member(_) => None,
        }
    }

    /// The least and greatest value of the list's type.
    pub(crate) fn range(self, signature: &Signature) -> (i64, i64) {
        let kind = match self {
            Self::Member(member) => &signature.members[member].kind,
            _ => &MemberKind::U32List,
        };
        kind.range().unwrap_or_default()
    }
}

/// The part of a desc whose number of axes changes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Share {
    /// Tensors and members.
    All,
    /// Both tensors, but not the members.
    Tensors,
    /// Only the input.
    Input,
    /// Only the output.
    Output,
    /// The members, but not the tensors.
    Members,
}

impl Share {
    pub(crate) const EACH: [Self; 5] = [Self::All, Self::Tensors, Self::Input, Self::Output, Self::Members];

    /// Whether the share has a tensor, or the members for `None`.
    fn has(self, side: Option<Side>) -> bool {
        match self {
            Self::All => true,
            Self::Tensors => side.is_some(),
            Self::Input => side == Some(Side::Input),
            Self::Output => side == Some(Side::Output),
            Self::Members => side.is_none(),
        }
    }
}

/// Every list of an operator: sizes, strides, and list members.
pub(crate) fn places(signature: &Signature) -> impl Iterator<Item = ListPlace> {
    let tensors = [ListPlace::Sizes, ListPlace::Strides].map(|place| Side::BOTH.map(place));
    let members = signature.members.iter().enumerate().filter(|(_, member)| member.kind.is_list());
    tensors.into_iter().flatten().chain(members.map(|(member, _)| ListPlace::Member(member)))
}

/// The list at a place; `None` if it is missing.
pub(crate) fn list(desc: &Desc, place: ListPlace) -> Option<&List> {
    match place {
        ListPlace::Sizes(side) => desc.tensor(side)?.sizes.as_ref(),
        ListPlace::Strides(side) => desc.tensor(side)?.strides.as_ref(),
        ListPlace::Member(member) => match desc.members.get(member)? {
            Value::List(list) => list.as_ref(),
            _ => None,
        },
    }
}

/// The list at a place, which may be null; `None` if its tensor is missing.
pub(crate) fn list_mut(desc: &mut Desc, place: ListPlace) -> Option<&mut Option<List>> {
    match place {
        ListPlace::Sizes(side) => desc.tensor_mut(side).map(|tensor| &mut tensor.sizes),
        ListPlace::Strides(side) => desc.tensor_mut(side).map(|tensor| &mut tensor.strides),
        ListPlace::Member(member) => match desc.members.get_mut(member)? {
            Value::List(list) => Some(list),
            _ => None,
        },
    }
}

/// The list at a place, to change it; `None` if it is missing.
pub(crate) fn present(desc: &mut Desc, place: ListPlace) -> Option<&mut List> {
    list_mut(desc, place)?.as_mut()
}

/// The lists of a desc that are not missing.
pub fn lists(desc: &Desc) -> impl Iterator<Item = (ListPlace, &List)> {
    places(&desc.signature).filter_map(|place| Some((place, list(desc, place)?)))
}

fn each_list(desc: &mut Desc, mut change: impl FnMut(ListPlace, &mut List)) {
    let signature = Arc::clone(&desc.signature);
    for place in places(&signature) {
        if let Some(Some(list)) = list_mut(desc, place) {
            change(place, list);
        }
    }
}

/// The tuple of an axis. It has no value for a list that is missing or too short.
pub fn tuple(desc: &Desc, axis: usize) -> Vec<i64> {
    let of_tuple = lists(desc).filter(|(place, _)| place.is_of_tuple());
    of_tuple.filter_map(|(_, list)| list.get(axis).copied()).collect()
}

/// The least and greatest value of each list in a tuple, without the missing lists.
pub fn tuple_ranges(desc: &Desc) -> Vec<(i64, i64)> {
    let of_tuple = lists(desc).filter(|(place, _)| place.is_of_tuple());
    of_tuple.map(|(place, _)| place.range(&desc.signature)).collect()
}

/// Sets the tuple of an axis. It has a value for each list that is not missing.
pub fn set_tuple(desc: &mut Desc, axis: usize, tuple: &[i64]) {
    let mut values = tuple.iter();
    each_list(desc, |place, list| {
        if place.is_of_tuple()
            && let (Some(&value), Some(slot)) = (values.next(), list.get_mut(axis))
        {
            *slot = value;
        }
    });
}

/// Whether no list of the tuples is missing, and each has a value for each axis of the input.
pub(crate) fn tuples_fit(desc: &Desc) -> bool {
    let rank = desc.rank();
    let mut of_tuple = places(&desc.signature).filter(|place| place.is_of_tuple());
    rank > 0 && of_tuple.all(|place| list(desc, place).is_some_and(|list| list.len() == rank))
}

/// Removes an axis from the lists, but not from the counts.
pub fn remove_axis(desc: &mut Desc, axis: usize) {
    each_list(desc, |_, list| {
        if axis < list.len() {
            list.remove(axis);
        }
    });
}

/// Repeats an axis in the lists, but not in the counts.
pub fn repeat_axis(desc: &mut Desc, axis: usize) {
    each_list(desc, |_, list| {
        if let Some(&value) = list.get(axis) {
            list.insert(axis, value);
        }
    });
}

/// Makes one list a value longer or shorter: the one with this number, among the lists that are not missing.
pub fn resize_list(desc: &mut Desc, number: usize, is_longer: bool) {
    let mut place = 0;
    each_list(desc, |_, list| {
        if place == number {
            if is_longer {
                list.push(list.last().copied().unwrap_or(1));
            } else {
                list.pop();
            }
        }
        place += 1;
    });
}

/// Swaps two axes.
pub fn swap_axes(desc: &mut Desc, one: usize, other: usize) {
    each_list(desc, |_, list| {
        if one.max(other) < list.len() {
            list.swap(one, other);
        }
    });
}

/// Removes an axis from the lists, and one from each count.
pub(crate) fn drop_axis(desc: &mut Desc, axis: usize) {
    remove_axis(desc, axis);
    change_counts(desc, Share::All, |count| (count - 1).max(0));
}

/// Gives the lists and counts of a share this number of axes. Axes are removed in front, or unit axes are
/// added there.
pub(crate) fn rerank(desc: &mut Desc, unit: &[i64], share: Share, rank: usize) {
    let old = desc.rank();
    let mut units = unit.iter().copied();
    let signature = Arc::clone(&desc.signature);
    for place in places(&signature) {
        let value = if place.is_of_tuple() { units.next().unwrap_or(1) } else { 1 };
        if let Some(Some(list)) = list_mut(desc, place).filter(|_| share.has(place.side())) {
            list.drain(..old.saturating_sub(rank).min(list.len()));
            list.insert_many(0, iter::repeat_n(value, rank.saturating_sub(old)));
        }
    }
    change_counts(desc, share, |_| rank as i64);
}

/// Changes the counts of axes of a share: `DimensionCount` of its tensors, and its members of that kind.
pub(crate) fn change_counts(desc: &mut Desc, share: Share, change: impl Fn(i64) -> i64) {
    for side in Side::BOTH {
        if let Some(tensor) = desc.tensor_mut(side).filter(|_| share.has(Some(side))) {
            tensor.dimension_count = change(tensor.dimension_count.into()) as u32;
        }
    }
    if share.has(None) {
        integers(desc, &MemberKind::Count).for_each(|count| *count = change(*count));
    }
}

/// Sets each count of axes that was the number of input sizes to the present number of them.
pub fn recount(desc: &mut Desc, was: usize) {
    let rank = desc.rank() as i64;
    change_counts(desc, Share::All, |count| if count == was as i64 { rank } else { count });
}

/// The integer members of a kind.
pub fn integers<'a>(desc: &'a mut Desc, kind: &MemberKind) -> impl Iterator<Item = &'a mut i64> {
    let members = desc.signature.members.iter().zip(&mut desc.members);
    members.filter_map(move |(member, value)| match value {
        Value::Integer(value) if member.kind == *kind => Some(value),
        _ => None,
    })
}

/// Gives both tensors, and every member that names a type, another data type.
pub fn retype(desc: &mut Desc, data_type: DataType) {
    desc.input.iter_mut().chain(&mut desc.output).for_each(|tensor| tensor.data_type = data_type);
    integers(desc, &MemberKind::DataType).for_each(|code| *code = data_type.0.into());
}

/// For each tensor, whether its total size is the one that it needs.
pub fn usual_sizes(desc: &Desc) -> [bool; 2] {
    Side::BOTH
        .map(|side| desc.tensor(side).is_some_and(|tensor| tensor.total_size == tensor.usual_total_size()))
}

/// Gives tensors the total sizes that they need, if they are among those of [`usual_sizes`].
pub fn fit_sizes(desc: &mut Desc, usual: [bool; 2]) {
    for (side, usual) in Side::BOTH.into_iter().zip(usual) {
        if let Some(tensor) = desc.tensor_mut(side).filter(|_| usual) {
            tensor.total_size = tensor.usual_total_size();
        }
    }
}

/// Gives a tensor these strides, and the total size that it then needs.
pub fn set_strides(tensor: &mut Tensor, strides: Option<List>) {
    tensor.strides = strides;
    tensor.total_size = tensor.usual_total_size();
}

/// The place of a tensor in a desc, to remove the tensor.
pub fn tensor_slot(desc: &mut Desc, side: Side) -> &mut Option<Tensor> {
    match side {
        Side::Input => &mut desc.input,
        Side::Output => &mut desc.output,
    }
}

/// The binding offset of a tensor.
pub fn offset_mut(binding: &mut BindingOffsets, side: Side) -> &mut u64 {
    match side {
        Side::Input => &mut binding.input,
        Side::Output => &mut binding.output,
    }
}
