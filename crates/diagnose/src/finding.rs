//! Findings: sets of failures that one cause explains, as far as a run can tell.

use std::{collections::BTreeMap, fmt};

use dmlcts_findings::Estimate;
use dmlcts_model::{Case, Outcome};
use dmlcts_runner::{Class, Digest, Failure, Found, Group, Verdict};
use dmlcts_spec::{Predicate, Validity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pattern::{Pattern, pattern};

/// The maximum number of cases that a finding without a predicate lists.
pub(crate) const LISTED: usize = 20;

/// A set of failures that one cause explains.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The id, made from the class and the predicate when it was first seen: `slice1-wrong-value-7c1e`. It
    /// may come from an [`EarlierFinding`](crate::EarlierFinding).
    pub id: String,
    /// How most of its cases failed.
    pub class: Class,
    /// The operators of its cases.
    pub operators: Vec<&'static str>,
    /// What separates the failures from the passes; `None` if nothing was found or looked for.
    pub rule: Option<Rule>,
    /// The first cases in the order of the run, if no predicate describes them. Empty if a predicate does, if
    /// none was looked for, and in a finding from a results file.
    pub listed: Vec<Case>,
    /// What the wrong elements of the first failure have in common, if they are wrong and have something.
    pub pattern: Option<Pattern>,
    /// The number of failures.
    pub cases: u64,
    /// The failures among them that failed in another way: a crash is no wrong output.
    pub others: Vec<OtherFailures>,
    /// The number of failures that the run expected, of a known failure that changed.
    pub known: u64,
    /// Whether further failures of the run belong to no finding, since they were only counted.
    pub is_sample: bool,
    /// The number of these cases that were run again alone. The others are assumed to fail each time.
    pub again: u64,
    /// The number of cases that passed when they ran again.
    pub passed_again: u64,
    /// The digest of its cases, if the run is recorded; `None` for flakes.
    pub digest: Option<Digest>,
    /// Whether the bytes of a case differed when it ran again.
    pub bytes_vary: bool,
    /// The first failure.
    pub first: Failure,
    /// A smaller case that fails in the same way, if one was found.
    pub smallest: Option<Failure>,
    /// A sentence about the first wrong element of the smallest case, if an output was compared.
    pub shows: Option<String>,
    /// The digest of the wrong output of the smallest case, if an output was compared and is the same each
    /// time.
    pub output: Option<Digest>,
}

/// The failures of a finding that failed in another way than most of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OtherFailures {
    /// How they failed.
    pub class: Class,
    /// Their number.
    pub cases: u64,
}

/// What separates the failures of a finding from the passes.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// A predicate over cases, in the language of the specs.
    pub predicate: Predicate,
    /// Whether it is about valid descs or about invalid ones.
    pub validity: Validity,
    /// The filter of the run. Nothing is known of other cases.
    pub within: Option<String>,
    /// The number of passes of the run for which it holds, and whose data could have shown the failure.
    pub passes: u64,
    /// Whether only a sample of the passes was looked at.
    pub is_sample: bool,
    /// The number of cases that experiments ran.
    pub asked: u64,
    /// What fresh cases say of it; `None` if none were asked.
    pub estimate: Option<Estimate>,
    /// The number of failures of its operators and of its kind in findings without a predicate, if it is not
    /// exact.
    pub missed: u64,
    /// A case of the experiments that it gets wrong, if it is not exact.
    pub counterexample: Option<Counterexample>,
    /// Whether it is right about every case of the run and every fresh case.
    pub is_exact: bool,
}

/// A case that a predicate gets wrong: a `Case` in memory, and a line in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Counterexample")]
pub struct Counterexample<C = Case> {
    /// The case.
    #[serde(rename = "line")]
    pub case: C,
    /// Whether it fails although no predicate of its kind holds for it. Otherwise the predicate holds, and it
    /// passes.
    pub fails: bool,
}

impl Finding {
    /// The smallest known case that fails.
    pub fn shown(&self) -> &Failure {
        self.smallest.as_ref().unwrap_or(&self.first)
    }

    /// The order of findings in reports: the most severe first, then the largest.
    pub fn order(&self) -> (Severity, std::cmp::Reverse<u64>, u64) {
        let severity = Severity::of(self.first.verdict, self.class);
        (severity, std::cmp::Reverse(self.cases), self.first.index)
    }

