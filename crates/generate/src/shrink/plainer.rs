//! Simpler layouts, values and data: the parts of a case that belong to no axis.

use std::sync::Arc;

use dmlcts_model::{Case, DataType, Fill, List, MemberKind, Side, Tensor, Value};

use super::{Propose, tuples::smaller};
use crate::{
    edit::{fit_sizes, offset_mut, retype, set_strides},
    fill,
};

/// The largest input whose elements are simplified one by one, in bytes.
const MOST_BYTES: u64 = 64;

/// Proposes packed strides or smaller ones, usual total sizes, no alignment and no offsets.
pub(super) fn layouts(case: &Case, propose: &mut Propose<'_>) {
    for side in Side::BOTH {
        let Some(tensor) = case.desc.tensor(side) else { continue };
        let mut change = |change: &dyn Fn(&mut Tensor)| {
            propose(&mut |simpler| simpler.desc.tensor_mut(side).into_iter().for_each(change));
        };
        if let Some(strides) = &tensor.strides {
            change(&|tensor| set_strides(tensor, None));
            let is_usual = tensor.total_size == tensor.usual_total_size();
            for simpler in simpler_strides(tensor.sizes.as_deref().unwrap_or_default(), strides) {
                change(&|tensor| {
                    tensor.strides = Some(simpler.clone());
                    if is_usual {
                        tensor.total_size = tensor.usual_total_size();
                    }
                });
            }
        }
        change(&|tensor| tensor.total_size = tensor.usual_total_size());
        change(&|tensor| (tensor.alignment, tensor.flags) = (0, 0));
    }
    for side in Side::BOTH {
        propose(&mut |simpler| *offset_mut(&mut simpler.binding, side) = 0);
    }
}

/// Strides with a smaller sum: those of the same order without gaps, then with gaps of one element, and then
/// one smaller stride.
fn simpler_strides(sizes: &[i64], strides: &[i64]) -> Vec<List> {
    let sum = |strides: &[i64]| strides.iter().fold(0_i64, |sum, stride| sum.saturating_add(*stride));
    let mut found: Vec<List> = Vec::new();
    if sizes.len() == strides.len() {
        found.extend([0, 1].map(|gap| in_order(sizes, strides, gap)));
    }
    for (axis, &stride) in strides.iter().enumerate() {
        for less in smaller(stride) {
            let mut changed = List::from(strides);
            changed[axis] = less;
            found.push(changed);
        }
    }
    found.retain(|simpler| sum(simpler) < sum(strides));
    found
}

/// Strides in the order of others, with this gap after each axis. Strides of 0 stay.
fn in_order(sizes: &[i64], strides: &[i64], gap: i64) -> List {
    let mut axes: Vec<usize> = (0..strides.len()).filter(|axis| strides[*axis] != 0).collect();
    // The last axis first among equals, as in packed strides.
    axes.sort_by_key(|axis| (strides[*axis], std::cmp::Reverse(*axis)));
    let (mut tight, mut next) = (List::from(strides), 1_i64);
    for axis in axes {
        tight[axis] = next;
        next = next.saturating_mul(sizes[axis].max(1)).saturating_add(gap);
    }
    tight
}

/// Proposes FLOAT32, simpler scalars, and simpler data.
pub(super) fn plainer(case: &Case, propose: &mut Propose<'_>) {
    let data_type = case.desc.input.as_ref().map_or(DataType::FLOAT32, |tensor| tensor.data_type);
    for (place, value) in case.desc.members.iter().enumerate() {
        let Value::Scalar(bytes) = value else { continue };
        for simpler in simpler_scalars(*bytes, data_type) {
            propose(&mut |case| case.desc.members[place] = Value::Scalar(simpler));
        }
    }
    fills(case, data_type, propose);
    let plain = |tensor: &Tensor| tensor.data_type == DataType::FLOAT32;
    if !Side::BOTH.iter().all(|&side| case.desc.tensor(side).is_some_and(plain)) {
        propose(&mut |simpler| {
            for (member, value) in case.desc.signature.members.iter().zip(&mut simpler.desc.members) {
                if matches!(member.kind, MemberKind::Scalar) {
                    *value = Value::Scalar([0; 8]);
                }
            }
            simpler.fill = Fill::Iota;
            retype(&mut simpler.desc, DataType::FLOAT32);
            fit_sizes(&mut simpler.desc, [true; 2]);
        });
    }
}

/// Zero, one, and the value with fewer bytes: only the upper half of those that the type uses, or all of
/// them. Each has fewer bytes than the value, or is simpler than all values with that many.
fn simpler_scalars(bytes: [u8; 8], data_type: DataType) -> Vec<[u8; 8]> {
    let size = fill::element_size(data_type).min(8);
    let mut one = [0; 8];
    fill::write(&Fill::Iota, data_type, &mut one[..size]);
    let mut used = bytes;
    used[size..].fill(0);
    let mut round = used;
    round[..size / 2].fill(0);
    // The order is from the simplest to the value itself.
    let ladder = [[0; 8], one, round, used, bytes];
    let place = ladder.iter().position(|step| *step == bytes).unwrap_or(0);
    ladder[..place].to_vec()
}

/// Proposes `iota`. Where other bits matter, it proposes to keep them in one element, or in fewer elements.
fn fills(case: &Case, data_type: DataType, propose: &mut Propose<'_>) {
    if case.fill == Fill::Iota {
        return;
    }
    propose(&mut |simpler| simpler.fill = Fill::Iota);
    let Some(input) = case.desc.input.as_ref().filter(|input| input.total_size <= MOST_BYTES) else { return };
    let size = fill::element_size(data_type);
    let of = |fill: &Fill| {
        let mut memory = vec![0; input.total_size as usize];
        fill::write(fill, data_type, &mut memory);
        memory
    };
    let (plain, own) = (of(&Fill::Iota), of(&case.fill));
    let differs = |start: &usize| plain[*start..].iter().zip(&own[*start..]).take(size).any(|(a, b)| a != b);
    let elements: Vec<usize> = (0..own.len()).step_by(size).filter(differs).collect();
    let mut propose_bytes =
        |bytes: Vec<u8>| propose(&mut |simpler| simpler.fill = Fill::Explicit(Arc::from(bytes.as_slice())));
    let copied = |mut to: Vec<u8>, from: &[u8], start: usize| {
        let end = (start + size).min(to.len());
        to[start..end].copy_from_slice(&from[start..end]);
        to
    };
    let is_explicit = matches!(case.fill, Fill::Explicit(_));
    if elements.len() > 1 || !is_explicit {
        for start in &elements {
            propose_bytes(copied(plain.clone(), &own, *start));
        }
    }
    if elements.len() > 2 && is_explicit {
        for start in &elements {
            propose_bytes(copied(own.clone(), &plain, *start));
        }
    }
}
