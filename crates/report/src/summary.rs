//! The end of a run in a few lines: what was promised, what was run, what held, how fast, and where to go
//! next.

use std::{
    fmt::Write as _,
    io::{self, Write},
};

use dmlcts_model::escaped;
use dmlcts_results::LedgerNews;
use dmlcts_runner::{Claim, Ending, Recorded, Summary, Verdict};
use dmlcts_spec::{Answer, Library, Obligation, Operator};

use crate::{
    KnownContext, Palette, Replay, Tone,
    failure::write_group,
    known::{broke, known},
    ledger,
    numbers::{bytes, counted, grouped, rate, span},
    skipped::skipped,
    statement::write_statement,
};

/// How many obligations are named where a run leaves some out.
const NAMED: usize = 3;
/// How many parts of a run that ended early are named.
const CUT: usize = 4;
/// How many open questions are listed with their answers.
const ANSWERED: usize = 4;

/// What the program knows of a run, and the run itself does not.
#[derive(Clone, Debug)]
pub struct Context {
    /// What promises.
    pub library: &'static Library,
    /// What was run.
    pub subject: Subject,
    /// How to run one of the cases again.
    pub replay: Replay,
    /// What is known to fail.
    pub known: KnownContext,
    /// What the run changed in a ledger, where one is kept.
    pub ledger: Option<LedgerNews>,
    /// Lines for the case that the run [is a proof](is_proof): what it proves.
    pub certificate: Vec<String>,
    /// The profile that the run is to show a backend's conformance to, where it is to.
    pub claim: Option<Claim>,
    /// Commands to go on with, and what each is good for.
    pub next: Vec<(String, String)>,
    /// The command that goes on with the run where it ended before its last case, where it is recorded.
    pub resume: Option<String>,
    /// The command that lists the cases that failed, where they are recorded.
    pub failures: Option<String>,
}

/// What a run is of.
#[derive(Clone, Debug)]
pub enum Subject {
    /// Cases that were chosen to exercise the spec.
    Suite {
        /// The suite's name.
        name: String,
        /// As they read behind "ran": `suite smoke, seed 0`.
        what: String,
        /// The command that names the obligations that the whole suite leaves out; a run that ended early adds its number of cases.
        obligations: String,
    },
    /// Cases that somebody gave one by one. What they leave of the spec unexercised says nothing.
    Given,
}

impl Subject {
    /// What was run, as the names of tests have it.
    pub fn name(&self) -> &str {
        match self {
            Self::Suite { name, .. } => name,
            Self::Given => "given",
        }
    }
}

/// Writes the groups of failures, one after the other.
pub fn write_failures(
    out: &mut dyn Write,
    summary: &Summary,
    replay: &Replay,
    palette: Palette,
) -> io::Result<()> {
    for (number, group) in summary.groups.iter().enumerate() {
        write_group(out, number + 1, group, replay, palette)?;
    }
    if summary.totals.found.others > 0 {
        writeln!(
            out,
            "and {} of further kinds, which were counted only\n",
            counted(summary.totals.found.others, "failure")
        )?;
    }
    Ok(())
}

