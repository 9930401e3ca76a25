//! The names that expressions may use: an operator's members, the fields of its tensors, enumerators, and
//! definitions from `let`. Loading builds it.

use std::{fmt, sync::Arc};

use dmlcts_model::{DataType, Enumeration, MemberKind, Side, Signature, closest};

use super::{Expression, Mistake, Span, Term, TermKind, parser::KEYWORDS};
use crate::{
    judge::Judge,
    names::suggested,
    oracle::Oracle,
    program::{Field, Leaf, ListSource},
};

/// The type of an expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Type {
    /// A mathematical integer.
    Integer,
    /// True or false.
    Condition,
    /// A `DML_TENSOR_DATA_TYPE`, which has no order.
    DataType,
    /// A feature level.
    Level,
    /// An enumeration, which has no order. In predicates, the operators form one.
    Enumeration(Arc<Enumeration>),
    /// `fill`, or an `if` with a branch that may be `fill`.
    Read,
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer => f.write_str("an integer"),
            Self::Condition => f.write_str("a condition"),
            Self::DataType => f.write_str("a data type"),
            Self::Level => f.write_str("a feature level"),
            Self::Enumeration(enumeration) => write!(f, "an enumerator of {}", enumeration.name),
            Self::Read => f.write_str("a coordinate or `fill`"),
        }
    }
}

/// The position of an expression, which determines the names that it may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Position {
    /// Evaluated once per desc. Values of an axis may only be named under a quantifier such as `any axis`.
    Once,
    /// Evaluated on each axis: a list's name means its value on the axis.
    EachAxis,
    /// Under `let`: once per desc or on each axis, depending on its parts. May use `c`.
    Definition,
    /// Under `read`: on each axis, with the output coordinate `c`. May be `fill`.
    Read,
}

/// A named expression, checked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Definition {
    /// The name.
    pub name: String,
    /// The expression, as it was written.
    pub expression: Expression,
    /// The checked expression.
    pub term: Term,
}

/// The names that the expressions of one operator may use.
#[derive(Clone, Debug)]
pub struct Scope {
    signature: Arc<Signature>,
    enumerations: Vec<Arc<Enumeration>>,
    definitions: Vec<Arc<Definition>>,
    pub(crate) judge: Option<Arc<Judge>>,
    pub(crate) oracle: Option<Arc<Oracle>>,
}

/// The names that a predicate over cases may use in addition to its operator's scope.
#[derive(Clone, Copy, Debug)]
pub struct CaseNames<'a> {
    /// The operators, as the enumeration that `operator` belongs to.
    pub operators: &'a Arc<Enumeration>,
    /// The scopes of all operators. Their names are known; a name is undefined for a case whose operator does
    /// not have it.
    pub scopes: &'a [&'a Scope],
}

/// The meaning of a name.
pub(super) enum Resolved {
    Term(TermKind, Type),
    List(ListSource),
    Tensor(Side),
    /// The scalar union at this index of the signature, which has no value in expressions.
    Scalar(usize),
}

impl Scope {
    /// The scope of an operator, with the enumerations of its members and without definitions.
    pub fn new(signature: Arc<Signature>) -> Self {
        let mut scope =
            Self { signature, enumerations: Vec::new(), definitions: Vec::new(), judge: None, oracle: None };
        let members: Vec<_> = scope.signature.members.iter().map(|member| member.kind.clone()).collect();
        for kind in members {
            if let MemberKind::Enumeration(enumeration) = kind {
                scope.add_enumeration(enumeration);
            }
        }
        scope
    }

    /// Allows predicates over cases to ask for a desc's validity and for the data that a case moves, and to
    /// name the clauses.
    pub(crate) fn over_cases(self, judge: &Arc<Judge>, oracle: &Arc<Oracle>) -> Self {
        let mut scope = Self { judge: Some(Arc::clone(judge)), oracle: Some(Arc::clone(oracle)), ..self };
        scope.add_enumeration(Arc::clone(&judge.names));
        scope
    }

    /// Adds an enumeration, unless one with the same name is present.
    pub fn add_enumeration(&mut self, enumeration: Arc<Enumeration>) {
        if self.enumerations.iter().all(|known| known.name != enumeration.name) {
            self.enumerations.push(enumeration);
        }
    }

    /// The signature of the operator.
    pub fn signature(&self) -> &Arc<Signature> {
        &self.signature
    }

    /// The definitions so far, in order.
    pub fn definitions(&self) -> &[Arc<Definition>] {
        &self.definitions
    }

