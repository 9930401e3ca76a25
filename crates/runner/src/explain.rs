//! Explains the failures of a run: turns them into findings, each with a predicate where one separates it
//! from the passes. Experiments run more cases to check the predicates.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use dmlcts_findings::{Budget, Cause, Label, Outcomes, shows_places};
use dmlcts_model::{Case, Outcome};
use dmlcts_spec::{Operator, Validity};

use crate::{
    Class, Failure, Finding, Found, Group, OTHER_DATA, Rate, Verdict,
    alone::Alone,
    finding::{self, FailureKind, Rule},
    pattern::pattern,
    shared::Shared,
    witnessed::Witnessed,
};

/// The cost of the experiments for each operator and kind of failures.
const CASES: usize = 2_000;
const TIME: Duration = Duration::from_secs(10);
/// The number of hangs after which no further experiment runs.
const HANGS: usize = 2;
/// The number of passes that predicates are held against.
const PASSES: usize = 1 << 20;
/// The failures of each finding that run again alone, besides its first.
const AGAIN: usize = 4;

/// What explaining the failures may cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Cost {
    /// The deadline of experiments and further repeats. With `None`, there are none.
    pub(crate) end: Option<Instant>,
    /// The number of times that a failure runs again alone.
    pub(crate) retries: u32,
}

/// Turns failures into findings.
pub(crate) struct Explainer<'a, 'run> {
    pub(crate) shared: &'run Shared,
    pub(crate) alone: &'a mut Alone<'run>,
    /// The first failures, which ran again alone when they were found.
    pub(crate) groups: &'a [Group],
    pub(crate) cost: Cost,
}

impl Explainer<'_, '_> {
    /// The findings, the most severe first.
    pub(crate) fn findings(&mut self, witnessed: &Witnessed) -> Vec<Finding> {
        let shared = self.shared;
        let kind = |found: &Found| FailureKind::of(found.class, &found.outcome).to_string();
        let failures: BTreeMap<u64, String> =
            witnessed.failures.iter().map(|(index, found)| (*index, kind(found))).collect();
        let outcomes = Outcomes { failures, passes: witnessed.passes(PASSES) };
        let budget = Budget { cases: if self.may_run() { CASES } else { 0 }, time: TIME };
        let seed = 0;
        let mut cursor = shared.source.cursor();
        let mut blank = self.groups.first().map(|group| group.first.case.clone());
        let Some(blank) = blank.as_mut() else { return Vec::new() };
        let mut read = |index: u64| {
            cursor.read(index, blank);
            let mut case = blank.clone();
            // A case with other data is another case.
            if witnessed.failures.get(&index).is_some_and(|found| found.only_other_data) {
                case.fill = OTHER_DATA;
            }
            case
        };
        let mut hangs = 0;
        let mut ask =
            |cases: &[Case]| -> Vec<Label> { cases.iter().map(|case| self.ask(case, &mut hangs)).collect() };
        let ask: Option<&mut dmlcts_findings::Ask<'_>> = if budget.cases > 0 { Some(&mut ask) } else { None };
        let causes =
            dmlcts_findings::explain(&outcomes, (shared.library, shared.level), seed, budget, &mut read, ask);
        let mut findings: Vec<Finding> =
            causes.iter().filter_map(|cause| self.finding(cause, witnessed)).collect();
        let flakes = self.groups.iter().filter(|group| group.first.verdict == Verdict::Flake);
        findings.extend(flakes.map(Finding::of_group));
        findings.sort_by_key(Finding::order);
        findings
    }

    /// Whether more cases may run.
    fn may_run(&self) -> bool {
        let is_over = self.cost.end.is_none_or(|end| Instant::now() >= end);
        !is_over && !self.shared.stop.is_interrupted()
    }

    /// Runs a fresh case. Its label is unknown if it says nothing, or if nothing more may run.
    fn ask(&mut self, case: &Case, hangs: &mut usize) -> Label {
        if *hangs >= HANGS || !self.may_run() {
            return Label::Unknown;
        }
        let Some(alone) = self.alone.examine(case, 0, 0) else { return Label::Unknown };
        *hangs += usize::from(alone.outcome == Outcome::TimedOut);
        match (alone.verdict, alone.class) {
            // A refusal of an invalid desc may come from an open question.
            (Verdict::Pass, _) if !alone.too_large && alone.judgement.questions.is_empty() => Label::Passed,
            // It passes with its own data. If they show an element from a wrong place, that says something.
            (Verdict::Fail, _) if alone.only_other_data && self.fails_with_other_data(case) => {
                if shows_places(case) { Label::Passed } else { Label::Unknown }
            }
            (Verdict::Fail | Verdict::Crash | Verdict::Timeout, Some(class)) => {
                Label::Failed(FailureKind::of(class, &alone.outcome).to_string())
            }
            _ => Label::Unknown,
        }
    }

