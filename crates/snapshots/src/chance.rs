//! Failures by chance. Which cases fail differs from run to run, so a snapshot has their number alone.

use dmlcts_diagnose::{self as diagnose, Diagnosis, Severity};
use dmlcts_model::{counted, grouped};
use dmlcts_runner::Verdict;
use dmlcts_spec::Operator;

use crate::{Statement, compare::answers};

/// Failures are as accepted up to this number of times the accepted rate.
const MOST: u64 = 10;

/// The failures by chance of one operator and one severity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chance {
    /// The operator.
    pub operator: String,
    /// Whether the backend crashes, hangs or changes memory that it must not change.
    pub is_severe: bool,
    /// The number of failures.
    pub cases: u64,
    /// The number of cases of the operator.
    pub of: u64,
}

impl Chance {
    /// The operator and the severity.
    pub fn subject(&self) -> String {
        format!("{}, {}", self.operator, if self.is_severe { "crash or memory" } else { "other" })
    }

    /// How often its cases fail.
    pub fn text(&self) -> String {
        format!("{} of {}", grouped(self.cases), counted(self.of, "case"))
    }

    /// How severe the failures are.
    pub(crate) fn severity(&self) -> Severity {
        if self.is_severe { Severity::Crash } else { Severity::Flaky }
    }

    fn is_about_as(&self, other: &Self) -> bool {
        (&self.operator, self.is_severe) == (&other.operator, other.is_severe)
    }

    /// Whether the rate is at most ten times as high as the other one.
    fn is_like(&self, accepted: &Self) -> bool {
        let [cases, of, was, was_of] = [self.cases, self.of, accepted.cases, accepted.of].map(u128::from);
        cases * was_of <= u128::from(MOST).saturating_mul(was).saturating_mul(of)
    }
}

/// Whether failures come by chance: a case passed when it ran again or in a fresh backend, or had other
/// bytes. Bytes that vary may look like another class each time, or even be right.
pub(crate) fn is_by_chance(finding: &diagnose::Finding) -> bool {
    let is_explained = finding.rule.as_ref().is_some_and(|rule| rule.is_exact);
    let tried = finding.first.tried.as_ref();
    let replayed = tried.map(|tried| tried.replayed.as_ref());
    let needs_no_other = replayed.is_some_and(|one| one.is_none_or(|one| one.needs.is_empty()));
    finding.first.verdict == Verdict::Flake
        || finding.passed_again > 0
        || finding.bytes_vary
        || !is_explained && needs_no_other
}

/// The failures by chance of a run. An entry of the accepted snapshot stays as it is, whether the run shows
/// it or not, unless the rate is too high.
pub(crate) fn of_run(run: &Diagnosis, accepted: &[Chance]) -> Vec<Chance> {
    let mut found: Vec<Chance> = Vec::new();
    for finding in run.findings.iter().filter(|finding| is_by_chance(finding)) {
        let operator = finding.first.operator;
        let (of, is_severe) = (tried(run, operator), finding.is_severe());
        let new = Chance { operator: operator.name().to_owned(), is_severe, cases: 0, of };
        let place = found.iter().position(|one| one.is_about_as(&new)).unwrap_or_else(|| {
            found.push(new);
            found.len() - 1
        });
        found[place].cases += finding.cases;
    }
    keep(found, accepted)
}

/// The entries, with the accepted ones in the place of those that are like them.
fn keep(found: Vec<Chance>, accepted: &[Chance]) -> Vec<Chance> {
    let mut all = accepted.to_vec();
    for new in found {
        match all.iter_mut().find(|one| one.is_about_as(&new)) {
            Some(was) if new.is_like(was) => {}
            Some(was) => *was = new,
            // The accepted run may have missed a failure of this operator by chance.
            None if accepted.iter().any(|one| one.is_severe == new.is_severe) && new.cases <= MOST => {}
            None => all.push(new),
        }
    }
    all.sort_by_key(Chance::subject);
    all
}

/// The number of cases of an operator that the backend tried.
fn tried(run: &Diagnosis, operator: &Operator) -> u64 {
    let strategies = 0..run.summary.strategies.len();
    strategies.map(|strategy| run.summary.totals.tally(strategy, operator.position()).tried()).sum()
}

/// Statements about questions or clauses. One that differs from the accepted one only by cases that failed by
/// chance stays as accepted.
pub(crate) fn keep_statements(
    new: &[Statement],
    accepted: &[Statement],
    chance: &[Chance],
) -> Vec<Statement> {
    let of = |all: &[Statement], subject: &str| all.iter().find(|one| one.subject == subject).cloned();
    let is_alike = |subject: &str, was: Option<&Statement>, is: Option<&Statement>| {
        let text = |one: Option<&Statement>| one.map(|one| one.text.clone()).unwrap_or_default();
        rate(chance, subject).is_some_and(|rate| is_alike_but_for(rate, &text(was), &text(is)))
    };
    let mut all = Vec::new();
    for is in new {
        let was = of(accepted, &is.subject);
        let stays = is_alike(&is.subject, was.as_ref(), Some(is));
        all.extend(if stays { was } else { Some(is.clone()) });
    }
    for (place, was) in accepted.iter().enumerate() {
        if of(new, &was.subject).is_none() && is_alike(&was.subject, Some(was), None) {
            all.insert(place.min(all.len()), was.clone());
        }
    }
    all
}

