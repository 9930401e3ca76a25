//! The cause of failures, with the conditions under which it shows.

use std::collections::BTreeSet;

use dmlcts_spec::Validity;

use crate::experiment::Estimate;

/// Failures of one kind with one cause, as far as the cases tell.
#[derive(Clone, PartialEq, Debug)]
pub struct Cause {
    /// The kind of the failures.
    pub kind: String,
    /// The operators, in the library's order, each with a condition on its cases. `None` if no condition
    /// separates the failures from the passes: then the failures have only their operator and kind in common.
    pub conditions: Vec<(String, Option<String>)>,
    /// Whether the condition is about valid descs, or about invalid ones.
    pub validity: Option<Validity>,
    /// The failures, in ascending order.
    pub failures: Vec<u64>,
    /// The number of passes for which the condition holds, and whose data could have shown the failure.
    pub passes: usize,
    /// What fresh cases say of the condition; `None` if none were asked.
    pub estimate: Option<Estimate>,
    /// The number of cases that experiments asked.
    pub asked: usize,
    /// Whether the condition and the others of its kind together are right about every case of the run and
    /// every fresh one.
    pub exact: bool,
}

impl Cause {
    /// Failures of an operator that no condition separates from the passes.
    pub fn unexplained(kind: String, operator: String, failures: Vec<u64>) -> Self {
        Self {
            kind,
            conditions: vec![(operator, None)],
            validity: None,
            failures,
            passes: 0,
            estimate: None,
            asked: 0,
            exact: false,
        }
    }

    /// Whether both are about failures of one kind.
    pub(crate) fn is_of_kind(&self, other: &Self) -> bool {
        self.kind == other.kind && self.validity == other.validity
    }

    /// Adds the failures of another condition of the same cause.
    pub(crate) fn join(&mut self, other: Self) {
        self.conditions.extend(other.conditions);
        let all: BTreeSet<u64> = self.failures.drain(..).chain(other.failures).collect();
        self.failures = all.into_iter().collect();
        self.passes += other.passes;
        self.asked += other.asked;
        self.exact &= other.exact;
        self.estimate = match (self.estimate, other.estimate) {
            (Some(one), Some(other)) => Some(one.with(other)),
            _ => None,
        };
    }

    /// The operators.
    pub fn operators(&self) -> impl Iterator<Item = &str> {
        self.conditions.iter().map(|(operator, _)| operator.as_str())
    }

    /// The conditions with the operators: a predicate over all cases. `all` is the number of operators that
    /// there are.
    pub fn predicate(&self, all: usize) -> String {
        let mut distinct: Vec<(Option<&str>, Vec<&str>)> = Vec::new();
        for (operator, condition) in &self.conditions {
            let condition = condition.as_deref();
            match distinct.iter_mut().find(|(known, _)| *known == condition) {
                // Two rules of an operator may have come to say the same.
                Some((_, operators)) if operators.contains(&operator.as_str()) => {}
                Some((_, operators)) => operators.push(operator),
                None => distinct.push((condition, vec![operator])),
            }
        }
        let place = |operator: &str| self.operators().position(|known| known == operator);
        distinct.sort_by_key(|(condition, operators)| {
            (std::cmp::Reverse(operators.len()), place(operators[0]), *condition)
        });
        let is_one = distinct.len() == 1;
        let parts = distinct.into_iter().map(|(condition, operators)| {
            let named = match operators.as_slice() {
                [one] => format!("operator == {one}"),
                some => format!("operator in [{}]", some.join(", ")),
            };
            match condition {
                Some(condition) if operators.len() == all => condition.to_owned(),
                Some(condition) if is_one => format!("{named} and {condition}"),
                Some(condition) => format!("({named} and {condition})"),
                None => named,
            }
        });
        parts.collect::<Vec<_>>().join(" or ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_predicate_names_each_operator_once_and_its_parts_have_one_order() {
        let of = |conditions: &[(&str, &str)]| {
            let own = |(operator, condition): &(&str, &str)| {
                ((*operator).to_owned(), Some((*condition).to_owned()))
            };
            Cause {
                kind: String::new(),
                conditions: conditions.iter().map(own).collect(),
                validity: None,
                failures: Vec::new(),
                passes: 0,
                estimate: None,
                asked: 0,
                exact: true,
            }
            .predicate(3)
        };
        assert_eq!(
            of(&[("SLICE", "a"), ("SLICE1", "a"), ("SLICE", "a")]),
            "operator in [SLICE, SLICE1] and a"
        );
        let parts = "(operator in [SLICE, SLICE1] and b) or (operator == SLICE and a)";
        assert_eq!(of(&[("SLICE", "a"), ("SLICE", "b"), ("SLICE1", "b")]), parts);
        assert_eq!(of(&[("SLICE", "b"), ("SLICE1", "b"), ("SLICE", "a")]), parts);
    }
}
