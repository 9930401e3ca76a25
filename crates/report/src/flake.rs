//! A flake, or a failure that passes in a fresh backend: what was tried with it, and what the trials tell.

use std::io::{self, Write};

use dmlcts_runner::{DataOf, Failure, Rate, Replayed, Tried, Verdict};

use crate::{
    Replay, Style,
    numbers::counted,
    prose::{INDENT, write_prose},
};

/// The maximum number of cases that are listed.
const MOST: usize = 8;
/// The width of the names of trials.
const WIDTH: usize = 42;

/// Writes the trials side by side, what they tell, and the command that shows it again.
pub(crate) fn write_tried(
    out: &mut dyn Write,
    failure: &Failure,
    tried: &Tried,
    replay: &Replay,
    style: Style,
) -> io::Result<()> {
    if needs_others(failure).is_none() {
        writeln!(out, "{INDENT}{:<WIDTH$} failed ({})", "in the run", failure.class.id())?;
        for (name, rate) in trials(tried).into_iter().filter(|(_, rate)| rate.runs > 0) {
            writeln!(out, "{INDENT}{name:<WIDTH$} {}", said(rate))?;
        }
    }
    let Some(replayed) = tried.replayed.as_ref().filter(|replayed| !replayed.needs.is_empty()) else {
        return write_prose(out, style, conclusion(tried));
    };
    let needs = &replayed.needs;
    let place = if replayed.in_one_batch { "in one batch with" } else { "after" };
    if let [one] = needs.as_slice() {
        writeln!(out, "{INDENT}it fails only {place}: {one}")?;
    } else {
        writeln!(out, "{INDENT}it fails only {place} these {} cases:", needs.len())?;
        for case in needs.iter().take(MOST) {
            writeln!(out, "{INDENT}{INDENT}{case}")?;
        }
        if needs.len() > MOST {
            writeln!(out, "{INDENT}{INDENT}and {} more", needs.len() - MOST)?;
        }
    }
    if let Some(data) = replayed.data {
        let which = if needs.len() == 1 { "that case" } else { "the last of them" };
        let part = match data {
            DataOf::Output => "output",
            DataOf::Input => "input",
        };
        let text = format!("each wrong element is data of {which}: the element at this place of its {part}");
        write_prose(out, style, &text)?;
    }
    if !replayed.in_one_batch && needs.len() < MOST {
        let lines: Vec<String> = needs.iter().chain([&failure.case]).map(ToString::to_string).collect();
        writeln!(out, "{INDENT}run them again: {}", replay.in_order(&lines))?;
    }
    Ok(())
}

/// What a failure needs, if trials found the cases before it after which it fails.
pub(crate) fn needs_others(failure: &Failure) -> Option<&Replayed> {
    let replayed = failure.tried.as_ref()?.replayed.as_ref()?;
    (!replayed.needs.is_empty() && !replayed.in_one_batch).then_some(replayed)
}

/// Whether a failure comes and goes by chance, as far as trials tell. A flake that cases before it
/// cause does not.
pub(crate) fn is_by_chance(failure: &Failure) -> bool {
    failure.verdict == Verdict::Flake && needs_others(failure).is_none()
}

/// Whether the case alone shows the failure: it is not a flake, or it failed when it ran again without other
/// cases. What fails each time and passes in a fresh backend does not.
pub(crate) fn shows_alone(failure: &Failure) -> bool {
    let is_flake = failure.verdict == Verdict::Flake;
    let failed = |rate: Rate| rate.failed > 0;
    match &failure.tried {
        Some(tried) if is_flake => [tried.alone, tried.other_data, tried.fresh].into_iter().any(failed),
        Some(tried) => failed(tried.fresh),
        // The first run was not alone.
        None => !is_flake || failure.rate.is_some_and(|rate| rate.failed > 1),
    }
}

/// The trials in the order in which they ran.
fn trials(tried: &Tried) -> Vec<(String, Rate)> {
    let mut all = vec![
        ("alone".to_owned(), tried.alone),
        ("alone, on other data".to_owned(), tried.other_data),
        ("first in a fresh backend".to_owned(), tried.fresh),
    ];
    if let Some(Replayed { cases, after, beside, .. }) = &tried.replayed {
        let cases = counted(*cases as u64, "case");
        all.push((format!("after the {cases} before it"), *after));
        all.push((format!("in batches with the {cases} before it"), *beside));
    }
    all
}

/// `passed each of 2 times`.
fn said(rate: Rate) -> String {
    match (rate.failed, rate.runs) {
        (0, 1) => "passed".to_owned(),
        (0, runs) => format!("passed each of {runs} times"),
        (1, 1) => "failed".to_owned(),
        (failed, runs) if failed == runs => format!("failed each of {runs} times"),
        (failed, runs) => format!("failed in {failed} of {runs} runs"),
    }
}

/// What the trials tell if no earlier cases are known to matter.
fn conclusion(tried: &Tried) -> &'static str {
    let replayed = tried.replayed.as_ref();
    if tried.fresh.is_always() {
        "it fails as the first case of a backend"
    } else if tried.other_data.is_always() && tried.alone.failed == 0 {
        "it fails on other data each time: alone, its own data hides the fault"
    } else if replayed.is_some_and(|replayed| replayed.after.is_always() || replayed.beside.is_always()) {
        "it fails after earlier cases; which of them it needs was not found"
    } else if trials(tried).iter().any(|(_, rate)| rate.failed > 0) {
        "the same trial passes and fails: chance"
    } else {
        "it passed each trial: chance, or state left by cases that were not tried"
    }
}
