//! Strided, permuted, padded and broadcast tensors, and binding offsets.
//!
//! Strides are built from the innermost to the outermost axis of a random order. Each is at least the span of
//! the axes inside it, except for a pair of axes in some tensors: the elements of the outer one lie between
//! those of the inner one. Neither kind of strides overlaps, so that outputs are valid without a check. Some
//! inputs overlap: an axis has a stride of 0, or a stride that is shorter than the axis inside it, as the
//! windows of a convolution have.

use dmlcts_model::{Case, List, Side, Tensor};

use crate::{
    draw::{Draws, cut},
    edit::offset_mut,
};

/// The fraction of cases that do not have packed tensors at offset 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Layouts {
    /// About two in five cases.
    Some,
    /// Every case.
    All,
}

/// The deviations of a case from packed tensors at offset 0.
pub(crate) struct Layout {
    /// Whether the input and the output have strides.
    pub(crate) strides: [bool; 2],
    /// Larger total sizes, alignments or binding offsets.
    pub(crate) more: bool,
}

impl Layout {
    /// Draws the deviations.
    pub(crate) fn draw(layouts: Layouts, draws: &mut Draws) -> Self {
        let word = draws.word();
        let (strides, more) = match layouts {
            Layouts::Some => ([word & 15 < 4, word >> 4 & 15 < 4], word >> 8 & 15 < 2),
            // At least one of the two tensors has strides.
            Layouts::All => ([word & 15 >= 4, word & 15 < 4 || word >> 4 & 15 < 8], word >> 8 & 15 < 8),
        };
        Self { strides, more }
    }

    /// Lays out both tensors of a case. They must be packed and have sizes of at least 1.
    pub(crate) fn apply(&self, case: &mut Case, draws: &mut Draws) {
        for (side, has_strides) in Side::BOTH.into_iter().zip(self.strides) {
            if let Some(tensor) = case.desc.tensor_mut(side).filter(|_| has_strides) {
                stride(tensor, side, draws);
            }
        }
        if self.more {
            bind(case, draws);
        }
    }
}

/// Gives a tensor explicit strides, and the total size that they need.
fn stride(tensor: &mut Tensor, side: Side, draws: &mut Draws) {
    let (Some(sizes), Some(bytes)) = (&tensor.sizes, tensor.data_type.element_size()) else { return };
    let rank = sizes.len();
    let mut order = [0_usize, 1, 2, 3, 4, 5, 6, 7];
    let Some(order) = order.get_mut(..rank) else { return };
    let word = draws.word();
    let (permuted, padded, broadcast) = (word & 1 != 0, word >> 1 & 3 != 0, word >> 3 & 1 != 0);
    if permuted {
        shuffle(order, draws.word());
    }
    // The following words have a bit for each position in the order, innermost last.
    let repeated = if broadcast && side == Side::Input { word >> 8 } else { 0 };
    // At most two axes have gaps: the product of eight gaps would need too much memory.
    let gaps = if padded { 1 << cut(word >> 16, rank) | 1 << cut(word >> 32, rank) } else { 0 };
    let widths = if padded { draws.word() } else { 0 };
    let rows = word >> 48 & word >> 56;
    // The lowest eight bits say which axes share elements with the axis inside them.
    let shares = if side == Side::Input && (word >> 6).is_multiple_of(4) { draws.word() } else { 0 };
    // The last axis of more than one element, and the one whose elements the next axis interleaves with: the
    // stride, or the span inside the axis, and the length.
    let (mut inner, mut interleaved): (Option<(i64, i64)>, _) = (None, None);
    let mut interleaves = (word >> 4).is_multiple_of(4);
    let (mut strides, mut span, mut last) = ([0; 8], 1, 0);
    for (place, &axis) in order.iter().enumerate().rev() {
        if repeated >> place & 1 != 0 {
            continue;
        }
        let size = sizes[axis];
        let mut is_row = false;
        let stride = if let Some((unit, length)) = interleaved.take_if(|_| size > 1) {
            unit * between(length)
        } else if let Some((unit, length)) = inner.filter(|_| size > 1 && shares >> place & 1 != 0) {
            // A whole number of the inner axis's strides, and fewer than that axis is long.
            unit * (1 + cut(shares >> (8 + 6 * place), (length - 1).min(1 << 16) as usize) as i64)
        } else if interleaves && size >= 3 {
            interleaves = false;
            interleaved = Some((span, size));
            2 * span
        } else {
            is_row = rows >> place & 1 != 0;
            span + if gaps >> place & 1 != 0 { 1 + cut(widths >> (6 * place), 3) as i64 } else { 0 }
        };
        strides[axis] = stride;
        last += (size - 1) * stride;
        // The span from the first to the last element along this axis and those inside it. For one axis in
        // four, it is a whole number of rows, so that the next axis starts where this one would continue.
        span += (size - 1) * stride;
        if is_row {
            span = span.max(stride * size);
        }
        if size > 1 {
            inner = Some((stride, size));
        }
    }
    tensor.total_size = ((last as u64 + 1) * bytes as u64).next_multiple_of(4);
    tensor.strides = Some(List::from_buf_and_len(strides, rank));
}

