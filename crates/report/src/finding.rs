//! Findings: what failed, the predicate that separates it from what passed, and the smallest case in full.

use std::io::{self, Write};

use dmlcts_diagnose::{Counterexample, Diagnosis, Finding, LeftOut, Limit, OtherFailures, Rule};
use dmlcts_model::escaped;
use dmlcts_runner::Verdict;
use dmlcts_spec::Validity;

use crate::{
    Context, Replay, Style, Tone,
    behind::{Text, write_definitions},
    failure::write_failure,
    flake::{is_by_chance, needs_others, shows_alone},
    lack::declarations,
    numbers::{counted, folded, grouped},
    overview::write_overview,
    prose::{INDENT, write_prose},
};

/// The number of findings in full, unless all are asked for.
const IN_FULL: usize = 5;
/// The maximum length of a predicate on a terminal, unless all is asked for.
const LONGEST_PREDICATE: usize = 120;
/// The maximum length of a line with a listed case in full.
const LONGEST_LINE: usize = 1_000;
/// The maximum number of cases without a predicate that the terminal lists.
const LISTED: usize = 3;

/// Writes the findings in order, and the number of failures that no exact predicate explains.
pub fn write_findings(
    out: &mut dyn Write,
    context: &Context,
    diagnosis: &Diagnosis,
    style: Style,
) -> io::Result<()> {
    let findings = context.shown(diagnosis);
    let mut text = Text::new(style);
    write_overview(out, diagnosis, &findings, style)?;
    let shown = if context.all { findings.len() } else { IN_FULL };
    for (number, finding) in findings.iter().take(shown).enumerate() {
        write_finding(out, number + 1, finding, context, &mut text)?;
    }
    let more = findings.len().saturating_sub(shown) as u64;
    if more > 0 {
        let more = counted(more, "further finding");
        writeln!(out, "and {more}: `--all` shows them in full here, `--html FILE` on a page\n")?;
    }
    if let Some(unexplained) = unexplained(diagnosis) {
        writeln!(out, "{}\n", style.wrap(2, &unexplained))?;
    }
    if let Some(left_out) = left_out(&diagnosis.left_out, context.time_limit) {
        writeln!(out, "{}\n", style.wrap(2, &left_out))?;
    }
    Ok(())
}

/// What the limits on explaining left out; `None` if nothing. `time_limit` is the option that limits the time
/// of the run, if it is known.
pub(crate) fn left_out(left_out: &LeftOut, time_limit: Option<&str>) -> Option<String> {
    let LeftOut { experiments, repeats, flakes, shrinking, ref limits } = *left_out;
    let parts = [
        (experiments, "experiments on", "kind of failures", "kinds of failures"),
        (repeats, "repeats of", "finding", "findings"),
        (flakes, "trials of", "flake", "flakes"),
        (shrinking, "shrinking of", "finding", "findings"),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, what, one, many)| {
            format!("{what} {} {}", grouped(*count), if *count == 1 { one } else { many })
        })
        .collect();
    let end =
        time_limit.map_or("the end of the run's time".to_owned(), |option| format!("the end of {option}"));
    let limits: Vec<&str> = limits.iter().map(|limit| words(*limit, &end)).collect();
    // A file of an earlier version does not name the limits.
    let limits = if limits.is_empty() { String::new() } else { format!(", at {}", limits.join(" and at ")) };
    (!parts.is_empty()).then(|| format!("left out{limits}: {}", parts.join("; ")))
}

/// A limit on explaining failures, with its value or its option. `end` is the end of the run's time.
fn words(limit: Limit, end: &str) -> &str {
    match limit {
        Limit::Cases => "the end of --explain",
        Limit::Candidates => "the number of conditions that a search tries",
        Limit::Time => "a finding's share of the backend's time",
        Limit::Hangs => "2 hangs a finding",
        Limit::Budget => "60 s of the backend's time, or more in proportion to --explain",
        Limit::Timeout => end,
        Limit::Interrupted => "an interrupt",
        Limit::EndOfRun => "the early end of the run",
    }
}

/// The number of unexpected failures in no finding with an exact predicate. `None` if there are none, or if
/// no predicates were looked for.
pub(crate) fn unexplained(diagnosis: &Diagnosis) -> Option<String> {
    let Diagnosis { summary, findings, .. } = diagnosis;
    let is_exact = |finding: &&Finding| finding.rule.as_ref().is_some_and(|rule| rule.is_exact);
    // Counts of a file may be any numbers.
    let sum = |sum: u64, finding: &Finding| sum.saturating_add(finding.cases.saturating_sub(finding.known));
    let explained = findings.iter().filter(is_exact).fold(0, sum);
    let shown = findings.iter().fold(0, sum);
    let tally = summary.tally();
    let failures = tally.unexpected() - tally.of(Verdict::UnexpectedPass) - tally.of(Verdict::Lost);
    let all = failures.max(shown);
    let left = all - explained.min(all);
    let is_looked_for = findings.iter().any(|finding| finding.rule.is_some());
    if !is_looked_for && all > shown {
        return Some(format!(
            "and {} of further kinds, which were only counted",
            counted(all - shown, "failure")
        ));
    }
    (left > 0 && is_looked_for && left < all).then(|| {
        format!("{} of {} are in no finding with an exact predicate", grouped(left), counted(all, "failure"))
    })
}

