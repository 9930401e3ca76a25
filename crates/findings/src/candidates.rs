//! Fresh cases for the evidence, and for operators that a rule leaves out: changes of known cases that no
//! step has asked before.

use std::collections::BTreeSet;

use dmlcts_generate::{
    draw::Draws,
    edit::{fit_sizes, set_tuple, tuple, tuple_ranges, usual_sizes},
};
use dmlcts_model::{Case, FeatureLevel};
use dmlcts_spec::{
    Library, Operator, Scratch,
    expression::{Expression, Form, parse},
};

use crate::{
    fresh::Fresh,
    label::{Label, Labelled},
    learned::Learned,
    mutate::{Donors, mutant, resize_one, sweep, swept_members},
    propose::Asked,
};

/// The times that a member is changed until the desc stays valid.
const ATTEMPTS: usize = 16;
/// The cases that mutants take values from.
pub(crate) const DONORS: usize = 200;

/// The numbers in an expression.
fn numbers(expression: &Expression, found: &mut BTreeSet<i64>) {
    match &expression.form {
        Form::Integer(number) => found.extend(i64::try_from(*number)),
        form => form.for_each(|part| numbers(part, found)),
    }
}

/// Draws cases that no step has asked before.
pub(crate) struct Candidates<'a> {
    library: &'a Library,
    operator: &'a Operator,
    level: FeatureLevel,
    asked: Asked,
    fresh: Fresh<'a>,
    pub(crate) draws: Draws,
    /// The cases that are changed most often: failures.
    pub(crate) failures: Vec<Case>,
    all: Vec<&'a Case>,
    donors: Vec<Case>,
    numbers: Vec<i64>,
    /// The numbers of the rule, and their neighbours.
    bounds: Vec<i64>,
    known: BTreeSet<String>,
    /// The member that was changed last.
    member: usize,
    scratch: Scratch,
}

impl<'a> Candidates<'a> {
    pub(crate) fn new(
        one: &Learned,
        labelled: &'a [Labelled],
        (library, operator): (&'a Library, &'a Operator),
        level: FeatureLevel,
        fresh: Fresh<'a>,
        seed: u64,
    ) -> Self {
        let mut scratch = Scratch::default();
        let is_of = |labelled: &&Labelled| {
            let desc = &labelled.case.desc;
            desc.signature.operator == operator.name() && labelled.label != Label::Unknown
        };
        let mut all = Vec::new();
        let mut failures = Vec::new();
        for Labelled { case, label } in labelled.iter().filter(is_of) {
            if operator.judge(&case.desc, level, &mut scratch).validity() == one.validity {
                all.push(case);
                let failed = matches!(label, Label::Failed(class) if *class == one.class);
                failures.extend(failed.then(|| case.clone()));
            }
        }
        let mut draws = Draws::new(seed);
        let donors = (0..DONORS).filter_map(|_| draws.pick(&all).map(|case| (*case).clone())).collect();
        // Bounds of the rule, and widths at which implementations change.
        let mut of_rule = BTreeSet::new();
        let texts = one.predicates.iter().filter_map(|found| parse(&found.condition).ok());
        texts.for_each(|expression| numbers(&expression, &mut of_rule));
        let next = |number: i64| [number.saturating_sub(1), number, number.saturating_add(1)];
        let bounds: BTreeSet<i64> = of_rule.into_iter().flat_map(next).collect();
        let widths = (3..=16).flat_map(|bit| next(1 << bit));
        let all_numbers: BTreeSet<i64> = (-1..=4).chain(widths).chain(bounds.iter().copied()).collect();
        Self {
            library,
            operator,
            level,
            asked: Asked::like(one.validity, failures.iter(), operator, level),
            fresh,
            draws,
            failures,
            all,
            donors,
            numbers: all_numbers.into_iter().collect(),
            bounds: bounds.into_iter().collect(),
            known: labelled.iter().map(|one| one.case.to_string()).collect(),
            member: 0,
            scratch,
        }
    }

    /// The next case; `None` if those that were drawn are none that may be asked.
    pub(crate) fn next(&mut self) -> Option<Case> {
        let donors = Donors { cases: &self.donors, numbers: &self.numbers };
        let mut case = match self.draws.place(8) {
            0 if self.asked == Asked::Valid => self.fresh.next()?,
            0 if !self.failures.is_empty() => {
                let mut case = self.draws.pick(&self.failures)?.clone();
                resize_one(&mut case, &mut self.draws);
                case
            }
            1..=3 if !self.failures.is_empty() => {
                mutant(self.draws.pick(&self.failures)?, &donors, &mut self.draws)
            }
            4..=6 => return self.swept(),
            _ => mutant(self.draws.pick(&self.all)?, &donors, &mut self.draws),
        };
        if self.draws.chance(1, 4) {
            let member = self.draws.place(swept_members(&case));
            sweep(&mut case, member, &self.bounds, &mut self.draws);
        }
        self.if_askable(case)
    }

