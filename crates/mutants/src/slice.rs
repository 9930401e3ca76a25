//! Faults of SLICE and SLICE1: where a window starts, which way a stride goes, and which axes count.

use crate::{
    kernel::{AxisNumbers, OperatorKind, fold},
    mutant::{Mutant, SLICE, SLICE1, SLICES},
};

pub(crate) const MUTANTS: &[Mutant] = &[
    Mutant::new("wrong-stride", SLICE1)
        .about("a negative stride starts from the output's extent instead of the window's end")
        .seen_in("iree#24584, torch-mlir#4630")
        .witness(&["SLICE1 FLOAT32 in=8 out=2 InputWindowStrides=-2 InputWindowOffsets=0 InputWindowSizes=8"])
        .source(|plan, axis, c| {
            let axis = &plan.axes[axis];
            let first = axis.offset + if axis.step < 0 { (axis.out - 1) * axis.step.abs() } else { 0 };
            if plan.kind == OperatorKind::Padding1 {
                fold(plan.mode, c - axis.start, axis.n)
            } else {
                Some(first + axis.step * c)
            }
        }),
    Mutant::new("slice1-negative-from-offset", SLICE1)
        .about("a negative stride starts at the offset instead of the window's end")
        .seen_in("burn-onnx#477")
        .witness(&["SLICE1 FLOAT32 in=8 out=2 InputWindowOffsets=4 InputWindowSizes=4 InputWindowStrides=-2"])
        .source(|plan, axis, c| match plan.kind {
            OperatorKind::Slice1 => Some(plan.axes[axis].offset + plan.axes[axis].step * c),
            _ => plan.source(axis, c),
        }),
    Mutant::new("slice1-negative-from-input-end", SLICE1)
        .about("a negative stride starts at the input's end instead of the window's end")
        .witness(&["SLICE1 FLOAT32 in=8 out=3 InputWindowOffsets=1 InputWindowSizes=4 InputWindowStrides=-1"])
        .plan(|plan, _| plan.each_where(|axis| axis.step < 0, |axis| axis.window = axis.n - axis.offset)),
    Mutant::new("slice1-negative-ignores-offset", SLICE1)
        .about("a negative stride starts at the window's size without its offset")
        .witness(&["SLICE1 FLOAT32 in=8 out=2 InputWindowOffsets=2 InputWindowSizes=4 InputWindowStrides=-2"])
        .plan(|plan, _| plan.each_where(|axis| axis.step < 0, |axis| axis.offset = 0)),
    Mutant::new("slice1-second-reverse-loses-offset", SLICE1)
        .about("reversing one axis after another loses the offset of the first")
        .seen_in("mlx#2755")
        .witness(&["SLICE1 FLOAT32 in=4,4 out=2,2 InputWindowOffsets=1,1 InputWindowSizes=3,3 \
            InputWindowStrides=-1,-1"])
        .plan(|plan, _| {
            let mut reversed = plan.axes.iter_mut().filter(|axis| axis.step < 0).rev();
            reversed.next();
            reversed.for_each(|axis| axis.offset = 0);
        }),
    Mutant::new("slice1-minus-one-is-whole-axis", SLICE1)
        .about("a stride of -1 down to the first element is taken for the whole axis")
        .seen_in("onnxruntime#11107")
        .witness(&["SLICE1 FLOAT32 in=6 out=3 InputWindowSizes=3 InputWindowStrides=-1 InputWindowOffsets=0"])
        .plan(|plan, _| {
            plan.each_where(|axis| axis.step == -1 && axis.offset == 0, |axis| axis.window = axis.n);
        }),
    Mutant::new("slice1-negative-end-has-no-size", SLICE1)
        .about("a size computed from a raw end of -1 is 0, and nothing is written")
        .seen_in("mlx#231")
        .witness(&["SLICE1 FLOAT32 in=4 out=4 InputWindowStrides=-1 InputWindowOffsets=0 InputWindowSizes=4"])
        .visits(|plan, _, _| !plan.any(|axis| axis.step < 0 && axis.first() + axis.step * axis.out < 0)),
    Mutant::new("slice1-negative-is-unsigned", SLICE1)
        .about("a negative stride is read as unsigned, and reads out of bounds give 0")
        .seen_in("tvm#20263")
        .witness(&["SLICE1 FLOAT32 in=4 out=2 InputWindowStrides=-1 InputWindowOffsets=0 InputWindowSizes=4"])
        .plan(|plan, _| {
            for axis in plan.axes.iter_mut().filter(|axis| axis.step < 0) {
                axis.offset = axis.first();
                axis.step = i64::from(axis.step as u32);
            }
        }),
    Mutant::new("slice1-stride-at-least-one", SLICE1)
        .about("a stride is clamped to at least 1")
        .seen_in("oxionnx#4")
        .witness(&["SLICE1 FLOAT32 in=4 out=4 InputWindowStrides=-1 InputWindowOffsets=0 InputWindowSizes=4"])
        .plan(|plan, _| plan.each(|axis| axis.step = axis.step.max(1))),
    Mutant::new("slice1-full-reverse-loses-last", SLICE1)
        .about("the last element of a reversed whole axis is not written")
        .seen_in("tvm#6829")
        .witness(&["SLICE1 FLOAT32 in=4 out=4 InputWindowStrides=-1 InputWindowOffsets=0 InputWindowSizes=4"])
        .visits(|plan, _, c| {
            !plan.axes.iter().zip(c).any(|(axis, c)| axis.is_full_reverse() && c + 1 == axis.out)
        }),
    Mutant::new("slice1-full-reverse-rejected", SLICE1)
        .about("a reversed whole axis is refused")
        .seen_in("mxnet#14105")
        .witness(&["SLICE1 FLOAT32 in=4 out=4 InputWindowStrides=-1 InputWindowOffsets=0 InputWindowSizes=4"])
        .refuses(|plan| plan.any(AxisNumbers::is_full_reverse)),
    Mutant::new("slice1-int-min-rejected", SLICE1)
        .about("the magnitude of the smallest stride overflows, and the desc is refused")
        .seen_in("onnx-tensorrt#438")
        .witness(&["SLICE1 FLOAT32 in=4 out=1 InputWindowStrides=-2147483648 InputWindowOffsets=0 \
            InputWindowSizes=4"])
        .refuses(|plan| plan.any(|axis| axis.step == i64::from(i32::MIN))),
    Mutant::new("slice1-int-min-crashes", SLICE1)
        .about("a division by the magnitude of the smallest stride ends the process")
        .seen_in("OpenVINO 2026.4.1")
        .witness(&["SLICE1 FLOAT32 in=4 out=1 InputWindowStrides=-2147483648 InputWindowOffsets=0 \
            InputWindowSizes=4"])
        .plan(|plan, _| {
            assert!(!plan.any(|axis| axis.step == i64::from(i32::MIN)), "a division overflows");
        }),
    Mutant::new("slice1-int-min-unbounded", SLICE1)
        .about("the output's size is not bounded if a stride is the smallest integer")
        .seen_in("DirectMLX")
        .witness(&["SLICE1 FLOAT32 in=4 out=2 InputWindowStrides=-2147483648 InputWindowOffsets=0 \
            InputWindowSizes=4"])
        .unchecked("larger than what the window", |plan| plan.any(|axis| axis.step == i64::from(i32::MIN))),
    Mutant::new("slice-innermost-stride-for-all", SLICES)
        .about("the innermost axis's stride is used for all axes")
        .seen_in("tract#680")
        .witness(&["SLICE FLOAT32 in=4,4 out=2,2 Strides=2,1 Sizes=2,2 Offsets=0,0"])
        .plan(|plan, _| {
            let step = plan.inner().step;
            plan.each(|axis| axis.step = step);
        }),
    Mutant::new("slice-outermost-stride-for-all", SLICES)
        .about("the outermost axis's stride is used for all axes")
        .seen_in("tract#680")
        .witness(&["SLICE FLOAT32 in=4,4 out=2,2 Strides=1,2 Sizes=2,2 Offsets=0,0"])
        .plan(|plan, _| {
            let step = plan.axes.first().map_or(1, |axis| axis.step);
            plan.each(|axis| axis.step = step);
        }),
    Mutant::new("slice-equal-strides-are-memcpy", SLICES)
        .about(
            "if the strides of input and output are equal, the span is copied, whatever the slice's \
            strides",
        )
        .seen_in("pytorch#189961")
        .witness(&["SLICE FLOAT32 in=4,8 out=2,4 OutputTensor.Strides=8,1 Strides=2,2 Sizes=2,4 Offsets=0,0"])
        .source(|plan, axis, c| {
            let is_same = !plan.any(|axis| axis.input_stride != axis.output_stride);
            if is_same && plan.kind != OperatorKind::Padding1 {
                Some(plan.axes[axis].offset + c)
            } else {
                plan.source(axis, c)
            }
        }),
    Mutant::new("slice-two-cropped-axes", SLICES)
        .about("only the offsets of the first two cropped axes are honoured")
        .seen_in("pytorch#95871")
        .witness(&["SLICE FLOAT32 in=3,3,3 out=2,2,2 Offsets=1,1,1 Sizes=2,2,2 Strides=1,1,1"])
        .plan(|plan, _| {
            plan.axes.iter_mut().filter(|axis| axis.is_cropped()).skip(2).for_each(|axis| axis.offset = 0);
        }),
    Mutant::new("slice-axes-beyond-fourth", SLICES)
        .about("offsets and strides beyond the fourth axis are dropped")
        .seen_in("TIM-VX#213")
        .witness(&[
            "SLICE FLOAT32 in=1,1,1,1,4 out=1,1,1,1,2 Offsets=0,0,0,0,1 Sizes=1,1,1,1,2 Strides=1,1,1,1,1",
        ])
        .plan(|plan, _| plan.axes.iter_mut().skip(4).for_each(|axis| (axis.offset, axis.step) = (0, 1))),
    Mutant::new("slice-axes-beyond-fifth", SLICES)
        .about("offsets and strides beyond the fifth axis are dropped")
        .seen_in("DirectML#445")
        .witness(&["SLICE FLOAT32 in=1,1,1,1,1,4 out=1,1,1,1,1,2 Offsets=0,0,0,0,0,1 Sizes=1,1,1,1,1,2 \
            Strides=1,1,1,1,1,1"])
        .plan(|plan, _| plan.axes.iter_mut().skip(5).for_each(|axis| (axis.offset, axis.step) = (0, 1))),
    Mutant::new("slice-eighth-axis", SLICES)
        .about("the offset of the eighth axis is dropped: the array of axes has seven entries")
        .witness(&["SLICE FLOAT32 in=1,1,1,1,1,1,1,4 out=1,1,1,1,1,1,1,2 Offsets=0,0,0,0,0,0,0,1 \
            Sizes=1,1,1,1,1,1,1,2 Strides=1,1,1,1,1,1,1,1"])
        .plan(|plan, _| plan.axes.iter_mut().skip(7).for_each(|axis| axis.offset = 0)),
    Mutant::new("slice1-uneven-size-loses-last", SLICE1)
        .about("a window that is no multiple of its stride loses its last step")
        .seen_in("tensorflow#61424")
        .witness(&["SLICE1 FLOAT32 in=5 out=3 InputWindowStrides=2 InputWindowOffsets=0 InputWindowSizes=5"])
        .visits(|plan, _, c| {
            !plan.axes.iter().zip(c).any(|(axis, c)| {
                let step = axis.step.abs().max(1);
                axis.window % step != 0 && axis.out > 1 && c + 1 == axis.out && c * step + step >= axis.window
            })
        }),
    Mutant::new("slice1-empty-window-accepted", SLICE1)
        .about("a window of size 0 is accepted")
        .seen_in("TensorRT#763, DirectMLX")
        .witness(&["SLICE1 FLOAT32 in=4 out=1 InputWindowSizes=0 InputWindowOffsets=0 InputWindowStrides=1"])
        .judge(|asked, _| asked.is_valid() || asked.is_refused_for("the window is empty")),
    Mutant::new("slice1-zero-stride-accepted", SLICE1)
        .about("a stride of 0 is accepted")
        .seen_in("DirectMLX")
        .witness(&["SLICE1 FLOAT32 in=4 out=2 InputWindowStrides=0 InputWindowOffsets=0 InputWindowSizes=4"])
        .judge(|asked, _| asked.is_valid() || asked.is_of("SLICE1") && asked.but_for("a stride is 0")),
    Mutant::new("slice1-inner-reverse-reads-neighbour", SLICE1)
        .about("a negative stride on the innermost axis is used for the axis outside of it, too")
        .seen_in("MNN 3.6.1")
        .witness(&["SLICE1 FLOAT32 in=2,8 out=2,1 InputWindowOffsets=0,4 InputWindowSizes=2,1 \
            InputWindowStrides=1,-1"])
        .plan(|plan, _| {
            let inner = plan.inner();
            if let [.., outer, _] = plan.axes.as_mut_slice()
                && inner.step < 0
            {
                outer.input_stride = inner.step * inner.input_stride;
            }
        }),
    Mutant::new("slice1-outer-reverse-from-rank-four", SLICE1)
        .about("a negative stride on the outermost axis is taken for positive from rank 4 on")
        .seen_in("MNN 3.6.1")
        .witness(&["SLICE1 FLOAT32 in=4,1,1,1 out=2,1,1,1 InputWindowStrides=-1,1,1,1 \
            InputWindowOffsets=0,0,0,0 InputWindowSizes=4,1,1,1"])
        .plan_where(|plan, _| plan.rank() >= 4, |plan| plan.axes[0].step = plan.axes[0].step.abs()),
    Mutant::new("slice-end-above-int-max", SLICE)
        .about("an end above 2^31 is cut to 32 bits, and the desc is refused")
        .seen_in("TensorFlow 2.21.0")
        .witness(&[
            "SLICE UINT8 in=3000000000 out=1 InputTensor.Strides=0 Offsets=2999999999 Sizes=1 Strides=1",
        ])
        .refuses(|plan| {
            plan.kind == OperatorKind::Slice && plan.any(|axis| axis.offset + axis.out > i64::from(i32::MAX))
        }),
    Mutant::new("slice1-length-overflows", SLICE1)
        .about("the length of a slice overflows if stride and window exceed 2^31, and nothing is written")
        .seen_in("MLX 0.32.4")
        .witness(&[
            "SLICE1 FLOAT32 in=4 out=1 InputWindowStrides=2147483647 InputWindowOffsets=0 InputWindowSizes=4",
        ])
        .visits(|plan, _, _| !plan.any(|axis| axis.step.abs() + axis.window > i64::from(i32::MAX))),
    Mutant::new("slice1-short-output-from-low-end", SLICE1)
        .about(
            "a negative stride fills the output from its last element, which is wrong if the output stops \
            short",
        )
        .witness(&["SLICE1 FLOAT32 in=6 out=2 InputWindowStrides=-2 InputWindowOffsets=0 InputWindowSizes=6"])
        .source(|plan, axis, c| match &plan.axes[axis] {
            axis if axis.step < 0 => {
                let step = axis.step.abs();
                Some(axis.offset + (axis.window - 1) % step + (axis.out - 1 - c) * step)
            }
            _ => plan.source(axis, c),
        }),
    Mutant::new("slice1-pitch-of-reachable", SLICE1)
        .about("the output's pitch comes from the reachable size, not from the output's own")
        .witness(&["SLICE1 FLOAT32 in=2,6 out=2,2 InputWindowStrides=1,2 InputWindowOffsets=0,0 \
            InputWindowSizes=2,6"])
        .plan(|plan, _| {
            if plan.kind == OperatorKind::Slice1 && !plan.strided[1] {
                let pitch = plan.packed(|axis| 1 + (axis.window - 1) / axis.step.abs().max(1));
                plan.axes.iter_mut().zip(pitch).for_each(|(axis, stride)| axis.output_stride = stride);
            }
        }),
    Mutant::new("slice1-ends-with-window", SLICE1)
        .about("an output that stops short is aligned to the end of the window instead of its start")
        .witness(&["SLICE1 FLOAT32 in=6 out=2 InputWindowSizes=6 InputWindowStrides=1 InputWindowOffsets=0"])
        .plan(|plan, _| {
            plan.each_where(
                |axis| axis.step == 1 && axis.window > 0,
                |axis| axis.offset += axis.window - axis.out,
            );
        }),
    Mutant::new("slice-offset-times-stride", SLICE)
        .about("the offset is counted in strides")
        .witness(&["SLICE FLOAT32 in=8 out=2 Offsets=1 Strides=2 Sizes=2"])
        .plan_where(
            |plan, _| plan.kind == OperatorKind::Slice,
            |plan| plan.each(|axis| axis.offset *= axis.step),
        ),
    Mutant::new("slice-sizes-is-input-extent", SLICE)
        .about("SLICE's Sizes is taken for an input extent, as in SLICE1: with a stride, less is written")
        .witness(&["SLICE FLOAT32 in=8 out=4 Strides=2 Sizes=4 Offsets=0"])
        .visits(|plan, _, c| {
            plan.kind != OperatorKind::Slice
                || plan.axes.iter().zip(c).all(|(axis, c)| c * axis.step.max(1) < axis.out)
        }),
    Mutant::new("slice1-window-must-be-output", SLICE1)
        .about("SLICE1's window must be as large as the output, as in SLICE")
        .witness(&["SLICE1 FLOAT32 in=8 out=4 InputWindowStrides=2 InputWindowOffsets=0 InputWindowSizes=8"])
        .refuses(|plan| plan.any(|axis| axis.window != 0 && axis.window != axis.out)),
    Mutant::new("slice1-start-from-outermost-window", SLICE1)
        .about("a negative stride starts at the end of the outermost axis's window on every axis")
        .seen_in("the page of SLICE1, Example 2")
        .witness(&["SLICE1 FLOAT32 in=2,6 out=2,2 InputWindowStrides=1,-2 InputWindowOffsets=0,0 \
            InputWindowSizes=2,6"])
        .source(|plan, axis, c| match (&plan.axes[axis], plan.axes[0].window) {
            (axis, window) if axis.step < 0 => Some(axis.offset + window - 1 + axis.step * c),
            _ => plan.source(axis, c),
        }),
    Mutant::new("slice1-signed-reach", SLICE1)
        .about(
            "the reachable size is divided by the signed stride, so that larger outputs of negative \
            strides are refused",
        )
        .seen_in("the page of SLICE1, introduction")
        .witness(&["SLICE1 FLOAT32 in=8 out=2 InputWindowStrides=-2 InputWindowOffsets=0 InputWindowSizes=8"])
        .refuses(|plan| plan.any(|axis| axis.step < 0 && axis.out > 1)),
    Mutant::new("slice-identity-not-copied", SLICES)
        .about("a slice that is the identity copies nothing")
        .witness(&["SLICE FLOAT32 in=4 out=4 Sizes=4 Offsets=0 Strides=1"])
        .visits(|plan, _, _| plan.kind == OperatorKind::Padding1 || !plan.is_identity()),
    Mutant::new("slice1-no-positive-offset", SLICE1)
        .about("the offset is added only if the stride is negative or above 1")
        .witness(&["SLICE1 FLOAT32 in=4 out=2 InputWindowOffsets=1 InputWindowSizes=3 InputWindowStrides=1"])
        .plan_where(
            |plan, _| plan.kind == OperatorKind::Slice1,
            |plan| plan.each_where(|axis| axis.step == 1, |axis| axis.offset = 0),
        ),
    Mutant::new("slice-single-element-from-start", SLICES)
        .about("an output of a single element is the input's first element")
        .witness(&["SLICE FLOAT32 in=2,4 out=1,1 Offsets=1,2 Sizes=1,1 Strides=1,1"])
        .plan_where(
            |plan, _| plan.elements() == 1,
            |plan| plan.each(|axis| (axis.offset, axis.window) = (0, 1)),
        ),
    Mutant::new("slice1-huge-stride-of-one-element", SLICE1)
        .about(
            "an axis of one output element starts at stride times 1 if the stride is larger than the \
            window",
        )
        .witness(&["SLICE1 FLOAT32 in=4 out=1 InputWindowOffsets=1 InputWindowSizes=2 InputWindowStrides=-3"])
        .plan(|plan, _| {
            plan.each_where(|axis| axis.step.abs() > axis.window && axis.out == 1, |axis| axis.window = 1);
        }),
];
