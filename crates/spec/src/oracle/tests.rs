//! Plans and executes reads of every form, and compares them with a tree walk over mathematical integers.

use std::sync::Arc;

use dmlcts_model::{DataType, Desc, FeatureLevel, List, Member, MemberKind, Signature, Tensor, Value};
use proptest::prelude::*;
use smallvec::smallvec;

use super::{Memory, Oracle, OracleError, read::CompiledRead};
use crate::expression::{Position, Scope, parse};

/// An expression, as the tests generate it.
#[derive(Debug, Clone)]
enum Tree {
    Coordinate,
    Number(i128),
    /// The value of list member `A`.
    Member,
    Negate(Box<Tree>),
    Absolute(Box<Tree>),
    Binary(&'static str, Box<[Tree; 2]>),
    Clamp(Box<[Tree; 3]>),
    If(Box<Condition>, Box<[Tree; 2]>),
}

#[derive(Debug, Clone)]
enum Condition {
    Compare(&'static str, Tree, Tree),
    Not(Box<Condition>),
    Logic(&'static str, Box<[Condition; 2]>),
    In(Tree, Vec<i128>),
}

impl Tree {
    fn text(&self) -> String {
        match self {
            Self::Coordinate => "c".into(),
            Self::Number(number) if *number < 0 => format!("(-{})", number.unsigned_abs()),
            Self::Number(number) => number.to_string(),
            Self::Member => "A".into(),
            Self::Negate(a) => format!("(-{})", a.text()),
            Self::Absolute(a) => format!("abs({})", a.text()),
            Self::Binary(function @ ("min" | "max" | "align"), pair) => {
                format!("{function}({}, {})", pair[0].text(), pair[1].text())
            }
            Self::Binary(sign, pair) => format!("({} {sign} {})", pair[0].text(), pair[1].text()),
            Self::Clamp(parts) => {
                format!("clamp({}, {}, {})", parts[0].text(), parts[1].text(), parts[2].text())
            }
            Self::If(condition, pair) => {
                format!("(if {} then {} else {})", condition.text(), pair[0].text(), pair[1].text())
            }
        }
    }

    /// The value; `None` is undefined.
    fn value(&self, c: i128, a: i128) -> Option<i128> {
        let of = |tree: &Self| tree.value(c, a);
        Some(match self {
            Self::Coordinate => c,
            Self::Number(number) => *number,
            Self::Member => a,
            Self::Negate(tree) => -of(tree)?,
            Self::Absolute(tree) => of(tree)?.abs(),
            Self::Binary(sign, pair) => {
                let (x, y) = (of(&pair[0])?, of(&pair[1])?);
                match *sign {
                    "+" => x + y,
                    "-" => x - y,
                    "*" => x.saturating_mul(y),
                    "min" => x.min(y),
                    "max" => x.max(y),
                    _ if y == 0 => return None,
                    "/" => (x - x.rem_euclid(y)) / y - i128::from(y < 0 && x.rem_euclid(y) != 0),
                    "mod" => x.rem_euclid(y),
                    _ => x + (-x).rem_euclid(y),
                }
            }
            Self::Clamp(parts) => of(&parts[0])?.max(of(&parts[1])?).min(of(&parts[2])?),
            Self::If(condition, pair) => {
                let taken = if condition.holds(c, a)? { &pair[0] } else { &pair[1] };
                of(taken)?
            }
        })
    }
}

impl Condition {
    fn text(&self) -> String {
        match self {
            Self::Compare(sign, a, b) => format!("({} {sign} {})", a.text(), b.text()),
            Self::Not(condition) => format!("(not {})", condition.text()),
            Self::Logic(word, pair) => format!("({} {word} {})", pair[0].text(), pair[1].text()),
            Self::In(tree, numbers) => {
                let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
                format!("({} in [{}])", tree.text(), numbers.join(", "))
            }
        }
    }

    fn holds(&self, c: i128, a: i128) -> Option<bool> {
        Some(match self {
            Self::Compare(sign, x, y) => {
                let (x, y) = (x.value(c, a)?, y.value(c, a)?);
                match *sign {
                    "<" => x < y,
                    "<=" => x <= y,
                    ">" => x > y,
                    ">=" => x >= y,
                    "==" => x == y,
                    _ => x != y,
                }
            }
            Self::Not(condition) => !condition.holds(c, a)?,
            Self::Logic(word, pair) => {
                let decisive = *word == "or";
                match (pair[0].holds(c, a), pair[1].holds(c, a)) {
                    (Some(x), _) | (_, Some(x)) if x == decisive => decisive,
                    (Some(_), Some(y)) if y == decisive => decisive,
                    (Some(_), Some(_)) => !decisive,
                    _ => return None,
                }
            }
            Self::In(tree, numbers) => numbers.contains(&tree.value(c, a)?),
        })
    }
}

fn any_tree() -> impl Strategy<Value = Tree> {
    let number = prop_oneof![
        8 => -12..40_i128,
        1 => prop::sample::select(vec![1_i128 << 31, 1 << 33, (1 << 62) + 1, -(1 << 63)]),
    ];
    let leaf = prop_oneof![
        3 => Just(Tree::Coordinate),
        2 => number.prop_map(Tree::Number),
        1 => Just(Tree::Member),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let pair = |tree: BoxedStrategy<Tree>| (tree.clone(), tree).prop_map(|(a, b)| Box::new([a, b]));
        let tree = inner.boxed();
        let sign =
            prop::sample::select(vec!["+", "-", "+", "-", "*", "/", "mod", "mod", "min", "max", "align"]);
        let comparison =
            (prop::sample::select(vec!["<", "<=", ">", ">=", "==", "!="]), tree.clone(), tree.clone());
        let condition = prop_oneof![
            6 => comparison.prop_map(|(sign, a, b)| Condition::Compare(sign, a, b)),
            1 => (tree.clone(), prop::collection::vec(0..70_i128, 1..4))
                .prop_map(|(tree, numbers)| Condition::In(tree, numbers)),
        ];
        let condition = condition.prop_recursive(2, 4, 2, |inner| {
            prop_oneof![
                inner.clone().prop_map(|condition| Condition::Not(Box::new(condition))),
                (prop::sample::select(vec!["and", "or"]), inner.clone(), inner)
                    .prop_map(|(word, a, b)| Condition::Logic(word, Box::new([a, b]))),
            ]
        });
        prop_oneof![
            1 => tree.clone().prop_map(|a| Tree::Negate(Box::new(a))),
            1 => tree.clone().prop_map(|a| Tree::Absolute(Box::new(a))),
            6 => (sign, pair(tree.clone())).prop_map(|(sign, pair)| Tree::Binary(sign, pair)),
            1 => (tree.clone(), tree.clone(), tree.clone())
                .prop_map(|(a, b, c)| Tree::Clamp(Box::new([a, b, c]))),
            2 => (condition, pair(tree)).prop_map(|(condition, pair)| Tree::If(Box::new(condition), pair)),
        ]
    })
}

fn signature() -> Arc<Signature> {
    Arc::new(Signature {
        operator: "READS".into(),
        members: vec![Member { name: "A".into(), kind: MemberKind::I32List }],
    })
}

/// The oracle of one read.
fn oracle(text: &str) -> Oracle {
    let signature = signature();
    let scope = Scope::new(Arc::clone(&signature));
    let expression = parse(text).unwrap_or_else(|mistake| panic!("{text}: {mistake:?}"));
    let term = scope.read(&expression).unwrap_or_else(|mistake| panic!("{text}: {mistake:?}"));
    let compiled = CompiledRead::new(&signature, &term, None);
    Oracle { by: None, branches: vec![(None, compiled)], alternatives: Vec::new(), fill: None }
}

fn desc(input: &[i64], output: &[i64], a: i64) -> Desc {
    let tensor = |sizes: &[i64]| Tensor::packed(DataType::UINT32, List::from_slice(sizes));
    let mut desc = Desc::usual(signature(), tensor(input), tensor(output));
    desc.members[0] = Value::List(Some(List::from_elem(a, input.len())));
    desc
}

/// Executes a read of rank 1. Each element of the input holds its coordinate; `None` is fill.
fn executed(oracle: &Oracle, input: i64, output: i64, a: i64) -> Result<Vec<Option<i64>>, OracleError> {
    const FILL: u32 = u32::MAX;
    let desc = desc(&[input], &[output], a);
    let mut memory = Memory::default();
    let mut plan = oracle.plan(&desc, FeatureLevel::NEWEST, 0, &mut memory)?;
    plan.fill = [0xFF; 8];
    let bytes: Vec<u8> = (0..input as u32).flat_map(u32::to_le_bytes).collect();
    let mut found = vec![0xEE; output as usize * 4];
    plan.execute(&bytes, &mut found)?;
    let elements = found.as_chunks().0.iter().map(|&bytes| u32::from_le_bytes(bytes));
    let elements: Vec<_> = elements.map(|element| (element != FILL).then_some(i64::from(element))).collect();
    for (c, element) in elements.iter().enumerate() {
        let source = plan.source(&[c as i64])?;
        assert_eq!(source.map(|source| source[0]), *element, "the source of {c}");
    }
    Ok(elements)
}

/// The expected result, by a tree walk at each coordinate. `fills` is the condition for fill.
fn walked(
    tree: &Tree,
    fills: Option<&Condition>,
    input: i64,
    output: i64,
    a: i64,
) -> Result<Vec<Option<i64>>, OracleError> {
    let read = |c: i64| {
        let undefined = OracleError::Undefined { axis: 0, coordinate: c as u64 };
        let (x, y) = (i128::from(c), i128::from(a));
        if fills.map_or(Some(false), |fills| fills.holds(x, y)).ok_or_else(|| undefined.clone())? {
            return Ok(None);
        }
        let read = tree.value(x, y).ok_or(undefined)?;
        if (0..i128::from(input)).contains(&read) {
            return Ok(Some(read as i64));
        }
        let coordinate = c as u64;
        Err(OracleError::OutsideInput { axis: 0, coordinate, read: 0, size: input as u64 })
    };
    (0..output).map(read).collect()
}

/// Drops the coordinate of a read outside the input, because the oracle saturates it at 64 bits.
fn without_read(error: OracleError) -> OracleError {
    match error {
        OracleError::OutsideInput { axis, coordinate, size, .. } => {
            OracleError::OutsideInput { axis, coordinate, read: 0, size }
        }
        other => other,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_read_is_what_a_tree_walk_gives(
        tree in any_tree(),
        shape in 0..5_u8,
        input in 1..50_i64,
        // Long outputs are evaluated at the ends of lines.
        output in prop_oneof![1 => 1..20_i64, 3 => 64..400_i64],
        a in -9..30_i64,
    ) {
        // Most trees leave the input at once. These forms stay inside, as the operators' reads do.
        let number = |value: i64| Tree::Number(value.into());
        let (text, tree, fills) = match shape {
            0 => (tree.text(), tree, None),
            1 => {
                let tree = Tree::Binary("mod", Box::new([tree, number(input)]));
                (tree.text(), tree, None)
            }
            2 | 3 => {
                let tree = Tree::Clamp(Box::new([tree, number(0), number(input - 1)]));
                (tree.text(), tree, None)
            }
            _ => {
                let inside = Condition::Logic("and", Box::new([
                    Condition::Compare("<=", number(0), tree.clone()),
                    Condition::Compare("<", tree.clone(), number(input)),
                ]));
                let text = format!("if {} then {} else fill", inside.text(), tree.text());
                (text, tree, Some(Condition::Not(Box::new(inside))))
            }
        };
        let expected = walked(&tree, fills.as_ref(), input, output, a);
        let found = executed(&oracle(&text), input, output, a).map_err(without_read);
        prop_assert_eq!(found, expected, "{}", text);
    }
}

#[test]
fn a_long_axis_waits_for_the_output_before_it_takes_time() {
    let most = i64::from(u32::MAX);
    for (text, input) in [("c", most), ("c / 2", most), ("if 5 <= c < 105 then c - 5 else fill", 100)] {
        let oracle = oracle(text);
        let desc = desc(&[input], &[most], 0);
        let mut memory = Memory::default();
        let mut plan = oracle.plan(&desc, FeatureLevel::NEWEST, 0, &mut memory).unwrap();
        assert!(plan.source(&[most - 1]).unwrap().is_some() || text.ends_with("fill"), "{text}");
        let short = plan.execute(&[0; 4096], &mut [0; 64]);
        assert!(matches!(short, Err(OracleError::ShortOutput { .. })), "{text}");
    }
}

#[test]
fn a_long_axis_is_executed_block_by_block() {
    const LONG: usize = 150_000;
    let oracle = oracle("if c == 1 then fill else c / 2");
    for strides in [[3, 1], [1, LONG]] {
        let mut desc = desc(&[LONG as i64 / 2, 2], &[LONG as i64, 3], 0);
        desc.output.as_mut().unwrap().strides = Some(strides.iter().map(|&stride| stride as i64).collect());
        let mut memory = Memory::default();
        let mut plan = oracle.plan(&desc, FeatureLevel::NEWEST, 0, &mut memory).unwrap();
        plan.fill = [0xFF; 8];
        let input: Vec<u8> = (0..LONG as u32).flat_map(u32::to_le_bytes).collect();
        let mut output = vec![0xEE; 4 * 3 * LONG];
        plan.execute(&input, &mut output).unwrap();
        for (a, b) in (0..LONG).flat_map(|a| (0..3).map(move |b| (a, b))) {
            let expected = if a == 1 || b == 1 { u32::MAX } else { (a / 2 * 2 + b / 2) as u32 };
            let at = 4 * (a * strides[0] + b * strides[1]);
            assert_eq!(output[at..at + 4], expected.to_le_bytes(), "{a}, {b} with strides {strides:?}");
        }
    }
}

#[test]
fn an_alternative_reading_replaces_the_read_where_its_question_arises() {
    let mut oracle = oracle("2 * c");
    let signature = signature();
    let scope = Scope::new(Arc::clone(&signature));
    let read = scope.read(&parse("9 - c").unwrap()).unwrap();
    let when = scope.condition(&parse("A == 1").unwrap(), Position::EachAxis).unwrap();
    oracle.alternatives.push(CompiledRead::new(&signature, &read, Some(&when)));
    let mut desc = desc(&[10, 10], &[3, 4], 0);
    desc.members[0] = Value::List(Some(smallvec![0, 1]));
    let mut memory = Memory::default();
    for (reading, expected) in [(0, [4, 2]), (1, [4, 8])] {
        let mut plan = oracle.plan(&desc, FeatureLevel::NEWEST, reading, &mut memory).unwrap();
        let source = plan.source(&[2, 1]).unwrap();
        assert_eq!(source.as_deref(), Some(expected.as_slice()), "reading {reading}");
    }
    let missing = oracle.plan(&desc, FeatureLevel::NEWEST, 2, &mut memory).map(|_| ());
    assert_eq!(missing, Err(OracleError::NoReading(2)));
}

#[test]
fn what_cannot_be_read_is_named() {
    let errors = |text: &str| executed(&oracle(text), 4, 8, 0).unwrap_err().to_string();
    insta::assert_snapshot!(errors("c"), @"output coordinate 4 reads coordinate 4 on axis 0, where the input has 4");
    insta::assert_snapshot!(errors("3 - 2 * c"), @"output coordinate 2 reads coordinate -1 on axis 0, where the input has 4");
    insta::assert_snapshot!(errors("2 / (c - 3)"), @"output coordinate 0 reads coordinate -1 on axis 0, where the input has 4");
    insta::assert_snapshot!(errors("(2 / (3 - c)) mod 4"), @"what output coordinate 3 reads on axis 0 is undefined");
}
