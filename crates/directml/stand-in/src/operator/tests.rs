//! Descs as C has them: valid ones are read as they were meant, and each one that breaks a rule is refused
//! for that reason.

use std::ptr;

use dmlcts_directml::raw::{
    DML_BUFFER_TENSOR_DESC, DML_FEATURE_LEVEL_4_1, DML_OPERATOR_TYPE, DML_PADDING_MODE_CONSTANT,
    DML_SCALAR_UNION, DML_TENSOR_DATA_TYPE, DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_DATA_TYPE_INT16,
    DML_TENSOR_DATA_TYPE_UINT4, DML_TENSOR_FLAG_NONE, DML_TENSOR_FLAG_OWNED_BY_DML, DML_TENSOR_FLAGS,
    DML_TENSOR_TYPE_BUFFER, DML_TENSOR_TYPE_INVALID,
};

use super::*;

/// A desc and the memory that it points at.
struct Case {
    abilities: Abilities,
    operator: DML_OPERATOR_TYPE,
    tensors: [Side; 2],
    /// Offsets, sizes and strides; or, of PADDING1, what is before and behind.
    lists: [Option<[u32; 8]>; 3],
    count: u32,
    mode: DML_PADDING_MODE,
    value_type: DML_TENSOR_DATA_TYPE,
    /// What an operator's desc is, where it is none.
    missing: bool,
}

struct Side {
    tensor_type: dmlcts_directml::raw::DML_TENSOR_TYPE,
    data_type: DML_TENSOR_DATA_TYPE,
    flags: DML_TENSOR_FLAGS,
    count: u32,
    sizes: Option<[u32; 8]>,
    strides: Option<[u32; 8]>,
    total: u64,
    alignment: u32,
    missing: bool,
}

/// The first values of an array of eight; a missing array is another matter.
#[expect(clippy::unnecessary_wraps, reason = "lists are optional")]
fn values<const N: usize>(values: [u32; N]) -> Option<[u32; 8]> {
    let mut array = [1; 8];
    array[..N].copy_from_slice(&values);
    Some(array)
}

impl Case {
    fn new(operator: DML_OPERATOR_TYPE, input: [u32; 2], output: [u32; 2], lists: [[u32; 2]; 3]) -> Self {
        let side = |sizes: [u32; 2]| Side {
            tensor_type: DML_TENSOR_TYPE_BUFFER,
            data_type: DML_TENSOR_DATA_TYPE_INT16,
            flags: DML_TENSOR_FLAG_NONE,
            count: 2,
            sizes: values(sizes),
            strides: None,
            total: (2 * u64::from(sizes[0]) * u64::from(sizes[1])).next_multiple_of(4),
            alignment: 0,
            missing: false,
        };
        Self {
            abilities: Abilities::default(),
            operator,
            tensors: [side(input), side(output)],
            lists: lists.map(values),
            count: 2,
            mode: DML_PADDING_MODE_CONSTANT,
            value_type: DML_TENSOR_DATA_TYPE_INT16,
            missing: false,
        }
    }

    /// Rows 1 and 3, columns 2 and 3, of 4 by 5.
    fn slice() -> Self {
        Self::new(DML_OPERATOR_SLICE, [4, 5], [2, 2], [[1, 2], [2, 2], [2, 1]])
    }

    /// The rows backwards by two, the columns but the first.
    fn slice1() -> Self {
        Self::new(DML_OPERATOR_SLICE1, [4, 5], [2, 4], [[0, 1], [4, 4], [2_u32.wrapping_neg(), 1]])
    }

    /// A row above and two columns to the right.
    fn padding1() -> Self {
        Self::new(DML_OPERATOR_PADDING1, [2, 3], [3, 5], [[1, 0], [0, 2], [0, 0]])
    }

    fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    fn read(&self) -> Result<Operator, Refusal> {
        let pointer = |list: &Option<[u32; 8]>| list.as_ref().map_or(ptr::null(), |list| list.as_ptr());
        let buffers = self.tensors.each_ref().map(|side| DML_BUFFER_TENSOR_DESC {
            DataType: side.data_type,
            Flags: side.flags,
            DimensionCount: side.count,
            Sizes: pointer(&side.sizes),
            Strides: pointer(&side.strides),
            TotalTensorSizeInBytes: side.total,
            GuaranteedBaseOffsetAlignment: side.alignment,
        });
        let tensor = |index: usize| DML_TENSOR_DESC {
            Type: self.tensors[index].tensor_type,
            Desc: ptr::from_ref(&buffers[index]).cast(),
        };
        let tensors = [tensor(0), tensor(1)];
        let place = |index: usize| {
            if self.tensors[index].missing { ptr::null() } else { ptr::from_ref(&tensors[index]) }
        };
        let [first, second, third] = self.lists.each_ref().map(pointer);
        let slice = DML_SLICE_OPERATOR_DESC {
            InputTensor: place(0),
            OutputTensor: place(1),
            DimensionCount: self.count,
            Offsets: first,
            Sizes: second,
            Strides: third,
        };
        let slice1 = DML_SLICE1_OPERATOR_DESC {
            InputTensor: place(0),
            OutputTensor: place(1),
            DimensionCount: self.count,
            InputWindowOffsets: first,
            InputWindowSizes: second,
            InputWindowStrides: third.cast(),
        };
        let padding1 = DML_PADDING1_OPERATOR_DESC {
            InputTensor: place(0),
            OutputTensor: place(1),
            PaddingMode: self.mode,
            PaddingValueDataType: self.value_type,
            PaddingValue: DML_SCALAR_UNION { Bytes: [1, 2, 0, 0, 0, 0, 0, 0] },
            DimensionCount: self.count,
            StartPadding: first,
            EndPadding: second,
        };
        let desc = match self.operator {
            _ if self.missing => ptr::null(),
            DML_OPERATOR_SLICE => ptr::from_ref(&slice).cast(),
            DML_OPERATOR_SLICE1 => ptr::from_ref(&slice1).cast(),
            _ => ptr::from_ref(&padding1).cast(),
        };
        let desc = DML_OPERATOR_DESC { Type: self.operator, Desc: desc };
        // SAFETY: all that is pointed at lives until here; arrays have eight values.
        unsafe { Operator::read(&raw const desc, &self.abilities) }
    }

    #[track_caller]
    fn refused(self, why: &str) {
        assert_eq!(self.read().expect_err(why).to_string(), why);
    }
}

#[test]
fn valid_descs_are_read_as_they_were_meant() {
    let slice = Case::slice().read().expect("it is valid");
    assert_eq!(slice.axes, [Axis::Steps { start: 1, step: 2 }, Axis::Steps { start: 2, step: 1 }]);
    assert_eq!((slice.input.sizes, slice.input.strides), (vec![4, 5], vec![5, 1]));
    assert_eq!((slice.output.element, slice.output.total_size), (2, 8));

    let slice1 = Case::slice1().read().expect("it is valid");
    assert_eq!(slice1.axes, [Axis::Steps { start: 3, step: -2 }, Axis::Steps { start: 1, step: 1 }]);

    let padding1 = Case::padding1().read().expect("it is valid");
    let axis = |before, size| Axis::Padding { mode: DML_PADDING_MODE_CONSTANT, before, size };
    assert_eq!(padding1.axes, [axis(1, 2), axis(0, 3)]);
    assert_eq!(padding1.value, [1, 2]);

    let strided = Case::slice().with(|case| {
        case.tensors[0].strides = values([0, 3]);
        case.tensors[0].flags = DML_TENSOR_FLAG_OWNED_BY_DML;
        case.tensors[1].alignment = 64;
    });
    let strided = strided.read().expect("it is valid");
    assert_eq!((strided.input.strides, strided.input.owned), (vec![0, 3], true));
    assert_eq!(strided.output.alignment, 64);
}

#[test]
fn extremes_are_valid_where_nothing_is_read_outside() {
    let least = Case::slice1().with(|case| {
        case.lists[2] = values([i32::MIN as u32, 1]);
        case.tensors[1].sizes = values([1, 4]);
    });
    assert_eq!(least.read().expect("it is valid").axes[0], Axis::Steps { start: 3, step: i32::MIN.into() });
    let greatest = Case::slice().with(|case| {
        case.lists = [values([3, 2]), values([1, 2]), values([u32::MAX, 1])];
        case.tensors[1].sizes = values([1, 2]);
    });
    assert!(greatest.read().is_ok());
}

#[test]
fn a_missing_part_is_refused() {
    Case::slice().with(|case| case.missing = true).refused("the operator's desc is null");
    Case::slice()
        .with(|case| case.operator = DML_OPERATOR_TYPE(1))
        .refused("no such operator is known at this feature level");
    Case::slice().with(|case| case.tensors[0].missing = true).refused("InputTensor: it is null");
    Case::slice().with(|case| case.tensors[1].sizes = None).refused("OutputTensor: it has no sizes");
    Case::slice()
        .with(|case| case.tensors[0].tensor_type = DML_TENSOR_TYPE_INVALID)
        .refused("InputTensor: its type is not BUFFER");
    for list in 0..3 {
        Case::slice().with(|case| case.lists[list] = None).refused("a list is null");
        Case::slice1().with(|case| case.lists[list] = None).refused("a list is null");
    }
    Case::padding1().with(|case| case.lists[1] = None).refused("a list is null");
}

