//! The ways in which a desc can break a clause. A validation that is slightly wrong accepts the descs that
//! break the clause in one way and refuses the others, so that a test needs descs for each.
//!
//! A way is a variant of the clause's expression with one fault in it. A desc breaks the clause in this way
//! if it breaks the clause and meets the variant:
//!
//! | fault | `a + b <= c` becomes |
//! |---|---|
//! | an operand of `and` is left out | |
//! | a comparison is too lax by one, or by the size of an element | `a + b <= c + 1` |
//! | it is too lax by a lot | `a + b - c >= 2^16` |
//! | its sides wrap around at 16, 31, 32 or 64 bits | `(a + b) mod 2^32 <= c` |
//! | a part of a sum, product, quotient, `align` or definition is left out | `a <= c` |
//! | a product replaces a quotient and wraps around | `(a - b) * d mod 2^32 <= c` for `a <= b + c / d` |
//! | a number saturates at 2^32 - 1 | `a + b > 2^32 - 1 and c == 2^32 - 1` for `a + b == c` |
//! | a code that is not listed is accepted | `DataType == UINT4` |
//!
//! Whether any desc breaks the clause in a way is not known here. The conditions hold at the newest feature
//! level.

use dmlcts_model::{Case, DataType, FeatureLevel, MemberKind};

use crate::{
    Clause, Conditions, IdSet, Truth,
    expression::{self, Binary, Comparison, Expression, Form, Function, Logic, Quantifier, Span},
    program::{Range, Values},
};

/// One way to break a clause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    /// The index of the clause.
    pub clause: usize,
    /// The fault, as the expression that a desc meets that breaks the clause in this way. Equal to
    /// `not` and the clause for the way that every desc takes that breaks it.
    pub text: String,
    /// The condition, which includes that the clause is broken.
    pub condition: Expression,
}

/// The ways to break the clauses of an operator.
#[derive(Debug)]
pub struct Ways {
    ways: Vec<Way>,
    /// For each clause, the index of its first way and its ways as conditions.
    clauses: Vec<(usize, Conditions)>,
}

impl Ways {
    /// The ways to break these clauses.
    pub(crate) fn new(clauses: &[Clause], scope: &expression::Scope) -> Self {
        let (mut ways, mut compiled) = (Vec::new(), Vec::new());
        for (place, clause) in clauses.iter().enumerate() {
            let first = ways.len();
            let own = of_clause(clause, scope);
            let texts = own.iter().map(|(_, condition)| (clause.scope, condition.to_string()));
            let conditions = Conditions::compile(texts, scope);
            // A variant that makes no sense, such as a difference of two enumerators, is not compiled.
            let is_compiled = |condition: &Expression| {
                conditions.texts().iter().any(|(_, text)| *text == condition.to_string())
            };
            ways.extend(
                own.into_iter()
                    .filter(|(_, condition)| is_compiled(condition))
                    .map(|(text, condition)| Way { clause: place, text, condition }),
            );
            compiled.push((first, conditions));
        }
        Self { ways, clauses: compiled }
    }

    /// Every way, in the order of the clauses.
    pub fn all(&self) -> &[Way] {
        &self.ways
    }

    /// Calls `visit` with the index of each way in which a case breaks one of these clauses, and with the
    /// axes where it does. The clauses must be broken.
    pub fn taken(
        &self,
        violated: IdSet,
        case: &Case,
        level: FeatureLevel,
        (values, truths): (&mut Values, &mut Vec<Truth>),
        mut visit: impl FnMut(usize, Truth),
    ) {
        for clause in violated.iter() {
            let Some((first, conditions)) = self.clauses.get(clause) else { continue };
            conditions.truths(case, level, values, truths);
            for (place, truth) in truths.iter().enumerate().filter(|(_, truth)| truth.on != 0) {
                visit(first + place, *truth);
            }
        }
    }
}