    /// Defines a name for later expressions. The name of a definition about a tensor may start with
    /// `InputTensor.` or `OutputTensor.`. The mistake's span is in the expression; it is empty at the
    /// expression's start if the name itself is invalid.
    pub fn define(&mut self, name: &str, expression: Expression) -> Result<Arc<Definition>, Mistake> {
        let at = Span::new(expression.span.start, expression.span.start);
        let word = Side::BOTH
            .into_iter()
            .find_map(|side| name.strip_prefix(side.member_name())?.strip_prefix('.'))
            .unwrap_or(name);
        let is_word = !word.is_empty()
            && !word.starts_with(|letter: char| letter.is_ascii_digit())
            && word.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        if !is_word || KEYWORDS.contains(&word) {
            return Err(Mistake::new(at, format!("`{name}` cannot be a name"))
                .help("a name has letters, digits and underscores, and is no word of the language"));
        }
        if self.names().iter().any(|known| known == name) || self.constants(name).next().is_some() {
            return Err(Mistake::new(at, format!("`{name}` already means something"))
                .help("choose a name of its own for each definition"));
        }
        let term = self.check(&expression, Position::Definition)?;
        let definition = Arc::new(Definition { name: name.to_owned(), expression, term });
        self.definitions.push(Arc::clone(&definition));
        Ok(definition)
    }

    /// Checks an expression of any type.
    pub fn check(&self, expression: &Expression, place: Position) -> Result<Term, Mistake> {
        super::check::check(self, None, expression, place, None)
    }

    /// Checks an expression that must be a condition.
    pub fn condition(&self, expression: &Expression, place: Position) -> Result<Term, Mistake> {
        super::check::check(self, None, expression, place, Some(&Type::Condition))
    }

    /// Checks a read: an input coordinate on an axis, or `fill`.
    pub fn read(&self, expression: &Expression) -> Result<Term, Mistake> {
        super::check::check(self, None, expression, Position::Read, Some(&Type::Read))
    }

    /// Checks a predicate over cases. It may also use the names of [`CaseNames`]: `operator`, `valid`,
    /// `invalid`, `open`, `violations`, `violation`, `moved_precision`, `padded_precision`, `moved_bits`,
    /// `padded_bits`, `InputBinding.Offset`, `OutputBinding.Offset`, the names of other operators, and the
    /// functions `moves` and `pads`.
    pub fn predicate(&self, names: CaseNames<'_>, expression: &Expression) -> Result<Term, Mistake> {
        super::check::check(self, Some(names), expression, Position::Once, Some(&Type::Condition))
    }

