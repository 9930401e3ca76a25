//! Checks whether a strided output overlaps itself: whether two coordinates share an offset, so that it would
//! be undefined which element remains. Nested strides are decided at once. For all other strides, the offsets
//! of all elements are listed.

use dmlcts_backend::Refusal;

/// The maximum number of elements that are listed.
const MOST_ELEMENTS: i64 = 1 << 22;

/// The maximum range of offsets for a bit map. Offsets of a larger range are sorted.
const MOST_MARKS: i64 = 1 << 26;

/// Whether two coordinates share an offset; a refusal if that takes too long to find out. All values fit 32
/// bits, and so does the span of the strides.
pub(crate) fn overlaps(sizes: &[i64], strides: &[i64]) -> Result<bool, Refusal> {
    let mut axes = [(0, 0); 8];
    let mut count = 0;
    for (&size, &stride) in sizes.iter().zip(strides) {
        // The next axis overwrites an axis of one element.
        if let Some(axis) = axes.get_mut(count) {
            *axis = (stride, size);
        }
        count += usize::from(size > 1);
    }
    let axes = &mut axes[..count];
    axes.sort_unstable();
    let (mut last, mut nested) = (0, true);
    for &(stride, size) in axes.iter() {
        if stride == 0 {
            return Ok(true);
        }
        nested &= stride > last;
        last += (size - 1) * stride;
    }
    // Each stride is greater than the span of all axes with smaller strides, so no two coordinates share an
    // offset.
    if nested {
        return Ok(false);
    }
    let elements = sizes.iter().fold(1, |count: i64, &size| count.saturating_mul(size));
    if elements > last + 1 {
        // There are more elements than offsets.
        return Ok(true);
    }
    if elements > MOST_ELEMENTS {
        return Err(Refusal::Unsupported(
            "whether the output overlaps itself takes too long to find out".into(),
        ));
    }
    Ok(if last < MOST_MARKS { marked_twice(axes, last) } else { listed_twice(axes) })
}

/// Whether an offset occurs twice, by marking each one.
fn marked_twice(axes: &[(i64, i64)], last: i64) -> bool {
    let mut marks = vec![0_u64; last as usize / 64 + 1];
    any_offset(axes, |offset| {
        let (word, bit) = (&mut marks[offset as usize / 64], 1 << (offset % 64));
        let is_marked = *word & bit != 0;
        *word |= bit;
        is_marked
    })
}

/// Whether an offset occurs twice, by sorting all of them.
fn listed_twice(axes: &[(i64, i64)]) -> bool {
    let mut offsets = Vec::new();
    any_offset(axes, |offset| {
        offsets.push(offset as u32);
        false
    });
    offsets.sort_unstable();
    offsets.windows(2).any(|pair| pair[0] == pair[1])
}

/// Whether `holds` is true for the offset of any element. Stops at the first one.
fn any_offset(axes: &[(i64, i64)], mut holds: impl FnMut(i64) -> bool) -> bool {
    let mut coordinates = [0; 8];
    let mut offset = 0;
    loop {
        if holds(offset) {
            return true;
        }
        let mut axis = 0;
        loop {
            let Some(&(stride, size)) = axes.get(axis) else { return false };
            offset += stride;
            coordinates[axis] += 1;
            if coordinates[axis] < size {
                break;
            }
            offset -= size * stride;
            coordinates[axis] = 0;
            axis += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    /// The definition: compares the number of distinct offsets with the number of elements.
    fn counted(sizes: &[i64], strides: &[i64]) -> bool {
        let mut offsets = vec![0];
        for (&size, &stride) in sizes.iter().zip(strides) {
            offsets =
                offsets.iter().flat_map(|&offset| (0..size).map(move |c| offset + c * stride)).collect();
        }
        offsets.iter().collect::<HashSet<_>>().len() < offsets.len()
    }

    /// The answer for strides that can be decided.
    fn are_shared(sizes: &[i64], strides: &[i64]) -> bool {
        overlaps(sizes, strides).expect("it does not take too long")
    }

    #[test]
    fn interleaved_axes_that_never_meet_are_fine() {
        assert!(!are_shared(&[3, 2], &[2, 3]));
        assert!(are_shared(&[4, 3], &[2, 3]));
        assert!(!are_shared(&[1, 2], &[0, 1]));
        assert!(are_shared(&[2, 1], &[0, 1]));
    }

    #[test]
    fn far_offsets_are_sorted() {
        // 3 * 40,000,000 = 4 * 30,000,000.
        assert!(!are_shared(&[3, 4], &[40_000_000, 30_000_000]));
        assert!(are_shared(&[4, 5], &[40_000_000, 30_000_000]));
    }

    #[test]
    fn too_many_elements_are_not_listed() {
        let nested = overlaps(&[70_000, 60_000], &[60_000, 1]);
        assert_eq!(nested.ok(), Some(false));
        let interleaved = overlaps(&[30_000, 30_000], &[60_001, 60_000]);
        assert!(matches!(interleaved, Err(Refusal::Unsupported(_))), "{interleaved:?}");
        // More elements than offsets need no list.
        let crowded = overlaps(&[30_000, 30_000], &[2, 1]);
        assert_eq!(crowded.ok(), Some(true));
    }

    #[test]
    fn the_most_elements_are_listed() {
        // 4,096 a = 4,097 b has no solution with 0 < b < 2,048.
        assert!(!are_shared(&[2048, 2048], &[4097, 4096]));
    }

    proptest! {
        #[test]
        fn listing_finds_what_counting_finds(axes in prop::collection::vec((1..5i64, 0..30i64), 1..6)) {
            let (sizes, strides): (Vec<_>, Vec<_>) = axes.into_iter().unzip();
            prop_assert_eq!(are_shared(&sizes, &strides), counted(&sizes, &strides));
            // For offsets of a large range, which are sorted.
            let far: Vec<i64> = strides.iter().map(|stride| stride * 5_000_000).collect();
            prop_assert_eq!(are_shared(&sizes, &far), counted(&sizes, &far));
        }
    }
}
