//! Shows the ledger: the changes that a run made, one line for each question, or the whole ledger as a table
//! of questions and backends. The table has each question's text, and the note that says which source leaves
//! it open.

use std::io::{self, Write};

use dmlcts_model::escaped;
use dmlcts_results::{
    Against, LedgerAnswer, LedgerChange, LedgerEntry, LedgerForm, LedgerNews, LedgerQuestion,
};
use dmlcts_spec::{Library, Operator, Question};

use crate::{
    Palette, Tone,
    describe::one_line,
    numbers::{counted, grouped},
};

/// The changes of a run, one line each.
pub(crate) fn news(news: &LedgerNews) -> Vec<String> {
    let answers = format!("answers to {}", counted(news.answered as u64, "question"));
    let mut lines = Vec::new();
    let path = &news.path;
    match &news.against {
        Against::Nothing => lines.push(format!("{path}: {answers}, of a backend that it had nothing of")),
        Against::Last if news.changes.is_empty() => lines.push(format!("{path}: {answers}, as before")),
        Against::Driver(driver) if news.changes.is_empty() => {
            lines.push(format!("{path}: {answers}, as with {}", driver_name(driver)));
        }
        Against::Driver(driver) => lines.push(format!("compared with {}:", driver_name(driver))),
        Against::Last => {}
    }
    lines.extend(news.changes.iter().map(change));
    if let Some(spec) = news.other_spec.as_ref().filter(|_| !news.changes.is_empty()) {
        lines.push(format!("the ledger's answers were of another spec, {spec:.12}"));
    }
    if let Some(options) = &news.kept {
        let what = if options.is_empty() { "the whole suite".to_owned() } else { format!("`{options}`") };
        lines.push(format!("{path} is as it was: it has a run of {what}, and this one was of other cases"));
    }
    lines.iter().map(|line| escaped(line).into_owned()).collect()
}

fn driver_name(driver: &str) -> String {
    if driver.is_empty() { "a driver that has no name".to_owned() } else { format!("driver {driver}") }
}

/// A change of one answer.
fn change(change: &LedgerChange) -> String {
    match change {
        LedgerChange::Changed { old, new } => {
            format!("{}: {}, now {}", new.question, answers(old, was), answers(new, is))
        }
        LedgerChange::Also { old, new } => {
            format!("{}: {}, and elsewhere {}", new.question, answers(old, was), answers(new, is))
        }
        LedgerChange::New(new) => format!("{}: new, {}", new.question, answers(new, is)),
        LedgerChange::Gone(old) => {
            format!("{}: {}, and no case raises it any more", old.question, answers(old, was))
        }
    }
}

/// The answers to a question, each with its number of cases. `words` gives the words of an answer.
fn answers(question: &LedgerQuestion, words: fn(&str) -> String) -> String {
    if question.answers.is_empty() {
        return format!("{} together with other questions ({})", words("reject"), grouped(question.together));
    }
    let answer = |answer: &LedgerAnswer| format!("{} ({})", words(&answer.answer), grouped(answer.cases));
    question.answers.iter().map(answer).collect::<Vec<_>>().join(" and ")
}

fn was(answer: &str) -> String {
    match answer {
        "reject" => "was refused".to_owned(),
        "accept" => "was accepted".to_owned(),
        _ => did(answer),
    }
}

fn is(answer: &str) -> String {
    match answer {
        "reject" => "is refused".to_owned(),
        "accept" => "is accepted".to_owned(),
        "semantics" => "runs as the semantics".to_owned(),
        _ => format!("reads `{}`", answer.trim_start_matches("reads ")),
    }
}

/// The backend's action, in the words of a summary.
fn did(answer: &str) -> String {
    match answer {
        "reject" => "refused".to_owned(),
        "accept" => "accepted".to_owned(),
        "semantics" => "ran as the semantics".to_owned(),
        _ => format!("read `{}`", answer.trim_start_matches("reads ")),
    }
}

