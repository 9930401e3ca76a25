//! The loops of an execution. They write every output element once, from the input or with the fill, in the
//! order of the output's memory.

use super::{
    level::{Level, LevelMap},
    map::{FILL, Line, Run},
};

/// An element of a tensor, as bytes without alignment.
pub(super) type Element<const N: usize> = [u8; N];

/// One execution.
pub(super) struct Gather<'a, const N: usize> {
    pub(super) loops: &'a [Level],
    pub(super) input: &'a [Element<N>],
    pub(super) fill: Element<N>,
}

impl<const N: usize> Gather<'_, N> {
    /// Writes the output of the loops from `depth` inwards. `base` is the input offset of their first
    /// element. The slice starts at their first output element, and ends at their last one or later.
    pub(super) fn run(&self, depth: usize, output: &mut [Element<N>], base: usize) {
        let Some(level) = self.loops.get(depth) else {
            output[0] = self.input[base];
            return;
        };
        match &level.map {
            LevelMap::Runs(runs) => {
                let mut done = 0;
                while done < level.size {
                    for run in runs {
                        let length = (run.length as usize).min(level.size - done);
                        if length > 0 {
                            let output = &mut output[done * level.output_stride..];
                            self.rounds(depth, Run { length: length as u64, ..*run }, output, base);
                        }
                        done += length;
                    }
                }
            }
            LevelMap::Table(table, stride) => {
                for (round, &read) in table.iter().enumerate() {
                    let start = (read as usize * stride) as i64;
                    let line = (read != FILL).then_some(Line { start, step: 0 });
                    let output = &mut output[round * level.output_stride..];
                    self.rounds(depth, Run { length: 1, line }, output, base);
                }
            }
        }
    }

    /// Writes the rounds of a run of a level.
    fn rounds(&self, depth: usize, run: Run, output: &mut [Element<N>], base: usize) {
        let (length, stride) = (run.length as usize, self.loops[depth].output_stride);
        let Some(line) = run.line else { return self.fill_rounds(depth, length, output) };
        let (start, step) = (base.wrapping_add(line.start as usize), line.step as isize);
        let from = |round: usize| start.wrapping_add_signed(step * round as isize);
        if depth + 1 < self.loops.len() {
            for round in 0..length {
                self.run(depth + 1, &mut output[round * stride..], from(round));
            }
            return;
        }
        match (stride, step) {
            (1, 1) => output[..length].copy_from_slice(&self.input[start..start + length]),
            (1, 0) => output[..length].fill(self.input[start]),
            _ => {
                for round in 0..length {
                    output[round * stride] = self.input[from(round)];
                }
            }
        }
    }

    /// Fills `length` rounds of a level.
    fn fill_rounds(&self, depth: usize, length: usize, output: &mut [Element<N>]) {
        let stride = self.loops[depth].output_stride;
        if depth + 1 == self.loops.len() && stride == 1 {
            return output[..length].fill(self.fill);
        }
        for round in 0..length {
            self.fill(depth + 1, &mut output[round * stride..]);
        }
    }

    /// Fills the output of the loops from `depth` inwards.
    pub(super) fn fill(&self, depth: usize, output: &mut [Element<N>]) {
        match self.loops.get(depth) {
            Some(level) => self.fill_rounds(depth, level.size, output),
            None => output[0] = self.fill,
        }
    }
}
