//! Resolves names and checks types: turns an expression into a [`Term`], or returns a mistake with its
//! position.

mod calls;

use std::sync::Arc;

use dmlcts_model::{Enumeration, Side, closest};

use super::{
    Binary, CaseNames, Comparison, Expression, Form, Logic, Mistake, Position, Quantifier, Scope, Span, Term,
    TermKind, Type,
    scope::{Resolved, same_type},
    term::{build, limited},
};
use crate::{
    ElementNumber, Elements, IdSet, Validity,
    names::{levels, suggested},
    program::Leaf,
};

/// The names by which a predicate over cases asks for a desc's validity.
const JUDGED: [(&str, Validity); 3] =
    [("valid", Validity::Valid), ("invalid", Validity::Invalid), ("open", Validity::Open)];

/// The leaf of a number about the data that a case moves, such as `moved_precision`.
fn data(name: &str) -> Option<Leaf> {
    let (elements, number) = name.split_once('_')?;
    Some(Leaf::Number(Elements::from_name(elements)?, ElementNumber::from_name(number)?))
}

/// Checks an expression, and its type if one is wanted.
pub(super) fn check(
    scope: &Scope,
    case: Option<CaseNames<'_>>,
    expression: &Expression,
    place: Position,
    wanted: Option<&Type>,
) -> Result<Term, Mistake> {
    let checker = Checker { scope, case };
    let axis = if place == Position::Once { AxisScope::Outside } else { AxisScope::Inside };
    let context = Context {
        axis,
        coordinate: matches!(place, Position::Definition | Position::Read),
        fill: place == Position::Read,
    };
    match wanted {
        Some(kind) => checker.typed(expression, context, kind),
        None => checker.term(expression, context, None),
    }
}

/// Whether an expression may name values of an axis.
#[derive(Clone, Copy, PartialEq)]
enum AxisScope {
    /// No: there is no axis.
    Outside,
    /// Yes: the expression is evaluated on each axis.
    Inside,
    /// Yes: a quantifier gathers the axes.
    Quantified,
}

/// The context of an expression.
#[derive(Clone, Copy)]
struct Context {
    axis: AxisScope,
    coordinate: bool,
    fill: bool,
}

impl Context {
    /// The context of parts in which `fill` is not allowed.
    fn within(self) -> Self {
        Self { fill: false, ..self }
    }
}

struct Checker<'a> {
    scope: &'a Scope,
    case: Option<CaseNames<'a>>,
}

type Checked = Result<Term, Mistake>;

