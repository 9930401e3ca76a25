//! Conditions near a condition: a little weaker, at its bounds, and just beyond them. Cases for which these
//! hold show best whether the condition is right.

use dmlcts_spec::expression::{Binary, Comparison, Expression, Form, Function, Logic, parse};

/// The operands of an expression's outermost `and`s.
pub(crate) fn conjuncts(expression: Expression) -> Vec<Expression> {
    match expression.form {
        Form::Logic(Logic::And, pair) => pair.into_iter().flat_map(conjuncts).collect(),
        form => vec![Expression::new(form, expression.span)],
    }
}

/// A condition, each time without one operand of its outermost `and`s.
pub(crate) fn lacking(condition: &str) -> Vec<String> {
    let Ok(expression) = parse(condition) else { return Vec::new() };
    let parts: Vec<&str> =
        conjuncts(expression).iter().map(|one| &condition[one.span.start..one.span.end]).collect();
    let without = |place: usize| {
        let mut others = parts.clone();
        others.remove(place);
        // At the end, a quantifier needs no parentheses.
        if let Some(last) = others.last_mut()
            && let Some(bare) = last.strip_prefix('(').and_then(|part| part.strip_suffix(')'))
            && ["any axis ", "all axes ", "not any "].iter().any(|start| bare.starts_with(start))
        {
            *last = bare;
        }
        others.join(" and ")
    };
    if parts.len() > 1 { (0..parts.len()).map(without).collect() } else { Vec::new() }
}

/// The expression in weaker forms: each lacks one operand of an `and`, or has one comparison that is a step
/// wider.
pub(crate) fn weaker(expression: &Expression) -> Vec<Expression> {
    let with = |form: Form| Expression::new(form, expression.span);
    match &expression.form {
        Form::Logic(Logic::And, _) => {
            let all = conjuncts(expression.clone());
            let places = 0..all.len();
            let without = places.clone().map(|place| {
                let others = all.iter().enumerate().filter(|(other, _)| *other != place);
                others.map(|(_, one)| one.clone()).collect::<Vec<_>>()
            });
            let wider = places.flat_map(|place| {
                let all = &all;
                let with = move |one| [&all[..place], &[one], &all[place + 1..]].concat();
                weaker(&all[place]).into_iter().map(with)
            });
            let joined = |all: Vec<Expression>| {
                all.into_iter().reduce(|one, other| with(Form::Logic(Logic::And, Box::new([one, other]))))
            };
            without.chain(wider).filter_map(joined).collect()
        }
        Form::Compare(left, rest) => {
            let [(comparison, right)] = rest.as_slice() else { return Vec::new() };
            let step = |by: Binary| {
                let one = Expression::new(Form::Integer(1), right.span);
                let right = Expression::new(Form::Binary(by, Box::new([right.clone(), one])), right.span);
                with(Form::Compare(left.clone(), vec![(*comparison, right)]))
            };
            match comparison {
                Comparison::Less | Comparison::LessOrEqual => vec![step(Binary::Add)],
                Comparison::Greater | Comparison::GreaterOrEqual => vec![step(Binary::Subtract)],
                Comparison::Equal => vec![step(Binary::Add), step(Binary::Subtract)],
                Comparison::NotEqual => Vec::new(),
            }
        }
        _ => with_each_part(expression, &weaker),
    }
}

/// The expression in forms that hold at a bound alone: in each, one comparison with a number holds for the
/// number that is nearest to its bound, or for the next one.
pub(crate) fn at_bounds(expression: &Expression) -> Vec<Expression> {
    with_each_bound(expression, &|left, comparison, number| {
        let nearest = match comparison {
            Comparison::Less => [number - 1, number - 2],
            Comparison::LessOrEqual => [number, number - 1],
            Comparison::Greater => [number + 1, number + 2],
            Comparison::GreaterOrEqual => [number, number + 1],
            Comparison::NotEqual => [number - 1, number + 1],
            Comparison::Equal => return Vec::new(),
        };
        nearest.map(|number| between(left, number, number)).into()
    })
}

/// The expression in forms that hold just beyond a bound alone. A product has few of the numbers there, so
/// that the forms of a large bound are wider.
pub(crate) fn beyond_bounds(expression: &Expression) -> Vec<Expression> {
    with_each_bound(expression, &|left, comparison, number| {
        let width = (number.abs() / 16).max(4);
        let (least, most) = match comparison {
            Comparison::Less => (number, number + width - 1),
            Comparison::LessOrEqual => (number + 1, number + width),
            Comparison::Greater => (number - width + 1, number),
            Comparison::GreaterOrEqual => (number - width, number - 1),
            Comparison::Equal | Comparison::NotEqual => return Vec::new(),
        };
        vec![between(left, least, most)]
    })
}

/// `least <= left <= most`.
fn between(left: &Expression, least: i128, most: i128) -> Expression {
    let number = |number| Expression::new(Form::Integer(number), left.span);
    let chain = vec![(Comparison::LessOrEqual, left.clone()), (Comparison::LessOrEqual, number(most))];
    Expression::new(Form::Compare(Box::new(number(least)), chain), left.span)
}

