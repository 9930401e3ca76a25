//! Computes one operation from the values of earlier ones, on all lanes.

#![expect(
    clippy::inline_always,
    reason = "what is not inlined into a task is compiled without the instructions that the task was found to have"
)]

use dmlcts_model::Side;

use super::{
    Inputs, Leaf, ListSource, MAXIMUM_AXES, Mask, OpId, Operation, Program, leaf,
    lengths::Lengths,
    number::Number,
    table::{LaneRow, Table},
};
use crate::expression::{Binary, Comparison, Logic, OtherAxis, Quantifier};

/// What the lanes are.
#[derive(Clone, Copy)]
pub(super) enum Lanes<'a> {
    /// The axes of a desc.
    Axes { inputs: &'a Inputs<'a>, lengths: &'a Lengths },
    /// Coordinates, each on its own axis.
    Points { coordinates: &'a [i64; MAXIMUM_AXES] },
}

impl Lanes<'_> {
    /// The number of lanes to compute.
    fn count(self) -> usize {
        match self {
            Self::Axes { lengths, .. } => lengths.agreed.map_or(MAXIMUM_AXES, usize::from),
            Self::Points { .. } => MAXIMUM_AXES,
        }
    }

    /// The number of axes on which these lists have values. `None` if there is none, or if the lanes are no
    /// axes of one desc.
    #[inline(always)]
    fn gathered(self, lists: u64) -> Option<usize> {
        match self {
            Self::Axes { lengths, .. } => lengths.lanes(lists).map(usize::from),
            Self::Points { .. } => None,
        }
    }
}

const EVERYWHERE: Mask = Mask { truth: 0, defined: u8::MAX };

/// Work that is faster on processors that compare and pack four 64-bit lanes at once.
pub(super) trait Task {
    type Output;

    /// Runs the task. It must be inlined, so that it is compiled for the features that [`fast`] found.
    fn run(self) -> Self::Output;
}

/// Runs a task with AVX2 if the processor has it.
#[inline]
pub(super) fn fast<T: Task>(task: T) -> T::Output {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the condition above established AVX2, the only feature that the function requires.
        return unsafe { fast_avx2(task) };
    }
    task.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn fast_avx2<T: Task>(task: T) -> T::Output {
    task.run()
}

/// Computes operations into the table, in this order. Sets `lost` if a value does not fit.
pub(super) fn run<N: Number>(
    program: &Program,
    ids: &[OpId],
    table: &mut Table<N>,
    place: Lanes<'_>,
    lost: &mut bool,
) {
    fast(Run { program, ids, table, place, lost });
}

struct Run<'a, N> {
    program: &'a Program,
    ids: &'a [OpId],
    table: &'a mut Table<N>,
    place: Lanes<'a>,
    lost: &'a mut bool,
}

impl<N: Number> Task for Run<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for &id in self.ids {
            step(self.program, id, &mut self.table.rows, &mut self.table.masks, self.place, self.lost);
        }
    }
}

