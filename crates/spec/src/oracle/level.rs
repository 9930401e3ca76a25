//! Turns axes into loops. Axes of size 1 are dropped, and the others are ordered as the output's memory is.
//! Neighbouring axes that are contiguous on both sides become one loop. The resulting levels count in
//! elements of memory rather than in coordinates.

use std::sync::Arc;

use smallvec::SmallVec;

use super::{
    layout::Axis,
    map::{AxisMap, Line, Run, Runs, push_run},
};

/// The offsets that the rounds of a level read, in elements relative to the level's first read.
#[derive(Clone, Debug)]
pub(crate) enum LevelMap {
    /// Like [`AxisMap::Runs`], with offsets instead of coordinates.
    Runs(Runs),
    /// Like [`AxisMap::Table`]. The offset is the table's coordinate times this stride.
    Table(Arc<[u32]>, usize),
}

impl LevelMap {
    /// The run, if a single one covers the level.
    pub(crate) fn single(&self, size: usize) -> Option<Run> {
        match self {
            Self::Runs(runs) if runs.len() == 1 && runs[0].length >= size as u64 => Some(runs[0]),
            _ => None,
        }
    }
}

/// One loop.
#[derive(Clone, Debug)]
pub(crate) struct Level {
    /// The number of rounds; at least two.
    pub(crate) size: usize,
    /// The distance between rounds in the output, in elements.
    pub(crate) output_stride: usize,
    /// The offset that each round reads.
    pub(crate) map: LevelMap,
}

/// The loops of a plan, outermost first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Levels {
    /// The loops; empty if the output is a single element.
    pub(crate) loops: SmallVec<[Level; 8]>,
    /// The offset of the first read, in elements; `None` if no element reads the input.
    pub(crate) base: Option<usize>,
}

impl Levels {
    /// Arranges the loops over these axes.
    pub(crate) fn arrange(axes: &[Axis], maps: &[AxisMap]) -> Self {
        let mut base = Some(0_usize);
        let mut order: SmallVec<[(&Axis, &AxisMap); 8]> = SmallVec::new();
        for (axis, map) in axes.iter().zip(maps) {
            if map.extremes(axis.size).is_none() {
                base = None;
            }
            if axis.size > 1 {
                order.push((axis, map));
            } else if let (Some(base), Some(read)) = (&mut base, map.at(0)) {
                *base = base.wrapping_add((read as usize).wrapping_mul(axis.input_stride as usize));
            }
        }
        order.sort_by_key(|(axis, _)| std::cmp::Reverse(axis.output_stride));
        let mut loops: SmallVec<[Level; 8]> = SmallVec::new();
        for (axis, map) in order {
            let map = if base.is_some() { scaled(axis, map) } else { nothing(axis.size) };
            let level = Level { size: axis.size as usize, output_stride: axis.output_stride as usize, map };
            match loops.last_mut() {
                Some(outer) if let Some(joined) = joined(outer, &level) => *outer = joined,
                _ => loops.push(level),
            }
        }
        Self { loops, base }
    }
}

fn nothing(size: u64) -> LevelMap {
    LevelMap::Runs(Runs::from_slice(&[Run { length: size, line: None }]))
}

/// Converts an axis map to elements of the input.
fn scaled(axis: &Axis, map: &AxisMap) -> LevelMap {
    let stride = axis.input_stride as i64;
    match map {
        AxisMap::Table(table) => LevelMap::Table(Arc::clone(table), axis.input_stride as usize),
        AxisMap::Runs(runs) => {
            let mut scaled = Runs::new();
            let mut left = axis.size;
            for run in runs {
                let length = run.length.min(left);
                left -= length;
                let line = run.line.map(|line| Line {
                    start: line.start.wrapping_mul(stride),
                    step: if length > 1 { line.step.wrapping_mul(stride) } else { 0 },
                });
                if length > 0 {
                    push_run(&mut scaled, Run { length, line });
                }
            }
            LevelMap::Runs(scaled)
        }
    }
}

