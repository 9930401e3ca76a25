//! Explains the failures of a run: turns them into findings, each with a predicate where one separates it
//! from the passes. Experiments run more cases to check the predicates.

use std::time::Instant;

use dmlcts_findings::{
    Ask, Budget, Cause, Estimate, Label, Outcomes, RoundLimit, has_only_distinct_elements,
};
use dmlcts_model::{Case, Outcome};
use dmlcts_runner::{Examination, Failure, Found, Group, OTHER_DATA, Rate, RunOutcomes, Trials, Verdict};
use dmlcts_spec::Operator;

use crate::{
    EarlierFinding, Finding, Limit,
    blind::CasesOfRun,
    counterexample::add_counterexamples,
    earlier::{self, AloneFailure, Earlier, NamedCause},
    finding::most_frequent,
    outcomes,
    pattern::pattern,
    spending::Spending,
    wording::Wordings,
};

/// The failures of each finding that run again alone, besides its first.
const AGAIN: usize = 4;

/// Turns failures into findings.
pub(crate) struct Explainer<'a, 'run> {
    pub(crate) trials: &'a mut Trials<'run>,
    /// The first failures, which ran again alone when they were found.
    pub(crate) groups: &'a [Group],
    /// The findings whose ids and predicates are kept.
    pub(crate) earlier: &'a [EarlierFinding],
    /// The number of times that a failure runs again alone.
    pub(crate) retries: u32,
    pub(crate) spending: &'a mut Spending,
}

impl Explainer<'_, '_> {
    /// The findings, the most severe first. For a run that is over, without a backend to ask, see
    /// [`RecordedRun::findings`](crate::RecordedRun::findings).
    pub(crate) fn findings(&mut self, run_outcomes: &RunOutcomes) -> Vec<Finding> {
        let of_group = self.groups.first().map(|group| group.first.case.clone());
        let first = run_outcomes.failures().keys().next();
        let blank = of_group.or_else(|| first.map(|index| self.trials.read(*index)));
        let Some(mut blank) = blank else { return Vec::new() };
        let mut cursor = self.trials.cursor();
        let mut read = |index: u64| {
            cursor.read(index, &mut blank);
            run_outcomes.as_it_failed(index, blank.clone())
        };
        let dependent = outcomes::data_dependent(run_outcomes, self.trials.library());
        let wordings = Wordings::of(run_outcomes);
        let (mut outcomes, is_sample) = outcomes::outcomes(run_outcomes, &wordings);
        let of = (self.trials.library(), self.trials.level());
        // First of all, since experiments may take all the time.
        self.spending.open_earlier();
        let all = self.earlier;
        let mut still = |case: &Case| self.still(case);
        let earlier = Earlier::new(all, run_outcomes.failures(), of, &mut read, &mut still);
        let mut cases = CasesOfRun { read: &mut read, dependent: &dependent };
        let mut explained = earlier.as_in_snapshot(&mut outcomes, &mut cases);
        let (causes, answers) = self.causes(&outcomes, &wordings, run_outcomes, &mut cases);
        explained.extend(earlier.keep(causes, &outcomes, &answers, &mut cases));
        let found = explained.iter().flat_map(|one| self.of_cause(one, run_outcomes)).collect();
        let mut findings = earlier.complete(found, self.groups, run_outcomes);
        let within = self.trials.filter().map(|filter| filter.expression().to_string());
        add_counterexamples(&mut findings, &answers, of);
        Finding::set_scope(&mut findings, within.as_deref(), (run_outcomes.has_more_failures(), is_sample));
        findings
    }

    /// The causes of the failures, and the answers of experiments. Experiments are left out if nothing more
    /// may run.
    fn causes(
        &mut self,
        outcomes: &Outcomes,
        wordings: &Wordings,
        run_outcomes: &RunOutcomes,
        cases_of_run: &mut CasesOfRun<'_>,
    ) -> (Vec<Cause>, Vec<(Case, Label)>) {
        let over = self.spending.over();
        let is_over = over.is_some();
        if let Some(limit) = over {
            self.spending.left_out.limits.insert(limit);
            self.spending.left_out.experiments += outcomes::kinds(run_outcomes) as u64;
        }
        // Without experiments, the run's own cases are searched all the same. Experiments ask three quarters
        // of the cases of a finding.
        let cases = if is_over { 0 } else { self.spending.cases() / 4 * 3 };
        let end = self.spending.end;
        let of = (self.trials.library(), self.trials.level());
        let (stop, deadline) = (self.trials.stop(), self.trials.deadline());
        let is_past = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
        // On each side.
        let evidence =
            if is_over { 0 } else { (self.spending.cases() / 2).saturating_mul(3).min(Estimate::AMPLE) };
        let is_over_at = || stop.is_interrupted() || is_past() || end.is_past();
        let budget = Budget { cases, evidence, threads: self.trials.jobs(), is_over: &is_over_at };
        let is_costly = |found: &Found| matches!(found.outcome, Outcome::TimedOut | Outcome::Crashed { .. });
        let mut experiments = Experiments {
            is_careful: run_outcomes.failures().values().any(is_costly),
            trials: &mut *self.trials,
            spending: &mut *self.spending,
            wordings,
            answers: Vec::new(),
        };
        let ask: &mut dyn Ask = &mut experiments;
        let ask = Some(ask).filter(|_| !is_over);
        let causes = dmlcts_findings::explain(outcomes, of, 0, budget, cases_of_run, ask);
        let answers = experiments.answers;
        self.spending.close();
        (causes, answers)
    }

