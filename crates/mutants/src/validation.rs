//! Faults of validation: a check that is missing for some descs, that overflows, or that refuses too much.

use dmlcts_model::{DataType, ErrorCode, Tensor};

use crate::{
    fault::Asked,
    kernel::{AxisNumbers, CONSTANT, EDGE, OperatorKind, Plan, REFLECTION, SYMMETRIC, WRAP},
    mutant::{ALL, Mutant, Needs, PADDING1, SLICE, SLICE1, SLICES},
};

/// The reference's reasons for refusals.
const TYPES: &str = "the tensors' data types differ";
const COUNTS: &str = "the tensors' dimension counts differ";
const COUNT: &str = "DimensionCount is not that of the tensors";
const DATA_TYPE: &str = "the data type is not supported";
const RANK: &str = "the dimension count is not supported";
const SIZE: &str = "a size is 0";
const ELEMENTS: &str = "more than 2^32 - 1 elements";
const TOTAL: &str = "TotalTensorSizeInBytes is less";
const ALIGNMENT: &str = "GuaranteedBaseOffsetAlignment is neither";
const OWNED: &str = "is for inputs only";
const OVERLAP: &str = "overlap itself";
const SLICE_SIZES: &str = "Sizes is not OutputTensor.Sizes";
const SLICE_READS: &str = "the slice reads beyond the input";
const WINDOW: &str = "the window reaches beyond the input";
const REACH: &str = "larger than what the window's strides reach";
const STRIDE: &str = "a stride is 0";
const MODE: &str = "PaddingMode is no mode";
const VALUE_TYPE: &str = "PaddingValueDataType is not that of the tensors";
const PADDED: &str = "OutputTensor.Sizes is not the input's with both paddings";

/// This many bytes, rounded up to four.
fn rounded_up(bytes: i128) -> i128 {
    (bytes + 3) / 4 * 4
}

/// Whether each tensor is large enough if the bytes that it needs exactly are counted like this.
fn is_enough(asked: &Asked<'_>, count: impl Fn(i128) -> i128) -> bool {
    let mut sizes = asked.needed().into_iter().zip(asked.total_sizes());
    asked.but_for_if(TOTAL, sizes.all(|(needed, total)| count(needed) <= i128::from(total)))
}

/// Whether a desc is accepted if this alignment counts as right for elements of this many bytes.
fn accepts_alignment(asked: &Asked<'_>, alignment: u32, width: usize) -> bool {
    let is_right = |tensor: &Tensor| {
        let element = tensor.data_type.element_size();
        (tensor.alignment, element) == (alignment, Some(width)) || is_aligned(tensor)
    };
    asked.but_for_if(ALIGNMENT, asked.tensors_are(is_right))
}

/// Whether a tensor's alignment is right for its elements.
fn is_aligned(tensor: &Tensor) -> bool {
    let element = tensor.data_type.element_size().unwrap_or_default();
    tensor.alignment == 0 || tensor.alignment.is_power_of_two() && tensor.alignment as usize >= element
}

/// Whether elements of the input share memory, although no stride is 0: along an axis, the next element
/// starts inside an axis of smaller strides.
fn shares_input(plan: &Plan) -> bool {
    let walked = plan.axes.iter().filter(|axis| axis.n > 1 && axis.input_stride != 0);
    let mut axes: Vec<_> = walked.map(|axis| (axis.input_stride, axis.n)).collect();
    axes.sort_unstable();
    axes.windows(2).any(|pair| pair[1].0 < pair[0].0 * pair[0].1 && pair[1].0 % pair[0].0 == 0)
}

/// Whether a desc is accepted if those with these numbers skip each operator's own checks.
fn has_fast_path(asked: &Asked<'_>, is_so: fn(&Plan) -> bool) -> bool {
    [SLICE_READS, WINDOW, REACH, PADDED].iter().any(|reason| asked.but_for_where(reason, is_so))
}

/// The axis with the fault, if it is the only one that is so.
fn only(plan: &Plan, is_wrong: impl Fn(&AxisNumbers) -> bool) -> Option<usize> {
    let mut wrong = (0..plan.rank()).filter(|&axis| is_wrong(&plan.axes[axis]));
    wrong.next().filter(|_| wrong.next().is_none())
}

/// Whether the only axis that is so is neither the outermost nor the innermost.
fn only_inner(plan: &Plan, is_wrong: impl Fn(&AxisNumbers) -> bool) -> bool {
    only(plan, is_wrong).is_some_and(|axis| axis > 0 && axis < plan.last())
}

/// Whether the axis has no elements in the input or in the output.
fn is_empty(axis: &AxisNumbers) -> bool {
    axis.n * axis.out == 0
}

/// Whether the window of SLICE1 reaches beyond the input on this axis.
fn window_reaches_beyond(axis: &AxisNumbers) -> bool {
    axis.offset + axis.window > axis.n
}

/// Whether SLICE reads beyond the input on this axis.
fn reads_beyond(axis: &AxisNumbers) -> bool {
    axis.offset + (axis.out - 1) * axis.step >= axis.n
}

/// Whether the sizes of PADDING1 do not agree on this axis.
fn is_missized(axis: &AxisNumbers) -> bool {
    axis.out != axis.n + axis.start + axis.end
}

/// The output's axes of more than one element, sorted by stride: strides and sizes.
fn sorted(plan: &Plan) -> Vec<(i64, i64)> {
    let walked = plan.axes.iter().filter(|axis| axis.out > 1);
    let mut axes: Vec<_> = walked.map(|axis| (axis.output_stride, axis.out)).collect();
    axes.sort_unstable();
    axes
}

