//! Lowers the spec's checked expressions to the solver's. The result applies to one axis and has a setting's
//! values folded in. Inputs other than sizes and lists on that axis become opaque.

use dmlcts_model::{MemberKind, Side};
use dmlcts_spec::{
    Operator,
    expression::{self, Binary, Logic, Quantifier, TermKind},
    program::{Field, Leaf, ListSource},
};

use crate::solve::{Comparison, Condition, Relation, Term, bound as bounded};

/// The unknown that stands for the input size: its index in a tuple.
pub(crate) const INPUT: usize = 0;
/// The unknown that stands for the output size: its index in a tuple.
pub(crate) const OUTPUT: usize = 1;

/// The condition of one clause or question on an axis.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    /// The index of the clause. Indices of questions follow those of the clauses.
    pub(crate) clause: usize,
    /// The condition on one axis.
    pub(crate) that: Condition,
}

/// The clauses on axes that restrict sizes or lists.
pub(crate) fn rules(operator: &Operator, values: &[i64]) -> Vec<Rule> {
    let lowering = Lowering { operator, values, rank: None };
    let clauses = operator.clauses().iter().enumerate();
    clauses.filter_map(|(clause, known)| lowering.rule(clause, &known.term)).collect()
}

/// The questions on axes. Their indices follow those of the clauses.
pub(crate) fn questions(operator: &Operator, values: &[i64]) -> Vec<Rule> {
    let lowering = Lowering { operator, values, rank: None };
    let questions = operator.questions().iter().zip(operator.clauses().len()..);
    questions.filter_map(|(known, place)| lowering.rule(place, &known.term)).collect()
}

/// The comparisons within reads, as conditions. The output coordinate is the unknown after the last variable.
pub(crate) fn reads(operator: &Operator, values: &[i64]) -> Vec<Condition> {
    let lowering = Lowering { operator, values, rank: None };
    let semantics = operator.semantics();
    let chosen = semantics.by.and_then(|member| values.get(member)).copied();
    let branches =
        semantics.branches.iter().filter(|branch| branch.value.is_none() || branch.value == chosen);
    let mut found = Vec::new();
    for branch in branches {
        lowering.comparisons(&branch.term, &mut found);
    }
    found
}

/// A condition on one axis, with a setting's values folded in.
pub(crate) fn bound(operator: &Operator, values: &[i64], term: &expression::Term) -> Condition {
    Lowering { operator, values, rank: None }.condition(term)
}

/// A condition on a desc of some rank, in which an unknown stands for its value on any axis. If the condition
/// holds over whole domains, it holds for every desc with axes in these domains.
pub(crate) fn whole(operator: &Operator, values: &[i64], rank: usize, term: &expression::Term) -> Condition {
    Lowering { operator, values, rank: Some(rank) }.condition(term)
}

/// A constant of the spec, limited to the solver's range.
fn number(value: i128) -> i64 {
    bounded(value.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64)
}

struct Lowering<'a> {
    operator: &'a Operator,
    values: &'a [i64],
    /// The number of axes that an unknown stands for; `None` if it stands for its value on one axis.
    rank: Option<usize>,
}

