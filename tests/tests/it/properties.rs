//! Properties of moving elements. Each is tested on the oracle, and the hand-written reference must give the
//! same bytes: the two come from different readings of the same pages.

use dmlcts_backend::Operators;
use dmlcts_model::{BindingOffsets, DataType, Desc, FeatureLevel, List, Side, Tensor, Value, packed_strides};
use dmlcts_reference::Reference;
use dmlcts_spec::{Library, Scratch};
use proptest::prelude::*;

/// The content of output elements before a run.
const POISON: u8 = 0xA5;

/// Types of every width, by width.
const TYPES: [&[DataType]; 4] = [
    &[DataType::UINT8, DataType::INT8],
    &[DataType::FLOAT16, DataType::UINT16, DataType::INT16],
    &[DataType::FLOAT32, DataType::UINT32, DataType::INT32],
    &[DataType::FLOAT64, DataType::UINT64, DataType::INT64],
];

fn list(values: impl IntoIterator<Item = i64>) -> List {
    values.into_iter().collect()
}

/// A desc with packed tensors; `members` are set by name, in place of the defaults.
fn desc(
    operator: &str,
    data_type: DataType,
    input: List,
    output: List,
    members: impl IntoIterator<Item = (&'static str, Value)>,
) -> Desc {
    let operator = Library::embedded().operator(operator).expect("the library has the three operators");
    let tensors = [input, output].map(|sizes| Tensor::packed(data_type, sizes));
    let [input, output] = tensors;
    let mut desc = Desc::usual(operator.signature().clone(), input, output);
    for (name, value) in members {
        let place = desc.signature.position(name).expect("the operator has the member");
        desc.members[place] = value;
    }
    desc
}

fn size_in_bytes(desc: &Desc, side: Side) -> usize {
    usize::try_from(desc.tensor(side).expect("the tensor is there").total_size)
        .expect("the tensors are small")
}

/// The oracle's output; the reference's must be equal.
fn execute(desc: &Desc, input: &[u8]) -> Vec<u8> {
    let operator = Library::embedded().operator(&desc.signature.operator).expect("the operator is known");
    let mut scratch = Scratch::default();
    let valid = operator
        .judge_valid(desc, FeatureLevel::NEWEST, &mut scratch)
        .unwrap_or_else(|_| panic!("{desc:?} is invalid"));
    let mut input = input.to_vec();
    input.resize(size_in_bytes(desc, Side::Input), 0);
    let mut output = vec![POISON; size_in_bytes(desc, Side::Output)];
    operator.plan(valid, 0, &mut scratch).expect("a plan").execute(&input, &mut output).expect("an output");

    let mut reference = Reference::new();
    let mut created = reference.create(desc).expect("the reference accepts what is valid");
    let mut again = vec![POISON; output.len()];
    reference.run(&mut created, BindingOffsets::default(), &input, &mut again).expect("the reference runs");
    assert_eq!(output, again, "oracle and reference differ on {desc:?}");
    output
}

/// Bytes without a pattern, so that a wrong element is unlikely to look right.
fn noise(desc: &Desc) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    (0..size_in_bytes(desc, Side::Input))
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        })
        .collect()
}

/// One axis of SLICE1: input size, offset, window, stride, output size.
#[derive(Debug, Clone, Copy)]
struct WindowAxis {
    input: i64,
    offset: i64,
    window: i64,
    stride: i64,
    output: i64,
}

/// A valid window into `input` elements.
fn window_axis(input: i64) -> impl Strategy<Value = WindowAxis> {
    (0..input)
        .prop_flat_map(move |offset| (Just(offset), 1..=input - offset, 1..=4_i64, any::<bool>()))
        .prop_flat_map(move |(offset, window, magnitude, negative)| {
            let stride = if negative { -magnitude } else { magnitude };
            (1..=1 + (window - 1) / magnitude).prop_map(move |output| WindowAxis {
                input,
                offset,
                window,
                stride,
                output,
            })
        })
}

fn window_axes() -> impl Strategy<Value = Vec<WindowAxis>> {
    prop::collection::vec((1..=5_i64).prop_flat_map(window_axis), 1..=4)
}

