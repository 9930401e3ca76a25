//! Faults of numbers: integers that are too narrow for indices, and divisions without a division.

use crate::{
    Fault, Mutant, Needs,
    fault::RIGHT,
    kernel::{Axis, Kind, REFLECTION, SYMMETRIC, WRAP, fold, mirror},
};

/// An integer in a float with this number of significant bits: rounded to the nearest, ties to even.
fn in_float(value: i64, bits: u32) -> i64 {
    let length = 64 - value.unsigned_abs().leading_zeros();
    let unit = 1_i64 << length.saturating_sub(bits);
    let (whole, rest) = (value.div_euclid(unit), value.rem_euclid(unit));
    let up = 2 * rest > unit || 2 * rest == unit && whole % 2 != 0;
    (whole + i64::from(up)) * unit
}

/// The remainder by a multiplication with the reciprocal in single precision.
fn remainder_by_reciprocal(value: i64, divisor: i64) -> i64 {
    let quotient = (value as f32 * (1.0 / divisor as f32)).floor();
    value - quotient as i64 * divisor
}

pub(crate) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "coordinate-in-u8",
        about: "input coordinates are held in 8 bits",
        seen_in: "arithmetic",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE UINT8 in=300 out=300 Sizes=300 Offsets=0 Strides=1"],
        fault: Fault { source: |plan, axis, c| plan.source(axis, c).map(|at| i64::from(at as u8)), ..RIGHT },
    },
    Mutant {
        name: "coordinate-in-i8",
        about: "input coordinates are held in 8 signed bits",
        seen_in: "arithmetic",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE UINT8 in=200 out=200 Sizes=200 Offsets=0 Strides=1"],
        fault: Fault { source: |plan, axis, c| plan.source(axis, c).map(|at| i64::from(at as i8)), ..RIGHT },
    },
    Mutant {
        name: "coordinate-in-u16",
        about: "input coordinates are held in 16 bits",
        seen_in: "arithmetic",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE UINT8 in=65540 out=4 Offsets=65536 Sizes=4 Strides=1"],
        fault: Fault { source: |plan, axis, c| plan.source(axis, c).map(|at| i64::from(at as u16)), ..RIGHT },
    },
    Mutant {
        name: "coordinate-in-i16",
        about: "input coordinates are held in 16 signed bits",
        seen_in: "arithmetic",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE UINT8 in=32772 out=4 Offsets=32768 Sizes=4 Strides=1"],
        fault: Fault { source: |plan, axis, c| plan.source(axis, c).map(|at| i64::from(at as i16)), ..RIGHT },
    },
    Mutant {
        name: "coordinate-in-f16",
        about: "input coordinates are held in half precision, which rounds above 2048",
        seen_in: "arithmetic",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE UINT16 in=4096 out=4 Offsets=2049 Sizes=4 Strides=1"],
        fault: Fault { source: |plan, axis, c| plan.source(axis, c).map(|at| in_float(at, 11)), ..RIGHT },
    },
    Mutant {
        name: "coordinate-in-f32",
        about: "input coordinates are held in single precision, which rounds above 2^24",
        seen_in: "arithmetic",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Memory("an axis of more than 2^24 elements"),
        witness: &["SLICE UINT8 in=16777220 out=2 Offsets=16777217 Sizes=2 Strides=1"],
        fault: Fault { source: |plan, axis, c| plan.source(axis, c).map(|at| in_float(at, 24)), ..RIGHT },
    },
    Mutant {
        name: "input-index-in-u16",
        about: "the index of an input element is held in 16 bits",
        seen_in: "arithmetic",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE UINT8 in=2,40000 out=1,2 Offsets=1,30000 Sizes=1,2 Strides=1,1"],
        fault: Fault { from: |plan, at| i64::from(plan.from(at) as u16), ..RIGHT },
    },
    Mutant {
        name: "input-index-in-i16",
        about: "the index of an input element is held in 16 signed bits",
        seen_in: "arithmetic",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE UINT8 in=2,20000 out=1,2 Offsets=1,19000 Sizes=1,2 Strides=1,1"],
        fault: Fault { from: |plan, at| i64::from(plan.from(at) as i16), ..RIGHT },
    },
    Mutant {
        name: "input-index-in-f16",
        about: "the index of an input element is held in half precision, which rounds above 2048",
        seen_in: "arithmetic",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE UINT16 in=2,2049 out=2,2 Sizes=2,2 Offsets=0,0 Strides=1,1"],
        fault: Fault { from: |plan, at| in_float(plan.from(at), 11), ..RIGHT },
    },
    Mutant {
        name: "input-index-in-f32",
        about: "the index of an input element is held in single precision, which rounds above 2^24",
        seen_in: "arithmetic",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Memory("an input of more than 2^24 elements"),
        witness: &["SLICE UINT8 in=2 out=2 InputTensor.Strides=16777217 Sizes=2 Offsets=0 Strides=1"],
        fault: Fault { from: |plan, at| in_float(plan.from(at), 24), ..RIGHT },
    },
    Mutant {
        name: "input-index-in-i32",
        about: "the index of an input element wraps at 2^31",
        seen_in: "pytorch#182052",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Beyond("an input of more than 2^31 elements"),
        witness: &["SLICE UINT8 in=2 out=2 InputTensor.Strides=2147483649 Sizes=2 Offsets=0 Strides=1"],
        fault: Fault { from: |plan, at| i64::from(plan.from(at) as i32), ..RIGHT },
    },
    Mutant {
        name: "input-byte-in-u16",
        about: "the byte of an input element is held in 16 bits",
        seen_in: "arithmetic",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=20000 out=2 Offsets=17000 Sizes=2 Strides=1"],
        fault: Fault {
            from: |plan, at| i64::from((plan.from(at) * plan.width as i64) as u16) / plan.width as i64,
            ..RIGHT
        },
    },
    Mutant {
        name: "input-byte-in-u32",
        about: "the byte of an input element is held in 32 bits",
        seen_in: "pytorch#153560",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Beyond("an input of more than 2^32 bytes"),
        witness: &["SLICE FLOAT64 in=2 out=2 InputTensor.Strides=536870913 Sizes=2 Offsets=0 Strides=1"],
        fault: Fault {
            from: |plan, at| i64::from((plan.from(at) * plan.width as i64) as u32) / plan.width as i64,
            ..RIGHT
        },
    },
    Mutant {
        name: "input-bit-in-u32",
        about: "the bit of an input element is held in 32 bits",
        seen_in: "arithmetic",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Beyond("an input of more than 2^29 bytes"),
        witness: &["SLICE UINT8 in=2 out=2 InputTensor.Strides=536870913 Sizes=2 Offsets=0 Strides=1"],
        fault: Fault {
            from: |plan, at| {
                i64::from((plan.from(at) * plan.width as i64 * 8) as u32) / (plan.width as i64 * 8)
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "output-index-in-u16",
        about: "the index of an output element is held in 16 bits",
        seen_in: "arithmetic",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE UINT8 in=65540 out=65540 Sizes=65540 Offsets=0 Strides=1"],
        fault: Fault { to: |plan, c| i64::from(plan.to(c) as u16), ..RIGHT },
    },
    Mutant {
        name: "output-index-in-i16",
        about: "the index of an output element is held in 16 signed bits",
        seen_in: "arithmetic",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE UINT8 in=32769 out=32769 Sizes=32769 Offsets=0 Strides=1"],
        fault: Fault { to: |plan, c| i64::from(plan.to(c) as i16), ..RIGHT },
    },
    Mutant {
        name: "output-index-in-f16",
        about: "the index of an output element is held in half precision, which rounds above 2048",
        seen_in: "arithmetic",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE UINT8 in=2050 out=2050 Sizes=2050 Offsets=0 Strides=1"],
        fault: Fault { to: |plan, c| in_float(plan.to(c), 11), ..RIGHT },
    },
    Mutant {
        name: "element-counter-in-u16",
        about: "the counter of elements has 16 bits, so that it begins again behind 65536",
        seen_in: "arithmetic",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE UINT8 in=65540 out=65540 Sizes=65540 Offsets=0 Strides=1"],
        fault: Fault { coordinates: |plan, index, c| plan.coordinates(i64::from(index as u16), c), ..RIGHT },
    },
    Mutant {
        name: "row-counter-in-u16",
        about: "the counter of rows has 16 bits",
        seen_in: "arithmetic",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE UINT8 in=65537,2 out=65537,2 Sizes=65537,2 Offsets=0,0 Strides=1,1"],
        fault: Fault {
            coordinates: |plan, index, c| {
                let size = plan.inner().out;
                plan.coordinates(i64::from((index / size) as u16) * size + index % size, c);
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "row-counter-in-u8",
        about: "the counter of rows has 8 bits",
        seen_in: "arithmetic",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE UINT8 in=257,2 out=257,2 Sizes=257,2 Offsets=0,0 Strides=1,1"],
        fault: Fault {
            coordinates: |plan, index, c| {
                let size = plan.inner().out;
                plan.coordinates(i64::from((index / size) as u8) * size + index % size, c);
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "element-counter-in-f32",
        about: "the counter of elements is held in single precision, which rounds above 2^24",
        seen_in: "arithmetic",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Memory("an output of more than 2^24 elements"),
        witness: &["SLICE UINT8 in=16777219 out=16777219 Sizes=16777219 Offsets=0 Strides=1"],
        fault: Fault { coordinates: |plan, index, c| plan.coordinates(in_float(index, 24), c), ..RIGHT },
    },
    Mutant {
        name: "offset-in-u8",
        about: "offsets are held in 8 bits",
        seen_in: "arithmetic",
        operators: &["SLICE", "SLICE1"],
        needs: Needs::Nothing,
        witness: &["SLICE UINT8 in=300 out=2 Offsets=260 Sizes=2 Strides=1"],
        fault: Fault {
            plan: |plan, _| plan.axes.iter_mut().for_each(|axis| axis.offset = i64::from(axis.offset as u8)),
            ..RIGHT
        },
    },
    Mutant {
        name: "offset-in-i16",
        about: "offsets are held in 16 signed bits",
        seen_in: "arithmetic",
        operators: &["SLICE", "SLICE1"],
        needs: Needs::Nothing,
        witness: &["SLICE UINT8 in=40000 out=2 Offsets=33000 Sizes=2 Strides=1"],
        fault: Fault {
            plan: |plan, _| plan.axes.iter_mut().for_each(|axis| axis.offset = i64::from(axis.offset as i16)),
            ..RIGHT
        },
    },
    Mutant {
        name: "offset-in-u16",
        about: "offsets are held in 16 bits",
        seen_in: "arithmetic",
        operators: &["SLICE", "SLICE1"],
        needs: Needs::Nothing,
        witness: &["SLICE UINT8 in=70000 out=2 Offsets=66000 Sizes=2 Strides=1"],
        fault: Fault {
            plan: |plan, _| plan.axes.iter_mut().for_each(|axis| axis.offset = i64::from(axis.offset as u16)),
            ..RIGHT
        },
    },
    Mutant {
        name: "stride-in-i8",
        about: "strides are held in 8 signed bits",
        seen_in: "arithmetic",
        operators: &["SLICE", "SLICE1"],
        needs: Needs::Nothing,
        witness: &["SLICE UINT8 in=300 out=2 Strides=200 Sizes=2 Offsets=0"],
        fault: Fault {
            plan: |plan, _| plan.axes.iter_mut().for_each(|axis| axis.step = i64::from(axis.step as i8)),
            ..RIGHT
        },
    },
    Mutant {
        name: "stride-in-i16",
        about: "strides are held in 16 signed bits",
        seen_in: "arithmetic",
        operators: &["SLICE", "SLICE1"],
        needs: Needs::Nothing,
        witness: &["SLICE UINT8 in=40000 out=2 Strides=33000 Sizes=2 Offsets=0"],
        fault: Fault {
            plan: |plan, _| plan.axes.iter_mut().for_each(|axis| axis.step = i64::from(axis.step as i16)),
            ..RIGHT
        },
    },
    Mutant {
        name: "stride-in-f16",
        about: "strides are held in half precision, which rounds above 2048",
        seen_in: "arithmetic",
        operators: &["SLICE", "SLICE1"],
        needs: Needs::Nothing,
        witness: &["SLICE UINT16 in=4000 out=2 Strides=2049 Sizes=2 Offsets=0"],
        fault: Fault {
            plan: |plan, _| plan.axes.iter_mut().for_each(|axis| axis.step = in_float(axis.step, 11)),
            ..RIGHT
        },
    },
    Mutant {
        name: "stride-times-index-in-i8",
        about: "the product of a stride and a coordinate is held in 8 signed bits",
        seen_in: "arithmetic",
        operators: &["SLICE", "SLICE1"],
        needs: Needs::Nothing,
        witness: &["SLICE UINT8 in=160 out=2 Strides=140 Sizes=2 Offsets=0"],
        fault: Fault {
            source: |plan, axis, c| match plan.kind {
                Kind::Padding1 => plan.source(axis, c),
                _ => Some(plan.axes[axis].first() + i64::from((plan.axes[axis].step * c) as i8)),
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "window-in-u16",
        about: "windows are held in 16 bits",
        seen_in: "arithmetic",
        operators: &["SLICE1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE1 UINT8 in=65540 out=2 InputWindowSizes=65540 InputWindowStrides=-1 InputWindowOffsets=0",
        ],
        fault: Fault {
            plan: |plan, _| plan.axes.iter_mut().for_each(|axis| axis.window = i64::from(axis.window as u16)),
            ..RIGHT
        },
    },
    Mutant {
        name: "tensor-stride-in-u16",
        about: "the input's strides are held in 16 bits",
        seen_in: "arithmetic",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE UINT8 in=2 out=2 InputTensor.Strides=65537 Sizes=2 Offsets=0 Strides=1"],
        fault: Fault {
            plan: |plan, _| {
                plan.axes.iter_mut().for_each(|axis| axis.input_stride = i64::from(axis.input_stride as u16));
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "tensor-stride-in-i16",
        about: "the input's strides are held in 16 signed bits",
        seen_in: "arithmetic",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE UINT8 in=2 out=2 InputTensor.Strides=32769 Sizes=2 Offsets=0 Strides=1"],
        fault: Fault {
            plan: |plan, _| {
                plan.axes.iter_mut().for_each(|axis| axis.input_stride = i64::from(axis.input_stride as i16));
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "output-stride-in-u16",
        about: "the output's strides are held in 16 bits",
        seen_in: "arithmetic",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE UINT8 in=2 out=2 OutputTensor.Strides=65537 Sizes=2 Offsets=0 Strides=1"],
        fault: Fault {
            plan: |plan, _| {
                plan.axes
                    .iter_mut()
                    .for_each(|axis| axis.output_stride = i64::from(axis.output_stride as u16));
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "padding-in-u8",
        about: "paddings are held in 8 bits",
        seen_in: "arithmetic",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &["PADDING1 UINT8 in=3 out=303 PaddingMode=EDGE StartPadding=300 EndPadding=0"],
        fault: Fault {
            plan: |plan, _| plan.axes.iter_mut().for_each(|axis| axis.start = i64::from(axis.start as u8)),
            ..RIGHT
        },
    },
    Mutant {
        name: "padding-in-i8",
        about: "paddings are held in 8 signed bits",
        seen_in: "arithmetic",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &["PADDING1 UINT8 in=3 out=203 PaddingMode=EDGE StartPadding=200 EndPadding=0"],
        fault: Fault {
            plan: |plan, _| plan.axes.iter_mut().for_each(|axis| axis.start = i64::from(axis.start as i8)),
            ..RIGHT
        },
    },
    Mutant {
        name: "padding-in-u16",
        about: "paddings are held in 16 bits",
        seen_in: "arithmetic",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &["PADDING1 UINT8 in=3 out=65540 PaddingMode=EDGE StartPadding=65537 EndPadding=0"],
        fault: Fault {
            plan: |plan, _| plan.axes.iter_mut().for_each(|axis| axis.start = i64::from(axis.start as u16)),
            ..RIGHT
        },
    },
    Mutant {
        name: "padding-in-i16",
        about: "paddings are held in 16 signed bits",
        seen_in: "arithmetic",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &["PADDING1 UINT8 in=3 out=32772 PaddingMode=EDGE StartPadding=32769 EndPadding=0"],
        fault: Fault {
            plan: |plan, _| plan.axes.iter_mut().for_each(|axis| axis.start = i64::from(axis.start as i16)),
            ..RIGHT
        },
    },
    Mutant {
        name: "padding-in-f16",
        about: "paddings are held in half precision, which rounds above 2048",
        seen_in: "arithmetic",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &["PADDING1 UINT8 in=3 out=2052 PaddingMode=EDGE StartPadding=2049 EndPadding=0"],
        fault: Fault {
            plan: |plan, _| plan.axes.iter_mut().for_each(|axis| axis.start = in_float(axis.start, 11)),
            ..RIGHT
        },
    },
    Mutant {
        name: "size-in-i8",
        about: "the input's sizes are held in 8 signed bits, and EDGE clamps to them",
        seen_in: "arithmetic",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &["PADDING1 UINT8 in=130 out=131 PaddingMode=EDGE EndPadding=1 StartPadding=0"],
        fault: Fault {
            plan: |plan, _| {
                if plan.kind == Kind::Padding1 {
                    plan.axes.iter_mut().for_each(|axis| axis.n = i64::from(axis.n as i8).max(1));
                }
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "twice-size-in-u8",
        about: "the period of a mirror is held in 8 bits",
        seen_in: "arithmetic",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &["PADDING1 UINT8 in=130 out=133 PaddingMode=SYMMETRIC EndPadding=3 StartPadding=0"],
        fault: Fault {
            source: |plan, axis, c| match plan.axes[axis] {
                Axis { n, start, .. } if plan.kind == Kind::Padding1 && plan.mode == SYMMETRIC => {
                    let period = i64::from((2 * n) as u8).max(1);
                    Some(mirror((c - start).rem_euclid(period), period - 1))
                }
                _ => plan.source(axis, c),
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "fold-with-four-steps",
        about: "folds are repeated at most four times",
        seen_in: "arithmetic",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &["PADDING1 FLOAT32 in=2 out=8 PaddingMode=REFLECTION EndPadding=6 StartPadding=0"],
        fault: Fault {
            source: |plan, axis, c| match plan.axes[axis] {
                Axis { n, start, .. } if plan.kind == Kind::Padding1 && plan.mode == REFLECTION => {
                    let mut at = c - start;
                    for _ in 0..4 {
                        at = if at < 0 {
                            -at
                        } else if at >= n {
                            2 * (n - 1) - at
                        } else {
                            at
                        };
                    }
                    Some(at.clamp(0, n - 1))
                }
                _ => plan.source(axis, c),
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "wrap-with-sixteen-steps",
        about: "WRAP subtracts the size at most sixteen times",
        seen_in: "arithmetic",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &["PADDING1 FLOAT32 in=2 out=36 PaddingMode=WRAP EndPadding=34 StartPadding=0"],
        fault: Fault {
            source: |plan, axis, c| match plan.axes[axis] {
                Axis { n, start, .. } if plan.kind == Kind::Padding1 && plan.mode == WRAP => {
                    let mut at = c - start;
                    for _ in 0..16 {
                        at = if at < 0 {
                            at + n
                        } else if at >= n {
                            at - n
                        } else {
                            at
                        };
                    }
                    Some(at.clamp(0, n - 1))
                }
                _ => plan.source(axis, c),
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "fold-with-256-steps",
        about: "WRAP subtracts the size at most 256 times",
        seen_in: "arithmetic",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "PADDING1 FLOAT32 in=1 out=259 PaddingMode=WRAP EndPadding=258 PaddingValue=9 StartPadding=0",
        ],
        fault: Fault {
            source: |plan, axis, c| match plan.axes[axis] {
                Axis { n, start, .. } if plan.kind == Kind::Padding1 && plan.mode == WRAP => {
                    let (at, most) = (c - start, 256 * n);
                    fold(WRAP, at, n).filter(|_| (-most..most).contains(&at))
                }
                _ => plan.source(axis, c),
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "wrap-by-reciprocal",
        about: "the remainder of WRAP multiplies with the reciprocal of the size in single precision",
        seen_in: "arithmetic",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &["PADDING1 FLOAT32 in=41 out=82 PaddingMode=WRAP EndPadding=41 StartPadding=0"],
        fault: Fault {
            source: |plan, axis, c| match plan.axes[axis] {
                Axis { n, start, .. } if plan.kind == Kind::Padding1 && plan.mode == WRAP => {
                    Some(remainder_by_reciprocal(c - start, n))
                }
                _ => plan.source(axis, c),
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "symmetric-by-reciprocal",
        about: "the remainder of SYMMETRIC multiplies with the reciprocal of the period in single precision",
        seen_in: "arithmetic",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &["PADDING1 FLOAT32 in=41 out=123 PaddingMode=SYMMETRIC EndPadding=82 StartPadding=0"],
        fault: Fault {
            source: |plan, axis, c| match plan.axes[axis] {
                Axis { n, start, .. } if plan.kind == Kind::Padding1 && plan.mode == SYMMETRIC => {
                    Some(mirror(remainder_by_reciprocal(c - start, 2 * n), 2 * n - 1))
                }
                _ => plan.source(axis, c),
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "coordinates-by-reciprocal",
        about: "an index is divided by a size through its reciprocal in single precision",
        seen_in: "arithmetic",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=2,50 out=2,41 Sizes=2,41 Offsets=0,0 Strides=1,1"],
        fault: Fault {
            coordinates: |plan, index, c| {
                let mut left = index;
                for (axis, c) in plan.axes.iter().zip(c).rev() {
                    *c = remainder_by_reciprocal(left, axis.out);
                    left = (left - *c) / axis.out;
                }
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "reflection-fold-in-u8",
        about: "the distance from the input is held in 8 bits before REFLECTION folds it",
        seen_in: "arithmetic",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &["PADDING1 UINT8 in=4 out=304 PaddingMode=REFLECTION StartPadding=300 EndPadding=0"],
        fault: Fault {
            source: |plan, axis, c| match plan.axes[axis] {
                Axis { n, start, .. }
                    if plan.kind == Kind::Padding1 && plan.mode == REFLECTION && c < start =>
                {
                    fold(REFLECTION, -i64::from((start - c) as u8), n)
                }
                _ => plan.source(axis, c),
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "negative-step-remainder-truncated",
        about: "a negative stride's start is rounded to a multiple of the stride",
        seen_in: "arithmetic",
        operators: &["SLICE1"],
        needs: Needs::Nothing,
        witness: &["SLICE1 FLOAT32 in=6 out=2 InputWindowStrides=-4 InputWindowOffsets=0 InputWindowSizes=6"],
        fault: Fault {
            source: |plan, axis, c| match plan.axes[axis] {
                axis if axis.step < -1 => Some(axis.first() / axis.step * axis.step + axis.step * c),
                _ => plan.source(axis, c),
            },
            ..RIGHT
        },
    },
];
