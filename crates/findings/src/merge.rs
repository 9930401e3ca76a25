//! Finds the predicates that say the same of several operators. A fault in two operators has one cause, and
//! each operator's rule may name that cause in other words.

use dmlcts_model::{Case, FeatureLevel};
use dmlcts_spec::{Operator, Predicate, program::Values};

use crate::{learned::Learned, role::translated};

/// What was learned about an operator, and the cases that it was learned from.
pub(crate) struct Subject<'a> {
    pub(crate) operator: &'a Operator,
    pub(crate) level: FeatureLevel,
    pub(crate) learned: Learned,
    pub(crate) cases: Vec<Case>,
    pub(crate) failed: Vec<bool>,
}

impl Subject<'_> {
    /// The cases for which a condition holds. `None` if the operator lacks one of its names.
    fn truth(&self, condition: &str, values: &mut Values) -> Option<Vec<bool>> {
        let predicate = Predicate::compile(condition, [self.operator.scope()]).ok()?;
        let holds = |case: &Case| predicate.holds(case, self.level, values);
        Some(self.cases.iter().map(holds).collect())
    }

    /// The cases that conditions together get wrong.
    fn errors(&self, truths: &[Vec<bool>]) -> usize {
        let is_wrong = |case: &usize| truths.iter().any(|truth| truth[*case]) != self.failed[*case];
        (0..self.cases.len()).filter(is_wrong).count()
    }
}

/// Replaces conditions by those that fit more operators, or that are shorter, if they get no more cases
/// wrong.
pub(crate) fn merge(subjects: &mut [Subject<'_>]) {
    let mut values = Values::default();
    let mut conditions: Vec<String> = Vec::new();
    for subject in subjects.iter() {
        for found in &subject.learned.predicates {
            for other in subjects.iter() {
                let condition = translated(&found.condition, subject.operator, other.operator);
                if !conditions.contains(&condition) {
                    conditions.push(condition);
                }
            }
        }
    }
    let truths: Vec<Vec<Option<Vec<bool>>>> = subjects
        .iter()
        .map(|subject| conditions.iter().map(|one| subject.truth(one, &mut values)).collect())
        .collect();
    // For each subject and each of its predicates: the conditions that may replace it.
    let fitting: Vec<Vec<Vec<usize>>> = subjects
        .iter()
        .zip(&truths)
        .map(|(subject, truths)| replacements(subject, &conditions, truths))
        .collect();
    let uses = |condition: usize| {
        fitting.iter().filter(|of| of.iter().any(|fitting| fitting.contains(&condition))).count()
    };
    let mut order: Vec<usize> = (0..conditions.len()).collect();
    order.sort_by_key(|one| (std::cmp::Reverse(uses(*one)), conditions[*one].len(), &conditions[*one]));
    for (subject, (fitting, truths)) in subjects.iter_mut().zip(fitting.iter().zip(&truths)) {
        for (place, fitting) in fitting.iter().enumerate() {
            let Some(best) = order.iter().find(|one| fitting.contains(one)) else { continue };
            let Some(truth) = &truths[*best] else { continue };
            let count = |failed: bool| {
                (0..truth.len()).filter(|case| truth[*case] && subject.failed[*case] == failed).count()
            };
            let (held_failing, held_passing) = (count(true), count(false));
            let found = &mut subject.learned.predicates[place];
            found.condition.clone_from(&conditions[*best]);
            (found.held_failing, found.held_passing) = (held_failing, held_passing);
        }
    }
}

/// For each predicate of a subject, the conditions that may replace it.
fn replacements(
    subject: &Subject<'_>,
    conditions: &[String],
    truths: &[Option<Vec<bool>>],
) -> Vec<Vec<usize>> {
    let place = |condition: &String| conditions.iter().position(|one| one == condition);
    let truth = |place: usize| truths.get(place)?.clone();
    let of = |found: &crate::Found| place(&found.condition).and_then(truth);
    let own: Option<Vec<Vec<bool>>> = subject.learned.predicates.iter().map(of).collect();
    let Some(own) = own else { return vec![Vec::new(); subject.learned.predicates.len()] };
    let most = subject.errors(&own);
    let fits = |predicate: usize, condition: usize| {
        let Some(truth) = truth(condition) else { return false };
        let mut replaced = own.clone();
        replaced[predicate] = truth;
        subject.errors(&replaced) <= most
    };
    let of = |predicate| (0..conditions.len()).filter(|condition| fits(predicate, *condition)).collect();
    (0..own.len()).map(of).collect()
}
