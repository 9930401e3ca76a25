//! Faults of PADDING1: folds, sides, modes, and the padding value.

use dmlcts_model::DataType;

use crate::{
    kernel::{
        AxisNumbers, CONSTANT, EDGE, OperatorKind, REFLECTION, SYMMETRIC, WRAP, fold, mirror, reflect_once,
    },
    mutant::{Mutant, PADDING1},
};

/// A coordinate if it is inside of the input, or else the padding value.
fn inside(at: i64, n: i64) -> Option<i64> {
    (0..n).contains(&at).then_some(at)
}

/// A mutant of this theme.
const fn padding(name: &'static str) -> Mutant {
    Mutant::new(name, PADDING1)
}

pub(crate) const MUTANTS: &[Mutant] = &[
    padding("padding-reflection-folds-once")
        .about("REFLECTION folds once, and elements farther out are the padding value")
        .seen_in("onnxruntime#8265, #16401, #20801, onnx#6735")
        .witness(&["PADDING1 FLOAT32 in=3 out=6 PaddingMode=REFLECTION StartPadding=3 EndPadding=0"])
        .folds(REFLECTION, |at, n| inside(reflect_once(at, n), n)),
    padding("padding-symmetric-folds-once")
        .about("SYMMETRIC folds once, and elements farther out are the padding value")
        .seen_in("onnxruntime#8265")
        .witness(&["PADDING1 FLOAT32 in=3 out=7 PaddingMode=SYMMETRIC StartPadding=4 EndPadding=0"])
        .folds(SYMMETRIC, |at, n| inside(if at < 0 { -1 - at } else { 2 * n - 1 - at }, n)),
    padding("padding-wrap-folds-once")
        .about("WRAP repeats once, and elements farther out are the padding value")
        .seen_in("onnxruntime#32725")
        .witness(&["PADDING1 FLOAT32 in=3 out=7 PaddingMode=WRAP StartPadding=4 EndPadding=0"])
        .folds(WRAP, |at, n| inside(if at < 0 { at + n } else { at - n }, n)),
    padding("padding-reflection-folds-twice")
        .about("REFLECTION folds twice, and elements farther out are clamped to the edge")
        .witness(&["PADDING1 FLOAT32 in=2 out=6 PaddingMode=REFLECTION StartPadding=4 EndPadding=0"])
        .folds(REFLECTION, |at, n| Some(reflect_once(reflect_once(at, n), n).clamp(0, n - 1))),
    padding("padding-start-sign-flipped")
        .about("the sign of the start padding is flipped")
        .seen_in("onnxruntime#2433, #2550")
        .witness(&["PADDING1 FLOAT32 in=3 out=4 PaddingMode=EDGE StartPadding=1 EndPadding=0"])
        .source(|plan, axis, c| match plan.kind {
            OperatorKind::Padding1 => fold(plan.mode, c + plan.axes[axis].start, plan.axes[axis].n),
            _ => plan.source(axis, c),
        }),
    padding("padding-folds-over-padded")
        .about("behind its end, REFLECTION folds over the buffer that already has the start padding")
        .seen_in("numpy#25926, #28575")
        .witness(&["PADDING1 FLOAT32 in=3 out=8 PaddingMode=REFLECTION StartPadding=1 EndPadding=4"])
        .source(|plan, axis, c| match plan.axes[axis] {
            AxisNumbers { n, start, .. } if plan.mode == REFLECTION && c >= start + n => {
                fold(REFLECTION, fold(REFLECTION, c, start + n)? - start, n)
            }
            _ => plan.source(axis, c),
        }),
    padding("padding-wrap-period-is-output")
        .about("the period of WRAP is the padded size")
        .seen_in("numpy#22464")
        .witness(&["PADDING1 FLOAT32 in=3 out=5 PaddingMode=WRAP StartPadding=2 EndPadding=0"])
        .source(|plan, axis, c| match plan.axes[axis] {
            AxisNumbers { n, out, start, .. } if plan.mode == WRAP => {
                Some((c - start).rem_euclid(out).min(n - 1))
            }
            _ => plan.source(axis, c),
        }),
    padding("padding-reflection-reads-outside")
        .about(
            "the first fold of REFLECTION behind the end is one element late, and reads outside of the \
            axis",
        )
        .seen_in("onnxruntime#27652")
        .witness(&["PADDING1 FLOAT32 in=2,3 out=2,4 PaddingMode=REFLECTION EndPadding=0,1 StartPadding=0,0"])
        .folds(REFLECTION, |at, n| if at == n { Some(n) } else { fold(REFLECTION, at, n) }),
    padding("padding-symmetric-reads-outside")
        .about("SYMMETRIC reads the element before the axis at its first fold")
        .seen_in("onnxruntime#27652")
        .witness(&["PADDING1 FLOAT32 in=2,3 out=2,4 PaddingMode=SYMMETRIC StartPadding=0,1 EndPadding=0,0"])
        .folds(SYMMETRIC, |at, n| if at == -1 { Some(-1) } else { fold(SYMMETRIC, at, n) }),
    padding("padding-end-of-zero-is-everything")
        .about("CONSTANT fills an axis whole if it has start padding but no end padding")
        .seen_in("pytorch#24504, #37256")
        .witness(&[
            "PADDING1 FLOAT32 in=3 out=5 PaddingMode=CONSTANT StartPadding=2 PaddingValue=9 EndPadding=0",
        ])
        .source(|plan, axis, c| match plan.axes[axis] {
            AxisNumbers { start: 1.., end: 0, .. }
                if plan.mode == CONSTANT && plan.kind == OperatorKind::Padding1 =>
            {
                None
            }
            _ => plan.source(axis, c),
        }),
    padding("padding-axes-reversed")
        .about("the paddings apply to the axes in reverse order")
        .seen_in("pytorch#37844")
        .witness(&["PADDING1 FLOAT32 in=2,2 out=3,3 PaddingMode=EDGE StartPadding=1,0 EndPadding=0,1"])
        .plan(|plan, _| {
            let pairs: Vec<_> = plan.axes.iter().rev().map(|axis| (axis.start, axis.end)).collect();
            plan.axes.iter_mut().zip(pairs).for_each(|(axis, pair)| (axis.start, axis.end) = pair);
        }),
    padding("padding-lanes-read-neighbour")
        .about("CONSTANT reads the neighbouring row for the first element outside of a row")
        .seen_in("pytorch#189895")
        .witness(&["PADDING1 FLOAT32 in=2,3 out=2,4 PaddingMode=CONSTANT EndPadding=0,1 PaddingValue=9 \
            StartPadding=0,0"])
        .source(|plan, axis, c| match plan.axes[axis] {
            AxisNumbers { n, start, .. }
                if plan.kind == OperatorKind::Padding1
                    && plan.mode == CONSTANT
                    && axis > 0
                    && c - start == n =>
            {
                Some(n)
            }
            _ => plan.source(axis, c),
        }),
    padding("padding-symmetric-is-reflection")
        .about("SYMMETRIC runs as REFLECTION")
        .seen_in("coremltools#2280")
        .witness(&["PADDING1 FLOAT32 in=3 out=4 PaddingMode=SYMMETRIC StartPadding=1 EndPadding=0"])
        .plan_where(|plan, _| plan.mode == SYMMETRIC, |plan| plan.mode = REFLECTION),
    padding("padding-reflection-is-symmetric")
        .about("REFLECTION runs as SYMMETRIC")
        .seen_in("coremltools#2280")
        .witness(&["PADDING1 FLOAT32 in=3 out=4 PaddingMode=REFLECTION StartPadding=1 EndPadding=0"])
        .plan_where(|plan, _| plan.mode == REFLECTION, |plan| plan.mode = SYMMETRIC),
    padding("padding-wrap-is-edge")
        .about("WRAP, the newest mode, runs as EDGE")
        .witness(&["PADDING1 FLOAT32 in=3 out=4 PaddingMode=WRAP StartPadding=1 EndPadding=0"])
        .plan_where(|plan, _| plan.mode == WRAP, |plan| plan.mode = EDGE),
    padding("padding-equal-sides-cancel")
        .about("equal start and end paddings cancel each other")
        .seen_in("xla#48715")
        .witness(&["PADDING1 FLOAT32 in=3 out=5 PaddingMode=EDGE StartPadding=1 EndPadding=1"])
        .plan(|plan, _| plan.each_where(|axis| axis.start == axis.end, |axis| axis.start = 0)),
    padding("padding-fill-not-written")
        .about("elements of the padding value are never written")
        .seen_in("jax#39120")
        .witness(&["PADDING1 FLOAT32 in=3 out=4 PaddingMode=CONSTANT StartPadding=1 EndPadding=0"])
        .visits(|plan, _, c| !plan.is_fill(c)),
    padding("padding-float-value-halved")
        .about("a FLOAT32 padding value is cut to 16 bits, which are written twice")
        .seen_in("tt-metal#52326")
        .witness(&[
            "PADDING1 FLOAT32 in=3 out=4 PaddingMode=CONSTANT StartPadding=1 PaddingValue=1.1 EndPadding=0",
        ])
        .converts_fill(DataType::FLOAT32, |bits| bits >> 16 << 16 | bits >> 16),
    padding("padding-every-mode-is-constant")
        .about("every mode runs as CONSTANT")
        .seen_in("Paddle-Lite#9506")
        .witness(&["PADDING1 FLOAT32 in=3 out=4 PaddingMode=EDGE StartPadding=1 EndPadding=0"])
        .plan(|plan, _| plan.mode = CONSTANT),
    padding("padding-interior-not-copied")
        .about("the elements inside of the input are not copied")
        .seen_in("DirectML#387")
        .witness(&["PADDING1 FLOAT32 in=3 out=4 PaddingMode=EDGE StartPadding=1 EndPadding=0"])
        .visits(|plan, _, c| plan.kind != OperatorKind::Padding1 || plan.outside(c) > 0),
    padding("padding-tests-end-only")
        .about("CONSTANT tests the end of an axis only, and reads before the start")
        .seen_in("pytorch#80192")
        .witness(&["PADDING1 FLOAT32 in=2,3 out=2,4 PaddingMode=CONSTANT StartPadding=0,1 PaddingValue=9 \
            EndPadding=0,0"])
        .folds(CONSTANT, |at, _| (at < 0).then_some(at)),
    padding("padding-tests-start-only")
        .about("CONSTANT tests the start of an axis only, and reads behind the end")
        .seen_in("pytorch#80192")
        .witness(&["PADDING1 FLOAT32 in=2,3 out=2,4 PaddingMode=CONSTANT EndPadding=0,1 PaddingValue=9 \
            StartPadding=0,0"])
        .folds(CONSTANT, |at, n| (at >= n).then_some(at)),
    padding("padding-every-second-amount-is-zero")
        .about("every second amount of padding is read as 0")
        .seen_in("onnx2tf#351")
        .witness(&["PADDING1 FLOAT32 in=2,3 out=2,4 PaddingMode=EDGE StartPadding=0,1 EndPadding=0,0"])
        .plan(|plan, _| plan.axes.iter_mut().skip(1).step_by(2).for_each(|axis| axis.start = 0)),
    padding("padding-starts-and-ends-swapped")
        .about("start and end paddings are swapped")
        .witness(&["PADDING1 FLOAT32 in=3 out=4 PaddingMode=EDGE StartPadding=1 EndPadding=0"])
        .plan(|plan, _| plan.each(|axis| (axis.start, axis.end) = (axis.end, axis.start))),
    padding("padding-pairs-read-interleaved")
        .about("starts and ends are read as pairs, one axis after another")
        .seen_in("FFI")
        .witness(&["PADDING1 FLOAT32 in=2,2 out=3,3 PaddingMode=EDGE StartPadding=1,1 EndPadding=0,0"])
        .plan(|plan, _| {
            if plan.kind == OperatorKind::Padding1 {
                let both =
                    plan.axes.iter().map(|axis| axis.start).chain(plan.axes.iter().map(|axis| axis.end));
                let starts: Vec<_> = both.step_by(2).collect();
                plan.axes.iter_mut().zip(starts).for_each(|(axis, start)| axis.start = start);
            }
        }),
    padding("padding-mirrors-of-two-axes-unwritten")
        .about(
            "REFLECTION and SYMMETRIC of two padded axes with another between them leave the padding \
            unwritten",
        )
        .seen_in("MNN 3.6.1")
        .witness(&[
            "PADDING1 FLOAT32 in=2,2,2 out=3,2,3 PaddingMode=SYMMETRIC StartPadding=1,0,1 EndPadding=0,0,0",
        ])
        .visits(|plan, _, c| {
            let padded: Vec<_> = (0..plan.rank()).filter(|&axis| plan.axes[axis].is_padded()).collect();
            let is_pair = matches!(padded[..], [first, second] if second > first + 1);
            !(is_pair && [REFLECTION, SYMMETRIC].contains(&plan.mode) && plan.outside(c) > 0)
        }),
    padding("padding-edge-of-start-only")
        .about("EDGE repeats the first element on both sides")
        .witness(&["PADDING1 FLOAT32 in=3 out=4 PaddingMode=EDGE EndPadding=1 StartPadding=0"])
        .folds(EDGE, |_, _| Some(0)),
    padding("padding-edge-clamps-late")
        .about("EDGE clamps to the size instead of the last element")
        .witness(&["PADDING1 FLOAT32 in=2,3 out=2,4 PaddingMode=EDGE EndPadding=0,1 StartPadding=0,0"])
        .folds(EDGE, |at, n| Some(at.clamp(0, n))),
    padding("padding-edge-corners-unwritten")
        .about("EDGE does not write elements that are outside on two axes")
        .witness(&["PADDING1 FLOAT32 in=2,2 out=3,3 PaddingMode=EDGE StartPadding=1,1 EndPadding=0,0"])
        .visits(|plan, _, c| plan.mode != EDGE || plan.outside(c) < 2),
    padding("padding-reflection-corners-unwritten")
        .about("REFLECTION does not write elements that are outside on three axes")
        .witness(&[
            "PADDING1 FLOAT32 in=2,2,2 out=3,3,3 PaddingMode=REFLECTION StartPadding=1,1,1 EndPadding=0,0,0",
        ])
        .visits(|plan, _, c| plan.mode != REFLECTION || plan.outside(c) < 3),
    padding("padding-outer-rows-unwritten")
        .about("CONSTANT does not write rows that are outside on an outer axis")
        .witness(&["PADDING1 FLOAT32 in=2,2 out=3,2 PaddingMode=CONSTANT StartPadding=1,0 PaddingValue=9 \
            EndPadding=0,0"])
        .visits(|plan, _, c| {
            let is_outer = |axis: usize| plan.source(axis, c[axis]).is_none();
            plan.mode != CONSTANT || !(0..plan.last()).any(is_outer)
        }),
    padding("padding-any-side-is-all-sides")
        .about("CONSTANT fills an element only if it is outside on every padded axis")
        .witness(&["PADDING1 FLOAT32 in=2,2 out=3,3 PaddingMode=CONSTANT StartPadding=1,1 PaddingValue=9 \
            EndPadding=0,0"])
        .source(|plan, axis, c| match plan.axes[axis] {
            AxisNumbers { n, start, .. }
                if plan.mode == CONSTANT && plan.count(AxisNumbers::is_padded) > 1 =>
            {
                Some((c - start).clamp(0, n - 1))
            }
            _ => plan.source(axis, c),
        }),
    padding("padding-mirror-of-two-clamps")
        .about("REFLECTION of two elements clamps to the edge: the fold counts one element")
        .witness(&["PADDING1 FLOAT32 in=2 out=4 PaddingMode=REFLECTION StartPadding=2 EndPadding=0"])
        .folds(REFLECTION, |at, n| if n == 2 { Some(at.clamp(0, 1)) } else { fold(REFLECTION, at, n) }),
    padding("padding-reflection-period-long")
        .about("the period of REFLECTION is one element too long")
        .witness(&["PADDING1 FLOAT32 in=3 out=8 PaddingMode=REFLECTION EndPadding=5 StartPadding=0"])
        .folds(REFLECTION, |at, n| Some(mirror(at.rem_euclid(2 * n - 1), 2 * (n - 1)).max(0))),
    padding("padding-symmetric-period-short")
        .about("the period of SYMMETRIC is one element too short")
        .witness(&["PADDING1 FLOAT32 in=3 out=9 PaddingMode=SYMMETRIC EndPadding=6 StartPadding=0"])
        .folds(SYMMETRIC, |at, n| Some(mirror(at.rem_euclid(2 * n - 1), 2 * n - 1).min(n - 1))),
    padding("padding-wrap-period-long")
        .about("the period of WRAP is one element too long, and the extra element is the last one")
        .witness(&["PADDING1 FLOAT32 in=3 out=4 PaddingMode=WRAP EndPadding=1 StartPadding=0"])
        .folds(WRAP, |at, n| Some(at.rem_euclid(n + 1).min(n - 1))),
    padding("padding-wrap-before-start-mirrors")
        .about("before the start, WRAP counts from the first element instead of the last one")
        .witness(&["PADDING1 FLOAT32 in=3 out=5 PaddingMode=WRAP StartPadding=2 EndPadding=0"])
        .folds(WRAP, |at, n| Some(at.abs().rem_euclid(n))),
    padding("padding-reflection-remainder-sign")
        .about("before the start, the remainder of REFLECTION keeps its sign and is clamped")
        .seen_in("arithmetic")
        .witness(&["PADDING1 FLOAT32 in=3 out=4 PaddingMode=REFLECTION StartPadding=1 EndPadding=0"])
        .folds(REFLECTION, |at, n| {
            let period = (2 * (n - 1)).max(1);
            Some(mirror((at % period).max(0), 2 * (n - 1)))
        }),
    padding("padding-symmetric-remainder-sign")
        .about("before the start, the remainder of SYMMETRIC keeps its sign and is clamped")
        .seen_in("arithmetic")
        .witness(&["PADDING1 FLOAT32 in=3 out=5 PaddingMode=SYMMETRIC StartPadding=2 EndPadding=0"])
        .folds(SYMMETRIC, |at, n| Some(mirror((at % (2 * n)).max(0), 2 * n - 1))),
    padding("padding-wrap-remainder-sign")
        .about(
            "before the start, the remainder of WRAP keeps its sign, and 0 is read in memory before the \
            axis",
        )
        .seen_in("arithmetic")
        .witness(&["PADDING1 FLOAT32 in=3 out=4 PaddingMode=WRAP StartPadding=1 EndPadding=0"])
        .folds(WRAP, |at, n| Some(at % n)),
    padding("padding-identity-not-copied")
        .about("without any padding, nothing is copied")
        .witness(&["PADDING1 FLOAT32 in=3 out=3 PaddingMode=CONSTANT EndPadding=0 StartPadding=0"])
        .visits(|plan, _, _| plan.kind != OperatorKind::Padding1 || !plan.is_identity()),
    padding("padding-identity-filled")
        .about("CONSTANT without any padding writes the padding value everywhere")
        .witness(&[
            "PADDING1 FLOAT32 in=3 out=3 PaddingMode=CONSTANT PaddingValue=9 EndPadding=0 StartPadding=0",
        ])
        .source(|plan, axis, c| {
            if plan.kind == OperatorKind::Padding1 && plan.mode == CONSTANT && plan.is_identity() {
                None
            } else {
                plan.source(axis, c)
            }
        }),
    padding("padding-size-one-broadcasts")
        .about(
            "CONSTANT takes an axis of size 1 for a broadcast, and repeats its element instead of the \
            value",
        )
        .witness(&[
            "PADDING1 FLOAT32 in=1 out=2 PaddingMode=CONSTANT StartPadding=1 PaddingValue=9 EndPadding=0",
        ])
        .folds(CONSTANT, |_, n| (n == 1).then_some(0)),
    padding("padding-mirror-of-even-distance")
        .about("SYMMETRIC repeats the edge only on the first of its folds")
        .witness(&["PADDING1 FLOAT32 in=2 out=8 PaddingMode=SYMMETRIC StartPadding=6 EndPadding=0"])
        .folds(SYMMETRIC, |at, n| {
            let once = if at < 0 { -1 - at } else { 2 * n - 1 - at };
            fold(REFLECTION, once, n)
        }),
];
