//! Decides whether a strided layout maps two coordinates to the same offset, by an exact search with a
//! limited budget.

use dmlcts_model::{Desc, Side};
use smallvec::SmallVec;

/// The largest number of nodes that the search visits. Typical layouts need only a few.
const BUDGET: u32 = 100_000;

/// Whether two coordinates of a tensor share an offset. `None` without sizes, and as for [`find_overlap`].
#[inline]
pub(super) fn overlap_of(desc: &Desc, side: Side) -> Option<Overlap> {
    let tensor = desc.tensor(side)?;
    find_overlap(tensor.sizes.as_deref()?, tensor.strides.as_deref())
}

/// The result of the search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Overlap {
    /// No two coordinates share an offset.
    Never,
    /// Two coordinates share an offset.
    Somewhere,
    /// The search exceeds its budget.
    Unsettled,
}

impl Overlap {
    /// Whether two coordinates share an offset, if the search found out.
    pub fn is_somewhere(self) -> Option<bool> {
        (self != Self::Unsettled).then_some(self == Self::Somewhere)
    }

    /// Whether the search exceeds its budget.
    pub fn is_unsettled(self) -> bool {
        self == Self::Unsettled
    }
}

/// Whether two coordinates share an offset. Packed strides (`None`) never overlap. `None` if a size is below
/// 1, a stride is negative, or the lists differ in length.
///
/// Two coordinates share an offset if and only if their difference `d` satisfies three conditions: `d` is not
/// all zero, `|d| < size` on each axis, and `Σ d * stride = 0`. The search starts with the largest stride. On
/// each axis, the difference is bounded by the offsets that the smaller strides can still compensate.
pub fn find_overlap(sizes: &[i64], strides: Option<&[i64]>) -> Option<Overlap> {
    if sizes.iter().any(|&size| size < 1) {
        return None;
    }
    let Some(strides) = strides else { return Some(Overlap::Never) };
    if strides.len() != sizes.len() || strides.iter().any(|&stride| stride < 0) {
        return None;
    }
    if are_nested(sizes, strides) {
        return Some(Overlap::Never);
    }
    let mut axes: SmallVec<[OverlapAxis; 8]> = sizes
        .iter()
        .zip(strides)
        .filter(|&(&size, _)| size > 1)
        .map(|(&size, &stride)| OverlapAxis {
            most: i128::from(size) - 1,
            stride: i128::from(stride),
            reach: 0,
            divisor: 0,
        })
        .collect();
    if axes.iter().any(|axis| axis.stride == 0) {
        return Some(Overlap::Somewhere);
    }
    axes.sort_unstable_by_key(|axis| std::cmp::Reverse(axis.stride));
    let (mut reach, mut divisor, mut nested) = (0i128, 0i128, true);
    for axis in axes.iter_mut().rev() {
        nested &= axis.stride > reach;
        // `reach` and `divisor` describe the axes with smaller strides.
        (axis.reach, axis.divisor) = (reach, divisor);
        reach = reach.saturating_add(axis.most.saturating_mul(axis.stride));
        divisor = greatest_common_divisor(axis.stride, divisor);
    }
    if nested {
        return Some(Overlap::Never);
    }
    // There are more coordinates than offsets, so that two share one.
    let coordinates = axes.iter().fold(1i128, |count, axis| count.saturating_mul(axis.most + 1));
    if coordinates > reach / divisor.max(1) + 1 && reach < i128::MAX {
        return Some(Overlap::Somewhere);
    }
    Some(match (OverlapSearch { axes: &axes, budget: BUDGET }).meets(0, 0, false) {
        Some(true) => Overlap::Somewhere,
        Some(false) => Overlap::Never,
        None => Overlap::Unsettled,
    })
}

/// Whether the stride of each axis is larger than the reach of all axes with smaller strides; axes of size 1
/// do not count. Such layouts never overlap, and most layouts are of this kind. The result is false if the
/// arithmetic overflows.
fn are_nested(sizes: &[i64], strides: &[i64]) -> bool {
    let mut axes: SmallVec<[(i64, i64); 8]> = SmallVec::new();
    for (&size, &stride) in sizes.iter().zip(strides).rev().filter(|&(&size, _)| size > 1) {
        let place = axes.iter().rposition(|&(smaller, _)| smaller <= stride).map_or(0, |place| place + 1);
        axes.insert(place, (stride, size));
    }
    let mut reach = 0_i64;
    axes.iter().all(|&(stride, size)| {
        let is_over = stride > reach;
        let farther = (size - 1).checked_mul(stride).and_then(|way| reach.checked_add(way));
        farther.inspect(|farther| reach = *farther).is_some() && is_over
    })
}