fn write_finding(
    out: &mut dyn Write,
    number: usize,
    finding: &Finding,
    context: &Context,
    text: &mut Text,
) -> io::Result<()> {
    let (replay, style) = (&context.replay, text.style);
    let head = match () {
        () if is_by_chance(&finding.first) => "FLAKE",
        () if finding.known > 0 && finding.known >= finding.cases => "KNOWN",
        () => "FAIL",
    };
    let head = style.paint(Tone::Bad, format!("{head} {number}:"));
    let is_whole = context.all || style.width.is_none();
    let what = headline(finding, if is_whole { usize::MAX } else { LONGEST_PREDICATE });
    let head = format!("{head} {}", style.paint(Tone::Strong, escaped(&what)));
    writeln!(out, "{}", style.wrap(INDENT.len(), &head))?;
    for line in about(finding, LISTED, context) {
        // Cases and commands stay in one line, so that they can be copied. No terminal shows a long one.
        if line.starts_with(INDENT) {
            let line = if line.len() > LONGEST_LINE { folded(&line) } else { line };
            writeln!(out, "{INDENT}{}", escaped(&line))?;
        } else {
            write_prose(out, style, &escaped(&line))?;
        }
    }
    if let Some(rule) = &finding.rule {
        let (indent, expressions) = (INDENT.repeat(2), [rule.predicate.expression()]);
        write_definitions(out, &indent, finding.shown().operator, &expressions, text)?;
    }
    write_failure(out, finding.shown(), replay, text)?;
    let id = escaped(&finding.id);
    let origin = finding.smallest.as_ref().map(|_| {
        format!(", smaller than case {} ({})", grouped(finding.first.index), finding.first.strategy)
    });
    let origin = origin.unwrap_or_default();
    write_prose(out, style, &style.paint(Tone::Faint, format!("finding {id}{origin}")).to_string())?;
    writeln!(out)
}

/// What is known of a finding's cases: how far the predicate is right, or the first `most` cases if nothing
/// separates them from the passes, and what wrong elements have in common. Lines that hold a case or a
/// command are indented.
pub(crate) fn about(finding: &Finding, most: usize, context: &Context) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(rule) = &finding.rule {
        lines.push(standing(rule));
        if let Some(Counterexample { case, fails }) = &rule.counterexample {
            let what = if *fails {
                "does not hold for this case, which fails"
            } else {
                "holds for this case, which passes"
            };
            lines.extend([format!("for example, it {what}:"), format!("{INDENT}{case}")]);
        }
    }
    let listed = &finding.listed;
    if listed.len() > 1 && needs_others(&finding.first).is_none() {
        lines.push("no condition separates these cases from those that passed:".to_owned());
        lines.extend(listed.iter().take(most).map(|case| format!("{INDENT}{case}")));
        let more = finding.cases.saturating_sub(listed.len().min(most) as u64);
        if more > 0 {
            let list =
                context.failures.as_deref().unwrap_or("dmlcts failures FILE, for the FILE of --results");
            lines.push(format!("{INDENT}and {} more ({list})", grouped(more)));
        }
    }
    lines.extend(finding.pattern.map(|pattern| pattern.to_string()));
    lines.extend(declarations(finding, &context.replay));
    lines
}

/// The command that prints a program for the finding's case. An open case has none, since a program has one
/// expected answer. A flake that needs other cases has none, since a program has one case.
pub(crate) fn export(finding: &Finding) -> Option<String> {
    let shown = finding.shown();
    let is_open = shown.judgement.validity() == Validity::Open;
    (!is_open && shows_alone(shown)).then(|| Replay::export(&shown.case, shown.level))
}

/// What failed, where, and in how many cases: `wrong values where rank == 7 (154 cases, 5 run again)`.
/// Without a predicate, it names the operators: `SLICE1, wrong values (154 cases, 5 run again)`. A predicate
/// of more than `most` characters is folded.
pub fn headline(finding: &Finding, most: usize) -> String {
    let (class, cases) = (finding.class, cases(finding));
    match &finding.rule {
        Some(rule) => format!("{class} {} ({cases})", place(rule, most)),
        None => format!("{}, {class} ({cases})", finding.operators.join(", ")),
    }
}

