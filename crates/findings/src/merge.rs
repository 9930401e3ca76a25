//! Finds the predicates that say the same of several operators. A fault in two operators has one cause, and
//! each operator's rule may name that cause in other words.

use dmlcts_model::{Case, FeatureLevel};
use dmlcts_spec::{Library, Operator, Predicate, program::Values};

use crate::{
    learned::Learned,
    near::lacking,
    role::{around_clauses, form, on_output_sizes, translated, with_other_tensor},
};

/// What was learned about an operator, and the cases that it was learned from.
#[derive(Clone)]
pub(crate) struct LearnedSubject<'a> {
    pub(crate) operator: &'a Operator,
    pub(crate) level: FeatureLevel,
    pub(crate) learned: Learned,
    /// Conditions like those of its predicates, with fewer atoms and a few mistakes more.
    pub(crate) simpler: Vec<String>,
    pub(crate) cases: Vec<Case>,
    pub(crate) failed: Vec<bool>,
}

impl LearnedSubject<'_> {
    /// The cases for which a condition holds. `None` if the operator lacks one of its names.
    pub(crate) fn truth(&self, condition: &str, values: &mut Values) -> Option<Vec<bool>> {
        let predicate = Predicate::compile(condition, [self.operator.scope()]).ok()?;
        let holds = |case: &Case| predicate.holds(case, self.level, values);
        Some(self.cases.iter().map(holds).collect())
    }

    /// Whether a condition holds for a case.
    pub(crate) fn holds(&self, condition: &str, case: &Case) -> bool {
        let predicate = Predicate::compile(condition, [self.operator.scope()]);
        predicate.is_ok_and(|predicate| predicate.holds(case, self.level, &mut Values::default()))
    }

    /// The cases that failed.
    fn failures(&self) -> impl Iterator<Item = &Case> {
        self.cases.iter().zip(&self.failed).filter(|(_, failed)| **failed).map(|(case, _)| case)
    }

    /// Counts the mistakes of its predicates again.
    pub(crate) fn recount(&mut self) {
        let mut values = Values::default();
        let predicates = &self.learned.predicates;
        let truths = predicates.iter().filter_map(|found| self.truth(&found.condition, &mut values));
        self.learned.wrong = self.errors(&truths.collect::<Vec<_>>());
        self.learned.exact &= self.learned.wrong == 0;
    }

    /// The number of cases for which a condition holds, among those that failed or those that passed.
    pub(crate) fn held(&self, truth: &[bool], failed: bool) -> usize {
        truth.iter().zip(&self.failed).filter(|(holds, of)| **holds && **of == failed).count()
    }

    /// The cases that conditions together get wrong.
    fn errors(&self, truths: &[Vec<bool>]) -> usize {
        let is_wrong = |case: &usize| truths.iter().any(|truth| truth[*case]) != self.failed[*case];
        (0..self.cases.len()).filter(is_wrong).count()
    }
}