struct OverlapAxis {
    /// The greatest difference of two coordinates.
    most: i128,
    stride: i128,
    /// The greatest sum of offsets of the following axes.
    reach: i128,
    /// The greatest common divisor of the following axes' strides; 0 if there are none.
    divisor: i128,
}

struct OverlapSearch<'a> {
    axes: &'a [OverlapAxis],
    budget: u32,
}

impl OverlapSearch<'_> {
    /// Whether differences on the axes from `depth` on can bring `offset` to zero. `moved` tells whether an
    /// earlier axis has a difference other than zero. `None` if the budget is used up.
    fn meets(&mut self, depth: usize, offset: i128, moved: bool) -> Option<bool> {
        self.budget = self.budget.checked_sub(1)?;
        let Some(axis) = self.axes.get(depth) else { return Some(moved && offset == 0) };
        // The remaining axes must be able to compensate `offset + d * stride`. By symmetry, the first
        // difference other than zero is taken as positive.
        let low = divided(-axis.reach - offset + axis.stride - 1, axis.stride);
        let low = low.max(if moved { -axis.most } else { 0 });
        let high = divided(axis.reach - offset, axis.stride).min(axis.most);
        let mut difference = low;
        while difference <= high {
            let next = offset + difference * axis.stride;
            let possible = if axis.divisor == 0 {
                next == 0
            } else {
                divided(next, axis.divisor) * axis.divisor == next
            };
            if possible {
                if self.meets(depth + 1, next, moved || difference != 0)? {
                    return Some(true);
                }
            } else {
                self.budget = self.budget.checked_sub(1)?;
            }
            difference += 1;
        }
        Some(false)
    }
}

/// The quotient, rounded down. Most numbers fit 64 bits, and a processor divides no wider ones.
fn divided(number: i128, by: i128) -> i128 {
    match (i64::try_from(number), i64::try_from(by)) {
        (Ok(number), Ok(by)) => i128::from(number.div_euclid(by)),
        _ => number.div_euclid(by),
    }
}

fn greatest_common_divisor(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn overlaps(sizes: &[i64], strides: Option<&[i64]>) -> Option<bool> {
        find_overlap(sizes, strides)?.is_somewhere()
    }

    fn is_unsettled(sizes: &[i64], strides: Option<&[i64]>) -> Option<bool> {
        find_overlap(sizes, strides).map(Overlap::is_unsettled)
    }

    #[test]
    fn interleaved_layouts_are_told_from_overlapping_ones() {
        // Columns of stride 2 that interleave with a row of odd offsets.
        assert_eq!(overlaps(&[2, 3], Some(&[1, 2])), Some(false));
        assert_eq!(overlaps(&[3, 3], Some(&[1, 2])), Some(true));
        assert_eq!(overlaps(&[1, 3], Some(&[0, 2])), Some(false));
        assert_eq!(overlaps(&[2, 3], Some(&[0, 1])), Some(true));
        assert_eq!(overlaps(&[2, 0], Some(&[1, 1])), None);
        assert_eq!(overlaps(&[2, 2], Some(&[1])), None);
    }

    #[test]
    fn what_grows_too_long_is_told_from_what_makes_no_sense() {
        let strides =
            [1, 88_990_951, 101_262_343, 97_346_693, 82_340_921, 91_099_003, 95_672_491, 100_003_793];
        assert_eq!(overlaps(&[6; 8], Some(&strides)), None);
        assert_eq!(is_unsettled(&[6; 8], Some(&strides)), Some(true));
        assert_eq!(is_unsettled(&[2; 8], Some(&strides)), Some(false));
        assert_eq!(is_unsettled(&[0; 8], Some(&strides)), None);
    }

    #[test]
    fn the_largest_layouts_end() {
        let huge = [i64::from(u32::MAX); 8];
        assert_eq!(overlaps(&huge, Some(&huge)), Some(true));
        assert_eq!(overlaps(&[i64::MAX; 9], Some(&[i64::MAX; 9])), Some(true));
        overlaps(
            &[1000; 8],
            Some(&[999_999_937, 999_999_893, 999_999_883, 999_999_797, 99_999_989, 7, 5, 3]),
        );
    }

    proptest! {
        #[test]
        fn agrees_with_listing_every_offset(axes in prop::collection::vec((1i64..6, 0i64..40), 0..5)) {
            let (sizes, strides): (Vec<_>, Vec<_>) = axes.into_iter().unzip();
            let mut offsets = vec![0];
            for (&size, &stride) in sizes.iter().zip(&strides) {
                offsets = offsets.iter().flat_map(|at| (0..size).map(move |c| at + c * stride)).collect();
            }
            let distinct: HashSet<_> = offsets.iter().collect();
            prop_assert_eq!(overlaps(&sizes, Some(&strides)), Some(distinct.len() < offsets.len()));
        }
    }
}