impl Checker<'_> {
    fn term(&self, expression: &Expression, context: Context, expected: Option<&Type>) -> Checked {
        let span = expression.span;
        let inner = context.within();
        let (kind, value) = match &expression.form {
            Form::Integer(value) => (TermKind::Constant(*value), Type::Integer),
            Form::Power(base, exponent) => {
                (TermKind::Constant(base.saturating_pow(*exponent)), Type::Integer)
            }
            Form::Level(level) => (TermKind::Constant(i128::from(level.code())), Type::Level),
            Form::Name(name) => return self.name(name, span, context, expected),
            Form::Fill if context.fill => (TermKind::Fill, Type::Read),
            Form::Fill => {
                return Err(Mistake::new(span, "`fill` cannot stand here")
                    .help("`fill` is what a `read` comes to, or a branch of an `if` that it comes to"));
            }
            Form::Negate(a) => (TermKind::Negate(self.boxed(a, inner, &Type::Integer)?), Type::Integer),
            Form::Not(a) => (TermKind::Not(self.boxed(a, inner, &Type::Condition)?), Type::Condition),
            Form::Binary(binary, pair) => {
                let pair = self.both(pair, inner, &Type::Integer)?;
                (TermKind::Binary(*binary, pair), Type::Integer)
            }
            Form::Logic(logic, pair) => {
                (TermKind::Logic(*logic, self.both(pair, inner, &Type::Condition)?), Type::Condition)
            }
            Form::Compare(first, rest) => return self.chain(first, rest, span, inner),
            Form::In(a, members) => return self.member_of(a, members, span, inner),
            Form::If(parts) => return self.conditional(parts, span, context, expected),
            Form::Call(function, arguments) => return self.call(*function, arguments, span, inner),
            Form::Over(quantifier, a) => return self.over(*quantifier, a, span, inner),
        };
        build(kind, value, span)
    }

    /// A term of the wanted type.
    fn typed(&self, expression: &Expression, context: Context, wanted: &Type) -> Checked {
        let term = self.term(expression, context, Some(wanted))?;
        let is_coordinate = *wanted == Type::Read && term.value_type == Type::Integer;
        if is_coordinate || term.value_type == *wanted { Ok(term) } else { Err(mismatch(&term, wanted)) }
    }

    fn boxed(&self, expression: &Expression, context: Context, wanted: &Type) -> Result<Box<Term>, Mistake> {
        self.typed(expression, context, wanted).map(Box::new)
    }

    fn both(
        &self,
        pair: &[Expression; 2],
        context: Context,
        wanted: &Type,
    ) -> Result<Box<[Term; 2]>, Mistake> {
        Ok(Box::new([self.typed(&pair[0], context, wanted)?, self.typed(&pair[1], context, wanted)?]))
    }

    fn name(&self, name: &str, span: Span, context: Context, expected: Option<&Type>) -> Checked {
        if let Some(found) = self.scope.find(name) {
            return self.found(found, name, span, context);
        }
        if let Some(case) = self.case
            && let Some(term) = self.case_name(case, name, span, context)?
        {
            return Ok(term);
        }
        let operators = self.case.map(|case| case.operators);
        let mut constants: Vec<(i128, Type)> = self.scope.constants(name).collect();
        if let Some(case) = self.case {
            let operator = case.operators.value(name);
            let kind = || Type::Enumeration(Arc::clone(case.operators));
            constants.extend(operator.map(|value| (i128::from(value), kind())));
            for (value, kind) in case.scopes.iter().flat_map(|scope| scope.constants(name)) {
                if constants.iter().all(|(_, known)| !same_type(known, &kind)) {
                    constants.push((value, kind));
                }
            }
        }
        if let Some(wanted) = expected
            && let Some(position) = constants.iter().position(|(_, kind)| same_type(kind, wanted))
        {
            let (value, kind) = constants.swap_remove(position);
            return build(TermKind::Constant(value), kind, span);
        }
        match constants.len() {
            0 => Err(self.scope.unknown(name, span, expected, &self.more_names(operators))),
            1 => {
                let (value, kind) = constants.swap_remove(0);
                build(TermKind::Constant(value), kind, span)
            }
            _ => {
                let kinds: Vec<_> = constants.iter().map(|(_, kind)| kind.to_string()).collect();
                Err(Mistake::new(span, format!("`{name}` could be {}", kinds.join(" or ")))
                    .help("compare it with a member, whose type then decides"))
            }
        }
    }

    /// The names that predicates over cases have in addition to those of the case's operator.
    fn more_names(&self, operators: Option<&Arc<Enumeration>>) -> Vec<String> {
        let mut names = Vec::new();
        if let (Some(case), Some(operators)) = (self.case, operators) {
            let own = ["operator", "violations", "violation", "InputBinding.Offset", "OutputBinding.Offset"];
            names.extend(own.map(str::to_owned));
            names.extend(JUDGED.map(|(name, _)| name.to_owned()));
            for number in ElementNumber::ALL.map(ElementNumber::name) {
                names.extend(Elements::ALL.map(|elements| format!("{}_{number}", elements.name())));
            }
            names.extend(operators.enumerators.iter().map(|operator| operator.name.clone()));
            names.extend(case.scopes.iter().flat_map(|scope| scope.names()));
        }
        names
    }

    fn case_name(
        &self,
        case: CaseNames<'_>,
        name: &str,
        span: Span,
        context: Context,
    ) -> Result<Option<Term>, Mistake> {
        if let Some(side) = Side::BOTH.into_iter().find(|side| side.binding_name() == name) {
            return build(TermKind::Leaf(Leaf::BindingOffset(side)), Type::Integer, span).map(Some);
        }
        if let Some((_, validity)) = JUDGED.into_iter().find(|(judged, _)| *judged == name) {
            return build(TermKind::Leaf(Leaf::Judged(validity)), Type::Condition, span).map(Some);
        }
        if name == "violations" {
            return build(TermKind::Leaf(Leaf::Violations), Type::Integer, span).map(Some);
        }
        if name == "violation"
            && let Some(judge) = &self.scope.judge
        {
            let names = Type::Enumeration(Arc::clone(&judge.names));
            return build(TermKind::Leaf(Leaf::Violation), names, span).map(Some);
        }
        if let Some(leaf) = data(name) {
            return build(TermKind::Leaf(leaf), Type::Integer, span).map(Some);
        }
        if name == "operator" {
            let value = case.operators.value(&self.scope.signature().operator);
            let kind = value.map_or(TermKind::Missing, |value| TermKind::Constant(i128::from(value)));
            return build(kind, Type::Enumeration(Arc::clone(case.operators)), span).map(Some);
        }
        let Some(found) = case.scopes.iter().find_map(|scope| scope.find(name)) else { return Ok(None) };
        let mut term = self.found(found, name, span, context)?;
        term.kind = TermKind::Missing;
        Ok(Some(term))
    }

    /// The term of a name that is used as a value.
    fn found(&self, found: Resolved, name: &str, span: Span, context: Context) -> Checked {
        let term = match found {
            Resolved::Term(kind, value) => build(kind, value, span)?,
            Resolved::List(source) => build(TermKind::Leaf(Leaf::List(source)), Type::Integer, span)?,
            Resolved::Tensor(_) => {
                return Err(Mistake::new(span, format!("`{name}` is a tensor, not a value"))
                    .help(format!("name one of its fields, such as `{name}.Sizes`")));
            }
            Resolved::Scalar(_) => {
                return Err(Mistake::new(
                    span,
                    format!("`{name}` is a scalar union, whose bits are no integer"),
                )
                .help(if self.case.is_some() {
                    "how they read depends on the data type, and floating-point numbers are no integers; \
                     `dmlcts list | grep` finds cases by the value in their lines"
                } else {
                    "how they read depends on the data type, and floating-point numbers are no integers; \
                     it can only be what a read is filled with"
                }));
            }
        };
        if term.uses_coordinate && !context.coordinate {
            let message = if name == "c" {
                "`c` exists in semantics only".to_owned()
            } else {
                format!("`{name}` depends on `c`, which exists in semantics only")
            };
            return Err(Mistake::new(span, message).help("`c` is the output coordinate that a `read` is for"));
        }
        if term.per_axis && context.axis == AxisScope::Outside {
            return Err(Mistake::new(
                span,
                format!("`{name}` has a value on each axis, but no axis is meant here"),
            )
            .help(if self.case.is_some() {
                format!(
                    "gather the axes, as in `any axis {name} > 1`, `all axes {name} > 1`, `sum axes {name} > 1` or \
                     `product axes {name} > 1`"
                )
            } else {
                "gather the axes with `any axis`, `all axes`, `sum axes` or `product axes`, \
                 or state the clause with `each: axis`"
                    .to_owned()
            }));
        }
        Ok(term)
    }

    fn chain(
        &self,
        first: &Expression,
        rest: &[(Comparison, Expression)],
        span: Span,
        context: Context,
    ) -> Checked {
        let mut left = first;
        let mut whole: Option<Term> = None;
        for (comparison, right) in rest {
            let link = self.compare(*comparison, left, right, context)?;
            whole = Some(match whole {
                None => link,
                Some(before) => {
                    let pair = Box::new([before, link]);
                    build(TermKind::Logic(Logic::And, pair), Type::Condition, span)?
                }
            });
            left = right;
        }
        whole.map_or_else(|| self.typed(first, context, &Type::Condition), Ok)
    }

    fn compare(
        &self,
        comparison: Comparison,
        left: &Expression,
        right: &Expression,
        context: Context,
    ) -> Checked {
        let span = left.span.to(right.span);
        for (side, other) in [(left, right), (right, left)] {
            if matches!(&side.form, Form::Name(name) if name == "violation") {
                self.check_clause_name(other)?;
            }
        }
        // If the left side is an enumerator's name, the right side determines which enumeration it belongs
        // to.
        let pair = if self.is_constant_name(left) {
            let right = self.term(right, context, None)?;
            [self.typed_like(left, context, &right)?, right]
        } else {
            let left = self.term(left, context, None)?;
            let right = self.typed_like(right, context, &left)?;
            [left, right]
        };
        // If the left side is a bare code, the right side determines the type of the comparison.
        let kind =
            if pair[0].value_type == Type::Integer { &pair[1].value_type } else { &pair[0].value_type };
        if comparison.orders() && !matches!(kind, Type::Integer | Type::Level) {
            return Err(Mistake::new(
                span,
                format!("`{}` needs an order, which {kind} has not", comparison.symbol()),
            )
            .help("compare with `==`, `!=` or `in`"));
        }
        if *kind == Type::Condition {
            let agree = comparison == Comparison::Equal;
            return build(TermKind::Agree(agree, Box::new(pair)), Type::Condition, span);
        }
        build(TermKind::Compare(comparison, Box::new(pair)), Type::Condition, span)
    }

    /// A term that is compared with another and must have the same type.
    fn typed_like(&self, expression: &Expression, context: Context, other: &Term) -> Checked {
        let term = self.term(expression, context, Some(&other.value_type))?;
        let is_coded = self.is_code_of(&term, &other.value_type) || self.is_code_of(other, &term.value_type);
        if is_coded || same_type(&term.value_type, &other.value_type) {
            return Ok(term);
        }
        let message = format!("{} cannot be compared with {}", term.value_type, other.value_type);
        let mistake = Mistake::new(other.span.to(term.span), message);
        Err(match (&term.value_type, &other.value_type) {
            (Type::Level, _) | (_, Type::Level) => mistake.help(format!("the levels are {}", levels())),
            (Type::Enumeration(known), Type::Integer) | (Type::Integer, Type::Enumeration(known)) => {
                let (name, names) = (&known.name, known.names().join(", "));
                mistake.help(match self.case.map(|case| case.operators) {
                    Some(operators) if operators.name == *name => format!("the operators are {names}"),
                    _ => format!("the enumerators of {name} are {names}, or a literal code such as 5"),
                })
            }
            _ => mistake,
        })
    }

    /// Whether a term is a bare code for a value of this type. Descs can hold codes without a name, and case
    /// lines write them as numbers. Operators are not part of a desc and have no codes.
    fn is_code_of(&self, term: &Term, coded: &Type) -> bool {
        let has_codes = match coded {
            Type::DataType => true,
            Type::Enumeration(known) => self.case.is_none_or(|case| case.operators.name != known.name),
            _ => false,
        };
        let is_literal = match &term.kind {
            TermKind::Constant(_) => true,
            TermKind::Negate(inner) => matches!(inner.kind, TermKind::Constant(_)),
            _ => false,
        };
        has_codes && is_literal && term.value_type == Type::Integer
    }

    /// Whether an expression is a name that only a constant has.
    fn is_constant_name(&self, expression: &Expression) -> bool {
        let Form::Name(name) = &expression.form else { return false };
        let known = |scope: &Scope| scope.find(name).is_some();
        let in_case =
            |case: CaseNames<'_>| name == "operator" || case.scopes.iter().any(|scope| known(scope));
        !known(self.scope) && !self.case.is_some_and(in_case)
    }

    fn member_of(&self, a: &Expression, members: &[Expression], span: Span, context: Context) -> Checked {
        if matches!(&a.form, Form::Name(name) if name == "violation") {
            members.iter().try_for_each(|member| self.check_clause_name(member))?;
        }
        let a = self.term(a, context, None)?;
        if a.value_type == Type::Condition {
            return Err(mismatch(&a, &Type::Integer).help("`in` takes integers, enumerators and data types"));
        }
        let members: Result<Vec<_>, _> =
            members.iter().map(|member| self.typed_like(member, context, &a)).collect();
        let members = members?;
        if let TermKind::Leaf(Leaf::Violation) = a.kind
            && let Some(judge) = &self.scope.judge
        {
            return violated_among(&judge.names, &members, span);
        }
        let (depth, per_axis, uses_coordinate) = (a.depth, a.per_axis, a.uses_coordinate);
        let mut term = build(TermKind::In(Box::new(a), members), Type::Condition, span)?;
        term.depth = term.depth.max(depth + 1);
        term.per_axis |= per_axis;
        term.uses_coordinate |= uses_coordinate;
        limited(term)
    }

    fn conditional(
        &self,
        parts: &[Expression; 3],
        span: Span,
        context: Context,
        expected: Option<&Type>,
    ) -> Checked {
        let condition = self.typed(&parts[0], context.within(), &Type::Condition)?;
        let then = self.term(&parts[1], context, expected)?;
        let otherwise = self.term(&parts[2], context, Some(&then.value_type))?;
        let value = match (&then.value_type, &otherwise.value_type) {
            (Type::Integer, Type::Read) | (Type::Read, Type::Integer) => Type::Read,
            (one, other) if same_type(one, other) => one.clone(),
            (one, other) => {
                return Err(Mistake::new(
                    otherwise.span,
                    format!("this branch is {other}, the other is {one}"),
                )
                .help("both branches of an `if` have one type"));
            }
        };
        build(TermKind::If(Box::new([condition, then, otherwise])), value, span)
    }

    /// Refuses what `violation` is compared with if it is no name of a clause: a number, or the id of a
    /// clause, which reads as a difference.
    fn check_clause_name(&self, other: &Expression) -> Result<(), Mistake> {
        let Some(case) = self.case else { return Ok(()) };
        let scopes = std::iter::once(self.scope).chain(case.scopes.iter().copied());
        let judges: Vec<_> = scopes.filter_map(|scope| scope.judge.as_ref()).collect();
        let names = judges.iter().flat_map(|judge| &judge.names.enumerators);
        let names: Vec<&str> = names.map(|name| name.name.as_str()).collect();
        match &other.form {
            Form::Name(name) if names.contains(&name.as_str()) => Ok(()),
            Form::Integer(_) | Form::Power(..) | Form::Negate(_) => {
                Err(Mistake::new(other.span, "`violation` is the name of a clause, and no number")
                    .help("`violations` is the number of clauses that a desc violates"))
            }
            Form::Name(_) | Form::Binary(Binary::Subtract, _) => {
                let id = other.to_string().replace(" - ", "_").replace('.', "_");
                let is_id = |name: &&&str| id == **name || id.ends_with(&format!("_{name}"));
                let near = names.iter().filter(is_id).max_by_key(|name| name.len()).copied();
                let mistake = Mistake::new(other.span, format!("`{other}` is not the name of a clause"));
                let near = near.or_else(|| closest(&id, names.iter().copied()));
                let all = || "`dmlcts spec show` names the clauses; `-` in their ids is `_` here".to_owned();
                Err(mistake.help(suggested(near, all)))
            }
            _ => Ok(()),
        }
    }

    fn over(&self, quantifier: Quantifier, a: &Expression, span: Span, context: Context) -> Checked {
        let words = quantifier.words();
        if context.axis == AxisScope::Quantified {
            return Err(Mistake::new(span, format!("`{words}` inside another quantifier"))
                .help("a quantifier reaches to the closing parenthesis or the end: put the first one in parentheses"));
        }
        let value = if quantifier.is_condition() { Type::Condition } else { Type::Integer };
        let inner = Context { axis: AxisScope::Quantified, coordinate: false, fill: false };
        let a = self.boxed(a, inner, &value)?;
        if !a.per_axis {
            return Err(Mistake::new(
                a.span,
                format!("`{words}` over something that is the same on every axis"),
            )
            .help("name a list or `axis` in it, or leave the quantifier out"));
        }
        let mut term = build(TermKind::Over(quantifier, a), value, span)?;
        term.per_axis = false;
        Ok(term)
    }
}

fn mismatch(term: &Term, wanted: &Type) -> Mistake {
    let mistake = Mistake::new(term.span, format!("expected {wanted}, found {}", term.value_type));
    if term.value_type == Type::Read {
        return mistake.help("nothing can be computed from `fill`: make the `if` the outermost");
    }
    match wanted {
        Type::Condition => {
            mistake.help("a condition is a comparison, or several joined by `and`, `or`, `not`")
        }
        _ => mistake,
    }
}

/// Whether all violated clauses have these names. Names that the operator lacks say nothing about its descs.
fn violated_among(names: &Enumeration, members: &[Term], span: Span) -> Checked {
    let place = |member: &Term| match member.kind {
        TermKind::Constant(code) => names.enumerators.iter().position(|it| i128::from(it.value) == code),
        _ => None,
    };
    let among: IdSet = members.iter().filter_map(place).collect();
    let beside = build(TermKind::Leaf(Leaf::ViolationsBeside(among)), Type::Integer, span)?;
    let none = build(TermKind::Constant(0), Type::Integer, span)?;
    build(TermKind::Compare(Comparison::Equal, Box::new([beside, none])), Type::Condition, span)
}
