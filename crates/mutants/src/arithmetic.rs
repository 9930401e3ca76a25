//! Faults of numbers: integers that are too narrow for indices, and divisions without a division.

use crate::{
    kernel::{AxisNumbers, OperatorKind, REFLECTION, SYMMETRIC, WRAP, fold, mirror, reflect_once},
    mutant::{ALL, Mutant, Needs, PADDING1, SLICE1, SLICES},
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

/// A mutant of this theme.
const fn arithmetic(name: &'static str, operators: &'static [&'static str]) -> Mutant {
    Mutant::new(name, operators).seen_in("arithmetic")
}

pub(crate) const MUTANTS: &[Mutant] = &[
    arithmetic("coordinate-in-u8", ALL)
        .about("input coordinates are held in 8 bits")
        .witness(&["SLICE UINT8 in=300 out=300 Sizes=300 Offsets=0 Strides=1"])
        .source(|plan, axis, c| plan.source(axis, c).map(|at| i64::from(at as u8))),
    arithmetic("coordinate-in-i8", ALL)
        .about("input coordinates are held in 8 signed bits")
        .witness(&["SLICE UINT8 in=200 out=200 Sizes=200 Offsets=0 Strides=1"])
        .source(|plan, axis, c| plan.source(axis, c).map(|at| i64::from(at as i8))),
    arithmetic("coordinate-in-u16", ALL)
        .about("input coordinates are held in 16 bits")
        .witness(&["SLICE UINT8 in=65540 out=4 Offsets=65536 Sizes=4 Strides=1"])
        .source(|plan, axis, c| plan.source(axis, c).map(|at| i64::from(at as u16))),
    arithmetic("coordinate-in-i16", ALL)
        .about("input coordinates are held in 16 signed bits")
        .witness(&["SLICE UINT8 in=32772 out=4 Offsets=32768 Sizes=4 Strides=1"])
        .source(|plan, axis, c| plan.source(axis, c).map(|at| i64::from(at as i16))),
    arithmetic("coordinate-in-f16", ALL)
        .about("input coordinates are held in half precision, which rounds above 2048")
        .witness(&["SLICE UINT16 in=4096 out=4 Offsets=2049 Sizes=4 Strides=1"])
        .source(|plan, axis, c| plan.source(axis, c).map(|at| in_float(at, 11))),
    arithmetic("coordinate-in-f32", ALL)
        .about("input coordinates are held in single precision, which rounds above 2^24")
        .needs(Needs::Memory("an axis of more than 2^24 elements"))
        .witness(&["SLICE UINT8 in=16777220 out=2 Offsets=16777217 Sizes=2 Strides=1"])
        .source(|plan, axis, c| plan.source(axis, c).map(|at| in_float(at, 24))),
    arithmetic("input-index-in-u16", ALL)
        .about("the index of an input element is held in 16 bits")
        .witness(&["SLICE UINT8 in=2,40000 out=1,2 Offsets=1,30000 Sizes=1,2 Strides=1,1"])
        .from(|plan, at| i64::from(plan.from(at) as u16)),
    arithmetic("input-index-in-i16", ALL)
        .about("the index of an input element is held in 16 signed bits")
        .witness(&["SLICE UINT8 in=2,20000 out=1,2 Offsets=1,19000 Sizes=1,2 Strides=1,1"])
        .from(|plan, at| i64::from(plan.from(at) as i16)),
    arithmetic("input-index-in-f16", ALL)
        .about("the index of an input element is held in half precision, which rounds above 2048")
        .witness(&["SLICE UINT16 in=2,2049 out=2,2 Sizes=2,2 Offsets=0,0 Strides=1,1"])
        .from(|plan, at| in_float(plan.from(at), 11)),
    arithmetic("input-index-in-f32", ALL)
        .about("the index of an input element is held in single precision, which rounds above 2^24")
        .needs(Needs::Memory("an input of more than 2^24 elements"))
        .witness(&["SLICE UINT8 in=2 out=2 InputTensor.Strides=16777217 Sizes=2 Offsets=0 Strides=1"])
        .from(|plan, at| in_float(plan.from(at), 24)),
    arithmetic("input-index-in-i32", ALL)
        .about("the index of an input element wraps at 2^31")
        .seen_in("pytorch#182052")
        .needs(Needs::Beyond("an input of more than 2^31 elements"))
        .witness(&["SLICE UINT8 in=2 out=2 InputTensor.Strides=2147483649 Sizes=2 Offsets=0 Strides=1"])
        .from(|plan, at| i64::from(plan.from(at) as i32)),
    arithmetic("input-byte-in-u16", ALL)
        .about("the byte of an input element is held in 16 bits")
        .witness(&["SLICE FLOAT32 in=20000 out=2 Offsets=17000 Sizes=2 Strides=1"])
        .from(|plan, at| i64::from((plan.from(at) * plan.width as i64) as u16) / plan.width as i64),
    arithmetic("input-byte-in-u32", ALL)
        .about("the byte of an input element is held in 32 bits")
        .seen_in("pytorch#153560")
        .needs(Needs::Beyond("an input of more than 2^32 bytes"))
        .witness(&["SLICE FLOAT64 in=2 out=2 InputTensor.Strides=536870913 Sizes=2 Offsets=0 Strides=1"])
        .from(|plan, at| i64::from((plan.from(at) * plan.width as i64) as u32) / plan.width as i64),
    arithmetic("input-bit-in-u32", ALL)
        .about("the bit of an input element is held in 32 bits")
        .needs(Needs::Beyond("an input of more than 2^29 bytes"))
        .witness(&["SLICE UINT8 in=2 out=2 InputTensor.Strides=536870913 Sizes=2 Offsets=0 Strides=1"])
        .from(|plan, at| i64::from((plan.from(at) * plan.width as i64 * 8) as u32) / (plan.width as i64 * 8)),
    arithmetic("output-index-in-u16", ALL)
        .about("the index of an output element is held in 16 bits")
        .witness(&["SLICE UINT8 in=65540 out=65540 Sizes=65540 Offsets=0 Strides=1"])
        .to(|plan, c| i64::from(plan.to(c) as u16)),
    arithmetic("output-index-in-i16", ALL)
        .about("the index of an output element is held in 16 signed bits")
        .witness(&["SLICE UINT8 in=32769 out=32769 Sizes=32769 Offsets=0 Strides=1"])
        .to(|plan, c| i64::from(plan.to(c) as i16)),
    arithmetic("output-index-in-f16", ALL)
        .about("the index of an output element is held in half precision, which rounds above 2048")
        .witness(&["SLICE UINT8 in=2050 out=2050 Sizes=2050 Offsets=0 Strides=1"])
        .to(|plan, c| in_float(plan.to(c), 11)),
    arithmetic("element-counter-in-u16", ALL)
        .about("the counter of elements has 16 bits, so that it begins again behind 65536")
        .witness(&["SLICE UINT8 in=65540 out=65540 Sizes=65540 Offsets=0 Strides=1"])
        .coordinates(|plan, index, c| plan.coordinates(i64::from(index as u16), c)),
    arithmetic("row-counter-in-u16", ALL)
        .about("the counter of rows has 16 bits")
        .witness(&["SLICE UINT8 in=65537,2 out=65537,2 Sizes=65537,2 Offsets=0,0 Strides=1,1"])
        .coordinates(|plan, index, c| {
            let size = plan.inner().out;
            plan.coordinates(i64::from((index / size) as u16) * size + index % size, c);
        }),
    arithmetic("row-counter-in-u8", ALL)
        .about("the counter of rows has 8 bits")
        .witness(&["SLICE UINT8 in=257,2 out=257,2 Sizes=257,2 Offsets=0,0 Strides=1,1"])
        .coordinates(|plan, index, c| {
            let size = plan.inner().out;
            plan.coordinates(i64::from((index / size) as u8) * size + index % size, c);
        }),
    arithmetic("element-counter-in-f32", ALL)
        .about("the counter of elements is held in single precision, which rounds above 2^24")
        .needs(Needs::Memory("an output of more than 2^24 elements"))
        .witness(&["SLICE UINT8 in=16777219 out=16777219 Sizes=16777219 Offsets=0 Strides=1"])
        .coordinates(|plan, index, c| plan.coordinates(in_float(index, 24), c)),
    arithmetic("offset-in-u8", SLICES)
        .about("offsets are held in 8 bits")
        .witness(&["SLICE UINT8 in=300 out=2 Offsets=260 Sizes=2 Strides=1"])
        .plan(|plan, _| plan.each(|axis| axis.offset = i64::from(axis.offset as u8))),
    arithmetic("offset-in-i16", SLICES)
        .about("offsets are held in 16 signed bits")
        .witness(&["SLICE UINT8 in=40000 out=2 Offsets=33000 Sizes=2 Strides=1"])
        .plan(|plan, _| plan.each(|axis| axis.offset = i64::from(axis.offset as i16))),
    arithmetic("offset-in-u16", SLICES)
        .about("offsets are held in 16 bits")
        .witness(&["SLICE UINT8 in=70000 out=2 Offsets=66000 Sizes=2 Strides=1"])
        .plan(|plan, _| plan.each(|axis| axis.offset = i64::from(axis.offset as u16))),
    arithmetic("stride-in-i8", SLICES)
        .about("strides are held in 8 signed bits")
        .witness(&["SLICE UINT8 in=300 out=2 Strides=200 Sizes=2 Offsets=0"])
        .plan(|plan, _| plan.each(|axis| axis.step = i64::from(axis.step as i8))),
    arithmetic("stride-in-i16", SLICES)
        .about("strides are held in 16 signed bits")
        .witness(&["SLICE UINT8 in=40000 out=2 Strides=33000 Sizes=2 Offsets=0"])
        .plan(|plan, _| plan.each(|axis| axis.step = i64::from(axis.step as i16))),
    arithmetic("stride-in-f16", SLICES)
        .about("strides are held in half precision, which rounds above 2048")
        .witness(&["SLICE UINT16 in=4000 out=2 Strides=2049 Sizes=2 Offsets=0"])
        .plan(|plan, _| plan.each(|axis| axis.step = in_float(axis.step, 11))),
    arithmetic("stride-times-index-in-i8", SLICES)
        .about("the product of a stride and a coordinate is held in 8 signed bits")
        .witness(&["SLICE UINT8 in=160 out=2 Strides=140 Sizes=2 Offsets=0"])
        .source(|plan, axis, c| match plan.kind {
            OperatorKind::Padding1 => plan.source(axis, c),
            _ => Some(plan.axes[axis].first() + i64::from((plan.axes[axis].step * c) as i8)),
        }),
    arithmetic("window-in-u16", SLICE1)
        .about("windows are held in 16 bits")
        .witness(&[
            "SLICE1 UINT8 in=65540 out=2 InputWindowSizes=65540 InputWindowStrides=-1 InputWindowOffsets=0",
        ])
        .plan(|plan, _| plan.each(|axis| axis.window = i64::from(axis.window as u16))),
    arithmetic("tensor-stride-in-u16", ALL)
        .about("the input's strides are held in 16 bits")
        .witness(&["SLICE UINT8 in=2 out=2 InputTensor.Strides=65537 Sizes=2 Offsets=0 Strides=1"])
        .plan(|plan, _| plan.each(|axis| axis.input_stride = i64::from(axis.input_stride as u16))),
    arithmetic("tensor-stride-in-i16", ALL)
        .about("the input's strides are held in 16 signed bits")
        .witness(&["SLICE UINT8 in=2 out=2 InputTensor.Strides=32769 Sizes=2 Offsets=0 Strides=1"])
        .plan(|plan, _| plan.each(|axis| axis.input_stride = i64::from(axis.input_stride as i16))),
    arithmetic("output-stride-in-u16", ALL)
        .about("the output's strides are held in 16 bits")
        .witness(&["SLICE UINT8 in=2 out=2 OutputTensor.Strides=65537 Sizes=2 Offsets=0 Strides=1"])
        .plan(|plan, _| plan.each(|axis| axis.output_stride = i64::from(axis.output_stride as u16))),
    arithmetic("padding-in-u8", PADDING1)
        .about("paddings are held in 8 bits")
        .witness(&["PADDING1 UINT8 in=3 out=303 PaddingMode=EDGE StartPadding=300 EndPadding=0"])
        .plan(|plan, _| plan.each(|axis| axis.start = i64::from(axis.start as u8))),
    arithmetic("padding-in-i8", PADDING1)
        .about("paddings are held in 8 signed bits")
        .witness(&["PADDING1 UINT8 in=3 out=203 PaddingMode=EDGE StartPadding=200 EndPadding=0"])
        .plan(|plan, _| plan.each(|axis| axis.start = i64::from(axis.start as i8))),
    arithmetic("padding-in-u16", PADDING1)
        .about("paddings are held in 16 bits")
        .witness(&["PADDING1 UINT8 in=3 out=65540 PaddingMode=EDGE StartPadding=65537 EndPadding=0"])
        .plan(|plan, _| plan.each(|axis| axis.start = i64::from(axis.start as u16))),
    arithmetic("padding-in-i16", PADDING1)
        .about("paddings are held in 16 signed bits")
        .witness(&["PADDING1 UINT8 in=3 out=32772 PaddingMode=EDGE StartPadding=32769 EndPadding=0"])
        .plan(|plan, _| plan.each(|axis| axis.start = i64::from(axis.start as i16))),
    arithmetic("padding-in-f16", PADDING1)
        .about("paddings are held in half precision, which rounds above 2048")
        .witness(&["PADDING1 UINT8 in=3 out=2052 PaddingMode=EDGE StartPadding=2049 EndPadding=0"])
        .plan(|plan, _| plan.each(|axis| axis.start = in_float(axis.start, 11))),
    arithmetic("size-in-i8", PADDING1)
        .about("the input's sizes are held in 8 signed bits, and EDGE clamps to them")
        .witness(&["PADDING1 UINT8 in=130 out=131 PaddingMode=EDGE EndPadding=1 StartPadding=0"])
        .plan_where(
            |plan, _| plan.kind == OperatorKind::Padding1,
            |plan| plan.each(|axis| axis.n = i64::from(axis.n as i8).max(1)),
        ),
    arithmetic("twice-size-in-u8", PADDING1)
        .about("the period of a mirror is held in 8 bits")
        .witness(&["PADDING1 UINT8 in=130 out=133 PaddingMode=SYMMETRIC EndPadding=3 StartPadding=0"])
        .source(|plan, axis, c| match plan.axes[axis] {
            AxisNumbers { n, start, .. } if plan.mode == SYMMETRIC => {
                let period = i64::from((2 * n) as u8).max(1);
                Some(mirror((c - start).rem_euclid(period), period - 1))
            }
            _ => plan.source(axis, c),
        }),
    arithmetic("fold-with-four-steps", PADDING1)
        .about("folds are repeated at most four times")
        .witness(&["PADDING1 FLOAT32 in=2 out=8 PaddingMode=REFLECTION EndPadding=6 StartPadding=0"])
        .folds(REFLECTION, |mut at, n| {
            for _ in 0..4 {
                at = reflect_once(at, n);
            }
            Some(at.clamp(0, n - 1))
        }),
    arithmetic("wrap-with-sixteen-steps", PADDING1)
        .about("WRAP subtracts the size at most sixteen times")
        .witness(&["PADDING1 FLOAT32 in=2 out=36 PaddingMode=WRAP EndPadding=34 StartPadding=0"])
        .folds(WRAP, |mut at, n| {
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
        }),
    arithmetic("fold-with-256-steps", PADDING1)
        .about("WRAP subtracts the size at most 256 times")
        .witness(&[
            "PADDING1 FLOAT32 in=1 out=259 PaddingMode=WRAP EndPadding=258 PaddingValue=9 StartPadding=0",
        ])
        .folds(WRAP, |at, n| fold(WRAP, at, n).filter(|_| (-256 * n..256 * n).contains(&at))),
    arithmetic("wrap-by-reciprocal", PADDING1)
        .about("the remainder of WRAP multiplies with the reciprocal of the size in single precision")
        .witness(&["PADDING1 FLOAT32 in=41 out=82 PaddingMode=WRAP EndPadding=41 StartPadding=0"])
        .source(|plan, axis, c| match plan.axes[axis] {
            AxisNumbers { n, start, .. } if plan.mode == WRAP => Some(remainder_by_reciprocal(c - start, n)),
            _ => plan.source(axis, c),
        }),
    arithmetic("symmetric-by-reciprocal", PADDING1)
        .about("the remainder of SYMMETRIC multiplies with the reciprocal of the period in single precision")
        .witness(&["PADDING1 FLOAT32 in=41 out=123 PaddingMode=SYMMETRIC EndPadding=82 StartPadding=0"])
        .source(|plan, axis, c| match plan.axes[axis] {
            AxisNumbers { n, start, .. } if plan.mode == SYMMETRIC => {
                Some(mirror(remainder_by_reciprocal(c - start, 2 * n), 2 * n - 1))
            }
            _ => plan.source(axis, c),
        }),
    arithmetic("coordinates-by-reciprocal", ALL)
        .about("an index is divided by a size through its reciprocal in single precision")
        .witness(&["SLICE FLOAT32 in=2,50 out=2,41 Sizes=2,41 Offsets=0,0 Strides=1,1"])
        .coordinates(|plan, index, c| {
            let mut left = index;
            for (axis, c) in plan.axes.iter().zip(c).rev() {
                *c = remainder_by_reciprocal(left, axis.out);
                left = (left - *c) / axis.out;
            }
        }),
    arithmetic("reflection-fold-in-u8", PADDING1)
        .about("the distance from the input is held in 8 bits before REFLECTION folds it")
        .witness(&["PADDING1 UINT8 in=4 out=304 PaddingMode=REFLECTION StartPadding=300 EndPadding=0"])
        .folds(REFLECTION, |at, n| fold(REFLECTION, if at < 0 { -i64::from(-at as u8) } else { at }, n)),
    arithmetic("negative-step-remainder-truncated", SLICE1)
        .about("a negative stride's start is rounded to a multiple of the stride")
        .witness(&["SLICE1 FLOAT32 in=6 out=2 InputWindowStrides=-4 InputWindowOffsets=0 InputWindowSizes=6"])
        .source(|plan, axis, c| match plan.axes[axis] {
            axis if axis.step < -1 => Some(axis.first() / axis.step * axis.step + axis.step * c),
            _ => plan.source(axis, c),
        }),
];
