//! Blessing: from the failures of a whole run to entries of a list, so that the next run fails by news only.
//!
//! Failures of one operator and one class are a group. For each a predicate is sought that holds of them and
//! of no case of the run that could have failed so and passed; where there is none, several that together
//! hold of as many as can be; and what none tells is listed case by case, unless that is too much. What
//! changes from time to time is not listed, for which all of them [run again](Blessing::run_again) first.

use std::{cmp::Reverse, collections::BTreeMap, sync::Arc};

use dmlcts_model::{Expectation, Outcome};
use dmlcts_spec::{Judgement, Library, Scratch, Validity};

use super::{
    Conclusion, KnownFailure, KnownFailureForm, KnownTally,
    entry::{entry, selectors},
    group::{Group, Reading},
};
use crate::{CaseResults, Class, Sensitivities, Sensitivity, Source, Summary, Verdict};

/// More failures than this are not a list but a backend to fix.
const MOST_FAILURES: usize = 200_000;

/// What became of the cases of a run, as far as blessing needs it. Its memory is bounded: some bytes for each
/// case of the suite, which must have an end, and no more failures than could be blessed, 200,000 that are
/// news and as many of each entry.
#[derive(Debug, Default)]
pub struct Blessing {
    /// The cases that failed, by index, as far as there is room for them.
    failed: BTreeMap<u64, Failed>,
    /// How many failed as an entry says, by its id, and how many otherwise.
    failures: BTreeMap<Option<String>, usize>,
    /// All cases, by index.
    seen: Vec<Seen>,
}

/// What became of a case that failed.
#[derive(Clone, Debug)]
struct Failed {
    /// The place of its operator in the library.
    operator: usize,
    class: Class,
    /// The entry that matches it.
    known: Option<Arc<KnownFailure>>,
    /// Whether it fails as that entry says.
    is_expected: bool,
}

/// What a case says of faults that it did not show.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// The place of its operator in the library.
    operator: u16,
    passed: Passed,
    /// What it could have shown.
    sensitivities: Sensitivities,
}

/// What became of a case that did not fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Passed {
    /// It failed, it was not run, or nobody knows.
    #[default]
    No,
    /// It was too large to run, and created.
    Created,
    /// The pages leave it open, and it was refused.
    Refused,
    /// It passed.
    Yes,
}

/// Why nothing is blessed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BlessError {
    /// The run did not come to its end.
    #[error("the run was not complete")]
    Incomplete,
    /// What failed is to fail again before it is expected to.
    #[error("what failed could not be run again: {0}")]
    NotRunAgain(String),
    /// A backend that is not sound when it ends may not have been before.
    #[error("{0}")]
    BadEnd(String),
    /// What is not reliable cannot be expected.
    #[error("{cases} of the cases {verdict}")]
    Unreliable {
        /// What they came to.
        verdict: Verdict,
        /// How many.
        cases: u64,
    },
    /// There is too much of it.
    #[error("{0} cases failed, which is no list of exceptions any more")]
    TooMany(usize),
    /// They have nothing in common that this finds, and are too many to be listed.
    #[error(
        "{cases} cases of {operator} failed ({class}), and no simple predicate tells them from those that passed"
    )]
    NoPredicate {
        /// Their operator.
        operator: String,
        /// In which way.
        class: &'static str,
        /// How many.
        cases: usize,
    },
}

impl BlessError {
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Incomplete => "let the run come to its end",
            Self::NotRunAgain(_) => {
                "run it again, and let it come to its end: a list takes what fails each time"
            }
            Self::BadEnd(_) => "fix that first: answers of a backend that breaks are no ground for a list",
            Self::Unreliable { .. } => "fix these first: what crashes, hangs or is lost cannot be expected",
            Self::TooMany(_) => "fix the backend first, or bless a smaller suite",
            Self::NoPredicate { .. } => {
                "fix the backend, or write an entry of your own for them, with a predicate behind `where` or the lines behind \
                 `cases`"
            }
        }
    }
}

