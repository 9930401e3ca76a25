//! Compares two runs case by case. Their suites, specs, backends and versions may differ.
//!
//! Two cases are the same if their lines are equal. Each case takes about twenty bytes, a hash and its
//! results, so that files of millions of lines are compared in little memory. If cases differ, the files are
//! read again for one example of each difference.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
};

use dmlcts_diagnose::Finding;
use dmlcts_runner::{Class, Ending, Verdict};
use dmlcts_spec::Library;

use crate::{CaseForm, Error, FindingForm, Header, Item, Reader, convert::Names, count::Count};

/// The comparison of two runs.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The first run.
    pub old: Side,
    /// The second run.
    pub new: Side,
    /// The number of cases with the same result in both.
    pub same: u64,
    /// The differences by kind, in the order of [`ChangeKind`]. Those of one kind are ordered by frequency.
    pub changes: Vec<Change>,
}

/// One of two runs.
#[derive(Clone, Debug)]
pub struct Side {
    /// The path of its file.
    pub path: String,
    /// The header of its file.
    pub header: Header,
    /// The number of different cases.
    pub cases: u64,
    /// Why it ended. `None` if it was cut off, so that its file has no summary.
    pub ending: Option<Ending>,
    /// Whether it has cases that were started and never answered.
    pub is_abandoned: bool,
    /// Its findings.
    pub findings: Vec<FindingForm>,
    /// Whether its file has groups of failures.
    has_groups: bool,
}

impl Side {
    /// Whether all requested cases ran. An endless run counts as complete when it reaches its time limit.
    pub fn is_complete(&self) -> bool {
        let has_ended = match self.ending {
            Some(Ending::Complete | Ending::Limit) => true,
            Some(Ending::Timeout) => self.header.cases.is_none(),
            _ => false,
        };
        has_ended && !self.is_abandoned
    }

    /// Whether findings may be missing: the file was cut off, or is of an earlier version and has failures.
    pub fn lacks_findings(&self) -> bool {
        self.ending.is_none() || self.has_groups && self.findings.is_empty()
    }

    /// The findings of the run, without the tensors of any case. Findings with names that this program's spec
    /// does not have are left out.
    pub fn explained(&self, library: &'static Library) -> Vec<Finding> {
        let Ok(level) = self.header.feature_level() else { return Vec::new() };
        let strategies: Vec<String> =
            self.findings.iter().map(|finding| finding.failures.strategy.clone()).collect();
        let names = Names { library, strategies: &strategies };
        self.findings.iter().filter_map(|form| form.finding(level, names).ok()).collect()
    }
}

/// The kind of a difference between the results of a case, the most serious first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// The first result was expected and the second is not. Or the case passed, although it is known to fail,
    /// and fails in the second run.
    Broken,
    /// The results differ, and both are expected or both are not.
    Changed,
    /// Only the second run has the case, with an unexpected result.
    NewFailing,
    /// The runs answered an open question in different ways, which are both right.
    Answered,
    /// The first result was unexpected and the second is expected. Or the case passes, and was skipped or
    /// failed as known in the first run.
    Fixed,
    /// Only the second run has the case, with an expected result.
    New,
    /// Only the first run has the case.
    Gone,
}

/// What became of a finding from one run to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trend {
    /// Only the second run has it.
    New,
    /// It has more cases in the second run.
    Grown,
    /// It has fewer cases in the second run.
    Shrunk,
    /// Only the first run has it.
    Fixed,
}

/// Cases of one operator with the same results in the first run, and the same results in the second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The kind of the difference.
    pub kind: ChangeKind,
    /// Their operator.
    pub operator: String,
    /// The result in the first run; empty if the run does not have the cases.
    pub old: String,
    /// The result in the second run; empty if the run does not have the cases.
    pub new: String,
    /// The number of cases.
    pub cases: u64,
    /// The line of the first case in the second file, or in the first file if the second does not have it.
    pub example: String,
}

impl Comparison {
    /// Whether the second run is worse or may be: a case broke or changed, a new case fails, or cases are
    /// [left open](Self::is_left_open). Another answer to an open question is not worse.
    pub fn is_worse(&self) -> bool {
        self.is_left_open() || self.changes.iter().any(|change| change.kind <= ChangeKind::NewFailing)
    }