/// The accepted failures and cases of the operator that a statement is about: the higher rate of two. `None`
/// if nothing fails by chance. An operator without an entry counts as one with one failure.
fn rate(chance: &[Chance], subject: &str) -> Option<(u64, u64)> {
    let (operator, _) = subject.split_once('.')?;
    let own = chance.iter().filter(|one| one.operator.eq_ignore_ascii_case(operator));
    let own = own.max_by_key(|one| one.cases).map(|one| (one.cases, one.of));
    own.or_else(|| chance.first().map(|one| (1, one.of)))
}

/// Whether two texts differ only by cases that failed by chance: their number is at most ten times what the
/// rate lets expect of two runs, rounded up.
fn is_alike_but_for((cases, of): (u64, u64), was: &str, is: &str) -> bool {
    let numbers = |text: &str| -> Option<Vec<(String, u64)>> {
        let all = answers(text).filter(|(words, _)| !words.is_empty());
        all.map(|(words, number)| Some((words.to_owned(), number?.replace(',', "").parse().ok()?))).collect()
    };
    let (Some(was), Some(is)) = (numbers(was), numbers(is)) else { return false };
    let is_shared = was.iter().any(|(words, _)| is.iter().any(|(other, _)| other == words));
    if !is_shared && !was.is_empty() && !is.is_empty() {
        return false;
    }
    // The cases that only the first one has.
    let more = |one: &[(String, u64)], other: &[(String, u64)]| {
        let number =
            |words: &str| other.iter().find(|(own, _)| own == words).map_or(0, |(_, number)| *number);
        one.iter().map(|(words, cases)| cases.saturating_sub(number(words))).fold(0, u64::saturating_add)
    };
    let all = more(&was, &[]).max(more(&is, &[]));
    let most = (2 * MOST).saturating_mul(cases).saturating_mul(all).div_ceil(of.max(1));
    more(&was, &is).max(more(&is, &was)) <= most
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chance(operator: &str, is_severe: bool, cases: u64) -> Chance {
        Chance { operator: operator.to_owned(), is_severe, cases, of: 1_000 }
    }

    #[test]
    fn an_entry_stays_up_to_ten_times_its_rate() {
        let accepted = [chance("SLICE", false, 3)];
        for same in [vec![], vec![chance("SLICE", false, 1)], vec![chance("SLICE", false, 30)]] {
            assert_eq!(keep(same, &accepted), accepted);
        }
        let higher = vec![chance("SLICE", false, 31)];
        assert_eq!(keep(higher.clone(), &accepted), higher);
        let in_fewer_cases = vec![Chance { of: 900, ..chance("SLICE", false, 30) }];
        assert_eq!(keep(in_fewer_cases.clone(), &accepted), in_fewer_cases);
        // Few failures of another operator, and none of another severity.
        assert_eq!(keep(vec![chance("SLICE1", false, 10)], &accepted), accepted);
        for new in [chance("SLICE1", false, 11), chance("SLICE", true, 1)] {
            let all = keep(vec![new.clone()], &accepted);
            assert!(all.len() == 2 && all.contains(&new), "{all:?}");
        }
        assert_eq!(keep(vec![chance("SLICE", false, 1)], &[]), [chance("SLICE", false, 1)]);
    }

    #[test]
    fn answers_stay_if_cases_are_missing_at_the_accepted_rate() {
        let statement = |text: &str| Statement { subject: "slice.span".to_owned(), text: text.to_owned() };
        let all = |text: &str| if text.is_empty() { vec![] } else { vec![statement(text)] };
        let kept = |chance: &[Chance], was: &str, is: &str| {
            let kept = keep_statements(&all(is), &all(was), chance);
            assert!(kept == all(was) || kept == all(is), "{kept:?}");
            kept == all(was)
        };
        let rare = [chance("SLICE", false, 3)];
        for (was, is, stays) in [
            ("is refused (4)", "is refused (3)", true),
            ("is refused (3)", "is refused (4)", true),
            ("is refused (4)", "is refused (2)", false),
            ("is refused (1)", "", true),
            ("", "is refused (1)", true),
            ("is refused (40)", "", false),
            ("is accepted (1)", "is refused (1)", false),
            ("is accepted (1); is refused (1,000)", "is refused (990)", true),
            ("is accepted (600); is refused (400)", "is accepted (500); is refused (500)", false),
            ("at create, E_FAIL", "at compile, E_FAIL", false),
        ] {
            assert_eq!(kept(&rare, was, is), stays, "{was} {is}");
            // Another operator fails by chance.
            let other = [chance("SLICE1", false, 1)];
            assert!(!kept(&[], was, is), "{was} {is}");
            assert!(kept(&other, "is refused (4)", "is refused (3)"));
        }
    }

    #[test]
    fn forged_numbers_do_not_overflow() {
        let most = |of| Chance { cases: u64::MAX, of, ..chance("SLICE", false, 0) };
        assert_eq!(keep(vec![most(u64::MAX)], &[most(0)]), [most(0)]);
        assert!(is_alike_but_for((u64::MAX, 0), &format!("x ({})", u64::MAX), "x (1)"));
    }
}