/// A list, as far as there can be one.
#[derive(Debug)]
pub struct Blessed {
    /// Its entries.
    pub entries: Vec<KnownFailureForm>,
    /// The ids of entries that are in it no more, and what the run said of them.
    pub removed: Vec<(String, Conclusion)>,
    /// The ids of entries that say something else now of their cases, and what the run said of them before.
    pub changed: Vec<(String, Conclusion)>,
    /// What failed and is in none of them.
    pub left: Vec<BlessError>,
}

impl Blessing {
    /// Takes note of what became of some cases.
    pub fn hear(&mut self, cases: &CaseResults) {
        for case in cases.iter() {
            let class = case.details.and_then(|details| details.class);
            let known = case.details.and_then(|details| details.known.clone());
            let is_refused =
                case.details.is_some_and(|details| matches!(details.outcome, Outcome::Rejected { .. }));
            let passed = match case.verdict {
                Verdict::Pass if case.details.is_some() => Passed::Created,
                Verdict::Recorded if is_refused => Passed::Refused,
                Verdict::Pass | Verdict::Recorded | Verdict::UnexpectedPass => Passed::Yes,
                Verdict::Fail | Verdict::ExpectedFail => {
                    if let Some(class) = class {
                        let is_expected = case.verdict == Verdict::ExpectedFail;
                        self.fail(case.index, Failed { operator: case.operator, class, known, is_expected });
                    }
                    Passed::No
                }
                _ => Passed::No,
            };
            let place = case.index as usize;
            if self.seen.len() <= place {
                self.seen.resize(place + 1, Seen::default());
            }
            self.seen[place] =
                Seen { operator: case.operator as u16, passed, sensitivities: case.sensitivities };
        }
    }

    /// Takes note of a failure, and keeps it where there are not too many like it.
    fn fail(&mut self, index: u64, failed: Failed) {
        let entry = failed.known.as_ref().filter(|_| failed.is_expected).map(|known| known.id.clone());
        let alike = self.failures.entry(entry).or_default();
        *alike += 1;
        if *alike <= MOST_FAILURES {
            self.failed.insert(index, failed);
        }
    }

