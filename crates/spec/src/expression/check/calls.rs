//! Calls of functions in expressions.

use dmlcts_model::closest;

use super::{AxisScope, Checked, Checker, Context, mismatch};
use crate::{
    ElementKind, Elements,
    expression::{
        Expression, Form, Function, Mistake, OtherAxis, Quantifier, Span, TermKind, Type, scope::Resolved,
        term::build,
    },
    names::suggested,
    program::Leaf,
};

impl Checker<'_> {
    pub(super) fn call(
        &self,
        function: Function,
        arguments: &[Expression],
        span: Span,
        context: Context,
    ) -> Checked {
        let first = &arguments[0];
        match function {
            Function::Absolute => {
                build(TermKind::Absolute(self.boxed(first, context, &Type::Integer)?), Type::Integer, span)
            }
            Function::Clamp => {
                let [x, low, high] =
                    [0, 1, 2].map(|index| self.typed(&arguments[index], context, &Type::Integer));
                build(TermKind::Clamp(Box::new([x?, low?, high?])), Type::Integer, span)
            }
            Function::Length
            | Function::Present
            | Function::Overlaps
            | Function::Unsettled
            | Function::Spare
            | Function::Code
            | Function::Size => {
                let is_condition =
                    matches!(function, Function::Present | Function::Overlaps | Function::Unsettled);
                let value = if is_condition { Type::Condition } else { Type::Integer };
                build(self.pointer(function, first)?, value, span)
            }
            Function::Next => self.on_other_axis(OtherAxis::Next, first, span, context),
            Function::Previous => self.on_other_axis(OtherAxis::Previous, first, span, context),
            Function::First => self.on_other_axis(OtherAxis::First, first, span, context),
            Function::Opposite => self.on_other_axis(OtherAxis::Opposite, first, span, context),
            Function::Last => self.on_other_axis(OtherAxis::Last, first, span, context),
            Function::Later => self.on_other_axis(OtherAxis::Later, first, span, context),
            Function::Moves => self.element_kind(function, Elements::Moved, first, span),
            Function::Pads => self.element_kind(function, Elements::Padded, first, span),
        }
    }

    /// Functions that take a value from another axis.
    fn on_other_axis(
        &self,
        other: OtherAxis,
        argument: &Expression,
        span: Span,
        context: Context,
    ) -> Checked {
        if self.case.is_none() {
            return Err(Mistake::new(span, "values of another axis exist in predicates over cases only")
                .help("a clause is judged on each axis alone"));
        }
        let is_named = matches!(other, OtherAxis::First | OtherAxis::Last);
        if is_named && context.axis == AxisScope::Outside {
            // It is the same on every axis, so any axis tells.
            let inner = Context { axis: AxisScope::Quantified, ..context };
            let term = self.on_other_axis(other, argument, span, inner)?;
            if term.value_type != Type::Condition {
                return Err(Mistake::new(span, "this is a number, but no axis is meant here")
                    .help("write the whole condition inside, as in `last(OutputTensor.Sizes > 1)`"));
            }
            let mut term = build(TermKind::Over(Quantifier::Any, Box::new(term)), Type::Condition, span)?;
            term.per_axis = false;
            return Ok(term);
        }
        let term = match other {
            OtherAxis::Later => self.typed(argument, context, &Type::Condition)?,
            _ => self.term(argument, context, None)?,
        };
        if !matches!(term.value_type, Type::Integer | Type::Condition) {
            return Err(mismatch(&term, &Type::Integer));
        }
        if !term.per_axis {
            return Err(Mistake::new(term.span, "this is the same on every axis")
                .help("name a list or `axis` in it, or leave the function out"));
        }
        let value = term.value_type.clone();
        build(TermKind::On(other, Box::new(term)), value, span)
    }

    /// Functions whose argument is a kind of element.
    fn element_kind(&self, function: Function, of: Elements, argument: &Expression, span: Span) -> Checked {
        let function = function.name();
        if self.case.is_none() {
            return Err(Mistake::new(span, format!("`{function}` exists in predicates over cases only"))
                .help("a clause is about descs, which have no data"));
        }
        let name = if let Form::Name(name) = &argument.form { name.as_str() } else { "" };
        let Some(kind) = ElementKind::from_name(name) else {
            let kinds = ElementKind::ALL.map(ElementKind::name);
            let near = closest(&name.to_lowercase(), kinds);
            let help = suggested(near, || format!("the kinds are {}", kinds.join(", ")));
            return Err(
                Mistake::new(argument.span, format!("`{function}` takes a kind of element")).help(help)
            );
        };
        build(TermKind::Leaf(Leaf::HasKind(of, kind)), Type::Condition, span)
    }

    /// Functions whose argument is the name of a list, a tensor or a member.
    fn pointer(&self, function: Function, argument: &Expression) -> Result<TermKind, Mistake> {
        let wanted = match function {
            Function::Length => "a list",
            Function::Overlaps | Function::Unsettled => "a tensor",
            Function::Spare => "a scalar",
            Function::Code => "an enumeration or a data type",
            Function::Size => "a data type",
            _ => "a list or a tensor",
        };
        let Form::Name(name) = &argument.form else {
            let message = format!("`{}` takes the name of {wanted}", function.name());
            return Err(Mistake::new(argument.span, message));
        };
        let (found, missing) = match self.scope.find(name) {
            Some(found) => (Some(found), false),
            None => (self.case.and_then(|case| case.scopes.iter().find_map(|scope| scope.find(name))), true),
        };
        let Some(found) = found else {
            return Err(self.scope.unknown(name, argument.span, None, &self.more_names(None)));
        };
        let leaf = match (function, found) {
            (Function::Length, Resolved::List(source)) => Leaf::Length(source),
            (Function::Present, Resolved::List(source)) => Leaf::ListPresent(source),
            (Function::Present, Resolved::Tensor(side)) => Leaf::TensorPresent(side),
            (Function::Overlaps, Resolved::Tensor(side)) => Leaf::Overlaps(side),
            (Function::Unsettled, Resolved::Tensor(side)) => Leaf::Unsettled(side),
            (Function::Spare, Resolved::Scalar(position)) => Leaf::Spare(position),
            (
                Function::Code,
                Resolved::Term(
                    TermKind::Leaf(leaf @ (Leaf::Member(_) | Leaf::Field(..))),
                    Type::Enumeration(_) | Type::DataType,
                ),
            ) => leaf,
            (Function::Size, Resolved::Term(TermKind::Leaf(Leaf::Member(position)), Type::DataType)) => {
                Leaf::Size(position)
            }
            _ => {
                let message = format!("`{}` takes {wanted}, which `{name}` is not", function.name());
                return Err(Mistake::new(argument.span, message));
            }
        };
        Ok(if missing { TermKind::Missing } else { TermKind::Leaf(leaf) })
    }
}
