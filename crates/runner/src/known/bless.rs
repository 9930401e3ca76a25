//! Blessing: from the failures of a whole run to entries of a list, so that the next run fails by news only.
//!
//! Failures of one operator and one class are a group. For each a predicate is sought that holds of them and of no case of the
//! run that could have failed so and passed; where there is none, for the group mode by mode, type by type or rank by rank; and
//! where there is none again, the cases are listed, unless they are too many. What changes from time to time is not listed.

use std::{collections::BTreeMap, sync::Arc};

use dmlcts_model::{Case, Expectation, FeatureLevel, Outcome, Side};
use dmlcts_spec::{Judgement, Library, Operator, Scratch, Validity};

use super::{Conclusion, Kind, KnownFailure, KnownFailureForm, KnownTally, separate::Separation};
use crate::{CaseResults, Class, Exposure, Exposures, Found, Source, Summary, Verdict};

/// More failures than this are not a list but a backend to be mended.
const MOST_FAILURES: usize = 200_000;
/// As many cases may be listed one by one.
const MOST_LISTED: usize = 100;

/// What became of the cases of a run, as far as blessing needs it. Its memory is bounded: some bytes for each case of the suite, which
/// must have an end, and no more failures than could be blessed, 200,000 that are news and as many of each entry.
#[derive(Debug, Default)]
pub struct Blessing {
    /// The cases that failed, by index, as far as there is room for them.
    failed: BTreeMap<u64, Failed>,
    /// How many failed as an entry says, by its id, and how many otherwise.
    failures: BTreeMap<Option<String>, usize>,
    /// The others, by index, with what they could have shown.
    passed: Vec<(Passed, Exposures)>,
}

/// What became of a case that failed.
#[derive(Clone, Debug)]
struct Failed {
    class: Class,
    /// The entry that matches it.
    known: Option<Arc<KnownFailure>>,
    /// Whether it fails as that entry says.
    is_expected: bool,
}

/// How cases are selected: by a predicate, or by their lines.
type Selector = (Option<String>, Option<Vec<String>>);

/// What became of a case that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Passed {
    /// It was not run, or nobody knows.
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

/// A group of failures, and where it came from.
struct Group<'a> {
    operator: &'a Operator,
    class: Class,
    cases: Vec<Case>,
    /// The entry that matches all of them, where one does.
    from: Option<String>,
}

