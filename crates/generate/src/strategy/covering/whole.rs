//! Descs as wholes: the number of axes that an operator leaves alone, crops, pads or reverses, with each
//! layout of both tensors. The array of [`search`](super::search) has factors of two axes; an implementation
//! that counts axes, merges them or honours only the first few is wrong on descs with many axes of one kind.

use std::collections::{BTreeMap, BTreeSet};

use dmlcts_model::{Case, DataType, Fill, Side};
use dmlcts_spec::{Scratch, Validity};

use super::{super::large::repeat, CoveredLayout, LAYOUTS, SearchResult, axes::Axes, fill, lay};
use crate::{
    draw::Draws,
    lower::{INPUT, OUTPUT},
    space::{MOST_AXES, Setting, Space},
    suite::FillForm,
};

/// What an operator does on an axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Effect {
    /// The output has the input's elements, in their order.
    Alone,
    /// The output is shorter than the input.
    Cropped,
    /// The output is longer than the input.
    Padded,
    /// The output has several elements, in the reverse order.
    Reversed,
}

/// Every effect.
const EFFECTS: [Effect; 4] = [Effect::Alone, Effect::Cropped, Effect::Padded, Effect::Reversed];

/// The number of axes with an effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Count {
    Exactly(usize),
    /// More than two, but not all.
    Some,
    All,
}

const COUNTS: [Count; 5] = [Count::Exactly(0), Count::Exactly(1), Count::Exactly(2), Count::Some, Count::All];

/// The largest number of elements of a tensor, so that descs of eight axes stay small.
const MOST_ELEMENTS: i64 = 6_561;

/// What an operator does on an axis with this tuple. Only signed values reverse an axis.
pub(super) fn effect(space: &Space<'_>, tuple: &[i64]) -> Effect {
    let is_negative =
        space.variables.iter().zip(tuple).any(|(variable, &value)| variable.range.low < 0 && value < 0);
    match tuple[OUTPUT].cmp(&tuple[INPUT]) {
        _ if is_negative && tuple[OUTPUT] > 1 => Effect::Reversed,
        std::cmp::Ordering::Less => Effect::Cropped,
        std::cmp::Ordering::Equal => Effect::Alone,
        std::cmp::Ordering::Greater => Effect::Padded,
    }
}

/// Cases with every number of axes of each effect. With a strength of 2, each number meets every layout of
/// the input and of the output; beyond that, every two layouts together.
pub(super) fn search(
    space: &Space<'_>,
    axes: &Axes,
    (types, ranks): (&[DataType], &[usize]),
    strength: usize,
    seed: u64,
) -> SearchResult {
    let mut found = SearchResult::default();
    let mut scratch = Scratch::default();
    for (setting, kinds) in space.settings.iter().zip(&axes.valid) {
        let all: Vec<&[i64]> = kinds.iter().flat_map(|kind| &kind.tuples).map(Vec::as_slice).collect();
        let with = EFFECTS.map(|wanted| {
            // Axes of one element would have the effect without showing it.
            let is_seen = |tuple: &&&[i64]| tuple[INPUT].max(tuple[OUTPUT]) > 1;
            let of = all.iter().filter(|tuple| effect(space, tuple) == wanted);
            of.filter(is_seen).copied().collect::<Vec<&[i64]>>()
        });
        for (place, count) in (0..EFFECTS.len()).flat_map(|place| COUNTS.map(|count| (place, count))) {
            let others: Vec<&[i64]> = with
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != place)
                .flat_map(|(_, tuples)| tuples)
                .copied()
                .collect();
            if with[place].is_empty() || others.is_empty() {
                continue;
            }
            for layouts in layouts(strength) {
                let number = found.cases.len() as u64;
                let drawn = (0..8).find_map(|attempt| {
                    let draws = &mut Draws::of_case(seed, number * 8 + attempt);
                    let tuples = (&*with[place], &*others, count);
                    let mut case = assemble(space, setting, (types, ranks), tuples, draws)?;
                    lay(layouts, draws, &mut case);
                    let data_type = case.desc.tensor(Side::Input)?.data_type;
                    let form = FillForm::ALL[draws.place(FillForm::ALL.len())];
                    fill(form, data_type, draws, &mut case);
                    let judgement = space.judge(&case.desc, &mut scratch);
                    (judgement.validity() == Validity::Valid).then_some(case)
                });
                found.omitted.combinations += usize::from(drawn.is_none());
                found.add_all(drawn);
            }
        }
    }
    found
}

