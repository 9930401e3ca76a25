//! A movement of elements: the loops, the proof that they stay inside both memories, and the fill. It works
//! on axes, strides and bytes, and does not know descs.

use super::{
    OracleError,
    gather::{Element, Gather},
    layout::Axis,
    level::Levels,
    map::AxisMap,
};

/// The number of elements that a movement needs in each memory; `u64::MAX` if it does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reach {
    pub(super) input: u64,
    pub(super) output: u64,
}

impl Reach {
    /// The reach before any axis is added: one element on both sides.
    pub(super) const START: Self = Self { input: 1, output: 1 };

    /// Adds an axis. `greatest` is the greatest input coordinate that the axis reads; `None` if it reads
    /// none, so that the whole movement reads nothing.
    pub(super) fn with(self, axis: &Axis, greatest: Option<u64>) -> Self {
        let written = (axis.size.max(1) - 1).saturating_mul(axis.output_stride);
        let input = match greatest {
            Some(greatest) if self.input > 0 => {
                self.input.saturating_add(greatest.saturating_mul(axis.input_stride))
            }
            _ => 0,
        };
        Self { input, output: self.output.saturating_add(written) }
    }

    /// Checks that memories of these lengths in bytes contain every element that the movement accesses.
    pub(super) fn check(self, size: usize, input: usize, output: usize) -> Result<(), OracleError> {
        let needed = self.input.saturating_mul(size as u64);
        if needed > input as u64 || self.input == u64::MAX {
            return Err(OracleError::ShortInput { needed, given: input as u64 });
        }
        let needed = self.output.saturating_mul(size as u64);
        if needed > output as u64 || self.output == u64::MAX {
            return Err(OracleError::ShortOutput { needed, given: output as u64 });
        }
        Ok(())
    }
}

/// Loops that are ready to execute.
#[derive(Debug)]
pub(super) struct Movement {
    levels: Levels,
    reach: Reach,
}

impl Movement {
    /// Prepares the loops over these axes and their maps.
    pub(super) fn new(axes: &[Axis], maps: &[AxisMap]) -> Self {
        let reach = axes.iter().zip(maps).fold(Reach::START, |reach, (axis, map)| {
            let greatest = map.extremes(axis.size).map(|(_, greatest)| greatest);
            reach.with(axis, greatest.map(|greatest| u64::try_from(greatest).unwrap_or(u64::MAX)))
        });
        let levels = Levels::arrange(axes, maps);
        Self { levels, reach }
    }

    /// Writes every element of the output.
    pub(super) fn execute(
        &self,
        element_size: usize,
        input: &[u8],
        output: &mut [u8],
        fill: [u8; 8],
    ) -> Result<(), OracleError> {
        self.reach.check(element_size, input.len(), output.len())?;
        match element_size {
            1 => self.execute_as::<1>(input, output, fill),
            2 => self.execute_as::<2>(input, output, fill),
            4 => self.execute_as::<4>(input, output, fill),
            8 => self.execute_as::<8>(input, output, fill),
            _ => return Err(OracleError::NotExecutable("its elements are not 1, 2, 4 or 8 bytes long")),
        }
        Ok(())
    }

