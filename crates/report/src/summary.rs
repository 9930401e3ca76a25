//! The summary at the end of a run: the cases, the results, the speed, and commands to continue with.

use std::{
    fmt::Write as _,
    io::{self, Write},
};

use dmlcts_diagnose::Diagnosis;
use dmlcts_model::escaped;
use dmlcts_runner::{Ending, QuestionAnswers, Summary, Timings, Totals, Verdict};
use dmlcts_spec::{Library, Obligation, Operator};

use crate::{
    Context, Replay, Style, Subject, Tone,
    context::has_more,
    finding::export,
    known::{broke, known, smallest},
    numbers::{bytes, counted, grouped, rate, span},
    phrases::{answers, ran_on, verdicts},
    skipped::skipped,
    statement::write_statement,
};

/// The columns of the heads of lines.
const HEAD: usize = 10;
/// The maximum number of named obligations that a run leaves out.
const NAMED: usize = 3;
/// The maximum number of named parts of a run that ended early.
const CUT: usize = 4;
/// The maximum number of open questions that are listed with their answers.
const ANSWERED: usize = 4;

/// Whether the run ended early.
pub(crate) fn is_cut_off(summary: &Summary) -> bool {
    let early = matches!(
        summary.ending,
        Ending::BackendLost | Ending::Hangs | Ending::NotRecorded | Ending::Interrupted
    );
    early || !summary.abandoned.is_empty()
}

/// Writes the summary.
pub fn write_summary(
    out: &mut dyn Write,
    context: &Context,
    diagnosis: &Diagnosis,
    style: Style,
) -> io::Result<()> {
    let summary = &diagnosis.summary;
    // Only the first of several lines has the head.
    let mut write = |head: &str, tone: Tone, texts: &[String]| {
        texts.iter().enumerate().try_for_each(|(place, text)| {
            let head = style.paint(Tone::Strong, format!("{:<9}", if place == 0 { head } else { "" }));
            let text = style.paint(tone, escaped(text));
            writeln!(out, "{}", style.wrap(HEAD, &format!("{head} {text}")))
        })
    };
    let is_suite = matches!(context.subject, Subject::Suite { .. });
    if is_suite {
        write("promised", Tone::Plain, &[promised(context, summary)])?;
    }
    write("ran", Tone::Plain, &[ran(context, summary)])?;
    write("ended", Tone::Note, ended(summary, context.time_limit).as_slice())?;
    let tally = summary.tally();
    let tone = match broke(summary).is_empty() {
        _ if tally.unexpected() > 0 => Tone::Bad,
        true => Tone::Good,
        false => Tone::Note,
    };
    write("held", tone, &[verdicts(summary)])?;
    if let Subject::Suite { obligations, .. } = &context.subject {
        write("", Tone::Plain, &[exercised(context.library, summary, obligations)])?;
    }
    write("skipped", Tone::Plain, &skipped(context.library, summary))?;
    if let Some(text) = known(&context.known, summary) {
        write("known", if broke(summary).is_empty() { Tone::Plain } else { Tone::Note }, &[text])?;
        write("", Tone::Plain, smallest(summary).as_slice())?;
    }
    write("recorded", Tone::Plain, &recorded(summary))?;
    for note in notes(summary).into_iter().chain(context.incidents.clone()) {
        write("note", Tone::Plain, &[note])?;
    }
    if is_proof(summary) {
        write("proved", Tone::Plain, &context.certificate)?;
    }
    if is_suite {
        write("speed", Tone::Plain, &[speed(summary)])?;
    }
    if let Some(timings) = summary.timings.as_ref().filter(|_| context.timings) {
        let mut all = vec![times(timings)];
        if !diagnosis.findings.is_empty() {
            let (time, evidence) = (span(timings.explanation), span(diagnosis.evidence));
            all.push(format!("explaining the failures, after that: {time}, {evidence} of it for evidence"));
        }
        write("timings", Tone::Plain, &all)?;
    }
    let mut next = Vec::new();
    let finding = context.shown(diagnosis).first().copied();
    if finding.is_none() || has_more(summary) {
        let further = context.further(summary).into_iter();
        next.extend(further.map(|(command, purpose)| (command.to_owned(), purpose)));
    }
    if let Some(finding) = finding {
        let failure = finding.shown();
        next.push((Replay::explain(&failure.case, failure.level), "what the spec says of it"));
        next.extend(export(finding).map(|command| (command, "a program without dmlcts")));
        next.extend(context.failures.iter().map(|list| (list.clone(), "every case that failed")));
    }
    for (place, (command, purpose)) in next.iter().enumerate() {
        let head = style.paint(Tone::Strong, if place == 0 { "next     " } else { "         " });
        let (command, purpose) = (escaped(command), style.paint(Tone::Faint, format!("# {purpose}")));
        writeln!(out, "{head} {command:<36} {purpose}")?;
    }
    match &context.claim {
        Some(claim) => write_statement(out, claim, (context.library, summary), style),
        None => Ok(()),
    }
}