/// Computes one operation.
#[inline(always)]
pub(super) fn step<N: Number>(
    program: &Program,
    id: OpId,
    rows: &mut [LaneRow<N>],
    masks: &mut [Mask],
    place: Lanes<'_>,
    lost: &mut bool,
) {
    let op = &program.ops[id.index()];
    let (rows, later) = rows.split_at_mut(id.index());
    let row = |id: OpId| &rows[id.index()].0;
    let mask = |id: OpId| masks[id.index()];
    let spread = |condition: bool| if condition { u8::MAX } else { 0 };
    let out = &mut later[0].0;
    let result =
        match op.operation {
            Operation::Constant(value) => {
                let value = N::narrow(value).unwrap_or_else(|| {
                    *lost = true;
                    N::default()
                });
                *out = [value; MAXIMUM_AXES];
                EVERYWHERE
            }
            Operation::Missing => Mask::UNDEFINED,
            Operation::Leaf(leaf) => load(program, id, leaf, place, out, lost),
            Operation::Negate(a) => {
                *out = if op.proven {
                    map(op.per_axis, row(a), |a| N::default().subtract_proven(a))
                } else {
                    map(op.per_axis, row(a), |a| a.negate(lost))
                };
                mask(a)
            }
            Operation::Absolute(a) => {
                *out = if op.proven {
                    map(op.per_axis, row(a), |a| a.max(N::default().subtract_proven(a)))
                } else {
                    map(op.per_axis, row(a), |a| if a < N::default() { a.negate(lost) } else { a })
                };
                mask(a)
            }
            Operation::Binary(binary, a, b) => {
                let defined = mask(a).defined & mask(b).defined;
                let zero =
                    arithmetic(binary, op.per_axis, op.proven, [row(a), row(b)], place.count(), out, lost);
                Mask { truth: 0, defined: defined & !zero }
            }
            Operation::Choose(condition, a, b) => {
                let chosen = mask(condition);
                let (then, otherwise) = (row(a), row(b));
                *out = std::array::from_fn(|lane| {
                    if chosen.truth >> lane & 1 == 1 { then[lane] } else { otherwise[lane] }
                });
                let branch = (chosen.truth & mask(a).defined) | (!chosen.truth & mask(b).defined);
                Mask { truth: 0, defined: chosen.defined & branch }
            }
            Operation::Compare(comparison, a, b) => {
                let defined = mask(a).defined & mask(b).defined;
                let (a, b) = (row(a), row(b));
                // One loop per comparison, so that the compiler can compare several lanes at once.
                let truth = match (op.per_axis, comparison) {
                    (false, _) => spread(comparison.holds(a[0].cmp(&b[0]))),
                    (true, Comparison::Equal) => equal(a, b),
                    (true, Comparison::NotEqual) => !equal(a, b),
                    (true, Comparison::Less) => less(a, b),
                    (true, Comparison::GreaterOrEqual) => !less(a, b),
                    (true, Comparison::Greater) => less(b, a),
                    (true, Comparison::LessOrEqual) => !less(b, a),
                };
                Mask { truth: truth & defined, defined }
            }
            Operation::Among(a, set) => {
                let defined = mask(a).defined;
                let row = row(a);
                let is_member =
                    |lane: usize| matches!(row[lane].widen(), value @ 0..=63 if set >> value & 1 == 1);
                let truth = if op.per_axis { bits(is_member) } else { spread(is_member(0)) };
                Mask { truth: truth & defined, defined }
            }
            Operation::Not(a) => Mask { truth: mask(a).falsehood(), defined: mask(a).defined },
            Operation::Logic(logic, a, b) => {
                let (a, b) = (mask(a), mask(b));
                let (truth, falsehood) = match logic {
                    Logic::And => (a.truth & b.truth, a.falsehood() | b.falsehood()),
                    Logic::Or => (a.truth | b.truth, a.falsehood() & b.falsehood()),
                };
                Mask { truth, defined: truth | falsehood }
            }
            Operation::ChooseCondition(condition, a, b) => {
                let (chosen, a, b) = (mask(condition), mask(a), mask(b));
                let pick = |a: u8, b: u8| (chosen.truth & a) | (chosen.falsehood() & b);
                Mask { truth: pick(a.truth, b.truth), defined: pick(a.defined, b.defined) }
            }
            Operation::Over(quantifier, a) => place.gathered(op.lists).map_or(Mask::UNDEFINED, |lanes| {
                gather(quantifier, op.proven, lanes, row(a), mask(a), out, lost)
            }),
            Operation::On(other, a) => place
                .gathered(op.lists)
                .filter(|lanes| *lanes > 0)
                .map_or(Mask::UNDEFINED, |lanes| on_other(other, lanes, row(a), mask(a), out)),
        };
    masks[id.index()] = result;
}

#[inline(always)]
fn map<N: Number>(per_axis: bool, a: &[N; MAXIMUM_AXES], mut f: impl FnMut(N) -> N) -> [N; MAXIMUM_AXES] {
    if per_axis { std::array::from_fn(|lane| f(a[lane])) } else { [f(a[0]); MAXIMUM_AXES] }
}

#[inline(always)]
fn zip<N: Number>(
    per_axis: bool,
    [a, b]: [&[N; MAXIMUM_AXES]; 2],
    mut f: impl FnMut(N, N) -> N,
) -> [N; MAXIMUM_AXES] {
    if per_axis { std::array::from_fn(|lane| f(a[lane], b[lane])) } else { [f(a[0], b[0]); MAXIMUM_AXES] }
}

