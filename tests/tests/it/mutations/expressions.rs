//! The changes of one expression: each replaces or leaves out one of its parts.

use dmlcts_spec::expression::{Binary, Comparison, Expression, Form, Function, Logic, Quantifier};

use super::changes::Kind;

const COMPARISONS: [Comparison; 6] = [
    Comparison::Equal,
    Comparison::NotEqual,
    Comparison::Less,
    Comparison::LessOrEqual,
    Comparison::Greater,
    Comparison::GreaterOrEqual,
];

/// Every change of an expression, with the kind of the part that it replaces.
pub(crate) fn changed(expression: &Expression) -> Vec<(Kind, Expression)> {
    let with = |form| Expression::new(form, expression.span);
    let mut all: Vec<_> = replaced(expression).into_iter().map(|(kind, form)| (kind, with(form))).collect();
    for place in 0.. {
        let mut form = expression.form.clone();
        let Some(part) = part(&mut form, place) else { break };
        for (kind, other) in changed(part) {
            let mut form = expression.form.clone();
            if let Some(part) = self::part(&mut form, place) {
                *part = other;
            }
            all.push((kind, with(form)));
        }
    }
    all
}

/// The direct part at an index, from left to right.
fn part(form: &mut Form, place: usize) -> Option<&mut Expression> {
    match form {
        Form::Integer(_) | Form::Power(..) | Form::Level(_) | Form::Name(_) | Form::Fill => None,
        Form::Negate(a) | Form::Not(a) | Form::Over(_, a) => (place == 0).then_some(a),
        Form::Binary(_, pair) | Form::Logic(_, pair) => pair.get_mut(place),
        Form::Compare(first, rest) => match place.checked_sub(1) {
            None => Some(first),
            Some(place) => rest.get_mut(place).map(|(_, part)| part),
        },
        Form::In(a, members) => match place.checked_sub(1) {
            None => Some(a),
            Some(place) => members.get_mut(place),
        },
        Form::If(parts) => parts.get_mut(place),
        Form::Call(_, arguments) => arguments.get_mut(place),
    }
}

/// The replacements for the outermost part of an expression.
fn replaced(expression: &Expression) -> Vec<(Kind, Form)> {
    match &expression.form {
        Form::Integer(value) => constants(*value),
        // Another exponent makes the largest change, and a step of one the smallest.
        Form::Power(base, exponent) => {
            let step = |binary| {
                let one = Expression::new(Form::Integer(1), expression.span);
                (Kind::Constant, Form::Binary(binary, Box::new([expression.clone(), one])))
            };
            let other = [exponent - 1, exponent + 1].map(|other| (Kind::Constant, Form::Power(*base, other)));
            let zero = (Kind::Constant, Form::Integer(0));
            [step(Binary::Subtract), step(Binary::Add), zero].into_iter().chain(other).collect()
        }
        Form::Negate(a) | Form::Not(a) => vec![(Kind::Operator, a.form.clone())],
        Form::Binary(binary, pair) => {
            let others = others(*binary).iter();
            let others = others.map(|other| (Kind::Operator, Form::Binary(*other, pair.clone())));
            let sides = pair.iter().map(|side| (Kind::Operand, side.form.clone()));
            others.chain(sides).collect()
        }
        Form::Logic(logic, pair) => {
            let other = if *logic == Logic::And { Logic::Or } else { Logic::And };
            let other = (Kind::Operator, Form::Logic(other, pair.clone()));
            let sides = pair.iter().map(|side| (Kind::Operand, side.form.clone()));
            std::iter::once(other).chain(sides).collect()
        }
        Form::Compare(first, rest) => compared(first, rest),
        Form::In(a, members) => {
            let less = (0..members.len()).map(|place| {
                let mut members = members.clone();
                members.remove(place);
                (Kind::Operand, Form::In(a.clone(), members))
            });
            less.collect()
        }
        Form::If(parts) => parts[1..].iter().map(|part| (Kind::Branch, part.form.clone())).collect(),
        Form::Call(function, arguments) => called(expression, *function, arguments),
        Form::Over(quantifier, a) => {
            let other = match quantifier {
                Quantifier::Any => Quantifier::All,
                Quantifier::All => Quantifier::Any,
                Quantifier::Sum => Quantifier::Product,
                Quantifier::Product => Quantifier::Sum,
            };
            vec![(Kind::Operator, Form::Over(other, a.clone()))]
        }
        Form::Level(_) | Form::Name(_) | Form::Fill => Vec::new(),
    }
}