    /// A case that differs from a known one in one member. The members take turns, so that each has its share
    /// of the cases, although many values of some members make a desc invalid.
    fn swept(&mut self) -> Option<Case> {
        self.member = self.member.wrapping_add(1);
        for _ in 0..ATTEMPTS {
            let is_failure = self.draws.chance(2, 3) && !self.failures.is_empty();
            let base = if is_failure {
                self.draws.pick(&self.failures)
            } else {
                self.draws.pick(&self.all).copied()
            };
            let mut case = base?.clone();
            let member = self.member % swept_members(&case);
            sweep(&mut case, member, &self.bounds, &mut self.draws);
            let new = self.if_askable(case);
            if new.is_some() {
                return new;
            }
        }
        None
    }

    /// A known case with other numbers on one axis, at which a rule begins or ceases to hold, or next to
    /// them. One number changes, and often others change by the same distance, since few descs stay valid
    /// without.
    pub(crate) fn walked(&mut self, mut is_inside: impl FnMut(&Case) -> bool) -> Option<Case> {
        let failure = self.draws.pick(&self.failures).filter(|_| self.draws.chance(1, 2));
        let mut case = failure.or_else(|| self.draws.pick(&self.all).copied())?.clone();
        let usual = usual_sizes(&case.desc);
        let axis = self.draws.place(case.desc.rank());
        let (from, ranges) = (tuple(&case.desc, axis), tuple_ranges(&case.desc));
        let place = self.draws.place(from.len());
        let mut step = || [1, -1, 0, 0, 0, 0, 0, 0][self.draws.place(8)];
        let mut steps: Vec<i64> = from.iter().map(|_| step()).collect();
        *steps.get_mut(place)? = 1;
        let go = |case: &mut Case, distance: i64| {
            let numbers = from.iter().zip(&steps).zip(&ranges);
            let numbers =
                numbers.map(|((from, step), (least, most))| (from + step * distance).clamp(*least, *most));
            set_tuple(&mut case.desc, axis, &numbers.collect::<Vec<_>>());
            fit_sizes(&mut case.desc, usual);
        };
        let mut holds = |case: &mut Case, distance: i64| {
            go(case, distance);
            is_inside(case)
        };
        let (least, most) = ranges[place];
        let (mut near, mut far) = (0, if self.draws.chance(1, 4) { least } else { most } - from[place]);
        let is_held = holds(&mut case, near);
        if holds(&mut case, far) == is_held {
            return None;
        }
        while far.abs_diff(near) > 1 {
            let middle = near + (far - near) / 2;
            let end = if holds(&mut case, middle) == is_held { &mut near } else { &mut far };
            *end = middle;
        }
        let ends = [2 * near - far, near, far, 2 * far - near];
        go(&mut case, ends[self.draws.place(ends.len())]);
        self.if_askable(case)
    }

    /// Whether a case is one of those that a rule is about.
    pub(crate) fn is_of_kind(&mut self, case: &Case) -> bool {
        let judgement = self.operator.judge(&case.desc, self.level, &mut self.scratch);
        judgement.questions.is_empty() && self.asked.includes(case, judgement)
    }

    /// The case, if it may be asked and was not.
    fn if_askable(&mut self, case: Case) -> Option<Case> {
        let judgement = self.operator.judge(&case.desc, self.level, &mut self.scratch);
        let may_be_asked = self.asked.takes(&case, judgement, &mut self.draws)
            && judgement.questions.is_empty()
            && self.library.broken_bindings(&case).is_empty();
        (may_be_asked && self.known.insert(case.to_string())).then_some(case)
    }
}

#[cfg(test)]
mod tests {
    use dmlcts_model::{Side, line};
    use dmlcts_spec::{Predicate, Validity, program::Values};

    use super::*;

    #[test]
    fn walked_cases_lie_at_the_bound_of_a_rule() {
        let (library, level) = (Library::embedded(), FeatureLevel::NEWEST);
        let operator = library.operator("SLICE").expect("there is one");
        let one = Learned {
            operator: "SLICE".to_owned(),
            class: "wrong".to_owned(),
            validity: Validity::Valid,
            predicates: Vec::new(),
            exact: true,
            estimate: None,
            wrong: 0,
            is_lost: false,
            rounds: 0,
            asked: 0,
            counterexamples: 0,
            weighed: 0,
        };
        let case = line::parse("SLICE FLOAT32 in=9 out=1 Offsets=3 Sizes=1 Strides=2", library.signatures());
        let label = Label::Failed("wrong".to_owned());
        let labelled = [Labelled { case: case.expect("it is a case"), label }];
        let fresh = Fresh::new(library, operator, 1).expect("it draws cases");
        let mut candidates = Candidates::new(&one, &labelled, (library, operator), level, fresh, 1);
        let rule = "any axis InputTensor.Sizes - Offsets + Strides >= 1000003";
        let rule = Predicate::compile(rule, [operator.scope()]).expect(rule);
        let mut values = Values::default();
        let mut distances = BTreeSet::new();
        for _ in 0..400 {
            let Some(case) = candidates.walked(|case| rule.holds(case, level, &mut values)) else { continue };
            let sizes = case.desc.tensor(Side::Input).and_then(|input| input.sizes.clone());
            let number = |list: &str| case.desc.list(list).expect("it has the list")[0];
            let sum = sizes.expect("it has sizes")[0] - number("Offsets") + number("Strides");
            distances.insert(sum - 1_000_003);
        }
        assert!(distances.contains(&-1) && distances.contains(&0), "{distances:?}");
        assert!(distances.iter().all(|distance| (-6..=6).contains(distance)), "{distances:?}");
    }
}