/// A mutant of this theme.
const fn validation(name: &'static str, operators: &'static [&'static str]) -> Mutant {
    Mutant::new(name, operators).seen_in("validation")
}

pub(crate) const MUTANTS: &[Mutant] = &[
    validation("types-of-one-width-agree", ALL)
        .about("tensors of different types are accepted if their elements have the same width")
        .witness(&["SLICE FLOAT32 in=4 out=4 OutputTensor.DataType=INT32 Sizes=4 Offsets=0 Strides=1"])
        .judge(|asked, _| {
            let [input, output] = asked.tensors().map(|tensor| tensor.map(|tensor| tensor.data_type.bits()));
            asked.but_for_if(TYPES, input == output)
        }),
    validation("types-not-compared", ALL)
        .about("the types of the tensors are not compared")
        .witness(&["SLICE FLOAT32 in=4 out=4 OutputTensor.DataType=INT64 Sizes=4 Offsets=0 Strides=1"])
        .judge(|asked, _| asked.but_for(TYPES)),
    validation("tensor-counts-not-compared", ALL)
        .about("the dimension counts of the tensors are not compared")
        .witness(&[
            "SLICE FLOAT32 in=4,1 out=4 OutputTensor.DimensionCount=1 Sizes=4 Offsets=0,0 Strides=1,1",
        ])
        .judge(|asked, _| asked.is_valid() || asked.is_refused_for(COUNTS)),
    validation("slice-count-not-checked", SLICE)
        .about("DimensionCount of SLICE is not checked")
        .witness(&["SLICE FLOAT32 in=4 out=4 DimensionCount=2 Sizes=4 Offsets=0 Strides=1"])
        .judge(|asked, _| asked.but_for_if(COUNT, asked.is_of("SLICE"))),
    validation("slice1-count-not-checked", SLICE1)
        .about("DimensionCount of SLICE1 is not checked")
        .witness(&["SLICE1 FLOAT32 in=4 out=4 DimensionCount=2 InputWindowOffsets=0 InputWindowStrides=1 \
            InputWindowSizes=4"])
        .judge(|asked, _| asked.but_for_if(COUNT, asked.is_of("SLICE1"))),
    validation("padding-count-not-checked", PADDING1)
        .about("DimensionCount of PADDING1 is not checked")
        .witness(&[
            "PADDING1 FLOAT32 in=4 out=4 PaddingMode=CONSTANT DimensionCount=2 EndPadding=0 StartPadding=0",
        ])
        .judge(|asked, _| asked.but_for_if(COUNT, asked.is_of("PADDING1"))),
    validation("count-may-be-smaller", ALL)
        .about("a DimensionCount below that of the tensors is accepted")
        .witness(&["SLICE FLOAT32 in=4,4 out=4,4 DimensionCount=1 Sizes=4,4 Offsets=0,0 Strides=1,1"])
        .judge(|asked, _| {
            asked.but_for_if(COUNT, asked.integer("DimensionCount") < asked.desc.rank() as i64)
        }),
    validation("count-may-be-larger", ALL)
        .about("a DimensionCount above that of the tensors is accepted")
        .witness(&["SLICE FLOAT32 in=4,4 out=4,4 DimensionCount=3 Sizes=4,4 Offsets=0,0 Strides=1,1"])
        .judge(|asked, _| {
            asked.but_for_if(COUNT, asked.integer("DimensionCount") > asked.desc.rank() as i64)
        }),
    validation("four-bit-types-accepted", ALL)
        .about("the types of 4 bits are accepted")
        .witness(&["SLICE UINT4 in=8 out=8 Sizes=8 Offsets=0 Strides=1"])
        .judge(|asked, _| {
            let is_narrow = asked.input_is(|input| input.data_type.bits() == Some(4));
            asked.is_valid() || is_narrow && asked.is_refused_for(DATA_TYPE)
        }),
    validation("unknown-type-accepted", ALL)
        .about("the data type UNKNOWN is accepted")
        .witness(&["SLICE UNKNOWN in=4 out=4 InputTensor.TotalTensorSizeInBytes=16 \
            OutputTensor.TotalTensorSizeInBytes=16 Sizes=4 Offsets=0 Strides=1"])
        .judge(|asked, _| {
            asked.but_for_if(DATA_TYPE, asked.input_is(|input| input.data_type == DataType::UNKNOWN))
        }),
    validation("types-beyond-int4-accepted", ALL)
        .about("codes of data types behind the last one are accepted")
        .witness(&["SLICE 14 in=4 out=4 InputTensor.TotalTensorSizeInBytes=16 \
            OutputTensor.TotalTensorSizeInBytes=16 Sizes=4 Offsets=0 Strides=1"])
        .judge(|asked, _| asked.but_for_if(DATA_TYPE, asked.input_is(|input| input.data_type.0 > 13))),
    validation("float64-refused", ALL)
        .about("FLOAT64 is refused, although it is declared")
        .witness(&["SLICE FLOAT64 in=4 out=4 Sizes=4 Offsets=0 Strides=1"])
        .refuses(|plan| plan.data_type == DataType::FLOAT64),
    validation("eight-byte-types-before-level", SLICES)
        .about("types of 8 bytes are accepted before level 4.1")
        .needs(Needs::OlderLevel("3.0", "a level before 4.1"))
        .witness(&["@3.0 SLICE INT64 in=4 out=4 Sizes=4 Offsets=0 Strides=1"])
        .unchecked(DATA_TYPE, |plan| plan.width == 8),
    validation("eight-bit-types-at-first-level", SLICE)
        .about("SLICE accepts types of 8 bits at level 1.0")
        .needs(Needs::OlderLevel("1.0", "a level before 2.1"))
        .witness(&["@1.0 SLICE UINT8 in=1,1,1,4 out=1,1,1,4 Sizes=1,1,1,4 Offsets=0,0,0,0 Strides=1,1,1,1"])
        .unchecked(DATA_TYPE, |plan| plan.width == 1),
    validation("ranks-before-level", SLICES)
        .about("every rank is accepted before level 3.0")
        .needs(Needs::OlderLevel("2.1", "a level before 3.0"))
        .witness(&["@2.1 SLICE FLOAT32 in=4 out=4 Sizes=4 Offsets=0 Strides=1"])
        .judge(|asked, _| asked.but_for(RANK)),
    validation("padding-before-level", PADDING1)
        .about("PADDING1 is accepted before level 5.0")
        .needs(Needs::OlderLevel("4.1", "a level before 5.0"))
        .witness(&["@4.1 PADDING1 FLOAT32 in=4 out=4 PaddingMode=CONSTANT EndPadding=0 StartPadding=0"])
        .judge(|asked, _| asked.but_for("not part of this feature level")),
    validation("wrap-before-level", PADDING1)
        .about("WRAP is accepted before level 6.4")
        .needs(Needs::OlderLevel("6.3", "a level before 6.4"))
        .witness(&["@6.3 PADDING1 FLOAT32 in=4 out=4 PaddingMode=WRAP EndPadding=0 StartPadding=0"])
        .unchecked(MODE, |plan| plan.mode == WRAP),
    validation("wrap-refused-everywhere", PADDING1)
        .about("WRAP is refused at every level")
        .witness(&["PADDING1 FLOAT32 in=4 out=4 PaddingMode=WRAP EndPadding=0 StartPadding=0"])
        .refuses(|plan| plan.mode == WRAP),
    validation("modes-before-level-refused", PADDING1)
        .about("SYMMETRIC is refused before level 6.0")
        .needs(Needs::OlderLevel("5.0", "a level before 6.0"))
        .witness(&["@5.0 PADDING1 FLOAT32 in=4 out=4 PaddingMode=SYMMETRIC EndPadding=0 StartPadding=0"])
        .judge(|asked, _| {
            asked.level.code() >= 0x6000 && asked.is_valid() || asked.unless(|plan| plan.mode == SYMMETRIC)
        }),
    validation("rank-one-refused", ALL)
        .about("tensors of one dimension are refused")
        .witness(&["SLICE FLOAT32 in=4 out=4 Sizes=4 Offsets=0 Strides=1"])
        .refuses(|plan| plan.rank() == 1),
    validation("rank-eight-refused", ALL)
        .about("tensors of eight dimensions are refused")
        .witness(&["SLICE FLOAT32 in=1,1,1,1,1,1,1,4 out=1,1,1,1,1,1,1,4 Sizes=1,1,1,1,1,1,1,4 \
            Offsets=0,0,0,0,0,0,0,0 Strides=1,1,1,1,1,1,1,1"])
        .refuses(|plan| plan.rank() == 8),
    validation("rank-six-of-padding-refused", PADDING1)
        .about("PADDING1 refuses tensors of six or more dimensions")
        .witness(&["PADDING1 FLOAT32 in=1,1,1,1,1,4 out=1,1,1,1,1,4 PaddingMode=CONSTANT \
            EndPadding=0,0,0,0,0,0 StartPadding=0,0,0,0,0,0"])
        .refuses(|plan| plan.rank() >= 6 && plan.kind == OperatorKind::Padding1),
    validation("rank-nine-accepted", ALL)
        .about("tensors of nine dimensions are accepted")
        .witness(&["SLICE FLOAT32 in=1,1,1,1,1,1,1,1,4 out=1,1,1,1,1,1,1,1,4 Sizes=1,1,1,1,1,1,1,1,4 \
            Offsets=0,0,0,0,0,0,0,0,0 Strides=1,1,1,1,1,1,1,1,1"])
        .judge(|asked, _| asked.is_valid() || asked.is_refused_for(RANK) && asked.desc.rank() == 9),
    validation("rank-zero-accepted", ALL)
        .about("tensors without dimensions are accepted")
        .witness(&["SLICE FLOAT32 in= out= Offsets= Sizes= Strides= InputTensor.TotalTensorSizeInBytes=4 \
            OutputTensor.TotalTensorSizeInBytes=4"])
        .unchecked(RANK, |plan| plan.rank() == 0),
    validation("size-zero-accepted", ALL)
        .about("a size of 0 is accepted")
        .seen_in("TensorRT#763")
        .witness(&["PADDING1 FLOAT32 in=0 out=2 PaddingMode=CONSTANT StartPadding=2 EndPadding=0"])
        .judge(|asked, _| asked.but_for(SIZE)),
    validation("size-zero-of-last-axis-accepted", ALL)
        .about("a size of 0 on the innermost axis is accepted")
        .seen_in("TensorRT#763")
        .witness(&["SLICE FLOAT32 in=4,4 out=4,0 Sizes=4,0 Offsets=0,0 Strides=1,1"])
        .unchecked(SIZE, |plan| only(plan, is_empty) == Some(plan.last())),
    validation("size-zero-of-first-axis-accepted", ALL)
        .about("a size of 0 on the outermost axis is accepted")
        .seen_in("TensorRT#763")
        .witness(&["SLICE FLOAT32 in=4,4 out=0,4 Sizes=0,4 Offsets=0,0 Strides=1,1"])
        .unchecked(SIZE, |plan| only(plan, is_empty) == Some(0)),
    validation("elements-counted-in-32-bits", ALL)
        .about("the number of elements is counted in 32 bits, so that 2^32 is 0")
        .seen_in("onnxruntime#28070")
        .witness(&["PADDING1 UINT8 in=1,1 out=65536,65536 PaddingMode=CONSTANT EndPadding=65535,65535 \
            StartPadding=0,0"])
        .unchecked(ELEMENTS, |plan| {
            let count = |size: fn(&AxisNumbers) -> i64| {
                plan.axes.iter().fold(1_u32, |count, axis| count.wrapping_mul(size(axis) as u32))
            };
            count(|axis| axis.n) == 0 || count(|axis| axis.out) == 0
        }),
    validation("elements-counted-in-64-bits", ALL)
        .about("the number of elements is counted in 64 bits, so that 2^64 is 0")
        .witness(&["SLICE UINT8 in=256,256,256,256,256,256,256,256 out=1,1,1,1,1,1,1,1 \
            InputTensor.Strides=0,0,0,0,0,0,0,1 Sizes=1,1,1,1,1,1,1,1 Offsets=0,0,0,0,0,0,0,0 \
            Strides=1,1,1,1,1,1,1,1"])
        .unchecked(ELEMENTS, |plan| {
            plan.axes.iter().fold(1_u64, |count, axis| count.wrapping_mul(axis.n as u64)) == 0
        }),
    validation("elements-above-int-max-refused", ALL)
        .about("more than 2^31 - 1 elements are refused")
        .witness(&["SLICE UINT8 in=2147483648 out=1 InputTensor.Strides=0 Sizes=1 Offsets=0 Strides=1"])
        .refuses(|plan| {
            let count = |size: fn(&AxisNumbers) -> i64| plan.axes.iter().map(size).product::<i64>();
            count(|axis| axis.n) > i64::from(i32::MAX) || count(|axis| axis.out) > i64::from(i32::MAX)
        }),
    validation("elements-up-to-the-limit-refused", ALL)
        .about("the number of elements is compared with < in place of <=: 2^32 - 1 is refused")
        .witness(&["SLICE UINT8 in=4294967295 out=1 InputTensor.Strides=0 Sizes=1 Offsets=0 Strides=1"])
        .refuses(|plan| plan.axes.iter().map(|axis| axis.n).product::<i64>() == i64::from(u32::MAX)),
    validation("elements-of-broadcast-not-counted", ALL)
        .about("axes with a stride of 0 do not count towards the number of elements")
        .witness(&[
            "SLICE UINT8 in=65536,65536 out=1,1 InputTensor.Strides=0,1 Sizes=1,1 Offsets=0,0 Strides=1,1",
        ])
        .unchecked(ELEMENTS, |plan| {
            let real = plan.axes.iter().filter(|axis| axis.input_stride > 0);
            real.map(|axis| axis.n).product::<i64>() <= i64::from(u32::MAX)
        }),
    validation("total-size-not-checked", ALL)
        .about("TotalTensorSizeInBytes is not checked")
        .seen_in("memory")
        .witness(&[
            "SLICE FLOAT32 in=4 out=4 InputTensor.TotalTensorSizeInBytes=12 Sizes=4 Offsets=0 Strides=1",
        ])
        .judge(|asked, _| asked.but_for(TOTAL)),
    validation("total-size-of-input-not-checked", ALL)
        .about("TotalTensorSizeInBytes of the input is not checked")
        .witness(&[
            "SLICE FLOAT32 in=4 out=4 InputTensor.TotalTensorSizeInBytes=12 Sizes=4 Offsets=0 Strides=1",
        ])
        .judge(|asked, _| {
            let ([_, needed], [_, total]) = (asked.needed(), asked.total_sizes());
            asked.but_for_if(TOTAL, rounded_up(needed) <= i128::from(total))
        }),
    validation("total-size-of-output-not-checked", ALL)
        .about("TotalTensorSizeInBytes of the output is not checked")
        .witness(&[
            "SLICE FLOAT32 in=4 out=4 OutputTensor.TotalTensorSizeInBytes=12 Sizes=4 Offsets=0 Strides=1",
        ])
        .judge(|asked, _| {
            let ([needed, _], [total, _]) = (asked.needed(), asked.total_sizes());
            asked.but_for_if(TOTAL, rounded_up(needed) <= i128::from(total))
        }),
    validation("total-size-not-rounded-up", ALL)
        .about("TotalTensorSizeInBytes need not be rounded up to four bytes")
        .witness(&["SLICE UINT8 in=5 out=5 InputTensor.TotalTensorSizeInBytes=5 Sizes=5 Offsets=0 Strides=1"])
        .judge(|asked, _| is_enough(asked, |needed| needed)),
    validation("total-size-rounded-down", ALL)
        .about("TotalTensorSizeInBytes is compared with what is needed rounded down to four bytes")
        .witness(&["SLICE UINT8 in=5 out=5 InputTensor.TotalTensorSizeInBytes=4 Sizes=5 Offsets=0 Strides=1"])
        .judge(|asked, _| is_enough(asked, |needed| needed / 4 * 4)),
    validation("total-size-in-32-bits", ALL)
        .about("the bytes that are needed are computed in 32 bits, and not rounded up")
        .witness(&[
            "SLICE FLOAT32 in=1073741824 out=1 InputTensor.TotalTensorSizeInBytes=4 Sizes=1 Offsets=0 \
            Strides=1",
        ])
        .judge(|asked, _| is_enough(asked, |needed| i128::from(needed as u32))),
    validation("total-size-in-31-bits", ALL)
        .about("the bytes that are needed are computed as a signed number of 32 bits, and not rounded up")
        .witness(&[
            "SLICE FLOAT32 in=536870912 out=1 InputTensor.TotalTensorSizeInBytes=4 Sizes=1 Offsets=0 \
            Strides=1",
        ])
        .judge(|asked, _| is_enough(asked, |needed| i128::from(needed as i32))),
    validation("total-size-lacks-an-element", ALL)
        .about("the bytes that are needed are computed from the last offset, without the last element")
        .witness(&[
            "SLICE FLOAT64 in=4 out=4 InputTensor.TotalTensorSizeInBytes=24 Sizes=4 Offsets=0 Strides=1",
        ])
        .judge(|asked, _| {
            let width = Plan::of(asked.desc).map_or(0, |plan| plan.width as i128);
            is_enough(asked, |needed| rounded_up(needed - width))
        }),
    validation("total-size-ignores-strides", ALL)
        .about("the bytes that are needed are computed from the sizes alone")
        .witness(&["SLICE FLOAT32 in=2,2 out=2,2 InputTensor.Strides=9,1 \
            InputTensor.TotalTensorSizeInBytes=16 Sizes=2,2 Offsets=0,0 Strides=1,1"])
        .judge(|asked, _| {
            asked.but_for_where(TOTAL, |plan| {
                let bytes = |size: fn(&AxisNumbers) -> i64| {
                    plan.axes.iter().map(size).product::<i64>() as u64 * plan.width as u64
                };
                let [input, output] = asked.total_sizes();
                bytes(|axis| axis.n) <= input && bytes(|axis| axis.out) <= output
            })
        }),
    validation("total-size-of-outermost-axis", ALL)
        .about("the bytes that are needed are those of the outermost stride times its size")
        .witness(&["SLICE FLOAT32 in=2,2 out=2,2 InputTensor.Strides=1,9 \
            InputTensor.TotalTensorSizeInBytes=8 Sizes=2,2 Offsets=0,0 Strides=1,1"])
        .judge(|asked, _| {
            asked.but_for_where(TOTAL, |plan| {
                let outer = plan.axes[0];
                (outer.n * outer.input_stride) as u64 * plan.width as u64 <= asked.total_sizes()[0]
            })
        }),
    validation("total-size-counts-sizes", ALL)
        .about(
            "the bytes that are needed count a stride once too often on each axis, so that exact sizes of \
            strided tensors are refused",
        )
        .witness(&[
            "SLICE FLOAT32 in=1,4 out=1,4 InputTensor.Strides=100,1 Sizes=1,4 Offsets=0,0 Strides=1,1",
        ])
        .judge(|asked, _| {
            asked.unless(|plan| {
                let span: i64 = plan.axes.iter().map(|axis| axis.n * axis.input_stride).max().unwrap_or(0);
                plan.strided[0]
                    && (span as u64 * plan.width as u64).next_multiple_of(4) > asked.total_sizes()[0]
            })
        }),
    validation("total-size-must-be-exact", ALL)
        .about("a TotalTensorSizeInBytes above what is needed is refused")
        .seen_in("memory")
        .witness(&[
            "SLICE FLOAT32 in=4 out=4 InputTensor.TotalTensorSizeInBytes=32 Sizes=4 Offsets=0 Strides=1",
        ])
        .judge(|asked, _| {
            asked.is_valid()
                && asked
                    .needed()
                    .into_iter()
                    .zip(asked.total_sizes())
                    .all(|(needed, total)| rounded_up(needed) == i128::from(total))
        }),
    validation("alignment-not-checked", ALL)
        .about("GuaranteedBaseOffsetAlignment is not checked")
        .witness(&[
            "SLICE FLOAT32 in=4 out=4 InputTensor.GuaranteedBaseOffsetAlignment=17 Sizes=4 Offsets=0 \
            Strides=1",
        ])
        .judge(|asked, _| asked.but_for(ALIGNMENT)),
    validation("alignment-no-power-of-two", ALL)
        .about("an alignment that is a multiple of the element's size but no power of two is accepted")
        .witness(&[
            "SLICE FLOAT32 in=4 out=4 InputTensor.GuaranteedBaseOffsetAlignment=48 Sizes=4 Offsets=0 \
            Strides=1",
        ])
        .judge(|asked, _| {
            asked.but_for_if(ALIGNMENT, asked.tensors_are(|tensor| tensor.alignment % 16 == 0))
        }),
    validation("alignment-below-element", ALL)
        .about("an alignment that is a power of two below the element's size is accepted")
        .witness(&["SLICE FLOAT64 in=4 out=4 InputTensor.GuaranteedBaseOffsetAlignment=4 Sizes=4 Offsets=0 \
            Strides=1"])
        .judge(|asked, _| {
            let is_power = |tensor: &Tensor| tensor.alignment == 0 || tensor.alignment.is_power_of_two();
            asked.but_for_if(ALIGNMENT, asked.tensors_are(is_power))
        }),
    validation("alignment-of-1-for-two-bytes", ALL)
        .about("an alignment of 1 is accepted for elements of two bytes")
        .witness(&["SLICE FLOAT16 in=4 out=4 InputTensor.GuaranteedBaseOffsetAlignment=1 Sizes=4 Offsets=0 \
            Strides=1"])
        .judge(|asked, _| accepts_alignment(asked, 1, 2)),
    validation("alignment-of-2-for-four-bytes", ALL)
        .about("an alignment of 2 is accepted for elements of four bytes")
        .witness(&["SLICE FLOAT32 in=4 out=4 InputTensor.GuaranteedBaseOffsetAlignment=2 Sizes=4 Offsets=0 \
            Strides=1"])
        .judge(|asked, _| accepts_alignment(asked, 2, 4)),
    validation("alignment-of-4-for-eight-bytes", ALL)
        .about("an alignment of 4 is accepted for elements of eight bytes")
        .witness(&["SLICE FLOAT64 in=4 out=4 InputTensor.GuaranteedBaseOffsetAlignment=4 Sizes=4 Offsets=0 \
            Strides=1"])
        .judge(|asked, _| accepts_alignment(asked, 4, 8)),
    validation("alignment-of-2-for-eight-bytes", ALL)
        .about("an alignment of 2 is accepted for elements of eight bytes")
        .witness(&[
            "SLICE FLOAT64 in=4 out=4 OutputTensor.GuaranteedBaseOffsetAlignment=2 Sizes=4 Offsets=0 \
            Strides=1",
        ])
        .judge(|asked, _| accepts_alignment(asked, 2, 8)),
    validation("alignment-of-output-not-checked", ALL)
        .about("GuaranteedBaseOffsetAlignment of the output is not checked")
        .witness(&[
            "SLICE FLOAT32 in=4 out=4 OutputTensor.GuaranteedBaseOffsetAlignment=17 Sizes=4 Offsets=0 \
            Strides=1",
        ])
        .judge(|asked, _| asked.but_for_if(ALIGNMENT, asked.input_is(is_aligned))),
    validation("alignment-above-4096-refused", ALL)
        .about("an alignment above 4096 is refused")
        .witness(&["SLICE FLOAT32 in=4 out=4 InputTensor.GuaranteedBaseOffsetAlignment=65536 Sizes=4 \
            Offsets=0 Strides=1"])
        .judge(|asked, _| asked.is_valid() && asked.tensors_are(|tensor| tensor.alignment <= 4096)),
    validation("alignment-of-highest-bit-refused", ALL)
        .about("an alignment of 2^31 is taken for negative and refused")
        .witness(&["SLICE FLOAT32 in=4 out=4 InputTensor.GuaranteedBaseOffsetAlignment=2147483648 Sizes=4 \
            Offsets=0 Strides=1"])
        .judge(|asked, _| asked.is_valid() && asked.tensors_are(|tensor| tensor.alignment != 1 << 31)),
    validation("owned-output-accepted", ALL)
        .about("OWNED_BY_DML is accepted for outputs")
        .witness(&["SLICE FLOAT32 in=4 out=4 OutputTensor.Flags=1 Sizes=4 Offsets=0 Strides=1"])
        .judge(|asked, _| asked.but_for(OWNED)),
    validation("owned-input-refused", ALL)
        .about("OWNED_BY_DML is refused for inputs")
        .witness(&["SLICE FLOAT32 in=4 out=4 InputTensor.Flags=1 Sizes=4 Offsets=0 Strides=1"])
        .judge(|asked, _| asked.is_valid() && asked.input_is(|input| input.flags != 1)),
    validation("overlap-not-checked", ALL)
        .about("outputs that overlap themselves are accepted")
        .witness(&["SLICE FLOAT32 in=2,2 out=2,2 OutputTensor.Strides=1,1 Sizes=2,2 Offsets=0,0 Strides=1,1"])
        .judge(|asked, _| asked.but_for(OVERLAP)),
    validation("shared-input-refused", ALL)
        .about("an input whose elements share memory is refused, as an output is, although no stride is 0")
        .witness(&["SLICE FLOAT32 in=2,2 out=2,2 InputTensor.Strides=1,1 Sizes=2,2 Offsets=0,0 Strides=1,1"])
        .refuses(shares_input),
    validation("shared-input-needs-packed-size", ALL)
        .about(
            "an input whose elements share memory is refused if fewer bytes are bound than its elements \
            have",
        )
        .witness(&["SLICE FLOAT32 in=2,2 out=2,2 InputTensor.Strides=1,1 Sizes=2,2 Offsets=0,0 Strides=1,1"])
        .judge(|asked, _| {
            let total = asked.total_sizes()[0];
            asked.unless(|plan| {
                let elements: i64 = plan.axes.iter().map(|axis| axis.n).product();
                shares_input(plan) && (elements as u64) * (plan.width as u64) > total
            })
        }),
    validation("overlap-only-of-stride-zero", ALL)
        .about("outputs that overlap themselves are refused only if a stride is 0")
        .witness(&["SLICE FLOAT32 in=2,2 out=2,2 OutputTensor.Strides=1,1 Sizes=2,2 Offsets=0,0 Strides=1,1"])
        .unchecked(OVERLAP, |plan| !plan.any(|axis| axis.out > 1 && axis.output_stride == 0)),
    validation("overlap-only-of-equal-strides", ALL)
        .about("outputs that overlap themselves are refused only if two strides are equal or one is 0")
        .witness(&["SLICE FLOAT32 in=3,2 out=3,2 OutputTensor.Strides=1,2 Sizes=3,2 Offsets=0,0 Strides=1,1"])
        .unchecked(OVERLAP, |plan| {
            let axes = sorted(plan);
            axes.iter().all(|axis| axis.0 > 0) && axes.windows(2).all(|pair| pair[0].0 < pair[1].0)
        }),
    validation("overlap-only-of-neighbours", ALL)
        .about("each stride is compared with the next inner axis alone")
        .witness(&["SLICE FLOAT32 in=2,2,2 out=2,2,2 OutputTensor.Strides=3,2,1 Sizes=2,2,2 Offsets=0,0,0 \
            Strides=1,1,1"])
        .unchecked(OVERLAP, |plan| {
            sorted(plan).windows(2).all(|pair| pair[1].0 > pair[0].0 * (pair[0].1 - 1))
                && !plan.any(|axis| axis.output_stride == 0)
        }),
    validation("overlap-by-counting", ALL)
        .about("outputs overlap themselves only if they have more elements than their strides span")
        .witness(&["SLICE FLOAT32 in=2,2 out=2,2 OutputTensor.Strides=2,2 Sizes=2,2 Offsets=0,0 Strides=1,1"])
        .unchecked(OVERLAP, |plan| {
            plan.axes.iter().map(|axis| (axis.out - 1) * axis.output_stride).sum::<i64>() + 1
                >= plan.elements()
        }),
    validation("overlap-off-by-one", ALL)
        .about("a stride that is equal to the span of the inner axes is accepted")
        .witness(&["SLICE FLOAT32 in=2,3 out=2,3 OutputTensor.Strides=2,1 Sizes=2,3 Offsets=0,0 Strides=1,1"])
        .unchecked(OVERLAP, |plan| {
            let mut span = 0;
            sorted(plan).into_iter().all(|(stride, size)| {
                let is_apart = stride > 0 && stride >= span;
                span += stride * (size - 1);
                is_apart
            })
        }),
    validation("overlap-needs-nesting", ALL)
        .about("outputs whose strides interleave without overlap are refused")
        .witness(&["SLICE FLOAT32 in=3,2 out=3,2 OutputTensor.Strides=2,3 Sizes=3,2 Offsets=0,0 Strides=1,1"])
        .refuses(|plan| {
            let mut span = 0;
            !sorted(plan).into_iter().all(|(stride, size)| {
                let is_apart = stride > span;
                span += stride * (size - 1);
                is_apart
            })
        }),
    validation("overlap-needs-order", ALL)
        .about("outputs whose strides are not sorted, outermost largest, are refused")
        .witness(&["SLICE FLOAT32 in=2,2 out=2,2 OutputTensor.Strides=1,2 Sizes=2,2 Offsets=0,0 Strides=1,1"])
        .refuses(|plan| {
            plan.axes.windows(2).any(|pair| {
                pair[0].out > 1 && pair[1].out > 1 && pair[0].output_stride < pair[1].output_stride
            })
        }),
    validation("overlap-of-single-elements", ALL)
        .about("an output with a stride of 0 on an axis of one element is refused")
        .witness(&["SLICE FLOAT32 in=1,4 out=1,4 OutputTensor.Strides=0,1 Sizes=1,4 Offsets=0,0 Strides=1,1"])
        .refuses(|plan| plan.any(|axis| axis.output_stride == 0)),
    validation("output-holes-refused", ALL)
        .about("outputs with holes are refused")
        .witness(&["SLICE FLOAT32 in=2,2 out=2,2 OutputTensor.Strides=3,1 Sizes=2,2 Offsets=0,0 Strides=1,1"])
        .refuses(|plan| {
            plan.axes.iter().map(|axis| (axis.out - 1) * axis.output_stride).sum::<i64>() + 1
                > plan.elements()
        }),
    validation("input-overlap-refused", ALL)
        .about("inputs with a stride of 0 are refused, as outputs are")
        .witness(&["SLICE FLOAT32 in=4 out=4 InputTensor.Strides=0 Sizes=4 Offsets=0 Strides=1"])
        .refuses(|plan| plan.any(|axis| axis.input_stride == 0 && axis.n > 1)),
    validation("slice-sizes-not-compared", SLICE)
        .about("SLICE's Sizes is not compared with the output's")
        .witness(&["SLICE FLOAT32 in=4 out=3 Sizes=2 Offsets=0 Strides=1"])
        .judge(|asked, _| asked.but_for(SLICE_SIZES)),
    validation("slice-sizes-may-be-smaller", SLICE)
        .about("SLICE's Sizes may be smaller than the output's innermost size")
        .witness(&["SLICE FLOAT32 in=4,4 out=4,3 Sizes=4,2 Offsets=0,0 Strides=1,1"])
        .judge(|asked, _| {
            asked.but_for_where(SLICE_SIZES, |plan| {
                let sizes = asked.desc.list("Sizes").unwrap_or_default();
                let differs: Vec<_> =
                    (0..plan.rank()).filter(|&axis| sizes[axis] != plan.axes[axis].out).collect();
                differs == [plan.last()] && sizes[plan.last()] < plan.inner().out
            })
        }),
    validation("slice-reads-of-last-axis-not-checked", SLICE)
        .about("SLICE does not check the reads of the innermost axis")
        .witness(&["SLICE FLOAT32 in=4,4 out=4,3 Offsets=0,2 Sizes=4,3 Strides=1,1"])
        .unchecked(SLICE_READS, |plan| only(plan, reads_beyond) == Some(plan.last())),
    validation("slice-reads-of-first-axis-not-checked", SLICE)
        .about("SLICE does not check the reads of the outermost axis")
        .witness(&["SLICE FLOAT32 in=4,4 out=3,4 Offsets=2,0 Sizes=3,4 Strides=1,1"])
        .unchecked(SLICE_READS, |plan| only(plan, reads_beyond) == Some(0)),
    validation("slice-reads-of-inner-axis-not-checked", SLICE)
        .about("SLICE does not check the reads of axes between the outermost and the innermost")
        .witness(&["SLICE FLOAT32 in=4,4,4 out=4,3,4 Offsets=0,2,0 Sizes=4,3,4 Strides=1,1,1"])
        .unchecked(SLICE_READS, |plan| only_inner(plan, reads_beyond)),
    validation("slice-reads-off-by-one", SLICE)
        .about("SLICE may read one element behind the input")
        .witness(&["SLICE FLOAT32 in=4 out=3 Offsets=2 Sizes=3 Strides=1"])
        .unchecked(SLICE_READS, |plan| !plan.any(|axis| axis.offset + (axis.out - 1) * axis.step > axis.n)),
    validation("slice-reads-in-32-bits", SLICE)
        .about("SLICE computes its last read in 32 bits")
        .witness(&["SLICE FLOAT32 in=4 out=3 Offsets=2 Strides=2147483647 Sizes=3"])
        .unchecked(SLICE_READS, |plan| {
            !plan.any(|axis| i64::from((axis.offset + (axis.out - 1) * axis.step) as u32) >= axis.n)
        }),
    validation("slice-reads-as-int", SLICE)
        .about("SLICE computes its last read as a signed number of 32 bits")
        .witness(&["SLICE FLOAT32 in=4 out=3 Strides=2147483647 Sizes=3 Offsets=0"])
        .unchecked(SLICE_READS, |plan| {
            !plan.any(|axis| i64::from((axis.offset + (axis.out - 1) * axis.step) as i32) >= axis.n)
        }),
    validation("slice-stride-forgotten-in-bound", SLICE)
        .about("SLICE checks offset and size without the stride")
        .witness(&["SLICE FLOAT32 in=4 out=3 Strides=2 Sizes=3 Offsets=0"])
        .unchecked(SLICE_READS, |plan| !plan.any(|axis| axis.offset + axis.out > axis.n)),
    validation("slice-of-one-element-not-checked", SLICE)
        .about("SLICE checks only axes with more than one output element")
        .witness(&["SLICE FLOAT32 in=4 out=1 Offsets=4 Sizes=1 Strides=1"])
        .unchecked(SLICE_READS, |plan| !plan.any(|axis| axis.out > 1 && reads_beyond(axis))),
    validation("slice-size-times-stride-in-bounds", SLICE)
        .about("SLICE refuses Sizes times Strides beyond the end, although no read is")
        .seen_in("tensorflow#61424")
        .witness(&["SLICE FLOAT32 in=5 out=3 Strides=2 Sizes=3 Offsets=0"])
        .refuses(|plan| {
            plan.kind == OperatorKind::Slice && plan.any(|axis| axis.offset + axis.out * axis.step > axis.n)
        }),
    validation("slice-offset-of-last-element-refused", SLICES)
        .about("an offset of the last element is refused")
        .witness(&["SLICE FLOAT32 in=4 out=1 Offsets=3 Sizes=1 Strides=1"])
        .refuses(|plan| plan.any(|axis| axis.n > 1 && axis.offset == axis.n - 1)),
    validation("slice-stride-above-size-refused", SLICES)
        .about("a stride larger than the axis is refused")
        .witness(&["SLICE FLOAT32 in=4 out=1 Strides=5 Sizes=1 Offsets=0"])
        .refuses(|plan| plan.any(|axis| axis.step.abs() > axis.n)),
    validation("slice1-window-of-last-axis-not-checked", SLICE1)
        .about("SLICE1 does not check the window of the innermost axis")
        .witness(&["SLICE1 FLOAT32 in=4,4 out=4,2 InputWindowOffsets=0,2 InputWindowSizes=4,3 \
            InputWindowStrides=1,1"])
        .unchecked(WINDOW, |plan| only(plan, window_reaches_beyond) == Some(plan.last())),
    validation("slice1-window-of-first-axis-not-checked", SLICE1)
        .about("SLICE1 does not check the window of the outermost axis")
        .witness(&["SLICE1 FLOAT32 in=4,4 out=2,4 InputWindowOffsets=2,0 InputWindowSizes=3,4 \
            InputWindowStrides=1,1"])
        .unchecked(WINDOW, |plan| only(plan, window_reaches_beyond) == Some(0)),
    validation("slice1-window-of-inner-axis-not-checked", SLICE1)
        .about("SLICE1 does not check the windows of axes between the outermost and the innermost")
        .witness(&["SLICE1 FLOAT32 in=4,4,4 out=4,2,4 InputWindowOffsets=0,2,0 InputWindowSizes=4,3,4 \
            InputWindowStrides=1,1,1"])
        .unchecked(WINDOW, |plan| only_inner(plan, window_reaches_beyond)),
    validation("slice1-window-sum-in-32-bits", SLICE1)
        .about("SLICE1 adds offset and window in 32 bits")
        .witness(&[
            "SLICE1 FLOAT32 in=4 out=1 InputWindowOffsets=4294967295 InputWindowSizes=2 InputWindowStrides=1",
        ])
        .unchecked(WINDOW, |plan| !plan.any(|axis| i64::from((axis.offset + axis.window) as u32) > axis.n)),
    validation("slice1-window-sum-as-int", SLICE1)
        .about("SLICE1 adds offset and window as signed numbers of 32 bits")
        .witness(&[
            "SLICE1 FLOAT32 in=4 out=1 InputWindowOffsets=2147483647 InputWindowSizes=1 InputWindowStrides=1",
        ])
        .unchecked(WINDOW, |plan| !plan.any(|axis| i64::from((axis.offset + axis.window) as i32) > axis.n)),
    validation("slice1-window-may-pass-unread", SLICE1)
        .about("SLICE1 accepts a window beyond the input if no read is")
        .witness(&["SLICE1 FLOAT32 in=4 out=2 InputWindowSizes=5 InputWindowStrides=2 InputWindowOffsets=0"])
        .unchecked(WINDOW, |plan| {
            !plan.any(|axis| axis.step < 0 || axis.offset + (axis.out - 1) * axis.step >= axis.n)
        }),
    validation("slice1-window-of-reverse-not-checked", SLICE1)
        .about("SLICE1 does not check windows whose stride is negative")
        .witness(&["SLICE1 FLOAT32 in=4 out=2 InputWindowOffsets=2 InputWindowSizes=3 InputWindowStrides=-1"])
        .unchecked(WINDOW, |plan| !plan.any(|axis| axis.step > 0 && axis.offset + axis.window > axis.n)),
    validation("slice1-reach-rounded-up", SLICE1)
        .about("SLICE1 allows one element more if the stride divides the window")
        .witness(&["SLICE1 FLOAT32 in=4 out=3 InputWindowStrides=2 InputWindowOffsets=0 InputWindowSizes=4"])
        .unchecked(REACH, |plan| !plan.any(|axis| axis.out > 1 + axis.window / axis.step.abs().max(1))),
    validation("slice1-reach-rounded-down", SLICE1)
        .about("SLICE1 refuses the last element if the stride does not divide the window")
        .seen_in("tensorflow#61424")
        .witness(&["SLICE1 FLOAT32 in=5 out=3 InputWindowStrides=2 InputWindowOffsets=0 InputWindowSizes=5"])
        .refuses(|plan| {
            plan.any(|axis| {
                axis.step != 0
                    && axis.window >= axis.step.abs()
                    && axis.out > axis.window / axis.step.abs()
                    && axis.window > 1
                    && plan.kind == OperatorKind::Slice1
            })
        }),
    validation("slice1-reach-of-reverse-not-checked", SLICE1)
        .about("SLICE1 does not check how far a negative stride reaches")
        .witness(&["SLICE1 FLOAT32 in=4 out=3 InputWindowStrides=-2 InputWindowOffsets=0 InputWindowSizes=4"])
        .unchecked(REACH, |plan| {
            !plan.any(|axis| axis.step > 0 && (axis.out - 1) * axis.step > axis.window - 1)
        }),
    validation("slice1-reach-in-32-bits", SLICE1)
        .about("SLICE1 multiplies output size and stride in 32 bits")
        .witness(&["SLICE1 FLOAT32 in=4 out=3 InputWindowStrides=-2147483648 InputWindowOffsets=0 \
            InputWindowSizes=4"])
        .unchecked(REACH, |plan| {
            !plan.any(|axis| i64::from(((axis.out - 1) * axis.step.abs()) as u32) > axis.window - 1)
        }),
    validation("slice1-reach-in-input", SLICE1)
        .about("SLICE1 checks its reads against the input instead of the window")
        .witness(&["SLICE1 FLOAT32 in=8 out=4 InputWindowSizes=4 InputWindowStrides=2 InputWindowOffsets=0"])
        .unchecked(REACH, |plan| !plan.any(|axis| axis.offset + (axis.out - 1) * axis.step.abs() >= axis.n)),
    validation("slice1-short-output-refused", SLICE1)
        .about("SLICE1 refuses outputs that stop short of what is reachable")
        .witness(&["SLICE1 FLOAT32 in=4 out=2 InputWindowOffsets=0 InputWindowStrides=1 InputWindowSizes=4"])
        .refuses(|plan| {
            plan.kind == OperatorKind::Slice1
                && plan.any(|axis| axis.out != 1 + (axis.window - 1) / axis.step.abs().max(1))
        }),
    validation("slice1-zero-stride-of-one-element", SLICE1)
        .about("SLICE1 accepts a stride of 0 on axes with one output element")
        .witness(&["SLICE1 FLOAT32 in=4 out=1 InputWindowStrides=0 InputWindowOffsets=0 InputWindowSizes=4"])
        .unchecked(STRIDE, |plan| {
            plan.kind == OperatorKind::Slice1 && !plan.any(|axis| axis.step == 0 && axis.out > 1)
        }),
    validation("slice1-empty-window-at-end-accepted", SLICE1)
        .about("SLICE1 accepts an empty window at the end of the input")
        .seen_in("DirectMLX")
        .witness(&["SLICE1 FLOAT32 in=4 out=1 InputWindowOffsets=4 InputWindowSizes=0 InputWindowStrides=1"])
        .judge(|asked, _| {
            let is_at_end = |plan: &Plan| !plan.any(|axis| axis.window == 0 && axis.offset != axis.n);
            asked.is_valid()
                || asked.is_refused_for("the window is empty")
                    && Plan::of(asked.desc).is_some_and(|plan| is_at_end(&plan))
        }),
    validation("padding-sum-saturates", PADDING1)
        .about("the sum of a size and its paddings saturates at 2^32 - 1")
        .witness(&[
            "PADDING1 UINT8 in=1 out=4294967295 PaddingMode=CONSTANT StartPadding=4294967295 EndPadding=0",
        ])
        .unchecked(PADDED, |plan| {
            !plan.any(|axis| axis.out != (axis.n + axis.start + axis.end).min(i64::from(u32::MAX)))
        }),
    validation("padding-sum-as-int-refused", PADDING1)
        .about("the sum of a size and its paddings is signed, and those above INT_MAX are refused")
        .witness(&[
            "PADDING1 UINT8 in=1 out=2147483648 PaddingMode=CONSTANT StartPadding=2147483647 EndPadding=0",
        ])
        .refuses(|plan| {
            plan.kind == OperatorKind::Padding1 && plan.any(|axis| axis.out > i64::from(i32::MAX))
        }),
    validation("padding-output-may-be-smaller", PADDING1)
        .about("outputs smaller than the padded input are accepted")
        .witness(&["PADDING1 FLOAT32 in=4 out=5 PaddingMode=CONSTANT StartPadding=2 EndPadding=0"])
        .unchecked(PADDED, |plan| !plan.any(|axis| axis.out > axis.n + axis.start + axis.end)),
    validation("padding-output-may-be-larger", PADDING1)
        .about("outputs larger than the padded input are accepted")
        .witness(&["PADDING1 FLOAT32 in=4 out=7 PaddingMode=CONSTANT StartPadding=2 EndPadding=0"])
        .unchecked(PADDED, |plan| !plan.any(|axis| axis.out < axis.n + axis.start + axis.end)),
    validation("padding-sum-of-last-axis-not-checked", PADDING1)
        .about("the output's innermost size is not checked")
        .witness(&["PADDING1 FLOAT32 in=4,4 out=4,5 PaddingMode=CONSTANT EndPadding=0,0 StartPadding=0,0"])
        .unchecked(PADDED, |plan| only(plan, is_missized) == Some(plan.last())),
    validation("padding-sum-of-first-axis-not-checked", PADDING1)
        .about("the output's outermost size is not checked")
        .witness(&["PADDING1 FLOAT32 in=4,4 out=5,4 PaddingMode=CONSTANT EndPadding=0,0 StartPadding=0,0"])
        .unchecked(PADDED, |plan| only(plan, is_missized) == Some(0)),
    validation("padding-sum-of-inner-axis-not-checked", PADDING1)
        .about("the output's sizes between the outermost and the innermost are not checked")
        .witness(&[
            "PADDING1 FLOAT32 in=4,4,4 out=4,5,4 PaddingMode=CONSTANT EndPadding=0,0,0 StartPadding=0,0,0",
        ])
        .unchecked(PADDED, |plan| only_inner(plan, is_missized)),
    validation("padding-sum-of-edge-not-checked", PADDING1)
        .about("the output's sizes are not checked in EDGE")
        .witness(&["PADDING1 FLOAT32 in=4 out=5 PaddingMode=EDGE EndPadding=0 StartPadding=0"])
        .unchecked(PADDED, |plan| plan.mode == EDGE),
    validation("padding-sum-of-wrap-not-checked", PADDING1)
        .about("the output's sizes are not checked in WRAP")
        .witness(&["PADDING1 FLOAT32 in=4 out=5 PaddingMode=WRAP EndPadding=0 StartPadding=0"])
        .unchecked(PADDED, |plan| plan.mode == WRAP),
    validation("padding-sum-of-unpadded-not-checked", PADDING1)
        .about("the output's sizes are checked only if an axis is padded")
        .witness(&["PADDING1 FLOAT32 in=4 out=5 PaddingMode=CONSTANT EndPadding=0 StartPadding=0"])
        .unchecked(PADDED, |plan| !plan.any(AxisNumbers::is_padded)),
    validation("padding-sum-of-total-elements", PADDING1)
        .about("the number of elements is compared in place of each size")
        .witness(&["PADDING1 FLOAT32 in=2,3 out=3,2 PaddingMode=CONSTANT EndPadding=0,0 StartPadding=0,0"])
        .unchecked(PADDED, |plan| {
            plan.elements() == plan.axes.iter().map(|axis| axis.n + axis.start + axis.end).product::<i64>()
        }),
    validation("reflection-of-long-padding-refused", PADDING1)
        .about("REFLECTION refuses paddings of the input's size or more")
        .seen_in("onnxruntime, WebNN")
        .witness(&["PADDING1 FLOAT32 in=3 out=6 PaddingMode=REFLECTION StartPadding=3 EndPadding=0"])
        .refuses(|plan| {
            plan.mode == REFLECTION && plan.any(|axis| axis.n > 1 && axis.start.max(axis.end) >= axis.n)
        }),
    validation("symmetric-of-long-padding-refused", PADDING1)
        .about("SYMMETRIC refuses paddings above the input's size")
        .seen_in("onnxruntime, WebNN")
        .witness(&["PADDING1 FLOAT32 in=3 out=7 PaddingMode=SYMMETRIC StartPadding=4 EndPadding=0"])
        .refuses(|plan| plan.mode == SYMMETRIC && plan.any(|axis| axis.start.max(axis.end) > axis.n)),
    validation("wrap-of-long-padding-refused", PADDING1)
        .about("WRAP refuses paddings above the input's size")
        .seen_in("semantics")
        .witness(&["PADDING1 FLOAT32 in=3 out=7 PaddingMode=WRAP StartPadding=4 EndPadding=0"])
        .refuses(|plan| plan.mode == WRAP && plan.any(|axis| axis.start.max(axis.end) > axis.n)),
    validation("padding-of-nothing-refused", PADDING1)
        .about("PADDING1 without any padding is refused")
        .seen_in("semantics")
        .witness(&["PADDING1 FLOAT32 in=3 out=3 PaddingMode=EDGE EndPadding=0 StartPadding=0"])
        .refuses(|plan| plan.kind == OperatorKind::Padding1 && plan.is_identity()),
    validation("mode-five-accepted", PADDING1)
        .about("the mode behind the last one is accepted")
        .witness(&["PADDING1 FLOAT32 in=3 out=3 PaddingMode=5 EndPadding=0 StartPadding=0"])
        .unchecked(MODE, |plan| plan.mode == 5),
    validation("negative-modes-accepted", PADDING1)
        .about("modes are compared with the last one as signed numbers, so that -1 is accepted")
        .witness(&["PADDING1 FLOAT32 in=3 out=3 PaddingMode=-1 EndPadding=0 StartPadding=0"])
        .judge(|asked, _| asked.but_for_if(MODE, (asked.integer("PaddingMode") as i32) < 0)),
    validation("any-mode-accepted", PADDING1)
        .about("modes are not checked")
        .witness(&["PADDING1 FLOAT32 in=3 out=3 PaddingMode=77 EndPadding=0 StartPadding=0"])
        .judge(|asked, _| asked.but_for(MODE)),
    validation("value-type-checked-in-constant-only", PADDING1)
        .about("PaddingValueDataType is checked in CONSTANT only")
        .witness(&["PADDING1 FLOAT32 in=3 out=3 PaddingMode=EDGE PaddingValueDataType=INT32 EndPadding=0 \
            StartPadding=0"])
        .unchecked(VALUE_TYPE, |plan| plan.mode != CONSTANT),
    validation("value-type-not-checked-in-reflection", PADDING1)
        .about("PaddingValueDataType is not checked in REFLECTION")
        .witness(&["PADDING1 FLOAT32 in=3 out=3 PaddingMode=REFLECTION PaddingValueDataType=INT32 \
            EndPadding=0 StartPadding=0"])
        .unchecked(VALUE_TYPE, |plan| plan.mode == REFLECTION),
    validation("value-type-unknown-accepted", PADDING1)
        .about("a PaddingValueDataType of UNKNOWN is accepted")
        .witness(&["PADDING1 FLOAT32 in=3 out=3 PaddingMode=CONSTANT PaddingValueDataType=UNKNOWN \
            EndPadding=0 StartPadding=0"])
        .judge(|asked, _| asked.but_for_if(VALUE_TYPE, asked.integer("PaddingValueDataType") == 0)),
    validation("value-type-of-one-width-accepted", PADDING1)
        .about("a PaddingValueDataType of the same width is accepted")
        .witness(&[
            "PADDING1 FLOAT32 in=3 out=3 PaddingMode=CONSTANT PaddingValueDataType=INT32 EndPadding=0 \
            StartPadding=0",
        ])
        .judge(|asked, _| {
            let bits = |code: i64| u32::try_from(code).ok().and_then(|code| DataType(code).bits());
            asked.but_for_where(VALUE_TYPE, |plan| {
                bits(asked.integer("PaddingValueDataType")) == plan.data_type.bits()
            })
        }),
    validation("value-type-not-checked", PADDING1)
        .about("PaddingValueDataType is not checked")
        .witness(&[
            "PADDING1 FLOAT32 in=3 out=3 PaddingMode=CONSTANT PaddingValueDataType=INT64 EndPadding=0 \
            StartPadding=0",
        ])
        .judge(|asked, _| asked.but_for(VALUE_TYPE)),
    validation("rank-one-not-checked", ALL)
        .about("descs of rank 1 take a fast path without the operator's checks")
        .witness(&["SLICE FLOAT32 in=4 out=3 Offsets=2 Sizes=3 Strides=1"])
        .judge(|asked, _| has_fast_path(asked, |plan| plan.rank() == 1)),
    validation("rank-eight-not-checked", ALL)
        .about("descs of rank 8 take a path without the operator's checks")
        .witness(&["SLICE FLOAT32 in=1,1,1,1,1,1,1,4 out=1,1,1,1,1,1,1,3 Offsets=0,0,0,0,0,0,0,2 \
            Sizes=1,1,1,1,1,1,1,3 Strides=1,1,1,1,1,1,1,1"])
        .judge(|asked, _| has_fast_path(asked, |plan| plan.rank() == 8)),
    validation("eight-byte-types-not-checked", ALL)
        .about("descs of types of 8 bytes take a path without the operator's checks")
        .witness(&["SLICE FLOAT64 in=4 out=3 Offsets=2 Sizes=3 Strides=1"])
        .judge(|asked, _| has_fast_path(asked, |plan| plan.width == 8)),
    validation("strided-descs-not-checked", ALL)
        .about("descs with strided inputs take a path without the operator's checks")
        .witness(&["SLICE FLOAT32 in=4 out=3 Offsets=2 InputTensor.Strides=2 Sizes=3 Strides=1"])
        .judge(|asked, _| has_fast_path(asked, |plan| plan.strided[0])),
    validation("short-lists-accepted", ALL)
        .about("a list with fewer values than dimensions is accepted")
        .witness(&["SLICE FLOAT32 in=4,4 out=4,4 Strides=1 Sizes=4,4 Offsets=0,0"])
        .judge(|asked, _| asked.is_valid() || asked.is_refused_for("has not one value an axis")),
    validation("refused-with-not-implemented", ALL)
        .about("strided inputs are refused with E_NOTIMPL, although the backend declares no such limit")
        .witness(&["SLICE FLOAT32 in=4 out=4 InputTensor.Strides=2 Sizes=4 Offsets=0 Strides=1"])
        .code(ErrorCode::NOT_IMPLEMENTED)
        .refuses(|plan| plan.strided[0]),
    validation("refused-without-memory", ALL)
        .about("outputs of more than 1000 elements are refused with E_OUTOFMEMORY")
        .witness(&["SLICE UINT8 in=1001 out=1001 Sizes=1001 Offsets=0 Strides=1"])
        .code(ErrorCode::OUT_OF_MEMORY)
        .refuses(|plan| plan.elements() > 1000),
];