/// The changes of a literal: one more, one less, and 0.
fn constants(value: i128) -> Vec<(Kind, Form)> {
    let mut others = vec![value + 1, value - 1, 0];
    others.dedup();
    let others = others.into_iter().filter(|other| *other != value && (*other >= 0 || value == 0));
    let form = |value: i128| {
        let span = dmlcts_spec::expression::Span::new(0, 0);
        let magnitude = Form::Integer(value.abs());
        if value < 0 { Form::Negate(Box::new(Expression::new(magnitude, span))) } else { magnitude }
    };
    others.map(|other| (Kind::Constant, form(other))).collect()
}

/// The operations that are most easily mistaken for this one.
fn others(binary: Binary) -> &'static [Binary] {
    match binary {
        Binary::Add => &[Binary::Subtract, Binary::Multiply],
        Binary::Subtract => &[Binary::Add],
        Binary::Multiply => &[Binary::Add, Binary::Divide],
        Binary::Divide => &[Binary::Multiply, Binary::Modulo],
        Binary::Modulo => &[Binary::Divide, Binary::Multiply],
        Binary::Minimum => &[Binary::Maximum],
        Binary::Maximum | Binary::Align => &[Binary::Minimum],
    }
}

/// Each comparison replaced by every other one, and each end of a chain left out.
fn compared(first: &Expression, rest: &[(Comparison, Expression)]) -> Vec<(Kind, Form)> {
    let mut all = Vec::new();
    for place in 0..rest.len() {
        for other in COMPARISONS.into_iter().filter(|other| *other != rest[place].0) {
            let mut rest = rest.to_vec();
            rest[place].0 = other;
            all.push((Kind::Comparison, Form::Compare(Box::new(first.clone()), rest)));
        }
    }
    if let [(_, second), others @ ..] = rest
        && !others.is_empty()
    {
        all.push((Kind::Operand, Form::Compare(Box::new(second.clone()), others.to_vec())));
        let shorter = rest[..rest.len() - 1].to_vec();
        all.push((Kind::Operand, Form::Compare(Box::new(first.clone()), shorter)));
    }
    all
}

fn called(whole: &Expression, function: Function, arguments: &[Expression]) -> Vec<(Kind, Form)> {
    match (function, arguments) {
        (Function::Absolute, [x]) => {
            vec![(Kind::Operator, x.form.clone()), (Kind::Operator, Form::Negate(Box::new(whole.clone())))]
        }
        (Function::Clamp, [x, low, high]) => {
            let with = |binary, bound: &Expression| {
                (Kind::Operand, Form::Binary(binary, Box::new([x.clone(), bound.clone()])))
            };
            vec![
                with(Binary::Maximum, low),
                with(Binary::Minimum, high),
                (Kind::Operand, x.form.clone()),
                (Kind::Operand, low.form.clone()),
                (Kind::Operand, high.form.clone()),
            ]
        }
        (Function::Overlaps, _) => {
            vec![(Kind::Operator, Form::Call(Function::Unsettled, arguments.to_vec()))]
        }
        (Function::Unsettled, _) => {
            vec![(Kind::Operator, Form::Call(Function::Overlaps, arguments.to_vec()))]
        }
        (Function::Present, _) => vec![(Kind::Operator, Form::Not(Box::new(whole.clone())))],
        _ => Vec::new(),
    }
}
