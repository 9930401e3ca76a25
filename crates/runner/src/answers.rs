//! How a backend answered what the pages leave open: each question that arose, each answer, and how often.
//!
//! An answer is counted only where the outcome tells it. A case that raises several questions and ran answers all of them;
//! where it was refused, any of those that allow a refusal may be why, and that is counted apart. There are as many
//! counters as the spec has answers to questions, however many cases run.

use dmlcts_model::{Expectation, Outcome};
use dmlcts_spec::{Answer, IdSet, Operator, Question};

use crate::Seen;

/// How an open question was answered.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Whose question it is.
    pub operator: &'static Operator,
    /// The question.
    pub question: &'static Question,
    /// The answers, each one that the question allows; none where all that is known is [`Recorded::together`].
    pub answers: Vec<AnswerCount>,
    /// How many further cases raised it and were refused for it or for another question that they raised.
    pub together: u64,
}

/// How often an open question was answered in one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerCount {
    /// The answer.
    pub answer: Answer,
    /// How many cases gave it.
    pub cases: u64,
    /// The index and the line of the first of them.
    pub first: (u64, String),
}

impl Recorded {
    /// How many cases raised the question and were recorded.
    pub fn cases(&self) -> u64 {
        self.together + self.answers.iter().map(|answered| answered.cases).sum::<u64>()
    }
}

/// What an outcome says to a question that the case raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// This answer.
    Answer(Answer),
    /// The case was refused, for this question or for another one that it raised: nobody knows which.
    RefusedTogether,
}

/// Counts of answers, by the places of operators and of their questions.
#[derive(Clone, Debug, Default)]
pub struct Answers(Vec<(Key, Count)>);

/// The place of the operator, that of the question, and what was said to it.
type Key = (usize, usize, Said);

/// How many cases said so, with the index and the line of the first.
#[derive(Clone, Debug)]
struct Count {
    cases: u64,
    first: (u64, String),
}

impl Answers {
    /// Counts what one recorded case of this index and line said to a question.
    pub(crate) fn count(&mut self, (operator, question, said): Key, index: u64, line: &str) {
        match self.find((operator, question, said)) {
            Some(count) => count.cases += 1,
            None => self.count_many(operator, question, said, (1, index, line)),
        }
    }

    /// Adds what other cases answered.
    pub fn merge(&mut self, other: &Self) {
        for ((operator, question, said), Count { cases, first: (index, line) }) in &other.0 {
            self.count_many(*operator, *question, *said, (*cases, *index, line));
        }
    }

    /// Counts so many more cases that said this to the question at a place, of the operator at a place; with the index and the
    /// line of the first of them.
    pub fn count_many(
        &mut self,
        operator: usize,
        question: usize,
        said: Said,
        (cases, index, line): (u64, u64, &str),
    ) {
        let key = (operator, question, said);
        let Some(count) = self.find(key) else {
            self.0.push((key, Count { cases, first: (index, line.to_owned()) }));
            return;
        };
        count.cases += cases;
        // Parts of a run are joined in any order.
        if index < count.first.0 {
            count.first = (index, line.to_owned());
        }
    }

    fn find(&mut self, key: Key) -> Option<&mut Count> {
        self.0.iter_mut().find(|(known, _)| *known == key).map(|(_, count)| count)
    }

    /// The counts, in the order of the spec: the place of the operator, that of the question, what was said, how many cases said so,
    /// and the index and the line of the first.
    pub fn in_order(&self) -> impl Iterator<Item = (usize, usize, Said, u64, &(u64, String))> {
        let mut all: Vec<_> = self.0.iter().collect();
        all.sort_by_key(|((operator, question, said), _)| {
            let said = match said {
                Said::Answer(Answer::Reject) => 0,
                Said::Answer(Answer::Accept) => 1,
                Said::Answer(Answer::Reading(reading)) => reading.saturating_add(2),
                Said::RefusedTogether => usize::MAX,
            };
            (*operator, *question, said)
        });
        all.into_iter().map(|((operator, question, said), count)| {
            (*operator, *question, *said, count.cases, &count.first)
        })
    }
}

/// What a recorded case said to each question that it raised, as far as its outcome tells. `reading` is the one whose output
/// was seen, and `declared` whether the backend declares support for such a desc: where it does not, a refusal says nothing of
/// any question.
pub(crate) fn said(
    operator: &Operator,
    questions: IdSet,
    outcome: &Outcome,
    reading: Option<usize>,
    declared: bool,
) -> impl Iterator<Item = (usize, Said)> {
    let refused = matches!(outcome, Outcome::Rejected { .. });
    let allowed =
        move |question: usize| operator.questions().get(question).map_or(&[][..], |question| &question.allow);
    let refusable = move |question: &usize| allowed(*question).contains(&Answer::Reject);
    let reasons = if refused && declared { questions.iter().filter(refusable).count() } else { 0 };
    questions.iter().filter_map(move |question| {
        if !refused {
            return Some((question, Said::Answer(to_question(operator, question, reading))));
        }
        let said = if reasons == 1 { Said::Answer(Answer::Reject) } else { Said::RefusedTogether };
        (reasons > 0 && refusable(&question)).then_some((question, said))
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