    /// The entries of a list after this run of a suite, whose failures [ran again](Self::run_again): those
    /// that are still true, those that it says nothing of, and new ones, as far as there are any that say
    /// which cases fail.
    ///
    /// # Errors
    ///
    /// Where the run is no ground for a list.
    pub fn entries(
        &self,
        (library, source): (&'static Library, &dyn Source),
        (summary, suite): (&Summary, &str),
        old: &[Arc<KnownFailureForm>],
    ) -> Result<Blessed, BlessError> {
        Self::check(summary)?;
        let untrue = untrue(summary, suite);
        let is_kept = |form: &&Arc<KnownFailureForm>| untrue.iter().all(|(id, _)| *id != form.id);
        let mut entries: Vec<KnownFailureForm> =
            old.iter().filter(is_kept).map(|form| KnownFailureForm::clone(form)).collect();
        let mut left = Vec::new();
        let reading = Reading { source, level: summary.level };
        let mut told: Vec<(usize, Class, String)> = Vec::new();
        for mut group in self.groups(library, &untrue)? {
            let of_operator = told.iter().filter(|(operator, ..)| *operator == group.operator.position());
            let covering = of_operator.clone().filter(|(_, class, _)| class.covers(group.class));
            let covering: Vec<String> = covering.map(|(.., predicate)| predicate.clone()).collect();
            let others: Vec<String> = of_operator.map(|(.., predicate)| predicate.clone()).collect();
            group.leave_out(&reading, &covering);
            let cause = old.iter().find(|form| group.from.as_ref() == Some(&form.id)).map(Arc::as_ref);
            let passed = self.passed(&group, &reading);
            let (selectors, rest) = selectors(&group, &reading, &passed, (cause, &others));
            if rest > 0 {
                let (operator, class) = (group.operator.name().to_owned(), group.class.id());
                left.push(BlessError::NoPredicate { operator, class, cases: rest });
                // What a person wrote of them is not thrown away for nothing.
                let is_there = |form: &&KnownFailureForm| entries.iter().any(|entry| entry.id == form.id);
                let kept = cause.filter(|form| selectors.is_empty() && !is_there(form));
                entries.extend(kept.cloned());
            }
            for selector in selectors {
                let place = group.operator.position();
                told.extend(selector.filter.iter().map(|filter| (place, group.class, filter.clone())));
                let entry = entry(&group, selector, cause, suite, &entries);
                entries.push(entry);
            }
        }
        let before = |id: &str| old.iter().find(|form| form.id == id).map(Arc::as_ref);
        let now = |id: &str| entries.iter().find(|entry| entry.id == id);
        let not_as_before =
            untrue.into_iter().filter(|(id, _)| before(id).is_some() && now(id) != before(id));
        let (changed, removed) = not_as_before.partition(|(id, _)| now(id).is_some());
        Ok(Blessed { entries, removed, changed, left })
    }

    /// Whether a run is a ground for a list.
    pub(super) fn check(summary: &Summary) -> Result<(), BlessError> {
        if summary.ending != crate::Ending::Complete || !summary.abandoned.is_empty() {
            return Err(BlessError::Incomplete);
        }
        if let Some(bad_end) = &summary.bad_end {
            return Err(BlessError::BadEnd(bad_end.clone()));
        }
        let found = &summary.totals.found.groups;
        for (verdict, class) in [
            (Verdict::Crash, Class::Crashed),
            (Verdict::Timeout, Class::TimedOut),
            (Verdict::Lost, Class::Lost),
        ] {
            // One that does not come again was one, too, and who knows what else it spoiled.
            let flaky =
                found.iter().filter(|(found, _)| found.verdict == Verdict::Flake && found.class == class);
            let cases = summary.tally().of(verdict) + flaky.map(|(_, cases)| cases).sum::<u64>();
            if cases > 0 {
                return Err(BlessError::Unreliable { verdict, cases });
            }
        }
        Ok(())
    }

    /// The failures of which a list after this run of a suite is to say something new, and how they fail.
    pub(super) fn untold(&self, summary: &Summary, suite: &str) -> Result<BTreeMap<u64, Class>, BlessError> {
        let untrue = untrue(summary, suite);
        let failed = self.open(&untrue)?;
        Ok(failed.map(|(index, failed)| (*index, failed.class)).collect())
    }

    /// Takes a failure for none, since it does not come each time. Nobody knows what its case comes to.
    pub(super) fn forget(&mut self, index: u64) {
        self.failed.remove(&index);
    }

    /// The failures that no entry expects any more.
    fn open<'a>(
        &'a self,
        untrue: &[(String, Conclusion)],
    ) -> Result<impl Iterator<Item = (&'a u64, &'a Failed)>, BlessError> {
        let is_news =
            move |entry: Option<&str>| entry.is_none_or(|entry| untrue.iter().any(|(id, _)| id == entry));
        let news = self.failures.iter().filter(|(entry, _)| is_news(entry.as_deref()));
        let news: usize = news.map(|(_, failures)| failures).sum();
        if news > MOST_FAILURES {
            return Err(BlessError::TooMany(news));
        }
        let is_open = move |failed: &Failed| {
            !failed.is_expected || is_news(failed.known.as_ref().map(|known| known.id.as_str()))
        };
        Ok(self.failed.iter().filter(move |(_, failed)| is_open(failed)))
    }