    /// The enumerators and data types with this name.
    pub(crate) fn constants<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (i128, Type)> + 'a {
        let data_type = DataType::from_name(name).map(|it| (i128::from(it.0), Type::DataType));
        data_type.into_iter().chain(self.enumerations.iter().filter_map(|enumeration| {
            let value = enumeration.value(name)?;
            Some((i128::from(value), Type::Enumeration(Arc::clone(enumeration))))
        }))
    }

    /// The meaning of a name that is not a constant.
    pub(super) fn find(&self, name: &str) -> Option<Resolved> {
        let integer = |leaf| Some(Resolved::Term(TermKind::Leaf(leaf), Type::Integer));
        match name {
            "axis" => return integer(Leaf::Axis),
            "rank" => return integer(Leaf::Length(ListSource::Sizes(Side::Input))),
            "c" => return integer(Leaf::Coordinate),
            "level" => return Some(Resolved::Term(TermKind::Leaf(Leaf::Level), Type::Level)),
            _ => {}
        }
        if let Some(definition) = self.definitions.iter().find(|definition| definition.name == name) {
            let term = TermKind::Definition(Arc::clone(definition));
            return Some(Resolved::Term(term, definition.term.value_type.clone()));
        }
        if let Some(side) = Side::BOTH.into_iter().find(|side| side.member_name() == name) {
            return Some(Resolved::Tensor(side));
        }
        if let Some((tensor, field)) = name.split_once('.') {
            let side = Side::BOTH.into_iter().find(|side| side.member_name() == tensor)?;
            return match field {
                "Sizes" => Some(Resolved::List(ListSource::Sizes(side))),
                "Strides" => Some(Resolved::List(ListSource::Strides(side))),
                "PackedStrides" => Some(Resolved::List(ListSource::PackedStrides(side))),
                _ => {
                    let field = Field::from_name(field)?;
                    let kind = if field == Field::DataType { Type::DataType } else { Type::Integer };
                    Some(Resolved::Term(TermKind::Leaf(Leaf::Field(side, field)), kind))
                }
            };
        }
        let position = self.signature.position(name)?;
        let kind = match &self.signature.members[position].kind {
            MemberKind::Count | MemberKind::U32 | MemberKind::I32 => Type::Integer,
            MemberKind::Enumeration(enumeration) => Type::Enumeration(Arc::clone(enumeration)),
            MemberKind::DataType => Type::DataType,
            MemberKind::U32List | MemberKind::I32List => {
                return Some(Resolved::List(ListSource::Member(position)));
            }
            MemberKind::Scalar => return Some(Resolved::Scalar(position)),
        };
        Some(Resolved::Term(TermKind::Leaf(Leaf::Member(position)), kind))
    }

    /// Every name that is not a constant.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = ["axis", "rank", "c", "level"].map(str::to_owned).into();
        names.extend(self.definitions.iter().map(|definition| definition.name.clone()));
        names.extend(self.signature.members.iter().map(|member| member.name.clone()));
        for side in Side::BOTH {
            names.push(side.member_name().to_owned());
            let lists = ["Sizes", "Strides", "PackedStrides"].into_iter();
            names.extend(
                lists.chain(Field::ALL.map(Field::name)).map(|name| format!("{}.{name}", side.member_name())),
            );
        }
        names
    }

    fn constant_names(&self) -> impl Iterator<Item = &str> {
        let types = DataType::all().filter_map(|kind| -> Option<&str> { kind.name() });
        types.chain(self.enumerations.iter().flat_map(|enumeration| enumeration.names()))
    }

    /// The mistake of an unknown name, with similar names. If the expected type is known, it suggests members
    /// of that type.
    pub(super) fn unknown(
        &self,
        name: &str,
        span: Span,
        expected: Option<&Type>,
        more: &[String],
    ) -> Mistake {
        let mistake = Mistake::new(span, format!("`{name}` means nothing here"));
        if name == "Tensor" || name.starts_with("Tensor.") {
            return mistake.help(
                "`Tensor` stands for both tensors in clauses that are stated for each tensor; \
                 elsewhere write `InputTensor` or `OutputTensor`",
            );
        }
        let names: Vec<String> = self.names().into_iter().chain(more.iter().cloned()).collect();
        let field = format!("InputTensor.{name}");
        if names.contains(&field) {
            return mistake.help(format!("did you mean `{field}`?"));
        }
        // Both tensors of a case that is asked have one rank.
        if name.ends_with("Tensor.Rank") && names.iter().any(|known| known == "rank") {
            return mistake.help("did you mean `rank`?");
        }
        match expected {
            Some(Type::Enumeration(enumeration)) => {
                let known = enumeration.names();
                // The misspelled name may be the other side of the comparison.
                let other = || closest(name, names.iter().map(String::as_str));
                let near = closest(name, known.iter().copied()).or_else(other);
                let all = || format!("the enumerators of {} are {}", enumeration.name, known.join(", "));
                mistake.help(suggested(near, all))
            }
            Some(Type::DataType) => {
                let known: Vec<_> = DataType::all().filter_map(DataType::name).collect();
                let near = closest(name, known.iter().copied().chain(names.iter().map(String::as_str)));
                mistake.help(suggested(near, || format!("the data types are {}", known.join(", "))))
            }
            _ => {
                let all = names.iter().map(String::as_str).chain(self.constant_names());
                mistake.help(match closest(name, all) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None if name.starts_with("InputTensor.") || name.starts_with("OutputTensor.") => {
                        let fields = Field::ALL.map(Field::name).join(", ");
                        format!("a tensor has the fields Sizes, Strides, {fields}")
                    }
                    None if !more.is_empty() => {
                        "`dmlcts spec show` names the members of an operator; any case has `operator`, `level` and `rank`"
                            .to_owned()
                    }
                    None => {
                        let members: Vec<_> =
                            self.signature.members.iter().map(|member| member.name.as_str()).collect();
                        let of = &self.signature.operator;
                        format!("the members of {of} are InputTensor, OutputTensor, {}", members.join(", "))
                    }
                })
            }
        }
    }
}

/// Compares types. Enumerations are equal if their names are.
pub(super) fn same_type(one: &Type, other: &Type) -> bool {
    match (one, other) {
        (Type::Enumeration(one), Type::Enumeration(other)) => one.name == other.name,
        _ => one == other,
    }
}
