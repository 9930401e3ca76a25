//! A group of failures, and the predicates that separate them from the passes.

use dmlcts_findings::{Budget, Cause, Outcomes};
use dmlcts_model::{Case, FeatureLevel};
use dmlcts_spec::{Library, Operator, Predicate, Validity, program::Values};

use crate::{Class, Source};

/// Failures that have their operator and their class in common, and where they came from.
pub(super) struct Group<'a> {
    pub(super) operator: &'a Operator,
    pub(super) class: Class,
    /// Their indices.
    pub(super) failed: Vec<u64>,
    /// The entry that matches all of them, where one does.
    pub(super) from: Option<String>,
}

/// A predicate that holds of no case that passed, and the failures of which it holds first.
pub(super) struct Told {
    pub(super) predicate: String,
    pub(super) failed: Vec<u64>,
}

/// What the predicates of a round come to.
struct Checked {
    told: Vec<Told>,
    /// Of which no predicate holds.
    rest: Vec<u64>,
    /// Whether some predicate holds for a pass.
    is_wrong: bool,
}

/// Where the cases of a group are read, and at which level they are judged.
pub(super) struct Reading<'a> {
    pub(super) source: &'a dyn Source,
    pub(super) level: FeatureLevel,
}

impl Group<'_> {
    /// The predicates that tell these failures from the cases that passed, of these indices, and the failures
    /// that none tells. One that a person wrote is tried first, and those that tell other groups may be parts
    /// of new ones.
    pub(super) fn told(
        &self,
        reading: &Reading<'_>,
        passed: &[u64],
        (written, others): (Option<&str>, &[String]),
    ) -> (Vec<Told>, Vec<u64>) {
        let mut told = Vec::new();
        let mut left = self.failed.clone();
        if let Some(written) = written {
            let checked = self.check(reading, passed, &left, &[written.to_owned()]);
            if !checked.is_wrong {
                (told, left) = (checked.told, checked.rest);
            }
        }
        if left.is_empty() {
            return (told, left);
        }
        // One fault shows in several ways: what tells the cases of one way often tells those of another.
        for other in others {
            let checked = self.check(reading, passed, &left, std::slice::from_ref(other));
            if !checked.is_wrong && checked.rest.is_empty() {
                told.extend(checked.told);
                return (told, checked.rest);
            }
        }
        let outcomes = Outcomes {
            failures: left.iter().map(|index| (*index, self.class.id().to_owned())).collect(),
            passes: passed.to_vec(),
        };
        let Some(blank) = unit() else { return (told, left) };
        let (mut cursor, mut case) = (reading.source.cursor(), blank);
        let mut read = |index: u64| {
            cursor.read(index, &mut case);
            case.clone()
        };
        let of = (Library::embedded(), reading.level);
        let causes = dmlcts_findings::explain(&outcomes, of, 0, Budget::NONE, &mut read, None);
        let causes = causes.iter().filter(|cause| cause.validity.is_some() && cause.passes == 0);
        let predicates: Vec<String> = causes.flat_map(predicates).collect();
        let checked = self.check(reading, passed, &left, &predicates);
        told.extend(checked.told);
        (told, checked.rest)
    }

    /// Holds predicates against all cases. Of those that hold of a pass nothing is told.
    fn check(&self, reading: &Reading<'_>, passed: &[u64], failed: &[u64], predicates: &[String]) -> Checked {
        let compile = |text: &String| Predicate::compile(text, [self.operator.scope()]).ok();
        let mut compiled: Vec<_> = predicates
            .iter()
            .filter_map(|text| Some((compile(text)?, Told { predicate: text.clone(), failed: Vec::new() })))
            .collect();
        let (mut values, mut wrong) = (Values::default(), vec![false; compiled.len()]);
        reading.each(passed, |_, case| {
            for ((predicate, _), is_wrong) in compiled.iter().zip(&mut wrong) {
                *is_wrong = *is_wrong || predicate.holds(case, reading.level, &mut values);
            }
        });
        let is_wrong = wrong.contains(&true);
        let mut wrong = wrong.into_iter();
        compiled.retain(|_| wrong.next() == Some(false));
        let mut rest = Vec::new();
        reading.each(failed, |index, case| {
            let mut holding = compiled
                .iter_mut()
                .filter(|(predicate, _)| predicate.holds(case, reading.level, &mut values));
            match holding.next() {
                Some((_, told)) => told.failed.push(index),
                None => rest.push(index),
            }
        });
        let told = compiled.into_iter().map(|(_, told)| told).filter(|told| !told.failed.is_empty());
        Checked { told: told.collect(), rest, is_wrong }
    }
}

impl Group<'_> {
    /// Takes out the failures of which one of these predicates holds.
    pub(super) fn leave_out(&mut self, reading: &Reading<'_>, predicates: &[String]) {
        let checked = self.check(reading, &[], &self.failed, predicates);
        self.failed = checked.rest;
    }
}

/// The predicates of a cause, two for each operator. One is about all descs. The other is about descs of the
/// cause's validity, because descs of the other validity may pass.
fn predicates(cause: &Cause) -> Vec<String> {
    let judged = if cause.validity == Some(Validity::Invalid) { "invalid" } else { "not invalid" };
    let of_operator = |(operator, condition): &(String, Option<String>)| {
        let operator = format!("operator == {operator}");
        let join = |parts: &[&str]| parts.join(" and ");
        match condition {
            Some(condition) => [join(&[&operator, condition]), join(&[&operator, judged, condition])],
            None => [operator.clone(), join(&[&operator, judged])],
        }
    };
    cause.conditions.iter().flat_map(of_operator).collect()
}

impl Reading<'_> {
    /// The cases at these indices.
    pub(super) fn cases(&self, indices: &[u64]) -> Vec<Case> {
        let mut cases = Vec::with_capacity(indices.len());
        self.each(indices, |_, case| cases.push(case.clone()));
        cases
    }

    /// Calls back with each case at these indices.
    pub(super) fn each(&self, indices: &[u64], mut with: impl FnMut(u64, &Case)) {
        let mut cursor = self.source.cursor();
        let Some(mut case) = unit() else { return };
        for index in indices {
            cursor.read(*index, &mut case);
            with(*index, &case);
        }
    }
}

/// A case to read others over.
fn unit() -> Option<Case> {
    let operators = dmlcts_spec::Library::embedded().operators().iter();
    operators.flat_map(Operator::examples).map(|example| example.case.clone()).next()
}