/// Joins two levels into one loop. This is possible if the outer level continues where the inner one ends,
/// both in the output and in the outer level's reads.
fn joined(outer: &Level, inner: &Level) -> Option<Level> {
    if outer.output_stride != inner.output_stride.checked_mul(inner.size)? {
        return None;
    }
    let LevelMap::Runs(outer_runs) = &outer.map else { return None };
    let size = inner.size as u64;
    let inner_line = inner.map.single(inner.size)?.line;
    let mut runs = Runs::new();
    for run in outer_runs {
        let line = match (run.line, inner_line) {
            (None, _) => None,
            (Some(_), None) => return None,
            (Some(line), Some(inner)) => {
                let goes_on = inner.step.checked_mul(size as i64)? == line.step;
                if run.length > 1 && !goes_on {
                    return None;
                }
                Some(Line { start: line.start.wrapping_add(inner.start), step: inner.step })
            }
        };
        push_run(&mut runs, Run { length: run.length.checked_mul(size)?, line });
    }
    Some(Level {
        size: outer.size.checked_mul(inner.size)?,
        output_stride: inner.output_stride,
        map: LevelMap::Runs(runs),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(
        size: u64,
        output_stride: u64,
        input_stride: u64,
        runs: &[(u64, Option<(i64, i64)>)],
    ) -> (Axis, AxisMap) {
        let runs = runs
            .iter()
            .map(|&(length, line)| Run { length, line: line.map(|(start, step)| Line { start, step }) })
            .collect();
        (Axis { size, input_size: 1 << 20, output_stride, input_stride }, AxisMap::Runs(runs))
    }

    fn arrange(axes: &[(Axis, AxisMap)]) -> Levels {
        let (axes, maps): (Vec<_>, Vec<_>) = axes.iter().cloned().unzip();
        Levels::arrange(&axes, &maps)
    }

    fn shape(axes: &[(Axis, AxisMap)]) -> Vec<(usize, usize)> {
        let levels = arrange(axes);
        levels.loops.iter().map(|level| (level.size, level.output_stride)).collect()
    }

    #[test]
    fn a_copy_of_any_rank_is_one_loop() {
        let identity = |size, stride| axis(size, stride, stride, &[(size, Some((0, 1)))]);
        assert_eq!(shape(&[identity(3, 40), identity(4, 10), identity(1, 10), identity(10, 1)]), [(120, 1)]);
    }

    #[test]
    fn whole_rows_join_the_rows_that_are_padded() {
        let rows = axis(6, 4, 4, &[(1, None), (4, Some((0, 1))), (1, None)]);
        let levels = arrange(&[rows, axis(4, 1, 1, &[(4, Some((0, 1)))])]);
        assert_eq!(levels.loops.len(), 1);
        let LevelMap::Runs(runs) = &levels.loops[0].map else { panic!("not runs") };
        assert_eq!(runs.iter().map(|run| run.length).collect::<Vec<_>>(), [4, 16, 4]);
    }

    #[test]
    fn windows_and_holes_stay_apart() {
        let rows = axis(4, 4, 8, &[(4, Some((0, 1)))]);
        assert_eq!(shape(&[rows, axis(4, 1, 1, &[(4, Some((0, 1)))])]), [(4, 4), (4, 1)]);
        let rows = axis(4, 5, 4, &[(4, Some((0, 1)))]);
        assert_eq!(shape(&[rows, axis(4, 1, 1, &[(4, Some((0, 1)))])]), [(4, 5), (4, 1)]);
    }

    #[test]
    fn an_axis_of_nothing_but_fill_is_nothing_everywhere() {
        let nothing = axis(2, 8, 8, &[(2, None)]);
        let levels = arrange(&[nothing, axis(8, 1, 1, &[(3, Some((0, 1))), (5, Some((3, 1)))])]);
        assert_eq!(levels.base, None);
        assert_eq!(levels.loops.len(), 1);
    }
}
