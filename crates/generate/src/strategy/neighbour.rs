//! The neighbours of a desc: its variants with one change. The searches for invalid descs, boundaries and
//! twins try them.
//!
//! Changes are derived from the form of a desc alone, so that they apply to every operator.

use dmlcts_model::{Case, DataType, Desc, List, MemberKind, Side, Tensor, Value};

use crate::{
    edit::{self, ListPlace, Share, list, list_mut},
    space::Space,
};

/// An integer field of a tensor desc.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Field {
    DataType,
    Flags,
    DimensionCount,
    TotalSize,
    Alignment,
}

impl Field {
    const ALL: [Self; 5] =
        [Self::DataType, Self::Flags, Self::DimensionCount, Self::TotalSize, Self::Alignment];
}

/// One change.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Change {
    /// One value of a list.
    Entry { place: ListPlace, axis: usize, value: i64 },
    /// The values of an axis and the next one change places.
    Swap(ListPlace, usize),
    /// The list becomes a null pointer.
    Null(ListPlace),
    /// The list has this number of values: it is cut, or its last value is repeated.
    Length(ListPlace, usize),
    /// The tensor becomes a null pointer.
    NoTensor(Side),
    /// One field of a tensor.
    Field { side: Side, field: Field, value: u64 },
    /// An integer member.
    Member { member: usize, value: i64 },
    /// Another data type for both tensors and every member that names a type.
    Retype(DataType),
    /// Another number of axes: axes are removed, or unit axes are added in front.
    Rerank(Share, usize),
    /// Another number of axes in the counts, but not in the lists.
    Count(Share, u32),
    /// Whole tuples on some axes.
    Tuples(Vec<(usize, Vec<i64>)>),
    /// A tuple on one long axis, and units on the others. The tensor's total size keeps only its lower bits.
    Span(Span),
}

/// A tensor with one long axis. Its total size has only the lower bits of the size that it needs.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Span {
    pub(crate) side: Side,
    pub(crate) axis: usize,
    pub(crate) tuple: Vec<i64>,
    /// The stride of the axis; the others have 1.
    pub(crate) stride: i64,
    /// The number of bits that remain of the total size.
    pub(crate) bits: u32,
}

/// The kind of a change. A selection can have some changes of each kind.
pub(crate) type Kind = (Recipe, usize);

/// The kind of a change without its axis and value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Recipe {
    Entry(ListPlace),
    Swap(ListPlace),
    Null(ListPlace),
    Length(ListPlace),
    NoTensor(Side),
    Field(Side, Field),
    Member(usize),
    Retype,
    Rerank(Share),
    Count(Share),
    /// A tuple on one axis.
    Tuple,
    /// Tuples on several axes.
    Tuples,
    Span,
}

impl Change {
    /// The tuples of a product on the first axis, the last one and inner ones, and units on the others.
    pub(crate) fn product(rank: usize, unit: &[i64], product: &[Vec<i64>]) -> Self {
        let mut tuples: Vec<_> = (0..rank).map(|axis| (axis, unit.to_vec())).collect();
        for (place, tuple) in product.iter().enumerate() {
            let axis = if place == 1 { rank - 1 } else { place - usize::from(place > 1) };
            tuples[axis].1.clone_from(tuple);
        }
        Self::Tuples(tuples)
    }

    /// The recipe that this change follows.
    pub(crate) fn recipe(&self) -> Recipe {
        match self {
            Self::Entry { place, .. } => Recipe::Entry(*place),
            Self::Swap(place, _) => Recipe::Swap(*place),
            Self::Null(place) => Recipe::Null(*place),
            Self::Length(place, _) => Recipe::Length(*place),
            Self::NoTensor(side) => Recipe::NoTensor(*side),
            Self::Field { side, field, .. } => Recipe::Field(*side, *field),
            Self::Member { member, .. } => Recipe::Member(*member),
            Self::Retype(_) => Recipe::Retype,
            Self::Rerank(share, _) => Recipe::Rerank(*share),
            Self::Count(share, _) => Recipe::Count(*share),
            Self::Tuples(tuples) if tuples.len() == 1 => Recipe::Tuple,
            Self::Tuples(_) => Recipe::Tuples,
            Self::Span(_) => Recipe::Span,
        }
    }

    /// Changes of the same kind differ only in axis or value.
    pub(crate) fn kind(&self) -> Kind {
        let class = |value: i64| match value {
            0 => 0,
            i64::MIN..0 => 1,
            1..=64 => 2,
            _ => 3,
        };
        let detail = match self {
            Self::Entry { value, .. } | Self::Member { value, .. } => class(*value),
            Self::Field { value, .. } => class(i64::try_from(*value).unwrap_or(i64::MAX)),
            Self::Length(_, length) => (*length).min(9),
            Self::Rerank(_, rank) => (*rank).min(255),
            Self::Tuples(tuples) => tuples.len(),
            Self::Span(span) => span.bits as usize * 2 + span.side as usize,
            _ => 0,
        };
        (self.recipe(), detail)
    }