/// Writes the summary.
pub fn write_summary(
    out: &mut dyn Write,
    context: &Context,
    summary: &Summary,
    palette: Palette,
) -> io::Result<()> {
    let mut line = |head: &str, tone: Option<Tone>, text: &str| {
        let (head, text) = (palette.paint(Tone::Strong, format!("{head:<9}")), escaped(text));
        match tone {
            Some(tone) => writeln!(out, "{head} {}", palette.paint(tone, text)),
            None => writeln!(out, "{head} {text}"),
        }
    };
    let is_suite = matches!(context.subject, Subject::Suite { .. });
    if is_suite {
        line("promised", None, &promised(context, summary))?;
    }
    line("ran", None, &ran(context, summary))?;
    if let Some(ending) = ended(summary) {
        line("ended", Some(Tone::Note), &ending)?;
    }
    let tally = summary.tally();
    let tone = match broke(summary).is_empty() {
        _ if tally.unexpected() > 0 => Tone::Bad,
        true => Tone::Good,
        false => Tone::Note,
    };
    line("held", Some(tone), &verdicts(summary))?;
    if let Subject::Suite { obligations, .. } = &context.subject {
        line("", None, &exercised(context.library, summary, obligations))?;
    }
    for (place, text) in skipped(context.library, summary).iter().enumerate() {
        line(if place == 0 { "skipped" } else { "" }, None, text)?;
    }
    if let Some(text) = known(&context.known, summary) {
        line("known", Some(Tone::Note).filter(|_| !broke(summary).is_empty()), &text)?;
    }
    for (place, text) in recorded(summary).iter().enumerate() {
        line(if place == 0 { "recorded" } else { "" }, None, text)?;
    }
    for (place, text) in context.ledger.iter().flat_map(ledger::news).enumerate() {
        line(if place == 0 { "ledger" } else { "" }, None, &text)?;
    }
    for note in notes(summary) {
        line("note", None, &note)?;
    }
    if is_proof(summary) {
        for (place, text) in context.certificate.iter().enumerate() {
            line(if place == 0 { "proved" } else { "" }, None, text)?;
        }
    }
    if is_suite {
        line("speed", None, &speed(summary))?;
    }
    let mut next = Vec::new();
    if let Some(resume) = context.resume.as_ref().filter(|_| has_more(summary)) {
        next.push((resume.clone(), Some("go on with this run")));
    }
    let failure = summary.groups.first().map(|group| group.smallest.as_ref().unwrap_or(&group.first));
    if let Some(failure) = failure {
        next.push((context.replay.run(&failure.case), None));
        next.push((Replay::explain(&failure.case, failure.level), None));
        next.extend(context.failures.iter().map(|list| (list.clone(), Some("every case that failed"))));
    } else if summary.ending != Ending::BackendLost {
        next.extend(context.next.iter().map(|(command, purpose)| (command.clone(), Some(purpose.as_str()))));
    }
    for (place, (command, purpose)) in next.iter().enumerate() {
        let head = palette.paint(Tone::Strong, if place == 0 { "next     " } else { "         " });
        let command = escaped(command);
        match purpose {
            Some(purpose) => {
                let purpose = palette.paint(Tone::Faint, format!("# {purpose}"));
                writeln!(out, "{head} {command:<36} {purpose}")?;
            }
            None => writeln!(out, "{head} {command}")?,
        }
    }
    match &context.claim {
        Some(claim) => write_statement(out, claim, (context.library, summary), palette),
        None => Ok(()),
    }
}

