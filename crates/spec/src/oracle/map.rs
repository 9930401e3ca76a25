//! The axis map: the input coordinate that each output coordinate of one axis reads.
//!
//! A long axis is a list of runs, each on a line, with a period after which they repeat. A map of 2^32-1
//! coordinates therefore takes a few words. A map with too many runs is a table.

use std::sync::Arc;

use smallvec::SmallVec;

/// The table entry for fill. It differs from every input coordinate, since a size is a `u32`.
pub(crate) const FILL: u32 = u32::MAX;

/// Equally spaced input coordinates: `start`, `start + step` and so on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Line {
    /// The first coordinate.
    pub(crate) start: i64,
    /// The distance to the next one; 0 repeats the same coordinate.
    pub(crate) step: i64,
}

impl Line {
    /// The coordinate at this index. It wraps around only if the tensor exceeds any memory. The bounds of a
    /// plan are checked with [`Line::extremes`], which does not wrap.
    pub(crate) fn at(self, index: u64) -> i64 {
        self.start.wrapping_add(self.step.wrapping_mul(index as i64))
    }

    /// The least and the greatest of the first `length` coordinates; `length` is at least one.
    pub(crate) fn extremes(self, length: u64) -> (i128, i128) {
        let first = i128::from(self.start);
        let last = first + i128::from(self.step) * (i128::from(length) - 1);
        (first.min(last), first.max(last))
    }
}

/// Consecutive output coordinates that read a line of input coordinates, or fill.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Run {
    /// The number of output coordinates; at least one.
    pub(crate) length: u64,
    /// The input coordinates; `None` is fill.
    pub(crate) line: Option<Line>,
}

/// The inline capacity is large enough that most maps need no allocation.
pub(crate) type Runs = SmallVec<[Run; 4]>;

/// Adds a run. Joins it with the last one if both are on the same line.
pub(crate) fn push_run(runs: &mut Runs, run: Run) {
    let Some(last) = runs.last_mut() else { return runs.push(run) };
    match (&mut last.line, run.line) {
        (None, None) => last.length += run.length,
        (Some(line), Some(next)) => {
            // A run of one coordinate is on any line through it.
            let step = if last.length > 1 { line.step } else { next.start.wrapping_sub(line.start) };
            let follows = line.start.wrapping_add(step.wrapping_mul(last.length as i64)) == next.start;
            if follows && (run.length == 1 || next.step == step) {
                line.step = step;
                last.length += run.length;
            } else {
                runs.push(run);
            }
        }
        _ => runs.push(run),
    }
}

/// The map of one axis.
#[derive(Clone, Debug)]
pub(crate) enum AxisMap {
    /// Runs in the order of the output coordinates. If they cover fewer coordinates than the axis has, they
    /// repeat.
    Runs(Runs),
    /// An input coordinate or [`FILL`] for each output coordinate.
    Table(Arc<[u32]>),
}

impl AxisMap {
    /// The input coordinate that an output coordinate reads; `None` is fill.
    pub(crate) fn at(&self, coordinate: u64) -> Option<i64> {
        match self {
            Self::Table(table) => {
                table.get(coordinate as usize).filter(|&&read| read != FILL).map(|&read| i64::from(read))
            }
            Self::Runs(runs) => {
                let mut rest = coordinate % covered(runs).max(1);
                for run in runs {
                    if rest < run.length {
                        return run.line.map(|line| line.at(rest));
                    }
                    rest -= run.length;
                }
                None
            }
        }
    }

    /// Whether an output coordinate reads no input coordinate.
    pub(crate) fn has_fill(&self) -> bool {
        match self {
            Self::Table(table) => table.contains(&FILL),
            Self::Runs(runs) => runs.iter().any(|run| run.line.is_none()),
        }
    }

    /// The least and the greatest input coordinate that the axis reads; `None` if all of them are fill.
    pub(crate) fn extremes(&self, length: u64) -> Option<(i128, i128)> {
        let join = |a: Option<(i128, i128)>, b: (i128, i128)| {
            Some(a.map_or(b, |(low, high): (i128, i128)| (low.min(b.0), high.max(b.1))))
        };
        match self {
            Self::Table(table) => table
                .iter()
                .filter(|&&read| read != FILL)
                .fold(None, |range, &read| join(range, (read.into(), read.into()))),
            Self::Runs(runs) => {
                let mut range = None;
                let mut rest = length;
                for run in runs {
                    let taken = run.length.min(rest);
                    rest -= taken;
                    if let (Some(line), true) = (run.line, taken > 0) {
                        range = join(range, line.extremes(taken));
                    }
                }
                range
            }
        }
    }
}

/// The number of coordinates that the runs cover before they repeat.
pub(crate) fn covered(runs: &[Run]) -> u64 {
    runs.iter().map(|run| run.length).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use smallvec::smallvec;

    fn run(length: u64, start: i64, step: i64) -> Run {
        Run { length, line: Some(Line { start, step }) }
    }

    #[test]
    fn runs_on_one_line_are_joined() {
        let mut runs = Runs::new();
        for part in [run(1, 3, 0), run(1, 2, 7), run(2, 1, -1), run(1, 5, 0), run(3, 5, 0)] {
            push_run(&mut runs, part);
        }
        assert_eq!(runs.as_slice(), [run(4, 3, -1), run(4, 5, 0)]);
    }

    #[test]
    fn runs_start_again_after_their_end() {
        let map = AxisMap::Runs(smallvec![run(2, 0, 1), Run { length: 1, line: None }]);
        let reads: Vec<_> = (0..7).map(|c| map.at(c)).collect();
        assert_eq!(reads, [Some(0), Some(1), None, Some(0), Some(1), None, Some(0)]);
        assert_eq!(map.extremes(7), Some((0, 1)));
        assert_eq!(map.extremes(1), Some((0, 0)));
    }

    #[test]
    fn tables_skip_their_fill() {
        let map = AxisMap::Table([FILL, 7, 2].as_slice().into());
        assert_eq!((map.at(0), map.at(1)), (None, Some(7)));
        assert_eq!(map.extremes(3), Some((2, 7)));
        assert_eq!(AxisMap::Table([FILL].as_slice().into()).extremes(1), None);
    }
}
