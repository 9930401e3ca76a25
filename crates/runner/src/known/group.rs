//! A group of failures, and the predicates that tell them from what passed.
//!
//! Predicates are sought with a sample of the cases, and held against all of them: where one holds of a case
//! that passed, that case is added to the sample, and they are sought again.

use dmlcts_model::{Case, FeatureLevel};
use dmlcts_spec::{Operator, Predicate, program::Values};

use super::separate::Separation;
use crate::{Class, Source};

/// As many failures, and as many passes, are looked at at once, evenly spread over all there are. With a
/// thousand conditions they take some 16 MiB.
const MOST_SEEN: usize = 4_096;
/// How often predicates are sought anew, with the passes that the last ones hold of.
const ROUNDS: usize = 8;
/// As many of these passes are added each time.
const MOST_ADDED: usize = 512;

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
    /// Passes that some predicate holds of.
    wrong: Vec<u64>,
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
            if checked.wrong.is_empty() {
                (told, left) = (checked.told, checked.rest);
            }
        }
        if left.is_empty() {
            return (told, left);
        }
        // One fault shows in several ways: what tells the cases of one way often tells those of another.
        for other in others {
            let checked = self.check(reading, passed, &left, std::slice::from_ref(other));
            if checked.wrong.is_empty() && checked.rest.is_empty() {
                told.extend(checked.told);
                return (told, checked.rest);
            }
        }
        let failures = reading.cases(&spread(&left));
        let mut seen = spread(passed);
        for _ in 0..ROUNDS {
            let separation =
                Separation::new((self.operator, reading.level), &failures, &reading.cases(&seen), others);
            let checked = self.check(reading, passed, &left, &separation.predicates());
            let before = seen.len();
            seen.extend(
                checked.wrong.iter().filter(|index| !seen.contains(index)).copied().collect::<Vec<_>>(),
            );
            if seen.len() == before {
                told.extend(checked.told);
                return (told, checked.rest);
            }
        }
        (told, left)
    }

    /// Holds predicates against all cases. Of those that hold of a pass nothing is told.
    fn check(&self, reading: &Reading<'_>, passed: &[u64], failed: &[u64], predicates: &[String]) -> Checked {
        let compile = |text: &String| Predicate::compile(text, [self.operator.scope()]).ok();
        let mut compiled: Vec<_> = predicates
            .iter()
            .filter_map(|text| Some((compile(text)?, Told { predicate: text.clone(), failed: Vec::new() })))
            .collect();
        let (mut wrong, mut values, mut is_wrong) =
            (Vec::new(), Values::default(), vec![false; compiled.len()]);
        reading.each(passed, |index, case| {
            for ((predicate, _), is_wrong) in compiled.iter().zip(&mut is_wrong) {
                if (wrong.len() < MOST_ADDED || !*is_wrong)
                    && predicate.holds(case, reading.level, &mut values)
                {
                    *is_wrong = true;
                    if wrong.last() != Some(&index) {
                        wrong.push(index);
                    }
                }
            }
        });
        let mut is_wrong = is_wrong.into_iter();
        compiled.retain(|_| is_wrong.next() == Some(false));
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
        Checked { told: told.collect(), rest, wrong }
    }
}

impl Group<'_> {
    /// Takes out the failures of which one of these predicates holds.
    pub(super) fn leave_out(&mut self, reading: &Reading<'_>, predicates: &[String]) {
        let checked = self.check(reading, &[], &self.failed, predicates);
        self.failed = checked.rest;
    }
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

/// So many of the indices that memory holds, evenly spread.
fn spread(indices: &[u64]) -> Vec<u64> {
    let step = indices.len().div_ceil(MOST_SEEN).max(1);
    indices.iter().step_by(step).copied().collect()
}

/// A case to read others over.
fn unit() -> Option<Case> {
    let operators = dmlcts_spec::Library::embedded().operators().iter();
    operators.flat_map(Operator::examples).map(|example| example.case.clone()).next()
}

#[cfg(test)]
mod tests {
    use dmlcts_model::line;
    use dmlcts_spec::Library;

    use super::*;
    use crate::{Difference, Listed};

    /// Failures and most passes differ in their strides, and few passes in their data type only: more than
    /// are looked at at once, so that those few are found by what holds of them.
    #[test]
    fn what_disproves_a_predicate_is_looked_at_in_the_next_round() {
        let library = Library::embedded();
        let case = |index: u64, stride: u64, data_type: &str| {
            let offset = index % 8;
            let text = format!("SLICE {data_type} in=40 out=4 Offsets={offset} Sizes=4 Strides={stride}");
            line::parse(&text, library.signatures()).unwrap_or_else(|error| panic!("{text}: {error}"))
        };
        let passes = 2 * MOST_SEEN as u64 + 1;
        let all: Vec<u64> = (0..passes).collect();
        let seen = spread(&all);
        let unseen: Vec<u64> = all.iter().copied().filter(|index| !seen.contains(index)).take(64).collect();
        assert_eq!(unseen.len(), 64);
        let mut cases: Vec<Case> =
            all.iter()
                .map(|index| {
                    if unseen.contains(index) { case(*index, 3, "FLOAT32") } else { case(*index, 1, "UINT8") }
                })
                .collect();
        cases.extend((0..64).map(|index| case(index, 3, "UINT8")));
        let operator = library.operators().iter().find(|operator| operator.name() == "SLICE");
        let group = Group {
            operator: operator.expect("there is SLICE"),
            class: Class::Output(Difference::WrongValue),
            failed: (passes..passes + 64).collect(),
            from: None,
        };
        let source = Listed::new(cases, "given");
        let reading = Reading { source: &source, level: FeatureLevel::NEWEST };
        let (told, rest) = group.told(&reading, &all, (None, &[]));
        assert_eq!((told.len(), rest.len()), (1, 0));
        assert_eq!(told[0].failed, group.failed);
        assert!(
            told[0].predicate.contains("UINT8") && told[0].predicate.contains("Strides"),
            "{}",
            told[0].predicate
        );
    }
}