impl BlessError {
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Incomplete => "let the run come to its end",
            Self::Unreliable { .. } => "mend these first: what crashes, hangs or is lost cannot be expected",
            Self::TooMany(_) => "mend the backend first, or bless a smaller suite",
            Self::NoPredicate { .. } => {
                "mend the backend, or write an entry of your own for them, with a predicate behind `where` or the lines behind \
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
                        self.fail(case.index, Failed { class, known, is_expected });
                    }
                    Passed::No
                }
                _ => Passed::No,
            };
            let place = case.index as usize;
            if self.passed.len() <= place {
                self.passed.resize(place + 1, (Passed::No, Exposures::default()));
            }
            self.passed[place] = (passed, case.exposures);
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

    /// The entries of a list after this run of a suite: those that are still true, those that it says nothing of, and new ones, as far
    /// as there are any that say which cases fail.
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
        if summary.ending != crate::Ending::Complete || !summary.abandoned.is_empty() {
            return Err(BlessError::Incomplete);
        }
        for verdict in [Verdict::Crash, Verdict::Timeout, Verdict::Lost] {
            let cases = summary.tally().of(verdict);
            if cases > 0 {
                return Err(BlessError::Unreliable { verdict, cases });
            }
        }
        let is_untrue =
            |tally: &&KnownTally| tally.is_of_suite(suite) && tally.conclude() != Conclusion::Holds;
        let untrue: Vec<&str> =
            summary.totals.known.iter().filter(is_untrue).map(|tally| tally.entry.id.as_str()).collect();
        let is_kept = |form: &&Arc<KnownFailureForm>| !untrue.contains(&form.id.as_str());
        let mut entries: Vec<KnownFailureForm> =
            old.iter().filter(is_kept).map(|form| KnownFailureForm::clone(form)).collect();
        let mut left = Vec::new();
        for group in self.groups(library, source, &untrue)? {
            let cause = old.iter().find(|form| group.from.as_ref() == Some(&form.id));
            let (selectors, cases) = self.selectors(&group, source, summary.level);
            if cases > 0 {
                let (operator, class) = (group.operator.name().to_owned(), group.class.id());
                left.push(BlessError::NoPredicate { operator, class, cases });
                // What a person wrote of them is not thrown away for nothing.
                if let Some(form) = cause.filter(|_| selectors.is_empty())
                    && entries.iter().all(|entry| entry.id != form.id)
                {
                    entries.push(KnownFailureForm::clone(form));
                }
            }
            for (filter, cases) in selectors {
                let mut entry = cause.map_or_else(|| new_entry(&group), |form| KnownFailureForm::clone(form));
                entry.id = free_id(&group, cause.map(|form| form.id.as_str()), &entries);
                entry.suites = vec![suite.to_owned()];
                group.class.id().clone_into(&mut entry.signature);
                (entry.filter, entry.cases) = (filter, cases);
                entries.push(entry);
            }
        }
        Ok(Blessed { entries, left })
    }

    /// The failures that no entry expects any more, by operator and class.
    fn groups<'a>(
        &self,
        library: &'a Library,
        source: &dyn Source,
        untrue: &[&str],
    ) -> Result<Vec<Group<'a>>, BlessError> {
        let is_news = |entry: Option<&str>| entry.is_none_or(|entry| untrue.contains(&entry));
        let news = self.failures.iter().filter(|(entry, _)| is_news(entry.as_deref()));
        let news: usize = news.map(|(_, failures)| failures).sum();
        if news > MOST_FAILURES {
            return Err(BlessError::TooMany(news));
        }
        let is_open = |failed: &Failed| {
            !failed.is_expected || is_news(failed.known.as_ref().map(|known| known.id.as_str()))
        };
        let open = self.failed.iter().filter(|(_, failed)| is_open(failed));
        let (mut cursor, mut case) = (source.cursor(), None);
        let mut groups: Vec<Group<'a>> = Vec::new();
        for (index, Failed { class, known, .. }) in open {
            let case = case.get_or_insert_with(|| unit(library));
            let Some(case) = case else { break };
            cursor.read(*index, case);
            let Some(operator) = operator_of(library, case) else { continue };
            let known = known.as_ref().map(|known| known.id.clone());
            let same = |group: &&mut Group<'_>| {
                group.class == *class && group.operator.position() == operator.position()
            };
            match groups.iter_mut().find(same) {
                Some(group) => {
                    group.from = group.from.take().filter(|from| Some(from) == known.as_ref());
                    group.cases.push(case.clone());
                }
                None => {
                    groups.push(Group { operator, class: *class, cases: vec![case.clone()], from: known });
                }
            }
        }
        Ok(groups)
    }

    /// How the cases of a group are told from those that passed, by predicates or one by one, and of how many they are not.
    fn selectors(
        &self,
        group: &Group<'_>,
        source: &dyn Source,
        level: FeatureLevel,
    ) -> (Vec<Selector>, usize) {
        let mut best: (Vec<Selector>, Vec<Case>) = (Vec::new(), group.cases.clone());
        for part in [|_: &Case| 0, mode, data_type, rank] {
            let mut parts: BTreeMap<i64, Vec<Case>> = BTreeMap::new();
            group.cases.iter().for_each(|case| parts.entry(part(case)).or_default().push(case.clone()));
            let mut found: Vec<Separation<'_>> =
                parts.values().map(|cases| Separation::new(group.operator, level, cases)).collect();
            self.exclude(group, source, level, &mut found);
            let predicates: Vec<Option<String>> = found.iter().map(Separation::predicate).collect();
            let told = predicates.iter().flatten().map(|predicate| (Some(predicate.clone()), None)).collect();
            let rest = parts.into_values().zip(&predicates).filter(|(_, predicate)| predicate.is_none());
            let rest: Vec<Case> = rest.flat_map(|(cases, _)| cases).collect();
            if rest.is_empty() {
                return (told, 0);
            }
            // So few are listed as they are.
            if group.cases.len() > MOST_LISTED && rest.len() < best.1.len() {
                best = (told, rest);
            }
        }
        let (mut selectors, rest) = best;
        if rest.len() > MOST_LISTED {
            return (selectors, rest.len());
        }
        selectors.push((None, Some(rest.iter().map(Case::to_string).collect())));
        (selectors, 0)
    }

    /// Shows the cases that passed and could have failed as a group did.
    fn exclude(
        &self,
        group: &Group<'_>,
        source: &dyn Source,
        level: FeatureLevel,
        separations: &mut [Separation<'_>],
    ) {
        let (mut cursor, mut scratch) = (source.cursor(), Scratch::default());
        let Some(mut case) = group.cases.first().cloned() else { return };
        let passed = self.passed.iter().zip(0_u64..).filter(|((passed, exposures), _)| {
            let tells = match passed {
                Passed::No => false,
                Passed::Refused => group.class.is_about_refusals(),
                Passed::Created | Passed::Yes => true,
            };
            tells && exposures.to(group.class) == Exposure::Yes
        });
        for ((passed, _), index) in passed {
            cursor.read(index, &mut case);
            if !Arc::ptr_eq(&case.desc.signature, group.operator.signature()) {
                continue;
            }
            let judgement = group.operator.judge(&case.desc, level, &mut scratch);
            if group.class.can_fail(&expectation(judgement, *passed)) {
                for separation in &mut *separations {
                    separation.exclude(&case);
                }
            }
        }
    }
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

/// A case to read others over.
fn unit(library: &Library) -> Option<Case> {
    library.operators().iter().flat_map(Operator::examples).map(|example| example.case.clone()).next()
}

fn operator_of<'a>(library: &'a Library, case: &Case) -> Option<&'a Operator> {
    library.operators().iter().find(|operator| Arc::ptr_eq(operator.signature(), &case.desc.signature))
}

