//! Mixed-radix numbers. They map a list of choices to a number below the number of combinations, and back. A
//! product of billions of cases is thus addressable without listing it.

/// Decomposes a number into digits, the least significant first.
#[derive(Clone, Copy, Debug)]
pub struct Digits {
    rest: u128,
}

impl Digits {
    /// The digits of this number.
    #[inline]
    pub fn new(number: u128) -> Self {
        Self { rest: number }
    }

    /// The next digit, which is below `radix`; 0 for a radix of 0.
    ///
    /// Divides in 64 bits if the number fits: a 128-bit division takes ten times as long, and this is the
    /// inner loop of listing a suite.
    #[inline]
    pub fn take(&mut self, radix: u64) -> u64 {
        if radix == 0 {
            return 0;
        }
        if let Ok(rest) = u64::try_from(self.rest) {
            self.rest = u128::from(rest / radix);
            rest % radix
        } else {
            let digit = self.rest % u128::from(radix);
            self.rest /= u128::from(radix);
            digit as u64
        }
    }
}

/// Finds the part that contains `place`, and the index within the part. `ends` are the cumulative lengths of
/// the parts. `None` past the last part.
#[inline]
pub fn locate(ends: &[u128], place: u128) -> Option<(usize, u128)> {
    let part = ends.partition_point(|&end| end <= place);
    if part == ends.len() {
        return None;
    }
    let start = if part == 0 { 0 } else { ends[part - 1] };
    Some((part, place - start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn taking_apart_and_putting_together_are_inverse(
            digits in prop::collection::vec((any::<u32>(), 1_u64..1 << 32), 0..4)
        ) {
            let digits: Vec<_> = digits.into_iter().map(|(d, radix)| (u64::from(d) % radix, radix)).collect();
            let number = digits.iter().rev().fold(0_u128, |number, &(d, radix)| number * u128::from(radix) + u128::from(d));
            let mut taken = Digits::new(number);
            for &(digit, radix) in &digits {
                prop_assert_eq!(taken.take(radix), digit);
            }
            prop_assert_eq!(taken.rest, 0);
        }
    }

    #[test]
    fn a_place_is_found_in_its_part() {
        let ends = [2, 2, 5];
        assert_eq!(locate(&ends, 0), Some((0, 0)));
        assert_eq!(locate(&ends, 2), Some((2, 0)), "an empty part holds nothing");
        assert_eq!(locate(&ends, 4), Some((2, 2)));
        assert_eq!(locate(&ends, 5), None);
    }
}