fn slice1(data_type: DataType, axes: &[WindowAxis]) -> Desc {
    let column = |of: fn(&WindowAxis) -> i64| list(axes.iter().map(of));
    desc(
        "SLICE1",
        data_type,
        column(|axis| axis.input),
        column(|axis| axis.output),
        [
            ("InputWindowOffsets", Value::List(Some(column(|axis| axis.offset)))),
            ("InputWindowSizes", Value::List(Some(column(|axis| axis.window)))),
            ("InputWindowStrides", Value::List(Some(column(|axis| axis.stride)))),
        ],
    )
}

/// One axis of PADDING1: input size, start, end.
type PaddingAxis = (i64, i64, i64);

fn padding_axes() -> impl Strategy<Value = Vec<PaddingAxis>> {
    prop::collection::vec((1..=4_i64, 0..=7_i64, 0..=7_i64), 1..=3)
}

fn padding1(data_type: DataType, mode: i64, value: [u8; 8], axes: &[PaddingAxis]) -> Desc {
    let column = |of: fn(&PaddingAxis) -> i64| list(axes.iter().map(of));
    desc(
        "PADDING1",
        data_type,
        column(|axis| axis.0),
        column(|axis| axis.0 + axis.1 + axis.2),
        [
            ("PaddingMode", Value::Integer(mode)),
            ("PaddingValue", Value::Scalar(value)),
            ("StartPadding", Value::List(Some(column(|axis| axis.1)))),
            ("EndPadding", Value::List(Some(column(|axis| axis.2)))),
        ],
    )
}

/// SLICE with the offsets, output sizes and absolute strides of these axes, which keep it inside the input,
/// too.
fn slice(data_type: DataType, axes: &[WindowAxis]) -> Desc {
    let column = |of: fn(&WindowAxis) -> i64| list(axes.iter().map(of));
    desc(
        "SLICE",
        data_type,
        column(|axis| axis.input),
        column(|axis| axis.output),
        [
            ("Offsets", Value::List(Some(column(|axis| axis.offset)))),
            ("Sizes", Value::List(Some(column(|axis| axis.output)))),
            ("Strides", Value::List(Some(column(|axis| axis.stride.abs())))),
        ],
    )
}

fn data_type() -> impl Strategy<Value = DataType> {
    prop::sample::select(TYPES.concat())
}

/// The elements of a packed tensor with its axes in another order: axis `i` of the result is axis `order[i]`.
fn permute_elements(bytes: &[u8], sizes: &[i64], order: &[usize], width: usize) -> Vec<u8> {
    let strides = packed_strides(sizes);
    let permuted: Vec<i64> = order.iter().map(|&axis| sizes[axis]).collect();
    let count: i64 = sizes.iter().product();
    let mut result = Vec::with_capacity(bytes.len());
    for index in 0..count {
        let mut rest = index;
        let mut from = 0;
        for (place, &axis) in order.iter().enumerate().rev() {
            from += rest % permuted[place] * strides[axis];
            rest /= permuted[place];
        }
        let start = usize::try_from(from).expect("offsets are not negative") * width;
        result.extend_from_slice(&bytes[start..start + width]);
    }
    result
}

fn permute<T: Copy>(axes: &[T], order: &[usize]) -> Vec<T> {
    order.iter().map(|&axis| axes[axis]).collect()
}

/// Permuting the input's axes and then moving is equal to moving and then permuting the output's axes.
fn commute(desc: &Desc, permuted: &Desc, order: &[usize], width: usize) -> Result<(), TestCaseError> {
    let input = noise(desc);
    let sizes = |side| desc.tensor(side).and_then(|tensor| tensor.sizes.clone()).expect("sizes");
    let before = execute(permuted, &permute_elements(&input, &sizes(Side::Input), order, width));
    let after = permute_elements(&execute(desc, &input), &sizes(Side::Output), order, width);
    prop_assert_eq!(&before[..after.len()], &after);
    Ok(())
}

/// Strides of an output with `gap` more elements after each row and each larger block.
fn gapped_strides(sizes: &[i64], gap: i64) -> List {
    let mut strides = List::from_elem(1, sizes.len());
    for axis in (1..sizes.len()).rev() {
        strides[axis - 1] = strides[axis] * sizes[axis] + gap;
    }
    strides
}