    /// Writes the changed case over `case`. A usual total size changes with the tensor, so that it stays
    /// usual.
    pub(crate) fn apply(&self, base: &Case, unit: &[i64], case: &mut Case) {
        case.clone_from(base);
        let mut usual = edit::usual_sizes(&base.desc);
        let desc = &mut case.desc;
        match self {
            Self::Entry { place, axis, value } => {
                if let Some(slot) = edit::present(desc, *place).and_then(|list| list.get_mut(*axis)) {
                    *slot = *value;
                }
            }
            Self::Swap(place, axis) => {
                if let Some(list) = edit::present(desc, *place)
                    && axis + 1 < list.len()
                {
                    list.swap(*axis, axis + 1);
                }
            }
            Self::Null(place) => {
                if let Some(list) = list_mut(desc, *place) {
                    *list = None;
                }
            }
            Self::Length(place, length) => {
                if let Some(list) = edit::present(desc, *place) {
                    let last = list.last().copied().unwrap_or(1);
                    list.resize(*length, last);
                }
            }
            Self::NoTensor(side) => *edit::tensor_slot(desc, *side) = None,
            Self::Field { side, field, value } => {
                if let Some(tensor) = desc.tensor_mut(*side) {
                    set_field(tensor, *field, *value);
                }
                // The changed field is the only mistake: it does not change the total size.
                return;
            }
            Self::Member { member, value } => desc.members[*member] = Value::Integer(*value),
            Self::Retype(data_type) => edit::retype(desc, *data_type),
            Self::Rerank(share, rank) => edit::rerank(desc, unit, *share, *rank),
            Self::Count(share, count) => edit::change_counts(desc, *share, |_| i64::from(*count)),
            Self::Tuples(tuples) => {
                for (axis, tuple) in tuples {
                    edit::set_tuple(desc, *axis, tuple);
                }
            }
            Self::Span(span) => span.apply(desc, unit),
        }
        // A span sets a total size that is too small.
        let spanned = if let Self::Span(span) = self { Some(span.side) } else { None };
        for (side, usual) in Side::BOTH.into_iter().zip(&mut usual) {
            // For a type without a size, the old total size stays, so that nothing else is wrong.
            let has_size = |tensor: &Tensor| tensor.data_type.element_size().is_some();
            *usual &= spanned != Some(side) && desc.tensor(side).is_some_and(has_size);
        }
        edit::fit_sizes(desc, usual);
    }
}

impl Span {
    fn apply(&self, desc: &mut Desc, unit: &[i64]) {
        let rank = desc.rank();
        for axis in 0..rank {
            edit::set_tuple(desc, axis, if axis == self.axis { &self.tuple } else { unit });
        }
        let Some(tensor) = desc.tensor_mut(self.side) else { return };
        if self.stride > 1 {
            let mut strides = vec![1; rank];
            strides[self.axis] = self.stride;
            tensor.strides = Some(List::from_slice(&strides));
        }
        let size = tensor.sizes.as_ref().and_then(|sizes| sizes.get(self.axis)).copied().unwrap_or(1);
        let elements = 1 + i128::from(size - 1) * i128::from(self.stride);
        let bytes = elements * tensor.data_type.element_size().unwrap_or(1) as i128;
        let kept = (bytes + 3) / 4 * 4 % (1 << self.bits);
        tensor.total_size = u64::try_from(kept).unwrap_or(u64::MAX);
    }
}

fn set_field(tensor: &mut Tensor, field: Field, value: u64) {
    match field {
        Field::DataType => tensor.data_type = DataType(value as u32),
        Field::Flags => tensor.flags = value as u32,
        Field::DimensionCount => tensor.dimension_count = value as u32,
        Field::TotalSize => tensor.total_size = value,
        Field::Alignment => tensor.alignment = value as u32,
    }
}

/// Whether no tensor has strides or an unusual total size, which would not fit other sizes.
pub(crate) fn is_plain(desc: &Desc) -> bool {
    Side::BOTH.iter().all(|&side| {
        desc.tensor(side)
            .is_none_or(|tensor| tensor.strides.is_none() && tensor.total_size == tensor.usual_total_size())
    })
}