#[inline(always)]
pub(super) fn bits(mut holds: impl FnMut(usize) -> bool) -> u8 {
    let flags: [u8; MAXIMUM_AXES] = std::array::from_fn(|lane| u8::from(holds(lane)));
    // The multiplication moves the flag of each byte to its own bit of the highest byte.
    (u64::from_le_bytes(flags).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
}

/// The lanes where two rows are equal.
#[inline(always)]
pub(super) fn equal<N: Number>(a: &[N; MAXIMUM_AXES], b: &[N; MAXIMUM_AXES]) -> u8 {
    bits(|lane| a[lane] == b[lane])
}

/// The lanes where the first row is less.
#[inline(always)]
pub(super) fn less<N: Number>(a: &[N; MAXIMUM_AXES], b: &[N; MAXIMUM_AXES]) -> u8 {
    bits(|lane| a[lane] < b[lane])
}

/// Returns the lanes where the result is undefined.
#[inline(always)]
fn arithmetic<N: Number>(
    binary: Binary,
    per_axis: bool,
    proven: bool,
    pair: [&[N; MAXIMUM_AXES]; 2],
    count: usize,
    out: &mut [N; MAXIMUM_AXES],
    lost: &mut bool,
) -> u8 {
    *out = match (binary, proven) {
        (Binary::Add, true) => zip(per_axis, pair, N::add_proven),
        (Binary::Subtract, true) => zip(per_axis, pair, N::subtract_proven),
        (Binary::Multiply, true) => zip(per_axis, pair, N::multiply_proven),
        (Binary::Add, false) => zip(per_axis, pair, |a, b| a.add(b, lost)),
        (Binary::Subtract, false) => zip(per_axis, pair, |a, b| a.subtract(b, lost)),
        (Binary::Multiply, false) => zip(per_axis, pair, |a, b| a.multiply(b, lost)),
        (Binary::Minimum, _) => zip(per_axis, pair, N::min),
        (Binary::Maximum, _) => zip(per_axis, pair, N::max),
        (Binary::Divide | Binary::Modulo | Binary::Align, _) => {
            let divide = |a: N, b: N, lost: &mut bool| match binary {
                Binary::Divide => a.divide(b, lost),
                Binary::Modulo => a.modulo(b),
                // To round up to the next multiple, adds the remainder of the negated value.
                _ => a.add(a.negate(lost).modulo(b), lost),
            };
            let [a, b] = pair;
            return divided(per_axis, count, b, out, |lane, b| divide(a[lane], b, lost));
        }
    };
    0
}

/// Divides lane by lane, and skips unused lanes. Returns the lanes whose divisor is 0.
#[inline(always)]
fn divided<N: Number>(
    per_axis: bool,
    count: usize,
    divisors: &[N; MAXIMUM_AXES],
    out: &mut [N; MAXIMUM_AXES],
    mut divide: impl FnMut(usize, N) -> N,
) -> u8 {
    if !per_axis {
        *out = [divide(0, divisors[0]); MAXIMUM_AXES];
        return if divisors[0] == N::default() { u8::MAX } else { 0 };
    }
    for lane in 0..count.min(MAXIMUM_AXES) {
        out[lane] = divide(lane, divisors[lane]);
    }
    bits(|lane| divisors[lane] == N::default())
}

/// Gathers the first `lanes` lanes.
fn gather<N: Number>(
    quantifier: Quantifier,
    proven: bool,
    lanes: usize,
    row: &[N; MAXIMUM_AXES],
    mask: Mask,
    out: &mut [N; MAXIMUM_AXES],
    lost: &mut bool,
) -> Mask {
    let all = ((1u16 << lanes) - 1) as u8;
    let whole = mask.defined & all == all;
    let condition = |truth: bool, known: bool| match (known, truth) {
        (false, _) => Mask::UNDEFINED,
        (true, true) => Mask { truth: u8::MAX, defined: u8::MAX },
        (true, false) => EVERYWHERE,
    };
    match quantifier {
        Quantifier::Any => {
            let truth = mask.truth & all != 0;
            condition(truth, truth || whole)
        }
        Quantifier::All => {
            let falsehood = mask.falsehood() & all != 0;
            condition(!falsehood, falsehood || whole)
        }
        Quantifier::Sum | Quantifier::Product if !whole => Mask::UNDEFINED,
        Quantifier::Sum => {
            let zero = N::default();
            let sum = row[..lanes]
                .iter()
                .fold(zero, |sum, &value| if proven { sum.add_proven(value) } else { sum.add(value, lost) });
            *out = [sum; MAXIMUM_AXES];
            EVERYWHERE
        }
        Quantifier::Product => {
            let one = N::from_word(1);
            // A zero makes the product zero, even if it overflowed before.
            let is_zero = row[..lanes].contains(&N::default());
            let product = row[..lanes].iter().fold(one, |product, &value| product.multiply(value, lost));
            *out = [if is_zero { N::default() } else { product }; MAXIMUM_AXES];
            EVERYWHERE
        }
    }
}

/// Takes the values of another axis. There is at least one lane.
#[inline(never)]
fn on_other<N: Number>(
    other: OtherAxis,
    lanes: usize,
    row: &[N; MAXIMUM_AXES],
    mask: Mask,
    out: &mut [N; MAXIMUM_AXES],
) -> Mask {
    let all = ((1u16 << lanes) - 1) as u8;
    let moved = |change: &dyn Fn(u8) -> u8| Mask {
        truth: change(mask.truth & all) & all,
        defined: change(mask.defined & all) & all,
    };
    let last = lanes - 1;
    match other {
        OtherAxis::Next => {
            *out = std::array::from_fn(|lane| row[(lane + 1).min(last)]);
            moved(&|lanes| lanes >> 1)
        }
        OtherAxis::Previous => {
            *out = std::array::from_fn(|lane| row[lane.saturating_sub(1)]);
            moved(&|lanes| lanes << 1)
        }
        OtherAxis::First | OtherAxis::Last => {
            let from = if other == OtherAxis::First { 0 } else { last };
            *out = [row[from]; MAXIMUM_AXES];
            moved(&|lanes| if lanes >> from & 1 == 1 { u8::MAX } else { 0 })
        }
        OtherAxis::Opposite => {
            *out = std::array::from_fn(|lane| row[last.saturating_sub(lane)]);
            moved(&|of| bits(|lane| lane <= last && of >> (last - lane) & 1 == 1))
        }
        OtherAxis::Later => {
            let (truth, falsehood) = (mask.truth & all, mask.falsehood() & all);
            let later = |lane: usize| all & !((2u16 << lane) - 1) as u8;
            let holds = bits(|lane| truth & later(lane) != 0);
            let fails = bits(|lane| falsehood & later(lane) == later(lane));
            Mask { truth: holds & all, defined: (holds | fails) & all }
        }
    }
}

fn load<N: Number>(
    program: &Program,
    id: OpId,
    leaf: Leaf,
    place: Lanes<'_>,
    out: &mut [N; MAXIMUM_AXES],
    lost: &mut bool,
) -> Mask {
    let op = program.op(id);
    let inputs = match place {
        Lanes::Axes { inputs, .. } => inputs,
        Lanes::Points { coordinates } => {
            *out = coordinates.map(N::from_word);
            let (least, greatest) = (op.range.least as i64, op.range.greatest as i64);
            *lost |= N::NOTICES && coordinates.iter().any(|&c| c < least || c > greatest);
            return EVERYWHERE;
        }
    };
    match leaf {
        Leaf::Axis => {
            *out = std::array::from_fn(|lane| N::from_word(lane as i64));
            EVERYWHERE
        }
        Leaf::List(source) => {
            let within = (op.range.least as i64, op.range.greatest as i64);
            let length = load_list(inputs, source, within, out, lost);
            Mask { truth: 0, defined: ((1u16 << length) - 1) as u8 }
        }
        _ => {
            let Some(value) = leaf.scalar(inputs) else { return Mask::UNDEFINED };
            if op.is_condition {
                return if value == 0 { EVERYWHERE } else { Mask { truth: u8::MAX, defined: u8::MAX } };
            }
            *lost |= N::NOTICES && !op.range.contains(value);
            let value = N::narrow(value).unwrap_or_else(|| {
                *lost = true;
                N::default()
            });
            *out = [value; MAXIMUM_AXES];
            EVERYWHERE
        }
    }
}

/// Returns the number of lanes that were loaded: 0 for a null pointer or a list that is too long.
#[inline(always)]
pub(super) fn load_list<N: Number>(
    inputs: &Inputs<'_>,
    source: ListSource,
    (least, greatest): (i64, i64),
    out: &mut [N; MAXIMUM_AXES],
    lost: &mut bool,
) -> usize {
    *out = [N::default(); MAXIMUM_AXES];
    let Some(values) = leaf::list(inputs.desc, source) else {
        return match source {
            ListSource::Strides(side) | ListSource::PackedStrides(side) => {
                load_packed(inputs, side, greatest, out, lost)
            }
            _ => 0,
        };
    };
    if values.len() > MAXIMUM_AXES {
        return 0;
    }
    // Every member's type is 32 bits wide. After subtracting the least value, no bit above the range may be
    // set.
    let mut above = 0;
    for (slot, &value) in out.iter_mut().zip(values) {
        above |= value.wrapping_sub(least) as u64;
        *slot = N::from_word(value);
    }
    *lost |= N::NOTICES && above > greatest.wrapping_sub(least) as u64;
    values.len()
}

/// Loads packed strides.
#[inline(never)]
fn load_packed<N: Number>(
    inputs: &Inputs<'_>,
    side: Side,
    greatest: i64,
    out: &mut [N; MAXIMUM_AXES],
    lost: &mut bool,
) -> usize {
    let sizes = leaf::list(inputs.desc, ListSource::Sizes(side)).unwrap_or_default();
    if sizes.len() > MAXIMUM_AXES {
        return 0;
    }
    let mut stride = N::from_word(1);
    for (axis, &size) in sizes.iter().enumerate().rev() {
        out[axis] = stride;
        if axis > 0 {
            stride = stride.multiply(N::from_word(size), lost);
            *lost |= N::NOTICES && (stride > N::from_word(greatest) || stride < N::default());
        }
    }
    sizes.len()
}
