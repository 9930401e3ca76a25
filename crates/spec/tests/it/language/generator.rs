//! Random expressions of the right types, and random descs of any content.

use dmlcts_model::{DataType, Desc, List, Tensor, Value};
use dmlcts_spec::expression::{Binary, Comparison, Expression, Form, Function, Logic, Quantifier, Span};
use proptest::prelude::*;

use super::fixture::fold;

/// The names that an expression may use.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Where {
    Once,
    EachAxis,
    /// As `EachAxis`, with `c`.
    Read,
}

fn new(form: Form) -> Expression {
    Expression::new(form, Span::default())
}

fn name(name: &str) -> Expression {
    new(Form::Name(name.to_owned()))
}

const ONCE: [&str; 9] = [
    "rank",
    "half",
    "Limit",
    "Shift",
    "DimensionCount",
    "InputTensor.TotalTensorSizeInBytes",
    "OutputTensor.ElementSize",
    "InputTensor.GuaranteedBaseOffsetAlignment",
    "OutputTensor.Flags",
];
const AXIS: [&str; 8] = [
    "axis",
    "magnitude",
    "Offsets",
    "WindowStrides",
    "InputTensor.Sizes",
    "InputTensor.Strides",
    "OutputTensor.Sizes",
    "OutputTensor.Strides",
];
const LISTS: [&str; 6] = [
    "Offsets",
    "WindowStrides",
    "InputTensor.Sizes",
    "InputTensor.Strides",
    "OutputTensor.Sizes",
    "OutputTensor.Strides",
];

/// Only names of integers.
fn leaf(place: Where) -> BoxedStrategy<Expression> {
    let literal = prop_oneof![
        6 => (0i128..12).prop_map(|value| new(Form::Integer(value))),
        1 => any::<u64>().prop_map(|value| new(Form::Integer(value.into()))),
        1 => (2i128..5, 0u32..40).prop_map(|(base, exponent)| new(Form::Power(base, exponent))),
    ];
    let once = proptest::sample::select(ONCE.to_vec()).prop_map(name);
    let length = proptest::sample::select(LISTS.to_vec())
        .prop_map(|list| new(Form::Call(Function::Length, vec![name(list)])));
    let axis = proptest::sample::select(AXIS.to_vec()).prop_map(name);
    let moving = proptest::sample::select(vec!["c", "at"]).prop_map(name);
    match place {
        Where::Once => prop_oneof![3 => literal, 4 => once, 1 => length].boxed(),
        Where::EachAxis => prop_oneof![3 => literal, 2 => once, 1 => length, 6 => axis].boxed(),
        Where::Read => prop_oneof![3 => literal, 2 => once, 1 => length, 4 => axis, 3 => moving].boxed(),
    }
}

/// An expression that names an axis, as a quantifier's operand must.
fn anchored(condition: bool, inner: Expression, anchor: &'static str) -> Expression {
    if condition {
        let zero = new(Form::Integer(0));
        let left = Box::new(name(anchor));
        let own = new(Form::Compare(left, vec![(Comparison::GreaterOrEqual, zero)]));
        new(Form::Logic(Logic::And, Box::new([inner, own])))
    } else {
        new(Form::Binary(Binary::Add, Box::new([inner, name(anchor)])))
    }
}

fn over(condition: bool, depth: u32) -> BoxedStrategy<Expression> {
    let inner = if condition {
        self::condition(Where::EachAxis, depth, false)
    } else {
        integer(Where::EachAxis, depth, false)
    };
    (inner, proptest::sample::select(AXIS.to_vec()), any::<bool>())
        .prop_map(move |(inner, anchor, first)| {
            let quantifier = match (condition, first) {
                (true, true) => Quantifier::Any,
                (true, false) => Quantifier::All,
                (false, true) => Quantifier::Sum,
                (false, false) => Quantifier::Product,
            };
            new(Form::Over(quantifier, Box::new(anchored(condition, inner, anchor))))
        })
        .boxed()
}

const BINARIES: [Binary; 8] = [
    Binary::Add,
    Binary::Subtract,
    Binary::Multiply,
    Binary::Divide,
    Binary::Modulo,
    Binary::Minimum,
    Binary::Maximum,
    Binary::Align,
];

/// An integer expression; with `gathers`, it may hold quantifiers.
pub(crate) fn integer(place: Where, depth: u32, gathers: bool) -> BoxedStrategy<Expression> {
    if depth == 0 {
        return leaf(place);
    }
    let part = move || integer(place, depth - 1, gathers);
    let test = move || condition(place, depth - 1, gathers);
    let binary = (proptest::sample::select(BINARIES.to_vec()), part(), part())
        .prop_map(|(binary, a, b)| new(Form::Binary(binary, Box::new([a, b]))));
    let plain = prop_oneof![
        3 => leaf(place),
        8 => binary,
        1 => part().prop_map(|a| new(Form::Negate(Box::new(a)))),
        1 => part().prop_map(|a| new(Form::Call(Function::Absolute, vec![a]))),
        1 => [part(), part(), part()].prop_map(|parts| new(Form::Call(Function::Clamp, parts.into()))),
        2 => (test(), part(), part()).prop_map(|(a, b, c)| new(Form::If(Box::new([a, b, c])))),
    ];
    if gathers { prop_oneof![8 => plain, 1 => over(false, depth - 1)].boxed() } else { plain.boxed() }
}

