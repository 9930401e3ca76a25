//! Few cases in which any few things meet: every pair, triple or quadruple of data type, rank, mode, fill, layout and
//! class of an axis. Most bugs need no more than that many things at once, whatever else a desc holds.
//!
//! One array of rows is of valid descs. A second one is of descs in which one thing is invalid, so that what is refused
//! is refused for that and for nothing that hides behind it; there, every combination of one thing less meets each of
//! the invalid ones. What cannot meet is said, with the reason.

mod array;
mod axes;
mod model;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use dmlcts_model::{Case, DataType, Fill, List, MemberKind, Side, Tensor, Value, required_bytes};
use dmlcts_spec::{Scratch, Validity};

use self::{
    array::ANY,
    axes::{Axes, Kind},
    model::{
        BINDING, FILL, FILLS, INPUT_LAYOUT, INVALID, Invalid, LAYOUTS, Layout, OUTPUT_LAYOUT, Parameters,
        RANK, SETTING, TYPE,
    },
};
use super::{
    SearchResult, fill_variants,
    neighbour::{self, Share},
};
use crate::{
    draw::{Draws, derive},
    space::{MOST_AXES, Space},
};

/// Searches one operator for cases in which every `strength` values meet.
pub(crate) fn search(
    space: &Space<'_>,
    types: &[DataType],
    ranks: (usize, usize),
    strength: usize,
    seed: u64,
) -> SearchResult {
    let mut found = SearchResult::default();
    let axes = Axes::new(space);
    let types: Vec<DataType> =
        space.types.iter().copied().filter(|data_type| types.contains(data_type)).collect();
    let ranks: Vec<usize> = (ranks.0.max(space.ranks.0)..=ranks.1.min(space.ranks.1)).collect();
    if types.is_empty() || ranks.is_empty() || axes.valid.iter().all(Vec::is_empty) {
        return found;
    }
    let parameters = |invalid| Parameters::new(space, &axes, types.clone(), ranks.clone(), invalid);
    let mut lines = HashSet::new();
    let mut scratch = Scratch::default();
    let seed = derive(seed, space.operator.name());
    let valid = parameters(vec![Invalid::Nothing]);
    for parameters in [&valid, &parameters(invalid(space, &axes))] {
        let is_valid = parameters.invalid == [Invalid::Nothing];
        for row in array::cover(parameters, strength) {
            let mut case = space.blank();
            let draws = &mut Draws::of_case(seed, found.cases.len() as u64);
            if !assemble(parameters, &row, draws, &mut case) {
                continue;
            }
            let validity = space.operator.judge(&case.desc, space.level, &mut scratch).validity();
            if (validity != Validity::Invalid) == is_valid && lines.insert(case.to_string()) {
                found.cases.push(case);
            }
        }
    }
    found.remarks = valid.impossible(strength);
    found
}

/// Everything that one row can have wrong.
fn invalid(space: &Space<'_>, axes: &Axes) -> Vec<Invalid> {
    let mut all = Vec::new();
    let unsupported = DataType::all().find(|data_type| !space.types.contains(data_type));
    all.extend(unsupported.map(Invalid::Type));
    all.push(Invalid::Rank(space.ranks.1 + 1));
    for (place, member) in space.operator.signature().members.iter().enumerate() {
        if let MemberKind::Enumeration(enumeration) = &member.kind {
            let last = enumeration.enumerators.iter().map(|enumerator| enumerator.value).max();
            all.push(Invalid::Code(place, last.unwrap_or(-1) + 1));
        }
    }
    all.extend((0..axes.broken.len()).map(Invalid::Axis));
    all
}

