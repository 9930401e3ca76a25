//! PADDING1 (page: ns-directml-dml_padding1_operator_desc).
//!
//! With `at = c - StartPadding` and `n` the input's size, an output coordinate reads, on each axis:
//!
//! | mode | reads |
//! |---|---|
//! | CONSTANT | `at`, or the padding value where `at` is outside of the input |
//! | EDGE | `at`, or the nearest edge |
//! | REFLECTION | `at`, folded at the middle of the edge elements, which are not repeated |
//! | SYMMETRIC | `at`, folded beyond the edge elements, which are repeated |
//! | WRAP | `at`, with the input repeated (in the header, but not on the page) |

use dmlcts_backend::Refusal;
use dmlcts_model::{Desc, Value};

use crate::support::{EVERY, SupportRow};
use crate::tensor::{Pair, pair, uints};
use crate::walk::{Map, Run, RunSource, Walk};
use crate::{Checks, Operator, Plan, invalid};

/// Page: Tensor support.
const SUPPORT: &[SupportRow] = &[SupportRow { since: 0x5000, dimensions: 1..=8, types: EVERY }];

/// `DML_PADDING_MODE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Constant,
    Edge,
    Reflection,
    Symmetric,
    Wrap,
}

/// One axis of PADDING1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Padded {
    mode: Mode,
    start_padding: u32,
    /// The input's size.
    n: u32,
}

/// A desc that passed the checks.
pub(crate) struct Checked<'a> {
    pair: Pair<'a>,
    mode: Mode,
    start: &'a [i64],
    value: &'a [u8; 8],
}

/// Validates the desc.
#[inline]
pub(crate) fn check<'a>(desc: &'a Desc, checks: Checks<'_>) -> Result<Checked<'a>, Refusal> {
    let pair = pair(desc, checks, SUPPORT)?;
    // In the order of the struct.
    let [
        Value::Integer(mode),
        Value::Integer(value_data_type),
        Value::Scalar(value),
        Value::Integer(count),
        Value::List(start_padding),
        Value::List(end_padding),
    ] = desc.members.as_slice()
    else {
        return Err(invalid("the desc has not the members of PADDING1"));
    };
    let mode = match mode {
        0 => Mode::Constant,
        1 => Mode::Edge,
        2 => Mode::Reflection,
        3 => Mode::Symmetric,
        // DirectML.h: since DML_FEATURE_LEVEL_6_4.
        4 if checks.level.code() >= 0x6400 => Mode::Wrap,
        _ => {
            checks.refuse("PaddingMode is no mode of this feature level")?;
            Mode::Wrap
        }
    };
    // This applies in every mode: modes other than CONSTANT ignore the value, but not its type.
    if *value_data_type != i64::from(pair.data_type.0) {
        checks.refuse("PaddingValueDataType is not that of the tensors")?;
    }
    pair.check_count(*count, checks)?;
    let start = uints(start_padding.as_ref(), pair.rank).map_err(|fault| fault.refusal("StartPadding"))?;
    let end = uints(end_padding.as_ref(), pair.rank).map_err(|fault| fault.refusal("EndPadding"))?;
    for axis in 0..pair.rank {
        // The sum of three 32-bit numbers in 64 bits cannot overflow.
        if pair.output.sizes[axis] != pair.input.sizes[axis] + start[axis] + end[axis] {
            checks.refuse("OutputTensor.Sizes is not the input's with both paddings")?;
        }
    }
    Ok(Checked { pair, mode, start, value })
}

/// Plans the copy.
#[inline]
pub(crate) fn create(Checked { pair, mode, start, value }: Checked<'_>) -> Operator {
    let padded =
        |axis: usize| Padded { mode, start_padding: start[axis] as u32, n: pair.input.sizes[axis] as u32 };
    Operator::new(Plan::Padding(Walk::new(&pair, padded), *value), &pair)
}

