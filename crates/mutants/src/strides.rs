//! Faults of strided tensors: which strides count, in which unit, and what is taken for packed.

use crate::{
    kernel::{AxisNumbers, Plan},
    mutant::{ALL, Mutant, PADDING1, SLICES},
};

/// Whether these sizes and strides, outermost first, are those of a packed tensor.
fn is_packed(plan: &Plan, side: usize) -> bool {
    let packed = plan.packed(|axis| if side == 0 { axis.n } else { axis.out });
    plan.axes.iter().zip(packed).all(|(axis, stride)| [axis.input_stride, axis.output_stride][side] == stride)
}

/// A mutant of this theme.
const fn strides(name: &'static str, operators: &'static [&'static str]) -> Mutant {
    Mutant::new(name, operators).seen_in("strides")
}

pub(crate) const MUTANTS: &[Mutant] = &[
    strides("broadcast-read-as-packed", ALL)
        .about("an input with a stride of 0 is read as packed")
        .seen_in("slangpy#833")
        .witness(&["SLICE FLOAT32 in=3,2 out=3,2 InputTensor.Strides=1,0 Sizes=3,2 Offsets=0,0 Strides=1,1"])
        .plan_where(|plan, _| plan.any(|axis| axis.input_stride == 0 && axis.n > 1), Plan::pack_input),
    strides("broadcast-of-outer-axis-read-as-packed", ALL)
        .about(
            "a broadcast is recognised on the innermost axis only; an input broadcast on another axis is \
            read as packed",
        )
        .seen_in("slangpy#833")
        .witness(&["SLICE FLOAT32 in=3,2 out=3,2 InputTensor.Strides=0,1 Sizes=3,2 Offsets=0,0 Strides=1,1"])
        .plan_where(
            |plan, _| plan.inner().input_stride != 0 && plan.any(|axis| axis.input_stride == 0 && axis.n > 1),
            Plan::pack_input,
        ),
    strides("broadcast-of-all-axes-reads-on", ALL)
        .about("an input whose strides are all 0 is read as packed")
        .witness(&[
            "PADDING1 FLOAT32 in=2,2 out=2,3 InputTensor.Strides=0,0 PaddingMode=EDGE EndPadding=0,1 \
            StartPadding=0,0",
        ])
        .plan_where(|plan, _| !plan.any(|axis| axis.input_stride != 0), Plan::pack_input),
    strides("rows-that-share-elements-read-as-packed", ALL)
        .about("an input is read as packed if its rows share elements, although no stride is 0")
        .witness(&["SLICE FLOAT32 in=2,3 out=2,3 InputTensor.Strides=2,1 Sizes=2,3 Offsets=0,0 Strides=1,1"])
        .plan(|plan, _| {
            if let [.., outer, inner] = plan.axes.as_slice()
                && outer.n > 1
                && 0 < outer.input_stride
                && outer.input_stride <= (inner.n - 1) * inner.input_stride
                && outer.input_stride % inner.input_stride.max(1) == 0
            {
                plan.pack_input();
            }
        }),
    strides("equal-strides-are-one-axis", ALL)
        .about("of two axes with the same stride of the input, the outer one is read with a stride of 0")
        .witness(&["SLICE FLOAT32 in=2,2 out=2,2 InputTensor.Strides=1,1 Sizes=2,2 Offsets=0,0 Strides=1,1"])
        .plan(|plan, _| {
            for place in 0..plan.rank() {
                let stride = plan.axes[place].input_stride;
                let is_same = |axis: &AxisNumbers| axis.n > 1 && axis.input_stride == stride;
                if plan.axes[place].n > 1 && plan.axes[place + 1..].iter().any(is_same) {
                    plan.axes[place].input_stride = 0;
                }
            }
        }),
    strides("input-strides-ignored", ALL)
        .about("the input's strides are ignored")
        .witness(&["SLICE FLOAT32 in=2,2 out=2,2 InputTensor.Strides=3,1 Sizes=2,2 Offsets=0,0 Strides=1,1"])
        .plan(|plan, _| plan.pack_input()),
    strides("output-strides-ignored", ALL)
        .about("the output's strides are ignored")
        .witness(&["SLICE FLOAT32 in=2,2 out=2,2 OutputTensor.Strides=3,1 Sizes=2,2 Offsets=0,0 Strides=1,1"])
        .plan(|plan, _| plan.pack_output()),
    strides("input-strides-innermost-only", ALL)
        .about("only the innermost of the input's strides is used, and rows follow each other")
        .witness(&["SLICE FLOAT32 in=2,2 out=2,2 InputTensor.Strides=5,2 Sizes=2,2 Offsets=0,0 Strides=1,1"])
        .plan(|plan, _| {
            if plan.strided[0] {
                let (inner, packed) = (plan.inner().input_stride, plan.packed(|axis| axis.n));
                plan.axes
                    .iter_mut()
                    .zip(packed)
                    .for_each(|(axis, stride)| axis.input_stride = stride * inner);
            }
        }),
    strides("output-strides-innermost-only", ALL)
        .about("only the innermost of the output's strides is used, and rows follow each other")
        .witness(&["SLICE FLOAT32 in=2,2 out=2,2 OutputTensor.Strides=5,2 Sizes=2,2 Offsets=0,0 Strides=1,1"])
        .plan(|plan, _| {
            if plan.strided[1] {
                let (inner, packed) = (plan.inner().output_stride, plan.packed(|axis| axis.out));
                plan.axes
                    .iter_mut()
                    .zip(packed)
                    .for_each(|(axis, stride)| axis.output_stride = stride * inner);
            }
        }),
    strides("input-innermost-stride-is-one", ALL)
        .about("the innermost of the input's strides is taken for 1")
        .witness(&["SLICE FLOAT32 in=2,2 out=2,2 InputTensor.Strides=4,2 Sizes=2,2 Offsets=0,0 Strides=1,1"])
        .plan(|plan, _| plan.axes.last_mut().into_iter().for_each(|inner| inner.input_stride = 1)),
    strides("output-innermost-stride-is-one", ALL)
        .about("the innermost of the output's strides is taken for 1")
        .witness(&["SLICE FLOAT32 in=2,2 out=2,2 OutputTensor.Strides=4,2 Sizes=2,2 Offsets=0,0 Strides=1,1"])
        .plan(|plan, _| plan.axes.last_mut().into_iter().for_each(|inner| inner.output_stride = 1)),
    strides("input-strides-in-bytes", ALL)
        .about("the input's strides are read as bytes")
        .witness(&["SLICE FLOAT32 in=2,2 out=2,2 InputTensor.Strides=4,2 Sizes=2,2 Offsets=0,0 Strides=1,1"])
        .from(|plan, at| if plan.strided[0] { plan.from(at) / plan.width as i64 } else { plan.from(at) }),
    strides("output-strides-in-bytes", ALL)
        .about("the output's strides are read as bytes")
        .witness(&["SLICE UINT16 in=2,2 out=2,2 OutputTensor.Strides=4,2 Sizes=2,2 Offsets=0,0 Strides=1,1"])
        .to(|plan, c| if plan.strided[1] { plan.to(c) / plan.width as i64 } else { plan.to(c) }),
    strides("input-strides-for-output", ALL)
        .about("an output with strides is written with the input's")
        .witness(&[
            "SLICE FLOAT32 in=2,2 out=2,2 InputTensor.Strides=2,1 OutputTensor.Strides=3,1 Sizes=2,2 \
            Offsets=0,0 Strides=1,1",
        ])
        .plan_where(
            |plan, _| plan.strided == [true, true],
            |plan| plan.each(|axis| axis.output_stride = axis.input_stride),
        ),
    strides("output-strides-for-input", ALL)
        .about("an input without strides is read with the output's")
        .witness(&["SLICE FLOAT32 in=2,2 out=2,2 OutputTensor.Strides=3,1 Sizes=2,2 Offsets=0,0 Strides=1,1"])
        .plan_where(
            |plan, _| plan.strided == [false, true],
            |plan| plan.each(|axis| axis.input_stride = axis.output_stride),
        ),
    strides("packed-output-takes-input-strides", ALL)
        .about("an output without strides is written with the input's")
        .witness(&["SLICE FLOAT32 in=2,2 out=2,2 InputTensor.Strides=3,1 Sizes=2,2 Offsets=0,0 Strides=1,1"])
        .plan_where(
            |plan, _| plan.strided == [true, false],
            |plan| plan.each(|axis| axis.output_stride = axis.input_stride),
        ),
    strides("output-strides-sorted", ALL)
        .about("the output's strides are taken for sorted, outermost largest")
        .witness(&["SLICE FLOAT32 in=2,2 out=2,2 OutputTensor.Strides=1,2 Sizes=2,2 Offsets=0,0 Strides=1,1"])
        .plan(|plan, _| {
            let mut strides: Vec<_> = plan.axes.iter().map(|axis| axis.output_stride).collect();
            strides.sort_unstable_by(|one, other| other.cmp(one));
            plan.axes.iter_mut().zip(strides).for_each(|(axis, stride)| axis.output_stride = stride);
        }),
    strides("input-strides-sorted", ALL)
        .about("the input's strides are taken for sorted, outermost largest")
        .witness(&["SLICE FLOAT32 in=2,3 out=2,3 InputTensor.Strides=1,2 Sizes=2,3 Offsets=0,0 Strides=1,1"])
        .plan(|plan, _| {
            let mut strides: Vec<_> = plan.axes.iter().map(|axis| axis.input_stride).collect();
            strides.sort_unstable_by(|one, other| other.cmp(one));
            plan.axes.iter_mut().zip(strides).for_each(|(axis, stride)| axis.input_stride = stride);
        }),
    strides("unit-stride-means-packed-input", ALL)
        .about("an input whose innermost stride is 1 is taken for packed")
        .witness(&["SLICE FLOAT32 in=2,2 out=2,2 InputTensor.Strides=3,1 Sizes=2,2 Offsets=0,0 Strides=1,1"])
        .plan_where(|plan, _| plan.inner().input_stride == 1, Plan::pack_input),
    strides("unit-stride-means-packed-output", ALL)
        .about("an output whose innermost stride is 1 is taken for packed, and its holes are filled")
        .witness(&["SLICE FLOAT32 in=2,2 out=2,2 OutputTensor.Strides=3,1 Sizes=2,2 Offsets=0,0 Strides=1,1"])
        .plan_where(|plan, _| plan.inner().output_stride == 1, Plan::pack_output),
    strides("dense-span-means-packed-input", ALL)
        .about("an input without holes is taken for packed, even if it is transposed")
        .witness(&["SLICE FLOAT32 in=2,3 out=2,3 InputTensor.Strides=1,2 Sizes=2,3 Offsets=0,0 Strides=1,1"])
        .plan(|plan, _| {
            let span: i64 = plan.axes.iter().map(|axis| (axis.n - 1) * axis.input_stride).sum();
            if span + 1 == plan.axes.iter().map(|axis| axis.n).product::<i64>() {
                plan.pack_input();
            }
        }),
    strides("dense-span-means-packed-output", ALL)
        .about("an output without holes is taken for packed, even if it is transposed")
        .witness(&["SLICE FLOAT32 in=2,3 out=2,3 OutputTensor.Strides=1,2 Sizes=2,3 Offsets=0,0 Strides=1,1"])
        .plan(|plan, _| {
            let span: i64 = plan.axes.iter().map(|axis| (axis.out - 1) * axis.output_stride).sum();
            if span + 1 == plan.elements() {
                plan.pack_output();
            }
        }),
    strides("merged-axes-look-at-output", ALL)
        .about("the two innermost axes are merged if the output allows it, although the input does not")
        .witness(&["SLICE FLOAT32 in=2,2 out=2,2 InputTensor.Strides=3,1 Sizes=2,2 Offsets=0,0 Strides=1,1"])
        .plan(|plan, _| {
            if is_packed(plan, 1)
                && let [.., outer, inner] = plan.axes.as_mut_slice()
            {
                outer.input_stride = inner.n * inner.input_stride;
            }
        }),
    strides("merged-axes-look-at-input", ALL)
        .about("the two innermost axes are merged if the input allows it, although the output does not")
        .witness(&["SLICE FLOAT32 in=2,2 out=2,2 OutputTensor.Strides=3,1 Sizes=2,2 Offsets=0,0 Strides=1,1"])
        .plan(|plan, _| {
            if is_packed(plan, 0)
                && let [.., outer, inner] = plan.axes.as_mut_slice()
            {
                outer.output_stride = inner.out * inner.output_stride;
            }
        }),
    strides("merged-axes-forget-crop", SLICES)
        .about(
            "two axes are merged if the inner one starts at 0 with a stride of 1, although it is cropped \
            at its end",
        )
        .witness(&["SLICE FLOAT32 in=2,4 out=2,3 Sizes=2,3 Offsets=0,0 Strides=1,1"])
        .plan(|plan, _| {
            if let [.., outer, inner] = plan.axes.as_mut_slice()
                && inner.step == 1
                && inner.offset == 0
            {
                outer.input_stride = inner.out * inner.input_stride;
            }
        }),
    strides("merged-outer-axes-forget-holes", ALL)
        .about(
            "the two outermost of three or more axes are merged, although the input has holes between \
            them",
        )
        .witness(&["SLICE FLOAT32 in=2,2,2 out=2,2,2 InputTensor.Strides=9,2,1 Sizes=2,2,2 Offsets=0,0,0 \
            Strides=1,1,1"])
        .plan(|plan, _| {
            if let [outer, next, _, ..] = plan.axes.as_mut_slice()
                && outer.output_stride == next.out * next.output_stride
            {
                outer.input_stride = next.n * next.input_stride;
            }
        }),
    strides("stride-of-single-element-used", ALL)
        .about("the innermost stride is that of the last axis, even if the axis has one element")
        .witness(&["SLICE FLOAT32 in=3,1 out=3,1 InputTensor.Strides=1,5 Sizes=3,1 Offsets=0,0 Strides=1,1"])
        .plan(|plan, _| {
            if let [.., outer, inner] = plan.axes.as_mut_slice()
                && inner.n == 1
                && inner.out == 1
            {
                outer.input_stride *= inner.input_stride;
            }
        }),
    strides("strides-beyond-fifth-axis", ALL)
        .about("the input's strides beyond the fifth axis are taken for packed")
        .witness(&["SLICE FLOAT32 in=1,1,1,1,1,3 out=1,1,1,1,1,3 InputTensor.Strides=9,9,9,9,9,2 \
            Sizes=1,1,1,1,1,3 Offsets=0,0,0,0,0,0 Strides=1,1,1,1,1,1"])
        .plan(|plan, _| {
            let packed = plan.packed(|axis| axis.n);
            plan.axes.iter_mut().zip(packed).skip(5).for_each(|(axis, stride)| axis.input_stride = stride);
        }),
    strides("padding-ignores-input-strides", PADDING1)
        .about("the input's strides are ignored if an axis is padded")
        .witness(&[
            "PADDING1 FLOAT32 in=2,2 out=2,3 InputTensor.Strides=1,2 PaddingMode=EDGE EndPadding=0,1 \
            StartPadding=0,0",
        ])
        .plan_where(|plan, _| plan.any(AxisNumbers::is_padded), Plan::pack_input),
    strides("strided-output-loses-last-row", ALL)
        .about(
            "the number of rows of a strided output is its span divided by its pitch, which loses the \
            last row",
        )
        .witness(&["SLICE FLOAT32 in=3,2 out=3,2 OutputTensor.Strides=4,1 Sizes=3,2 Offsets=0,0 Strides=1,1"])
        .visits(|plan, _, c| {
            let inner = plan.inner();
            let is_padded = |pitch: i64| pitch > (inner.out - 1) * inner.output_stride + 1;
            !(plan.rank() > 1
                && is_padded(plan.axes[0].output_stride)
                && plan.axes[0].out > 1
                && c[0] + 1 == plan.axes[0].out)
        }),
    strides("transposed-input-of-rank-three", ALL)
        .about("a transposed input of rank 3 is read with the two inner strides only swapped back")
        .witness(&["SLICE FLOAT32 in=2,2,2 out=2,2,2 InputTensor.Strides=1,2,4 Sizes=2,2,2 Offsets=0,0,0 \
            Strides=1,1,1"])
        .plan(|plan, _| {
            if let [outer, middle, inner] = plan.axes.as_mut_slice()
                && outer.input_stride < inner.input_stride
            {
                std::mem::swap(&mut middle.input_stride, &mut inner.input_stride);
            }
        }),
];
