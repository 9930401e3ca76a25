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

/// The number of cases of each verdict, with its name. A case whose output was never seen is not counted as a
/// right output: such cases have no verdict here.
pub(crate) fn counts(summary: &Summary) -> impl Iterator<Item = (Option<Verdict>, String, u64)> {
    let (tally, created) = (summary.tally(), summary.totals.work.only_created);
    Verdict::ALL.into_iter().flat_map(move |verdict| {
        let is_pass = verdict == Verdict::Pass;
        let count = tally.of(verdict).saturating_sub(if is_pass { created } else { 0 });
        let only_created = is_pass.then(|| (None, "created only".to_owned(), created));
        std::iter::once((Some(verdict), verdict.to_string(), count)).chain(only_created)
    })
}

/// The number of cases of each verdict in words.
pub(crate) fn verdicts(summary: &Summary) -> String {
    // Beside crashes, for example, no failure would read as if all were well.
    let is_good = summary.tally().unexpected() == 0;
    let is_always_shown = |verdict: Option<Verdict>| {
        verdict == Some(Verdict::Pass) || verdict == Some(Verdict::Fail) && is_good
    };
    let shown = counts(summary).filter(|(verdict, _, count)| *count > 0 || is_always_shown(*verdict));
    shown.map(|(_, name, count)| format!("{} {name}", grouped(count))).collect::<Vec<_>>().join(", ")
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