/// The expression with one comparison replaced by each expression that `of` makes of it. Where two terms are
/// compared, their difference is compared with 0.
fn with_each_bound(
    expression: &Expression,
    of: &dyn Fn(&Expression, Comparison, i128) -> Vec<Expression>,
) -> Vec<Expression> {
    match &expression.form {
        Form::Logic(Logic::Or, _) => Vec::new(),
        Form::Compare(left, rest) => match rest.as_slice() {
            [(comparison, Expression { form: Form::Integer(number), .. })] => of(left, *comparison, *number),
            // Names have no difference.
            [(Comparison::Equal | Comparison::NotEqual, _)] => Vec::new(),
            [(comparison, right)] => {
                let pair = Box::new([(**left).clone(), right.clone()]);
                of(&Expression::new(Form::Binary(Binary::Subtract, pair), left.span), *comparison, 0)
            }
            _ => Vec::new(),
        },
        _ => with_each_part(expression, &|part| with_each_bound(part, of)),
    }
}

/// The expression with one of its parts replaced by each expression that `of` makes of it. A part is one of
/// two joined conditions, or the condition on the axes.
fn with_each_part(expression: &Expression, of: &dyn Fn(&Expression) -> Vec<Expression>) -> Vec<Expression> {
    let with = |form: Form| Expression::new(form, expression.span);
    match &expression.form {
        Form::Logic(logic, pair) => {
            let [one, other] = &**pair;
            let left = of(one).into_iter().map(|one| [one, other.clone()]);
            let right = of(other).into_iter().map(|other| [one.clone(), other]);
            left.chain(right).map(|pair| with(Form::Logic(*logic, Box::new(pair)))).collect()
        }
        Form::Over(quantifier, body) if quantifier.is_condition() => {
            let bodies = of(body).into_iter();
            bodies.map(|body| with(Form::Over(*quantifier, Box::new(body)))).collect()
        }
        Form::Call(of_axis @ (Function::First | Function::Last), arguments) => {
            let bodies = arguments.iter().flat_map(of);
            bodies.map(|body| with(Form::Call(*of_axis, vec![body]))).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_at_a_bound_has_the_two_numbers_next_to_it() {
        let of = |text: &str| -> Vec<String> {
            let expression = parse(text).expect(text);
            at_bounds(&expression).iter().map(ToString::to_string).collect()
        };
        assert_eq!(of("any axis Sizes >= 5"), ["any axis 5 <= Sizes <= 5", "any axis 6 <= Sizes <= 6"]);
        assert_eq!(
            of("rank < 3 and modes != 2"),
            [
                "2 <= rank <= 2 and modes != 2",
                "1 <= rank <= 1 and modes != 2",
                "rank < 3 and 1 <= modes <= 1",
                "rank < 3 and 3 <= modes <= 3"
            ]
        );
        assert_eq!(
            of("Sizes > previous(Sizes)"),
            ["1 <= Sizes - previous(Sizes) <= 1", "2 <= Sizes - previous(Sizes) <= 2"]
        );
        assert!(of("rank == 3").is_empty());
    }

    #[test]
    fn beyond_a_bound_are_the_numbers_next_to_it_and_more_for_a_large_one() {
        let of = |text: &str| -> Vec<String> {
            let expression = parse(text).expect(text);
            beyond_bounds(&expression).iter().map(ToString::to_string).collect()
        };
        assert_eq!(
            of("rank > 7 and any axis Sizes < 128"),
            ["4 <= rank <= 7 and any axis Sizes < 128", "rank > 7 and any axis 128 <= Sizes <= 135"]
        );
        assert_eq!(of("Sizes >= 104"), ["98 <= Sizes <= 103"]);
        assert_eq!(of("Sizes <= 104"), ["105 <= Sizes <= 110"]);
        assert!(of("rank == 3").is_empty());
    }

    #[test]
    fn a_condition_may_lack_each_of_its_parts() {
        let all = "rank > 2 and (any axis (Sizes > 1 and Strides > 2)) and all axes Sizes < 9";
        let expected = [
            "(any axis (Sizes > 1 and Strides > 2)) and all axes Sizes < 9",
            "rank > 2 and all axes Sizes < 9",
            "rank > 2 and any axis (Sizes > 1 and Strides > 2)",
        ];
        assert_eq!(lacking(all), expected);
        assert!(lacking("rank > 2").is_empty());
    }

    #[test]
    fn a_weaker_rule_lacks_a_condition_or_is_a_step_wider() {
        let of = |text: &str| -> Vec<String> {
            let expression = parse(text).expect(text);
            weaker(&expression).iter().map(ToString::to_string).collect()
        };
        assert_eq!(of("rank == 3"), ["rank == 3 + 1", "rank == 3 - 1"]);
        assert_eq!(of("any axis Sizes >= 5"), ["any axis Sizes >= 5 - 1"]);
        assert_eq!(
            of("rank > 1 and DataType != INT8 and any axis Sizes != 2"),
            [
                "DataType != INT8 and any axis Sizes != 2",
                "rank > 1 and any axis Sizes != 2",
                "rank > 1 and DataType != INT8",
                "rank > 1 - 1 and DataType != INT8 and any axis Sizes != 2"
            ]
        );
        assert!(of("moves(nan)").is_empty());
    }
}