/// Descs of two axes in which the input repeats one element along one of them. The lists of that axis have
/// every choice of signs, with each setting: code for broadcast inputs often leaves one out.
pub(super) fn repeated(
    space: &Space<'_>,
    axes: &Axes,
    (types, ranks): (&[DataType], &[usize]),
    seed: u64,
) -> Vec<Case> {
    let mut found = Vec::new();
    if !ranks.contains(&2) {
        return found;
    }
    let mut scratch = Scratch::default();
    for (setting, kinds) in space.settings.iter().zip(&axes.valid) {
        let tuples = kinds.iter().flat_map(|kind| &kind.tuples).map(Vec::as_slice);
        let mut of_signs: BTreeMap<Vec<i64>, Vec<&[i64]>> = BTreeMap::new();
        for tuple in tuples.filter(|tuple| tuple[INPUT] > 1 && tuple[OUTPUT] > 1) {
            of_signs.entry(tuple[2..].iter().map(|value| value.signum()).collect()).or_default().push(tuple);
        }
        let all: Vec<&[i64]> = of_signs.values().flatten().copied().collect();
        for mut tuples in of_signs.into_values() {
            // Values that differ show it if one stands for another.
            let differ = |tuple: &[i64]| tuple[2..].iter().collect::<BTreeSet<_>>().len() == tuple.len() - 2;
            if tuples.iter().any(|tuple| differ(tuple)) {
                tuples.retain(|tuple| differ(tuple));
            }
            for attempt in 0..8 {
                let draws = &mut Draws::of_case(seed, found.len() as u64 * 8 + attempt);
                let (Some(&tuple), Some(&beside)) = (draws.pick(&tuples), draws.pick(&all)) else { break };
                let axis = draws.place(2);
                let chosen = if axis == 0 { [tuple, beside] } else { [beside, tuple] };
                let data_type = types[draws.place(types.len())];
                let mut case = space.blank();
                space.assemble(&mut case, setting, data_type, &chosen);
                space.set_scalars(&mut case.desc, data_type, draws.word());
                repeat(&mut case, axis);
                case.fill = Fill::Iota;
                if space.judge(&case.desc, &mut scratch).validity() == Validity::Valid {
                    found.push(case);
                    break;
                }
            }
        }
    }
    found
}

/// The layouts of both tensors that a number of axes meets.
fn layouts(strength: usize) -> Vec<[CoveredLayout; 2]> {
    let outputs = LAYOUTS.len() - 1;
    let pair = |input: usize, output: usize| [LAYOUTS[input], LAYOUTS[output % outputs]];
    if strength == 2 {
        return (0..LAYOUTS.len()).map(|input| pair(input, input)).collect();
    }
    (0..LAYOUTS.len()).flat_map(|input| (0..outputs).map(move |output| pair(input, output))).collect()
}

/// Writes a desc with a number of axes of an effect. Returns false if no rank has as many.
fn assemble(
    space: &Space<'_>,
    setting: &Setting,
    (types, ranks): (&[DataType], &[usize]),
    (wanted, others, count): (&[&[i64]], &[&[i64]], Count),
    draws: &mut Draws,
) -> Option<Case> {
    let least = match count {
        Count::Exactly(count) => count.max(1),
        Count::Some => 4,
        Count::All => 3,
    };
    let ranks: Vec<usize> = ranks.iter().copied().filter(|&rank| rank >= least).collect();
    let &rank = draws.pick(&ranks)?;
    let count = match count {
        Count::Exactly(count) => count,
        Count::Some => 3 + draws.place(rank - 3),
        Count::All => rank,
    };
    let mut order: Vec<usize> = (0..rank).collect();
    draws.shuffle(&mut order);
    let mut chosen = [setting.unit.as_slice(); MOST_AXES];
    let mut room = [MOST_ELEMENTS; 2];
    for (number, &axis) in order.iter().enumerate() {
        let from = if number < count { wanted } else { others };
        // The rest of the axes get their share of the elements.
        let left = (rank - number) as u32;
        let share = |room: i64| (room as f64).powf(1.0 / f64::from(left)).ceil() as i64;
        let fits =
            |tuple: &&&[i64]| tuple[INPUT] <= share(room[0]).max(2) && tuple[OUTPUT] <= share(room[1]).max(2);
        let fitting: Vec<&[i64]> = from.iter().filter(fits).copied().collect();
        let &tuple = draws.pick(&fitting)?;
        chosen[axis] = tuple;
        room = [room[0] / tuple[INPUT].max(1), room[1] / tuple[OUTPUT].max(1)];
    }
    let data_type = types[draws.place(types.len())];
    let mut case = space.blank();
    space.assemble(&mut case, setting, data_type, &chosen[..rank]);
    space.set_scalars(&mut case.desc, data_type, draws.word());
    Some(case)
}