    /// Whether the second run lacks cases because it is incomplete or only a part of a run. Their results are
    /// unknown. The same part of both runs does not lack cases for that reason.
    pub fn is_left_open(&self) -> bool {
        let part = |side: &Side| side.header.selection.partition;
        let is_part = part(&self.new).is_some() && part(&self.new) != part(&self.old);
        (is_part || !self.new.is_complete()) && self.count(ChangeKind::Gone) > 0
    }

    /// Whether the runs have no case in common.
    pub fn is_of_nothing(&self) -> bool {
        self.old.cases == self.count(ChangeKind::Gone)
    }

    /// The number of cases with a difference of this kind.
    pub fn count(&self, kind: ChangeKind) -> u64 {
        self.changes.iter().filter(|change| change.kind == kind).map(|change| change.cases).sum()
    }

    /// The findings whose number of cases differs, with that number in both runs. Two findings are the same
    /// if their class, their operators and their predicate, if any, are equal.
    pub fn findings(&self) -> Vec<(Trend, &FindingForm, [u64; 2])> {
        let is_same = |one: &FindingForm, other: &FindingForm| {
            let predicate = |finding: &FindingForm| finding.rule.as_ref().map(|rule| rule.predicate.clone());
            let class = |finding: &FindingForm| (finding.failures.class, finding.operators.clone());
            class(one) == class(other) && predicate(one) == predicate(other)
        };
        let cases = |side: &Side, finding: &FindingForm| -> u64 {
            let same = side.findings.iter().filter(|one| is_same(one, finding));
            same.fold(0, |sum: u64, one| sum.saturating_add(one.failures.cases))
        };
        if self.old.lacks_findings() || self.new.lacks_findings() {
            return Vec::new();
        }
        let mut all = Vec::new();
        for finding in &self.new.findings {
            let counts = [cases(&self.old, finding), cases(&self.new, finding)];
            let trend = match counts {
                [0, _] => Trend::New,
                [old, new] if new > old => Trend::Grown,
                [old, new] if new < old => Trend::Shrunk,
                _ => continue,
            };
            all.push((trend, finding, counts));
        }
        let is_fixed = |finding: &&FindingForm| self.new.is_complete() && cases(&self.new, finding) == 0;
        let fixed = self.old.findings.iter().filter(is_fixed);
        all.extend(fixed.map(|finding| (Trend::Fixed, finding, [cases(&self.old, finding), 0])));
        all.sort_by_key(|(trend, ..)| *trend);
        all.dedup_by(|(one, finding, _), (other, known, _)| one == other && is_same(finding, known));
        all
    }
}

/// A case of one of two runs that are compared.
#[derive(Clone, Copy, Debug)]
pub struct Compared<'a> {
    /// Whether it is of the second run.
    pub is_new: bool,
    /// The header of its run.
    pub header: &'a Header,
    /// Its result in this run.
    pub case: &'a CaseForm<'a>,
    /// The kind of the difference, and the results in both runs; `None` if they are the same.
    pub change: Option<(ChangeKind, [&'a str; 2])>,
}

/// Takes the cases of two runs.
pub type Each<'a> = &'a mut dyn FnMut(&Compared<'_>);

/// Compares the runs of two files. `each` gets the cases of the second run, and then those of the first.
///
/// # Errors
///
/// A file is not a results file, or cannot be read twice, such as a pipe.
pub fn compare(old: &str, new: &str, mut each: Option<Each<'_>>) -> Result<Comparison, Error> {
    for path in [old, new] {
        // Opening reports a missing file or a folder.
        if fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
            return Err(Error::NotReadableTwice { path: path.to_owned() });
        }
    }
    let mut cases = Cases::default();
    let (old, new) = (cases.read(old, Old)?, cases.read(new, New)?);
    let mut changes = cases.changes();
    for (side, which) in [(&new, New), (&old, Old)] {
        let each = each.as_mut().map(|each| &mut **each as Each<'_>);
        cases.find_examples(&side.path, which, &mut changes, each)?;
    }
    let all = changes.values().map(|change| change.cases).sum::<u64>();
    let same = cases.seen.len() as u64 - all;
    let mut changes: Vec<Change> = changes.into_values().collect();
    changes.sort_by(|one, other| {
        (one.kind, other.cases, &one.operator).cmp(&(other.kind, one.cases, &other.operator))
    });
    Ok(Comparison { old, new, same, changes })
}

/// The first or the second run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    Old,
    New,
}
use Which::{New, Old};

/// The result of a case: an index into [`Cases::meanings`].
type Status = u16;
/// The run does not have the case.
const ABSENT: Status = Status::MAX;

/// The start of a line's hash. It is long enough to distinguish 10^12 lines.
type Key = [u8; 12];

fn key(line: &str) -> Key {
    let mut key = Key::default();
    key.copy_from_slice(&blake3::hash(line.as_bytes()).as_bytes()[..12]);
    key
}

/// The meaning of a status.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Meaning {
    operator: String,
    text: String,
    verdict: Verdict,
}