/// Every useful change of a desc, the nearest of each kind first.
pub(crate) fn changes(base: &Case, space: &Space<'_>) -> Vec<Change> {
    let desc = &base.desc;
    let mut all = Vec::new();
    for place in edit::places(&desc.signature) {
        for axis in 0..list(desc, place).map_or(0, List::len) {
            all.extend(changes_of(base, space, Recipe::Entry(place), axis));
            all.extend(changes_of(base, space, Recipe::Swap(place), axis));
        }
        all.extend(changes_of(base, space, Recipe::Null(place), 0));
        all.extend(changes_of(base, space, Recipe::Length(place), 0));
    }
    for side in Side::BOTH {
        all.extend(changes_of(base, space, Recipe::NoTensor(side), 0));
        for field in Field::ALL {
            all.extend(changes_of(base, space, Recipe::Field(side, field), 0));
        }
    }
    for member in 0..desc.members.len() {
        all.extend(changes_of(base, space, Recipe::Member(member), 0));
    }
    all.extend(changes_of(base, space, Recipe::Retype, 0));
    for recipe in [Recipe::Rerank, Recipe::Count] {
        for share in Share::EACH {
            all.extend(changes_of(base, space, recipe(share), 0));
        }
    }
    all
}

/// The changes of a desc that follow a recipe. Only changes and swaps of values in a list depend on the axis.
pub(crate) fn changes_of(base: &Case, space: &Space<'_>, recipe: Recipe, axis: usize) -> Vec<Change> {
    let desc = &base.desc;
    let mut all = Vec::new();
    let rank = desc.rank();
    let (least, most) = space.ranks;
    match recipe {
        Recipe::Entry(place) => entries(desc, place, axis, &mut all),
        Recipe::Swap(place) => {
            let differ =
                |values: &&List| values.get(axis).zip(values.get(axis + 1)).is_some_and(|(a, b)| a != b);
            all.extend(list(desc, place).filter(differ).map(|_| Change::Swap(place, axis)));
        }
        Recipe::Null(place) if list(desc, place).is_some() => all.push(Change::Null(place)),
        Recipe::Length(place) if list(desc, place).is_some() => {
            all.extend([rank + 1, rank.saturating_sub(1), 0].map(|length| Change::Length(place, length)));
        }
        Recipe::NoTensor(side) => all.push(Change::NoTensor(side)),
        Recipe::Field(side, field) => {
            if let Some(tensor) = desc.tensor(side) {
                fields(tensor, side, field, &mut all);
            }
        }
        Recipe::Member(member) => members(desc, member, &mut all),
        Recipe::Retype => {
            let codes = [DataType::UNKNOWN, DataType(14), DataType(15)];
            // Codes that equal the old one in fewer bits.
            let old = desc.tensor(Side::Output).map_or(1, |tensor| tensor.data_type.0);
            let wrapped = [old + (1 << 8), old + (1 << 16), old | 1 << 31, u32::MAX].map(DataType);
            all.extend(DataType::all().chain(codes).chain(wrapped).map(Change::Retype));
        }
        Recipe::Rerank(Share::All) => {
            let ranks = [least - 1, most + 1, most + 2, 0, 33];
            all.extend(ranks.map(|rank| Change::Rerank(Share::All, rank)));
        }
        Recipe::Rerank(share) => {
            let ranks = [rank + 1, rank.saturating_sub(1)].into_iter();
            let ranks = ranks.filter(|rank| (least..=most).contains(rank));
            all.extend(ranks.map(|rank| Change::Rerank(share, rank)));
        }
        Recipe::Count(share) => {
            let rank = rank as u32;
            let counts = [rank + (1 << 16), rank + (1 << 8), rank | 1 << 31, u32::MAX];
            all.extend(counts.map(|count| Change::Count(share, count)));
        }
        _ => {}
    }
    all
}

/// Changes of one value of a list: its neighbours, the neighbours of other values on the axis, and the ends
/// of its type. Also values whose sum with another value on the axis wraps around in 32 bits.
fn entries(desc: &Desc, place: ListPlace, axis: usize, all: &mut Vec<Change>) {
    let (low, high) = place.range(&desc.signature);
    let Some(old) = list(desc, place).and_then(|values| values.get(axis)).copied() else { return };
    let others = edit::lists(desc).filter_map(|(_, list)| list.get(axis).copied());
    let wrap = 1_i64 << 32;
    let mut values = vec![old - 1, old + 1, 0, 1, 2, -1, -old, old - 2, old + 2];
    for other in others {
        values.extend([other, other + 1, other - 1, wrap - other, wrap - other - 1, wrap - other + 1]);
    }
    if let ListPlace::Strides(_) = place {
        // The stride of each axis, twice the stride, and half of it.
        let strides = list(desc, place).into_iter().flatten();
        values.extend(strides.flat_map(|&stride| [stride, stride * 2, stride / 2]));
    }
    // Values that equal the old one in fewer bits.
    values.extend([16, 31].map(|bits| old + (1 << bits)));
    values.extend([1 << 16, 1 << 30, (1 << 31) - 1, 1 << 31, wrap - 1, -(1 << 31)]);
    values.retain(|value| (low..=high).contains(value));
    all.extend(others_than(old, values).into_iter().map(|value| Change::Entry { place, axis, value }));
}