/// Writes the case of a row; false where the row holds nothing that one can be made of.
fn assemble(parameters: &Parameters<'_, '_>, row: &[u8], draws: &mut Draws, case: &mut Case) -> bool {
    let (space, axes) = (parameters.space, parameters.axes);
    let invalid = parameters.invalid[usize::from(row[INVALID])];
    let value = |parameter: usize| usize::from(row[parameter]);
    let data_type = parameters.types.get(value(TYPE)).copied().unwrap_or(parameters.types[0]);
    // Where a rank is not supported, axes are put in front of the greatest that is.
    let most = parameters.ranks.last().copied().unwrap_or(1);
    let rank = parameters.ranks.get(value(RANK)).copied().unwrap_or(most);
    let (first, second) = (draws.word(), draws.word());
    let tuples = |setting: usize| {
        let inner = match invalid {
            Invalid::Axis(clause) => {
                let kinds = axes.broken[clause].1.get(setting).map_or(&[][..], Vec::as_slice);
                pick(kinds, |_| true, first)
            }
            _ => pick(&axes.valid[setting], |kind| has(parameters, row, 0, kind), first),
        };
        let outer = pick(&axes.valid[setting], |kind| has(parameters, row, 1, kind), second);
        Some((setting, inner?, outer?))
    };
    let mut settings = match row[SETTING] {
        ANY => 0..space.settings.len(),
        setting => usize::from(setting)..usize::from(setting) + 1,
    };
    let Some((setting, inner, outer)) = settings.find_map(tuples) else { return false };
    let valid = &axes.valid[setting];
    let setting = &space.settings[setting];
    let mut chosen = [setting.unit.as_slice(); MOST_AXES];
    // One of the axes between is no unit, so that steps over more than one axis are seen; more would only make
    // tensors large.
    if rank > 2
        && let Some(between) = pick(valid, |_| true, draws.word())
    {
        chosen[1 + draws.place(rank - 2)] = between;
    }
    chosen[0] = outer;
    chosen[rank - 1] = inner;
    space.assemble(case, setting, data_type, &chosen[..rank]);
    space.set_scalars(&mut case.desc, data_type, draws.word());
    for (side, parameter) in [(Side::Input, INPUT_LAYOUT), (Side::Output, OUTPUT_LAYOUT)] {
        if let Some(tensor) = case.desc.tensor_mut(side) {
            lay(tensor, LAYOUTS[value(parameter)], draws);
        }
    }
    if value(BINDING) == 1 {
        bind(case, draws);
    }
    match invalid {
        Invalid::Nothing | Invalid::Axis(_) => {}
        Invalid::Type(data_type) => neighbour::retype(&mut case.desc, data_type),
        Invalid::Rank(rank) => {
            neighbour::rerank(&mut case.desc, space, &setting.unit, Share::All, rank);
        }
        Invalid::Code(member, code) => case.desc.members[member] = Value::Integer(code),
    }
    let fills = fill_variants(FILLS[value(FILL)], data_type, elements(case), draws.word() >> 40);
    case.fill = draws.pick(&fills).cloned().unwrap_or(Fill::Iota);
    true
}

/// Whether a kind is what a row asks of its innermost axis (0) or its outermost (1).
fn has(parameters: &Parameters<'_, '_>, row: &[u8], axis: usize, kind: &Kind) -> bool {
    let values = row[parameters.of_axis(axis)].iter().enumerate();
    values
        .into_iter()
        .all(|(feature, &value)| value == ANY || kind.codes[feature] == parameters.code(feature, value))
}

/// A tuple of a kind that is wanted.
fn pick(kinds: &[Kind], is_wanted: impl Fn(&Kind) -> bool, word: u64) -> Option<&[i64]> {
    let wanted: Vec<&Kind> = kinds.iter().filter(|kind| is_wanted(kind)).collect();
    let kind = wanted.get((word % wanted.len().max(1) as u64) as usize)?;
    kind.tuples.get(((word >> 32) % kind.tuples.len() as u64) as usize).map(Vec::as_slice)
}

fn elements(case: &Case) -> u64 {
    let sizes = case.desc.input.as_ref().and_then(|tensor| tensor.sizes.as_ref());
    sizes.map_or(0, |sizes| sizes.iter().fold(1, |count, &size| count * size.max(0).unsigned_abs()))
}

/// Gives a tensor strides that nest, so that no two elements meet but those of a broadcast.
fn lay(tensor: &mut Tensor, layout: Layout, draws: &mut Draws) {
    let Some(sizes) = &tensor.sizes else { return };
    let rank = sizes.len();
    let gap = match layout {
        Layout::Packed => return,
        Layout::Padded => Some(draws.place(rank)),
        Layout::Permuted | Layout::Broadcast => None,
    };
    // The longest axis is the one whose repetition shows.
    let repeated = (0..rank).max_by_key(|&axis| sizes[axis]).filter(|_| layout == Layout::Broadcast);
    let mut strides = List::from_elem(0, rank);
    let mut span = 1;
    for step in 0..rank {
        let axis = if layout == Layout::Permuted { step } else { rank - 1 - step };
        if repeated == Some(axis) {
            continue;
        }
        strides[axis] = span + i64::from(gap == Some(step)) * draws.between(1, 3);
        span = strides[axis] * sizes[axis].max(1);
    }
    if let Some(bytes) = required_bytes(sizes, Some(&strides), tensor.data_type) {
        tensor.total_size = bytes;
        tensor.strides = Some(strides);
    }
}

/// Binds both tensors behind the start of their buffers, and makes them larger than they need be.
fn bind(case: &mut Case, draws: &mut Draws) {
    for side in Side::BOTH {
        // 16 bytes is the least that the header promises of a buffer, whatever the element.
        let alignment = 16_u64 << draws.below(3);
        if let Some(tensor) = case.desc.tensor_mut(side) {
            tensor.alignment = alignment as u32;
            tensor.total_size += 4 * (1 + draws.below(4));
        }
        let offset = alignment * (1 + draws.below(4));
        match side {
            Side::Input => case.binding.input = offset,
            Side::Output => case.binding.output = offset,
        }
    }
}