#[test]
fn a_bad_tensor_is_refused() {
    let input = |change: fn(&mut Side)| Case::slice().with(|case| change(&mut case.tensors[0]));
    input(|side| side.sizes = values([0, 5])).refused("InputTensor: a size is 0");
    input(|side| side.sizes = values([1 << 16, 1 << 16]))
        .refused("InputTensor: it has 2^32 elements or more");
    input(|side| side.flags = DML_TENSOR_FLAGS(2)).refused("InputTensor: a flag has no name");
    input(|side| side.total = 36)
        .refused("InputTensor: its total size is too small for its sizes and strides");
    input(|side| side.strides = values([u32::MAX, u32::MAX]))
        .refused("InputTensor: its total size is too small for its sizes and strides");
    for alignment in [1, 3, 48] {
        let why = "InputTensor: its alignment is no power of two, or smaller than an element";
        Case::slice().with(|case| case.tensors[0].alignment = alignment).refused(why);
    }
    let both = |data_type| {
        Case::slice().with(|case| case.tensors.iter_mut().for_each(|side| side.data_type = data_type))
    };
    both(DML_TENSOR_DATA_TYPE_UINT4).refused("InputTensor: its elements have no size");
    both(DML_TENSOR_DATA_TYPE(-1)).refused("InputTensor: its elements have no size");
    let output = |change: fn(&mut Side)| Case::slice().with(|case| change(&mut case.tensors[1]));
    output(|side| side.flags = DML_TENSOR_FLAG_OWNED_BY_DML)
        .refused("OutputTensor: only an input can be owned");
    output(|side| side.strides = values([0, 1])).refused("OutputTensor: two elements share a place");
    output(|side| side.count = 9).refused("OutputTensor: it has more dimensions than any operator takes");
}

#[test]
fn parts_that_disagree_are_refused() {
    let counts = "the tensors and the operator differ in their counts of dimensions";
    Case::slice().with(|case| case.count = 3).refused(counts);
    Case::slice().with(|case| case.count = u32::MAX).refused(counts);
    Case::slice().with(|case| case.tensors[1].count = 1).refused(counts);
    Case::padding1()
        .with(|case| {
            case.tensors[0].data_type = DML_TENSOR_DATA_TYPE_FLOAT32;
            case.tensors[0].total = 1000;
        })
        .refused("the tensors differ in type");
    Case::padding1()
        .with(|case| case.value_type = DML_TENSOR_DATA_TYPE_FLOAT32)
        .refused("the value has another type than the tensors");
}

#[test]
fn reads_outside_and_sizes_that_do_not_fit_are_refused() {
    Case::slice().with(|case| case.lists[0] = values([2, 2])).refused("it reads beyond the input");
    Case::slice().with(|case| case.lists[2] = values([u32::MAX, 1])).refused("it reads beyond the input");
    Case::slice().with(|case| case.lists[1] = values([2, 1])).refused("Sizes are not the output's");
    Case::slice1().with(|case| case.lists[0] = values([1, 1])).refused("a window ends beyond the input");
    Case::slice1()
        .with(|case| case.lists[0] = values([u32::MAX, 1]))
        .refused("a window ends beyond the input");
    Case::slice1().with(|case| case.lists[1] = values([0, 4])).refused("a window is empty");
    Case::slice1().with(|case| case.lists[2] = values([0, 1])).refused("a stride is 0");
    Case::slice1()
        .with(|case| case.lists[2] = values([4, 1]))
        .refused("the output is larger than its window allows");
    let not_padded = "the output is not the padded input";
    Case::padding1().with(|case| case.lists[0] = values([0, 0])).refused(not_padded);
    Case::padding1().with(|case| case.lists[0] = values([u32::MAX, 0])).refused(not_padded);
    for mode in [-1, 5] {
        Case::padding1()
            .with(|case| case.mode = DML_PADDING_MODE(mode))
            .refused("no such mode is known at this feature level");
    }
}

#[test]
fn unsupported_features_are_refused() {
    let old = |case: Case| case.with(|case| case.abilities.level = DML_FEATURE_LEVEL_4_1);
    old(Case::padding1()).refused("no such operator is known at this feature level");
    assert!(old(Case::slice1()).read().is_ok());
    Case::slice()
        .with(|case| case.abilities.lacking = vec![DML_TENSOR_DATA_TYPE_INT16])
        .refused("the type is not supported");
    Case::slice()
        .with(|case| {
            case.count = 0;
            case.tensors.iter_mut().for_each(|side| side.count = 0);
        })
        .refused("so many dimensions are not supported");
}
