//! Known failures: what became of their cases, and the command that accepts it.

use std::{
    fmt::Write as _,
    io::{self, Write},
};

use dmlcts_model::escaped;
use dmlcts_runner::{
    CauseKind, Class, Conclusion, FirstCase, KnownCounts, KnownTally, Smallest, SmallestCase, Status, Summary,
};

use crate::{
    Context, KnownContext, Style, Tone,
    numbers::{counted, folded, grouped},
};

/// The maximum number of entries that a summary names.
const NAMED: usize = 4;
/// A predicate that holds for more than this part of the cases of a run is named as wide: one in this many.
const WIDE: u64 = 20;

/// Writes each known failure that is not as it is known, and how to accept what became of it.
pub fn write_known(
    out: &mut dyn Write,
    context: &Context,
    summary: &Summary,
    style: Style,
) -> io::Result<()> {
    for (tally, conclusion) in summary.known(context.known.is_whole) {
        if !conclusion.is_unexpected() || context.accepted.contains(&tally.entry.id) {
            continue;
        }
        let head = format!("{} {}:", conclusion.id().to_uppercase(), escaped(&tally.entry.id));
        let head = format!("{} {}", style.paint(Tone::Bad, head), style.paint(Tone::Strong, became(tally)));
        writeln!(out, "{}", style.wrap(2, &head))?;
        write!(out, "{}", details(tally, conclusion))?;
        if let Some(accept) = &context.known.accept {
            let is_fixed = conclusion == Conclusion::Fixed;
            let what = if is_fixed { "take the file out, or keep it as a guard" } else { "accept it" };
            writeln!(out, "  {what}: {accept}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// The file of a known failure, and the first cases that were not as it says, as lines.
pub(crate) fn details(tally: &KnownTally, conclusion: Conclusion) -> String {
    let counts = &tally.counts;
    let firsts = [("passed", &counts.first_passed), ("failed in another way", &counts.first_otherwise)];
    let mut text = format!("  in {}\n", escaped(&tally.entry.file));
    if let Some(SmallestCase { result, line }) = &counts.smallest
        && let Some(did) = did(*result)
    {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "  its smallest case {did}: {}", escaped(&folded(line)));
    }
    for (what, first) in firsts {
        if let Some(FirstCase { index, line }) =
            first.as_ref().filter(|_| conclusion != Conclusion::Regressed)
        {
            let (index, line) = (grouped(*index), folded(line));
            // Writing into a string cannot fail.
            let _ = writeln!(text, "  the first that {what} is case {index}: {}", escaped(&line));
        }
    }
    text
}

/// What the smallest case did, if it was not as it is known.
fn did(seen: Smallest) -> Option<&'static str> {
    Some(match seen {
        Smallest::AsKnown => return None,
        Smallest::AnotherAnswer => "has another wrong output",
        Smallest::AnotherClass => "failed in another way",
        Smallest::Passed => "passed",
    })
}

/// The summary's line about the smallest cases of known failures; `None` if none ran.
pub(crate) fn smallest(summary: &Summary) -> Option<String> {
    let known = summary.totals.known.iter();
    let ran: Vec<Smallest> = known.filter_map(|tally| Some(tally.counts.smallest.as_ref()?.result)).collect();
    let as_known = ran.iter().filter(|seen| **seen == Smallest::AsKnown).count() as u64;
    let all = counted(ran.len() as u64, "smallest case");
    (!ran.is_empty()).then(|| format!("before the suite, {} of {all} failed as known", grouped(as_known)))
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
    let classes = tally.entry.class_ids();
    let all = as_expected + otherwise.values().sum::<u64>() + passed + skipped + unknown;
    let now = format!("of its {} passed", counted(all, "case"));
    part(*passed, &now);
    part(*as_expected, &format!("failed with {classes}, as known"));
    for (class, cases) in otherwise {
        part(*cases, &format!("failed with {} instead of {classes}", class.id()));
    }
    part(*skipped, "skipped, since the backend does not declare them");
    part(*unknown, "came to another result each time, or to none");
    match parts.as_slice() {
        [] => "none of its cases ran".to_owned(),
        all if *passed > 0 => all.join(", "),
        [one] => format!("of its cases {one}, and no other"),
        _ => format!("of its cases {}", parts.join(", ")),
    }
}

/// The summary's line about the known failures; `None` if there are none.
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
    let mut named: Vec<String> =
        known.iter().take(NAMED).map(|tally| format!("{} ({})", in_short(tally), word(tally))).collect();
    let further = known.len() - named.len();
    if further > 0 {
        named.push(format!("and {further} more"));
    }
    let is_known = |tally: &&KnownTally| tally.entry.status == Status::Known;
    let all: u64 = known.iter().filter(is_known).map(|tally| tally.counts.as_expected).sum();
    let cases = if all == 0 { "no case".to_owned() } else { counted(all, "case") };
    let (broke, unreported, wide) = (broke(summary), unreported(known), wide(summary));
    Some(format!("{cases} failed as known{broke}: {}{unreported}{wide}", named.join(", ")))
}

/// The kind of a known failure, or the status of another one.
fn word(tally: &KnownTally) -> &'static str {
    let entry = &tally.entry;
    if entry.status == Status::Known { entry.kind.id() } else { entry.status.id() }
}

/// The known failures with so many cases that their predicates may hide other faults.
fn wide(summary: &Summary) -> String {
    let ran = summary.totals.progress.ran;
    let of =
        |counts: &KnownCounts| counts.as_expected + counts.passed + counts.otherwise.values().sum::<u64>();
    let share = |tally: &&KnownTally| of(&tally.counts) * WIDE > ran && ran > 1_000;
    let wide = summary.totals.known.iter().filter(share);
    let wide = wide.map(|tally| {
        let percent = of(&tally.counts) * 100 / ran;
        format!("; {} is wide: {percent} % of all cases", escaped(&tally.entry.id))
    });
    wide.collect()
}

/// The number of bugs without the address of a report. Such entries do not show when a bug is fixed.
fn unreported(known: &[KnownTally]) -> String {
    let bugs = known.iter().filter(|tally| {
        let entry = &tally.entry;
        entry.status == Status::Known && entry.kind == CauseKind::Bug && entry.link.is_none()
    });
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
        let known = summary.totals.known.iter().filter(|tally| tally.entry.classes.first() == Some(&class));
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

/// An entry with the results of its cases. Only the number stands for cases that failed as known.
fn in_short(KnownTally { entry, counts }: &KnownTally) -> String {
    let otherwise: u64 = counts.otherwise.values().sum();
    let results = [
        (counts.as_expected, if entry.status == Status::Known { "" } else { " failed" }),
        (otherwise, " failed otherwise"),
        (counts.passed, " passed"),
        (counts.skipped, " skipped"),
        (counts.unknown, " of which nobody knows"),
    ];
    let results = results.into_iter().filter(|(cases, _)| *cases > 0);
    let results: Vec<String> = results.map(|(cases, what)| format!("{}{what}", grouped(cases))).collect();
    if results.is_empty() {
        return format!("{} has not run", entry.id);
    }
    format!("{} {}", entry.id, results.join(" and "))
}