fn mode(case: &Case) -> i64 {
    Found::mode_of(&case.desc).unwrap_or(-1)
}

fn data_type(case: &Case) -> i64 {
    case.desc.tensor(Side::Input).map_or(-1, |tensor| i64::from(tensor.data_type.0))
}

fn rank(case: &Case) -> i64 {
    let sizes = case.desc.tensor(Side::Input).and_then(|tensor| tensor.sizes.as_ref());
    sizes.map_or(-1, |sizes| sizes.len() as i64)
}

/// An entry that a person has yet to look at.
fn new_entry(group: &Group<'_>) -> KnownFailureForm {
    KnownFailureForm {
        id: String::new(),
        suites: Vec::new(),
        filter: None,
        cases: None,
        signature: group.class.id().to_owned(),
        kind: if group.class == Class::Undeclared { Kind::Unsupported } else { Kind::Bug },
        reason: "Not examined yet.".to_owned(),
        link: None,
        version: None,
        driver: None,
        device: None,
    }
}

/// The id that an entry had, or one that says what fails; with a number where it is taken.
fn free_id(group: &Group<'_>, old: Option<&str>, entries: &[KnownFailureForm]) -> String {
    let plain = format!("{}-{}", group.operator.name().to_lowercase(), group.class.id());
    let stem = old.unwrap_or(&plain);
    let is_free = |id: &str| entries.iter().all(|entry| entry.id != id);
    let mut numbered = (2..).map(|number| format!("{stem}-{number}"));
    if is_free(stem) { stem.to_owned() } else { numbered.find(|id| is_free(id)).unwrap_or_default() }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    /// However many there are, those that are kept are bounded, those that are counted are all, and many that are known take no room from news.
    #[test]
    fn failures_are_counted_and_not_all_kept() {
        let (mut blessing, entry) = (Blessing::default(), known("old"));
        let failed = |known: Option<&Arc<KnownFailure>>| Failed {
            class: Class::NotRun,
            known: known.cloned(),
            is_expected: known.is_some(),
        };
        let most = MOST_FAILURES as u64;
        (0..=most).for_each(|index| blessing.fail(index, failed(Some(&entry))));
        assert_eq!(blessing.failed.len(), MOST_FAILURES);
        blessing.fail(most + 1, failed(None));
        let library = Library::embedded();
        let source =
            crate::Listed::new(vec![unit(library).expect("specs have examples"); MOST_FAILURES + 2], "given");
        let groups = |blessing: &Blessing, untrue: &[&str]| {
            blessing
                .groups(library, &source, untrue)
                .map(|groups| groups.iter().map(|group| group.cases.len()).collect())
        };
        assert_eq!(groups(&blessing, &[]), Ok(vec![1]), "what is known is no news");
        assert_eq!(groups(&blessing, &["old"]), Err(BlessError::TooMany(MOST_FAILURES + 2)));
        (0..most).for_each(|index| blessing.fail(most + 2 + index, failed(None)));
        assert_eq!(groups(&blessing, &[]), Err(BlessError::TooMany(MOST_FAILURES + 1)));
        assert_eq!(blessing.failed.len(), 2 * MOST_FAILURES);
    }
}
