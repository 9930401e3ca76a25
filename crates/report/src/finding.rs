//! Findings: what failed, the predicate that separates it from what passed, and the smallest case in full.

use std::io::{self, Write};

use dmlcts_model::escaped;
use dmlcts_runner::{Failure, Finding, LeftOut, Rule, Summary, Verdict};
use dmlcts_spec::Validity;

use crate::{
    Palette, Replay, Tone,
    failure::{INDENT, write_failure},
    numbers::{counted, grouped},
};

/// Writes the findings in order, and the number of failures that no exact predicate explains.
pub fn write_findings(
    out: &mut dyn Write,
    summary: &Summary,
    replay: &Replay,
    palette: Palette,
) -> io::Result<()> {
    for (number, finding) in summary.findings.iter().enumerate() {
        write_finding(out, number + 1, finding, replay, palette)?;
    }
    if let Some(unexplained) = unexplained(summary) {
        writeln!(out, "{unexplained}\n")?;
    }
    if let Some(left_out) = left_out(&summary.left_out) {
        writeln!(out, "{left_out}\n")?;
    }
    Ok(())
}

/// What the limits on explaining left out; `None` if nothing.
pub(crate) fn left_out(left_out: &LeftOut) -> Option<String> {
    let LeftOut { experiments, repeats, flakes, shrinking } = *left_out;
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
    (!parts.is_empty()).then(|| {
        format!("left out, at the limits or the end of the run: {} (--explain-budget)", parts.join("; "))
    })
}

/// The number of failures in no finding with an exact predicate. `None` if there are none, or if no
/// predicates were looked for.
pub(crate) fn unexplained(summary: &Summary) -> Option<String> {
    let is_exact = |finding: &&Finding| finding.rule.as_ref().is_some_and(|rule| rule.is_exact);
    // Counts of a file may be any numbers.
    let sum = |sum: u64, finding: &Finding| sum.saturating_add(finding.cases);
    let explained = summary.findings.iter().filter(is_exact).fold(0, sum);
    let shown = summary.findings.iter().fold(0, sum);
    let tally = summary.tally();
    let failures = tally.unexpected() - tally.of(Verdict::UnexpectedPass) - tally.of(Verdict::Lost);
    let all = failures.max(shown);
    let left = all - explained.min(all);
    let is_looked_for = summary.findings.iter().any(|finding| finding.rule.is_some());
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
    replay: &Replay,
    palette: Palette,
) -> io::Result<()> {
    let head = if finding.first.verdict == Verdict::Flake { "FLAKE" } else { "FAIL" };
    let head = palette.paint(Tone::Bad, format!("{head} {number}:"));
    writeln!(out, "{head} {}", palette.paint(Tone::Strong, escaped(&headline(finding))))?;
    if let Some(rule) = &finding.rule {
        writeln!(out, "{INDENT}{}", standing(rule))?;
    }
    if let Some(pattern) = &finding.pattern {
        writeln!(out, "{INDENT}{pattern}")?;
    }
    writeln!(out, "{INDENT}finding {}", escaped(&finding.id))?;
    write_failure(out, finding.shown(), replay, palette)?;
    let first = &finding.first;
    if finding.smallest.is_some() {
        let index = grouped(first.index);
        writeln!(out, "{INDENT}shrunk from case {index} ({}): {}", first.strategy, first.case)?;
    }
    if let Some(command) = export(finding) {
        writeln!(out, "{INDENT}as a program without dmlcts: {}", palette.paint(Tone::Strong, command))?;
    }
    writeln!(out)
}

/// The command that prints a program for the finding's case. An open case has none, since a program has one
/// expected answer.
pub(crate) fn export(finding: &Finding) -> Option<String> {
    let shown = finding.shown();
    let is_open = shown.judgement.validity() == Validity::Open;
    (!is_open).then(|| Replay::export(&shown.case, shown.level))
}

/// What failed, where, and in how many cases: `wrong values where rank == 7 (154 cases, 5 run again)`.
/// Without a predicate, it names the operators: `SLICE1, wrong values (154 cases, 5 run again)`.
pub(crate) fn headline(finding: &Finding) -> String {
    let (class, cases) = (finding.class, cases(finding));
    match &finding.rule {
        Some(rule) => format!("{class} {} ({cases})", place(rule)),
        None => format!("{}, {class} ({cases})", finding.operators.join(", ")),
    }
}

/// What failed, with the verdict and the number of its cases: `failed, wrong values (2 cases)`. For a flake,
/// also how often its first case failed.
pub(crate) fn title(finding: &Finding) -> String {
    let Failure { verdict, rate, .. } = &finding.first;
    let rate = rate.filter(|_| *verdict == Verdict::Flake).map_or_else(String::new, |rate| {
        let which = if finding.cases > 1 { "the first " } else { "" };
        format!(", {which}in {} of {} runs", rate.failed, rate.runs)
    });
    format!("{verdict}, {}{rate} ({})", finding.class, cases(finding))
}

/// The number of a finding's cases. If only some of them ran again, also that number.
fn cases(finding: &Finding) -> String {
    let sample = if finding.is_sample { " of a sample" } else { "" };
    let cases = format!("{}{sample}", counted(finding.cases, "case"));
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
/// cases.
pub(crate) fn place(rule: &Rule) -> String {
    let of = if rule.validity == Validity::Invalid { ", among invalid descs" } else { "" };
    format!("where {}{of}{}", rule.predicate, within(rule))
}

/// The filter of the run, if it had one.
pub(crate) fn within(rule: &Rule) -> String {
    rule.within.as_ref().map_or_else(String::new, |filter| format!(", within --where '{filter}'"))
}

/// How far a predicate is right: `exactly these cases; 500 fresh cases agree`.
pub(crate) fn standing(rule: &Rule) -> String {
    let sample = if rule.is_sample { ", of a sample" } else { "" };
    let passes = |more: &str| match rule.passes {
        0 => String::new(),
        passes => format!("it holds for {} that passed{sample}{more}", counted(passes, "case")),
    };
    match &rule.estimate {
        Some(estimate) => {
            let fresh = estimate.held + estimate.not_held;
            let fresh = counted(fresh as u64, "fresh case");
            if rule.is_exact {
                let of = if rule.is_sample { " and no pass of a sample" } else { "" };
                return format!("exactly these cases{of}; {fresh} agree");
            }
            let wrong = grouped(estimate.wrong() as u64);
            format!(
                "no exact predicate; this one is the best: {}wrong for {wrong} of {fresh}",
                passes(", and is ")
            )
        }
        None if rule.is_exact && rule.is_sample => {
            "exactly these cases and no pass of a sample; not confirmed by others".to_owned()
        }
        None if rule.is_exact => "exactly these cases of the run; not confirmed by others".to_owned(),
        None if rule.passes == 0 => "holds for no pass, but not for all failures of this kind".to_owned(),
        None => format!("no exact predicate; this one is the best: {}", passes("")),
    }
}