/// Writes a whole ledger: its backends, and for each question the answers. Each answer has its backends, the
/// number of their cases and one case to run again. Questions with contradictory answers are marked.
pub fn write_ledger(
    out: &mut dyn Write,
    ledger: &LedgerForm,
    library: &Library,
    palette: Palette,
) -> io::Result<()> {
    for (place, entry) in ledger.backends.iter().enumerate() {
        writeln!(out, "[{}] {}", place + 1, escaped(&who(entry, library)))?;
    }
    let mut seen: Vec<&str> = Vec::new();
    let asked = library.operators().iter().flat_map(|operator| {
        operator.questions().iter().map(move |question| (question.id.as_str(), Some((operator, question))))
    });
    let of_library: Vec<(&str, Option<(&Operator, &Question)>)> = asked.collect();
    let others =
        ledger.backends.iter().flat_map(|entry| &entry.questions).map(|question| question.question.as_str());
    let mut others: Vec<&str> = others.filter(|id| of_library.iter().all(|(known, _)| known != id)).collect();
    others.sort_unstable();
    others.dedup();
    let all = of_library.into_iter().chain(others.into_iter().map(|id| (id, None)));
    for (id, question) in all {
        let of_entry = |(place, entry): (usize, &'_ LedgerEntry)| {
            let answered = entry.questions.iter().find(|question| question.question == id);
            answered.cloned().map(|question| (place + 1, question))
        };
        let answered: Vec<(usize, LedgerQuestion)> =
            ledger.backends.iter().enumerate().filter_map(of_entry).collect();
        if !answered.is_empty() {
            write_row(out, (id, question), &answered, &mut seen, palette)?;
        }
    }
    Ok(())
}

/// Whether answers to a question contradict each other. A case that was accepted and not run contradicts only
/// a refusal.
fn is_disputed(answered: &[(usize, LedgerQuestion)]) -> bool {
    let answers = answered.iter().flat_map(|(_, question)| &question.answers);
    let mut all: Vec<&str> = answers.map(|answer| answer.answer.as_str()).collect();
    all.sort_unstable();
    all.dedup();
    let is_refused = all.contains(&"reject");
    all.retain(|answer| is_refused || *answer != "accept");
    all.len() > 1
}

/// The backend of an entry, with its suite, options and feature level.
fn who(entry: &LedgerEntry, library: &Library) -> String {
    let device = match (entry.device.as_str(), entry.driver.as_str()) {
        ("", "") => String::new(),
        ("", driver) => format!(" ({driver})"),
        (device, "") => format!(" ({device})"),
        (device, driver) => format!(" ({device}, {driver})"),
    };
    let options = if entry.options.is_empty() { String::new() } else { format!(" {}", entry.options) };
    let spec = if entry.spec == library.hash() {
        String::new()
    } else {
        format!(", by another spec, {:.12}", entry.spec)
    };
    let LedgerEntry { name, version, level, suite, .. } = entry;
    format!("{name} {version}{device}: suite {suite}{options} at feature level {level}{spec}")
}

/// Writes one question. A note that a question above already has is not repeated.
fn write_row<'a>(
    out: &mut dyn Write,
    (id, question): (&str, Option<(&'a Operator, &'a Question)>),
    answered: &[(usize, LedgerQuestion)],
    seen: &mut Vec<&'a str>,
    palette: Palette,
) -> io::Result<()> {
    let (mut answers, mut together) = (Vec::new(), Vec::new());
    for (place, question) in answered {
        for LedgerAnswer { answer, cases, example } in &question.answers {
            answers.push((did(answer), *place, *cases, example.as_str()));
        }
        if question.together > 0 {
            let head = "refused, together with other questions".to_owned();
            together.push((head, *place, question.together, ""));
        }
    }
    // Rows are grouped by answer, in the order in which backends gave them.
    let mut rows: Vec<(String, Vec<String>, &str)> = Vec::new();
    for (head, place, cases, example) in answers.into_iter().chain(together) {
        let cell = format!("[{place}] {}", grouped(cases));
        match rows.iter_mut().find(|(known, ..)| *known == head) {
            Some((_, cells, _)) => cells.push(cell),
            None => rows.push((head, vec![cell], example)),
        }
    }
    let mark = palette.paint(Tone::Note, if is_disputed(answered) { "*" } else { " " });
    writeln!(out)?;
    let id = palette.paint(Tone::Strong, escaped(id));
    if let Some((operator, question)) = question {
        writeln!(out, "{mark} {id}: {} ({})", question.text, question.cite.on(operator.page()))?;
        if let Some(note) = question.note.as_deref().filter(|note| !seen.contains(note)) {
            writeln!(out, "      note: {}", one_line(note))?;
            seen.push(note);
        }
    } else {
        writeln!(out, "{mark} {id}: not asked by this program's spec")?;
    }
    for (head, cells, example) in rows {
        writeln!(out, "    {}: {}", escaped(&head), cells.join(", "))?;
        if !example.is_empty() {
            writeln!(out, "      {}", palette.paint(Tone::Faint, escaped(example)))?;
        }
    }
    Ok(())
}
