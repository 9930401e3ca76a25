//! Faults of whole operators, and faults that need two or three ordinary properties at once.

use std::{thread, time::Duration};

use dmlcts_model::DataType;

use crate::{
    kernel::{AxisNumbers, CONSTANT, EDGE, OperatorKind, Plan, REFLECTION, SYMMETRIC, WRAP},
    mutant::{ALL, Mutant, Needs, PADDING1, SLICE, SLICE1, SLICES},
};

/// Makes the first axis that is so read its input from the other end, or from the second element.
fn confuse(plan: &mut Plan, is_so: impl Fn(&AxisNumbers) -> bool) {
    if let Some(axis) = plan.axes.iter_mut().find(|axis| is_so(axis)) {
        if plan.kind == OperatorKind::Padding1 {
            (axis.start, axis.end) = (axis.end, axis.start);
        } else {
            (axis.offset, axis.window) = (axis.n - 1 - axis.offset, 1);
        }
    }
}

pub(crate) const MUTANTS: &[Mutant] = &[
    Mutant::new("refuses-everything", ALL)
        .about("every desc is refused")
        .witness(&["SLICE FLOAT32 in=4 out=4 Sizes=4 Offsets=0 Strides=1"])
        .judge(|_, _| false),
    Mutant::new("accepts-everything", ALL)
        .about("every desc is accepted")
        .witness(&["SLICE FLOAT32 in=4 out=4 Offsets=1 Sizes=4 Strides=1"])
        .judge(|_, _| true),
    Mutant::new("does-nothing", ALL)
        .about("valid descs are accepted, and nothing is written")
        .witness(&["SLICE FLOAT32 in=4 out=4 Sizes=4 Offsets=0 Strides=1"])
        .plan(|plan, _| plan.write_nothing()),
    Mutant::new("copies-the-start", ALL)
        .about("the output is the start of the input, whatever the operator")
        .witness(&["SLICE FLOAT32 in=4 out=2 Offsets=1 Sizes=2 Strides=1"])
        .plan(|plan, _| {
            plan.pack_input();
            plan.each(|axis| (axis.offset, axis.window, axis.step, axis.start) = (0, 1, 1, 0));
        }),
    Mutant::new("crashes-at-thirteen", ALL)
        .about("an innermost output size of 13 ends the process")
        .witness(&["SLICE FLOAT32 in=13 out=13 Sizes=13 Offsets=0 Strides=1"])
        .plan(|plan, _| assert!(plan.inner().out != 13, "a table has no thirteenth entry")),
    Mutant::new("crashes-at-rank-seven", ALL)
        .about("an output of rank 7 ends the process")
        .witness(&["SLICE FLOAT32 in=1,1,1,1,1,1,2 out=1,1,1,1,1,1,2 Sizes=1,1,1,1,1,1,2 \
            Offsets=0,0,0,0,0,0,0 Strides=1,1,1,1,1,1,1"])
        .plan(|plan, _| assert!(plan.rank() != 7, "a table has no seventh entry")),
    Mutant::new("crashes-at-long-wrap", PADDING1)
        .about("WRAP by more than three times the input's size ends the process")
        .witness(&["PADDING1 FLOAT32 in=2 out=9 PaddingMode=WRAP StartPadding=7 EndPadding=0"])
        .plan(|plan, _| {
            assert!(!(plan.mode == WRAP && plan.any(|axis| axis.start > 3 * axis.n)), "a fold overflows");
        }),
    Mutant::new("prime-size-hangs", ALL)
        .about("an innermost output size of 11 is waited for without end")
        .witness(&["SLICE FLOAT32 in=11 out=11 Sizes=11 Offsets=0 Strides=1"])
        .may_hang()
        .plan(|plan, _| {
            while plan.inner().out == 11 {
                thread::sleep(Duration::from_secs(1));
            }
        }),
    Mutant::new("far-reflection-hangs", PADDING1)
        .about("REFLECTION by more than twice the input's size folds without end")
        .witness(&["PADDING1 FLOAT32 in=2 out=7 PaddingMode=REFLECTION StartPadding=5 EndPadding=0"])
        .may_hang()
        .plan(|plan, _| {
            while plan.mode == REFLECTION && plan.any(|axis| axis.n > 1 && axis.start > 2 * axis.n) {
                thread::sleep(Duration::from_secs(1));
            }
        }),
    Mutant::new("reflection-of-halves-on-outer-axis", PADDING1)
        .about("REFLECTION of 2-byte elements swaps the paddings of an axis that is not the innermost")
        .witness(&["PADDING1 FLOAT16 in=3,1 out=4,1 PaddingMode=REFLECTION StartPadding=1,0 EndPadding=0,0"])
        .plan(|plan, _| {
            let last = plan.last();
            if plan.mode == REFLECTION && plan.width == 2 {
                plan.axes
                    .iter_mut()
                    .take(last)
                    .for_each(|axis| (axis.start, axis.end) = (axis.end, axis.start));
            }
        }),
    Mutant::new("reverse-of-cropped-broadcast", SLICE1)
        .about("a negative stride on a cropped inner axis is lost if the input is a broadcast")
        .witness(&["SLICE1 FLOAT32 in=2,4 out=2,2 InputTensor.Strides=0,1 InputWindowSizes=2,3 \
            InputWindowStrides=1,-1 InputWindowOffsets=0,0"])
        .plan(|plan, _| {
            if plan.any(|axis| axis.n > 1 && axis.input_stride == 0) {
                let cropped = plan.axes.iter_mut().skip(1).filter(|axis| axis.is_cropped());
                cropped.for_each(|axis| axis.step = axis.step.abs());
            }
        }),
    Mutant::new("five-padded-axes", PADDING1)
        .about("only the first four padded axes are padded at their start")
        .witness(&["PADDING1 FLOAT32 in=2,2,2,2,2 out=3,3,3,3,3 PaddingMode=EDGE StartPadding=1,1,1,1,1 \
            EndPadding=0,0,0,0,0"])
        .plan(|plan, _| {
            plan.axes.iter_mut().filter(|axis| axis.is_padded()).skip(4).for_each(|axis| axis.start = 0);
        }),
    Mutant::new("three-padded-axes-of-wrap", PADDING1)
        .about("WRAP of three or more axes wraps the third one around its other end")
        .witness(&[
            "PADDING1 FLOAT32 in=3,3,3 out=4,4,4 PaddingMode=WRAP StartPadding=1,1,1 EndPadding=0,0,0",
        ])
        .plan(|plan, _| {
            if plan.mode == WRAP {
                let third = plan.axes.iter_mut().filter(|axis| axis.is_padded()).nth(2);
                if let Some(axis) = third {
                    (axis.start, axis.end) = (axis.end, axis.start);
                }
            }
        }),
    Mutant::new("wrap-of-high-rank-into-strides", PADDING1)
        .about("WRAP from rank 6 on ignores output strides")
        .witness(&["PADDING1 FLOAT32 in=1,1,1,1,2,2 out=1,1,1,1,3,2 OutputTensor.Strides=9,9,9,9,1,3 \
            PaddingMode=WRAP StartPadding=0,0,0,0,1,0 EndPadding=0,0,0,0,0,0"])
        .plan_where(|plan, _| plan.mode == WRAP && plan.rank() >= 6, Plan::pack_output),
    Mutant::new("wide-reverse-with-offset", SLICE1)
        .about("a stride below -1 with an offset is wrong for 8-byte elements")
        .witness(&["SLICE1 FLOAT64 in=8 out=2 InputWindowOffsets=1 InputWindowSizes=5 InputWindowStrides=-2"])
        .plan_where(
            |plan, _| plan.width == 8,
            |plan| confuse(plan, |axis| axis.step < -1 && axis.offset > 0),
        ),
    Mutant::new("nan-value-of-halves", PADDING1)
        .about("CONSTANT with a FLOAT16 NaN from rank 3 on writes zeros")
        .witness(&["PADDING1 FLOAT16 in=1,1,1 out=1,1,2 PaddingMode=CONSTANT StartPadding=0,0,1 \
            PaddingValue=nan EndPadding=0,0,0"])
        .value(|plan, bytes, is_fill| {
            if is_fill && plan.rank() >= 3 && plan.data_type == DataType::FLOAT16 && bytes[1] & 0x7c == 0x7c {
                bytes.fill(0);
            }
        }),
    Mutant::new("both-strided-at-rank-five", ALL)
        .about("if both tensors are strided, the input is read as packed from rank 5 on")
        .witness(&["SLICE FLOAT32 in=1,1,1,2,2 out=1,1,1,2,2 InputTensor.Strides=9,9,9,1,2 \
            OutputTensor.Strides=9,9,9,2,1 Sizes=1,1,1,2,2 Offsets=0,0,0,0,0 Strides=1,1,1,1,1"])
        .plan_where(|plan, _| plan.strided == [true, true] && plan.rank() >= 5, Plan::pack_input),
    Mutant::new("two-long-strides-of-bytes", SLICE)
        .about("strides of 3 or more on two axes are wrong for elements of 8 bits")
        .needs(Needs::ManyCases("a type and a property of two axes together"))
        .witness(&["SLICE UINT8 in=7,7 out=3,3 Strides=3,3 Sizes=3,3 Offsets=0,0"])
        .plan_where(
            |plan, _| plan.width == 1 && plan.count(|axis| axis.step >= 3 && axis.out > 1) >= 2,
            |plan| plan.axes.iter_mut().take(1).for_each(|axis| axis.step -= 1),
        ),
    Mutant::new("edge-around-thin-tensors", PADDING1)
        .about("EDGE swaps the sides of the outermost axis if the innermost has one element")
        .witness(&["PADDING1 FLOAT32 in=3,1 out=6,1 PaddingMode=EDGE StartPadding=1,0 EndPadding=2,0"])
        .plan_where(
            |plan, _| plan.mode == EDGE && plan.inner().n == 1 && plan.rank() > 1,
            |plan| (plan.axes[0].start, plan.axes[0].end) = (plan.axes[0].end, plan.axes[0].start),
        ),
    Mutant::new("symmetric-beyond-two-periods", PADDING1)
        .about("SYMMETRIC by more than twice the input's size is shifted by one element")
        .witness(&["PADDING1 FLOAT32 in=2 out=7 PaddingMode=SYMMETRIC StartPadding=5 EndPadding=0"])
        .plan_where(
            |plan, _| plan.mode == SYMMETRIC,
            |plan| plan.each_where(|axis| axis.start > 2 * axis.n, |axis| axis.start -= 1),
        ),
    Mutant::new("constant-on-both-sides-of-broadcast", PADDING1)
        .about("CONSTANT of a broadcast axis that is padded on both sides swaps them")
        .witness(&["PADDING1 FLOAT32 in=2 out=5 PaddingMode=CONSTANT StartPadding=1 EndPadding=2 \
            InputTensor.Strides=0 PaddingValue=9"])
        .plan_where(
            |plan, _| plan.mode == CONSTANT,
            |plan| confuse(plan, |axis| axis.input_stride == 0 && axis.start > 0 && axis.end > 0),
        ),
    Mutant::new("mixed-signs-of-three-axes", SLICE1)
        .about("two negative strides around a positive one are wrong")
        .witness(&["SLICE1 FLOAT32 in=3,3,3 out=2,2,2 InputWindowSizes=3,3,3 InputWindowStrides=-1,1,-1 \
            InputWindowOffsets=0,0,0"])
        .plan(|plan, _| {
            let signs: Vec<_> = plan.axes.iter().map(|axis| axis.step < 0).collect();
            if let Some(middle) = signs.windows(3).position(|signs| *signs == [true, false, true]) {
                plan.axes[middle].window -= 1;
            }
        }),
    Mutant::new("offsets-of-square-swap", SLICES)
        .about("offsets on two axes swap for UINT16 if both axes have the same size")
        .needs(Needs::ManyCases("a type, a rank and a property of two axes together"))
        .witness(&["SLICE UINT16 in=4,4 out=2,2 Offsets=1,2 Sizes=2,2 Strides=1,1"])
        .plan(|plan, _| {
            if let (DataType::UINT16, [outer, inner]) = (plan.data_type, plan.axes.as_mut_slice())
                && outer.n == inner.n
            {
                std::mem::swap(&mut outer.offset, &mut inner.offset);
            }
        }),
    Mutant::new("square-inputs-transposed", ALL)
        .about("inputs of two axes of the same size are read transposed if they are packed")
        .witness(&["SLICE FLOAT32 in=3,3 out=3,3 Sizes=3,3 Offsets=0,0 Strides=1,1"])
        .plan(|plan, _| {
            if let [outer, inner] = plan.axes.as_mut_slice()
                && outer.n == inner.n
            {
                std::mem::swap(&mut outer.input_stride, &mut inner.input_stride);
            }
        }),
    Mutant::new("inner-padding-of-int8", PADDING1)
        .about("paddings of INT8 on an inner axis are lost if the outermost axis has more than four elements")
        .needs(Needs::ManyCases("a type and a property of each of two axes together"))
        .witness(&["PADDING1 INT8 in=5,2 out=5,3 PaddingMode=EDGE StartPadding=0,1 EndPadding=0,0"])
        .plan_where(
            |plan, _| plan.data_type == DataType::INT8 && plan.axes[0].n > 4,
            |plan| plan.axes.iter_mut().skip(1).for_each(|axis| axis.start = 0),
        ),
    Mutant::new("thirty-second-element-wrong", ALL)
        .about("the element with index 32 is that with index 0")
        .witness(&["SLICE FLOAT32 in=40 out=40 Sizes=40 Offsets=0 Strides=1"])
        .from(|plan, at| match plan.from(at) {
            32 => 0,
            from => from,
        }),
    Mutant::new("outer-size-two-fast-path", SLICES)
        .about("two rows with a stride of 2 between them are copied as if they followed each other")
        .witness(&["SLICE FLOAT32 in=3,2 out=2,2 Strides=2,1 Sizes=2,2 Offsets=0,0"])
        .plan(|plan, _| {
            if let [.., outer, _] = plan.axes.as_mut_slice()
                && outer.out == 2
                && outer.step == 2
            {
                outer.step = 1;
            }
        }),
];
