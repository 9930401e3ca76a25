//! Faults of GPU kernels: numbers of workgroups, tails of vectors, rows, and tiles.

use crate::{
    kernel::{AxisNumbers, Plan},
    mutant::{ALL, Mutant, Needs, PADDING1, SLICE1, SLICES},
};

/// Whether an index is in an incomplete last group of `group` elements that follows a whole group.
fn is_in_tail(plan: &Plan, index: i64, group: i64) -> bool {
    let whole = plan.elements() / group * group;
    whole > 0 && index >= whole
}

/// Whether the input is transposed: another axis has a smaller stride than the innermost one.
fn is_transposed(plan: &Plan) -> bool {
    let inner = plan.inner();
    inner.n > 1
        && plan.any(|axis| axis.n > 1 && axis.input_stride != 0 && axis.input_stride < inner.input_stride)
}

/// A mutant of this theme.
const fn gpu(name: &'static str, operators: &'static [&'static str]) -> Mutant {
    Mutant::new(name, operators).seen_in("GPU")
}

pub(crate) const MUTANTS: &[Mutant] = &[
    gpu("innermost-above-65535-cut", ALL)
        .about("elements beyond the first 65535 of a row are not written")
        .seen_in("pytorch#165861, #139333")
        .witness(&["SLICE UINT8 in=65536 out=65536 Sizes=65536 Offsets=0 Strides=1"])
        .visits(|plan, _, c| c[plan.last()] < 65535),
    gpu("outermost-above-65535-cut", ALL)
        .about("elements beyond the first 65535 of the outermost axis are not written")
        .seen_in("pytorch#165861, #139333")
        .witness(&["SLICE UINT8 in=65536,1 out=65536,1 Sizes=65536,1 Offsets=0,0 Strides=1,1"])
        .visits(|plan, _, c| plan.rank() < 2 || c[0] < 65535),
    gpu("rows-above-65535-cut", ALL)
        .about("rows beyond the first 65535 are not written")
        .seen_in("pytorch#165861, #139333")
        .witness(&["SLICE UINT8 in=256,256,2 out=256,256,2 Sizes=256,256,2 Offsets=0,0,0 Strides=1,1,1"])
        .visits(|plan, index, _| index / plan.inner().out < 65535),
    gpu("outer-product-above-65535-cut", ALL)
        .about("the two outermost axes of three or more share a dimension of workgroups, which ends at 65535")
        .witness(&["SLICE UINT8 in=256,257,1 out=256,257,1 Sizes=256,257,1 Offsets=0,0,0 Strides=1,1,1"])
        .visits(|plan, _, c| plan.rank() < 3 || c[0] * plan.axes[1].out + c[1] < 65535),
    gpu("middle-axis-above-1024-cut", ALL)
        .about("an axis that is neither the outermost nor the innermost is cut at 1024")
        .witness(&["SLICE UINT8 in=1,1025,1 out=1,1025,1 Sizes=1,1025,1 Offsets=0,0,0 Strides=1,1,1"])
        .visits(|plan, _, c| !(1..plan.last()).any(|axis| c[axis] >= 1024)),
    gpu("row-above-1024-cut", ALL)
        .about("elements beyond the first 1024 of a row are not written: a row is one workgroup")
        .witness(&["SLICE UINT8 in=1030 out=1030 Sizes=1030 Offsets=0 Strides=1"])
        .visits(|plan, _, c| c[plan.last()] < 1024),
    gpu("row-above-256-cut", ALL)
        .about("elements beyond the first 256 of a row are not written: a row is one workgroup")
        .witness(&["SLICE UINT8 in=257 out=257 Sizes=257 Offsets=0 Strides=1"])
        .visits(|plan, _, c| c[plan.last()] < 256),
    gpu("workgroups-modulo-65536", ALL)
        .about("the number of workgroups of 64 elements is taken modulo 65536")
        .seen_in("onnxruntime#28070")
        .needs(Needs::Memory("an output of more than 2^22 elements"))
        .witness(&["SLICE UINT8 in=4194304 out=4194304 Sizes=4194304 Offsets=0 Strides=1"])
        .visits(|plan, index, _| {
            let groups = (plan.elements() + 63) / 64;
            groups < 65536 || index / 64 < groups % 65536
        }),
    gpu("workgroups-above-65535-cut", ALL)
        .about("workgroups of 256 elements beyond the first 65535 do not run")
        .needs(Needs::Memory("an output of more than 2^24 elements"))
        .witness(&["SLICE UINT8 in=16777216 out=16777216 Sizes=16777216 Offsets=0 Strides=1"])
        .visits(|_, index, _| index < 65535 * 256),
    gpu("grid-of-one-mebi-elements", ALL)
        .about("an invocation copies one element, and there are 2^20 invocations")
        .needs(Needs::Memory("an output of more than 2^20 elements"))
        .witness(&["SLICE UINT8 in=1048577 out=1048577 Sizes=1048577 Offsets=0 Strides=1"])
        .visits(|_, index, _| index < 1 << 20),
    gpu("tail-of-16-bytes-lost", ALL)
        .about("the last bytes are lost if the output is no multiple of 16 bytes")
        .witness(&["SLICE FLOAT32 in=5 out=5 Sizes=5 Offsets=0 Strides=1"])
        .visits(|plan, index, _| !is_in_tail(plan, index, 16 / plan.width as i64)),
    gpu("tail-of-64-bytes-lost", ALL)
        .about("the last bytes are lost if the output is larger than 64 bytes and no multiple of it")
        .witness(&["SLICE FLOAT32 in=17 out=17 Sizes=17 Offsets=0 Strides=1"])
        .visits(|plan, index, _| !is_in_tail(plan, index, 64 / plan.width as i64)),
    gpu("tail-of-256-elements-lost", ALL)
        .about("the last elements are lost if the output is larger than 256 elements and no multiple of it")
        .witness(&["SLICE UINT8 in=257 out=257 Sizes=257 Offsets=0 Strides=1"])
        .visits(|plan, index, _| !is_in_tail(plan, index, 256)),
    gpu("tail-of-1024-elements-lost", ALL)
        .about("the last elements are lost if the output is larger than 1024 elements and no multiple of it")
        .witness(&["SLICE UINT8 in=1025 out=1025 Sizes=1025 Offsets=0 Strides=1"])
        .visits(|plan, index, _| !is_in_tail(plan, index, 1024)),
    gpu("tail-of-row-lost", ALL)
        .about(
            "the last elements of a row are lost if the row is longer than four elements and no multiple \
            of it",
        )
        .witness(&["SLICE FLOAT32 in=2,5 out=2,5 Sizes=2,5 Offsets=0,0 Strides=1,1"])
        .visits(|plan, _, c| {
            let size = plan.inner().out;
            size < 4 || c[plan.last()] < size / 4 * 4
        }),
    gpu("tail-of-padded-row-filled", PADDING1)
        .about(
            "in CONSTANT, the last elements of the input's row are filled if it is longer than eight \
            elements and no multiple of it",
        )
        .witness(&[
            "PADDING1 UINT8 in=9 out=10 PaddingMode=CONSTANT EndPadding=1 PaddingValue=99 StartPadding=0",
        ])
        .source(|plan, axis, c| {
            let size = plan.axes[axis].n;
            let is_tail = |at: &i64| axis == plan.last() && size > 8 && *at >= size / 8 * 8;
            match plan.source(axis, c) {
                Some(at) if plan.mode == 0 && plan.any(AxisNumbers::is_padded) && is_tail(&at) => None,
                right => right,
            }
        }),
    gpu("row-pitch-of-256-bytes", ALL)
        .about("the pitch of a packed input's rows is rounded up to 256 bytes if a row is larger than that")
        .witness(&["SLICE UINT8 in=2,257 out=2,257 Sizes=2,257 Offsets=0,0 Strides=1,1"])
        .plan(|plan, _| {
            let (width, inner) = (plan.width as i64, plan.inner());
            if let [.., outer, _] = plan.axes.as_mut_slice()
                && inner.n * width > 256
                && outer.input_stride == inner.n
            {
                outer.input_stride = (inner.n * width + 255) / 256 * 256 / width;
            }
        }),
    gpu("output-pitch-of-256-bytes", ALL)
        .about("the pitch of a packed output's rows is rounded up to 256 bytes if a row is larger than that")
        .witness(&["SLICE UINT8 in=2,257 out=2,257 Sizes=2,257 Offsets=0,0 Strides=1,1"])
        .plan(|plan, _| {
            let (width, inner) = (plan.width as i64, plan.inner());
            if let [.., outer, _] = plan.axes.as_mut_slice()
                && inner.out * width > 256
                && outer.output_stride == inner.out
            {
                outer.output_stride = (inner.out * width + 255) / 256 * 256 / width;
            }
        }),
    gpu("transposed-tile-edge-lost", ALL)
        .about("tiles of 16 by 16 at the edge of a transposed input are not copied")
        .witness(&[
            "SLICE FLOAT32 in=17,17 out=17,17 InputTensor.Strides=1,17 Sizes=17,17 Offsets=0,0 Strides=1,1",
        ])
        .visits(|plan, _, c| {
            let size = plan.inner().out;
            !(is_transposed(plan) && size > 16 && c[plan.last()] >= size / 16 * 16)
        }),
    gpu("transposed-tile-of-rows-lost", ALL)
        .about("the last rows of a transposed input are not copied if they are no multiple of four")
        .witness(&["SLICE FLOAT32 in=5,2 out=5,2 InputTensor.Strides=1,5 Sizes=5,2 Offsets=0,0 Strides=1,1"])
        .visits(|plan, _, c| {
            let Some(row) = plan.last().checked_sub(1) else { return true };
            let size = plan.axes[row].out;
            !(is_transposed(plan) && size > 4 && c[row] >= size / 4 * 4)
        }),
    gpu("seventh-axis-lost", ALL)
        .about("only six axes with more than one element are walked")
        .witness(&["SLICE FLOAT32 in=2,2,2,2,2,2,2 out=2,2,2,2,2,2,2 Sizes=2,2,2,2,2,2,2 \
            Offsets=0,0,0,0,0,0,0 Strides=1,1,1,1,1,1,1"])
        .visits(|plan, _, c| {
            let walked = plan.axes.iter().zip(c).rev().filter(|(axis, _)| axis.out > 1);
            walked.skip(6).all(|(_, c)| *c == 0)
        }),
    gpu("axes-beyond-four-walked-once", ALL)
        .about("only the four innermost axes are walked: of the others, the first element is written")
        .witness(&[
            "SLICE FLOAT32 in=2,1,1,1,1 out=2,1,1,1,1 Sizes=2,1,1,1,1 Offsets=0,0,0,0,0 Strides=1,1,1,1,1",
        ])
        .visits(|plan, _, c| c.iter().take(plan.rank().saturating_sub(4)).all(|c| *c == 0)),
    gpu("lanes-share-outer-test", PADDING1)
        .about("lanes of a group of four share the test of CONSTANT with their first lane")
        .witness(&[
            "PADDING1 FLOAT32 in=4 out=6 PaddingMode=CONSTANT StartPadding=1 EndPadding=1 PaddingValue=9",
        ])
        .source(|plan, axis, c| {
            let leader = plan.source(axis, c / 4 * 4);
            let is_inner = axis == plan.last() && plan.mode == 0 && plan.inner().is_padded();
            if is_inner { leader.and(plan.source(axis, c).or(Some(0))) } else { plan.source(axis, c) }
        }),
    gpu("long-rows-ignore-stride", SLICES)
        .about("rows of 64 elements or more are copied by a loop that ignores the slice's stride")
        .witness(&["SLICE UINT8 in=130 out=65 Strides=2 Sizes=65 Offsets=0"])
        .source(|plan, axis, c| {
            let is_fast = axis == plan.last() && plan.inner().out >= 64 && plan.inner().step > 1;
            if is_fast { Some(plan.axes[axis].offset + c) } else { plan.source(axis, c) }
        }),
    gpu("reversed-vector-not-swizzled", SLICE1)
        .about("a reversed row of four elements or more is read in vectors whose elements keep their order")
        .witness(&["SLICE1 FLOAT32 in=4 out=4 InputWindowStrides=-1 InputWindowOffsets=0 InputWindowSizes=4"])
        .source(|plan, axis, c| {
            let Some(inner) = plan.axes.get(axis).filter(|inner| inner.step == -1 && axis == plan.last())
            else {
                return plan.source(axis, c);
            };
            let vector = c / 4 * 4;
            Some(if vector + 4 <= inner.out { inner.first() - vector - 3 + c % 4 } else { inner.first() - c })
        }),
    gpu("second-dispatch-begins-late", ALL)
        .about("the second dispatch of a copy in parts begins one element late")
        .needs(Needs::Memory("an output of more than 2^20 elements"))
        .witness(&["SLICE UINT8 in=1048580 out=1048580 Sizes=1048580 Offsets=0 Strides=1"])
        .visits(|_, index, _| index != 1 << 20),
];
