//! The backend's answers to open questions: each question that arose, each answer, and how often it was
//! given.
//!
//! An answer is counted only if the outcome shows it. A case that raises several questions and ran answers
//! all of them. If it was refused, each question that allows a refusal may be the reason, which has its own
//! counter. The number of counters depends on the spec, not on the number of cases.

use dmlcts_model::{Expectation, Outcome};
use dmlcts_spec::{Answer, IdSet, Operator, Question};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Seen;

/// The answers to an open question.
#[derive(Clone, Debug)]
pub struct QuestionAnswers {
    /// The operator that the question belongs to.
    pub operator: &'static Operator,
    /// The question.
    pub question: &'static Question,
    /// The answers that the question allows, each with its count. Empty if every case counts in
    /// [`QuestionAnswers::together`].
    pub answers: Vec<AnswerCount>,
    /// The number of further cases that raised the question and were refused, for it or for another question
    /// that they raised.
    pub together: u64,
}

/// How often an open question had one answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerCount {
    /// The answer.
    pub answer: Answer,
    /// The number of cases that gave it.
    pub cases: u64,
    /// The first of these cases.
    pub first: FirstCase,
}

/// The first case of several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FirstCase {
    /// Its index.
    pub index: u64,
    /// Its line.
    pub line: String,
}

impl QuestionAnswers {
    /// The number of recorded cases that raised the question.
    pub fn cases(&self) -> u64 {
        self.together + self.answers.iter().map(|answered| answered.cases).sum::<u64>()
    }
}

/// The answer of an outcome to a question that the case raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseAnswer {
    /// This answer.
    Answer(Answer),
    /// The case was refused, for this question or for another one that it raised: the outcome does not show
    /// which.
    RefusedTogether,
}

/// Counts of answers, by the indices of operators and of their questions.
#[derive(Clone, Debug, Default)]
pub struct Answers(Vec<(Key, Count)>);

/// The index of the operator, the index of the question, and the answer.
type Key = (usize, usize, CaseAnswer);

/// The number of cases that gave an answer, with the first of them.
#[derive(Clone, Debug)]
struct Count {
    cases: u64,
    first: FirstCase,
}

impl Answers {
    /// Counts the answer of one recorded case, which has this index and line.
    pub(crate) fn count(&mut self, (operator, question, said): Key, index: u64, line: &str) {
        match self.find((operator, question, said)) {
            Some(count) => count.cases += 1,
            None => {
                self.count_many(operator, question, said, (1, FirstCase { index, line: line.to_owned() }));
            }
        }
    }

    /// Adds the counts of other cases.
    pub fn merge(&mut self, other: &Self) {
        for ((operator, question, said), Count { cases, first }) in &other.0 {
            self.count_many(*operator, *question, *said, (*cases, first.clone()));
        }
    }

    /// Counts more cases that gave this answer to a question of an operator. `operator` and `question` are
    /// indices. The tuple is the number of cases, and the first of them.
    pub fn count_many(
        &mut self,
        operator: usize,
        question: usize,
        said: CaseAnswer,
        (cases, first): (u64, FirstCase),
    ) {
        let key = (operator, question, said);
        let Some(count) = self.find(key) else {
            self.0.push((key, Count { cases, first }));
            return;
        };
        count.cases += cases;
        // The parts of a run are joined in any order.
        if first.index < count.first.index {
            count.first = first;
        }
    }

    fn find(&mut self, key: Key) -> Option<&mut Count> {
        self.0.iter_mut().find(|(known, _)| *known == key).map(|(_, count)| count)
    }

    /// The counts, in the order of the spec: the indices of operator and question, the answer, the number of
    /// cases, and the first of them.
    pub fn in_order(&self) -> impl Iterator<Item = (usize, usize, CaseAnswer, u64, &FirstCase)> {
        let mut all: Vec<_> = self.0.iter().collect();
        all.sort_by_key(|((operator, question, said), _)| {
            let said = match said {
                CaseAnswer::Answer(Answer::Reject) => 0,
                CaseAnswer::Answer(Answer::Accept) => 1,
                CaseAnswer::Answer(Answer::Reading(reading)) => reading.saturating_add(2),
                CaseAnswer::RefusedTogether => usize::MAX,
            };
            (*operator, *question, said)
        });
        all.into_iter().map(|((operator, question, said), count)| {
            (*operator, *question, *said, count.cases, &count.first)
        })
    }
}

/// The answers of a recorded case to the questions that it raised, as far as its outcome shows them.
/// `reading` is the one whose output was seen. `declared` is whether the backend declared support for the
/// desc: if it did not, a refusal answers no question.
pub(crate) fn said(
    operator: &Operator,
    questions: IdSet,
    outcome: &Outcome,
    reading: Option<usize>,
    declared: bool,
) -> impl Iterator<Item = (usize, CaseAnswer)> {
    let refused = matches!(outcome, Outcome::Rejected { .. });
    let allowed =
        move |question: usize| operator.questions().get(question).map_or(&[][..], |question| &question.allow);
    let refusable = move |question: &usize| allowed(*question).contains(&Answer::Reject);
    let reasons = if refused && declared { questions.iter().filter(refusable).count() } else { 0 };
    questions.iter().filter_map(move |question| {
        if !refused {
            return Some((question, CaseAnswer::Answer(to_question(operator, question, reading))));
        }
        let said =
            if reasons == 1 { CaseAnswer::Answer(Answer::Reject) } else { CaseAnswer::RefusedTogether };
        (reasons > 0 && refusable(&question)).then_some((question, said))
    })
}

/// The answer of an output to one question of several. If the output shows a reading of another question, it
/// shows the plain semantics for this one. If it does not show a reading, the desc was just accepted.
fn to_question(operator: &Operator, question: usize, reading: Option<usize>) -> Answer {
    let own = |reading: usize| {
        let alternative = reading.checked_sub(1).and_then(|place| operator.readings().get(place));
        alternative.is_some_and(|alternative| alternative.question == question)
    };
    let answer = reading.map(|reading| Answer::Reading(if own(reading) { reading } else { 0 }));
    let allowed = operator.questions().get(question).map_or(&[][..], |question| &question.allow);
    answer.filter(|answer| allowed.contains(answer)).unwrap_or(Answer::Accept)
}

/// The reading whose output a run showed: `another`, or else the first one, which the output was compared
/// with.
pub(crate) fn reading_of(seen: Seen, expectation: &Expectation, another: Option<usize>) -> Option<usize> {
    (seen == Seen::Same).then(|| another.or_else(|| crate::expect::readings(expectation).next())).flatten()
}