impl Meaning {
    fn is_bad(&self) -> bool {
        self.verdict.is_unexpected()
    }
}

/// The cases of both runs.
#[derive(Default)]
struct Cases {
    seen: HashMap<Key, [Status; 2]>,
    meanings: Vec<Meaning>,
    known: BTreeMap<Meaning, Status>,
    /// The status of a case that passed, by operator. Nearly all cases pass, so they have a lookup of their
    /// own.
    passed: Vec<(String, Status)>,
}

impl Cases {
    /// Adds the cases of a file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or its checkpoints and summary count other cases.
    fn read(&mut self, path: &str, which: Which) -> Result<Side, Error> {
        let mut reader = Reader::open(path)?;
        let (mut ending, mut is_abandoned, mut count) = (None, false, Count::default());
        let (mut findings, mut has_groups) = (Vec::new(), false);
        loop {
            let number = reader.number() + 1;
            let Some(item) = reader.next()? else { break };
            let miscounted = |cause| Error::Miscounted { path: path.to_owned(), cause };
            match item {
                Item::Case(case) => {
                    count.case(&case).map_err(|cause| Error::Line {
                        path: path.to_owned(),
                        number,
                        cause,
                    })?;
                    let status = self.status(&case);
                    let statuses = self.seen.entry(key(&case.line)).or_insert([ABSENT; 2]);
                    let own = &mut statuses[which as usize];
                    // A suite may have a case twice. Then an unexpected result outranks an expected one.
                    let is_bad =
                        |status: Status| self.meanings.get(usize::from(status)).is_some_and(Meaning::is_bad);
                    if *own == ABSENT || is_bad(status) && !is_bad(*own) {
                        *own = status;
                    }
                }
                Item::Summary(summary) => {
                    let what = format!("the summary in line {number}");
                    count.check(&what, &summary.totals).map_err(miscounted)?;
                    ending = Some(summary.ending);
                    has_groups = !summary.totals.groups.is_empty();
                    findings = summary.findings;
                    is_abandoned = !summary.abandoned.is_empty();
                }
                Item::Checkpoint(totals) => {
                    let what = format!("the checkpoint in line {number}");
                    count.check(&what, &totals).map_err(miscounted)?;
                }
            }
        }
        Ok(Side {
            path: path.to_owned(),
            header: reader.header().clone(),
            cases: self.seen.values().filter(|status| status[which as usize] != ABSENT).count() as u64,
            ending,
            is_abandoned,
            findings,
            has_groups,
        })
    }

    fn status(&mut self, case: &CaseForm<'_>) -> Status {
        let operator = case.line.split(' ').next().unwrap_or_default();
        let passed = case.verdict == Verdict::Pass;
        if passed && let Some((_, status)) = self.passed.iter().find(|(known, _)| known == operator) {
            return *status;
        }
        let operator_name = operator.chars().take(100).collect();
        let meaning = Meaning { operator: operator_name, text: meaning(case), verdict: case.verdict };
        let next = self.meanings.len();
        // Further meanings share the last status. No report shows that many differences.
        let next = Status::try_from(next).unwrap_or(ABSENT).min(ABSENT - 1);
        let status = *self.known.entry(meaning.clone()).or_insert_with(|| {
            if usize::from(next) == self.meanings.len() {
                self.meanings.push(meaning);
            }
            next
        });
        if passed {
            self.passed.push((operator.to_owned(), status));
        }
        status
    }