/// The headline, and for a flake how often its first case failed:
/// `flaky, in 1 of 3 runs: SLICE1, wrong values (1 case)`.
pub(crate) fn title(finding: &Finding) -> String {
    let headline = headline(finding, usize::MAX);
    match finding.first.rate.filter(|_| is_by_chance(&finding.first)) {
        Some(rate) => {
            let which = if finding.cases > 1 { "the first " } else { "" };
            format!("flaky, {which}in {} of {} runs: {headline}", rate.failed, rate.runs)
        }
        None => headline,
    }
}

/// The number of a finding's cases. If only some of them ran again, also that number.
pub(crate) fn cases(finding: &Finding) -> String {
    let sample = if finding.is_sample { " of a sample" } else { "" };
    let known = match finding.known {
        0 => String::new(),
        known if known >= finding.cases => ", all of them known".to_owned(),
        known => format!(", {} of them known", grouped(known)),
    };
    let others = finding
        .others
        .iter()
        .map(|OtherFailures { class, cases }| format!(", {} of class {}", grouped(*cases), class.id()));
    let others: String = others.collect();
    let cases = format!("{}{sample}{others}{known}", counted(finding.cases, "case"));
    match finding.again {
        again if again >= finding.cases => cases,
        0 => format!("{cases}, not run again"),
        again if finding.passed_again > 0 => {
            format!("{cases}, {} run again, {} of them passed", grouped(again), grouped(finding.passed_again))
        }
        again => format!("{cases}, {} run again", grouped(again)),
    }
}

/// The predicate, whether it is about invalid descs, and the filter of the run: nothing is known of other
/// cases. A predicate of more than `most` characters is folded.
fn place(rule: &Rule, most: usize) -> String {
    let of = if rule.validity == Validity::Invalid { ", among invalid descs" } else { "" };
    let predicate = rule.predicate.to_string();
    let length = predicate.chars().count();
    let predicate = if length > most {
        let start: String = predicate.chars().take(most).collect();
        format!("{start} ... (`--all` shows all {length} characters)")
    } else {
        predicate
    };
    format!("where {predicate}{of}{}", within(rule))
}

/// The filter of the run, if it had one.
pub(crate) fn within(rule: &Rule) -> String {
    rule.within.as_ref().map_or_else(String::new, |filter| format!(", within --where '{filter}'"))
}

/// How far a predicate is right: `exactly these cases: fails in 3,000 of 3,000 fresh cases inside, 0 of 3,000
/// outside`. With less evidence, it is not called exact. Some predicates hold for no fresh case.
pub(crate) fn standing(rule: &Rule) -> String {
    let fresh = rule.estimate.map(|estimate| {
        let cases = counted((estimate.held + estimate.not_held) as u64, "fresh case");
        (estimate.wrong() as u64, cases)
    });
    let of = if rule.is_sample { " and no pass of a sample" } else { "" };
    match rule.estimate {
        Some(estimate) if rule.is_exact => {
            let [failing, held] = [estimate.held_failing, estimate.held].map(|count| grouped(count as u64));
            let outside = grouped((estimate.not_held - estimate.not_held_passing) as u64);
            let not_held = grouped(estimate.not_held as u64);
            let word = if estimate.is_ample() { "exactly these cases" } else { "no case contradicts it" };
            if estimate.held == 0 {
                return format!(
                    "{word}{of}: fails in {outside} of {not_held} fresh cases outside; none was found inside"
                );
            }
            return format!(
                "{word}{of}: fails in {failing} of {held} fresh cases inside, {outside} of {not_held} outside"
            );
        }
        None if rule.is_exact && rule.is_sample => {
            return format!("exactly these cases{of}; not confirmed by others");
        }
        None if rule.is_exact => return "exactly these cases of the run; not confirmed by others".to_owned(),
        _ => {}
    }
    let sample = if rule.is_sample { " of a sample" } else { "" };
    let mut wrong = Vec::new();
    if rule.passes > 0 {
        wrong.push(format!("holds for {} that passed{sample}", counted(rule.passes, "case")));
    }
    if rule.missed > 0 {
        wrong.push(format!("does not hold for {} of this kind", counted(rule.missed, "further failure")));
    }
    wrong.extend(
        fresh
            .iter()
            .filter(|(wrong, _)| *wrong > 0)
            .map(|(wrong, of)| format!("is wrong for {} of {of}", grouped(*wrong))),
    );
    if wrong.is_empty() {
        wrong.push(match &rule.counterexample {
            Some(Counterexample { fails: false, .. }) => {
                "holds for a case of the experiments that passed".to_owned()
            }
            Some(_) => "does not hold for a failure of the experiments".to_owned(),
            None => "does not hold for all failures of this kind".to_owned(),
        });
    }
    format!("no exact predicate; this one is the best: it {}", wrong.join(", and "))
}
