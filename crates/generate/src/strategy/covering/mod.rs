//! A small set of cases in which every pair, triple or quadruple of values occurs. The values are data types,
//! ranks, modes, fills, layouts and classes of an axis. Most bugs depend on at most this number of values.
//!
//! One array of rows has valid descs. A second array has descs with one invalid value, so that the expected
//! refusal has a single reason. There, every combination of one value fewer occurs with each invalid value.
//! Combinations that are impossible are counted.
//!
//! `whole` adds valid descs by the number of axes that are left alone, cropped, padded and reversed.

mod array;
mod axes;
mod model;
#[cfg(test)]
mod tests;
mod whole;

use dmlcts_model::{
    Case, DataType, Fill, List, MemberKind, Side, Tensor, Value, element_count, required_bytes,
};
use dmlcts_spec::{Scratch, Validity};

use self::{
    array::ANY,
    axes::{Axes, Kind},
    model::{
        BINDING, CoveredLayout, FILL, INPUT_LAYOUT, INVALID, Invalid, LAYOUTS, OUTPUT_LAYOUT, Parameters,
        RANK, SETTING, TYPE,
    },
};
use super::{SearchResult, fill_variants};
use crate::{
    draw::{Draws, derive},
    edit::{self, Share},
    space::{MOST_AXES, Space},
    suite::FillForm,
};

/// Searches one operator for cases in which every combination of `strength` values occurs.
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
    let mut scratch = Scratch::default();
    let seed = derive(seed, space.operator.name());
    let valid = parameters(vec![Invalid::Nothing]);
    for parameters in [&valid, &parameters(invalid(space, &axes))] {
        let is_valid = parameters.invalid == [Invalid::Nothing];
        let covering = array::cover(parameters, strength);
        if is_valid {
            found.omitted.combinations = covering.impossible;
        }
        for row in covering.rows {
            let mut case = space.blank();
            let draws = &mut Draws::of_case(seed, found.cases.len() as u64);
            if !assemble(parameters, &row, draws, &mut case) {
                continue;
            }
            let validity = space.judge(&case.desc, &mut scratch).validity();
            if (validity != Validity::Invalid) == is_valid {
                found.add(case);
            }
        }
    }
    let whole = whole::search(space, &axes, (&types, &ranks), strength, derive(seed, "whole"));
    let repeated = whole::repeated(space, &axes, (&types, &ranks), derive(seed, "repeated"));
    found.add_all(whole.cases.into_iter().chain(repeated));
    found.omitted = found.omitted.and(whole.omitted);
    found.omitted.is_cut |= axes.is_cut;
    found
}

/// Every invalid value that a row can have.
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

/// Writes the case of a row. Returns false if no case has the row's values.
fn assemble(parameters: &Parameters<'_, '_>, row: &[u8], draws: &mut Draws, case: &mut Case) -> bool {
    let (space, axes) = (parameters.space, parameters.axes);
    let invalid = parameters.invalid[usize::from(row[INVALID])];
    let value = |parameter: usize| usize::from(row[parameter]);
    let data_type = parameters.types.get(value(TYPE)).copied().unwrap_or(parameters.types[0]);
    // For an unsupported rank, axes are added in front of a desc with the greatest supported rank.
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
    // One axis in between is no unit, so that errors in strides over several axes show. More such axes would
    // only make tensors large.
    if rank > 2
        && let Some(between) = pick(valid, |_| true, draws.word())
    {
        chosen[1 + draws.place(rank - 2)] = between;
    }
    chosen[0] = outer;
    chosen[rank - 1] = inner;
    space.assemble(case, setting, data_type, &chosen[..rank]);
    space.set_scalars(&mut case.desc, data_type, draws.word());
    lay([INPUT_LAYOUT, OUTPUT_LAYOUT].map(|parameter| LAYOUTS[value(parameter)]), draws, case);
    if value(BINDING) == 1 {
        bind(case, draws);
    }
    match invalid {
        Invalid::Nothing | Invalid::Axis(_) => {}
        Invalid::Type(data_type) => edit::retype(&mut case.desc, data_type),
        Invalid::Rank(rank) => edit::rerank(&mut case.desc, &setting.unit, Share::All, rank),
        Invalid::Code(member, code) => case.desc.members[member] = Value::Integer(code),
    }
    fill(FillForm::ALL[value(FILL)], data_type, draws, case);
    true
}

/// Whether a kind has the values that a row requires of its innermost (0) or outermost (1) axis.
fn has(parameters: &Parameters<'_, '_>, row: &[u8], axis: usize, kind: &Kind) -> bool {
    let values = row[parameters.of_axis(axis)].iter().enumerate();
    values
        .into_iter()
        .all(|(feature, &value)| value == ANY || kind.codes[feature] == parameters.code(feature, value))
}

/// A tuple of a kind that `is_wanted`.
fn pick(kinds: &[Kind], is_wanted: impl Fn(&Kind) -> bool, word: u64) -> Option<&[i64]> {
    let wanted: Vec<&Kind> = kinds.iter().filter(|kind| is_wanted(kind)).collect();
    let kind = wanted.get((word % wanted.len().max(1) as u64) as usize)?;
    kind.tuples.get(((word >> 32) % kind.tuples.len() as u64) as usize).map(Vec::as_slice)
}

/// Fills the input with elements of this type.
fn fill(form: FillForm, data_type: DataType, draws: &mut Draws, case: &mut Case) {
    let sizes = case.desc.input.as_ref().and_then(|tensor| tensor.sizes.as_ref());
    let elements = sizes.map_or(0, |sizes| element_count(sizes) as u64);
    let fills = fill_variants(form, data_type, elements, draws.word() >> 40);
    case.fill = draws.pick(&fills).cloned().unwrap_or(Fill::Iota);
}

/// Lays out the input and the output.
fn lay(layouts: [CoveredLayout; 2], draws: &mut Draws, case: &mut Case) {
    for (side, layout) in Side::BOTH.into_iter().zip(layouts) {
        if let Some(tensor) = case.desc.tensor_mut(side) {
            stride(tensor, layout, draws);
        }
    }
}

/// Gives a tensor nested strides, so that elements share an offset only on a broadcast axis.
fn stride(tensor: &mut Tensor, layout: CoveredLayout, draws: &mut Draws) {
    let Some(sizes) = &tensor.sizes else { return };
    let rank = sizes.len();
    let gap = match layout {
        CoveredLayout::Packed => return,
        CoveredLayout::Padded => Some(draws.place(rank)),
        CoveredLayout::Permuted | CoveredLayout::Broadcast => None,
    };
    // A repetition shows best on the longest axis.
    let repeated = (0..rank).max_by_key(|&axis| sizes[axis]).filter(|_| layout == CoveredLayout::Broadcast);
    let mut strides = List::from_elem(0, rank);
    let mut span = 1;
    for step in 0..rank {
        let axis = if layout == CoveredLayout::Permuted { step } else { rank - 1 - step };
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

/// Binds both tensors at an offset in their buffers, and makes their total sizes larger than necessary.
fn bind(case: &mut Case, draws: &mut Draws) {
    for side in Side::BOTH {
        // The header requires an alignment of at least 16 bytes for buffers, for every element size.
        let alignment = 16_u64 << draws.below(3);
        if let Some(tensor) = case.desc.tensor_mut(side) {
            tensor.alignment = alignment as u32;
            tensor.total_size += 4 * (1 + draws.below(4));
        }
        *edit::offset_mut(&mut case.binding, side) = alignment * (1 + draws.below(4));
    }
}