    fn execute_as<const N: usize>(&self, input: &[u8], output: &mut [u8], fill: [u8; 8]) {
        let (input, _): (&[Element<N>], _) = input.as_chunks();
        let (output, _): (&mut [Element<N>], _) = output.as_chunks_mut();
        let mut low = [0; N];
        low.copy_from_slice(&fill[..N]);
        let gather = Gather { loops: &self.levels.loops, input, fill: low };
        match self.levels.base {
            Some(base) => gather.run(0, output, base),
            None => gather.fill(0, output),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::map::{FILL, Line, Run, Runs};
    use proptest::prelude::*;
    use smallvec::smallvec;

    /// A map with one entry per coordinate; `None` is fill.
    type Reads = Vec<Option<u32>>;

    fn any_line(size: u32, longest: u64) -> impl Strategy<Value = (u64, Option<Line>)> {
        (1..=longest, 0..i64::from(size), -3..=3_i64).prop_map(move |(length, start, step)| {
            let room = match step {
                0 => u64::MAX,
                1.. => (i64::from(size) - 1 - start) as u64 / step as u64,
                _ => start as u64 / step.unsigned_abs(),
            };
            (length.min(room.saturating_add(1)), Some(Line { start, step }))
        })
    }

    fn any_map(size: u32) -> impl Strategy<Value = (AxisMap, Reads)> {
        let run = prop_oneof![
            6 => any_line(size, 40).boxed(),
            1 => (1..6_u64).prop_map(|length| (length, None)).boxed(),
        ];
        let runs = (prop::collection::vec(run, 1..4), 1..4_u64, any::<bool>(), any::<u64>());
        runs.prop_map(|(parts, repeats, as_table, cut)| {
            let runs: Runs = parts.iter().map(|&(length, line)| Run { length, line }).collect();
            let once: u64 = runs.iter().map(|run| run.length).sum();
            let length = 1 + cut % (once * repeats);
            let map = AxisMap::Runs(runs);
            let reads: Reads = (0..length).map(|c| map.at(c).map(|read| read as u32)).collect();
            if as_table && length < 40 {
                let table: Vec<u32> = reads.iter().map(|read| read.unwrap_or(FILL)).collect();
                return (AxisMap::Table(table.into()), reads);
            }
            (map, reads)
        })
    }

    #[derive(Debug, Clone)]
    struct Problem {
        axes: Vec<Axis>,
        maps: Vec<AxisMap>,
        reads: Vec<Reads>,
    }

    /// Any maps with any strides: output axes in any order in memory, with and without holes.
    fn any_problem() -> impl Strategy<Value = Problem> {
        let any_axis = (1..30_u32).prop_flat_map(|size| (Just(size), any_map(size), 0..4_u64));
        let order = Just([0_usize, 1, 2, 3]).prop_shuffle();
        (prop::collection::vec(any_axis, 1..=4), order, prop::collection::vec(0..3_u64, 4), any::<bool>())
            .prop_filter("a test of a moderate size", |(axes, ..)| {
                axes.iter().map(|(_, (_, reads), _)| reads.len()).product::<usize>() < 200_000
            })
            .prop_map(|(parts, order, holes, packed)| {
                let mut axes: Vec<Axis> = parts
                    .iter()
                    .map(|(size, (_, reads), _)| Axis {
                        size: reads.len() as u64,
                        input_size: (*size).into(),
                        output_stride: 0,
                        input_stride: 0,
                    })
                    .collect();
                let (mut written, mut read) = (1, 1);
                for (&axis, hole) in order.iter().zip(holes) {
                    let Some(part) = axes.get_mut(axis) else { continue };
                    written += if packed { 0 } else { hole };
                    part.output_stride = written;
                    written *= part.size;
                }
                for (axis, (size, _, kind)) in axes.iter_mut().zip(&parts).rev() {
                    axis.input_stride = match kind {
                        0 => 0,
                        kind => read + kind - 1,
                    };
                    read *= u64::from(*size) + kind;
                }
                let (maps, reads) = parts.into_iter().map(|(_, map, _)| map).unzip();
                Problem { axes, maps, reads }
            })
    }

    /// The same movement, element by element.
    fn naive(problem: &Problem, size: usize, input: &[u8], output: &mut [u8], fill: [u8; 8]) {
        let count: usize = problem.reads.iter().map(Vec::len).product();
        for mut place in 0..count {
            let (mut to, mut from) = (0, Some(0));
            for (axis, reads) in problem.axes.iter().zip(&problem.reads).rev() {
                let coordinate = place % reads.len();
                place /= reads.len();
                to += coordinate * axis.output_stride as usize;
                from = from
                    .zip(reads[coordinate])
                    .map(|(sum, read)| sum + read as usize * axis.input_stride as usize);
            }
            let element = from.map_or(&fill[..size], |from| &input[from * size..][..size]);
            output[to * size..][..size].copy_from_slice(element);
        }
    }

    fn random_bytes(count: usize) -> Vec<u8> {
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let next = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        };
        std::iter::repeat_with(next).take(count).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_movement_is_what_element_by_element_copying_gives(
            problem in any_problem(),
            size in prop::sample::select(vec![1_usize, 2, 4, 8]),
        ) {
            let fill = [0xF1, 0xF2, 0xF3, 0xF4, 0xF5, 0xF6, 0xF7, 0xF8];
            let movement = Movement::new(&problem.axes, &problem.maps);
            // The memories have exactly the required size, which tests that the bounds are exact.
            let input = random_bytes(movement.reach.input as usize * size);
            let mut expected = vec![0xEE; movement.reach.output as usize * size];
            let mut found = expected.clone();
            naive(&problem, size, &input, &mut expected, fill);
            movement.execute(size, &input, &mut found, fill).unwrap();
            prop_assert!(found == expected);
            if let Some(short) = input.len().checked_sub(1) {
                let outcome = movement.execute(size, &input[..short], &mut found, fill);
                let is_short = matches!(outcome, Err(OracleError::ShortInput { .. }));
                prop_assert!(is_short);
            }
            let short = found.len() - 1;
            let outcome = movement.execute(size, &input, &mut found[..short], fill);
            let is_short = matches!(outcome, Err(OracleError::ShortOutput { .. }));
            prop_assert!(is_short);
        }
    }

    #[test]
    fn a_span_beyond_all_memory_is_an_error_and_not_an_allocation() {
        let runs: Runs = smallvec![Run { length: 1 << 31, line: Some(Line { start: 0, step: 1 }) }];
        let stride = u64::from(u32::MAX);
        let axis =
            |output_stride| Axis { size: 1 << 31, input_size: 1 << 31, output_stride, input_stride: stride };
        let map = AxisMap::Runs(runs);
        let movement = Movement::new(&[axis(stride), axis(1)], &[map.clone(), map]);
        assert!(matches!(
            movement.execute(8, &[0; 64], &mut [0; 64], [0; 8]),
            Err(OracleError::ShortInput { needed: u64::MAX, given: 64 })
        ));
    }
}
