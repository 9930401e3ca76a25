//! From the spec's checked expressions to the solver's: on one axis, with a setting's values folded in, and
//! everything else that is not a size or a list on that axis left opaque.

use dmlcts_model::{MemberKind, Side};
use dmlcts_spec::{
    Operator,
    expression::{self, Binary, Logic, Quantifier, TermKind},
    program::{Field, Leaf, ListSource},
};

use crate::{
    solve::{Comparison, Condition, Relation, Term, bound as bounded},
    space::{INPUT, OUTPUT},
};

/// What every axis must keep because of one clause, or where one question arises.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    /// The clause's place in the operator's list; questions count on after the clauses.
    pub(crate) clause: usize,
    /// The clause, on one axis.
    pub(crate) that: Condition,
}

/// The clauses that are stated on each axis and say something about its sizes and lists.
pub(crate) fn rules(operator: &Operator, values: &[i64]) -> Vec<Rule> {
    let lowering = Lowering { operator, values, rank: None };
    let clauses = operator.clauses().iter().enumerate();
    clauses.filter_map(|(clause, known)| lowering.rule(clause, &known.term)).collect()
}

/// The questions that are asked on each axis, numbered after the clauses.
pub(crate) fn questions(operator: &Operator, values: &[i64]) -> Vec<Rule> {
    let lowering = Lowering { operator, values, rank: None };
    let questions = operator.questions().iter().zip(operator.clauses().len()..);
    questions.filter_map(|(known, place)| lowering.rule(place, &known.term)).collect()
}

/// The comparisons within what is read, as conditions; the output coordinate is the unknown after the last
/// variable.
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

/// A condition on a desc of some rank, where an unknown stands for its value on any axis: whatever holds over
/// whole domains then holds of every desc whose axes lie within.
pub(crate) fn whole(operator: &Operator, values: &[i64], rank: usize, term: &expression::Term) -> Condition {
    Lowering { operator, values, rank: Some(rank) }.condition(term)
}

/// A constant of the spec as the solver holds it.
fn number(value: i128) -> i64 {
    bounded(value.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64)
}

struct Lowering<'a> {
    operator: &'a Operator,
    values: &'a [i64],
    /// How many axes an unknown stands for; `None` where it stands for its value on one.
    rank: Option<usize>,
}

impl Lowering<'_> {
    fn rule(&self, clause: usize, term: &expression::Term) -> Option<Rule> {
        let that = if term.per_axis {
            self.condition(term)
        } else if let TermKind::Over(Quantifier::All, inner) = &term.kind {
            // What holds on all axes holds on each.
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
                let [condition, a, b] = &**parts;
                let parts = [condition, a, b].map(|part| Box::new(self.condition(part)));
                let [condition, a, b] = parts;
                Condition::If(condition, a, b)
            }
            // Where it is the same over whole domains, it is the same on each axis.
            TermKind::Over(quantifier, inner) if self.rank.is_some() && quantifier.is_condition() => {
                self.condition(inner)
            }
            // Conditions that agree, or quantify over the axes, do not narrow one axis.
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
                // The axes differ, so that this is no power: (-2) * 3 is possible where each is -2 or 3.
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
        // Lists stand in a tuple in the order of the struct, after the sizes.
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

    /// Every comparison in what is read, as a condition of its own.
    fn comparisons(&self, term: &expression::Term, found: &mut Vec<Condition>) {
        match &term.kind {
            TermKind::Compare(comparison, pair) => {
                found.push(Self::compare(*comparison, self.number(&pair[0]), self.number(&pair[1])));
            }
            TermKind::Definition(definition) => self.comparisons(&definition.term, found),
            TermKind::Negate(a) | TermKind::Absolute(a) | TermKind::Not(a) => self.comparisons(a, found),
            TermKind::Binary(binary, pair) => {
                if matches!(binary, Binary::Minimum | Binary::Maximum) {
                    // Where the two are equal, the choice between them turns.
                    found.push(Self::compare(
                        expression::Comparison::Equal,
                        self.number(&pair[0]),
                        self.number(&pair[1]),
                    ));
                }
                pair.iter().for_each(|part| self.comparisons(part, found));
            }
            TermKind::Logic(_, pair) => pair.iter().for_each(|part| self.comparisons(part, found)),
            TermKind::Clamp(parts) => {
                for end in &parts[1..] {
                    found.push(Self::compare(
                        expression::Comparison::Equal,
                        self.number(&parts[0]),
                        self.number(end),
                    ));
                }
                parts.iter().for_each(|part| self.comparisons(part, found));
            }
            TermKind::If(parts) => parts.iter().for_each(|part| self.comparisons(part, found)),
            _ => {}
        }
    }
}