    /// The findings of a run that looked for no predicates: its groups, the most severe first.
    pub fn of_groups(groups: &[Group]) -> Vec<Self> {
        let mut findings: Vec<Self> = groups.iter().map(Self::of_group).collect();
        findings.sort_by_key(Self::order);
        findings
    }

    /// Joins the flaky findings of an operator that no predicate describes: chance and state know neither
    /// classes nor modes. Crashes and changes of memory stay apart from other failures. One that fails again
    /// after or beside certain cases stands for the others, or else the one with the most cases. It has the
    /// cases of all.
    pub fn join_flakes(findings: &mut Vec<Self>, is_apart: impl Fn(&Self) -> bool) {
        let is_one = |one: &Self| one.first.verdict == Verdict::Flake && one.rule.is_none() && !is_apart(one);
        let mut all: Vec<Self> = Vec::new();
        for mut finding in std::mem::take(findings) {
            let is_like = |one: &&mut Self| {
                is_one(one) && one.operators == finding.operators && one.is_severe() == finding.is_severe()
            };
            let Some(one) = all.iter_mut().find(is_like).filter(|_| is_one(&finding)) else {
                all.push(finding);
                continue;
            };
            let cases = one.cases.saturating_add(finding.cases);
            if finding.standing() > one.standing() {
                std::mem::swap(one, &mut finding);
            }
            one.bytes_vary |= finding.bytes_vary;
            one.cases = cases;
        }
        all.sort_by_key(Self::order);
        *findings = all;
    }

    /// How well a flake stands for others: whether it fails again among other cases, and how many it has.
    fn standing(&self) -> (bool, u64) {
        let replayed = self.first.tried.as_ref().and_then(|tried| tried.replayed.as_ref());
        let fails = replayed.is_some_and(|one| one.after.failed > 0 || one.beside.failed > 0);
        (fails, self.cases)
    }

    /// Whether the backend crashes, hangs or changes memory that it must not change.
    pub fn is_severe(&self) -> bool {
        matches!(Severity::of(Verdict::Fail, self.class), Severity::Crash | Severity::Memory)
    }

    /// Says of findings within which `--where` filter they are right, whether their failures and passes are
    /// samples, and how many failures their predicates miss.
    pub(crate) fn set_scope(findings: &mut [Self], within: Option<&str>, (failures, passes): (bool, bool)) {
        let is_left = |finding: &&Self| finding.rule.is_none() && finding.first.verdict != Verdict::Flake;
        let left: Vec<(FailureKind, Vec<&str>, u64)> = (findings.iter().filter(is_left))
            .map(|finding| (finding.kind(), finding.operators.clone(), finding.cases))
            .collect();
        for finding in findings {
            finding.is_sample = failures;
            let (kind, operators) = (finding.kind(), &finding.operators);
            if let Some(rule) = &mut finding.rule {
                (rule.within, rule.is_sample) = (within.map(str::to_owned), passes);
                let is_missed = |(of, names, _): &&(FailureKind, Vec<&str>, u64)| {
                    !rule.is_exact && *of == kind && names.iter().any(|name| operators.contains(name))
                };
                rule.missed = left.iter().filter(is_missed).map(|(.., cases)| cases).sum();
            }
        }
    }

    /// The kind of most of its failures.
    pub(crate) fn kind(&self) -> FailureKind {
        FailureKind::of(self.class, &self.first.outcome)
    }

    /// Whether it has failures like this one.
    pub(crate) fn has_kind(&self, class: Class, outcome: &Outcome) -> bool {
        FailureKind::of(class, outcome) == self.kind() || self.others.iter().any(|one| one.class == class)
    }

