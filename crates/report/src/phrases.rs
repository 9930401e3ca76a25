//! Phrases about a run that the summary, the statement and the Markdown report share.

use dmlcts_runner::{QuestionAnswers, Summary, Verdict};
use dmlcts_spec::Answer;

use crate::numbers::{counted, grouped};

/// The backend that answered.
pub(crate) fn ran_on(summary: &Summary) -> String {
    let backend = &summary.capabilities;
    let device = if backend.device.is_empty() { String::new() } else { format!(" ({})", backend.device) };
    format!("{} {}{device}", backend.name, backend.version)
}

/// The number of cases of each verdict.
pub(crate) fn verdicts(summary: &Summary) -> String {
    let tally = summary.tally();
    // A case whose output was never seen is not counted as a right output.
    let created = summary.totals.work.only_created;
    let mut counts = Vec::new();
    for verdict in Verdict::ALL {
        let count = tally.of(verdict);
        if verdict == Verdict::Pass {
            counts.push(format!("{} {verdict}", grouped(count.saturating_sub(created))));
            if created > 0 {
                counts.push(format!("{} created only", grouped(created)));
            }
        } else if count > 0 || verdict == Verdict::Fail && tally.unexpected() == 0 {
            // Beside crashes, for example, it would read as if all were well.
            counts.push(format!("{} {verdict}", grouped(count)));
        }
    }
    counts.join(", ")
}

/// The answers to one open question.
pub(crate) fn answers(recorded: &QuestionAnswers) -> String {
    let answers = recorded.answers.iter().map(|answered| {
        let answer = match answered.answer {
            Answer::Reject => "refused".to_owned(),
            Answer::Accept => "accepted".to_owned(),
            Answer::Reading(0) => "ran as the semantics".to_owned(),
            Answer::Reading(reading) => {
                let readings = recorded.operator.readings();
                let read = readings.get(reading - 1).map(|reading| reading.expression.to_string());
                format!("read `{}`", read.unwrap_or_default())
            }
        };
        format!("{answer} in {}", counted(answered.cases, "case"))
    });
    let mut parts: Vec<String> = answers.collect();
    if recorded.together > 0 {
        parts
            .push(format!("refused in {}, for this or another question", counted(recorded.together, "case")));
    }
    format!("{}: {}", recorded.question.id, parts.join("; "))
}
