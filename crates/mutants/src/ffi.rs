//! Faults of the layer that reads the caller's structs: wrong members, widths, counts and pointers.

use dmlcts_model::{Desc, List, Side, Tensor, Value};

use crate::mutant::{ALL, Mutant, PADDING1, SLICE1, SLICES};

/// A member, if the operator has it.
fn member<'a>(desc: &'a mut Desc, name: &str) -> Option<&'a mut Value> {
    let place = desc.signature.position(name)?;
    desc.members.get_mut(place)
}

/// Changes an integer member.
fn integer(desc: &mut Desc, name: &str, change: fn(i64) -> i64) {
    if let Some(Value::Integer(value)) = member(desc, name) {
        *value = change(*value);
    }
}

/// Changes each list of the operator's own members.
fn lists(desc: &mut Desc, change: fn(&mut List)) {
    for member in &mut desc.members {
        if let Value::List(Some(list)) = member {
            change(list);
        }
    }
}

/// Changes each tensor.
fn tensors(desc: &mut Desc, change: impl FnMut(&mut Tensor)) {
    desc.input.iter_mut().chain(&mut desc.output).for_each(change);
}

/// Takes null lists of these names for lists of this value.
fn fill_null(desc: &mut Desc, names: [&str; 2], value: i64) {
    let rank = desc.rank();
    for name in names {
        if let Some(Value::List(list)) = member(desc, name) {
            list.get_or_insert_with(|| List::from_elem(value, rank));
        }
    }
}