    /// Counts those of its failures that are not of its kind.
    pub(crate) fn add_others<'a>(&mut self, failures: impl Iterator<Item = &'a Found>) {
        let mut counts: BTreeMap<Class, u64> = BTreeMap::new();
        let kind = self.kind();
        for found in failures.filter(|found| FailureKind::of(found.class, &found.outcome) != kind) {
            *counts.entry(found.class).or_default() += 1;
        }
        self.others = counts.into_iter().map(|(class, cases)| OtherFailures { class, cases }).collect();
    }

    /// The id of a finding that is seen for the first time.
    pub(crate) fn new_id(&self) -> String {
        let what = self.rule.as_ref().map_or_else(|| self.first.case.to_string(), Rule::text);
        id(&self.operators, self.class, &what)
    }

    /// Whether this finding has the id of one that is seen for the first time.
    pub fn has_new_id(&self) -> bool {
        self.id == self.new_id()
    }

    /// A finding without a rule, from failures of one group.
    pub fn of_group(group: &Group) -> Self {
        Self { cases: group.cases, again: group.again, ..Self::of_failure(group.first.clone()) }
    }

    /// A finding without a rule, of one failure that did not run again.
    pub(crate) fn of_failure(first: Failure) -> Self {
        let operators = vec![first.operator.name()];
        Self {
            id: id(&operators, first.class, &first.case.to_string()),
            class: first.class,
            operators,
            rule: None,
            listed: Vec::new(),
            pattern: pattern(&first),
            cases: 1,
            others: Vec::new(),
            known: 0,
            is_sample: false,
            again: 0,
            passed_again: 0,
            digest: None,
            bytes_vary: first.bytes_vary,
            first,
            smallest: None,
            shows: None,
            output: None,
        }
    }
}

impl Rule {
    /// The predicate and its validity in words.
    fn text(&self) -> String {
        match self.validity {
            Validity::Invalid => format!("{} among invalid descs", self.predicate),
            _ => self.predicate.to_string(),
        }
    }
}

/// How severe a finding is, the most severe first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The backend ended, hung or gave no answer.
    Crash,
    /// The backend changed memory that it must not change.
    Memory,
    /// An invalid desc was accepted.
    Accepted,
    /// The output is wrong.
    Wrong,
    /// A desc was refused, or failed.
    Refused,
    /// Failures that come and go.
    Flaky,
}

impl Severity {
    /// The severity of a failure.
    pub fn of(verdict: Verdict, class: Class) -> Self {
        match class {
            _ if verdict == Verdict::Flake => Self::Flaky,
            Class::Crashed | Class::TimedOut | Class::Lost => Self::Crash,
            Class::WroteOutside | Class::InputChanged => Self::Memory,
            Class::AcceptedInvalid => Self::Accepted,
            Class::Output(_)
            | Class::WrongShape
            | Class::WrongType
            | Class::Remembered
            | Class::NotRun
            | Class::OutsideQuestion => Self::Wrong,
            Class::RefusedValid | Class::RefusedOtherwise | Class::Undeclared | Class::Failed => {
                Self::Refused
            }
        }
    }
}

/// The kind of a class for the search for causes. Wrong outputs of all kinds often have one cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FailureKind {
    Wrong,
    Crash,
    Other(Class),
}

impl FailureKind {
    pub(crate) fn of(class: Class, outcome: &Outcome) -> Self {
        match class {
            Class::Output(_) | Class::Remembered => Self::Wrong,
            // A wrong output of an open desc has the same causes as a wrong output of a valid one.
            Class::OutsideQuestion if *outcome == Outcome::Output => Self::Wrong,
            Class::Crashed | Class::TimedOut | Class::Lost => Self::Crash,
            class => Self::Other(class),
        }
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wrong => f.write_str("wrong"),
            Self::Crash => f.write_str("crash"),
            Self::Other(class) => f.write_str(class.id()),
        }
    }
}

/// The id of a finding: its operator, its class, and four digits that follow from `what`.
pub(crate) fn id(operators: &[&str], class: Class, what: &str) -> String {
    let operator = match operators {
        [one] => one.to_lowercase(),
        _ => "all".to_owned(),
    };
    let digits = dmlcts_generate::draw::derive(0, &format!("{operator} {} {what}", class.id())) & 0xffff;
    format!("{operator}-{}-{digits:04x}", class.id())
}

/// The class that occurs most often, the first one of [`Class::ALL`] among equals.
pub(crate) fn most_frequent(classes: impl Iterator<Item = Class>) -> Option<Class> {
    let mut counts: BTreeMap<Class, u64> = BTreeMap::new();
    classes.for_each(|class| *counts.entry(class).or_default() += 1);
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map(|(class, _)| class)
}