/// The stride of an axis that interleaves with an axis of a stride of 2 and this length, which is at least 3.
/// It is the least odd number that is not below the length. Two coordinates share an offset only if they
/// differ by a multiple of it on the inner axis, which is too short for that. The stride is less than the
/// span of the inner axis, so that the two do not nest.
fn between(length: i64) -> i64 {
    length | 1
}

/// Shuffles up to eight entries, using eight bits of a word for each.
fn shuffle(order: &mut [usize], mut word: u64) {
    for end in (1..order.len()).rev() {
        order.swap(end, ((word as usize & 0xFF) * (end + 1)) >> 8);
        word >>= 8;
    }
}

/// Draws larger total sizes, alignments and binding offsets.
fn bind(case: &mut Case, draws: &mut Draws) {
    for side in Side::BOTH {
        let word = draws.word();
        let Some(tensor) = case.desc.tensor_mut(side) else { continue };
        if word & 1 == 0 {
            tensor.total_size += 4 * (1 + (word >> 8 & 7));
        }
        // The header requires an alignment of at least 16 bytes for buffers, for every element size.
        // One in eight is any power of two of 32 bits.
        let exponent =
            if (word >> 40).is_multiple_of(8) { cut(word >> 44, 28) as u64 } else { word >> 16 & 3 };
        let alignment = 16_u64 << exponent;
        if word >> 1 & 1 == 0 {
            tensor.alignment = alignment as u32;
        }
        // An offset must have the alignment that the desc promises.
        let is_moved = word >> 2 & 1 == 0 && alignment <= 4096;
        *offset_mut(&mut case.binding, side) = if is_moved { alignment * (1 + (word >> 24 & 7)) } else { 0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dmlcts_model::DataType;
    use smallvec::smallvec;

    /// The offsets of all elements, by brute force.
    fn offsets(sizes: &[i64], strides: &[i64]) -> Vec<i64> {
        sizes.iter().zip(strides).fold(vec![0], |offsets, (&size, &stride)| {
            offsets.iter().flat_map(|&offset| (0..size).map(move |c| offset + c * stride)).collect()
        })
    }

    #[test]
    fn outputs_never_overlap_and_inputs_fit_their_total_size() {
        let mut draws = Draws::new(4);
        let (mut permuted, mut padded, mut repeated, mut shared, mut interleaved) = (0, 0, 0, 0, 0);
        for _ in 0..2_000 {
            for side in Side::BOTH {
                let mut tensor = Tensor::packed(DataType::INT16, smallvec![2, 1, 3, 2]);
                stride(&mut tensor, side, &mut draws);
                let (sizes, strides) = (tensor.sizes.clone().unwrap(), tensor.strides.clone().unwrap());
                let mut all = offsets(&sizes, &strides);
                all.sort_unstable();
                let last = *all.last().unwrap() as u64;
                assert!((last + 1) * 2 <= tensor.total_size);
                all.dedup();
                if side == Side::Output {
                    assert_eq!(all.len(), 12, "{strides:?}");
                    permuted += usize::from(strides[0] < strides[3]);
                    padded += usize::from(last > 11);
                    interleaved += usize::from(!is_nested(&sizes, &strides));
                } else {
                    let is_shared = all.len() < 12 && !strides.contains(&0);
                    repeated += usize::from(strides.contains(&0));
                    shared += usize::from(is_shared);
                }
            }
        }
        assert!(permuted > 300 && padded > 300 && repeated > 300, "{permuted} {padded} {repeated}");
        assert!(interleaved > 300 && shared > 100, "{interleaved} {shared}");
    }

    /// Whether each stride is greater than the span of all axes with smaller strides.
    fn is_nested(sizes: &[i64], strides: &[i64]) -> bool {
        let mut axes: Vec<(i64, i64)> = strides.iter().copied().zip(sizes.iter().copied()).collect();
        axes.retain(|&(_, size)| size > 1);
        axes.sort_unstable();
        let mut last = 0;
        axes.into_iter().all(|(stride, size)| {
            let is_outside = stride > last;
            last += stride * (size - 1);
            is_outside
        })
    }
}