impl Lowering<'_> {
    fn rule(&self, clause: usize, term: &expression::Term) -> Option<Rule> {
        let that = if term.per_axis {
            self.condition(term)
        } else if let TermKind::Over(Quantifier::All, inner) = &term.kind {
            // A condition on all axes applies to each axis.
            self.condition(inner)
        } else {
            return None;
        };
        (that.unknowns() != 0).then_some(Rule { clause, that })
    }

    fn condition(&self, term: &expression::Term) -> Condition {
        match &term.kind {
            TermKind::Definition(definition) => self.condition(&definition.term),
            TermKind::Constant(value) => Condition::Constant(*value != 0),
            TermKind::Not(a) => self.condition(a).negated(),
            TermKind::Compare(comparison, pair) => {
                Self::compare(*comparison, self.number(&pair[0]), self.number(&pair[1]))
            }
            TermKind::In(a, members) => {
                let a = self.number(a);
                let equal = |member| Comparison::new(Relation::Equal, a.clone(), self.number(member));
                Condition::Any(members.iter().map(equal).map(Condition::Compare).collect())
            }
            TermKind::Logic(logic, pair) => {
                let pair = pair.iter().map(|part| self.condition(part)).collect();
                match logic {
                    Logic::And => Condition::All(pair),
                    Logic::Or => Condition::Any(pair),
                }
            }
            TermKind::If(parts) => {
                let [condition, a, b] = parts.each_ref().map(|part| Box::new(self.condition(part)));
                Condition::If(condition, a, b)
            }
            // A condition that holds over whole domains has the same value on each axis.
            TermKind::Over(quantifier, inner) if self.rank.is_some() && quantifier.is_condition() => {
                self.condition(inner)
            }
            // Equality of conditions and quantifiers over the axes do not restrict one axis.
            _ => Condition::Opaque,
        }
    }

    fn compare(comparison: expression::Comparison, left: Term, right: Term) -> Condition {
        use expression::Comparison as Written;
        let (relation, left, right) = match comparison {
            Written::Equal => (Relation::Equal, left, right),
            Written::NotEqual => (Relation::NotEqual, left, right),
            Written::Less => (Relation::Less, left, right),
            Written::LessOrEqual => (Relation::AtMost, left, right),
            Written::Greater => (Relation::Less, right, left),
            Written::GreaterOrEqual => (Relation::AtMost, right, left),
        };
        Condition::Compare(Comparison::new(relation, left, right))
    }

    fn number(&self, term: &expression::Term) -> Term {
        match &term.kind {
            TermKind::Constant(value) => Term::Number(number(*value)),
            TermKind::Definition(definition) => self.number(&definition.term),
            TermKind::Leaf(leaf) => self.leaf(*leaf),
            TermKind::Negate(a) => self.number(a).negate(),
            TermKind::Absolute(a) => Term::Absolute(Box::new(self.number(a))),
            TermKind::Binary(binary, pair) => {
                Self::binary(*binary, self.number(&pair[0]), self.number(&pair[1]))
            }
            TermKind::Clamp(parts) => {
                let [value, low, high] = &**parts;
                let above = Term::Maximum(Box::new(self.number(value)), Box::new(self.number(low)));
                Term::Minimum(Box::new(above), Box::new(self.number(high)))
            }
            TermKind::If(parts) => {
                let [condition, a, b] = &**parts;
                let condition = Box::new(self.condition(condition));
                Term::If(condition, Box::new(self.number(a)), Box::new(self.number(b)))
            }
            TermKind::Over(quantifier, inner) => match (self.rank, quantifier) {
                (Some(rank), Quantifier::Sum) => {
                    Term::Multiply(Box::new(Term::Number(rank as i64)), Box::new(self.number(inner)))
                }
                // The factors may differ between axes, so this is not a power: (-2) * 3 is possible if each
                // is -2 or 3.
                (Some(rank), Quantifier::Product) => (0..rank).fold(Term::Number(1), |product, _| {
                    Term::Multiply(Box::new(product), Box::new(self.number(inner)))
                }),
                _ => Term::Opaque,
            },
            _ => Term::Opaque,
        }
    }

    fn binary(binary: Binary, a: Term, b: Term) -> Term {
        let (a, b) = (Box::new(a), Box::new(b));
        match binary {
            Binary::Add => a.add(*b),
            Binary::Subtract => a.add(b.negate()),
            Binary::Multiply => Term::Multiply(a, b),
            Binary::Divide => Term::Divide(a, b),
            Binary::Modulo => Term::Modulo(a, b),
            Binary::Minimum => Term::Minimum(a, b),
            Binary::Maximum => Term::Maximum(a, b),
            Binary::Align => Term::Opaque,
        }
    }

    fn leaf(&self, leaf: Leaf) -> Term {
        let members = &self.operator.signature().members;
        // In a tuple, the lists follow the sizes in the order of the struct.
        let place = |member: usize| 2 + members[..member].iter().filter(|known| known.kind.is_list()).count();
        match leaf {
            Leaf::List(ListSource::Sizes(Side::Input)) => Term::Unknown(INPUT),
            Leaf::List(ListSource::Sizes(Side::Output)) => Term::Unknown(OUTPUT),
            Leaf::List(ListSource::Member(member)) => Term::Unknown(place(member)),
            Leaf::Field(_, Field::DimensionCount) => self.rank(),
            Leaf::Member(member) => match members.get(member).map(|known| &known.kind) {
                Some(MemberKind::Count) => self.rank(),
                Some(MemberKind::U32 | MemberKind::I32 | MemberKind::Enumeration(_)) => {
                    Term::Number(self.values[member])
                }
                _ => Term::Opaque,
            },
            Leaf::Coordinate => Term::Unknown(place(members.len())),
            _ => Term::Opaque,
        }
    }

    fn rank(&self) -> Term {
        self.rank.map_or(Term::Opaque, |rank| Term::Number(rank as i64))
    }

    /// Collects every comparison in a read as a separate condition.
    fn comparisons(&self, term: &expression::Term, found: &mut Vec<Condition>) {
        let equal = |a, b| Self::compare(expression::Comparison::Equal, self.number(a), self.number(b));
        match &term.kind {
            TermKind::Compare(comparison, pair) => {
                return found.push(Self::compare(*comparison, self.number(&pair[0]), self.number(&pair[1])));
            }
            TermKind::Definition(definition) => return self.comparisons(&definition.term, found),
            TermKind::In(..) | TermKind::Over(..) | TermKind::On(..) | TermKind::Agree(..) => return,
            // Equality is the boundary at which the choice changes.
            TermKind::Binary(Binary::Minimum | Binary::Maximum, pair) => {
                found.push(equal(&pair[0], &pair[1]));
            }
            TermKind::Clamp(parts) => found.extend(parts[1..].iter().map(|end| equal(&parts[0], end))),
            _ => {}
        }
        term.kind.parts().iter().for_each(|part| self.comparisons(part, found));
    }
}
