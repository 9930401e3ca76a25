//! The answers to open questions. If two runs are compared, questions with other answers come first.

use dmlcts_results::CaseLog;
use dmlcts_spec::{Operator, Question};
use maud::{Markup, html};

use crate::numbers::grouped;

/// A question with its answers in each run.
struct Answered<'a> {
    operator: &'a Operator,
    question: &'a Question,
    answers: Vec<Vec<(&'a str, u64)>>,
}

impl Answered<'_> {
    /// Whether the runs gave different answers. Their numbers depend on the cases and do not count.
    fn differs(&self) -> bool {
        let ids =
            |answers: &Vec<(&str, u64)>| answers.iter().map(|(id, _)| (*id).to_owned()).collect::<Vec<_>>();
        self.answers.windows(2).any(|pair| !pair.iter().any(Vec::is_empty) && ids(&pair[0]) != ids(&pair[1]))
    }
}

/// The answers of the logs, with the name of each; `None` if no question was answered.
pub(super) fn answers(logs: &[(&str, &CaseLog)]) -> Option<Markup> {
    let operators = logs.first()?.1.library().operators().iter();
    let questions =
        operators.flat_map(|operator| operator.questions().iter().map(move |question| (operator, question)));
    let mut all: Vec<Answered<'_>> = questions
        .map(|(operator, question)| Answered {
            operator,
            question,
            answers: logs.iter().map(|(_, log)| log.answers(&question.id)).collect(),
        })
        .filter(|answered| answered.answers.iter().any(|answers| !answers.is_empty()))
        .collect();
    all.sort_by_key(|answered| !answered.differs());
    (!all.is_empty()).then(|| html! {
        div.scroll tabindex="0" role="region" aria-label="Answers to open questions" {
            table {
                thead {
                    tr {
                        th scope="col" { "Question" }
                        @for (name, _) in logs { th scope="col" { "Answers" @if !name.is_empty() { " of the " (name) " run" } } }
                    }
                }
                tbody { @for answered in &all { (row(answered)) } }
            }
        }
    })
}

fn row(answered: &Answered<'_>) -> Markup {
    let Answered { operator, question, answers } = answered;
    html! {
        tr.changed[answered.differs()] {
            th scope="row" {
                code.id { (question.id) }
                code.formula { (question.text) }
                span.cite { (question.cite.on(operator.page())) }
            }
            @for given in answers {
                td {
                    @if given.is_empty() { span.faint { "not asked" } }
                    @for (id, cases) in given { div { (words(operator, id)) " " span.faint { "× " (grouped(*cases)) } } }
                }
            }
        }
    }
}

/// An answer of a results file in words.
fn words(operator: &Operator, id: &str) -> String {
    match id {
        "reject" => "refused".to_owned(),
        "accept" => "accepted".to_owned(),
        "semantics" => "ran as the semantics".to_owned(),
        "reject-together" => "refused, for this or another question".to_owned(),
        _ => {
            let place = id.strip_prefix("reading-").and_then(|reading| reading.parse::<usize>().ok());
            let reading = place.and_then(|place| operator.readings().get(place.checked_sub(1)?));
            reading.map_or_else(|| id.to_owned(), |reading| format!("read {}", reading.expression))
        }
    }
}
