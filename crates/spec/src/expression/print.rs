//! The canonical text of an expression: single spaces, decimal literals, and only the parentheses that
//! precedence requires. Parsing it returns an equal expression.

use std::fmt::{self, Write};

use super::{Expression, Form, Logic};

/// How tightly a form binds, in the order of the grammar.
fn tightness(form: &Form) -> u8 {
    match form {
        Form::If(_) | Form::Over(..) => 0,
        Form::Logic(Logic::Or, _) => 1,
        Form::Logic(Logic::And, _) => 2,
        Form::Not(_) => 3,
        Form::Compare(..) | Form::In(..) => 4,
        Form::Binary(binary, _) => match binary.symbol() {
            "+" | "-" => 5,
            "*" | "/" | "mod" => 6,
            _ => 8,
        },
        Form::Negate(_) => 7,
        _ => 8,
    }
}

/// The context of an expression.
#[derive(Clone, Copy)]
struct Context {
    /// The loosest binding that needs no parentheses.
    least: u8,
    /// Whether no token follows that a form extending to the right would absorb.
    last: bool,
    /// Whether no arithmetic follows that `sum axes` would absorb.
    last_term: bool,
}

impl Context {
    /// No context, or brackets.
    const ALONE: Self = Self { least: 0, last: true, last_term: true };

    /// The context of a last part.
    fn right(self, least: u8) -> Self {
        Self { least, ..self }
    }

    /// The context of a part before an arithmetic operator.
    fn left(least: u8) -> Self {
        Self { least, last: false, last_term: false }
    }

    /// The context of a part before a comparison, `and` or `or`.
    fn before_comparison(least: u8) -> Self {
        Self { least, last: false, last_term: true }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_expression(f, self, Context::ALONE)
    }
}

fn write_expression(f: &mut fmt::Formatter<'_>, expression: &Expression, context: Context) -> fmt::Result {
    let own = tightness(&expression.form);
    let fits = match &expression.form {
        // After `and`, `or` and `not`, a quantifier is readable without parentheses.
        Form::Over(quantifier, _) if quantifier.is_condition() => context.last && context.least <= 3,
        Form::Over(..) => context.last_term && context.least <= 6,
        Form::If(_) => context.last && context.least == 0,
        _ => own >= context.least,
    };
    if fits {
        return write_form(f, &expression.form, own, context);
    }
    f.write_char('(')?;
    write_form(f, &expression.form, own, Context::ALONE)?;
    f.write_char(')')
}

fn write_form(f: &mut fmt::Formatter<'_>, form: &Form, own: u8, context: Context) -> fmt::Result {
    match form {
        Form::Integer(value) => write!(f, "{value}"),
        Form::Power(base, exponent) => write!(f, "{base}^{exponent}"),
        Form::Level(level) => write!(f, "{level}"),
        Form::Name(name) => f.write_str(name),
        Form::Fill => f.write_str("fill"),
        Form::Negate(a) => {
            f.write_char('-')?;
            write_expression(f, a, context.right(own))
        }
        Form::Not(a) => {
            f.write_str("not ")?;
            write_expression(f, a, context.right(own))
        }
        Form::Binary(binary, pair) if binary.is_function() => write_call(f, binary.symbol(), pair.as_slice()),
        Form::Binary(binary, pair) => {
            write_expression(f, &pair[0], Context::left(own))?;
            write!(f, " {} ", binary.symbol())?;
            write_expression(f, &pair[1], context.right(own + 1))
        }
        Form::Logic(logic, pair) => {
            write_expression(f, &pair[0], Context::before_comparison(own))?;
            f.write_str(if *logic == Logic::And { " and " } else { " or " })?;
            write_expression(f, &pair[1], context.right(own + 1))
        }
        Form::Compare(first, rest) => {
            write_expression(f, first, Context::before_comparison(own + 1))?;
            for (index, (comparison, part)) in rest.iter().enumerate() {
                write!(f, " {} ", comparison.symbol())?;
                let is_last = index + 1 == rest.len();
                let inside =
                    if is_last { context.right(own + 1) } else { Context::before_comparison(own + 1) };
                write_expression(f, part, inside)?;
            }
            Ok(())
        }
        Form::In(a, members) => {
            write_expression(f, a, Context::before_comparison(own + 1))?;
            f.write_str(" in [")?;
            write_list(f, members)?;
            f.write_char(']')
        }
        Form::If(parts) => {
            let [condition, then, otherwise] = &**parts;
            f.write_str("if ")?;
            write_expression(f, condition, Context::ALONE)?;
            f.write_str(" then ")?;
            write_expression(f, then, Context::ALONE)?;
            f.write_str(" else ")?;
            write_expression(f, otherwise, context.right(0))
        }
        Form::Call(function, arguments) => write_call(f, function.name(), arguments),
        Form::Over(quantifier, a) => {
            write!(f, "{} ", quantifier.words())?;
            write_expression(f, a, context.right(if quantifier.is_condition() { 0 } else { 5 }))
        }
    }
}

fn write_call(f: &mut fmt::Formatter<'_>, name: &str, arguments: &[Expression]) -> fmt::Result {
    write!(f, "{name}(")?;
    write_list(f, arguments)?;
    f.write_char(')')
}

fn write_list(f: &mut fmt::Formatter<'_>, members: &[Expression]) -> fmt::Result {
    for (index, member) in members.iter().enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        write_expression(f, member, Context::ALONE)?;
    }
    Ok(())
}
