//! A plan: a created operator in numbers that a kernel can use.
//!
//! Every operator maps coordinates axis by axis, so a plan is a short list of axes, the innermost first. Axes
//! with a single output element are left out, since they only move the start of reading.

/// `DML_PADDING_MODE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Constant,
    Edge,
    Reflection,
    Symmetric,
    Wrap,
}

/// The properties of a plan besides its axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// The number of bytes of an element: 1, 2, 4 or 8.
    pub(crate) width: u32,
    /// The number of elements of the output.
    pub(crate) elements: u32,
    /// Whether the output's elements are contiguous in the order of coordinates.
    pub(crate) packed: bool,
    /// The `TotalTensorSizeInBytes` of input and output: the memory that may be accessed.
    pub(crate) bytes: [u64; 2],
}

/// The largest tensor of a small case, in bytes.
const SMALL_BYTES: u64 = 64 << 10;
/// The maximum number of loop iterations of an invocation: lavapipe before Mesa 25 ends an invocation
/// silently after 65,535.
pub(crate) const MOST_STEPS: u32 = 8_000;

/// A created operator. All offsets are in elements from the start of a tensor, modulo 2^32. A final offset is
/// always below 2^32, so intermediate sums may wrap.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) shape: Shape,
    /// The offset that the output's first element reads, without the folds of `axes`.
    pub(crate) first: u32,
    /// Whether an axis folds its coordinate, which needs another kernel.
    pub(crate) folds: bool,
    /// Whether elements outside the input have the value [`Plan::fill`].
    pub(crate) constant: bool,
    /// The padding value.
    pub(crate) fill: [u32; 2],
    axes: [PlanAxis; 8],
    rank: usize,
}

/// One axis. Coordinate `c` has the offset `c * output_stride` in the output, and reads the offset `fold(c) *
/// input_stride`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlanAxis {
    /// The number of output coordinates, at least 2.
    pub(crate) size: u32,
    pub(crate) input_stride: u32,
    pub(crate) output_stride: u32,
    /// The map from output to input coordinates.
    pub(crate) fold: Fold,
}

/// The map from an output coordinate `c` to an input coordinate, in these steps: `at = c + bias`. If there is
/// a period, `at` becomes `at mod period`. If there is a mirror, `at` becomes the lesser of `at` and `mirror
/// - at`. At last, `at` is clamped to `0 ..= n - 1`. If only the clamping changes it, a constant fill
///   replaces the element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fold {
    /// The negated start padding, modulo 2^32. With a period, it is reduced to `0 ..= period - 1`, so that `c
    /// + bias` is not negative.
    pub(crate) bias: u32,
    /// 0 for no period.
    pub(crate) period: u32,
    /// 0 for no mirror.
    pub(crate) mirror: u32,
    /// The input's size.
    pub(crate) n: u32,
}

impl Default for Fold {
    /// The identity.
    fn default() -> Self {
        Self { bias: 0, period: 0, mirror: 0, n: i32::MAX.cast_unsigned() }
    }
}

impl Plan {
    /// A plan without axes.
    pub(crate) fn new(shape: &Shape) -> Self {
        Self {
            shape: *shape,
            first: 0,
            folds: false,
            constant: false,
            fill: [0; 2],
            axes: [PlanAxis::default(); 8],
            rank: 0,
        }
    }

    /// Whether one workgroup with this many invocations is enough, and the offsets are small enough for the
    /// division in the batched kernel.
    pub(crate) fn is_small(&self, lanes: u32) -> bool {
        let elements = self.shape.elements / lanes.max(1) + 4;
        let steps = elements.saturating_mul(self.rank as u32 + 2);
        self.shape.bytes.iter().all(|&bytes| bytes <= SMALL_BYTES) && steps <= MOST_STEPS
    }

    /// The axes with more than one output element, innermost first.
    pub(crate) fn axes(&self) -> &[PlanAxis] {
        &self.axes[..self.rank]
    }

    /// Adds the next outer axis, on which `c` reads the coordinate `start + step * c`. `strides` are the
    /// strides of input and output.
    pub(crate) fn step(&mut self, size: i64, start: i64, step: i64, strides: [u32; 2]) {
        self.first = self.first.wrapping_add((start as u32).wrapping_mul(strides[0]));
        let input_stride = (step as u32).wrapping_mul(strides[0]);
        self.push(size as u32, input_stride, strides[1], Fold::default());
    }

    /// Sets the mode and value of elements outside the input.
    pub(crate) fn pad_with(&mut self, mode: Mode, value: [u8; 8]) {
        let value = u64::from_le_bytes(value);
        self.constant = mode == Mode::Constant;
        self.fill = [value as u32, (value >> 32) as u32];
    }

    /// Adds the next outer axis, on which `c` reads the coordinate `c - start`, mapped into `0..n` by the
    /// mode.
    pub(crate) fn fold(&mut self, mode: Mode, n: i64, start: i64, end: i64, strides: [u32; 2]) {
        let size = (start + n + end) as u32;
        if start == 0 && end == 0 {
            return self.push(size, strides[0], strides[1], Fold::default());
        }
        let (period, mirror) = match mode {
            // The page leaves this open: the fold of a single element has a period of 0. The element repeats,
            // as at an edge.
            Mode::Reflection if n > 1 => (2 * (n - 1), 2 * (n - 1)),
            Mode::Symmetric => (2 * n, 2 * n - 1),
            Mode::Wrap => (n, 0),
            Mode::Constant | Mode::Edge | Mode::Reflection => (0, 0),
        };
        let bias = if period == 0 { -start } else { (-start).rem_euclid(period) };
        let fold = Fold { bias: bias as u32, period: period as u32, mirror: mirror as u32, n: n as u32 };
        self.folds = true;
        self.push(size, strides[0], strides[1], fold);
    }