    /// Runs a case of an earlier finding, which may also be a known failure.
    fn still(&mut self, case: &Case) -> earlier::Alone {
        if !self.spending.may_run() {
            return earlier::Alone::Unknown;
        }
        let alone = self.trials.examine(case);
        self.spending.note(alone.as_ref());
        let Some(alone) = alone else { return earlier::Alone::Unknown };
        let is_expected = alone.verdict == Verdict::ExpectedFail;
        match alone.class {
            _ if alone.too_large || self.trials.is_unanswered(&alone) => earlier::Alone::Unknown,
            Some(class) => {
                earlier::Alone::Failed(AloneFailure { class, outcome: alone.outcome, is_expected })
            }
            None => earlier::Alone::Passed,
        }
    }

    /// The findings of one cause: its failures, without those that come and go. Each has its failures.
    fn of_cause(&mut self, explained: &NamedCause, run_outcomes: &RunOutcomes) -> Vec<(Finding, Vec<u64>)> {
        let mut failures = explained.cause.failures.clone();
        let Some((mut finding, flaky)) = self.finding(explained, run_outcomes) else { return Vec::new() };
        // Most repeats passed, so that most of the others are assumed to pass alone, too.
        let splits = 2 * finding.passed_again > finding.again && finding.first.verdict != Verdict::Flake;
        let Some(first) = flaky.filter(|_| splits) else { return vec![(finding, failures)] };
        let steady = finding.again - finding.passed_again;
        let index = first.index;
        let mut flakes = Finding {
            class: first.class,
            rule: finding.rule.take(),
            pattern: pattern(&first),
            cases: finding.cases - steady,
            others: Vec::new(),
            again: finding.passed_again,
            first,
            ..finding.clone()
        };
        flakes.id = flakes.new_id();
        (finding.cases, finding.again, finding.passed_again) = (steady, steady, 0);
        finding.id = finding.new_id();
        failures.retain(|failure| *failure != index);
        vec![(finding, failures), (flakes, vec![index])]
    }

    /// The finding of a cause, and the first of its failures that passed alone, if any did.
    fn finding(
        &mut self,
        explained: &NamedCause,
        run_outcomes: &RunOutcomes,
    ) -> Option<(Finding, Option<Failure>)> {
        let cause = &explained.cause;
        let of = |index: &u64| run_outcomes.failures().get(index);
        let class = most_frequent(cause.failures.iter().filter_map(of).map(|found| found.class))?;
        let with_class = |index: &&u64| of(index).is_some_and(|found| found.class == class);
        let alike: Vec<u64> = cause.failures.iter().filter(with_class).copied().collect();
        let first = *alike.iter().find(|index| self.group(**index).is_some()).or(alike.first())?;
        self.spending.open_repeats(first, cause.operators(), &cause.kind);
        let repeated = self.repeated(first, &alike, run_outcomes);
        let is_cut = self.spending.close();
        let Repeated { first, again, passed, flaky } = repeated?;
        self.spending.left_out.repeats += u64::from(is_cut);
        let mut finding = explained.finding(class, first, [again, passed], self.trials.library());
        finding.add_others(cause.failures.iter().filter_map(of));
        let was_expected = |index: &&u64| run_outcomes.was_expected(**index);
        finding.known = cause.failures.iter().filter(was_expected).count() as u64;
        finding.listed = explained.listed(&mut |index| self.trials.read(index));
        Some((finding, flaky))
    }

    /// The group whose first failure has this index.
    fn group(&self, index: u64) -> Option<&Group> {
        self.groups.iter().find(|group| group.first.index == index)
    }

    /// Runs the first of these failures and some others again alone.
    fn repeated(&mut self, first: u64, failures: &[u64], run_outcomes: &RunOutcomes) -> Option<Repeated> {
        let (mut passed, mut rate_of_first, mut flaky) = (0, None, None);
        let (mut first, mut again) = if let Some(group) = self.group(first) {
            (group.first.clone(), group.again.min(1))
        } else {
            let found = run_outcomes.failures().get(&first)?;
            let (mut failure, rate) = self.again(found, self.retries);
            failure.verdict = found.verdict;
            passed += u64::from(rate.is_flake());
            rate_of_first = Some(rate).filter(|rate| rate.is_flake());
            (failure, u64::from(rate.runs > 1))
        };
        let step = (failures.len() / AGAIN).max(1);
        let most = if self.retries > 0 { AGAIN } else { 0 };
        let others = failures.iter().filter(|index| **index != first.index).step_by(step).take(most);
        for index in others {
            // A hang costs three timeouts, and shows nothing new.
            let hangs = first.outcome == Outcome::TimedOut;
            let Some(found) = run_outcomes.failures().get(index).filter(|_| !hangs) else { break };
            let (mut failure, rate) = self.again(found, 1);
            again += u64::from(rate.runs > 1);
            first.bytes_vary |= failure.bytes_vary;
            passed += u64::from(rate.is_flake());
            if rate.is_flake() && flaky.is_none() {
                (failure.verdict, failure.rate) = (Verdict::Flake, Some(rate));
                flaky = Some(failure);
            }
        }
        // Some cases may fail by chance. If all of them do, the finding is flaky.
        if rate_of_first.is_some() && passed == again {
            (first.verdict, first.rate) = (Verdict::Flake, rate_of_first);
        }
        Some(Repeated { first, again, passed, flaky })
    }

