//! Comparing two runs case by case, whatever suites, specs, backends and versions they are of.
//!
//! A case is the same as another where its line is. Of each only a hash is kept and what it came to, some
//! twenty bytes, so that files of millions of lines are compared in little memory; where cases differ, the
//! files are read again for one case to show of each kind of difference.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
};

use dmlcts_runner::{Class, Ending, Verdict};

use crate::{CaseForm, Error, Header, Item, Reader, count::Count};

/// How two runs compare.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The first run.
    pub old: Side,
    /// The second run.
    pub new: Side,
    /// Cases that came to the same in both.
    pub same: u64,
    /// Differences by kind: the gravest kinds first, and of a kind the most frequent.
    pub changes: Vec<Change>,
}

/// One of two runs.
#[derive(Clone, Debug)]
pub struct Side {
    /// Its file.
    pub path: String,
    /// What was run.
    pub header: Header,
    /// How many different cases it has.
    pub cases: u64,
    /// How it ended; `None` where it was cut off, so that its file has no summary.
    pub ending: Option<Ending>,
    /// Whether cases were started and never answered.
    pub is_abandoned: bool,
}

impl Side {
    /// Whether all the cases ran that were to. A run that has no end is as complete as it can be when its
    /// time is up.
    pub fn is_complete(&self) -> bool {
        let came_to_its_end = match self.ending {
            Some(Ending::Complete | Ending::Limit) => true,
            Some(Ending::Timeout) => self.header.cases.is_none(),
            _ => false,
        };
        came_to_its_end && !self.is_abandoned
    }
}

/// What became of a case from one run to the other, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// It was as expected, and is not any more; or it passed, against what was known, and fails as it is
    /// known to.
    Broken,
    /// It comes to something else, which is as much or as little expected as before.
    Changed,
    /// It is there in the second run only, and is not as expected.
    NewFailing,
    /// It has another answer to a question that the pages leave open, which is as right as the one before.
    Answered,
    /// It was not as expected, and is now; or it was skipped, and passes now; or it failed as it was known
    /// to, and passes.
    Fixed,
    /// It is there in the second run only, and is as expected.
    New,
    /// It is there in the first run only.
    Gone,
}

/// Cases of one operator that changed alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What became of them.
    pub kind: Kind,
    /// Their operator.
    pub operator: String,
    /// What they came to before; empty where they were not there.
    pub old: String,
    /// What they come to now; empty where they are not there.
    pub new: String,
    /// How many.
    pub cases: u64,
    /// The first of them, as it stands in the second file, or in the first where it is gone.
    pub example: String,
}

impl Comparison {
    /// Whether something got worse, or nobody knows that nothing did: a case broke or changed, a new one
    /// fails, or cases are [left open](Self::is_left_open). Another answer to an open question is not worse.
    pub fn is_worse(&self) -> bool {
        self.is_left_open() || self.changes.iter().any(|change| change.kind <= Kind::NewFailing)
    }

    /// Whether cases are gone from a second run that is not complete, or a part of one, so that nobody knows
    /// what they would come to. The same part of both runs has all that the first one had.
    pub fn is_left_open(&self) -> bool {
        let part = |side: &Side| side.header.selection.partition;
        let is_part = part(&self.new).is_some() && part(&self.new) != part(&self.old);
        (is_part || !self.new.is_complete()) && self.count(Kind::Gone) > 0
    }

    /// Whether the runs have no case in common, so that nothing was compared.
    pub fn is_of_nothing(&self) -> bool {
        self.old.cases == self.count(Kind::Gone)
    }

    /// How many cases changed in one way.
    pub fn count(&self, kind: Kind) -> u64 {
        self.changes.iter().filter(|change| change.kind == kind).map(|change| change.cases).sum()
    }
}

/// Compares the runs of two files.
///
/// # Errors
///
/// Where one is no results file, or can be read only once, as a pipe can.
pub fn compare(old: &str, new: &str) -> Result<Comparison, Error> {
    for path in [old, new] {
        // What is not there, and a folder, say so when they are opened.
        if fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
            return Err(Error::NotReadableTwice { path: path.to_owned() });
        }
    }
    let mut cases = Cases::default();
    let (old, new) = (cases.read(old, Old)?, cases.read(new, New)?);
    let mut changes = cases.changes();
    for (side, which) in [(&new, New), (&old, Old)] {
        cases.find_examples(&side.path, which, &mut changes)?;
    }
    let count =
        |has: fn(&[Status; 2]) -> bool| cases.seen.values().filter(|status| has(status)).count() as u64;
    let all = changes.values().map(|change| change.cases).sum::<u64>();
    let same = cases.seen.len() as u64 - all;
    let cases = [count(|status| status[0] != ABSENT), count(|status| status[1] != ABSENT)];
    let mut changes: Vec<Change> = changes.into_values().collect();
    changes.sort_by(|one, other| {
        (one.kind, other.cases, &one.operator).cmp(&(other.kind, one.cases, &other.operator))
    });
    let side = |side: ReadRun, cases| {
        let ReadRun { path, header, ending, is_abandoned } = side;
        Side { path, header, cases, ending, is_abandoned }
    };
    Ok(Comparison { old: side(old, cases[0]), new: side(new, cases[1]), same, changes })
}

/// Which of the two runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    Old,
    New,
}
use Which::{New, Old};

/// A file that was read.
struct ReadRun {
    path: String,
    header: Header,
    ending: Option<Ending>,
    is_abandoned: bool,
}

/// What a case came to: a place in [`Cases::meanings`].
type Status = u16;
/// There is no such case.
const ABSENT: Status = Status::MAX;

/// As much of the hash of a line as tells a million million of them apart.
type Key = [u8; 12];