/// Whether there are cases that a run which is recorded can still be asked for.
fn has_more(summary: &Summary) -> bool {
    matches!(summary.ending, Ending::Timeout | Ending::Hangs | Ending::Interrupted | Ending::BackendLost)
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

/// Who answered.
pub(crate) fn ran_on(summary: &Summary) -> String {
    let backend = &summary.capabilities;
    let device = if backend.device.is_empty() { String::new() } else { format!(" ({})", backend.device) };
    format!("{} {}{device}", backend.name, backend.version)
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
    // Of a part that ended early nobody knows which of the cases behind would have been left out.
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

/// How far the run came, or those of its parts that ended early.
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

pub(crate) fn ended(summary: &Summary) -> Option<String> {
    let after = after(summary);
    let mut text = match summary.ending {
        Ending::Complete => return None,
        Ending::Limit => format!("at the limit, {after}"),
        Ending::FirstFailure => format!("at the first failure, {after}"),
        Ending::Timeout => format!("by the timeout, {after}"),
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

pub(crate) fn verdicts(summary: &Summary) -> String {
    let tally = summary.tally();
    // A case whose output nobody saw is not counted among those whose output was right.
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
            // Beside crashes, say, it would read as if all were well.
            counts.push(format!("{} {verdict}", grouped(count)));
        }
    }
    counts.join(", ")
}

/// How much of the spec was exercised, of the operators that had any case. Where much is missing, `command` names it, with
/// the number of cases that ran where the run ended before the suite: an endless suite has no other end.
pub(crate) fn exercised(library: &Library, summary: &Summary, command: &str) -> String {
    let mut clauses = 0;
    let (mut kept, mut broken, mut exact, mut met, mut all) = (0, 0, 0, 0, 0);
    let mut missing = Vec::new();
    for operator in library.operators() {
        let obligations = operator.obligations(summary.level);
        let is_met = |obligation: &Obligation| summary.totals.coverage.met(operator, *obligation);
        if !obligations.iter().any(is_met) {
            continue;
        }
        clauses += operator.clauses().len();
        all += obligations.len();
        for obligation in obligations {
            if !is_met(&obligation) {
                missing.push(obligation.describe(operator));
                continue;
            }
            met += 1;
            match obligation {
                Obligation::Satisfied(_) => kept += 1,
                Obligation::Violated(_) => broken += 1,
                Obligation::Boundary(_) => exact += 1,
                _ => {}
            }
        }
    }
    let mut text = format!(
        "of {clauses} clauses {kept} kept, {broken} broken, {exact} met exactly; {met} of {all} obligations met"
    );
    // Where hardly anything is missing, its names are more use than its number.
    if missing.len() > NAMED {
        let limit = match summary.ending {
            Ending::Complete => String::new(),
            _ => format!(" --limit {}", summary.totals.progress.ran),
        };
        text.extend([" (", command, &limit, " names the others)"]);
    } else if !missing.is_empty() {
        text.extend(["; not met: ", &missing.join(", ")]);
    }
    text
}

/// How open questions were answered, a line each, the most frequent first.
pub(crate) fn recorded(summary: &Summary) -> Vec<String> {
    let mut questions: Vec<&Recorded> = summary.recorded.iter().collect();
    questions.sort_by_key(|recorded| std::cmp::Reverse(recorded.cases()));
    // A line that says that there is one more takes the place of that one.
    let shown = if questions.len() == ANSWERED + 1 { questions.len() } else { ANSWERED };
    let mut lines: Vec<String> = questions.iter().take(shown).map(|recorded| answers(recorded)).collect();
    let further = questions.len() - lines.len();
    if further > 0 {
        lines.push(format!("and answers to {}", counted(further as u64, "further question")));
    }
    lines
}

/// How one open question was answered.
pub(crate) fn answers(recorded: &Recorded) -> String {
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
        format!("{answer} {}", grouped(answered.cases))
    });
    let mut text = format!("{}: {}", recorded.question.id, answers.collect::<Vec<_>>().join(", "));
    if recorded.together > 0 {
        let (more, comma) = if recorded.answers.is_empty() { ("refused", "") } else { ("more", "; ") };
        // Writing into a string cannot fail.
        let _ = write!(text, "{comma}{} {more} together with other questions", grouped(recorded.together));
    }
    text
}

fn notes(summary: &Summary) -> Vec<String> {
    let mut notes = Vec::new();
    if summary.totals.notes.holes > 0 {
        notes.push(format!(
            "{} wrote into the holes of a strided output, which is allowed",
            counted(summary.totals.notes.holes, "run")
        ));
    }
    if summary.totals.notes.tails > 0 {
        notes.push(format!(
            "{} wrote behind the last element of an output, which is allowed",
            counted(summary.totals.notes.tails, "run")
        ));
    }
    if summary.totals.work.too_large > 0 {
        notes.push(format!(
            "{} too large to run, and at most created",
            counted(summary.totals.work.too_large, "case")
        ));
    }
    notes
}

/// Whether a run shows that every one of its cases is as the pages say. What was skipped, failed as known, or was only created for want of
/// memory is not shown to be.
pub fn is_proof(summary: &Summary) -> bool {
    let tally = summary.tally();
    summary.ending == Ending::Complete
        && summary.abandoned.is_empty()
        && summary.totals.work.only_created == 0
        && tally.of(Verdict::Pass) + tally.of(Verdict::Recorded) == tally.total()
}

/// How fast it was with what it was asked: what is skipped is not, or hardly any work.
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