fn promised(context: &Context, summary: &Summary) -> String {
    let library = context.library;
    let names: Vec<&str> = library.operators().iter().map(Operator::name).collect();
    let clauses: usize = library.operators().iter().map(|operator| operator.clauses().len()).sum();
    let questions: usize = library.operators().iter().map(|operator| operator.questions().len()).sum();
    format!(
        "{} at feature level {}: {}, {} (spec {})",
        names.join(", "),
        summary.level,
        counted(clauses as u64, "clause"),
        counted(questions as u64, "open question"),
        library.short_hash(),
    )
}

fn ran(context: &Context, summary: &Summary) -> String {
    let strategies: Vec<String> = summary
        .strategies
        .iter()
        .filter(|(_, tally)| tally.total() > 0)
        .map(|(name, tally)| format!("{name} {}", grouped(tally.total())))
        .collect();
    let left_out =
        summary.totals.progress.read - summary.totals.progress.ran.min(summary.totals.progress.read);
    // In a part that ended early, it is unknown which of the later cases would have been left out.
    let how = if summary.cut.is_empty() { "left out" } else { "left out or never asked for" };
    let left_out = if left_out == 0 { String::new() } else { format!(" ({} {how})", grouped(left_out)) };
    let cases = counted(summary.totals.progress.ran, "case");
    let Subject::Suite { what, .. } = &context.subject else {
        return format!(
            "{cases} on {} at feature level {} (spec {}){left_out}",
            ran_on(summary),
            summary.level,
            context.library.short_hash()
        );
    };
    format!(
        "{what} on {}: {cases}{left_out}{}{}",
        ran_on(summary),
        if strategies.is_empty() { "" } else { ": " },
        strategies.join(", "),
    )
}

/// How far the run came, or how far its parts came that ended early.
fn after(summary: &Summary) -> String {
    let of = |read: u64| {
        summary.cases.map_or_else(
            || counted(read, "case"),
            |cases| format!("{} of {}", grouped(read), counted(cases, "case")),
        )
    };
    if summary.cut.is_empty() {
        return format!("after {}", of(summary.totals.progress.read));
    }
    let named = summary.cut.iter().take(CUT);
    let mut named: Vec<String> =
        named.map(|part| format!("part {} after {}", part.partition, of(part.read))).collect();
    let further = summary.cut.len() - named.len();
    if further > 0 {
        named.push(format!("and {}", counted(further as u64, "further part")));
    }
    let whose = if summary.cut.len() == 1 { "its other cases" } else { "the other cases of these parts" };
    format!("{}; {whose} were never asked for", named.join(", "))
}

/// How a run ended before its last case, and after how many: `at the limit, after 8 of 40 cases`. `None` if
/// it is complete. `time_limit` is the option that limits the time, if it is known.
pub fn ended(summary: &Summary, time_limit: Option<&str>) -> Option<String> {
    let after = after(summary);
    let mut text = match summary.ending {
        Ending::Complete => return None,
        Ending::Limit => format!("at the limit, {after}"),
        Ending::MaxFailures => match summary.totals.progress.unexpected {
            1 => format!("at the first failure, {after}"),
            _ => format!("since too many cases failed (--max-failures), {after}"),
        },
        Ending::Timeout => match time_limit {
            Some(option) => format!("since its time was up ({option}), {after}"),
            None => format!("since its time was up, {after}"),
        },
        Ending::Hangs => format!("since too many cases hung (--max-hangs), {after}"),
        Ending::Interrupted => format!("interrupted, {after}"),
        Ending::NotRecorded => format!("{after}: what becomes of them cannot be recorded any more"),
        Ending::BackendLost => {
            format!("early, {after}: {}", summary.lost.as_deref().unwrap_or("the backend was lost"))
        }
    };
    for cases in &summary.abandoned {
        // Writing into a string cannot fail.
        let _ = write!(
            text,
            "; cases {} to {} were never answered",
            grouped(cases.start),
            grouped(cases.end - 1)
        );
    }
    Some(text)
}

