//! How a backend answered what the pages leave open: each question that arose, each answer, and how often.
//!
//! There are as many counters as the spec has answers to questions, however many cases run.

use dmlcts_model::{Expectation, Outcome};
use dmlcts_spec::{Answer, IdSet, Operator, Question};

use crate::Seen;

/// How often an open question was answered in one way.
#[derive(Clone, Copy, Debug)]
pub struct Recorded {
    /// Whose question it is.
    pub operator: &'static Operator,
    /// The question.
    pub question: &'static Question,
    /// The answer, one of those that the question allows.
    pub answer: Answer,
    /// How many cases raised the question and were answered so.
    pub cases: u64,
}

/// Counts of answers, by the places of operators and of their questions.
#[derive(Clone, Debug, Default)]
pub struct Answers(Vec<(Key, u64)>);

/// The place of the operator, that of the question, and the answer.
type Key = (usize, usize, Answer);

impl Answers {
    /// Counts what one recorded case said to each question that it raised. `reading` is the one whose output
    /// was seen.
    pub(crate) fn count(
        &mut self,
        place: usize,
        operator: &Operator,
        questions: IdSet,
        outcome: &Outcome,
        reading: Option<usize>,
    ) {
        for (question, answer) in answers_of(operator, questions, outcome, reading) {
            self.add((place, question, answer), 1);
        }
    }

    /// Adds what other cases answered.
    pub fn merge(&mut self, other: &Self) {
        for (key, cases) in &other.0 {
            self.add(*key, *cases);
        }
    }

    /// Counts so many more cases that gave this answer to the question at a place, of the operator at a place.
    pub fn count_many(&mut self, operator: usize, question: usize, answer: Answer, cases: u64) {
        self.add((operator, question, answer), cases);
    }

    fn add(&mut self, key: Key, cases: u64) {
        match self.0.iter_mut().find(|(known, _)| *known == key) {
            Some((_, count)) => *count += cases,
            None => self.0.push((key, cases)),
        }
    }

    /// The counts, in the order of the spec: the place of the operator, that of the question, the answer, how many cases.
    pub fn in_order(&self) -> Vec<(usize, usize, Answer, u64)> {
        let mut all: Vec<_> = self
            .0
            .iter()
            .map(|&((operator, question, answer), cases)| (operator, question, answer, cases))
            .collect();
        all.sort_by_key(|&(operator, question, answer, _)| {
            let answer = match answer {
                Answer::Reject => 0,
                Answer::Accept => 1,
                Answer::Reading(reading) => reading.saturating_add(2),
            };
            (operator, question, answer)
        });
        all
    }
}

/// What a recorded case said to each question that it raised. `reading` is the one whose output was seen.
pub(crate) fn answers_of(
    operator: &Operator,
    questions: IdSet,
    outcome: &Outcome,
    reading: Option<usize>,
) -> impl Iterator<Item = (usize, Answer)> {
    questions.iter().map(move |question| {
        let answer = match outcome {
            Outcome::Rejected { .. } => Answer::Reject,
            _ => to_question(operator, question, reading),
        };
        (question, answer)
    })
}

/// What an output says to one question of several: another question's reading is the semantics to it, and where
/// it does not tell readings apart, the desc was just accepted.
fn to_question(operator: &Operator, question: usize, reading: Option<usize>) -> Answer {
    let own = |reading: usize| {
        let alternative = reading.checked_sub(1).and_then(|place| operator.readings().get(place));
        alternative.is_some_and(|alternative| alternative.question == question)
    };
    let answer = reading.map(|reading| Answer::Reading(if own(reading) { reading } else { 0 }));
    let allowed = operator.questions().get(question).map_or(&[][..], |question| &question.allow);
    answer.filter(|answer| allowed.contains(answer)).unwrap_or(Answer::Accept)
}

/// The reading whose output a run showed: `another` where it was none of the first, which is what was compared.
pub(crate) fn reading_of(seen: Seen, expectation: &Expectation, another: Option<usize>) -> Option<usize> {
    (seen == Seen::Same).then(|| another.or_else(|| crate::expect::readings(expectation).next())).flatten()
}