/// A condition.
pub(crate) fn condition(place: Where, depth: u32, gathers: bool) -> BoxedStrategy<Expression> {
    let comparison = || {
        proptest::sample::select(vec![
            Comparison::Equal,
            Comparison::NotEqual,
            Comparison::Less,
            Comparison::LessOrEqual,
            Comparison::Greater,
            Comparison::GreaterOrEqual,
        ])
    };
    let part = move || integer(place, depth.saturating_sub(1), gathers);
    let compare = (part(), prop::collection::vec((comparison(), part()), 1..3))
        .prop_map(|(first, rest)| new(Form::Compare(Box::new(first), rest)));
    let within = (part(), prop::collection::vec(part(), 1..4))
        .prop_map(|(a, members)| new(Form::In(Box::new(a), members)));
    let mode = || proptest::sample::select(vec!["PaddingMode", "CONSTANT", "REFLECTION"]).prop_map(name);
    let modes = (mode(), prop::collection::vec(mode(), 1..3))
        .prop_map(|(a, members)| new(Form::In(Box::new(a), members)));
    let kinds = prop_oneof![Just(Comparison::Equal), Just(Comparison::NotEqual)];
    let types = ["ValueDataType", "InputTensor.DataType", "OutputTensor.DataType", "FLOAT16", "FLOAT32"];
    let kind = move || proptest::sample::select(types.to_vec()).prop_map(name);
    let types = (kind(), kinds, kind())
        .prop_map(|(a, comparison, b)| new(Form::Compare(Box::new(a), vec![(comparison, b)])));
    let pointers: Vec<_> = LISTS.into_iter().chain(["InputTensor", "OutputTensor"]).collect();
    let present = proptest::sample::select(pointers)
        .prop_map(|list| new(Form::Call(Function::Present, vec![name(list)])));
    let overlaps = Just(new(Form::Call(Function::Overlaps, vec![name("OutputTensor")])));
    let simple = prop_oneof![12 => compare, 3 => within, 1 => modes, 1 => types, 1 => present, 1 => overlaps];
    if depth == 0 {
        return simple.boxed();
    }
    let test = move || condition(place, depth - 1, gathers);
    let logic = prop_oneof![Just(Logic::And), Just(Logic::Or)];
    let plain = prop_oneof![
        4 => simple,
        2 => (logic, test(), test()).prop_map(|(logic, a, b)| new(Form::Logic(logic, Box::new([a, b])))),
        1 => test().prop_map(|a| new(Form::Not(Box::new(a)))),
        1 => (test(), test(), test()).prop_map(|(a, b, c)| new(Form::If(Box::new([a, b, c])))),
        1 => (test(), test()).prop_map(|(a, b)| new(Form::Compare(Box::new(a), vec![(Comparison::Equal, b)]))),
    ];
    if gathers { prop_oneof![6 => plain, 1 => over(true, depth - 1)].boxed() } else { plain.boxed() }
}

fn word(signed: bool) -> BoxedStrategy<i64> {
    let small = if signed { -3i64..9 } else { 0..9 };
    let wide = if signed { i64::from(i32::MIN)..=i64::from(i32::MAX) } else { 0..=i64::from(u32::MAX) };
    let ends = vec![*wide.start(), *wide.end()];
    // Beyond the range of the struct: a desc can carry it.
    let beyond = any::<i64>();
    prop_oneof![40 => small, 4 => wide, 4 => proptest::sample::select(ends), 1 => beyond].boxed()
}

fn list(rank: usize, signed: bool) -> BoxedStrategy<Option<List>> {
    let rank = prop_oneof![12 => Just(rank..=rank), 1 => Just(0..=9usize)];
    let values = rank.prop_flat_map(move |rank| prop::collection::vec(word(signed), rank));
    prop_oneof![15 => values.prop_map(|list| Some(list.into())), 1 => Just(None)].boxed()
}

fn tensor(rank: usize) -> BoxedStrategy<Option<Tensor>> {
    let total = prop_oneof![4 => 0u64..64, 1 => any::<u64>()];
    let strides = prop_oneof![list(rank, false), Just(None)];
    let tensor = (0u32..15, 0u32..3, 0u32..9, list(rank, false), strides, total, 0u32..40).prop_map(
        |(data_type, flags, dimension_count, sizes, strides, total_size, alignment)| Tensor {
            data_type: DataType(data_type),
            flags,
            dimension_count,
            sizes,
            strides,
            total_size,
            alignment,
        },
    );
    prop_oneof![20 => tensor.prop_map(Some), 1 => Just(None)].boxed()
}

/// Any desc of the fixture's operator.
pub(crate) fn desc() -> impl Strategy<Value = Desc> {
    (0usize..=8).prop_flat_map(|rank| {
        let lists = (list(rank, false), list(rank, true));
        let integers = (-1i64..5, 0i64..14, 0i64..9, word(false), word(true));
        (tensor(rank), tensor(rank), lists, integers).prop_map(
            |(input, output, (offsets, strides), (mode, data_type, count, limit, shift))| {
                let members = [
                    Value::Integer(mode),
                    Value::Integer(0),
                    Value::Integer(data_type),
                    Value::Scalar([0; 8]),
                    Value::Integer(count),
                    Value::Integer(limit),
                    Value::Integer(shift),
                    Value::List(offsets),
                    Value::List(strides),
                ];
                Desc { signature: fold(), input, output, members: members.into_iter().collect() }
            },
        )
    })
}
