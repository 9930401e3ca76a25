//! Totals: the added results of cases, for a batch, for a run so far, for a whole run, or for several runs.
//!
//! Their size does not depend on the number of cases. They hold everything that is needed to resume a run
//! that was cut off.

use std::time::Duration;

use dmlcts_spec::{Coverage, Library};

use crate::{
    AnswerCount, Answers, CaseAnswer, Class, FoundGroups, KnownTally, Notes, Progress, QuestionAnswers,
    Refusals, Skipped, Tally, Verdict, Work,
};

/// The added results of cases.
#[derive(Clone, Debug)]
pub struct Totals {
    /// Every case before this index was read. Some later cases may have been read, too, if a run ended early.
    pub next: u64,
    /// The time that the cases took, without the search for smaller failing cases.
    pub elapsed: Duration,
    /// The progress of the run.
    pub progress: Progress,
    /// The parts of the spec that were exercised.
    pub coverage: Coverage,
    /// The number of runs of created operators, and their bytes.
    pub work: Work,
    /// Behaviour that is allowed but notable.
    pub notes: Notes,
    /// The answers to open questions.
    pub answers: Answers,
    /// How invalid descs were refused.
    pub refusals: Refusals,
    /// The skipped cases, by reason.
    pub skipped: Skipped,
    /// The results of the cases of each known failure of the backend.
    pub known: Vec<KnownTally>,
    /// The groups of failures.
    pub found: FoundGroups,
    operators: usize,
    /// The verdicts, by strategy and then by operator.
    tallies: Vec<Tally>,
    /// The first unexpected case, in the same order.
    unexpected: Vec<Option<Unexpected>>,
}

/// An unexpected case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unexpected {
    /// The index of the case in the source.
    pub index: u64,
    /// The case; empty until it is read again.
    pub line: String,
    /// How it failed; `None` if it passed unexpectedly.
    pub class: Option<Class>,
}

impl Totals {
    /// Totals of no cases, for this number of strategies and the operators of a library.
    pub fn new(library: &Library, strategies: usize) -> Self {
        let operators = library.operators().len();
        Self {
            next: 0,
            elapsed: Duration::ZERO,
            progress: Progress::default(),
            coverage: Coverage::new(library),
            work: Work::default(),
            notes: Notes::default(),
            answers: Answers::default(),
            refusals: Refusals::default(),
            skipped: Skipped::default(),
            known: Vec::new(),
            found: FoundGroups::default(),
            operators,
            tallies: vec![Tally::default(); strategies * operators],
            unexpected: vec![None; strategies * operators],
        }
    }

    /// The verdicts for one strategy and one operator, by their indices.
    pub fn tally(&self, strategy: usize, operator: usize) -> Tally {
        self.place(strategy, operator).map_or_else(Tally::default, |place| self.tallies[place])
    }

    /// The verdicts for one strategy.
    pub fn of_strategy(&self, strategy: usize) -> Tally {
        let mut all = Tally::default();
        (0..self.operators).for_each(|operator| all.add(&self.tally(strategy, operator)));
        all
    }

    /// The verdicts for each strategy; `names` are the names of the strategies.
    pub fn by_strategy(&self, names: &[String]) -> Vec<(String, Tally)> {
        names.iter().cloned().enumerate().map(|(place, name)| (name, self.of_strategy(place))).collect()
    }

    /// The answers to open questions, in the order of the spec.
    pub fn recorded(&self, library: &'static Library) -> Vec<QuestionAnswers> {
        let mut all: Vec<QuestionAnswers> = Vec::new();
        for (operator, question, said, cases, first) in self.answers.in_order() {
            let Some(operator) = library.operators().get(operator) else { continue };
            let Some(question) = operator.questions().get(question) else { continue };
            if all.last().is_none_or(|last| !std::ptr::eq(last.question, question)) {
                all.push(QuestionAnswers { operator, question, answers: Vec::new(), together: 0 });
            }
            let Some(recorded) = all.last_mut() else { continue };
            match said {
                CaseAnswer::Answer(answer) => {
                    recorded.answers.push(AnswerCount { answer, cases, first: first.clone() });
                }
                CaseAnswer::RefusedTogether => recorded.together += cases,
            }
        }
        all
    }