    /// Whether a case fails if other data are its own: then the data decide, and no earlier run.
    fn fails_with_other_data(&mut self, case: &Case) -> bool {
        let other = Case { fill: OTHER_DATA, ..case.clone() };
        let alone = self.alone.examine(&other, 0, 0);
        alone.is_some_and(|alone| alone.verdict == Verdict::Fail && !alone.only_other_data)
    }

    fn finding(&mut self, cause: &Cause, witnessed: &Witnessed) -> Option<Finding> {
        let of = |index: &u64| witnessed.failures.get(index);
        let class = most_frequent(cause.failures.iter().filter_map(of).map(|found| found.class))?;
        let with_class = |index: &&u64| of(index).is_some_and(|found| found.class == class);
        let alike: Vec<u64> = cause.failures.iter().filter(with_class).copied().collect();
        let (first, [again, passed_again]) = self.first(&alike, witnessed)?;
        let names = self.shared.library.operators().iter().map(Operator::name);
        let operators: Vec<&'static str> =
            names.filter(|name| cause.operators().any(|one| one == *name)).collect();
        let all = self.shared.library.operators().len();
        let rule = cause.validity.map(|validity| Rule {
            predicate: cause.predicate(all),
            validity,
            passes: cause.passes as u64,
            asked: cause.asked as u64,
            estimate: cause.estimate,
            is_exact: cause.exact,
        });
        let of_rule = |rule: &Rule| match rule.validity {
            Validity::Invalid => format!("{} among invalid descs", rule.predicate),
            _ => rule.predicate.clone(),
        };
        let what = rule.as_ref().map_or_else(|| first.case.to_string(), of_rule);
        Some(Finding {
            id: finding::id(&operators, class, &what),
            class,
            operators,
            rule,
            pattern: pattern(&first),
            cases: cause.failures.len() as u64,
            again,
            passed_again,
            first,
            smallest: None,
        })
    }

    /// The first of these failures, after it ran again alone, and the numbers of failures that ran again and
    /// of those that then passed.
    fn first(&mut self, failures: &[u64], witnessed: &Witnessed) -> Option<(Failure, [u64; 2])> {
        let (mut passed, mut rate_of_first) = (0, None);
        let known = |index: &u64| self.groups.iter().find(|group| group.first.index == *index);
        let (mut first, mut again) = if let Some(group) = failures.iter().find_map(known) {
            (group.first.clone(), group.again.min(1))
        } else {
            let found = witnessed.failures.get(failures.first()?)?;
            // A hang costs three timeouts, and shows nothing new.
            let runs = !self.shared.stop.is_interrupted() && found.outcome != Outcome::TimedOut;
            let retries = if self.may_run() { self.cost.retries } else { 0 };
            let (mut failure, rate) = if runs {
                self.alone.run_again(found, retries)
            } else {
                let case = self.alone.read(found.index);
                (self.alone.failure(found, case, None), Rate::FOUND)
            };
            failure.verdict = found.verdict;
            passed += u64::from(rate.is_flake());
            rate_of_first = Some(rate).filter(|rate| rate.is_flake());
            (failure, u64::from(rate.runs > 1))
        };
        let step = (failures.len() / AGAIN).max(1);
        let others = failures.iter().filter(|index| **index != first.index).step_by(step).take(AGAIN);
        for index in others.filter(|_| self.cost.retries > 0) {
            let found = witnessed.failures.get(index)?;
            if !self.may_run() || first.outcome == Outcome::TimedOut {
                break;
            }
            let (_, rate) = self.alone.run_again(found, 1);
            again += 1;
            passed += u64::from(rate.is_flake());
        }
        // Some cases may fail by chance. If all of them do, the finding is flaky.
        if rate_of_first.is_some() && passed == again {
            (first.verdict, first.rate) = (Verdict::Flake, rate_of_first);
        }
        Some((first, [again, passed]))
    }
}

/// The class that occurs most often, the first one of [`Class::ALL`] among equals.
fn most_frequent(classes: impl Iterator<Item = Class>) -> Option<Class> {
    let mut counts: BTreeMap<Class, u64> = BTreeMap::new();
    classes.for_each(|class| *counts.entry(class).or_default() += 1);
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map(|(class, _)| class)
}