fn set_strides(desc: &mut Desc, side: Side, strides: List) {
    let tensor = desc.tensor_mut(side).expect("the tensor is there");
    tensor.strides = Some(strides);
    tensor.total_size = tensor.usual_total_size();
}

/// The offsets of a tensor's elements in memory, in the order of their coordinates.
fn offsets(sizes: &[i64], strides: &[i64]) -> Vec<usize> {
    sizes.iter().zip(strides).fold(vec![0], |offsets, (&size, &stride)| {
        offsets
            .iter()
            .flat_map(|&offset| (0..size).map(move |c| offset + usize::try_from(c * stride).expect("small")))
            .collect()
    })
}

proptest! {
    #[test]
    fn slices_agree(axes in window_axes(), data_type in data_type()) {
        let desc = slice1(data_type, &axes);
        execute(&desc, &noise(&desc));
    }

    #[test]
    fn slice_is_slice1_with_positive_strides(axes in window_axes(), data_type in data_type()) {
        let axes: Vec<_> =
            axes.into_iter().map(|axis| WindowAxis { stride: axis.stride.abs(), ..axis }).collect();
        let [older, newer] = [slice(data_type, &axes), slice1(data_type, &axes)];
        let input = noise(&older);
        prop_assert_eq!(execute(&older, &input), execute(&newer, &input));
    }

    #[test]
    fn paddings_agree(axes in padding_axes(), data_type in data_type(), mode in 0..=4_i64, value: [u8; 8]) {
        let desc = padding1(data_type, mode, value, &axes);
        execute(&desc, &noise(&desc));
    }

    #[test]
    fn slice_after_slice_is_the_composed_slice(
        pairs in prop::collection::vec(
            (1..=6_i64).prop_flat_map(window_axis).prop_flat_map(|first| (Just(first), window_axis(first.output))),
            1..=3,
        ),
        data_type in data_type(),
    ) {
        let (first, second): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        let [first_desc, second_desc] = [slice1(data_type, &first), slice1(data_type, &second)];
        let input = noise(&first_desc);
        let twice = execute(&second_desc, &execute(&first_desc, &input));

        // On each axis, one window that starts at the source of the second slice's first element and ends
        // with the source of its last one.
        let composed: Vec<_> = first.iter().zip(&second).map(|(a, b)| {
            let start = |axis: &WindowAxis| axis.offset + if axis.stride < 0 { axis.window - 1 } else { 0 };
            let from = start(a) + a.stride * start(b);
            let stride = a.stride * b.stride;
            let to = from + stride * (b.output - 1);
            WindowAxis {
                input: a.input,
                offset: from.min(to),
                window: (from - to).abs() + 1,
                stride,
                output: b.output,
            }
        }).collect();
        prop_assert_eq!(twice, execute(&slice1(data_type, &composed), &input));
    }

    #[test]
    fn slicing_the_interior_of_a_padding_gives_the_input(
        axes in padding_axes(), data_type in data_type(), mode in 0..=4_i64, value: [u8; 8],
    ) {
        let desc = padding1(data_type, mode, value, &axes);
        let input = noise(&desc);
        let interior: Vec<_> = axes.iter().map(|&(size, start, end)| WindowAxis {
            input: size + start + end, offset: start, window: size, stride: 1, output: size,
        }).collect();
        let back = execute(&slice1(data_type, &interior), &execute(&desc, &input));
        let width = data_type.element_size().expect("whole bytes");
        let bytes = usize::try_from(axes.iter().map(|axis| axis.0).product::<i64>()).expect("small") * width;
        prop_assert_eq!(&back[..bytes], &input[..bytes]);
    }

    #[test]
    fn reversing_twice_gives_the_input(
        axes in prop::collection::vec((1..=5_i64, any::<bool>()), 1..=4), data_type in data_type(),
    ) {
        let axes: Vec<_> = axes.into_iter().map(|(size, reversed)| WindowAxis {
            input: size, offset: 0, window: size, stride: if reversed { -1 } else { 1 }, output: size,
        }).collect();
        let desc = slice1(data_type, &axes);
        let input = noise(&desc);
        let once = execute(&desc, &input);
        let bytes = usize::try_from(axes.iter().map(|axis| axis.input).product::<i64>()).expect("small")
            * data_type.element_size().expect("whole bytes");
        prop_assert_eq!(&execute(&desc, &once)[..bytes], &input[..bytes]);
        if axes.iter().any(|axis| axis.input > 1 && axis.stride < 0) {
            prop_assert_ne!(&once[..bytes], &input[..bytes]);
        }
    }

    #[test]
    fn permuting_the_axes_of_a_slice_commutes(
        (axes, order) in window_axes().prop_flat_map(|axes| {
            let order: Vec<usize> = (0..axes.len()).collect();
            (Just(axes), Just(order).prop_shuffle())
        }),
        data_type in data_type(),
    ) {
        let permuted_axes = permute(&axes, &order);
        let width = data_type.element_size().expect("whole bytes");
        let pairs = [
            (slice1(data_type, &axes), slice1(data_type, &permuted_axes)),
            (slice(data_type, &axes), slice(data_type, &permuted_axes)),
        ];
        for (desc, permuted) in pairs {
            commute(&desc, &permuted, &order, width)?;
        }
    }

    #[test]
    fn permuting_the_axes_of_a_padding_commutes(
        (axes, order) in padding_axes().prop_flat_map(|axes| {
            let order: Vec<usize> = (0..axes.len()).collect();
            (Just(axes), Just(order).prop_shuffle())
        }),
        data_type in data_type(), mode in 0..=4_i64, value: [u8; 8],
    ) {
        let width = data_type.element_size().expect("whole bytes");
        let desc = padding1(data_type, mode, value, &axes);
        let permuted = padding1(data_type, mode, value, &permute(&axes, &order));
        commute(&desc, &permuted, &order, width)?;
    }

    #[test]
    fn types_of_one_width_move_the_same_bits(
        padded in padding_axes(), sliced in window_axes(), mode in 0..=4_i64, value: [u8; 8],
        width in 0..TYPES.len(),
    ) {
        let makers: [&dyn Fn(DataType) -> Desc; 3] = [
            &|data_type| padding1(data_type, mode, value, &padded),
            &|data_type| slice1(data_type, &sliced),
            &|data_type| slice(data_type, &sliced),
        ];
        for make in makers {
            let outputs: Vec<_> = TYPES[width].iter().map(|&data_type| {
                let desc = make(data_type);
                execute(&desc, &noise(&desc))
            }).collect();
            prop_assert!(outputs.windows(2).all(|pair| pair[0] == pair[1]));
        }
    }

    #[test]
    fn strides_change_where_elements_lie_and_nothing_else(
        axes in window_axes(), data_type in data_type(), gaps in (0..=3_i64, 0..=3_i64),
    ) {
        let width = data_type.element_size().expect("whole bytes");
        let packed = slice1(data_type, &axes);
        let input = noise(&packed);
        let expected = execute(&packed, &input);

        let sizes: Vec<List> = Side::BOTH
            .iter()
            .map(|&side| packed.tensor(side).and_then(|tensor| tensor.sizes.clone()).expect("sizes"))
            .collect();
        let strides = [gapped_strides(&sizes[0], gaps.0), gapped_strides(&sizes[1], gaps.1)];
        let mut strided = packed;
        set_strides(&mut strided, Side::Input, strides[0].clone());
        set_strides(&mut strided, Side::Output, strides[1].clone());
        let mut spread = vec![0x5A; size_in_bytes(&strided, Side::Input)];
        for (index, offset) in offsets(&sizes[0], &strides[0]).into_iter().enumerate() {
            spread[offset * width..][..width].copy_from_slice(&input[index * width..][..width]);
        }
        let mut output = execute(&strided, &spread);
        for (index, offset) in offsets(&sizes[1], &strides[1]).into_iter().enumerate() {
            let element = &mut output[offset * width..][..width];
            prop_assert_eq!(&*element, &expected[index * width..][..width]);
            element.fill(POISON);
        }
        prop_assert!(output.iter().all(|&byte| byte == POISON), "something was written between the elements");
    }
}