    /// Runs a failure again, if the budget and its kind allow it.
    fn again(&mut self, found: &Found, retries: u32) -> (Failure, Rate) {
        let hung = found.outcome == Outcome::TimedOut;
        if hung || retries == 0 || !self.spending.may_run() {
            let case = self.trials.read(found.index);
            return (self.trials.failure(found, case, None), Rate::FOUND);
        }
        let again = self.trials.run_again(found, retries);
        self.spending.count(retries as usize);
        again
    }
}

/// What came of the failures of a cause that ran again.
struct Repeated {
    first: Failure,
    /// The number of failures that ran again, and of those that then passed.
    again: u64,
    passed: u64,
    /// The first other failure that passed.
    flaky: Option<Failure>,
}

/// Runs the fresh cases of experiments, within the limits on what they cost.
struct Experiments<'a, 'run> {
    /// Whether each runs alone, because a hang or a crash costs much time.
    is_careful: bool,
    trials: &'a mut Trials<'run>,
    spending: &'a mut Spending,
    wordings: &'a Wordings,
    answers: Vec<(Case, Label)>,
}

impl Ask for Experiments<'_, '_> {
    fn ask(&mut self, cases: &[Case]) -> Vec<Label> {
        let mut labels: Vec<Label> = Vec::with_capacity(cases.len());
        while labels.len() < cases.len() && self.spending.may_run() {
            let left = &cases[labels.len()..];
            let left = if self.is_careful { &left[..1] } else { left };
            let examined = self.trials.examine_first(left);
            for (place, (case, alone)) in left.iter().zip(examined).enumerate() {
                // What ran beyond a limit is not used, so that the size of a batch decides nothing.
                if place > 0 && !self.spending.may_run() {
                    break;
                }
                labels.push(self.label(case, alone));
            }
        }
        labels.resize(cases.len(), Label::Unknown);
        self.answers.extend(cases.iter().cloned().zip(labels.iter().cloned()));
        labels
    }

    fn begin(&mut self, operator: &str, class: &str) {
        self.spending.open_experiments(operator, class);
    }

    fn begin_evidence(&mut self, operator: &str, class: &str) {
        self.spending.open_evidence(operator, class);
    }

    fn end_evidence(&mut self) {
        self.spending.close();
    }

    fn cut(&mut self, limit: RoundLimit) {
        self.spending.cut(match limit {
            RoundLimit::Cases => Limit::Cases,
            RoundLimit::Candidates => Limit::Candidates,
        });
    }
}

impl Experiments<'_, '_> {
    /// The label of a fresh case that ran. It is unknown if it says nothing.
    fn label(&mut self, case: &Case, alone: Option<Examination>) -> Label {
        self.spending.note(alone.as_ref());
        let Some(alone) = alone else { return Label::Unknown };
        match (alone.verdict, alone.class) {
            // A refusal of an invalid desc may come from an open question.
            (Verdict::Pass, _) if !alone.too_large && alone.judgement.questions.is_empty() => Label::Passed,
            // It passes with its own data. If they show an element from a wrong place, that says something.
            (Verdict::Fail, _) if alone.only_other_data && self.fails_with_other_data(case) => {
                if has_only_distinct_elements(case) {
                    Label::Passed
                } else {
                    Label::Unknown
                }
            }
            (Verdict::Fail | Verdict::Crash | Verdict::Timeout, Some(class)) => {
                let operators = self.trials.library().operators();
                let of_case = |operator: &Operator| operator.name() == case.desc.signature.operator;
                let operator = operators.iter().position(of_case).unwrap_or_default();
                Label::Failed(self.wordings.kind(operator, class, &alone.outcome))
            }
            _ => Label::Unknown,
        }
    }

    /// Whether a case fails if other data are its own: then the data decide, and no earlier run.
    fn fails_with_other_data(&mut self, case: &Case) -> bool {
        let other = Case { fill: OTHER_DATA, ..case.clone() };
        let alone = self.trials.examine(&other);
        self.spending.note(alone.as_ref());
        alone.is_some_and(|alone| alone.verdict == Verdict::Fail && !alone.only_other_data)
    }
}