/// The texts and conditions of a clause's ways.
fn of_clause(clause: &Clause, scope: &expression::Scope) -> Vec<(String, Expression)> {
    let Settled::Open(that) = at_newest_level(&inlined(&clause.expression, scope)) else { return Vec::new() };
    let broken = not(that.clone());
    let mut ways = vec![(broken.to_string(), broken.clone())];
    let codes: Vec<i128> =
        that.names().into_iter().flat_map(|name| scope.constants(name)).map(|(code, _)| code).collect();
    let names = Names { scope, codes: &codes };
    let variants = match &that.form {
        Form::Over(Quantifier::All, inner) => {
            let all = |variant| new(Form::Over(Quantifier::All, Box::new(variant)));
            names.variants(inner).into_iter().map(all).collect()
        }
        _ => names.variants(&that),
    };
    for variant in variants {
        let condition = and(broken.clone(), variant.clone());
        if ways.iter().all(|(_, known)| *known != condition) {
            ways.push((variant.to_string(), condition));
        }
    }
    ways
}

fn new(form: Form) -> Expression {
    Expression::new(form, Span::new(0, 0))
}

fn not(a: Expression) -> Expression {
    new(Form::Not(Box::new(a)))
}

fn and(a: Expression, b: Expression) -> Expression {
    new(Form::Logic(Logic::And, Box::new([a, b])))
}

fn or(a: Expression, b: Expression) -> Expression {
    new(Form::Logic(Logic::Or, Box::new([a, b])))
}

fn binary(operation: Binary, a: Expression, b: Expression) -> Expression {
    new(Form::Binary(operation, Box::new([a, b])))
}

fn compare(a: Expression, comparison: Comparison, b: Expression) -> Expression {
    new(Form::Compare(Box::new(a), vec![(comparison, b)]))
}

fn integer(value: i128) -> Expression {
    new(Form::Integer(value))
}

fn power(exponent: u32) -> Expression {
    new(Form::Power(2, exponent))
}

/// The expression with its definitions written out.
fn inlined(expression: &Expression, scope: &expression::Scope) -> Expression {
    if let Form::Name(name) = &expression.form
        && let Some(definition) = scope.definitions().iter().find(|known| known.name == *name)
    {
        return inlined(&definition.expression, scope);
    }
    expression.map_parts(&mut |part| inlined(part, scope))
}

/// A condition at the newest feature level.
enum Settled {
    /// It does not depend on the desc.
    Decided(bool),
    /// It depends on the desc.
    Open(Expression),
}

/// Decides what depends on the feature level alone.
fn at_newest_level(expression: &Expression) -> Settled {
    match &expression.form {
        Form::Compare(a, rest) => match (&a.form, rest.as_slice()) {
            (Form::Name(name), [(comparison, b)]) if name == "level" => match b.form {
                Form::Level(level) => Settled::Decided(comparison.holds(FeatureLevel::NEWEST.cmp(&level))),
                _ => Settled::Open(expression.clone()),
            },
            _ => Settled::Open(expression.clone()),
        },
        Form::Logic(logic, pair) => {
            let decides = *logic == Logic::Or;
            match (at_newest_level(&pair[0]), at_newest_level(&pair[1])) {
                (Settled::Decided(value), other) | (other, Settled::Decided(value)) => {
                    if value == decides {
                        Settled::Decided(value)
                    } else {
                        other
                    }
                }
                (Settled::Open(a), Settled::Open(b)) => {
                    Settled::Open(new(Form::Logic(*logic, Box::new([a, b]))))
                }
            }
        }
        Form::If(parts) => match at_newest_level(&parts[0]) {
            Settled::Decided(true) => at_newest_level(&parts[1]),
            Settled::Decided(false) => at_newest_level(&parts[2]),
            Settled::Open(_) => Settled::Open(expression.clone()),
        },
        _ => Settled::Open(expression.clone()),
    }
}

/// The names that expressions may use, with their ranges.
#[derive(Clone, Copy)]
struct Names<'a> {
    scope: &'a expression::Scope,
    /// The codes that the clause names.
    codes: &'a [i128],
}