    /// The kind of the difference; `None` if the results are the same.
    fn kind(&self, [old, new]: [Status; 2]) -> Option<ChangeKind> {
        let meaning = |status: Status| self.meanings.get(usize::from(status));
        let is = |status, verdict| meaning(status).is_some_and(|one| one.verdict == verdict);
        let is_bad = |status| meaning(status).is_some_and(Meaning::is_bad);
        Some(match (old, new) {
            _ if old == new => return None,
            // The behaviour of the backend counts, not whether the list of known failures is up to date.
            _ if is(old, Verdict::ExpectedFail) && is(new, Verdict::UnexpectedPass) => ChangeKind::Fixed,
            _ if is(old, Verdict::UnexpectedPass) && is(new, Verdict::ExpectedFail) => ChangeKind::Broken,
            (_, ABSENT) => ChangeKind::Gone,
            (ABSENT, _) if is_bad(new) => ChangeKind::NewFailing,
            (ABSENT, _) => ChangeKind::New,
            _ => match (is_bad(old), is_bad(new)) {
                (false, true) => ChangeKind::Broken,
                (true, false) => ChangeKind::Fixed,
                (false, false) if is(old, Verdict::Skip) => ChangeKind::Fixed,
                _ if [old, new].into_iter().all(|status| is(status, Verdict::Recorded)) => {
                    ChangeKind::Answered
                }
                _ => ChangeKind::Changed,
            },
        })
    }

    /// The results of a case in both runs; empty for a run that does not have it.
    fn texts(&self, statuses: [Status; 2]) -> [&str; 2] {
        statuses.map(|status| self.meanings.get(usize::from(status)).map_or("", |meaning| &meaning.text))
    }

    /// The differences, without examples.
    fn changes(&self) -> BTreeMap<[Status; 2], Change> {
        let mut changes = BTreeMap::new();
        #[expect(clippy::iter_over_hash_type, reason = "counts do not depend on the order")]
        for statuses in self.seen.values() {
            let Some(kind) = self.kind(*statuses) else { continue };
            let [old, new] = statuses.map(|status| self.meanings.get(usize::from(status)));
            let texts = self.texts(*statuses);
            let change = changes.entry(*statuses).or_insert_with(|| Change {
                kind,
                operator: new.or(old).map(|meaning| meaning.operator.clone()).unwrap_or_default(),
                old: texts[0].to_owned(),
                new: texts[1].to_owned(),
                cases: 0,
                example: String::new(),
            });
            change.cases += 1;
        }
        changes
    }

    /// Reads a file again for an example of each difference that has none yet, and for a function that takes
    /// every case.
    fn find_examples(
        &self,
        path: &str,
        which: Which,
        changes: &mut BTreeMap<[Status; 2], Change>,
        mut each: Option<Each<'_>>,
    ) -> Result<(), Error> {
        let is_there = |statuses: &[Status; 2]| statuses[which as usize] != ABSENT;
        let mut open =
            changes.iter().filter(|(key, change)| is_there(key) && change.example.is_empty()).count();
        if open == 0 && each.is_none() {
            return Ok(());
        }
        let mut reader = Reader::open(path)?;
        let header = reader.header().clone();
        while let Some(item) = reader.next()? {
            let Item::Case(case) = item else { continue };
            let statuses = self.seen.get(&key(&case.line));
            if let Some(each) = &mut each {
                let change =
                    statuses.and_then(|statuses| Some((self.kind(*statuses)?, self.texts(*statuses))));
                each(&Compared { is_new: which == New, header: &header, case: &case, change });
            }
            let Some(change) = statuses.and_then(|statuses| changes.get_mut(statuses)) else { continue };
            if change.example.is_empty() {
                change.example = case.line.into_owned();
                open -= 1;
                if open == 0 && each.is_none() {
                    break;
                }
            }
        }
        Ok(())
    }
}

/// The result of a case as text.
fn meaning(case: &CaseForm<'_>) -> String {
    let verdict = case.verdict.name();
    // The verdict already names these classes.
    let is_in_verdict = |class: &Class| matches!(class, Class::Crashed | Class::TimedOut | Class::Lost);
    if let Some(class) = case.class.filter(|class| !is_in_verdict(class)) {
        return format!("{verdict} ({})", class.id());
    }
    let answers: Vec<String> =
        case.answers.iter().map(|answer| format!("{}: {}", answer.question, answer.answer)).collect();
    if answers.is_empty() { verdict.to_owned() } else { format!("{verdict} ({})", answers.join(", ")) }
}
