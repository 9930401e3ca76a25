//! Properties of every expression on every desc.

use std::{cell::Cell, sync::Arc};

use dmlcts_model::{DataType, Desc, List, Value};
use dmlcts_spec::{
    expression::{Expression, Position, parse},
    program::{Builder, Evaluation, Findings, Inputs, Memory, OpId, Rules, Values},
};
use proptest::prelude::*;

use super::{
    fixture::{self, LEVEL, fold, scope},
    generator::{Where, condition, desc, integer},
    naive::Environment,
};

/// One lane of an operation, as the naive interpreter computes it.
fn lane(evaluation: &Evaluation<'_>, id: OpId, is_condition: bool, lane: usize) -> Option<i128> {
    if !is_condition {
        return evaluation.integer(id, lane);
    }
    let mask = evaluation.mask(id);
    (mask.defined >> lane & 1 == 1).then_some(i128::from(mask.truth >> lane & 1))
}

/// Compares an expression's values on every lane.
fn agrees(expression: &Expression, place: Where, descs: &[Desc]) -> Result<(), TestCaseError> {
    let place_of_check = match place {
        Where::Once => Position::Once,
        Where::EachAxis => Position::EachAxis,
        Where::Read => Position::Definition,
    };
    let term = scope().check(expression, place_of_check);
    let term = term.map_err(|mistake| TestCaseError::fail(format!("{expression}: {mistake}")))?;
    let mut builder = Builder::new(fold());
    let root = builder.add(&term);
    let program = builder.finish();
    let is_condition = program.op(root).is_condition;
    let mut values = Values::default();
    for desc in descs {
        let mut evaluation = program.evaluate(Inputs::new(desc, LEVEL), &mut values);
        let environment = |c: i64| Environment { desc, level: LEVEL.code(), c, passed: Cell::new(false) };
        if !term.per_axis {
            let environment = environment(0);
            let expected = environment.value(expression, 0);
            let found = lane(&evaluation, root, is_condition, 0);
            prop_assert!(
                found == expected || environment.passed.get(),
                "{}: {:?}, not {:?}",
                expression,
                found,
                expected
            );
        } else if !term.uses_coordinate {
            let lanes = environment(0).lanes(expression);
            prop_assert_eq!(evaluation.lanes(root), lanes, "lanes of {}", expression);
            for axis in 0..lanes.unwrap_or(0) {
                let environment = environment(0);
                let expected = environment.value(expression, axis);
                let found = lane(&evaluation, root, is_condition, axis);
                prop_assert!(
                    found == expected || environment.passed.get(),
                    "{} on axis {}: {:?}, not {:?}",
                    expression,
                    axis,
                    found,
                    expected
                );
            }
        } else {
            // If the lists disagree, or on a missing axis, the value is unspecified.
            let lanes = environment(0).lanes(expression).unwrap_or(0);
            for (axis, first) in [(0, 0), (1, 8), (0, i64::from(u32::MAX)), (2, i64::MAX - 7)] {
                if axis >= lanes {
                    continue;
                }
                evaluation.at_coordinates(axis, first);
                for step in 0..8 {
                    let environment = environment(first + step);
                    let expected = environment.value(expression, axis);
                    let found = lane(&evaluation, root, is_condition, step as usize);
                    prop_assert!(
                        found == expected || environment.passed.get(),
                        "{} at {}: {:?}, not {:?}",
                        expression,
                        first + step,
                        found,
                        expected
                    );
                }
            }
        }
    }
    Ok(())
}

fn descs() -> impl Strategy<Value = Vec<Desc>> {
    prop::collection::vec(desc(), 6)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn conditions_once_a_desc_are_as_the_naive_interpreter_has_them(
        expression in condition(Where::Once, 3, true), descs in descs()
    ) {
        agrees(&expression, Where::Once, &descs)?;
    }

    #[test]
    fn conditions_on_axes_are_as_the_naive_interpreter_has_them(
        expression in condition(Where::EachAxis, 3, false), descs in descs()
    ) {
        agrees(&expression, Where::EachAxis, &descs)?;
    }

    #[test]
    fn integers_on_axes_are_as_the_naive_interpreter_has_them(
        expression in integer(Where::EachAxis, 3, true), descs in descs()
    ) {
        agrees(&expression, Where::EachAxis, &descs)?;
    }

    #[test]
    fn values_at_coordinates_are_as_the_naive_interpreter_has_them(
        expression in integer(Where::Read, 3, false), descs in descs()
    ) {
        agrees(&expression, Where::Read, &descs)?;
    }

    #[test]
    fn what_is_remembered_of_a_shape_changes_no_finding(
        clauses in prop::collection::vec((condition(Where::Once, 2, true), condition(Where::EachAxis, 2, false)), 1..4),
        descs in descs()
    ) {
        let scope = scope();
        let mut builder = Builder::new(fold());
        let mut ids = Vec::new();
        for (once, each_axis) in &clauses {
            ids.push(builder.add(&scope.check(once, Position::Once).unwrap()));
            ids.push(builder.add(&scope.check(each_axis, Position::EachAxis).unwrap()));
        }
        let program = builder.finish();
        let rules = Rules::new(&fold(), program.clone(), &ids, &ids);
        let mut memory = Memory::default();
        for desc in &descs {
            let mut values = Values::default();
            let evaluation = program.evaluate(Inputs::new(desc, LEVEL), &mut values);
            let verdict = |wanted| (0..ids.len()).filter(|&at| evaluation.verdict(ids[at]) == wanted).collect();
            let raised = (0..ids.len()).filter(|&at| evaluation.mask(ids[at]).truth != 0).collect();
            let fresh = rules.find(Inputs::new(desc, LEVEL), &mut Memory::default());
            let (kept, broken) = (verdict(Some(true)), verdict(Some(false)));
            prop_assert_eq!(fresh, Findings { kept, broken, raised, edges: fresh.edges });
            rules.find(Inputs::new(&twin(desc), LEVEL), &mut memory);
            prop_assert_eq!(rules.find(Inputs::new(desc, LEVEL), &mut memory), fresh);
        }
    }

    #[test]
    fn the_canonical_text_parses_to_the_same_expression(
        expression in prop_oneof![condition(Where::EachAxis, 4, true), integer(Where::Read, 4, true)]
    ) {
        let text = expression.to_string();
        let parsed = parse(&text);
        prop_assert_eq!(parsed.as_ref(), Ok(&expression), "{}", text);
        prop_assert_eq!(parsed.map(|parsed| parsed.to_string()), Ok(text));
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "\\PC{0,60}") {
        check_any(&text);
    }

    #[test]
    fn no_sequence_of_words_makes_the_checker_panic(words in prop::collection::vec(word(), 0..24)) {
        check_any(&words.join(" "));
    }
}

