//! Faults of validation: a check that is missing for some descs, that overflows, or that refuses too much.

use dmlcts_model::{DataType, ErrorCode, Tensor};

use crate::{
    Fault, Mutant, Needs,
    fault::{Asked, RIGHT},
    kernel::{Axis, CONSTANT, EDGE, Kind, Plan, REFLECTION, SYMMETRIC, WRAP},
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

/// Whether each tensor is large enough if its bytes are counted like this. The arguments are the exact bytes
/// and the width of an element.
fn is_enough(asked: &Asked<'_>, count: fn(i128) -> i128) -> bool {
    asked.is_valid()
        || asked.but_for(TOTAL)
            && asked
                .needed()
                .into_iter()
                .zip(asked.total_sizes())
                .all(|(needed, total)| count(needed) <= i128::from(total))
}

/// Whether a desc is accepted if this alignment counts as right for elements of this many bytes.
fn accepts_alignment(asked: &Asked<'_>, alignment: u32, width: usize) -> bool {
    let is_right = |tensor: &Option<Tensor>| {
        tensor.as_ref().is_some_and(|tensor| {
            let element = tensor.data_type.element_size().unwrap_or_default();
            (tensor.alignment, element) == (alignment, width)
                || tensor.alignment == 0
                || tensor.alignment.is_power_of_two() && tensor.alignment as usize >= element
        })
    };
    asked.is_valid()
        || asked.but_for(ALIGNMENT) && is_right(&asked.desc.input) && is_right(&asked.desc.output)
}

/// Whether elements of the input share memory, although no stride is 0: along an axis, the next element
/// starts inside an axis of smaller strides.
fn shares_input(plan: &Plan) -> bool {
    let walked = plan.axes.iter().filter(|axis| axis.n > 1 && axis.input_stride != 0);
    let mut axes: Vec<_> = walked.map(|axis| (axis.input_stride, axis.n)).collect();
    axes.sort_unstable();
    axes.windows(2).any(|pair| pair[1].0 < pair[0].0 * pair[0].1 && pair[1].0 % pair[0].0 == 0)
}

/// The axis with the fault, if it is the only one that is so.
fn only(plan: &Plan, is_wrong: impl Fn(&Axis) -> bool) -> Option<usize> {
    let mut wrong = (0..plan.rank()).filter(|&axis| is_wrong(&plan.axes[axis]));
    wrong.next().filter(|_| wrong.next().is_none())
}

/// Whether SLICE reads beyond the input on this axis.
fn reads_beyond(axis: &Axis) -> bool {
    axis.offset + (axis.out - 1) * axis.step >= axis.n
}

/// Whether the sizes of PADDING1 do not agree on this axis.
fn is_missized(axis: &Axis) -> bool {
    axis.out != axis.n + axis.start + axis.end
}

/// The output's axes of more than one element, sorted by stride: strides and sizes.
fn sorted(plan: &Plan) -> Vec<(i64, i64)> {
    let walked = plan.axes.iter().filter(|axis| axis.out > 1);
    let mut axes: Vec<_> = walked.map(|axis| (axis.output_stride, axis.out)).collect();
    axes.sort_unstable();
    axes
}

pub(crate) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "types-of-one-width-agree",
        about: "tensors of different types are accepted if their elements have the same width",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=4 out=4 OutputTensor.DataType=INT32 Sizes=4 Offsets=0 Strides=1"],
        fault: Fault {
            judge: |asked, _| {
                asked.is_valid()
                    || asked.but_for(TYPES)
                        && asked.desc.output.as_ref().is_some_and(|output| {
                            asked
                                .desc
                                .input
                                .as_ref()
                                .is_some_and(|input| input.data_type.bits() == output.data_type.bits())
                        })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "types-not-compared",
        about: "the types of the tensors are not compared",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=4 out=4 OutputTensor.DataType=INT64 Sizes=4 Offsets=0 Strides=1"],
        fault: Fault { judge: |asked, _| asked.but_for(TYPES), ..RIGHT },
    },
    Mutant {
        name: "tensor-counts-not-compared",
        about: "the dimension counts of the tensors are not compared",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE FLOAT32 in=4,1 out=4 OutputTensor.DimensionCount=1 Sizes=4 Offsets=0,0 Strides=1,1",
        ],
        fault: Fault { judge: |asked, _| asked.but_for(COUNTS), ..RIGHT },
    },
    Mutant {
        name: "slice-count-not-checked",
        about: "DimensionCount of SLICE is not checked",
        seen_in: "validation",
        operators: &["SLICE"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=4 out=4 DimensionCount=2 Sizes=4 Offsets=0 Strides=1"],
        fault: Fault {
            judge: |asked, _| asked.is_valid() || asked.is_of("SLICE") && asked.but_for(COUNT),
            ..RIGHT
        },
    },
    Mutant {
        name: "slice1-count-not-checked",
        about: "DimensionCount of SLICE1 is not checked",
        seen_in: "validation",
        operators: &["SLICE1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE1 FLOAT32 in=4 out=4 DimensionCount=2 InputWindowOffsets=0 InputWindowStrides=1 InputWindowSizes=4",
        ],
        fault: Fault {
            judge: |asked, _| asked.is_valid() || asked.is_of("SLICE1") && asked.but_for(COUNT),
            ..RIGHT
        },
    },
    Mutant {
        name: "padding-count-not-checked",
        about: "DimensionCount of PADDING1 is not checked",
        seen_in: "validation",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "PADDING1 FLOAT32 in=4 out=4 PaddingMode=CONSTANT DimensionCount=2 EndPadding=0 StartPadding=0",
        ],
        fault: Fault {
            judge: |asked, _| asked.is_valid() || asked.is_of("PADDING1") && asked.but_for(COUNT),
            ..RIGHT
        },
    },
    Mutant {
        name: "count-may-be-smaller",
        about: "a DimensionCount below that of the tensors is accepted",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=4,4 out=4,4 DimensionCount=1 Sizes=4,4 Offsets=0,0 Strides=1,1"],
        fault: Fault {
            judge: |asked, _| {
                asked.is_valid()
                    || asked.but_for(COUNT) && asked.integer("DimensionCount") < asked.desc.rank() as i64
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "count-may-be-larger",
        about: "a DimensionCount above that of the tensors is accepted",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=4,4 out=4,4 DimensionCount=3 Sizes=4,4 Offsets=0,0 Strides=1,1"],
        fault: Fault {
            judge: |asked, _| {
                asked.is_valid()
                    || asked.but_for(COUNT) && asked.integer("DimensionCount") > asked.desc.rank() as i64
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "four-bit-types-accepted",
        about: "the types of 4 bits are accepted",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE UINT4 in=8 out=8 Sizes=8 Offsets=0 Strides=1"],
        fault: Fault {
            judge: |asked, _| {
                let is_narrow =
                    asked.desc.input.as_ref().is_some_and(|input| input.data_type.bits() == Some(4));
                asked.is_valid() || is_narrow && asked.but_for(DATA_TYPE)
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "unknown-type-accepted",
        about: "the data type UNKNOWN is accepted",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE UNKNOWN in=4 out=4 InputTensor.TotalTensorSizeInBytes=16 OutputTensor.TotalTensorSizeInBytes=16 Sizes=4 Offsets=0 Strides=1",
        ],
        fault: Fault {
            judge: |asked, _| {
                let is_unknown =
                    asked.desc.input.as_ref().is_some_and(|input| input.data_type == DataType::UNKNOWN);
                asked.is_valid() || is_unknown && asked.but_for(DATA_TYPE)
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "types-beyond-int4-accepted",
        about: "codes of data types behind the last one are accepted",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE 14 in=4 out=4 InputTensor.TotalTensorSizeInBytes=16 OutputTensor.TotalTensorSizeInBytes=16 Sizes=4 Offsets=0 Strides=1",
        ],
        fault: Fault {
            judge: |asked, _| {
                let is_beyond = asked.desc.input.as_ref().is_some_and(|input| input.data_type.0 > 13);
                asked.is_valid() || is_beyond && asked.but_for(DATA_TYPE)
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "float64-refused",
        about: "FLOAT64 is refused, although it is declared",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT64 in=4 out=4 Sizes=4 Offsets=0 Strides=1"],
        fault: Fault { judge: |asked, _| asked.unless(|plan| plan.data_type == DataType::FLOAT64), ..RIGHT },
    },
    Mutant {
        name: "eight-byte-types-before-level",
        about: "types of 8 bytes are accepted before level 4.1",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1"],
        needs: Needs::OlderLevel("3.0", "a level before 4.1"),
        witness: &["@3.0 SLICE INT64 in=4 out=4 Sizes=4 Offsets=0 Strides=1"],
        fault: Fault { judge: |asked, _| asked.but_for_where(DATA_TYPE, |plan| plan.width == 8), ..RIGHT },
    },
    Mutant {
        name: "eight-bit-types-at-first-level",
        about: "SLICE accepts types of 8 bits at level 1.0",
        seen_in: "validation",
        operators: &["SLICE"],
        needs: Needs::OlderLevel("1.0", "a level before 2.1"),
        witness: &["@1.0 SLICE UINT8 in=1,1,1,4 out=1,1,1,4 Sizes=1,1,1,4 Offsets=0,0,0,0 Strides=1,1,1,1"],
        fault: Fault { judge: |asked, _| asked.but_for_where(DATA_TYPE, |plan| plan.width == 1), ..RIGHT },
    },
    Mutant {
        name: "ranks-before-level",
        about: "every rank is accepted before level 3.0",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1"],
        needs: Needs::OlderLevel("2.1", "a level before 3.0"),
        witness: &["@2.1 SLICE FLOAT32 in=4 out=4 Sizes=4 Offsets=0 Strides=1"],
        fault: Fault { judge: |asked, _| asked.but_for(RANK), ..RIGHT },
    },
    Mutant {
        name: "padding-before-level",
        about: "PADDING1 is accepted before level 5.0",
        seen_in: "validation",
        operators: &["PADDING1"],
        needs: Needs::OlderLevel("4.1", "a level before 5.0"),
        witness: &["@4.1 PADDING1 FLOAT32 in=4 out=4 PaddingMode=CONSTANT EndPadding=0 StartPadding=0"],
        fault: Fault { judge: |asked, _| asked.but_for("not part of this feature level"), ..RIGHT },
    },
    Mutant {
        name: "wrap-before-level",
        about: "WRAP is accepted before level 6.4",
        seen_in: "validation",
        operators: &["PADDING1"],
        needs: Needs::OlderLevel("6.3", "a level before 6.4"),
        witness: &["@6.3 PADDING1 FLOAT32 in=4 out=4 PaddingMode=WRAP EndPadding=0 StartPadding=0"],
        fault: Fault { judge: |asked, _| asked.but_for_where(MODE, |plan| plan.mode == WRAP), ..RIGHT },
    },
    Mutant {
        name: "wrap-refused-everywhere",
        about: "WRAP is refused at every level",
        seen_in: "validation",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &["PADDING1 FLOAT32 in=4 out=4 PaddingMode=WRAP EndPadding=0 StartPadding=0"],
        fault: Fault {
            judge: |asked, _| asked.unless(|plan| plan.kind == Kind::Padding1 && plan.mode == WRAP),
            ..RIGHT
        },
    },
    Mutant {
        name: "modes-before-level-refused",
        about: "SYMMETRIC is refused before level 6.0",
        seen_in: "validation",
        operators: &["PADDING1"],
        needs: Needs::OlderLevel("5.0", "a level before 6.0"),
        witness: &["@5.0 PADDING1 FLOAT32 in=4 out=4 PaddingMode=SYMMETRIC EndPadding=0 StartPadding=0"],
        fault: Fault {
            judge: |asked, _| {
                asked.level.code() >= 0x6000 && asked.is_valid()
                    || asked.unless(|plan| plan.mode == SYMMETRIC)
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "rank-one-refused",
        about: "tensors of one dimension are refused",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=4 out=4 Sizes=4 Offsets=0 Strides=1"],
        fault: Fault { judge: |asked, _| asked.unless(|plan| plan.rank() == 1), ..RIGHT },
    },
    Mutant {
        name: "rank-eight-refused",
        about: "tensors of eight dimensions are refused",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE FLOAT32 in=1,1,1,1,1,1,1,4 out=1,1,1,1,1,1,1,4 Sizes=1,1,1,1,1,1,1,4 Offsets=0,0,0,0,0,0,0,0 Strides=1,1,1,1,1,1,1,1",
        ],
        fault: Fault { judge: |asked, _| asked.unless(|plan| plan.rank() == 8), ..RIGHT },
    },
    Mutant {
        name: "rank-six-of-padding-refused",
        about: "PADDING1 refuses tensors of six or more dimensions",
        seen_in: "validation",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "PADDING1 FLOAT32 in=1,1,1,1,1,4 out=1,1,1,1,1,4 PaddingMode=CONSTANT EndPadding=0,0,0,0,0,0 StartPadding=0,0,0,0,0,0",
        ],
        fault: Fault {
            judge: |asked, _| asked.unless(|plan| plan.rank() >= 6 && plan.kind == Kind::Padding1),
            ..RIGHT
        },
    },
    Mutant {
        name: "rank-nine-accepted",
        about: "tensors of nine dimensions are accepted",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE FLOAT32 in=1,1,1,1,1,1,1,1,4 out=1,1,1,1,1,1,1,1,4 Sizes=1,1,1,1,1,1,1,1,4 Offsets=0,0,0,0,0,0,0,0,0 Strides=1,1,1,1,1,1,1,1,1",
        ],
        fault: Fault { judge: |asked, _| asked.but_for_where(RANK, |plan| plan.rank() == 9), ..RIGHT },
    },
    Mutant {
        name: "rank-zero-accepted",
        about: "tensors without dimensions are accepted",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE FLOAT32 in= out= Offsets= Sizes= Strides= InputTensor.TotalTensorSizeInBytes=4 OutputTensor.TotalTensorSizeInBytes=4",
        ],
        fault: Fault { judge: |asked, _| asked.but_for_where(RANK, |plan| plan.rank() == 0), ..RIGHT },
    },
    Mutant {
        name: "size-zero-accepted",
        about: "a size of 0 is accepted",
        seen_in: "TensorRT#763",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["PADDING1 FLOAT32 in=0 out=2 PaddingMode=CONSTANT StartPadding=2 EndPadding=0"],
        fault: Fault { judge: |asked, _| asked.but_for(SIZE), ..RIGHT },
    },
    Mutant {
        name: "size-zero-of-last-axis-accepted",
        about: "a size of 0 on the innermost axis is accepted",
        seen_in: "TensorRT#763",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=4,4 out=4,0 Sizes=4,0 Offsets=0,0 Strides=1,1"],
        fault: Fault {
            judge: |asked, _| {
                asked.but_for_where(SIZE, |plan| {
                    only(plan, |axis| axis.n * axis.out == 0) == Some(plan.last())
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "size-zero-of-first-axis-accepted",
        about: "a size of 0 on the outermost axis is accepted",
        seen_in: "TensorRT#763",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=4,4 out=0,4 Sizes=0,4 Offsets=0,0 Strides=1,1"],
        fault: Fault {
            judge: |asked, _| {
                asked.but_for_where(SIZE, |plan| only(plan, |axis| axis.n * axis.out == 0) == Some(0))
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "elements-counted-in-32-bits",
        about: "the number of elements is counted in 32 bits, so that 2^32 is 0",
        seen_in: "onnxruntime#28070",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "PADDING1 UINT8 in=1,1 out=65536,65536 PaddingMode=CONSTANT EndPadding=65535,65535 StartPadding=0,0",
        ],
        fault: Fault {
            judge: |asked, _| {
                asked.but_for_where(ELEMENTS, |plan| {
                    let count = |size: fn(&Axis) -> i64| {
                        plan.axes.iter().fold(1_u32, |count, axis| count.wrapping_mul(size(axis) as u32))
                    };
                    count(|axis| axis.n) == 0 || count(|axis| axis.out) == 0
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "elements-counted-in-64-bits",
        about: "the number of elements is counted in 64 bits, so that 2^64 is 0",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE UINT8 in=256,256,256,256,256,256,256,256 out=1,1,1,1,1,1,1,1 InputTensor.Strides=0,0,0,0,0,0,0,1 Sizes=1,1,1,1,1,1,1,1 Offsets=0,0,0,0,0,0,0,0 Strides=1,1,1,1,1,1,1,1",
        ],
        fault: Fault {
            judge: |asked, _| {
                asked.but_for_where(ELEMENTS, |plan| {
                    plan.axes.iter().fold(1_u64, |count, axis| count.wrapping_mul(axis.n as u64)) == 0
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "elements-above-int-max-refused",
        about: "more than 2^31 - 1 elements are refused",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE UINT8 in=2147483648 out=1 InputTensor.Strides=0 Sizes=1 Offsets=0 Strides=1"],
        fault: Fault {
            judge: |asked, _| {
                asked.unless(|plan| {
                    let count = |size: fn(&Axis) -> i64| plan.axes.iter().map(size).product::<i64>();
                    count(|axis| axis.n) > i64::from(i32::MAX) || count(|axis| axis.out) > i64::from(i32::MAX)
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "elements-up-to-the-limit-refused",
        about: "the number of elements is compared with < in place of <=: 2^32 - 1 is refused",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE UINT8 in=4294967295 out=1 InputTensor.Strides=0 Sizes=1 Offsets=0 Strides=1"],
        fault: Fault {
            judge: |asked, _| {
                asked.unless(|plan| {
                    plan.axes.iter().map(|axis| axis.n).product::<i64>() == i64::from(u32::MAX)
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "elements-of-broadcast-not-counted",
        about: "axes with a stride of 0 do not count towards the number of elements",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE UINT8 in=65536,65536 out=1,1 InputTensor.Strides=0,1 Sizes=1,1 Offsets=0,0 Strides=1,1",
        ],
        fault: Fault {
            judge: |asked, _| {
                asked.but_for_where(ELEMENTS, |plan| {
                    let real = plan.axes.iter().filter(|axis| axis.input_stride > 0);
                    real.map(|axis| axis.n).product::<i64>() <= i64::from(u32::MAX)
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "total-size-not-checked",
        about: "TotalTensorSizeInBytes is not checked",
        seen_in: "memory",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE FLOAT32 in=4 out=4 InputTensor.TotalTensorSizeInBytes=12 Sizes=4 Offsets=0 Strides=1",
        ],
        fault: Fault { judge: |asked, _| asked.but_for(TOTAL), ..RIGHT },
    },
    Mutant {
        name: "total-size-of-input-not-checked",
        about: "TotalTensorSizeInBytes of the input is not checked",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE FLOAT32 in=4 out=4 InputTensor.TotalTensorSizeInBytes=12 Sizes=4 Offsets=0 Strides=1",
        ],
        fault: Fault {
            judge: |asked, _| {
                let ([_, needed], [_, total]) = (asked.needed(), asked.total_sizes());
                asked.is_valid() || asked.but_for(TOTAL) && needed <= i128::from(total)
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "total-size-of-output-not-checked",
        about: "TotalTensorSizeInBytes of the output is not checked",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE FLOAT32 in=4 out=4 OutputTensor.TotalTensorSizeInBytes=12 Sizes=4 Offsets=0 Strides=1",
        ],
        fault: Fault {
            judge: |asked, _| {
                let ([needed, _], [total, _]) = (asked.needed(), asked.total_sizes());
                asked.is_valid() || asked.but_for(TOTAL) && needed <= i128::from(total)
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "total-size-not-rounded-up",
        about: "TotalTensorSizeInBytes need not be rounded up to four bytes",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE UINT8 in=5 out=5 InputTensor.TotalTensorSizeInBytes=5 Sizes=5 Offsets=0 Strides=1"],
        fault: Fault { judge: |asked, _| is_enough(asked, |needed| needed), ..RIGHT },
    },
    Mutant {
        name: "total-size-rounded-down",
        about: "TotalTensorSizeInBytes is compared with what is needed rounded down to four bytes",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE UINT8 in=5 out=5 InputTensor.TotalTensorSizeInBytes=4 Sizes=5 Offsets=0 Strides=1"],
        fault: Fault { judge: |asked, _| is_enough(asked, |needed| needed / 4 * 4), ..RIGHT },
    },
    Mutant {
        name: "total-size-in-32-bits",
        about: "the bytes that are needed are computed in 32 bits",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE FLOAT32 in=1073741824 out=1 InputTensor.TotalTensorSizeInBytes=4 Sizes=1 Offsets=0 Strides=1",
        ],
        fault: Fault { judge: |asked, _| is_enough(asked, |needed| i128::from(needed as u32)), ..RIGHT },
    },
    Mutant {
        name: "total-size-in-31-bits",
        about: "the bytes that are needed are computed as a signed number of 32 bits",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE FLOAT32 in=536870912 out=1 InputTensor.TotalTensorSizeInBytes=4 Sizes=1 Offsets=0 Strides=1",
        ],
        fault: Fault { judge: |asked, _| is_enough(asked, |needed| i128::from(needed as i32)), ..RIGHT },
    },
    Mutant {
        name: "total-size-lacks-an-element",
        about: "the bytes that are needed are computed from the last offset, without the last element",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE FLOAT64 in=4 out=4 InputTensor.TotalTensorSizeInBytes=24 Sizes=4 Offsets=0 Strides=1",
        ],
        fault: Fault {
            judge: |asked, _| {
                let width = Plan::of(asked.desc).map_or(0, |plan| plan.width as i128);
                asked.is_valid()
                    || asked.but_for(TOTAL)
                        && asked
                            .needed()
                            .into_iter()
                            .zip(asked.total_sizes())
                            .all(|(needed, total)| needed - width <= i128::from(total))
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "total-size-ignores-strides",
        about: "the bytes that are needed are computed from the sizes alone",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE FLOAT32 in=2,2 out=2,2 InputTensor.Strides=9,1 InputTensor.TotalTensorSizeInBytes=16 Sizes=2,2 Offsets=0,0 Strides=1,1",
        ],
        fault: Fault {
            judge: |asked, _| {
                asked.but_for_where(TOTAL, |plan| {
                    let bytes = |size: fn(&Axis) -> i64| {
                        plan.axes.iter().map(size).product::<i64>() as u64 * plan.width as u64
                    };
                    let [input, output] = asked.total_sizes();
                    bytes(|axis| axis.n) <= input && bytes(|axis| axis.out) <= output
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "total-size-of-outermost-axis",
        about: "the bytes that are needed are those of the outermost stride times its size",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE FLOAT32 in=2,2 out=2,2 InputTensor.Strides=1,9 InputTensor.TotalTensorSizeInBytes=8 Sizes=2,2 Offsets=0,0 Strides=1,1",
        ],
        fault: Fault {
            judge: |asked, _| {
                asked.but_for_where(TOTAL, |plan| {
                    let outer = plan.axes[0];
                    (outer.n * outer.input_stride) as u64 * plan.width as u64 <= asked.total_sizes()[0]
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "total-size-counts-sizes",
        about: "the bytes that are needed count a stride once too often on each axis, so that exact sizes of strided tensors are refused",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE FLOAT32 in=1,4 out=1,4 InputTensor.Strides=100,1 Sizes=1,4 Offsets=0,0 Strides=1,1",
        ],
        fault: Fault {
            judge: |asked, _| {
                asked.unless(|plan| {
                    let span: i64 =
                        plan.axes.iter().map(|axis| axis.n * axis.input_stride).max().unwrap_or(0);
                    plan.strided[0]
                        && (span as u64 * plan.width as u64).next_multiple_of(4) > asked.total_sizes()[0]
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "total-size-must-be-exact",
        about: "a TotalTensorSizeInBytes above what is needed is refused",
        seen_in: "memory",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE FLOAT32 in=4 out=4 InputTensor.TotalTensorSizeInBytes=32 Sizes=4 Offsets=0 Strides=1",
        ],
        fault: Fault {
            judge: |asked, _| {
                asked.is_valid()
                    && asked
                        .needed()
                        .into_iter()
                        .zip(asked.total_sizes())
                        .all(|(needed, total)| (needed + 3) / 4 * 4 == i128::from(total))
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "alignment-not-checked",
        about: "GuaranteedBaseOffsetAlignment is not checked",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE FLOAT32 in=4 out=4 InputTensor.GuaranteedBaseOffsetAlignment=17 Sizes=4 Offsets=0 Strides=1",
        ],
        fault: Fault { judge: |asked, _| asked.but_for(ALIGNMENT), ..RIGHT },
    },
    Mutant {
        name: "alignment-no-power-of-two",
        about: "an alignment that is a multiple of the element's size but no power of two is accepted",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE FLOAT32 in=4 out=4 InputTensor.GuaranteedBaseOffsetAlignment=48 Sizes=4 Offsets=0 Strides=1",
        ],
        fault: Fault {
            judge: |asked, _| {
                let is_multiple = |tensor: &Option<Tensor>| {
                    tensor.as_ref().is_some_and(|tensor| tensor.alignment % 16 == 0)
                };
                asked.is_valid()
                    || asked.but_for(ALIGNMENT)
                        && is_multiple(&asked.desc.input)
                        && is_multiple(&asked.desc.output)
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "alignment-below-element",
        about: "an alignment that is a power of two below the element's size is accepted",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE FLOAT64 in=4 out=4 InputTensor.GuaranteedBaseOffsetAlignment=4 Sizes=4 Offsets=0 Strides=1",
        ],
        fault: Fault {
            judge: |asked, _| {
                let is_power = |tensor: &Option<Tensor>| {
                    tensor
                        .as_ref()
                        .is_some_and(|tensor| tensor.alignment == 0 || tensor.alignment.is_power_of_two())
                };
                asked.is_valid()
                    || asked.but_for(ALIGNMENT) && is_power(&asked.desc.input) && is_power(&asked.desc.output)
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "alignment-of-1-for-two-bytes",
        about: "an alignment of 1 is accepted for elements of two bytes",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE FLOAT16 in=4 out=4 InputTensor.GuaranteedBaseOffsetAlignment=1 Sizes=4 Offsets=0 Strides=1",
        ],
        fault: Fault { judge: |asked, _| accepts_alignment(asked, 1, 2), ..RIGHT },
    },
    Mutant {
        name: "alignment-of-2-for-four-bytes",
        about: "an alignment of 2 is accepted for elements of four bytes",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE FLOAT32 in=4 out=4 InputTensor.GuaranteedBaseOffsetAlignment=2 Sizes=4 Offsets=0 Strides=1",
        ],
        fault: Fault { judge: |asked, _| accepts_alignment(asked, 2, 4), ..RIGHT },
    },
    Mutant {
        name: "alignment-of-4-for-eight-bytes",
        about: "an alignment of 4 is accepted for elements of eight bytes",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE FLOAT64 in=4 out=4 InputTensor.GuaranteedBaseOffsetAlignment=4 Sizes=4 Offsets=0 Strides=1",
        ],
        fault: Fault { judge: |asked, _| accepts_alignment(asked, 4, 8), ..RIGHT },
    },
    Mutant {
        name: "alignment-of-2-for-eight-bytes",
        about: "an alignment of 2 is accepted for elements of eight bytes",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE FLOAT64 in=4 out=4 OutputTensor.GuaranteedBaseOffsetAlignment=2 Sizes=4 Offsets=0 Strides=1",
        ],
        fault: Fault { judge: |asked, _| accepts_alignment(asked, 2, 8), ..RIGHT },
    },
    Mutant {
        name: "alignment-of-output-not-checked",
        about: "GuaranteedBaseOffsetAlignment of the output is not checked",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE FLOAT32 in=4 out=4 OutputTensor.GuaranteedBaseOffsetAlignment=17 Sizes=4 Offsets=0 Strides=1",
        ],
        fault: Fault {
            judge: |asked, _| {
                let is_right = asked
                    .desc
                    .input
                    .as_ref()
                    .is_some_and(|input| input.alignment == 0 || input.alignment.is_power_of_two());
                asked.is_valid() || is_right && asked.but_for(ALIGNMENT)
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "alignment-above-4096-refused",
        about: "an alignment above 4096 is refused",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE FLOAT32 in=4 out=4 InputTensor.GuaranteedBaseOffsetAlignment=65536 Sizes=4 Offsets=0 Strides=1",
        ],
        fault: Fault {
            judge: |asked, _| {
                let is_large =
                    |tensor: &Option<Tensor>| tensor.as_ref().is_some_and(|tensor| tensor.alignment > 4096);
                asked.is_valid() && !is_large(&asked.desc.input) && !is_large(&asked.desc.output)
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "alignment-of-highest-bit-refused",
        about: "an alignment of 2^31 is taken for negative and refused",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE FLOAT32 in=4 out=4 InputTensor.GuaranteedBaseOffsetAlignment=2147483648 Sizes=4 Offsets=0 Strides=1",
        ],
        fault: Fault {
            judge: |asked, _| {
                let is_high = |tensor: &Option<Tensor>| {
                    tensor.as_ref().is_some_and(|tensor| tensor.alignment == 1 << 31)
                };
                asked.is_valid() && !is_high(&asked.desc.input) && !is_high(&asked.desc.output)
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "owned-output-accepted",
        about: "OWNED_BY_DML is accepted for outputs",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=4 out=4 OutputTensor.Flags=1 Sizes=4 Offsets=0 Strides=1"],
        fault: Fault { judge: |asked, _| asked.but_for(OWNED), ..RIGHT },
    },
    Mutant {
        name: "owned-input-refused",
        about: "OWNED_BY_DML is refused for inputs",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=4 out=4 InputTensor.Flags=1 Sizes=4 Offsets=0 Strides=1"],
        fault: Fault {
            judge: |asked, _| {
                asked.is_valid() && asked.desc.input.as_ref().is_none_or(|input| input.flags != 1)
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "overlap-not-checked",
        about: "outputs that overlap themselves are accepted",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=2,2 out=2,2 OutputTensor.Strides=1,1 Sizes=2,2 Offsets=0,0 Strides=1,1"],
        fault: Fault { judge: |asked, _| asked.but_for(OVERLAP), ..RIGHT },
    },
    Mutant {
        name: "shared-input-refused",
        about: "an input whose elements share memory is refused, as an output is, although no stride is 0",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=2,2 out=2,2 InputTensor.Strides=1,1 Sizes=2,2 Offsets=0,0 Strides=1,1"],
        fault: Fault { judge: |asked, _| asked.unless(shares_input), ..RIGHT },
    },
    Mutant {
        name: "shared-input-needs-packed-size",
        about: "an input whose elements share memory is refused if fewer bytes are bound than its elements have",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=2,2 out=2,2 InputTensor.Strides=1,1 Sizes=2,2 Offsets=0,0 Strides=1,1"],
        fault: Fault {
            judge: |asked, _| {
                let total = asked.total_sizes()[0];
                asked.unless(|plan| {
                    let elements: i64 = plan.axes.iter().map(|axis| axis.n).product();
                    shares_input(plan) && (elements as u64) * (plan.width as u64) > total
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "overlap-only-of-stride-zero",
        about: "outputs that overlap themselves are refused only if a stride is 0",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=2,2 out=2,2 OutputTensor.Strides=1,1 Sizes=2,2 Offsets=0,0 Strides=1,1"],
        fault: Fault {
            judge: |asked, _| {
                asked.but_for_where(OVERLAP, |plan| !plan.any(|axis| axis.out > 1 && axis.output_stride == 0))
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "overlap-only-of-equal-strides",
        about: "outputs that overlap themselves are refused only if two strides are equal or one is 0",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=3,2 out=3,2 OutputTensor.Strides=1,2 Sizes=3,2 Offsets=0,0 Strides=1,1"],
        fault: Fault {
            judge: |asked, _| {
                asked.but_for_where(OVERLAP, |plan| {
                    let axes = sorted(plan);
                    axes.iter().all(|axis| axis.0 > 0) && axes.windows(2).all(|pair| pair[0].0 < pair[1].0)
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "overlap-only-of-neighbours",
        about: "each stride is compared with the next inner axis alone",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE FLOAT32 in=2,2,2 out=2,2,2 OutputTensor.Strides=3,2,1 Sizes=2,2,2 Offsets=0,0,0 Strides=1,1,1",
        ],
        fault: Fault {
            judge: |asked, _| {
                asked.but_for_where(OVERLAP, |plan| {
                    sorted(plan).windows(2).all(|pair| pair[1].0 > pair[0].0 * (pair[0].1 - 1))
                        && !plan.any(|axis| axis.output_stride == 0)
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "overlap-by-counting",
        about: "outputs overlap themselves only if they have more elements than their strides span",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=2,2 out=2,2 OutputTensor.Strides=2,2 Sizes=2,2 Offsets=0,0 Strides=1,1"],
        fault: Fault {
            judge: |asked, _| {
                asked.but_for_where(OVERLAP, |plan| {
                    plan.axes.iter().map(|axis| (axis.out - 1) * axis.output_stride).sum::<i64>() + 1
                        >= plan.elements()
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "overlap-off-by-one",
        about: "a stride that is equal to the span of the inner axes is accepted",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=2,3 out=2,3 OutputTensor.Strides=2,1 Sizes=2,3 Offsets=0,0 Strides=1,1"],
        fault: Fault {
            judge: |asked, _| {
                asked.but_for_where(OVERLAP, |plan| {
                    let mut span = 0;
                    sorted(plan).into_iter().all(|(stride, size)| {
                        let is_apart = stride > 0 && stride >= span;
                        span += stride * (size - 1);
                        is_apart
                    })
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "overlap-needs-nesting",
        about: "outputs whose strides interleave without overlap are refused",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=3,2 out=3,2 OutputTensor.Strides=2,3 Sizes=3,2 Offsets=0,0 Strides=1,1"],
        fault: Fault {
            judge: |asked, _| {
                asked.unless(|plan| {
                    let mut span = 0;
                    !sorted(plan).into_iter().all(|(stride, size)| {
                        let is_apart = stride > span;
                        span += stride * (size - 1);
                        is_apart
                    })
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "overlap-needs-order",
        about: "outputs whose strides are not sorted, outermost largest, are refused",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=2,2 out=2,2 OutputTensor.Strides=1,2 Sizes=2,2 Offsets=0,0 Strides=1,1"],
        fault: Fault {
            judge: |asked, _| {
                asked.unless(|plan| {
                    plan.axes.windows(2).any(|pair| {
                        pair[0].out > 1 && pair[1].out > 1 && pair[0].output_stride < pair[1].output_stride
                    })
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "overlap-of-single-elements",
        about: "an output with a stride of 0 on an axis of one element is refused",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=1,4 out=1,4 OutputTensor.Strides=0,1 Sizes=1,4 Offsets=0,0 Strides=1,1"],
        fault: Fault {
            judge: |asked, _| asked.unless(|plan| plan.any(|axis| axis.output_stride == 0)),
            ..RIGHT
        },
    },
    Mutant {
        name: "output-holes-refused",
        about: "outputs with holes are refused",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=2,2 out=2,2 OutputTensor.Strides=3,1 Sizes=2,2 Offsets=0,0 Strides=1,1"],
        fault: Fault {
            judge: |asked, _| {
                asked.unless(|plan| {
                    plan.axes.iter().map(|axis| (axis.out - 1) * axis.output_stride).sum::<i64>() + 1
                        > plan.elements()
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "input-overlap-refused",
        about: "inputs with a stride of 0 are refused, as outputs are",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=4 out=4 InputTensor.Strides=0 Sizes=4 Offsets=0 Strides=1"],
        fault: Fault {
            judge: |asked, _| asked.unless(|plan| plan.any(|axis| axis.input_stride == 0 && axis.n > 1)),
            ..RIGHT
        },
    },
    Mutant {
        name: "slice-sizes-not-compared",
        about: "SLICE's Sizes is not compared with the output's",
        seen_in: "validation",
        operators: &["SLICE"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=4 out=3 Sizes=2 Offsets=0 Strides=1"],
        fault: Fault { judge: |asked, _| asked.but_for(SLICE_SIZES), ..RIGHT },
    },
    Mutant {
        name: "slice-sizes-may-be-smaller",
        about: "SLICE's Sizes may be smaller than the output's innermost size",
        seen_in: "validation",
        operators: &["SLICE"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=4,4 out=4,3 Sizes=4,2 Offsets=0,0 Strides=1,1"],
        fault: Fault {
            judge: |asked, _| {
                asked.but_for_where(SLICE_SIZES, |plan| {
                    let sizes = asked.desc.list("Sizes").unwrap_or_default();
                    let differs: Vec<_> =
                        (0..plan.rank()).filter(|&axis| sizes[axis] != plan.axes[axis].out).collect();
                    differs == [plan.last()] && sizes[plan.last()] < plan.inner().out
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "slice-reads-of-last-axis-not-checked",
        about: "SLICE does not check the reads of the innermost axis",
        seen_in: "validation",
        operators: &["SLICE"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=4,4 out=4,3 Offsets=0,2 Sizes=4,3 Strides=1,1"],
        fault: Fault {
            judge: |asked, _| {
                asked.but_for_where(SLICE_READS, |plan| only(plan, reads_beyond) == Some(plan.last()))
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "slice-reads-of-first-axis-not-checked",
        about: "SLICE does not check the reads of the outermost axis",
        seen_in: "validation",
        operators: &["SLICE"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=4,4 out=3,4 Offsets=2,0 Sizes=3,4 Strides=1,1"],
        fault: Fault {
            judge: |asked, _| asked.but_for_where(SLICE_READS, |plan| only(plan, reads_beyond) == Some(0)),
            ..RIGHT
        },
    },
    Mutant {
        name: "slice-reads-of-inner-axis-not-checked",
        about: "SLICE does not check the reads of axes between the outermost and the innermost",
        seen_in: "validation",
        operators: &["SLICE"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=4,4,4 out=4,3,4 Offsets=0,2,0 Sizes=4,3,4 Strides=1,1,1"],
        fault: Fault {
            judge: |asked, _| {
                asked.but_for_where(SLICE_READS, |plan| {
                    only(plan, reads_beyond).is_some_and(|axis| axis > 0 && axis < plan.last())
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "slice-reads-off-by-one",
        about: "SLICE may read one element behind the input",
        seen_in: "validation",
        operators: &["SLICE"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=4 out=3 Offsets=2 Sizes=3 Strides=1"],
        fault: Fault {
            judge: |asked, _| {
                asked.but_for_where(SLICE_READS, |plan| {
                    !plan.any(|axis| axis.offset + (axis.out - 1) * axis.step > axis.n)
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "slice-reads-in-32-bits",
        about: "SLICE computes its last read in 32 bits",
        seen_in: "validation",
        operators: &["SLICE"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=4 out=3 Offsets=2 Strides=2147483647 Sizes=3"],
        fault: Fault {
            judge: |asked, _| {
                asked.but_for_where(SLICE_READS, |plan| {
                    !plan.any(|axis| i64::from((axis.offset + (axis.out - 1) * axis.step) as u32) >= axis.n)
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "slice-reads-as-int",
        about: "SLICE computes its last read as a signed number of 32 bits",
        seen_in: "validation",
        operators: &["SLICE"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=4 out=3 Strides=2147483647 Sizes=3 Offsets=0"],
        fault: Fault {
            judge: |asked, _| {
                asked.but_for_where(SLICE_READS, |plan| {
                    !plan.any(|axis| i64::from((axis.offset + (axis.out - 1) * axis.step) as i32) >= axis.n)
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "slice-stride-forgotten-in-bound",
        about: "SLICE checks offset and size without the stride",
        seen_in: "validation",
        operators: &["SLICE"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=4 out=3 Strides=2 Sizes=3 Offsets=0"],
        fault: Fault {
            judge: |asked, _| {
                asked.but_for_where(SLICE_READS, |plan| !plan.any(|axis| axis.offset + axis.out > axis.n))
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "slice-of-one-element-not-checked",
        about: "SLICE checks only axes with more than one output element",
        seen_in: "validation",
        operators: &["SLICE"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=4 out=1 Offsets=4 Sizes=1 Strides=1"],
        fault: Fault {
            judge: |asked, _| {
                asked.but_for_where(SLICE_READS, |plan| !plan.any(|axis| axis.out > 1 && reads_beyond(axis)))
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "slice-size-times-stride-in-bounds",
        about: "SLICE refuses Sizes times Strides beyond the end, although no read is",
        seen_in: "tensorflow#61424",
        operators: &["SLICE"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=5 out=3 Strides=2 Sizes=3 Offsets=0"],
        fault: Fault {
            judge: |asked, _| {
                asked.unless(|plan| {
                    plan.kind == Kind::Slice && plan.any(|axis| axis.offset + axis.out * axis.step > axis.n)
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "slice-offset-of-last-element-refused",
        about: "an offset of the last element is refused",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=4 out=1 Offsets=3 Sizes=1 Strides=1"],
        fault: Fault {
            judge: |asked, _| {
                asked.unless(|plan| {
                    plan.kind != Kind::Padding1 && plan.any(|axis| axis.n > 1 && axis.offset == axis.n - 1)
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "slice-stride-above-size-refused",
        about: "a stride larger than the axis is refused",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=4 out=1 Strides=5 Sizes=1 Offsets=0"],
        fault: Fault {
            judge: |asked, _| asked.unless(|plan| plan.any(|axis| axis.step.abs() > axis.n)),
            ..RIGHT
        },
    },
    Mutant {
        name: "slice1-window-of-last-axis-not-checked",
        about: "SLICE1 does not check the window of the innermost axis",
        seen_in: "validation",
        operators: &["SLICE1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE1 FLOAT32 in=4,4 out=4,2 InputWindowOffsets=0,2 InputWindowSizes=4,3 InputWindowStrides=1,1",
        ],
        fault: Fault {
            judge: |asked, _| {
                asked.but_for_where(WINDOW, |plan| {
                    only(plan, |axis| axis.offset + axis.window > axis.n) == Some(plan.last())
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "slice1-window-of-first-axis-not-checked",
        about: "SLICE1 does not check the window of the outermost axis",
        seen_in: "validation",
        operators: &["SLICE1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE1 FLOAT32 in=4,4 out=2,4 InputWindowOffsets=2,0 InputWindowSizes=3,4 InputWindowStrides=1,1",
        ],
        fault: Fault {
            judge: |asked, _| {
                asked.but_for_where(WINDOW, |plan| {
                    only(plan, |axis| axis.offset + axis.window > axis.n) == Some(0)
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "slice1-window-of-inner-axis-not-checked",
        about: "SLICE1 does not check the windows of axes between the outermost and the innermost",
        seen_in: "validation",
        operators: &["SLICE1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE1 FLOAT32 in=4,4,4 out=4,2,4 InputWindowOffsets=0,2,0 InputWindowSizes=4,3,4 InputWindowStrides=1,1,1",
        ],
        fault: Fault {
            judge: |asked, _| {
                asked.but_for_where(WINDOW, |plan| {
                    only(plan, |axis| axis.offset + axis.window > axis.n)
                        .is_some_and(|axis| axis > 0 && axis < plan.last())
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "slice1-window-sum-in-32-bits",
        about: "SLICE1 adds offset and window in 32 bits",
        seen_in: "validation",
        operators: &["SLICE1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE1 FLOAT32 in=4 out=1 InputWindowOffsets=4294967295 InputWindowSizes=2 InputWindowStrides=1",
        ],
        fault: Fault {
            judge: |asked, _| {
                asked.but_for_where(WINDOW, |plan| {
                    !plan.any(|axis| i64::from((axis.offset + axis.window) as u32) > axis.n)
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "slice1-window-sum-as-int",
        about: "SLICE1 adds offset and window as signed numbers of 32 bits",
        seen_in: "validation",
        operators: &["SLICE1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE1 FLOAT32 in=4 out=1 InputWindowOffsets=2147483647 InputWindowSizes=1 InputWindowStrides=1",
        ],
        fault: Fault {
            judge: |asked, _| {
                asked.but_for_where(WINDOW, |plan| {
                    !plan.any(|axis| i64::from((axis.offset + axis.window) as i32) > axis.n)
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "slice1-window-may-pass-unread",
        about: "SLICE1 accepts a window beyond the input if no read is",
        seen_in: "validation",
        operators: &["SLICE1"],
        needs: Needs::Nothing,
        witness: &["SLICE1 FLOAT32 in=4 out=2 InputWindowSizes=5 InputWindowStrides=2 InputWindowOffsets=0"],
        fault: Fault {
            judge: |asked, _| {
                asked.but_for_where(WINDOW, |plan| {
                    !plan.any(|axis| axis.step < 0 || axis.offset + (axis.out - 1) * axis.step >= axis.n)
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "slice1-window-of-reverse-not-checked",
        about: "SLICE1 does not check windows whose stride is negative",
        seen_in: "validation",
        operators: &["SLICE1"],
        needs: Needs::Nothing,
        witness: &["SLICE1 FLOAT32 in=4 out=2 InputWindowOffsets=2 InputWindowSizes=3 InputWindowStrides=-1"],
        fault: Fault {
            judge: |asked, _| {
                asked.but_for_where(WINDOW, |plan| {
                    !plan.any(|axis| axis.step > 0 && axis.offset + axis.window > axis.n)
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "slice1-reach-rounded-up",
        about: "SLICE1 allows one element more if the stride divides the window",
        seen_in: "validation",
        operators: &["SLICE1"],
        needs: Needs::Nothing,
        witness: &["SLICE1 FLOAT32 in=4 out=3 InputWindowStrides=2 InputWindowOffsets=0 InputWindowSizes=4"],
        fault: Fault {
            judge: |asked, _| {
                asked.but_for_where(REACH, |plan| {
                    !plan.any(|axis| axis.out > 1 + axis.window / axis.step.abs().max(1))
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "slice1-reach-rounded-down",
        about: "SLICE1 refuses the last element if the stride does not divide the window",
        seen_in: "tensorflow#61424",
        operators: &["SLICE1"],
        needs: Needs::Nothing,
        witness: &["SLICE1 FLOAT32 in=5 out=3 InputWindowStrides=2 InputWindowOffsets=0 InputWindowSizes=5"],
        fault: Fault {
            judge: |asked, _| {
                asked.unless(|plan| {
                    plan.any(|axis| {
                        axis.step != 0
                            && axis.window >= axis.step.abs()
                            && axis.out > axis.window / axis.step.abs()
                            && axis.window > 1
                            && plan.kind == Kind::Slice1
                    })
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "slice1-reach-of-reverse-not-checked",
        about: "SLICE1 does not check how far a negative stride reaches",
        seen_in: "validation",
        operators: &["SLICE1"],
        needs: Needs::Nothing,
        witness: &["SLICE1 FLOAT32 in=4 out=3 InputWindowStrides=-2 InputWindowOffsets=0 InputWindowSizes=4"],
        fault: Fault {
            judge: |asked, _| {
                asked.but_for_where(REACH, |plan| {
                    !plan.any(|axis| axis.step > 0 && (axis.out - 1) * axis.step > axis.window - 1)
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "slice1-reach-in-32-bits",
        about: "SLICE1 multiplies output size and stride in 32 bits",
        seen_in: "validation",
        operators: &["SLICE1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE1 FLOAT32 in=4 out=3 InputWindowStrides=-2147483648 InputWindowOffsets=0 InputWindowSizes=4",
        ],
        fault: Fault {
            judge: |asked, _| {
                asked.but_for_where(REACH, |plan| {
                    !plan.any(|axis| i64::from(((axis.out - 1) * axis.step.abs()) as u32) > axis.window - 1)
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "slice1-reach-in-input",
        about: "SLICE1 checks its reads against the input instead of the window",
        seen_in: "validation",
        operators: &["SLICE1"],
        needs: Needs::Nothing,
        witness: &["SLICE1 FLOAT32 in=8 out=4 InputWindowSizes=4 InputWindowStrides=2 InputWindowOffsets=0"],
        fault: Fault {
            judge: |asked, _| {
                asked.but_for_where(REACH, |plan| {
                    !plan.any(|axis| axis.offset + (axis.out - 1) * axis.step.abs() >= axis.n)
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "slice1-short-output-refused",
        about: "SLICE1 refuses outputs that stop short of what is reachable",
        seen_in: "validation",
        operators: &["SLICE1"],
        needs: Needs::Nothing,
        witness: &["SLICE1 FLOAT32 in=4 out=2 InputWindowOffsets=0 InputWindowStrides=1 InputWindowSizes=4"],
        fault: Fault {
            judge: |asked, _| {
                asked.unless(|plan| {
                    plan.kind == Kind::Slice1
                        && plan.any(|axis| axis.out != 1 + (axis.window - 1) / axis.step.abs().max(1))
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "slice1-zero-stride-of-one-element",
        about: "SLICE1 accepts a stride of 0 on axes with one output element",
        seen_in: "validation",
        operators: &["SLICE1"],
        needs: Needs::Nothing,
        witness: &["SLICE1 FLOAT32 in=4 out=1 InputWindowStrides=0 InputWindowOffsets=0 InputWindowSizes=4"],
        fault: Fault {
            judge: |asked, _| {
                asked.but_for_where(STRIDE, |plan| {
                    plan.kind == Kind::Slice1 && !plan.any(|axis| axis.step == 0 && axis.out > 1)
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "slice1-empty-window-at-end-accepted",
        about: "SLICE1 accepts an empty window at the end of the input",
        seen_in: "DirectMLX",
        operators: &["SLICE1"],
        needs: Needs::Nothing,
        witness: &["SLICE1 FLOAT32 in=4 out=1 InputWindowOffsets=4 InputWindowSizes=0 InputWindowStrides=1"],
        fault: Fault {
            judge: |asked, _| {
                asked.but_for_where("the window is empty", |plan| {
                    !plan.any(|axis| axis.window == 0 && axis.offset != axis.n)
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "padding-sum-saturates",
        about: "the sum of a size and its paddings saturates at 2^32 - 1",
        seen_in: "validation",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "PADDING1 UINT8 in=1 out=4294967295 PaddingMode=CONSTANT StartPadding=4294967295 EndPadding=0",
        ],
        fault: Fault {
            judge: |asked, _| {
                asked.but_for_where(PADDED, |plan| {
                    !plan.any(|axis| axis.out != (axis.n + axis.start + axis.end).min(i64::from(u32::MAX)))
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "padding-sum-as-int-refused",
        about: "the sum of a size and its paddings is signed, and those above INT_MAX are refused",
        seen_in: "validation",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "PADDING1 UINT8 in=1 out=2147483648 PaddingMode=CONSTANT StartPadding=2147483647 EndPadding=0",
        ],
        fault: Fault {
            judge: |asked, _| {
                asked.unless(|plan| {
                    plan.kind == Kind::Padding1 && plan.any(|axis| axis.out > i64::from(i32::MAX))
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "padding-output-may-be-smaller",
        about: "outputs smaller than the padded input are accepted",
        seen_in: "validation",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &["PADDING1 FLOAT32 in=4 out=5 PaddingMode=CONSTANT StartPadding=2 EndPadding=0"],
        fault: Fault {
            judge: |asked, _| {
                asked
                    .but_for_where(PADDED, |plan| !plan.any(|axis| axis.out > axis.n + axis.start + axis.end))
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "padding-output-may-be-larger",
        about: "outputs larger than the padded input are accepted",
        seen_in: "validation",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &["PADDING1 FLOAT32 in=4 out=7 PaddingMode=CONSTANT StartPadding=2 EndPadding=0"],
        fault: Fault {
            judge: |asked, _| {
                asked
                    .but_for_where(PADDED, |plan| !plan.any(|axis| axis.out < axis.n + axis.start + axis.end))
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "padding-sum-of-last-axis-not-checked",
        about: "the output's innermost size is not checked",
        seen_in: "validation",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &["PADDING1 FLOAT32 in=4,4 out=4,5 PaddingMode=CONSTANT EndPadding=0,0 StartPadding=0,0"],
        fault: Fault {
            judge: |asked, _| {
                asked.but_for_where(PADDED, |plan| only(plan, is_missized) == Some(plan.last()))
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "padding-sum-of-first-axis-not-checked",
        about: "the output's outermost size is not checked",
        seen_in: "validation",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &["PADDING1 FLOAT32 in=4,4 out=5,4 PaddingMode=CONSTANT EndPadding=0,0 StartPadding=0,0"],
        fault: Fault {
            judge: |asked, _| asked.but_for_where(PADDED, |plan| only(plan, is_missized) == Some(0)),
            ..RIGHT
        },
    },
    Mutant {
        name: "padding-sum-of-inner-axis-not-checked",
        about: "the output's sizes between the outermost and the innermost are not checked",
        seen_in: "validation",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "PADDING1 FLOAT32 in=4,4,4 out=4,5,4 PaddingMode=CONSTANT EndPadding=0,0,0 StartPadding=0,0,0",
        ],
        fault: Fault {
            judge: |asked, _| {
                asked.but_for_where(PADDED, |plan| {
                    only(plan, is_missized).is_some_and(|axis| axis > 0 && axis < plan.last())
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "padding-sum-of-edge-not-checked",
        about: "the output's sizes are not checked in EDGE",
        seen_in: "validation",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &["PADDING1 FLOAT32 in=4 out=5 PaddingMode=EDGE EndPadding=0 StartPadding=0"],
        fault: Fault { judge: |asked, _| asked.but_for_where(PADDED, |plan| plan.mode == EDGE), ..RIGHT },
    },
    Mutant {
        name: "padding-sum-of-wrap-not-checked",
        about: "the output's sizes are not checked in WRAP",
        seen_in: "validation",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &["PADDING1 FLOAT32 in=4 out=5 PaddingMode=WRAP EndPadding=0 StartPadding=0"],
        fault: Fault { judge: |asked, _| asked.but_for_where(PADDED, |plan| plan.mode == WRAP), ..RIGHT },
    },
    Mutant {
        name: "padding-sum-of-unpadded-not-checked",
        about: "the output's sizes are checked only if an axis is padded",
        seen_in: "validation",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &["PADDING1 FLOAT32 in=4 out=5 PaddingMode=CONSTANT EndPadding=0 StartPadding=0"],
        fault: Fault {
            judge: |asked, _| asked.but_for_where(PADDED, |plan| !plan.any(Axis::is_padded)),
            ..RIGHT
        },
    },
    Mutant {
        name: "padding-sum-of-total-elements",
        about: "the number of elements is compared in place of each size",
        seen_in: "validation",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &["PADDING1 FLOAT32 in=2,3 out=3,2 PaddingMode=CONSTANT EndPadding=0,0 StartPadding=0,0"],
        fault: Fault {
            judge: |asked, _| {
                asked.but_for_where(PADDED, |plan| {
                    plan.elements()
                        == plan.axes.iter().map(|axis| axis.n + axis.start + axis.end).product::<i64>()
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "reflection-of-long-padding-refused",
        about: "REFLECTION refuses paddings of the input's size or more",
        seen_in: "onnxruntime, WebNN",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &["PADDING1 FLOAT32 in=3 out=6 PaddingMode=REFLECTION StartPadding=3 EndPadding=0"],
        fault: Fault {
            judge: |asked, _| {
                asked.unless(|plan| {
                    plan.kind == Kind::Padding1
                        && plan.mode == REFLECTION
                        && plan.any(|axis| axis.n > 1 && axis.start.max(axis.end) >= axis.n)
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "symmetric-of-long-padding-refused",
        about: "SYMMETRIC refuses paddings above the input's size",
        seen_in: "onnxruntime, WebNN",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &["PADDING1 FLOAT32 in=3 out=7 PaddingMode=SYMMETRIC StartPadding=4 EndPadding=0"],
        fault: Fault {
            judge: |asked, _| {
                asked.unless(|plan| {
                    plan.kind == Kind::Padding1
                        && plan.mode == SYMMETRIC
                        && plan.any(|axis| axis.start.max(axis.end) > axis.n)
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "wrap-of-long-padding-refused",
        about: "WRAP refuses paddings above the input's size",
        seen_in: "semantics",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &["PADDING1 FLOAT32 in=3 out=7 PaddingMode=WRAP StartPadding=4 EndPadding=0"],
        fault: Fault {
            judge: |asked, _| {
                asked.unless(|plan| {
                    plan.kind == Kind::Padding1
                        && plan.mode == WRAP
                        && plan.any(|axis| axis.start.max(axis.end) > axis.n)
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "padding-of-nothing-refused",
        about: "PADDING1 without any padding is refused",
        seen_in: "semantics",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &["PADDING1 FLOAT32 in=3 out=3 PaddingMode=EDGE EndPadding=0 StartPadding=0"],
        fault: Fault {
            judge: |asked, _| asked.unless(|plan| plan.kind == Kind::Padding1 && plan.is_identity()),
            ..RIGHT
        },
    },
    Mutant {
        name: "mode-five-accepted",
        about: "the mode behind the last one is accepted",
        seen_in: "validation",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &["PADDING1 FLOAT32 in=3 out=3 PaddingMode=5 EndPadding=0 StartPadding=0"],
        fault: Fault { judge: |asked, _| asked.but_for_where(MODE, |plan| plan.mode == 5), ..RIGHT },
    },
    Mutant {
        name: "negative-modes-accepted",
        about: "modes are compared with the last one as signed numbers, so that -1 is accepted",
        seen_in: "validation",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &["PADDING1 FLOAT32 in=3 out=3 PaddingMode=-1 EndPadding=0 StartPadding=0"],
        fault: Fault {
            judge: |asked, _| {
                asked.is_valid() || asked.but_for(MODE) && (asked.integer("PaddingMode") as i32) < 0
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "any-mode-accepted",
        about: "modes are not checked",
        seen_in: "validation",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &["PADDING1 FLOAT32 in=3 out=3 PaddingMode=77 EndPadding=0 StartPadding=0"],
        fault: Fault { judge: |asked, _| asked.but_for(MODE), ..RIGHT },
    },
    Mutant {
        name: "value-type-checked-in-constant-only",
        about: "PaddingValueDataType is checked in CONSTANT only",
        seen_in: "validation",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "PADDING1 FLOAT32 in=3 out=3 PaddingMode=EDGE PaddingValueDataType=INT32 EndPadding=0 StartPadding=0",
        ],
        fault: Fault {
            judge: |asked, _| asked.but_for_where(VALUE_TYPE, |plan| plan.mode != CONSTANT),
            ..RIGHT
        },
    },
    Mutant {
        name: "value-type-not-checked-in-reflection",
        about: "PaddingValueDataType is not checked in REFLECTION",
        seen_in: "validation",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "PADDING1 FLOAT32 in=3 out=3 PaddingMode=REFLECTION PaddingValueDataType=INT32 EndPadding=0 StartPadding=0",
        ],
        fault: Fault {
            judge: |asked, _| asked.but_for_where(VALUE_TYPE, |plan| plan.mode == REFLECTION),
            ..RIGHT
        },
    },
    Mutant {
        name: "value-type-unknown-accepted",
        about: "a PaddingValueDataType of UNKNOWN is accepted",
        seen_in: "validation",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "PADDING1 FLOAT32 in=3 out=3 PaddingMode=CONSTANT PaddingValueDataType=UNKNOWN EndPadding=0 StartPadding=0",
        ],
        fault: Fault {
            judge: |asked, _| {
                asked.is_valid() || asked.but_for(VALUE_TYPE) && asked.integer("PaddingValueDataType") == 0
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "value-type-of-one-width-accepted",
        about: "a PaddingValueDataType of the same width is accepted",
        seen_in: "validation",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "PADDING1 FLOAT32 in=3 out=3 PaddingMode=CONSTANT PaddingValueDataType=INT32 EndPadding=0 StartPadding=0",
        ],
        fault: Fault {
            judge: |asked, _| {
                let bits = |code: i64| u32::try_from(code).ok().and_then(|code| DataType(code).bits());
                asked.but_for_where(VALUE_TYPE, |plan| {
                    bits(asked.integer("PaddingValueDataType")) == plan.data_type.bits()
                })
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "value-type-not-checked",
        about: "PaddingValueDataType is not checked",
        seen_in: "validation",
        operators: &["PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "PADDING1 FLOAT32 in=3 out=3 PaddingMode=CONSTANT PaddingValueDataType=INT64 EndPadding=0 StartPadding=0",
        ],
        fault: Fault { judge: |asked, _| asked.but_for(VALUE_TYPE), ..RIGHT },
    },
    Mutant {
        name: "rank-one-not-checked",
        about: "descs of rank 1 take a fast path without the operator's checks",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=4 out=3 Offsets=2 Sizes=3 Strides=1"],
        fault: Fault {
            judge: |asked, _| {
                [SLICE_READS, WINDOW, REACH, PADDED]
                    .iter()
                    .any(|reason| asked.but_for_where(reason, |plan| plan.rank() == 1))
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "rank-eight-not-checked",
        about: "descs of rank 8 take a path without the operator's checks",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &[
            "SLICE FLOAT32 in=1,1,1,1,1,1,1,4 out=1,1,1,1,1,1,1,3 Offsets=0,0,0,0,0,0,0,2 Sizes=1,1,1,1,1,1,1,3 Strides=1,1,1,1,1,1,1,1",
        ],
        fault: Fault {
            judge: |asked, _| {
                [SLICE_READS, WINDOW, REACH, PADDED]
                    .iter()
                    .any(|reason| asked.but_for_where(reason, |plan| plan.rank() == 8))
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "eight-byte-types-not-checked",
        about: "descs of types of 8 bytes take a path without the operator's checks",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT64 in=4 out=3 Offsets=2 Sizes=3 Strides=1"],
        fault: Fault {
            judge: |asked, _| {
                [SLICE_READS, WINDOW, REACH, PADDED]
                    .iter()
                    .any(|reason| asked.but_for_where(reason, |plan| plan.width == 8))
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "strided-descs-not-checked",
        about: "descs with strided inputs take a path without the operator's checks",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=4 out=3 Offsets=2 InputTensor.Strides=2 Sizes=3 Strides=1"],
        fault: Fault {
            judge: |asked, _| {
                [SLICE_READS, WINDOW, REACH, PADDED]
                    .iter()
                    .any(|reason| asked.but_for_where(reason, |plan| plan.strided[0]))
            },
            ..RIGHT
        },
    },
    Mutant {
        name: "short-lists-accepted",
        about: "a list with fewer values than dimensions is accepted",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=4,4 out=4,4 Strides=1 Sizes=4,4 Offsets=0,0"],
        fault: Fault { judge: |asked, _| asked.but_for("has not one value an axis"), ..RIGHT },
    },
    Mutant {
        name: "refused-with-not-implemented",
        about: "strided inputs are refused with E_NOTIMPL, although the backend declares no such limit",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE FLOAT32 in=4 out=4 InputTensor.Strides=2 Sizes=4 Offsets=0 Strides=1"],
        fault: Fault {
            code: ErrorCode::NOT_IMPLEMENTED,
            judge: |asked, _| asked.unless(|plan| plan.strided[0]),
            ..RIGHT
        },
    },
    Mutant {
        name: "refused-without-memory",
        about: "outputs of more than 1000 elements are refused with E_OUTOFMEMORY",
        seen_in: "validation",
        operators: &["SLICE", "SLICE1", "PADDING1"],
        needs: Needs::Nothing,
        witness: &["SLICE UINT8 in=1001 out=1001 Sizes=1001 Offsets=0 Strides=1"],
        fault: Fault {
            code: ErrorCode::OUT_OF_MEMORY,
            judge: |asked, _| asked.unless(|plan| plan.elements() > 1000),
            ..RIGHT
        },
    },
];