impl Map for Padded {
    fn run(&self, c: i64) -> Run {
        let n = i64::from(self.n);
        let at = c - i64::from(self.start_padding);
        let run = |first, step, length| Run { source: RunSource::Input { first, step }, length };
        if (0..n).contains(&at) {
            // Inside the input, every mode copies it.
            return run(at, 1, n - at);
        }
        // The number of coordinates that are left on this side.
        let left = if at < 0 { -at } else { i64::MAX };
        match self.mode {
            Mode::Constant => Run { source: RunSource::Fill, length: left },
            Mode::Edge => run(at.clamp(0, n - 1), 0, left),
            // The page leaves this open: the fold of a single element has a period of 0. The element repeats.
            Mode::Reflection if n == 1 => run(0, 0, left),
            Mode::Reflection => {
                // Back and forth, with each edge once: 0 1 2 3 2 1 | 0 1 2 3 2 1.
                let period = 2 * (n - 1);
                let place = at.rem_euclid(period);
                if place < n - 1 {
                    run(place, 1, n - 1 - place)
                } else {
                    run(period - place, -1, period - place)
                }
            }
            Mode::Symmetric => {
                // Back and forth, with each edge twice: 0 1 2 3 3 2 1 0 | 0 1 2 3 3 2 1 0.
                let period = 2 * n;
                let place = at.rem_euclid(period);
                if place < n { run(place, 1, n - place) } else { run(period - 1 - place, -1, period - place) }
            }
            Mode::Wrap => {
                let place = at.rem_euclid(n);
                run(place, 1, n - place)
            }
        }
    }

    /// If the output has a single element, the input has one, too, and there is no padding.
    #[inline]
    fn single(&self) -> i64 {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The input coordinates that an axis reads, one for each output coordinate.
    fn expand(axis: &Padded, size: i64) -> Vec<Option<i64>> {
        let mut reads = Vec::new();
        while (reads.len() as i64) < size {
            let run = axis.run(reads.len() as i64);
            assert!(run.length >= 1);
            for k in 0..run.length.min(size - reads.len() as i64) {
                reads.push(match run.source {
                    RunSource::Input { first, step } => Some(first + step * k),
                    RunSource::Fill => None,
                });
            }
        }
        reads
    }

    /// The rules of the page, step by step: start with the input, and add the folded, repeated or filled
    /// elements on both sides.
    fn by_hand(mode: Mode, n: i64, start: i64, end: i64) -> Vec<Option<i64>> {
        let beyond = |step: i64| {
            // Walks away from the input, starting at the edge element on that side.
            let (mut place, mut step) = (if step < 0 { 0 } else { n - 1 }, step);
            std::iter::from_fn(move || {
                let next = place + step;
                let outside = !(0..n).contains(&next);
                match mode {
                    Mode::Constant => return Some(None),
                    Mode::Edge => {}
                    Mode::Reflection if n == 1 => {}
                    Mode::Reflection if outside => {
                        step = -step;
                        place += step;
                    }
                    Mode::Symmetric if outside => step = -step,
                    Mode::Wrap if outside => place = if step < 0 { n - 1 } else { 0 },
                    _ => place = next,
                }
                Some(Some(place))
            })
        };
        // The walk itself turns at its first step beyond an edge.
        let before: Vec<_> = beyond(-1).take(start as usize).collect();
        let after = beyond(1).take(end as usize);
        before.into_iter().rev().chain((0..n).map(Some)).chain(after).collect()
    }

    #[test]
    fn every_mode_reads_what_folding_by_hand_gives() {
        for mode in [Mode::Constant, Mode::Edge, Mode::Reflection, Mode::Symmetric, Mode::Wrap] {
            for n in 1..=5 {
                for start in 0..=12 {
                    for end in 0..=12 {
                        let axis = Padded { mode, start_padding: start as u32, n: n as u32 };
                        let reads = expand(&axis, start + n + end);
                        assert_eq!(reads, by_hand(mode, n, start, end), "{mode:?} {n} {start} {end}");
                    }
                }
            }
        }
    }

    #[test]
    fn vast_paddings_fold_without_overflow() {
        for mode in [Mode::Constant, Mode::Edge, Mode::Reflection, Mode::Symmetric, Mode::Wrap] {
            let axis = Padded { mode, start_padding: u32::MAX, n: u32::MAX };
            for c in [0, 1, i64::from(u32::MAX), 3 * i64::from(u32::MAX) - 1] {
                assert!(axis.run(c).length >= 1);
            }
        }
    }
}
