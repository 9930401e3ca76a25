//! Sizes at the limits of dispatches, counters and memory.
//!
//! One axis of a tensor has a size at such a limit, and the other tensor has its least or greatest possible
//! size. The cases are the same on every machine. A run reports those that do not fit the machine's memory.

use std::sync::Arc;

use dmlcts_model::{DataType, Fill, Side, element_count};

use super::SearchResult;
use crate::{
    draw::mix,
    fill,
    lower::{INPUT, OUTPUT},
    space::{MOST_AXES, Space},
};

/// The limits: the workgroups of a dispatch (65535), 16-bit counters, a float's exact integers (2^24), and
/// signed and unsigned 32-bit counters of elements or bytes.
const EDGES: [i64; 15] = [
    65_534,
    65_535,
    65_536,
    65_537,
    (1 << 24) - 1,
    1 << 24,
    (1 << 24) + 1,
    (1 << 29) - 1,
    1 << 29,
    (1 << 30) + 1,
    (1 << 31) - 1,
    1 << 31,
    (1 << 31) + 1,
    (1 << 32) - 2,
    (1 << 32) - 1,
];

/// Searches one operator for cases with at most `elements` elements per tensor.
pub(crate) fn search(
    space: &Arc<Space<'_>>,
    types: &[DataType],
    ranks: (usize, usize),
    elements: Option<u32>,
    seed: u64,
) -> SearchResult {
    let mut found = SearchResult::default();
    let types: Vec<DataType> = types.iter().copied().filter(|known| space.types.contains(known)).collect();
    let (least, most) = (ranks.0.max(space.ranks.0), ranks.1.min(space.ranks.1));
    if types.is_empty() || least > most {
        return found;
    }
    let limit = elements.map_or(u128::MAX, u128::from);
    for setting in &space.settings {
        for (side, edge) in [INPUT, OUTPUT].into_iter().flat_map(|side| EDGES.map(|edge| (side, edge))) {
            for tuple in space.tuples_of_size(setting, side, edge, false) {
                for axis in [least - 1, 0] {
                    // The long axis is first the innermost axis of the least rank, and then the outermost
                    // axis of one rank more.
                    let rank = if axis == 0 { (least + 1).min(most) } else { least };
                    let mut tuples = [setting.unit.as_slice(); MOST_AXES];
                    tuples[axis.min(rank - 1)] = &tuple;
                    let data_type = types[found.cases.len() % types.len()];
                    let mut case = space.blank();
                    space.assemble(&mut case, setting, data_type, &tuples[..rank]);
                    space.set_scalars(&mut case.desc, data_type, mix(seed ^ found.cases.len() as u64));
                    let fits = Side::BOTH.iter().all(|&side| {
                        let sizes = case.desc.tensor(side).and_then(|tensor| tensor.sizes.as_ref());
                        sizes.is_some_and(|sizes| element_count(sizes) <= limit)
                    });
                    let passes = fill::passes(data_type, tuple[INPUT].unsigned_abs());
                    case.fill = Fill::Coordinates { pass: (found.cases.len() % usize::from(passes)) as u8 };
                    if fits && !found.cases.contains(&case) {
                        found.cases.push(case);
                    }
                }
            }
        }
    }
    found
}