fn key(line: &str) -> Key {
    let mut key = Key::default();
    key.copy_from_slice(&blake3::hash(line.as_bytes()).as_bytes()[..12]);
    key
}

/// What a status means.
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

/// Every case of both runs.
#[derive(Default)]
struct Cases {
    seen: HashMap<Key, [Status; 2]>,
    meanings: Vec<Meaning>,
    known: BTreeMap<Meaning, Status>,
    /// The status of a case that passed, by operator: nearly all do.
    passed: Vec<(String, Status)>,
}

impl Cases {
    /// Adds the cases of a file.
    ///
    /// # Errors
    ///
    /// Where it cannot be read, or its cases are not those that its checkpoints and its summary count.
    fn read(&mut self, path: &str, which: Which) -> Result<ReadRun, Error> {
        let mut reader = Reader::open(path)?;
        let (mut ending, mut is_abandoned, mut count) = (None, false, Count::default());
        loop {
            let number = reader.number() + 1;
            let Some(item) = reader.next()? else { break };
            let miscounted = |cause| Error::Miscounted { path: path.to_owned(), cause };
            match item {
                Item::Case(case) => {
                    if let Err(cause) = count.case(&case) {
                        return Err(Error::Line { path: path.to_owned(), number, cause });
                    }
                    let status = self.status(&case);
                    let statuses = self.seen.entry(key(&case.line)).or_insert([ABSENT; 2]);
                    let own = &mut statuses[which as usize];
                    // A case may stand in a suite twice. Where one of both went wrong, that counts.
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
                    is_abandoned = !summary.abandoned.is_empty();
                }
                Item::Checkpoint(totals) => {
                    let what = format!("the checkpoint in line {number}");
                    count.check(&what, &totals).map_err(miscounted)?;
                }
            }
        }
        Ok(ReadRun { path: path.to_owned(), header: reader.header().clone(), ending, is_abandoned })
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
        // Nobody can look through so many kinds; what is left shares the last one.
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

    /// What became of a case; `None` where it came to the same.
    fn kind(&self, [old, new]: [Status; 2]) -> Option<Kind> {
        let meaning = |status: Status| self.meanings.get(usize::from(status));
        let is = |status, verdict| meaning(status).is_some_and(|one| one.verdict == verdict);
        let is_bad = |status| meaning(status).is_some_and(Meaning::is_bad);
        Some(match (old, new) {
            _ if old == new => return None,
            // What the backend does counts, and not whether the list is up to date.
            _ if is(old, Verdict::ExpectedFail) && is(new, Verdict::UnexpectedPass) => Kind::Fixed,
            _ if is(old, Verdict::UnexpectedPass) && is(new, Verdict::ExpectedFail) => Kind::Broken,
            (_, ABSENT) => Kind::Gone,
            (ABSENT, _) if is_bad(new) => Kind::NewFailing,
            (ABSENT, _) => Kind::New,
            _ => match (is_bad(old), is_bad(new)) {
                (false, true) => Kind::Broken,
                (true, false) => Kind::Fixed,
                (false, false) if is(old, Verdict::Skip) => Kind::Fixed,
                _ if [old, new].into_iter().all(|status| is(status, Verdict::Recorded)) => Kind::Answered,
                _ => Kind::Changed,
            },
        })
    }

    /// The differences, without examples.
    fn changes(&self) -> BTreeMap<[Status; 2], Change> {
        let mut changes = BTreeMap::new();
        let meaning = |status: Status| self.meanings.get(usize::from(status));
        #[expect(clippy::iter_over_hash_type, reason = "counts do not depend on the order")]
        for statuses in self.seen.values() {
            let Some(kind) = self.kind(*statuses) else { continue };
            let [old, new] = statuses.map(meaning);
            let text =
                |meaning: Option<&Meaning>| meaning.map(|meaning| meaning.text.clone()).unwrap_or_default();
            let change = changes.entry(*statuses).or_insert_with(|| Change {
                kind,
                operator: new.or(old).map(|meaning| meaning.operator.clone()).unwrap_or_default(),
                old: text(old),
                new: text(new),
                cases: 0,
                example: String::new(),
            });
            change.cases += 1;
        }
        changes
    }

    /// Reads a file again for a case of each difference that has none yet.
    fn find_examples(
        &self,
        path: &str,
        which: Which,
        changes: &mut BTreeMap<[Status; 2], Change>,
    ) -> Result<(), Error> {
        let is_there = |statuses: &[Status; 2]| statuses[which as usize] != ABSENT;
        let mut open =
            changes.iter().filter(|(key, change)| is_there(key) && change.example.is_empty()).count();
        if open == 0 {
            return Ok(());
        }
        let mut reader = Reader::open(path)?;
        while let Some(item) = reader.next()? {
            let Item::Case(case) = item else { continue };
            let statuses = self.seen.get(&key(&case.line));
            let Some(change) = statuses.and_then(|statuses| changes.get_mut(statuses)) else { continue };
            if change.example.is_empty() {
                change.example = case.line.into_owned();
                open -= 1;
                if open == 0 {
                    break;
                }
            }
        }
        Ok(())
    }
}

/// What a case came to, in words.
fn meaning(case: &CaseForm<'_>) -> String {
    let verdict = case.verdict.name();
    // Of a crash and the like the verdict says as much.
    let is_told = |class: &Class| matches!(class, Class::Crashed | Class::TimedOut | Class::Lost);
    if let Some(class) = case.class.filter(|class| !is_told(class)) {
        return format!("{verdict} ({})", class.id());
    }
    let answers: Vec<String> =
        case.answers.iter().map(|answer| format!("{}: {}", answer.question, answer.answer)).collect();
    if answers.is_empty() { verdict.to_owned() } else { format!("{verdict} ({})", answers.join(", ")) }
}