impl Names<'_> {
    /// The variants of a condition, each with one fault.
    fn variants(self, that: &Expression) -> Vec<Expression> {
        match &that.form {
            Form::Logic(logic, pair) => {
                let [a, b] = &**pair;
                let joined = |a: Expression, b: Expression| new(Form::Logic(*logic, Box::new([a, b])));
                let mut found = Vec::new();
                if *logic == Logic::And {
                    found.extend([a.clone(), b.clone()]);
                }
                found.extend(self.variants(a).into_iter().map(|variant| joined(variant, b.clone())));
                found.extend(self.variants(b).into_iter().map(|variant| joined(a.clone(), variant)));
                found
            }
            Form::Compare(first, rest) => {
                if let [(comparison, other)] = rest.as_slice() {
                    return self.of_comparison(first, *comparison, other);
                }
                // A chain is a conjunction of its comparisons.
                let lefts = std::iter::once(&**first).chain(rest.iter().map(|(_, right)| right));
                let parts = lefts
                    .zip(rest)
                    .map(|(left, (comparison, right))| compare(left.clone(), *comparison, right.clone()));
                parts.reduce(and).map(|all| self.variants(&all)).unwrap_or_default()
            }
            Form::In(a, members) if self.range(a).is_some() => self.of_list(a, members),
            Form::In(a, members) => self.unlisted(a, members),
            Form::Not(a) => match &a.form {
                Form::Call(Function::Overlaps, arguments) => {
                    arguments.first().map(overlapping).unwrap_or_default()
                }
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    /// Variants of a comparison of numbers or of data types.
    fn of_comparison(self, a: &Expression, comparison: Comparison, b: &Expression) -> Vec<Expression> {
        use Comparison as C;
        let mut found = widths(a, comparison, b);
        let (Some(one), Some(other)) = (self.range(a), self.range(b)) else { return found };
        let difference = Range::binary(Binary::Subtract, one, other);
        let steps = steps(a, b);
        match comparison {
            C::Equal => found.extend(self.of_equality(a, b)),
            C::NotEqual => {}
            C::Less | C::LessOrEqual | C::Greater | C::GreaterOrEqual => {
                let is_upper = matches!(comparison, C::Less | C::LessOrEqual);
                let operation = if is_upper { Binary::Add } else { Binary::Subtract };
                found.extend(
                    steps.iter().map(|step| compare(a.clone(), comparison, moved(operation, b, step))),
                );
                let (far, excess) = if is_upper { (LOT, apart(a, b)) } else { (-LOT, apart(b, a)) };
                if difference.contains(far) {
                    found.push(compare(excess, C::GreaterOrEqual, power(16)));
                }
                // The greater side becomes less where it wraps around.
                let (side, range) = if is_upper { (a, one) } else { (b, other) };
                let with = |side| {
                    if is_upper {
                        compare(side, comparison, b.clone())
                    } else {
                        compare(a.clone(), comparison, side)
                    }
                };
                for bits in [16, 32, 64] {
                    if range.greatest >= 1 << bits {
                        found.push(with(binary(Binary::Modulo, side.clone(), power(bits))));
                    }
                }
                if range.greatest >= 1 << 31 {
                    found.push(with(signed(side)));
                }
            }
        }
        found.extend(multiplied(a, comparison, b));
        found.extend(shorter(a).into_iter().map(|less| compare(less, comparison, b.clone())));
        found.extend(shorter(b).into_iter().map(|less| compare(a.clone(), comparison, less)));
        found
    }

    /// Variants of an equality of numbers: unequal by one, by the size of an element, by a lot, and by a
    /// multiple of a power of two; and equal to the greatest number of 32 bits.
    fn of_equality(self, a: &Expression, b: &Expression) -> Vec<Expression> {
        let (Some(one), Some(other)) = (self.range(a), self.range(b)) else { return Vec::new() };
        let difference = Range::binary(Binary::Subtract, one, other);
        let equal = Comparison::Equal;
        let mut found = Vec::new();
        for step in steps(a, b) {
            for (operation, sign) in [(Binary::Add, 1), (Binary::Subtract, -1)] {
                if difference.contains(sign) {
                    found.push(compare(a.clone(), equal, moved(operation, b, &step)));
                }
            }
        }
        if difference.contains(LOT) {
            found.push(compare(apart(a, b), Comparison::GreaterOrEqual, power(16)));
        }
        if difference.contains(-LOT) {
            found.push(compare(apart(b, a), Comparison::GreaterOrEqual, power(16)));
        }
        for bits in [16, 31, 32] {
            if difference.contains(1 << bits) || difference.contains(-(1 << bits)) {
                let rest = binary(Binary::Modulo, apart(a, b), power(bits));
                found.push(compare(rest, equal, integer(0)));
            }
        }
        // A number above 32 bits saturates.
        let (a, b) = match (&a.form, &b.form) {
            (Form::Binary(Binary::Subtract, pair), Form::Integer(0)) => (&pair[0], &pair[1]),
            _ => (a, b),
        };
        let greatest = (1 << 32) - 1;
        for (side, opposite) in [(a, b), (b, a)] {
            let (Some(range), Some(reach)) = (self.range(side), self.range(opposite)) else { continue };
            if range.greatest > greatest && reach.contains(greatest) {
                let above = compare(side.clone(), Comparison::Greater, integer(greatest));
                found.push(and(above, compare(opposite.clone(), equal, integer(greatest))));
            }
        }
        found
    }

    /// Variants of a list of numbers: those of equality with the first, and the list for less of the number.
    fn of_list(self, a: &Expression, members: &[Expression]) -> Vec<Expression> {
        let Some(first) = members.first() else { return Vec::new() };
        let within = |a: Expression| new(Form::In(Box::new(a), members.to_vec()));
        let listed = within(a.clone());
        let mut found: Vec<Expression> =
            self.of_equality(a, first).into_iter().map(|variant| or(listed.clone(), variant)).collect();
        found.extend(shorter(a).into_iter().map(within));
        found
    }

    /// Codes that are not in a list: small ones, those that end like a listed one in fewer bits, and negative
    /// ones.
    fn unlisted(self, a: &Expression, members: &[Expression]) -> Vec<Expression> {
        let listed = new(Form::In(Box::new(a.clone()), members.to_vec()));
        let above = self.codes.iter().copied().max().unwrap_or(0) + 4;
        let small = (0..above).filter(|code| !self.codes.contains(code)).map(|code| vec![code]);
        // Codes that end like a listed one in 8 and in 16 bits.
        let wrapped = [8, 16].map(|bits| self.codes.iter().map(|code| code + (1 << bits)).collect());
        let accepted = |codes: Vec<i128>| {
            let more = codes.into_iter().map(integer).collect();
            or(listed.clone(), new(Form::In(Box::new(a.clone()), more)))
        };
        // Negative codes, and codes that are negative in 32 bits.
        let high = 1 << 31;
        let beside = self.codes.iter().flat_map(|code| [code - high, code + high]);
        let negative: Vec<i128> = std::iter::once(-1).chain(beside).collect();
        small.chain(wrapped).chain([negative]).map(accepted).collect()
    }

    /// The values that a number can have, roughly; `None` for other expressions.
    fn range(self, a: &Expression) -> Option<Range> {
        let word = Range { least: 0, greatest: (1 << 32) - 1 };
        Some(match &a.form {
            Form::Integer(value) => Range::only(*value),
            Form::Power(base, exponent) => Range::only(base.checked_pow(*exponent)?),
            Form::Name(name) => {
                let field = name.rsplit('.').next().unwrap_or(name);
                match field {
                    "ElementSize" => Range { least: 1, greatest: 8 },
                    "TotalTensorSizeInBytes" => Range { least: 0, greatest: (1 << 64) - 1 },
                    "DataType" => return None,
                    _ => {
                        let mut members = self.scope.signature().members.iter();
                        match members.find(|member| member.name == field).map(|member| &member.kind) {
                            Some(MemberKind::DataType | MemberKind::Enumeration(_)) => return None,
                            Some(kind) => {
                                let (least, greatest) = kind.range()?;
                                Range { least: least.into(), greatest: greatest.into() }
                            }
                            None => word,
                        }
                    }
                }
            }
            // Lists of more values are not written.
            Form::Call(Function::Length, _) => Range { least: 0, greatest: 64 },
            Form::Call(Function::Absolute, arguments) => self.range(arguments.first()?)?.absolute(),
            Form::Call(Function::Clamp, arguments) => self.range(arguments.first()?)?,
            Form::Negate(inner) => self.range(inner)?.negate(),
            Form::Binary(operation, pair) => {
                Range::binary(*operation, self.range(&pair[0])?, self.range(&pair[1])?)
            }
            Form::If(parts) => self.range(&parts[1])?.with(self.range(&parts[2])?),
            Form::Over(Quantifier::Sum, inner) => self.range(inner)?.sum(),
            Form::Over(Quantifier::Product, inner) => self.range(inner)?.product(),
            _ => return None,
        })
    }
}

/// A difference of many elements.
const LOT: i128 = 1 << 16;

/// One, and the size of an element if the numbers are bytes.
fn steps(a: &Expression, b: &Expression) -> Vec<Expression> {
    let element = element_size(a).or_else(|| element_size(b));
    std::iter::once(integer(1)).chain(element).collect()
}

/// The difference of two numbers.
fn apart(left: &Expression, right: &Expression) -> Expression {
    match right.form {
        Form::Integer(0) => left.clone(),
        _ => binary(Binary::Subtract, left.clone(), right.clone()),
    }
}

/// A side of a comparison, moved by a step.
fn moved(operation: Binary, side: &Expression, step: &Expression) -> Expression {
    match (operation, &side.form, &step.form) {
        (Binary::Add, Form::Integer(side), Form::Integer(step)) => integer(side + step),
        (Binary::Subtract, Form::Integer(side), Form::Integer(step)) if side >= step => integer(side - step),
        _ => binary(operation, side.clone(), step.clone()),
    }
}

/// A number as 32 bits with a sign hold it.
fn signed(a: &Expression) -> Expression {
    let above = binary(Binary::Modulo, binary(Binary::Add, a.clone(), power(31)), power(32));
    binary(Binary::Subtract, above, power(31))
}

/// The first name of an element's size in an expression.
fn element_size(a: &Expression) -> Option<Expression> {
    let name = a.names().into_iter().find(|name| name.ends_with(".ElementSize"))?;
    Some(new(Form::Name(name.to_owned())))
}

/// The ways to leave out a part of a number.
fn shorter(a: &Expression) -> Vec<Expression> {
    let mut found = Vec::new();
    match &a.form {
        Form::Binary(operation, pair) => {
            let [left, right] = &**pair;
            if *operation != Binary::Modulo {
                found.push(left.clone());
            }
            if !matches!(operation, Binary::Divide | Binary::Modulo | Binary::Align | Binary::Subtract) {
                found.push(right.clone());
            }
            let joined = |a: Expression, b: Expression| binary(*operation, a, b);
            found.extend(shorter(left).into_iter().map(|less| joined(less, right.clone())));
            found.extend(shorter(right).into_iter().map(|less| joined(left.clone(), less)));
        }
        Form::Call(function, arguments) => {
            if matches!(function, Function::Absolute | Function::Clamp) {
                found.extend(arguments.first().cloned());
            }
        }
        Form::Negate(inner) => found.push((**inner).clone()),
        Form::If(parts) => found.extend(parts[1..].iter().cloned()),
        Form::Over(quantifier, inner) => {
            let over = |less| new(Form::Over(*quantifier, Box::new(less)));
            found.extend(shorter(inner).into_iter().map(over));
        }
        _ => {}
    }
    found
}

/// `(a - b) * d mod 2^32 <= c` for `a <= b + c / d`: a product in 32 bits takes the place of the quotient.
fn multiplied(a: &Expression, comparison: Comparison, b: &Expression) -> Option<Expression> {
    let quotient = |form: &Expression| match &form.form {
        Form::Binary(Binary::Divide, pair) => Some((pair[0].clone(), pair[1].clone())),
        _ => None,
    };
    let (rest, (dividend, divisor)) = match &b.form {
        Form::Binary(Binary::Add, pair) => (apart(a, &pair[0]), quotient(&pair[1])?),
        _ => (a.clone(), quotient(b)?),
    };
    let product = binary(Binary::Multiply, rest, divisor);
    Some(compare(binary(Binary::Modulo, product, power(32)), comparison, dividend))
}

/// For two data types that must agree: they have the same width, or different widths.
fn widths(a: &Expression, comparison: Comparison, b: &Expression) -> Vec<Expression> {
    let of_type = |a: &Expression| matches!(&a.form, Form::Name(name) if name.ends_with("DataType"));
    if comparison != Comparison::Equal || !of_type(a) || !of_type(b) {
        return Vec::new();
    }
    let of_width = |a: &Expression, width: usize| {
        let types = DataType::all().filter(|data_type| data_type.element_size() == Some(width));
        let types = types.map(|data_type| new(Form::Name(data_type.to_string()))).collect();
        new(Form::In(Box::new(a.clone()), types))
    };
    let known =
        |a: &Expression| [2, 4, 8].map(|width| of_width(a, width)).into_iter().fold(of_width(a, 1), or);
    let same = [2, 4, 8].map(|width| and(of_width(a, width), of_width(b, width)));
    let same = same.into_iter().fold(and(of_width(a, 1), of_width(b, 1)), or);
    let unknown = compare(a.clone(), Comparison::Equal, integer(0));
    // Codes that agree in their low 8 or 16 bits.
    let ends_like = |bits: u32| {
        let pairs = DataType::all().map(|data_type| {
            let code = i128::from(data_type.0);
            let is = |side: &Expression, code| compare(side.clone(), Comparison::Equal, integer(code));
            and(is(a, code + (1 << bits)), is(b, code))
        });
        pairs.reduce(or)
    };
    let mut found =
        vec![same.clone(), and(not(same), and(known(a), known(b))), not(and(known(a), known(b))), unknown];
    found.extend([8, 16].into_iter().filter_map(ends_like));
    found
}

/// Overlaps with and without an axis that repeats one element.
fn overlapping(tensor: &Expression) -> Vec<Expression> {
    let Form::Name(name) = &tensor.form else { return Vec::new() };
    let of = |field: &str| new(Form::Name(format!("{name}.{field}")));
    let repeats = and(
        compare(of("Strides"), Comparison::Equal, integer(0)),
        compare(of("Sizes"), Comparison::Greater, integer(1)),
    );
    let repeats = new(Form::Over(Quantifier::Any, Box::new(repeats)));
    vec![repeats.clone(), not(repeats)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Library, Scratch};

    /// The ways in which a case breaks clauses of its operator, as texts.
    fn taken(line: &str) -> Vec<String> {
        let library = Library::embedded();
        let case = dmlcts_model::line::parse(line, library.signatures()).expect("a case");
        let operator = library.operator(&case.desc.signature.operator).expect("it is built in");
        let mut scratch = Scratch::default();
        let violated = operator.judge(&case.desc, FeatureLevel::NEWEST, &mut scratch).violated;
        let (mut truths, mut taken) = (Vec::new(), Vec::new());
        let memory = (scratch.values(), &mut truths);
        operator.ways().taken(violated, &case, FeatureLevel::NEWEST, memory, |way, truth| {
            taken.push(format!("{} on {:b}", operator.ways().all()[way].text, truth.on));
        });
        taken
    }

    #[test]
    fn a_window_that_ends_one_late_breaks_its_clause_by_one() {
        let line = "SLICE1 UINT8 in=4,4 out=1,1 InputWindowOffsets=0,2 InputWindowSizes=4,3 \
                    InputWindowStrides=1,1 fill=iota";
        assert_eq!(
            taken(line),
            [
                "not InputWindowOffsets + InputWindowSizes <= InputTensor.Sizes on 10",
                "InputWindowOffsets + InputWindowSizes <= InputTensor.Sizes + 1 on 10",
                "InputWindowOffsets <= InputTensor.Sizes on 10",
                "InputWindowSizes <= InputTensor.Sizes on 10",
            ]
        );
    }

    #[test]
    fn a_sum_that_wraps_around_breaks_its_clause_by_a_lot() {
        let line = "SLICE1 UINT8 in=4 out=1 InputWindowOffsets=4294967295 InputWindowSizes=3 \
                    InputWindowStrides=1 fill=iota";
        let ways = taken(line);
        let wraps = "(InputWindowOffsets + InputWindowSizes) mod 2^32 <= InputTensor.Sizes on 1";
        let signed =
            "(InputWindowOffsets + InputWindowSizes + 2^31) mod 2^32 - 2^31 <= InputTensor.Sizes on 1";
        assert!(ways.iter().any(|way| way == wraps), "{ways:#?}");
        assert!(ways.iter().any(|way| way == signed), "{ways:#?}");
        assert!(!ways.iter().any(|way| way.ends_with("InputTensor.Sizes + 1 on 1")), "{ways:#?}");
    }

    #[test]
    fn total_sizes_are_short_by_each_part_of_the_formula() {
        let line = |total: u64| {
            format!(
                "SLICE UINT16 in=3 out=3 InputTensor.TotalTensorSizeInBytes={total} Offsets=0 Sizes=3 \
                 Strides=1 fill=iota"
            )
        };
        // Three elements of two bytes need eight bytes: six without `align`, and four without their size.
        let has = |total: u64, part: &str| taken(&line(total)).iter().any(|way| way.contains(part));
        let unaligned = "InputTensor.TotalTensorSizeInBytes >= (1 + sum axes";
        assert!(has(7, unaligned) && has(6, unaligned) && !has(5, unaligned));
        let elements = ">= align(1 + sum axes (InputTensor.Sizes - 1) * InputTensor.Strides, 4)";
        assert!(has(4, elements) && !has(3, elements));
        assert!(has(6, "- InputTensor.ElementSize") && !has(5, "- InputTensor.ElementSize"));
        assert_eq!(taken(&line(8)), Vec::<String>::new());
    }

    #[test]
    fn codes_outside_of_a_list_are_ways_and_those_inside_are_not() {
        let operator = Library::embedded().operator("PADDING1").expect("it is built in");
        let of_modes = operator.ways().all().iter().filter(|way| way.text.contains("PaddingMode in ["));
        let codes: Vec<&str> = of_modes.filter_map(|way| way.text.split(" or ").nth(1)).collect();
        let codes: Vec<&str> = codes.into_iter().filter(|code| code.starts_with("PaddingMode in")).collect();
        let wanted = [
            "5",
            "6",
            "7",
            "256, 257, 258, 259, 260",
            "65536, 65537, 65538, 65539, 65540",
            "-1, -2147483648, 2147483648, -2147483647, 2147483649, -2147483646, 2147483650, -2147483645, \
             2147483651, -2147483644, 2147483652",
        ];
        assert_eq!(codes, wanted.map(|code| format!("PaddingMode in [{code}]")));
    }

    #[test]
    fn each_operand_of_and_is_left_out_alone() {
        let operator = Library::embedded().operator("SLICE").expect("it is built in");
        let alignment = operator.clauses().iter().position(|clause| clause.id == "slice.input.alignment");
        let of_it: Vec<&str> = operator
            .ways()
            .all()
            .iter()
            .filter(|way| Some(way.clause) == alignment)
            .map(|way| way.text.as_str())
            .collect();
        let field = "InputTensor.GuaranteedBaseOffsetAlignment";
        assert!(of_it.contains(&format!("{field} == 0 or {field} >= InputTensor.ElementSize").as_str()));
        assert!(of_it.contains(&format!("{field} == 0 or 2^32 mod {field} == 0").as_str()));
    }
}