    /// The failures that no entry expects any more, by operator and class, in the order in which they are to
    /// be told.
    fn groups<'a>(
        &self,
        library: &'a Library,
        untrue: &[(String, Conclusion)],
    ) -> Result<Vec<Group<'a>>, BlessError> {
        let open = self.open(untrue)?;
        let mut groups: BTreeMap<(usize, Class), Group<'a>> = BTreeMap::new();
        for (index, Failed { operator: place, class, known, .. }) in open {
            let Some(operator) = library.operators().get(*place) else { continue };
            let known = known.as_ref().map(|known| known.id.clone());
            let group = groups.entry((*place, *class)).or_insert_with(|| Group {
                operator,
                class: *class,
                failed: Vec::new(),
                from: known.clone(),
            });
            group.from = group.from.take().filter(|from| Some(from) == known.as_ref());
            group.failed.push(*index);
        }
        let mut groups: Vec<Group<'a>> = groups.into_values().collect();
        // The more general class comes first, since what it tells is not told again; then the one that has
        // the most.
        let is_covered = |class: Class| Class::ALL.iter().any(|other| *other != class && other.covers(class));
        groups.sort_by_key(|group| {
            (group.operator.position(), is_covered(group.class), Reverse(group.failed.len()))
        });
        Ok(groups)
    }

    /// The cases that passed and could have failed as a group did.
    fn passed(&self, group: &Group<'_>, reading: &Reading<'_>) -> Vec<u64> {
        let could = |seen: &Seen| {
            let tells = match seen.passed {
                Passed::No => false,
                Passed::Refused => group.class.is_about_refusals(),
                Passed::Created | Passed::Yes => true,
            };
            tells
                && usize::from(seen.operator) == group.operator.position()
                && seen.sensitivities.to(group.class) == Sensitivity::Yes
        };
        let passed = self.seen.iter().zip(0_u64..).filter(|(seen, _)| could(seen));
        let (mut could_fail, mut scratch) = (Vec::new(), Scratch::default());
        reading.each(&passed.map(|(_, index)| index).collect::<Vec<_>>(), |index, case| {
            let judgement = group.operator.judge(&case.desc, reading.level, &mut scratch);
            if group.class.can_fail(&expectation(judgement, self.seen[index as usize].passed)) {
                could_fail.push(index);
            }
        });
        could_fail
    }
}

/// The entries that a run of a suite says are untrue: those that name it and are to be corrected, and others
/// that a case disproved.
fn untrue(summary: &Summary, suite: &str) -> Vec<(String, Conclusion)> {
    let is_untrue = |tally: &&KnownTally| {
        let is_disproved = tally.counts.passed > 0 || !tally.counts.otherwise.is_empty();
        is_disproved || tally.is_of_suite(suite) && tally.conclude().is_error()
    };
    let untrue = summary.totals.known.iter().filter(is_untrue);
    untrue.map(|tally| (tally.entry.id.clone(), tally.conclude())).collect()
}

/// What was expected of a case that passed, as far as it matters to how it could have failed.
fn expectation(judgement: Judgement, passed: Passed) -> Expectation {
    match judgement.validity() {
        Validity::Invalid => Expectation::Reject,
        Validity::Open => Expectation::Open(Vec::new()),
        Validity::Valid if passed == Passed::Created => Expectation::Accept,
        Validity::Valid => Expectation::Output,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::Kind;

    fn known(id: &str) -> Arc<KnownFailure> {
        Arc::new(KnownFailure {
            file: "list.yaml".to_owned(),
            id: id.to_owned(),
            suites: Vec::new(),
            cases: String::new(),
            signature: Class::NotRun,
            kind: Kind::Bug,
            reason: String::new(),
            link: None,
        })
    }

    /// However many there are, those that are kept are bounded, those that are counted are all, and many that
    /// are known take no room from news.
    #[test]
    fn failures_are_counted_and_not_all_kept() {
        let (mut blessing, entry) = (Blessing::default(), known("old"));
        let failed = |known: Option<&Arc<KnownFailure>>| Failed {
            operator: 0,
            class: Class::NotRun,
            known: known.cloned(),
            is_expected: known.is_some(),
        };
        let most = MOST_FAILURES as u64;
        (0..=most).for_each(|index| blessing.fail(index, failed(Some(&entry))));
        assert_eq!(blessing.failed.len(), MOST_FAILURES);
        blessing.fail(most + 1, failed(None));
        let library = Library::embedded();
        let stale = [("old".to_owned(), Conclusion::Stale)];
        let groups = |blessing: &Blessing, untrue: &[(String, Conclusion)]| {
            let groups = blessing.groups(library, untrue);
            groups.map(|groups| groups.iter().map(|group| group.failed.len()).collect())
        };
        assert_eq!(groups(&blessing, &[]), Ok(vec![1]), "what is known is no news");
        assert_eq!(groups(&blessing, &stale), Err(BlessError::TooMany(MOST_FAILURES + 2)));
        (0..most).for_each(|index| blessing.fail(most + 2 + index, failed(None)));
        assert_eq!(groups(&blessing, &[]), Err(BlessError::TooMany(MOST_FAILURES + 1)));
        assert_eq!(blessing.failed.len(), 2 * MOST_FAILURES);
    }
}
