//! Whether a strided output overlaps itself: whether two coordinates share an offset, so that nothing would
//! say which element stays. Two coordinates that do differ by a nonzero vector `d`, with `|d| < size` on each
//! axis, for which `Σ d·stride = 0`; this searches for one.

use std::cmp::Reverse;

use dmlcts_backend::Refusal;

use crate::invalid;

/// The steps after which the search gives up. Strides that anyone would use are settled before it begins.
const PATIENCE: u32 = 1 << 20;

/// An axis of more than one element.
#[derive(Clone, Copy, Default)]
struct Axis {
    stride: i64,
    /// How far apart two coordinates can be: the size less one.
    most: i64,
    /// How far all axes of smaller strides reach together, in elements.
    reach_below: i64,
    /// The greatest common divisor of all smaller strides.
    divisor_below: i64,
}

/// Refuses strides with which two coordinates share an offset. All values fit 32 bits, as does what the
/// strides span.
pub(crate) fn refuse(sizes: &[i64], strides: &[i64]) -> Result<(), Refusal> {
    const OVERLAPS: &str = "the output's strides make it overlap itself";
    let mut axes = [Axis::default(); 8];
    let mut count = 0;
    for (&size, &stride) in sizes.iter().zip(strides) {
        if size > 1 {
            axes[count] = Axis { stride, most: size - 1, ..Axis::default() };
            count += 1;
        }
    }
    let axes = &mut axes[..count];
    axes.sort_unstable_by_key(|axis| Reverse(axis.stride));

    let (mut reach, mut divisor, mut nested) = (0, 0, true);
    for axis in axes.iter_mut().rev() {
        if axis.stride == 0 {
            return Err(invalid(OVERLAPS));
        }
        (axis.reach_below, axis.divisor_below) = (reach, divisor);
        nested &= axis.stride > reach;
        reach += axis.most * axis.stride;
        divisor = greatest_common_divisor(divisor, axis.stride);
    }
    // Each axis steps over all that the smaller ones reach: nothing can meet.
    if nested {
        return Ok(());
    }
    let elements: i64 = sizes.iter().product();
    if elements > reach / divisor + 1 {
        // More elements than places.
        return Err(invalid(OVERLAPS));
    }
    let mut patience = PATIENCE;
    match meets(axes, 0, true, &mut patience) {
        _ if patience == 0 => {
            Err(Refusal::Unsupported("whether the output overlaps itself takes too long to find out".into()))
        }
        true => Err(invalid(OVERLAPS)),
        false => Ok(()),
    }
}

/// Whether some choice of `d` on these axes, the greatest stride first, makes up for `rest`. While all of `d`
/// is zero so far, its first other value may be taken as positive, since `-d` serves as well.
fn meets(axes: &[Axis], rest: i64, all_zero: bool, patience: &mut u32) -> bool {
    let Some((outer, inner)) = axes.split_first() else { return rest == 0 && !all_zero };
    // d·stride must come within reach of -rest.
    let lowest = (-rest - outer.reach_below).div_euclid(outer.stride);
    let highest = (outer.reach_below - rest).div_euclid(outer.stride);
    let lowest = if all_zero { 0 } else { lowest.max(-outer.most) };
    for d in lowest..=highest.min(outer.most) {
        if *patience == 0 {
            return false;
        }
        *patience -= 1;
        let rest = rest + d * outer.stride;
        let divides = if outer.divisor_below == 0 { rest == 0 } else { rest % outer.divisor_below == 0 };
        if divides && meets(inner, rest, all_zero && d == 0, patience) {
            return true;
        }
    }
    false
}

fn greatest_common_divisor(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    /// The definition, by counting offsets.
    fn overlaps(sizes: &[i64], strides: &[i64]) -> bool {
        let mut offsets = vec![0];
        for (&size, &stride) in sizes.iter().zip(strides) {
            offsets =
                offsets.iter().flat_map(|&offset| (0..size).map(move |c| offset + c * stride)).collect();
        }
        offsets.iter().collect::<HashSet<_>>().len() < offsets.len()
    }

    #[test]
    fn interleaved_axes_that_never_meet_are_fine() {
        assert!(refuse(&[3, 2], &[2, 3]).is_ok());
        assert!(refuse(&[4, 3], &[2, 3]).is_err());
        assert!(refuse(&[1, 2], &[0, 1]).is_ok());
        assert!(refuse(&[2, 1], &[0, 1]).is_err());
    }

    #[test]
    fn hard_questions_end() {
        let sizes = [12; 8];
        let strides = [35_000_001, 35_000_113, 35_000_227, 35_000_351, 35_000_467, 35_000_593, 35_000_719, 3];
        // Whatever it says, it says it soon.
        let _ = refuse(&sizes, &strides);
    }

    proptest! {
        #[test]
        fn the_search_finds_what_counting_finds(axes in prop::collection::vec((1..5i64, 0..30i64), 1..6)) {
            let (sizes, strides): (Vec<_>, Vec<_>) = axes.into_iter().unzip();
            prop_assert_eq!(refuse(&sizes, &strides).is_err(), overlaps(&sizes, &strides));
        }
    }
}