    /// Merges neighbouring axes that step like one, so that rows are as long as possible.
    pub(crate) fn merge(&mut self) {
        let mut kept = 0;
        for index in 1..self.rank {
            let (inner, outer) = (self.axes[kept], self.axes[index]);
            let follows = |inner_stride: u32, outer_stride: u32| {
                u64::from(inner.size) * i64::from(inner_stride.cast_signed()).unsigned_abs()
                    == i64::from(outer_stride.cast_signed()).unsigned_abs()
                    && inner.size.wrapping_mul(inner_stride) == outer_stride
            };
            let plain = inner.fold == Fold::default() && outer.fold == Fold::default();
            if plain
                && follows(inner.input_stride, outer.input_stride)
                && follows(inner.output_stride, outer.output_stride)
            {
                // The product is at most the number of the output's elements.
                self.axes[kept].size *= outer.size;
            } else {
                kept += 1;
                self.axes[kept] = outer;
            }
        }
        self.rank = self.rank.min(kept + 1);
    }

    fn push(&mut self, size: u32, input_stride: u32, output_stride: u32, fold: Fold) {
        if size > 1
            && let Some(axis) = self.axes.get_mut(self.rank)
        {
            *axis = PlanAxis { size, input_stride, output_stride, fold };
            self.rank += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Fold {
        /// The fold as the kernels compute it: the input coordinate, or `None` outside the input in constant
        /// mode.
        fn of(self, c: u32, constant: bool) -> Option<u32> {
            let at = c.wrapping_add(self.bias);
            if constant && at >= self.n {
                return None;
            }
            let mut at = if self.period > 0 { (at % self.period).cast_signed() } else { at.cast_signed() };
            if self.mirror > 0 {
                at = at.min(self.mirror.cast_signed() - at);
            }
            Some(at.clamp(0, (self.n - 1).cast_signed()).cast_unsigned())
        }
    }

    /// The rules of the page, step by step: walk away from the input, and turn, stay or restart at its edges.
    fn by_hand(mode: Mode, n: i64, outside: i64) -> Option<u32> {
        let (mut at, mut step) = if outside < 0 { (0, -1) } else { (n - 1, 1) };
        let steps = if outside < 0 { -outside } else { outside - (n - 1) };
        for _ in 0..steps {
            let leaves = !(0..n).contains(&(at + step));
            match mode {
                Mode::Constant => return None,
                Mode::Reflection if n > 1 && leaves => {
                    step = -step;
                    at += step;
                }
                Mode::Symmetric if leaves => step = -step,
                Mode::Wrap if leaves => at = if step < 0 { n - 1 } else { 0 },
                Mode::Edge | Mode::Reflection if leaves => {}
                _ => at += step,
            }
        }
        Some(at as u32)
    }

    #[test]
    fn folds_lead_where_walking_by_hand_leads() {
        for mode in [Mode::Constant, Mode::Edge, Mode::Reflection, Mode::Symmetric, Mode::Wrap] {
            for (n, start, end) in
                (1..6).flat_map(|n| (0..13).flat_map(move |s| (0..13).map(move |e| (n, s, e))))
            {
                let shape = Shape { width: 4, elements: 0, packed: true, bytes: [0; 2] };
                let mut plan = Plan::new(&shape);
                plan.fold(mode, n, start, end, [1, 1]);
                let Some(axis) = plan.axes().first() else { continue };
                for c in 0..start + n + end {
                    let at = c - start;
                    let expected = if (0..n).contains(&at) { Some(at as u32) } else { by_hand(mode, n, at) };
                    let found = axis.fold.of(c as u32, mode == Mode::Constant);
                    assert_eq!(found, expected, "{mode:?} n={n} start={start} end={end} c={c}");
                }
            }
        }
    }

    #[test]
    fn axes_that_step_like_one_become_one() {
        let shape = Shape { width: 4, elements: 0, packed: true, bytes: [0; 2] };
        let mut plan = Plan::new(&shape);
        // Two whole axes, then one on which every other row is read.
        plan.step(4, 0, 1, [1, 1]);
        plan.step(3, 0, 1, [4, 4]);
        plan.step(2, 0, 2, [12, 12]);
        plan.merge();
        let sizes: Vec<_> = plan.axes().iter().map(|axis| (axis.size, axis.input_stride)).collect();
        assert_eq!(sizes, [(12, 1), (2, 24)]);
        let mut reversed = Plan::new(&shape);
        reversed.step(4, 3, -1, [1, 1]);
        reversed.step(3, 2, -1, [4, 4]);
        reversed.merge();
        assert_eq!(reversed.axes().len(), 1);
        assert_eq!((reversed.first, reversed.axes()[0].input_stride), (11, u32::MAX));
    }

    #[test]
    fn a_negative_step_walks_down_modulo_two_to_the_32() {
        let shape = Shape { width: 1, elements: 3, packed: true, bytes: [8, 4] };
        let mut plan = Plan::new(&shape);
        plan.step(3, 6, -3, [1, 1]);
        let [axis] = plan.axes() else { panic!("one axis") };
        let places: Vec<u32> =
            (0..3_u32).map(|c| plan.first.wrapping_add(c.wrapping_mul(axis.input_stride))).collect();
        assert_eq!(places, [6, 3, 0]);
    }
}
