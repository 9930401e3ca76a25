//! Every example of every page, on every type and rank that can represent it.
//!
//! An example is converted to another data type if every number keeps its text there. It is converted to
//! another rank by adding unit axes, in front or at the end, or by removing axes of size 1. Neither loses
//! data.

use std::sync::Arc;

use dmlcts_model::{Case, DataType, Fill, MemberKind, Side, Value, element_from_text, element_to_text};
use dmlcts_spec::{Scratch, Validity};

use super::SearchResult;
use crate::{
    edit::{Share, fit_sizes, rerank, retype, set_tuple, tuple, tuples_fit},
    lower::{INPUT, OUTPUT},
    space::Space,
};

/// All examples of one operator, converted to these types and ranks.
pub(crate) fn search(space: &Arc<Space<'_>>, types: &[DataType], ranks: (usize, usize)) -> SearchResult {
    let mut found = SearchResult::default();
    let mut scratch = Scratch::default();
    let Some((types, ranks)) = space.supported(types, ranks) else { return found };
    for example in space.operator.examples() {
        for &data_type in &types {
            let Some(carried) = carry(&example.case, data_type) else { continue };
            for rank in ranks.0..=ranks.1 {
                for variant in reshape(&carried, space, rank) {
                    if space.judge(&variant.desc, &mut scratch).validity() != Validity::Invalid {
                        found.add(variant);
                    }
                }
            }
        }
    }
    found
}

/// The example in another data type; `None` if a number would change.
fn carry(example: &Case, data_type: DataType) -> Option<Case> {
    let old = example.desc.tensor(Side::Input)?.data_type;
    let mut case = example.clone();
    retype(&mut case.desc, data_type);
    fit_sizes(&mut case.desc, [true; 2]);
    for (member, value) in case.desc.signature.members.iter().zip(&mut case.desc.members) {
        if let (MemberKind::Scalar, Value::Scalar(bytes)) = (&member.kind, value) {
            let converted = convert(&bytes[..old.element_size()?], old, data_type)?;
            *bytes = converted;
        }
    }
    if let Fill::Explicit(bytes) = &example.fill {
        let (from, to) = (old.element_size()?, data_type.element_size()?);
        let elements: Option<Vec<_>> =
            bytes.chunks_exact(from).map(|element| convert(element, old, data_type)).collect();
        let converted: Vec<u8> = elements?.iter().flat_map(|element| element[..to].iter().copied()).collect();
        case.fill = Fill::Explicit(converted.into());
    }
    Some(case)
}

/// An element in another type, with zeros above its width. `None` if its text would change.
fn convert(element: &[u8], from: DataType, to: DataType) -> Option<[u8; 8]> {
    let text = element_to_text(from, element);
    let converted = element_from_text(to, &text).ok()?;
    let size = to.element_size()?;
    (element_to_text(to, &converted[..size]) == text).then_some(converted)
}

/// The case at another rank, in each way that loses no data.
fn reshape(case: &Case, space: &Space<'_>, rank: usize) -> Vec<Case> {
    let old = case.desc.rank();
    let Some(setting) = space.setting_of(&case.desc) else { return Vec::new() };
    let unit = &space.settings[setting].unit;
    if !tuples_fit(&case.desc) {
        return Vec::new();
    }
    let tuples: Vec<Vec<i64>> = (0..old).map(|axis| tuple(&case.desc, axis)).collect();
    let mut shapes: Vec<Vec<Vec<i64>>> = Vec::new();
    if rank <= old {
        // Removes the first axes of size 1, because pages add them only for the rank.
        let mut left = old - rank;
        let mut kept = tuples;
        kept.retain(|tuple| {
            let drop = left > 0 && tuple[INPUT] == 1 && tuple[OUTPUT] == 1;
            left -= usize::from(drop);
            !drop
        });
        if left == 0 {
            shapes.push(kept);
        }
    } else {
        let units = vec![unit.clone(); rank - old];
        shapes.push([units.clone(), tuples.clone()].concat());
        shapes.push([tuples, units].concat());
    }
    shapes
        .into_iter()
        .map(|shape| {
            let mut copy = case.clone();
            rerank(&mut copy.desc, unit, Share::All, rank);
            for (axis, tuple) in shape.iter().enumerate() {
                set_tuple(&mut copy.desc, axis, tuple);
            }
            copy
        })
        .collect()
}