/// A mutant of this theme.
const fn ffi(name: &'static str, operators: &'static [&'static str]) -> Mutant {
    Mutant::new(name, operators).seen_in("FFI")
}

pub(crate) const MUTANTS: &[Mutant] = &[
    ffi("ffi-end-padding-is-start", PADDING1)
        .about("both pointers of paddings are StartPadding's")
        .witness(&["PADDING1 FLOAT32 in=3 out=4 PaddingMode=EDGE StartPadding=1 EndPadding=0"])
        .read(|desc| {
            if let Some(start) = member(desc, "StartPadding").cloned()
                && let Some(end) = member(desc, "EndPadding")
            {
                *end = start;
            }
        }),
    ffi("ffi-sizes-and-offsets-swapped", SLICES)
        .about("the first two lists of a slice are swapped")
        .witness(&["SLICE FLOAT32 in=4 out=2 Offsets=1 Sizes=2 Strides=1"])
        .read(|desc| {
            if desc.signature.position("StartPadding").is_none() && desc.members.len() > 2 {
                desc.members.swap(1, 2);
            }
        }),
    ffi("ffi-lists-of-four", ALL)
        .about("lists are copied into arrays of four, and further values are 0")
        .witness(&["PADDING1 FLOAT32 in=1,1,1,1,2 out=1,1,1,1,3 PaddingMode=EDGE StartPadding=0,0,0,0,1 \
            EndPadding=0,0,0,0,0"])
        .read(|desc| lists(desc, |list| list.iter_mut().skip(4).for_each(|value| *value = 0))),
    ffi("ffi-lists-of-seven", ALL)
        .about("lists are copied into arrays of seven, and the eighth value is 0")
        .witness(&["PADDING1 FLOAT32 in=1,1,1,1,1,1,1,2 out=1,1,1,1,1,1,1,3 PaddingMode=EDGE \
            StartPadding=0,0,0,0,0,0,0,1 EndPadding=0,0,0,0,0,0,0,0"])
        .read(|desc| lists(desc, |list| list.iter_mut().skip(7).for_each(|value| *value = 0))),
    ffi("ffi-lists-reversed", ALL)
        .about("lists of the operator are read from the innermost axis outwards")
        .seen_in("pytorch#37844")
        .witness(&["PADDING1 FLOAT32 in=2,2 out=3,2 PaddingMode=EDGE StartPadding=1,0 EndPadding=0,0"])
        .read(|desc| lists(desc, |list| list.reverse())),
    ffi("ffi-lists-of-64-bits", ALL)
        .about("lists are read as 64-bit integers, so that each axis takes two values")
        .witness(&["PADDING1 FLOAT32 in=2,2 out=2,3 PaddingMode=EDGE StartPadding=0,1 EndPadding=0,0"])
        .read(|desc| {
            lists(desc, |list| {
                let pairs: List = list.iter().copied().step_by(2).collect();
                let length = list.len();
                list.fill(0);
                list[..pairs.len().min(length)].copy_from_slice(&pairs);
            });
        }),
    ffi("ffi-mode-in-one-byte", PADDING1)
        .about("PaddingMode is read from one byte")
        .witness(&["PADDING1 FLOAT32 in=3 out=4 PaddingMode=257 StartPadding=1 EndPadding=0"])
        .read(|desc| integer(desc, "PaddingMode", |mode| mode & 0xff)),
    ffi("ffi-mode-in-three-bits", PADDING1)
        .about("only the lowest three bits of PaddingMode are read")
        .witness(&["PADDING1 FLOAT32 in=3 out=4 PaddingMode=9 StartPadding=1 EndPadding=0"])
        .read(|desc| integer(desc, "PaddingMode", |mode| mode & 7)),
    ffi("ffi-value-type-in-one-byte", PADDING1)
        .about("PaddingValueDataType is read from one byte")
        .witness(&[
            "PADDING1 FLOAT32 in=3 out=4 PaddingMode=CONSTANT StartPadding=1 PaddingValueDataType=257 \
            EndPadding=0",
        ])
        .read(|desc| integer(desc, "PaddingValueDataType", |code| code & 0xff)),
    ffi("ffi-data-type-in-one-byte", ALL)
        .about("the data types of the tensors are read from one byte")
        .witness(&[
            "SLICE FLOAT32 in=3 out=3 InputTensor.DataType=257 InputTensor.TotalTensorSizeInBytes=12 \
            Sizes=3 Offsets=0 Strides=1",
        ])
        .read(|desc| tensors(desc, |tensor| tensor.data_type.0 &= 0xff)),
    ffi("ffi-count-in-one-byte", ALL)
        .about("DimensionCount of the operator is read from one byte")
        .witness(&["SLICE FLOAT32 in=3 out=3 DimensionCount=257 Sizes=3 Offsets=0 Strides=1"])
        .read(|desc| integer(desc, "DimensionCount", |count| count & 0xff)),
    ffi("ffi-count-in-padding-value", PADDING1)
        .about("DimensionCount is read at the place of PADDING, which is PaddingValue in PADDING1")
        .witness(&[
            "PADDING1 FLOAT32 in=3 out=4 PaddingMode=CONSTANT StartPadding=1 PaddingValue=9 EndPadding=0",
        ])
        .read(|desc| {
            if let Some(value) = desc.scalar("PaddingValue")
                && let Some(Value::Integer(count)) = member(desc, "DimensionCount")
            {
                *count = i64::from(u32::from_le_bytes([value[0], value[1], value[2], value[3]]));
            }
        }),
    ffi("ffi-tensor-count-is-operator-count", ALL)
        .about("the dimension counts of the tensors are the operator's, whatever the tensors say")
        .witness(&["SLICE FLOAT32 in=3 out=3 InputTensor.DimensionCount=2 Sizes=3 Offsets=0 Strides=1"])
        .read(|desc| {
            let count = desc.integer("DimensionCount").unwrap_or_default() as u32;
            tensors(desc, |tensor| tensor.dimension_count = count);
        }),
    ffi("ffi-total-size-in-32-bits", ALL)
        .about("TotalTensorSizeInBytes is read from its lower 32 bits")
        .witness(&[
            "SLICE FLOAT32 in=3 out=3 InputTensor.TotalTensorSizeInBytes=4294967296 Sizes=3 Offsets=0 \
            Strides=1",
        ])
        .read(|desc| tensors(desc, |tensor| tensor.total_size &= 0xffff_ffff)),
    ffi("ffi-total-size-signed", ALL)
        .about("TotalTensorSizeInBytes is read as a signed number of 32 bits, and negative ones are refused")
        .witness(&[
            "SLICE FLOAT32 in=3 out=3 InputTensor.TotalTensorSizeInBytes=2147483648 Sizes=3 Offsets=0 \
            Strides=1",
        ])
        .read(|desc| {
            tensors(desc, |tensor| {
                if tensor.total_size & 0x8000_0000 != 0 {
                    tensor.total_size = 0;
                }
            });
        }),
    ffi("ffi-alignment-in-one-byte", ALL)
        .about("GuaranteedBaseOffsetAlignment is read from one byte")
        .witness(&[
            "SLICE FLOAT32 in=3 out=3 InputTensor.GuaranteedBaseOffsetAlignment=384 Sizes=3 Offsets=0 \
            Strides=1",
        ])
        .read(|desc| tensors(desc, |tensor| tensor.alignment &= 0xff)),
    ffi("ffi-output-strides-are-inputs", ALL)
        .about("a null pointer of output strides keeps the pointer of the input's")
        .witness(&["SLICE FLOAT32 in=2,2 out=2,2 InputTensor.Strides=1,2 Sizes=2,2 Offsets=0,0 Strides=1,1"])
        .read(|desc| {
            if let (Some(input), Some(output)) = (&desc.input, &mut desc.output)
                && output.strides.is_none()
            {
                output.strides.clone_from(&input.strides);
            }
        }),
    ffi("ffi-input-strides-are-outputs", ALL)
        .about("the input's strides are read through the output's pointer if both are there")
        .witness(&[
            "SLICE FLOAT32 in=2,2 out=2,2 InputTensor.Strides=1,2 OutputTensor.Strides=2,1 Sizes=2,2 \
            Offsets=0,0 Strides=1,1",
        ])
        .read(|desc| {
            if let (Some(input), Some(output)) = (&mut desc.input, &desc.output)
                && input.strides.is_some()
                && output.strides.is_some()
            {
                input.strides.clone_from(&output.strides);
            }
        }),
    ffi("ffi-output-sizes-are-inputs", ALL)
        .about("the output's sizes are read through the input's pointer")
        .witness(&["SLICE FLOAT32 in=4,4 out=4,2 Sizes=4,2 Offsets=0,0 Strides=1,1"])
        .read(|desc| {
            if let (Some(input), Some(output)) = (&desc.input, &mut desc.output) {
                output.sizes.clone_from(&input.sizes);
            }
        }),
    ffi("ffi-flags-of-input-for-both", ALL)
        .about("the flags of the input are used for the output, too")
        .witness(&["SLICE FLOAT32 in=4 out=4 InputTensor.Flags=1 Sizes=4 Offsets=0 Strides=1"])
        .read(|desc| {
            if let (Some(input), Some(output)) = (&desc.input, &mut desc.output) {
                output.flags = input.flags;
            }
        }),
    ffi("ffi-null-input-crashes", ALL)
        .about("a null pointer to the input tensor is followed")
        .witness(&["SLICE FLOAT32 InputTensor=null out=4 Sizes=4 Offsets=0 Strides=1"])
        .read(|desc| assert!(desc.input.is_some(), "a null pointer is followed")),
    ffi("ffi-null-list-crashes", ALL)
        .about("a null pointer to a list of the operator is followed")
        .witness(&["PADDING1 FLOAT32 in=4 out=4 PaddingMode=CONSTANT EndPadding=null StartPadding=0"])
        .read(|desc| {
            let is_null = |value: &Value| matches!(value, Value::List(None));
            assert!(!desc.members.iter().any(is_null), "a null pointer is followed");
        }),
    ffi("ffi-null-sizes-crash", ALL)
        .about("a null pointer to the sizes of a tensor is followed")
        .witness(&["SLICE FLOAT32 in=null out=4 Sizes=4 Offsets=0 Strides=1"])
        .read(|desc| {
            let is_null = |side| desc.tensor(side).is_some_and(|tensor| tensor.sizes.is_none());
            assert!(!Side::BOTH.into_iter().any(is_null), "a null pointer is followed");
        }),
    ffi("ffi-null-padding-is-zero", PADDING1)
        .about("a null list of paddings is taken for zeros")
        .witness(&["PADDING1 FLOAT32 in=4 out=4 PaddingMode=CONSTANT EndPadding=null StartPadding=0"])
        .read(|desc| fill_null(desc, ["StartPadding", "EndPadding"], 0)),
    ffi("ffi-null-strides-are-one", SLICES)
        .about("a null list of strides is taken for ones")
        .witness(&["SLICE FLOAT32 in=4 out=4 Strides=null Sizes=4 Offsets=0"])
        .read(|desc| fill_null(desc, ["Strides", "InputWindowStrides"], 1)),
    ffi("ffi-int-strides-lose-sign", SLICE1)
        .about("InputWindowStrides is read as const UINT*, and those above INT_MAX are taken for 1")
        .seen_in("the page of SLICE1, Members")
        .witness(&["SLICE1 FLOAT32 in=4 out=2 InputWindowStrides=-1 InputWindowOffsets=0 InputWindowSizes=4"])
        .read(|desc| {
            if let Some(Value::List(Some(list))) = member(desc, "InputWindowStrides") {
                list.iter_mut().filter(|stride| **stride < 0).for_each(|stride| *stride = 1);
            }
        }),
];