/// Replaces conditions by those that fit more operators, or that are shorter, if they get no more cases
/// wrong.
pub(crate) fn merge(subjects: &mut [LearnedSubject<'_>], library: &Library) {
    let mut values = Values::default();
    let mut conditions: Vec<String> = Vec::new();
    let of = |subject: &LearnedSubject<'_>| -> Vec<String> {
        subject.learned.predicates.iter().map(|found| found.condition.clone()).collect()
    };
    let all: Vec<String> = subjects.iter().flat_map(of).collect();
    for subject in subjects.iter() {
        let failures: Vec<&Case> = subject.failures().collect();
        let own = of(subject).into_iter().map(|own| with_all_clauses(&own, &all).unwrap_or(own));
        let own = own.flat_map(|own| [on_output_sizes(&own, &failures), Some(own)]).flatten();
        for condition in own {
            for other in subjects.iter() {
                let condition = translated(&condition, subject.operator, other.operator);
                // Operators that read whole axes have `Sizes > 1` where others have `highest > 0`.
                let of_read = condition.replace("InputTensor.Sizes > 1", "highest > 0");
                let others = with_other_tensor(&condition).into_iter().chain([of_read]);
                let all = others.filter(|_| subjects.len() > 1).chain([condition]);
                for condition in all {
                    // Other words may make a part needless.
                    conditions.extend(lacking(&condition));
                    conditions.push(condition);
                }
            }
        }
    }
    conditions.extend(all);
    conditions.sort();
    conditions.dedup();
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
    // The same condition has other words for each operator.
    let forms: Vec<String> = conditions.iter().map(|condition| form(condition, library)).collect();
    let uses = |condition: usize| {
        let fits = |other: &usize| forms[*other] == forms[condition];
        fitting.iter().filter(|of| of.iter().any(|fitting| fitting.iter().any(fits))).count()
    };
    let mut order: Vec<usize> = (0..conditions.len()).collect();
    order.sort_by_key(|one| (std::cmp::Reverse(uses(*one)), conditions[*one].len(), &conditions[*one]));
    for (subject, (fitting, truths)) in subjects.iter_mut().zip(fitting.iter().zip(&truths)) {
        let Some(mut own) = own(subject, &conditions, truths) else { continue };
        let most = subject.errors(&own);
        for (place, fitting) in fitting.iter().enumerate() {
            // Another predicate may have been replaced since.
            let fits = |one: &&usize| {
                fitting.contains(one) && fits(subject, &own, place, truths[**one].as_ref(), most)
            };
            let Some(best) = order.iter().find(fits) else { continue };
            let Some(truth) = &truths[*best] else { continue };
            own[place].clone_from(truth);
            let (held_failing, held_passing) = (subject.held(truth, true), subject.held(truth, false));
            let found = &mut subject.learned.predicates[place];
            found.condition.clone_from(&conditions[*best]);
            (found.held_failing, found.held_passing) = (held_failing, held_passing);
        }
    }
}

/// The condition with the clauses of all conditions that differ from it only by the clause that is violated.
/// `None` if there are no others. Each operator has clauses of its own, so one fault may accept what violates
/// a different clause of each.
fn with_all_clauses(condition: &str, all: &[String]) -> Option<String> {
    let [before, clauses, after] = around_clauses(condition)?;
    let others = all.iter().filter_map(|other| around_clauses(other));
    let alike = others.filter(|[start, _, end]| *start == before && *end == after);
    let mut names: Vec<&str> = alike.flat_map(|[_, clauses, _]| clauses.split(", ")).collect();
    names.sort_unstable();
    names.dedup();
    (names.len() > clauses.split(", ").count())
        .then(|| format!("{before}violation in [{}]{after}", names.join(", ")))
}

/// For each predicate of a subject, the conditions that may replace it.
fn replacements(
    subject: &LearnedSubject<'_>,
    conditions: &[String],
    truths: &[Option<Vec<bool>>],
) -> Vec<Vec<usize>> {
    let Some(own) = own(subject, conditions, truths) else {
        return vec![Vec::new(); subject.learned.predicates.len()];
    };
    let most = subject.errors(&own);
    let of = |place| {
        let fits = |condition: &usize| fits(subject, &own, place, truths[*condition].as_ref(), most);
        (0..conditions.len()).filter(fits).collect()
    };
    (0..own.len()).map(of).collect()
}

/// The cases for which each predicate of a subject holds.
fn own(
    subject: &LearnedSubject<'_>,
    conditions: &[String],
    truths: &[Option<Vec<bool>>],
) -> Option<Vec<Vec<bool>>> {
    let of = |found: &crate::LearnedRule| {
        let place = conditions.iter().position(|one| *one == found.condition)?;
        truths.get(place)?.clone()
    };
    subject.learned.predicates.iter().map(of).collect()
}

/// Whether a condition may replace a predicate: all together get at most this many cases wrong.
fn fits(
    subject: &LearnedSubject<'_>,
    own: &[Vec<bool>],
    place: usize,
    condition: Option<&Vec<bool>>,
    most: usize,
) -> bool {
    let Some(truth) = condition else { return false };
    let mut replaced = own.to_vec();
    replaced[place].clone_from(truth);
    subject.errors(&replaced) <= most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_that_differ_by_the_violated_clause_join() {
        let texts = ["violation == a and rank > 1", "violation in [b, c] and rank > 1", "violation == d"];
        let all = texts.map(str::to_owned);
        let joined = Some("violation in [a, b, c] and rank > 1".to_owned());
        assert_eq!(with_all_clauses(texts[0], &all), joined);
        assert_eq!(with_all_clauses(texts[1], &all), joined);
        assert_eq!(with_all_clauses(texts[2], &all), None);
        assert_eq!(with_all_clauses("rank > 1", &all), None);
    }
}