/// A tensor with the code 0 everywhere looks like a null tensor in a key that has no mark for null.
#[test]
fn a_null_tensor_is_not_remembered_as_one_of_code_0() {
    let (scope, mut builder) = (scope(), Builder::new(fold()));
    let condition = parse("clamp(0, OutputTensor.Flags, rank) == 2").unwrap();
    let on_axes = parse("axis != 0").unwrap();
    let ids = [
        builder.add(&scope.check(&condition, Position::Once).unwrap()),
        builder.add(&scope.check(&on_axes, Position::EachAxis).unwrap()),
    ];
    let program = builder.finish();
    let rules = Rules::new(&fold(), program, &ids, &ids);
    let mut memory = Memory::default();
    let mut zeros = fixture::desc(&[], &[], &[], &[]);
    for tensor in [&mut zeros.input, &mut zeros.output].into_iter().flatten() {
        (tensor.data_type, tensor.flags, tensor.alignment) = (DataType(0), 0, 0);
        (tensor.sizes, tensor.strides) = (Some(List::new()), Some(List::new()));
        (tensor.dimension_count, tensor.total_size) = (0, 0);
    }
    let mut null = zeros.clone();
    null.output = None;
    for desc in [&zeros, &null, &null] {
        let fresh = rules.find(Inputs::new(desc, LEVEL), &mut Memory::default());
        assert_eq!(rules.find(Inputs::new(desc, LEVEL), &mut memory), fresh);
    }
}

/// A desc with the same pointers, lengths and types, and other numbers.
fn twin(desc: &Desc) -> Desc {
    let mut twin = desc.clone();
    for tensor in [&mut twin.input, &mut twin.output].into_iter().flatten() {
        tensor.total_size = 4;
        [&mut tensor.sizes, &mut tensor.strides].into_iter().flatten().for_each(|list| list.fill(1));
    }
    for member in &mut twin.members {
        if let Value::List(Some(list)) = member {
            list.fill(1);
        }
    }
    twin
}

fn word() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(vec![
        "and",
        "or",
        "not",
        "mod",
        "if",
        "then",
        "else",
        "in",
        "any",
        "all",
        "sum",
        "product",
        "fill",
        "axis",
        "axes",
        "rank",
        "level",
        "c",
        "at",
        "Limit",
        "Offsets",
        "InputTensor",
        "InputTensor.Sizes",
        "Tensor.Sizes",
        "PaddingMode",
        "EDGE",
        "FLOAT32",
        "Value",
        "abs(",
        "clamp(",
        "min(",
        "length(",
        "present(",
        "overlaps(",
        "(",
        ")",
        "[",
        "]",
        ",",
        "+",
        "-",
        "*",
        "/",
        "==",
        "!=",
        "<",
        "<=",
        "^",
        "0",
        "7",
        "0x1F",
        "6.4",
        "2^32",
        "7x",
    ])
}

/// Parses and checks at every position; a mistake lies inside the text, on character boundaries.
fn check_any(text: &str) {
    let scope = scope();
    let names = dmlcts_spec::expression::CaseNames {
        operators: &Arc::new(dmlcts_model::Enumeration { name: "operator".into(), enumerators: Vec::new() }),
        scopes: &[&scope],
    };
    let mistakes = match parse(text) {
        Err(mistake) => vec![mistake],
        Ok(expression) => {
            let places = [Position::Once, Position::EachAxis, Position::Definition, Position::Read];
            let checked = places.map(|place| scope.check(&expression, place));
            let more = [scope.read(&expression), scope.predicate(names, &expression)];
            checked.into_iter().chain(more).filter_map(Result::err).collect()
        }
    };
    for mistake in mistakes {
        assert!(text.get(mistake.span.start..mistake.span.end).is_some(), "{text}: {mistake:?}");
    }
}
