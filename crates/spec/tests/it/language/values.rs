//! Examples of values that are easy to get wrong.

use dmlcts_model::{DataType, Desc, List, Tensor, Value};
use dmlcts_spec::{
    expression::{Position, parse},
    program::{Builder, Evaluation, Inputs, OpId, Values},
};
use smallvec::smallvec;

use super::fixture::{LEVEL, desc, fold, scope};

/// Compiles for a position, evaluates, and passes both to a closure.
fn with<T>(text: &str, place: Position, desc: &Desc, use_it: impl FnOnce(&Evaluation<'_>, OpId) -> T) -> T {
    let term = scope().check(&parse(text).unwrap(), place).unwrap();
    let mut builder = Builder::new(fold());
    let root = builder.add(&term);
    let program = builder.finish();
    use_it(&program.evaluate(Inputs::new(desc, LEVEL), &mut Values::default()), root)
}

fn once(text: &str, desc: &Desc) -> Option<i128> {
    with(text, Position::Once, desc, |evaluation, root| evaluation.integer(root, 0))
}

fn holds(text: &str, desc: &Desc) -> Option<bool> {
    with(text, Position::Once, desc, |evaluation, root| {
        let verdict = evaluation.verdict(root);
        assert_eq!(verdict == Some(true), evaluation.mask(root).truth == 1, "{text}");
        verdict
    })
}

fn axes(text: &str, desc: &Desc) -> Option<Vec<Option<i128>>> {
    with(text, Position::EachAxis, desc, |evaluation, root| {
        let lanes = evaluation.lanes(root)?;
        Some((0..lanes).map(|lane| evaluation.integer(root, lane)).collect())
    })
}

#[test]
fn quotients_round_down_and_remainders_are_never_negative() {
    let desc = desc(&[1, 1, 1, 1], &[1; 4], &[0; 4], &[7, -7, 6, -6]);
    assert_eq!(axes("WindowStrides / 3", &desc), Some(vec![Some(2), Some(-3), Some(2), Some(-2)]));
    assert_eq!(axes("WindowStrides mod 3", &desc), Some(vec![Some(1), Some(2), Some(0), Some(0)]));
    assert_eq!(axes("WindowStrides / -3", &desc), Some(vec![Some(-3), Some(2), Some(-2), Some(2)]));
    assert_eq!(axes("WindowStrides mod -3", &desc), Some(vec![Some(1), Some(2), Some(0), Some(0)]));
    assert_eq!(axes("align(WindowStrides, 4)", &desc), Some(vec![Some(8), Some(-4), Some(8), Some(-4)]));
}

#[test]
fn a_quotient_by_zero_is_undefined_on_its_axis_alone() {
    let desc = desc(&[4, 4], &[1, 1], &[0, 0], &[2, 0]);
    assert_eq!(axes("InputTensor.Sizes / WindowStrides", &desc), Some(vec![Some(2), None]));
    assert_eq!(
        axes("if WindowStrides == 0 then 9 else 8 / WindowStrides", &desc),
        Some(vec![Some(4), Some(9)])
    );
    // Kleene logic: a false operand decides, whatever else is undefined.
    assert_eq!(holds("all axes 4 / WindowStrides == 2", &desc), None);
    assert_eq!(holds("all axes 4 / WindowStrides == 3", &desc), Some(false));
    assert_eq!(holds("any axis 4 / WindowStrides == 2", &desc), Some(true));
    assert_eq!(holds("any axis (WindowStrides == 0 or 4 / WindowStrides == 1)", &desc), Some(true));
}

#[test]
fn sums_and_products_are_mathematical() {
    let all = i64::from(u32::MAX);
    let desc = desc(&[all; 8], &[1; 8], &[all; 8], &[i64::from(i32::MIN); 8]);
    let most = i128::from(u32::MAX);
    assert_eq!(once("sum axes InputTensor.Sizes * Offsets", &desc), Some(8 * most * most));
    assert_eq!(once("product axes InputTensor.Sizes", &desc), Some(i128::MAX));
    assert_eq!(holds("product axes InputTensor.Sizes < 2^32", &desc), Some(false));
    assert_eq!(axes("magnitude", &desc).unwrap()[0], Some(1 << 31));
    assert_eq!(axes("abs(WindowStrides) * Offsets", &desc).unwrap()[7], Some((1 << 31) * most));
}

#[test]
fn total_sizes_above_63_bits_are_held() {
    let mut desc = desc(&[1], &[1], &[0], &[1]);
    desc.input.as_mut().unwrap().total_size = u64::MAX;
    assert_eq!(once("InputTensor.TotalTensorSizeInBytes + 1", &desc), Some(1 << 64));
    assert_eq!(holds("InputTensor.TotalTensorSizeInBytes == 2^64 - 1", &desc), Some(true));
}

#[test]
fn values_beyond_their_members_type_do_not_wrap() {
    // A desc can hold them, and ranges prove that 64 bits are enough for 32-bit members.
    let desc = desc(&[1], &[1], &[i64::MAX], &[i64::MIN]);
    assert_eq!(axes("Offsets + Offsets", &desc), Some(vec![Some(2 * i128::from(i64::MAX))]));
    assert_eq!(axes("-WindowStrides", &desc), Some(vec![Some(-i128::from(i64::MIN))]));
}

#[test]
fn axes_are_judged_where_the_lists_agree() {
    let mut desc = desc(&[2, 3], &[4, 5, 6], &[0, 0], &[1, 1]);
    assert_eq!(axes("InputTensor.Sizes + Offsets", &desc), Some(vec![Some(2), Some(3)]));
    assert_eq!(axes("InputTensor.Sizes + OutputTensor.Sizes", &desc), None);
    assert_eq!(holds("any axis InputTensor.Sizes == OutputTensor.Sizes", &desc), None);
    assert_eq!(once("sum axes OutputTensor.Sizes", &desc), Some(15));
    desc.members[7] = Value::List(None);
    assert_eq!(axes("InputTensor.Sizes + Offsets", &desc), None);
    assert_eq!(holds("present(Offsets) or length(WindowStrides) == rank", &desc), Some(true));
    assert_eq!(once("length(Offsets)", &desc), None);
    desc.members[7] = Value::List(Some(smallvec![1; 9]));
    assert_eq!(once("length(Offsets)", &desc), Some(9));
    assert_eq!(axes("Offsets", &desc), None);
}

#[test]
fn a_scalar_desc_has_no_axes() {
    let desc = desc(&[], &[], &[], &[]);
    assert_eq!(holds("all axes Offsets == 7", &desc), Some(true));
    assert_eq!(holds("any axis Offsets == 7", &desc), Some(false));
    assert_eq!(once("sum axes Offsets", &desc), Some(0));
    assert_eq!(once("product axes Offsets", &desc), Some(1));
}

#[test]
fn strides_that_are_left_out_are_packed() {
    let mut desc = desc(&[2, 3, 4], &[1; 3], &[0; 3], &[1; 3]);
    assert_eq!(axes("InputTensor.Strides", &desc), Some(vec![Some(12), Some(4), Some(1)]));
    assert_eq!(once("length(InputTensor.Strides)", &desc), Some(3));
    assert_eq!(holds("present(InputTensor.Strides)", &desc), Some(false));
    assert_eq!(once("1 + sum axes (InputTensor.Sizes - 1) * InputTensor.Strides", &desc), Some(24));
    desc.input.as_mut().unwrap().strides = Some(smallvec![0, 0, 5]);
    assert_eq!(axes("InputTensor.Strides", &desc), Some(vec![Some(0), Some(0), Some(5)]));
    assert_eq!(once("1 + sum axes (InputTensor.Sizes - 1) * InputTensor.Strides", &desc), Some(16));
}

#[test]
fn null_tensors_have_no_fields_and_four_bits_no_size() {
    let mut desc = desc(&[2], &[2], &[0], &[1]);
    assert_eq!(once("InputTensor.ElementSize", &desc), Some(4));
    desc.input.as_mut().unwrap().data_type = DataType::INT4;
    assert_eq!(once("InputTensor.ElementSize", &desc), None);
    desc.input = None;
    assert_eq!(once("rank", &desc), None);
    assert_eq!(holds("InputTensor.DataType == FLOAT32", &desc), None);
    assert_eq!(holds("present(InputTensor)", &desc), Some(false));
    assert_eq!(holds("present(InputTensor) and InputTensor.DataType == FLOAT32", &desc), Some(false));
}

#[test]
fn an_output_that_overlaps_is_noticed() {
    let mut desc = desc(&[2, 3], &[2, 3], &[0; 2], &[1; 2]);
    assert_eq!(holds("overlaps(OutputTensor)", &desc), Some(false));
    let mut strided = Tensor::packed(DataType::FLOAT32, List::from_slice(&[2, 3]));
    strided.strides = Some(smallvec![1, 1]);
    desc.output = Some(strided);
    assert_eq!(holds("overlaps(OutputTensor)", &desc), Some(true));
}

/// A desc may hold a code without a name, and a case line can contain it.
#[test]
fn enumerations_and_data_types_compare_with_bare_codes() {
    let mut desc = desc(&[4], &[4], &[0], &[1]);
    for (code, expected) in [(1, [true, true, true, false]), (99, [false, true, false, true])] {
        let mode = desc.signature.position("PaddingMode").expect("a member");
        desc.members[mode] = Value::Integer(code);
        let texts =
            ["PaddingMode == 1", "PaddingMode != 0", "1 == PaddingMode", "PaddingMode in [99, CONSTANT]"];
        for (text, expected) in texts.into_iter().zip(expected) {
            assert_eq!(holds(text, &desc), Some(expected), "{text} of {code}");
        }
    }
    assert_eq!(holds("InputTensor.DataType == 1 and InputTensor.DataType != 0x40", &desc), Some(true));
    assert_eq!(holds("PaddingMode == -1", &desc), Some(false));
}

#[test]
fn levels_are_in_order() {
    let desc = desc(&[1], &[1], &[0], &[1]);
    assert_eq!(holds("level >= 6.4", &desc), Some(true));
    assert_eq!(holds("level in [2.1, 3.0]", &desc), Some(false));
}

#[test]
fn a_read_is_split_into_a_coordinate_and_where_it_is_fill() {
    let expression = parse("if 0 <= at < InputTensor.Sizes then at else fill").unwrap();
    let mut builder = Builder::new(fold());
    let read = builder.add_read(&scope().read(&expression).unwrap());
    let program = builder.finish();
    let desc = desc(&[9, 3], &[9, 8], &[0, 2], &[1, 1]);
    let mut values = Values::default();
    let mut evaluation = program.evaluate(Inputs::new(&desc, LEVEL), &mut values);
    evaluation.at_coordinates(1, 0);
    assert_eq!(evaluation.mask(read.fill.unwrap()).truth, 0b1110_0011);
    assert_eq!(evaluation.row(read.coordinate), Some(&[-2, -1, 0, 1, 2, 3, 4, 5]));
}

#[test]
fn comparisons_tell_their_edges() {
    let desc = desc(&[3, 4, 5], &[4, 4, 4], &[0; 3], &[1; 3]);
    let edges = |text: &str| {
        with(text, Position::EachAxis, &desc, |evaluation, root| {
            (evaluation.lane_mask(root), evaluation.edge(root))
        })
    };
    assert_eq!(edges("InputTensor.Sizes <= OutputTensor.Sizes"), (0b111, 0b010));
    assert_eq!(edges("InputTensor.Sizes < OutputTensor.Sizes"), (0b111, 0b001));
    assert_eq!(edges("InputTensor.Sizes != OutputTensor.Sizes"), (0b111, 0b101));
    assert_eq!(edges("InputTensor.Sizes == OutputTensor.Sizes"), (0b111, 0b010));
}

#[test]
fn what_expressions_share_is_computed_once() {
    let scope = scope();
    let mut builder = Builder::new(fold());
    let mut add = |text: &str| {
        let term = scope.check(&parse(text).unwrap(), Position::EachAxis).unwrap();
        builder.add(&term)
    };
    assert_eq!(add("1 + magnitude * 2"), add("2 * abs(WindowStrides) + 1"));
    let before = add("Offsets < Limit");
    let after = add("not (Offsets < Limit)");
    assert_eq!(after.index(), before.index() + 1);
}

#[test]
fn the_bytes_that_an_element_leaves_of_a_scalar_are_spare() {
    let mut desc = desc(&[2], &[2], &[0], &[1]);
    let position = desc.signature.position("Value").unwrap();
    desc.members[position] = Value::Scalar([1, 2, 3, 4, 5, 6, 7, 8]);
    for (data_type, spare) in [
        (DataType::INT64, Some(0)),
        (DataType::FLOAT32, Some(0x0807_0605)),
        (DataType::FLOAT16, Some(0x0807_0605_0403)),
        (DataType::UINT8, Some(0x08_0706_0504_0302)),
        (DataType::UINT4, None),
    ] {
        desc.output.as_mut().unwrap().data_type = data_type;
        assert_eq!(once("spare(Value)", &desc), spare, "{data_type}");
    }
    desc.output = None;
    assert_eq!(once("spare(Value)", &desc), None);
    for (text, message) in [
        ("spare(OutputTensor) == 0", "`spare` takes a scalar, which `OutputTensor` is not"),
        ("length(Value) == 0", "`length` takes a list, which `Value` is not"),
    ] {
        let mistake = scope().check(&parse(text).unwrap(), Position::Once).unwrap_err();
        assert_eq!(mistake.message, message);
    }
}