/// The share of the spec that was exercised, for the operators with at least one case. If much is missing,
/// `command` names the missing obligations. If the run ended before the suite, the number of cases is added,
/// since an endless suite has no other end.
pub(crate) fn exercised(library: &Library, summary: &Summary, command: &str) -> String {
    let mut clauses = 0;
    let (mut kept, mut broken, mut exact) = (0, 0, 0);
    let [met, all] = summary.totals.coverage.count(library, summary.level);
    let mut missing = Vec::new();
    for operator in library.operators() {
        let obligations = operator.obligations(summary.level);
        let is_met = |obligation: &Obligation| summary.totals.coverage.met(operator, *obligation);
        if !obligations.iter().any(is_met) {
            continue;
        }
        clauses += operator.clauses().len();
        for obligation in obligations {
            if !is_met(&obligation) {
                missing.push(obligation.describe(operator));
                continue;
            }
            match obligation {
                Obligation::Satisfied(_) => kept += 1,
                Obligation::Violated(_) => broken += 1,
                Obligation::Boundary(_) => exact += 1,
                _ => {}
            }
        }
    }
    let mut text = format!(
        "of {clauses} clauses, cases keep {kept}, break {broken} and meet {exact} at the limit; {met} of {all} obligations met"
    );
    // If little is missing, the names are more useful than the number.
    if missing.len() > NAMED {
        let limit = match summary.ending {
            Ending::Complete => String::new(),
            _ => format!(" --limit {}", summary.totals.progress.ran),
        };
        text.extend([" (`", command, &limit, "` names the others)"]);
    } else if !missing.is_empty() {
        text.extend(["; not met: ", &missing.join(", ")]);
    }
    text
}

/// The answers to open questions, one line each, the most frequent first.
pub(crate) fn recorded(summary: &Summary) -> Vec<String> {
    let mut questions: Vec<&QuestionAnswers> = summary.recorded.iter().collect();
    questions.sort_by_key(|recorded| std::cmp::Reverse(recorded.cases()));
    // A line that says "one more" would take the same space as that question.
    let shown = if questions.len() == ANSWERED + 1 { questions.len() } else { ANSWERED };
    let mut lines: Vec<String> = questions.iter().take(shown).map(|recorded| answers(recorded)).collect();
    let further = questions.len() - lines.len();
    if further > 0 {
        lines.push(format!("and answers to {}", counted(further as u64, "further question")));
    }
    lines
}

fn notes(summary: &Summary) -> Vec<String> {
    let Totals { notes, work, .. } = &summary.totals;
    let all = [
        (notes.holes, "run", "wrote into the holes of a strided output, which is allowed"),
        (notes.tails, "run", "wrote behind the last element of an output, which is allowed"),
        (
            work.too_large,
            "case",
            "not run because of their size; only the creation of the operator was tested",
        ),
    ];
    let all = all.iter().filter(|(count, ..)| *count > 0);
    all.map(|(count, what, did)| format!("{} {did}", counted(*count, what))).collect()
}

/// Whether a run shows that every case behaves as the pages say. It is no proof if a case was skipped, failed
/// as known, or was only created because of its memory.
pub fn is_proof(summary: &Summary) -> bool {
    let tally = summary.tally();
    summary.ending == Ending::Complete
        && summary.abandoned.is_empty()
        && summary.totals.work.only_created == 0
        && tally.of(Verdict::Pass) + tally.of(Verdict::Recorded) == tally.total()
}

/// The speed in cases per second, without skipped cases, which take hardly any work.
fn speed(summary: &Summary) -> String {
    let tried = summary.tally().tried();
    let work = &summary.totals.work;
    let again = match work.on_other_data {
        0 => String::new(),
        cases => format!(" ({} ran a second time, on other data)", counted(cases, "case")),
    };
    format!(
        "{} cases/s: {} in {}, {} of an operator{again}, {} of output",
        rate(tried, summary.totals.elapsed),
        counted(tried, "case"),
        span(summary.totals.elapsed),
        counted(work.runs, "run"),
        bytes(work.bytes),
    )
}

/// Where the time of the run went: `start 0.20 s, create 1.50 s, run 0.30 s, transfer 0.10 s, host 0.40 s`.
fn times(timings: &Timings) -> String {
    let answers = match timings.work.zip(timings.transfer()) {
        Some((work, transfer)) => {
            let [create, run, transfer] = [work.create, work.run, transfer].map(span);
            format!("create {create}, run {run}, transfer {transfer}")
        }
        None => format!("answers {}", span(timings.answer)),
    };
    format!(
        "start {}, {answers}, host {}, summed over {}",
        span(timings.start),
        span(timings.host),
        counted(timings.workers, "job"),
    )
}
