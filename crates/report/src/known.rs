//! Known failures that did not fail as listed: the results of their cases, and the lines of the list to
//! change.

use std::{
    fmt::Write as _,
    io::{self, Write},
};

use dmlcts_model::escaped;
use dmlcts_runner::{Class, Conclusion, Kind, KnownCounts, KnownFailures, KnownTally, Summary};

use crate::{
    Palette, Tone,
    numbers::{counted, grouped},
};

/// The maximum number of entries that a summary names.
const NAMED: usize = 4;

/// The lists of known failures of a run, as the program knows them.
#[derive(Clone, Debug, Default)]
pub struct KnownContext {
    /// All entries of the lists, for any backend.
    pub listed: KnownFailures,
    /// The suite, if the run covers all of it. Only then the run shows whether entries are still true.
    pub suite: Option<String>,
}

/// Writes each entry with an unexpected result, and the change to make if the run shows which one it is.
pub fn write_known(
    out: &mut dyn Write,
    context: &KnownContext,
    summary: &Summary,
    palette: Palette,
) -> io::Result<()> {
    let untrue: Vec<&KnownTally> = summary.untrue(context.suite.as_deref()).collect();
    for tally in &summary.totals.known {
        let is_untrue = untrue.iter().any(|other| std::ptr::eq(*other, tally));
        if !is_untrue && !is_unexpected(&tally.counts) {
            continue;
        }
        let head = format!("KNOWN FAILURE {}:", escaped(&tally.entry.id));
        writeln!(out, "{} {}", palette.paint(Tone::Bad, head), palette.paint(Tone::Strong, became(tally)))?;
        let firsts = [
            ("passed", &tally.counts.first_passed),
            ("failed in another way", &tally.counts.first_otherwise),
        ];
        for (what, first) in firsts {
            if let Some((index, line)) = first {
                writeln!(out, "  the first that {what} is case {}: {}", grouped(*index), escaped(line))?;
            }
        }
        if is_untrue {
            write!(out, "{}", edit(tally))?;
        } else {
            let (suites, file) = (tally.entry.suites.join(" or "), escaped(&tally.entry.file));
            writeln!(out, "  a whole run of {} says whether to change it in {file}", escaped(&suites))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn is_unexpected(counts: &KnownCounts) -> bool {
    counts.passed > 0 || !counts.otherwise.is_empty()
}

/// The results of an entry's cases.
pub(crate) fn became(tally: &KnownTally) -> String {
    let KnownCounts { as_expected, otherwise, passed, skipped, unknown, .. } = &tally.counts;
    let mut parts = Vec::new();
    let mut part = |cases: u64, what: &str| {
        if cases > 0 {
            parts.push(format!("{} {what}", grouped(cases)));
        }
    };
    let signature = tally.entry.signature.id();
    let all = as_expected + otherwise.values().sum::<u64>() + passed + skipped + unknown;
    let now = format!("of {} of this entry passed now", counted(all, "case"));
    part(*passed, &now);
    part(*as_expected, &format!("failed with {signature}, as known"));
    for (class, cases) in otherwise {
        part(*cases, &format!("failed with {} instead of {signature}", class.id()));
    }
    part(*skipped, "skipped, since the backend does not declare them");
    part(*unknown, "came to another result each time, or to none");
    match parts.as_slice() {
        [] => "no case matches it".to_owned(),
        all if *passed > 0 => all.join(", "),
        [one] => format!("of its cases {one}, and no other"),
        _ => format!("of its cases {}", parts.join(", ")),
    }
}

/// The change to make in the list, as lines to remove and to add.
pub(crate) fn edit(tally: &KnownTally) -> String {
    let entry = &tally.entry;
    let (id, cases) = (format!("  - id: {}", entry.id), format!("    where: {}", entry.cases));
    let signature = format!("    signature: {}", entry.signature.id());
    let cases = if entry.cases.ends_with(" listed") { "    cases:".to_owned() } else { cases };
    let mut text = String::new();
    let mut lines = |what: &str, lines: &[(char, &str)]| {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "  in {}, {what}:", escaped(&entry.file));
        for (mark, line) in lines {
            let _ = writeln!(text, "  {mark} {}", escaped(line));
        }
    };
    let others = &tally.counts.otherwise;
    match (tally.conclude(), others.keys().next()) {
        (Conclusion::Stale | Conclusion::MatchesNothing | Conclusion::Skipped, _) => {
            lines("take out", &[('-', &id), ('-', &cases), ('-', "    ...")]);
        }
        (Conclusion::Changed, Some(class)) if others.len() == 1 => {
            let kind = |kind: Kind| format!("    kind: {}", kind.id());
            let (was, is) = (kind(entry.kind), kind(entry.kind.changed(entry.signature, *class)));
            let new = format!("    signature: {}", class.id());
            let kinds = if was == is { &[][..] } else { &[('-', &*was), ('+', &*is)] };
            lines("change", &[&[(' ', &*id), ('-', &*signature), ('+', &*new)], kinds].concat());
        }
        (Conclusion::Holds, _) => {}
        (Conclusion::Unknown, _) => {
            lines(
                "take out, since what changes cannot be known",
                &[('-', &id), ('-', &cases), ('-', "    ...")],
            );
        }
        _ => {
            let new = format!("{cases} and ...");
            lines("match only what fails in one way", &[(' ', &id), ('-', &cases), ('+', &new)]);
        }
    }
    text
}

/// The summary's line about the lists; `None` if there are no lists.
pub(crate) fn known(context: &KnownContext, summary: &Summary) -> Option<String> {
    if context.listed.is_empty() && summary.totals.known.is_empty() {
        return None;
    }
    let (backend, known) = (&summary.capabilities, &summary.totals.known);
    if known.is_empty() {
        let listed = counted(context.listed.entries().len() as u64, "known failure");
        let none = format!("none of {listed} is of {} {}", backend.name, backend.version);
        let why = misfits(&context.listed.misfits(backend));
        return Some(if why.is_empty() { none } else { format!("{none}: {why}") });
    }
    let mut named: Vec<String> = known
        .iter()
        .take(NAMED)
        .map(|tally| format!("{} ({})", in_short(tally), tally.entry.kind.id()))
        .collect();
    let further = known.len() - named.len();
    if further > 0 {
        named.push(format!("and {further} more"));
    }
    let all: u64 = known.iter().map(|tally| tally.counts.as_expected).sum();
    let cases = if all == 0 { "no case".to_owned() } else { counted(all, "case") };
    Some(format!("{cases} failed as known{}: {}{}", broke(summary), named.join(", "), unreported(known)))
}

/// The number of bugs without the address of a report. Such entries do not show when a bug is fixed.
fn unreported(known: &[KnownTally]) -> String {
    let bugs = known.iter().filter(|tally| tally.entry.kind == Kind::Bug && tally.entry.link.is_none());
    match bugs.count() as u64 {
        0 => String::new(),
        1 => "; 1 bug has no `link` to where it is reported".to_owned(),
        bugs => format!("; {} bugs have no `link` to where they are reported", grouped(bugs)),
    }
}

/// The number of cases that crashed the backend or timed out as known. The word "failures" alone would not
/// tell the reader about them.
pub(crate) fn broke(summary: &Summary) -> String {
    let of = |class: Class| -> u64 {
        let known = summary.totals.known.iter().filter(|tally| tally.entry.signature == class);
        known.map(|tally| tally.counts.as_expected).sum()
    };
    let both = [(Class::Crashed, "crashed the backend"), (Class::TimedOut, "hung")];
    let parts = both.map(|(class, what)| (of(class), what));
    let parts = parts.iter().filter(|(cases, _)| *cases > 0);
    let parts: Vec<String> = parts.map(|(cases, what)| format!("{} {what}", grouped(*cases))).collect();
    if parts.is_empty() { String::new() } else { format!(", of which {}", parts.join(" and ")) }
}

/// The reasons why entries do not apply to this backend: each reason once, with the number of its entries.
fn misfits(misfits: &[(&str, String)]) -> String {
    let mut reasons: Vec<(&str, &str, u64)> = Vec::new();
    for (id, why) in misfits {
        match reasons.iter_mut().find(|(_, other, _)| other == why) {
            Some((_, _, others)) => *others += 1,
            None => reasons.push((id, why, 0)),
        }
    }
    let mut named: Vec<String> = reasons
        .iter()
        .take(NAMED)
        .map(|(id, why, others)| match others {
            0 => format!("{id} {why}"),
            _ => format!("{id} {why}, as {} more", grouped(*others)),
        })
        .collect();
    let further: u64 = reasons.iter().skip(NAMED).map(|(_, _, others)| 1 + others).sum();
    if further > 0 {
        named.push(format!("and {} more", grouped(further)));
    }
    named.join("; ")
}

/// An entry with the number of its cases that failed as listed. If none did, the results of its cases.
fn in_short(KnownTally { entry, counts }: &KnownTally) -> String {
    let otherwise: u64 = counts.otherwise.values().sum();
    let instead = [
        (counts.as_expected, ""),
        (otherwise, " failed otherwise"),
        (counts.passed, " passed"),
        (counts.skipped, " skipped"),
        (counts.unknown, " of which nobody knows"),
    ];
    match instead.into_iter().find(|(cases, _)| *cases > 0) {
        Some((cases, what)) => format!("{} {}{what}", entry.id, grouped(cases)),
        None => format!("{} matches none", entry.id),
    }
}
