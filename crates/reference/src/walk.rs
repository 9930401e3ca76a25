//! The one loop that moves elements: it visits all output coordinates, and each axis says what they read. An
//! axis is divided into runs, over which the input coordinate changes by a constant step. An axis of a slice
//! is one run, and an axis of a padding has a few.

use crate::tensor::Pair;

/// The sources of the output coordinates from some `c` on, on one axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) source: RunSource,
    /// The maximum number of coordinates of the run, at least one. The axis may end earlier.
    pub(crate) length: i64,
}

/// The source of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RunSource {
    /// The input coordinates `first`, `first + step`, `first + 2 * step` …
    Input { first: i64, step: i64 },
    /// The padding value instead of the input.
    Fill,
}

/// The map from output to input coordinates of one axis.
pub(crate) trait Map {
    /// The run that starts at output coordinate `c`.
    fn run(&self, c: i64) -> Run;

    /// The input coordinate for an output with a single element on this axis.
    fn single(&self) -> i64;
}

/// The axis of a slice: `start + step * c`. Both numbers fit 32 bits, like the other numbers of an axis,
/// which keeps a created operator small.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steps {
    pub(crate) start: u32,
    pub(crate) step: i32,
}

impl Map for Steps {
    #[inline]
    fn run(&self, c: i64) -> Run {
        let (start, step) = (i64::from(self.start), i64::from(self.step));
        Run { source: RunSource::Input { first: start + step * c, step }, length: i64::MAX }
    }

    #[inline]
    fn single(&self) -> i64 {
        i64::from(self.start)
    }
}

/// An axis on which the output has more than one element.
#[derive(Clone, Copy, Debug)]
struct WalkAxis<M> {
    map: M,
    size: u32,
    input_stride: u32,
    output_stride: u32,
}

impl<M> WalkAxis<M> {
    /// The output's size.
    #[inline]
    fn size(&self) -> i64 {
        i64::from(self.size)
    }

    /// In elements.
    #[inline]
    fn input_stride(&self) -> i64 {
        i64::from(self.input_stride)
    }

    /// In elements.
    #[inline]
    fn output_stride(&self) -> i64 {
        i64::from(self.output_stride)
    }
}

/// A planned copy.
#[derive(Debug)]
pub(crate) struct Walk<M> {
    axes: [WalkAxis<M>; 8],
    /// The number of axes that are walked.
    rank: usize,
    /// The offset in the input for the coordinate 0 on every walked axis.
    start: i64,
}

impl<M: Map + Copy> Walk<M> {
    /// A walk over the output of a valid desc. `maps` returns the map of an axis.
    ///
    /// An axis with a single output element is not walked: the input coordinate that it reads is part of the
    /// start.
    #[inline]
    pub(crate) fn new(pair: &Pair, maps: impl Fn(usize) -> M) -> Self {
        let axis = |axis: usize| WalkAxis {
            map: maps(axis),
            size: pair.output.sizes[axis] as u32,
            input_stride: pair.input.strides[axis] as u32,
            output_stride: pair.output.strides[axis] as u32,
        };
        let mut walk = Self { axes: [axis(0); 8], rank: 0, start: 0 };
        for axis in (0..pair.rank).map(axis) {
            // The branch predictor cannot foresee which axes are walked, so this code has no branch. The next
            // axis overwrites one that is not walked.
            let is_walked = axis.size > 1;
            walk.axes[walk.rank] = axis;
            walk.rank += usize::from(is_walked);
            walk.start += if is_walked { 0 } else { axis.map.single() * axis.input_stride() };
        }
        walk
    }

    /// Writes every element of the output.
    pub(crate) fn run<T: Copy>(&self, input: &[T], output: &mut [T], fill: T) {
        Copying { input, output, fill }.part(&self.axes[..self.rank], self.start, 0);
    }
}

/// A copy in progress.
struct Copying<'a, T> {
    input: &'a [T],
    output: &'a mut [T],
    fill: T,
}

impl<T: Copy> Copying<'_, T> {
    /// Copies a part of the output, which starts at `to` and spans these axes, from the part of the input
    /// that starts at `from`.
    fn part<M: Map>(&mut self, axes: &[WalkAxis<M>], from: i64, to: i64) {
        let (outer, inner) = match axes {
            [] => return self.output[to as usize] = self.input[from as usize],
            [innermost] => return self.row(innermost, from, to),
            [outer, inner @ ..] => (outer, inner),
        };
        let mut c = 0;
        while c < outer.size() {
            let run = outer.map.run(c);
            let length = run.length.min(outer.size() - c);
            debug_assert!(length >= 1, "a run moves on");
            for k in 0..length {
                let to = to + (c + k) * outer.output_stride();
                match run.source {
                    RunSource::Fill => self.fill_part(inner, to),
                    RunSource::Input { first, step } => {
                        let from = from + (first + k * step) * outer.input_stride();
                        match inner {
                            [innermost] => self.row(innermost, from, to),
                            _ => self.part(inner, from, to),
                        }
                    }
                }
            }
            c += length;
        }
    }

    /// Copies a row, which spans only the innermost axis.
    #[inline]
    fn row<M: Map>(&mut self, axis: &WalkAxis<M>, from: i64, to: i64) {
        let mut c = 0;
        while c < axis.size() {
            let run = axis.map.run(c);
            let length = run.length.min(axis.size() - c);
            debug_assert!(length >= 1, "a run moves on");
            let to = to + c * axis.output_stride();
            match run.source {
                RunSource::Fill => self.fill_run(to, axis.output_stride(), length),
                RunSource::Input { first, step } => {
                    let (from, step) = (from + first * axis.input_stride(), step * axis.input_stride());
                    self.copy_run(from, step, to, axis.output_stride(), length);
                }
            }
            c += length;
        }
    }

    /// Copies `length` elements, `step` apart in the input and `stride` apart in the output.
    #[inline]
    fn copy_run(&mut self, from: i64, step: i64, to: i64, stride: i64, length: i64) {
        // A memory copy is called only for long runs: the call costs more than a few elements.
        if step == 1 && stride == 1 && length >= 16 {
            let (from, to, length) = (from as usize, to as usize, length as usize);
            self.output[to..to + length].copy_from_slice(&self.input[from..from + length]);
            return;
        }
        for k in 0..length {
            self.output[(to + k * stride) as usize] = self.input[(from + k * step) as usize];
        }
    }

    /// Writes the padding value to `length` elements, `stride` apart.
    fn fill_run(&mut self, to: i64, stride: i64, length: i64) {
        if stride == 1 {
            self.output[to as usize..(to + length) as usize].fill(self.fill);
            return;
        }
        for k in 0..length {
            self.output[(to + k * stride) as usize] = self.fill;
        }
    }

    /// Writes the padding value to a part of the output, which starts at `to` and spans these axes.
    fn fill_part<M>(&mut self, axes: &[WalkAxis<M>], to: i64) {
        match axes {
            [] => self.output[to as usize] = self.fill,
            [innermost] => self.fill_run(to, innermost.output_stride(), innermost.size()),
            [outer, inner @ ..] => {
                for c in 0..outer.size() {
                    self.fill_part(inner, to + c * outer.output_stride());
                }
            }
        }
    }
}
