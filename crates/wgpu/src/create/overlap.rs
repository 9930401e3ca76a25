//! Checks whether a strided output overlaps itself: whether two elements have the same offset.
//!
//! Two coordinates have the same offset exactly if the sum of `difference * stride` over all axes is 0, with
//! a difference that is not zero on every axis. So the search goes over differences, from the greatest stride
//! down. It leaves a branch as soon as the remaining axes cannot bring the sum back to 0. For nested strides,
//! the search ends at its root.

use dmlcts_backend::Refusal;

use super::invalid;

/// The maximum number of differences that are tried, which takes a few milliseconds.
const MOST_STEPS: u32 = 1 << 20;

/// Refuses an output that overlaps itself. The sizes are positive, and the span of all axes is below 2^32.
pub(super) fn check(sizes: &[i64], strides: &[i64]) -> Result<(), Refusal> {
    let mut axes = [OverlapAxis::default(); 8];
    let mut count = 0;
    for (&size, &stride) in sizes.iter().zip(strides).filter(|(size, _)| **size > 1) {
        axes[count] = OverlapAxis { stride, most: size - 1, below: 0 };
        count += 1;
    }
    let axes = &mut axes[..count];
    axes.sort_unstable_by_key(|axis| axis.stride);
    let mut below = 0;
    for axis in axes.iter_mut() {
        axis.below = below;
        below += axis.most * axis.stride;
    }
    let mut steps = 0;
    match leads_back(axes, 0, true, &mut steps) {
        Some(false) => Ok(()),
        Some(true) => Err(invalid("the output's strides put two elements at one place")),
        None => Err(Refusal::Unsupported(
            "whether the output's strides put two elements at one place takes too long to find out".into(),
        )),
    }
}

/// An axis of more than one element.
#[derive(Clone, Copy, Default)]
struct OverlapAxis {
    stride: i64,
    /// The greatest difference between two coordinates.
    most: i64,
    /// The greatest sum that all axes with smaller strides can reach together.
    below: i64,
}

/// Whether differences on these axes, sorted by ascending stride, can bring the sum from `at` back to 0.
/// `still` is true while all differences so far are 0. In this case one of the remaining differences must not
/// be 0, and the first such difference can be taken as positive. `None` if the search takes too long.
fn leads_back(axes: &[OverlapAxis], at: i64, still: bool, steps: &mut u32) -> Option<bool> {
    let Some((axis, rest)) = axes.split_last() else { return Some(at == 0 && !still) };
    if axis.stride == 0 {
        // All smaller strides are 0, too, so any difference on these axes leaves the sum unchanged.
        return Some(at == 0);
    }
    // |at + difference * stride| <= below.
    let low = (-axis.below - at).div_euclid(axis.stride)
        + i64::from((-axis.below - at).rem_euclid(axis.stride) != 0);
    let high = (axis.below - at).div_euclid(axis.stride);
    let low = low.max(if still { 0 } else { -axis.most });
    for difference in low..=high.min(axis.most) {
        *steps += 1;
        if *steps > MOST_STEPS {
            return None;
        }
        if leads_back(rest, at + difference * axis.stride, still && difference == 0, steps)? {
            return Some(true);
        }
    }
    Some(false)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// The definition: lists the offset of every element.
    fn shares_a_place(sizes: &[i64], strides: &[i64]) -> bool {
        let mut places = vec![0_i64];
        for (&size, &stride) in sizes.iter().zip(strides) {
            places = places.iter().flat_map(|at| (0..size).map(move |c| at + c * stride)).collect();
        }
        places.iter().collect::<HashSet<_>>().len() < places.len()
    }

    #[test]
    fn every_small_output_of_three_axes_is_judged_as_by_counting() {
        let mut overlapping = 0;
        for code in 0..(4 * 4 * 4 * 8 * 8 * 8) {
            let digit =
                |place: u32, base: i64| (code / 4_i64.pow(place.min(3)) / 8_i64.pow(place.max(3) - 3)) % base;
            let sizes = [1 + digit(0, 4), 1 + digit(1, 4), 1 + digit(2, 4)];
            let strides = [digit(3, 8), digit(4, 8), digit(5, 8)];
            let shares = shares_a_place(&sizes, &strides);
            overlapping += u32::from(shares);
            assert_eq!(check(&sizes, &strides).is_err(), shares, "{sizes:?} {strides:?}");
        }
        assert!((10_000..32_000).contains(&overlapping), "{overlapping}");
    }

    #[test]
    fn far_places_and_vast_axes_take_no_longer() {
        // 3 * 40,000,000 = 4 * 30,000,000.
        assert!(check(&[3, 4], &[40_000_000, 30_000_000]).is_ok());
        assert!(check(&[4, 5], &[40_000_000, 30_000_000]).is_err());
        assert!(check(&[70_000, 60_000], &[60_000, 1]).is_ok());
        assert!(check(&[30_000, 30_000], &[60_001, 60_000]).is_ok());
        assert!(check(&[2, 1 << 30], &[0, 1]).is_err());
    }
}