    /// The verdicts of all cases.
    pub fn verdicts(&self) -> Tally {
        let mut all = Tally::default();
        self.tallies.iter().for_each(|tally| all.add(tally));
        all
    }

    /// Counts more cases with this verdict. Their progress is counted separately.
    pub fn count(&mut self, strategy: usize, operator: usize, verdict: Verdict, cases: u64) {
        if let Some(place) = self.place(strategy, operator) {
            self.tallies[place].count_many(verdict, cases);
        }
    }

    /// Records an unexpected case of a strategy and an operator, by their indices. Only the first case of
    /// each pair is kept.
    pub fn note_unexpected(
        &mut self,
        (strategy, operator): (usize, usize),
        index: u64,
        line: &str,
        class: Option<Class>,
    ) {
        let first = self.place(strategy, operator).and_then(|place| self.unexpected.get_mut(place));
        if let Some(first) = first.filter(|first| first.as_ref().is_none_or(|first| index < first.index)) {
            *first = Some(Unexpected { index, line: line.to_owned(), class });
        }
    }

    /// Sets the lines of the kept cases that have none.
    pub(crate) fn name_unexpected(&mut self, mut line: impl FnMut(u64) -> String) {
        for first in self.unexpected.iter_mut().flatten().filter(|first| first.line.is_empty()) {
            first.line = line(first.index);
        }
    }

    /// The first unexpected case of one strategy and one operator, by their indices.
    pub fn first_unexpected(&self, strategy: usize, operator: usize) -> Option<&Unexpected> {
        self.unexpected.get(self.place(strategy, operator)?)?.as_ref()
    }

    /// Changes the verdict of one counted case.
    pub(crate) fn correct(&mut self, strategy: usize, operator: usize, from: Verdict, to: Verdict) {
        if let Some(place) = self.place(strategy, operator) {
            self.tallies[place].correct(from, to);
        }
    }

    fn place(&self, strategy: usize, operator: usize) -> Option<usize> {
        let place = strategy * self.operators + operator;
        (operator < self.operators && place < self.tallies.len()).then_some(place)
    }

    /// Adds everything that does not depend on the order of the cases. The groups of failures and
    /// [`Totals::next`] do.
    pub fn add(&mut self, other: &Self) {
        self.elapsed += other.elapsed;
        self.progress.read += other.progress.read;
        self.progress.ran += other.progress.ran;
        self.progress.unexpected += other.progress.unexpected;
        self.coverage.merge(&other.coverage);
        self.work.runs += other.work.runs;
        self.work.on_other_data += other.work.on_other_data;
        self.work.bytes += other.work.bytes;
        self.work.too_large += other.work.too_large;
        self.work.only_created += other.work.only_created;
        self.notes.holes += other.notes.holes;
        self.notes.tails += other.notes.tails;
        self.notes.forgiven += other.notes.forgiven;
        self.answers.merge(&other.answers);
        self.refusals.merge(&other.refusals);
        self.skipped.add(&other.skipped);
        if self.known.is_empty() {
            self.known.clone_from(&other.known);
        } else {
            self.known.iter_mut().zip(&other.known).for_each(|(own, other)| own.counts.add(&other.counts));
        }
        self.tallies.iter_mut().zip(&other.tallies).for_each(|(own, other)| own.add(other));
        for (own, other) in self.unexpected.iter_mut().zip(&other.unexpected) {
            let is_first = |other: &&Unexpected| own.as_ref().is_none_or(|own| other.index < own.index);
            if let Some(other) = other.as_ref().filter(is_first) {
                *own = Some(other.clone());
            }
        }
    }
}