/// Changes of one field of a tensor.
fn fields(tensor: &Tensor, side: Side, field: Field, all: &mut Vec<Change>) {
    let (old, values): (u64, Vec<u64>) = match field {
        Field::TotalSize => (tensor.total_size, total_sizes(tensor)),
        Field::DimensionCount => {
            let rank = u64::from(tensor.dimension_count);
            (rank, vec![rank.saturating_sub(1), rank + 1, 0, 1, 9, u64::from(u32::MAX)])
        }
        Field::Alignment => {
            let values = [0, 1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 17, 24, 32, 4096, (1 << 16) + 16, 3 << 16];
            let high = [(1 << 31) + 16, 1 << 31, u64::from(u32::MAX)];
            (u64::from(tensor.alignment), values.into_iter().chain(high).collect())
        }
        Field::Flags => {
            (u64::from(tensor.flags), vec![0, 1, 2, 3, 5, 1 << 16 | 1, 1 << 31 | 1, u64::from(u32::MAX)])
        }
        Field::DataType => {
            let old = u64::from(tensor.data_type.0);
            let codes = (0..=15).chain([old + (1 << 8), old + (1 << 16), old | 1 << 31, u64::from(u32::MAX)]);
            (old, codes.collect())
        }
    };
    all.extend(others_than(old, values).into_iter().map(|value| Change::Field { side, field, value }));
}

/// The values that differ from the old one, each once, in this order.
fn others_than<T: Copy + PartialEq>(old: T, values: Vec<T>) -> Vec<T> {
    let mut kept = Vec::new();
    for value in values {
        if value != old && !kept.contains(&value) {
            kept.push(value);
        }
    }
    kept
}

/// Total sizes near the size that a tensor needs, and sizes that wrong formulas give.
fn total_sizes(tensor: &Tensor) -> Vec<u64> {
    let needed = tensor.usual_total_size();
    let element = tensor.data_type.element_size().unwrap_or(1) as u64;
    let steps = [
        needed,
        needed.saturating_sub(1),
        needed.saturating_sub(2),
        needed.saturating_sub(3),
        needed.saturating_sub(4),
        needed.saturating_sub(element),
        needed.saturating_add(1),
        needed.saturating_add(4),
        needed / 2,
        needed & 0xFFFF,
        needed & 0xFFFF_FFFF,
        needed.saturating_add(1 << 32),
        0,
        1,
        u64::MAX,
    ];
    let mut found = steps.to_vec();
    if let Some(sizes) = &tensor.sizes {
        let aligned = |elements: u64| elements.saturating_mul(element).next_multiple_of(4);
        let product = sizes.iter().fold(1_u64, |product, &size| product.saturating_mul(size.max(0) as u64));
        let sum = sizes.iter().fold(0_u64, |sum, &size| sum.saturating_add((size - 1).max(0) as u64));
        let strides =
            tensor.strides.iter().flatten().fold(0_u64, |sum, &by| sum.saturating_add(by.max(0) as u64));
        let spans = sizes.iter().zip(tensor.strides.iter().flatten());
        let last = spans.fold(0_u64, |sum, (&size, &by)| {
            sum.saturating_add(((size - 1).max(0) as u64).saturating_mul(by.max(0) as u64))
        });
        // As if the tensor were packed, had one element, strides of 1 or sizes of 2, or ended before its last
        // element. Each also with elements of one byte.
        for elements in [product, 1, 1 + sum, 1 + strides, last, 1 + last] {
            if elements < 1 << 60 {
                let bytes = elements.next_multiple_of(4);
                found.extend([aligned(elements), elements * element, bytes]);
            }
        }
    }
    found
}

/// Changes of an integer member.
fn members(desc: &Desc, member: usize, all: &mut Vec<Change>) {
    if let Some((known, value)) = desc.signature.members.iter().zip(&desc.members).nth(member) {
        let (Value::Integer(old), Some((low, high))) = (value, known.kind.range()) else { return };
        let mut values = vec![old - 1, old + 1, 0, 1, 2, 5, 9, -1, low, high];
        values.extend([8, 16, 31].map(|bits| old + (1 << bits)));
        match &known.kind {
            MemberKind::Enumeration(enumeration) => {
                let known = enumeration.enumerators.iter().map(|enumerator| enumerator.value);
                values
                    .extend(known.clone().max().into_iter().flat_map(|greatest| greatest + 1..greatest + 4));
                values.extend(known);
            }
            MemberKind::DataType => values.extend(0..=15),
            _ => {}
        }
        values.retain(|value| (low..=high).contains(value));
        all.extend(others_than(*old, values).into_iter().map(|value| Change::Member { member, value }));
    }
}
