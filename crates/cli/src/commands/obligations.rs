//! `dmlcts count --obligations`: the share of the spec that a selection exercises, and the obligations that
//! it leaves out.
//!
//! Every case is judged and none is run, so that the result describes the suite and no backend.

use std::{
    io::{self, Write},
    thread,
};

use dmlcts_generate::{Crossed, Unmet};
use dmlcts_model::FeatureLevel;
use dmlcts_report::{counted, grouped};
use dmlcts_runner::{CaseSource as _, SuiteSource};
use dmlcts_spec::{Coverage, Library, Obligation, Operator, Scratch};

use super::picker::{Picker, TRIES, blank, too_rare};
use crate::{arguments::Selection, exit::Exit, output, problem::Problem};

/// The number of cases in a row that one thread judges.
const CHUNK: u64 = 4096;

/// For each operator, shows the number of met obligations, and names the unmet ones.
pub(super) fn obligations(selection: &Selection, names_pairs: bool) -> Result<Exit, Problem> {
    let library = Library::embedded();
    let parts = selection.source()?;
    let level = selection.feature_level.unwrap_or(FeatureLevel::NEWEST);
    let (coverage, crossed) = covered(selection, &parts, level)?;
    let mut out = output::stdout();
    for operator in library.operators() {
        let all = operator.obligations(level);
        let unmet: Vec<Obligation> =
            all.iter().copied().filter(|&obligation| !coverage.met(operator, obligation)).collect();
        let met = all.len() - unmet.len();
        if met == 0 {
            writeln!(out, "{}: no case", operator.name())?;
            continue;
        }
        let all = counted(all.len() as u64, "obligation");
        writeln!(
            out,
            "{}: {met} of {all} met{}",
            operator.name(),
            if unmet.is_empty() { "" } else { "; not met:" }
        )?;
        for obligation in unmet {
            let reason = reason(operator, obligation).map(|reason| format!(": {reason}"));
            writeln!(out, "  {}{}", obligation.describe(operator), reason.unwrap_or_default())?;
        }
        let Some(crossed) = crossed.iter().find(|crossed| crossed.operator().name() == operator.name())
        else {
            continue;
        };
        pairs(&mut out, operator, crossed, names_pairs)?;
    }
    out.flush()?;
    Ok(Exit::Success)
}

/// Shows how many pairs of a way and a value are met, and can name the others with their reasons.
fn pairs(
    out: &mut impl Write,
    operator: &Operator,
    crossed: &Crossed<'_>,
    names_pairs: bool,
) -> io::Result<()> {
    let (all, unmet) = crossed.unmet();
    let count = |of: &dyn Fn(&Unmet) -> bool| -> usize {
        unmet.iter().filter(|unmet| of(unmet)).map(|unmet| unmet.values.len()).sum()
    };
    let missing = count(&|unmet| unmet.because.is_none());
    let impossible = count(&|unmet| unmet.because.is_some());
    let possible = all - impossible;
    writeln!(
        out,
        "  {} of {} of a way to break a clause and a type, mode, rank or axis met{}",
        grouped((possible - missing) as u64),
        counted(possible as u64, "pair"),
        match (missing, names_pairs) {
            (0, _) => "",
            (_, true) => "; no case:",
            (_, false) => " (--pairs names the others)",
        }
    )?;
    for (clause, way, value, because) in crossed.refuted() {
        let clause = operator.clauses().get(clause).map_or("?", |clause| clause.id.as_str());
        writeln!(
            out,
            "  {clause} broken, and yet `{way}`, {value}: met, though cases/impossible.yaml says that {because}"
        )?;
    }
    if !names_pairs {
        return Ok(());
    }
    for unmet in unmet.iter().filter(|unmet| unmet.because.is_none()) {
        writeln!(out, "    {}", missed(operator, unmet))?;
    }
    if impossible > 0 {
        writeln!(out, "  {} that no desc shows:", counted(impossible as u64, "pair"))?;
    }
    for (unmet, because) in unmet.iter().filter_map(|unmet| Some((unmet, unmet.because?))) {
        writeln!(out, "    {}: {because}", missed(operator, unmet))?;
    }
    Ok(())
}

/// The reason why no case can meet an obligation, if there is one.
fn reason(operator: &Operator, obligation: Obligation) -> Option<&'static str> {
    let (Obligation::Violated(place) | Obligation::Boundary(place)) = obligation else { return None };
    let names = operator.clauses().get(place)?.expression.names();
    names.iter().all(|&name| name == "level").then_some(
        "it depends on the feature level alone: at the newest, no desc breaks it or meets it exactly",
    )
}

/// A way that cases do not take with some values, as a line.
fn missed(operator: &Operator, unmet: &Unmet) -> String {
    let clause = operator.clauses().get(unmet.clause).map_or("?", |clause| clause.id.as_str());
    let with = if unmet.is_never_taken { String::new() } else { format!(", {}", unmet.values.join(", ")) };
    format!("{clause} broken, and yet `{}`{with}", unmet.way)
}

/// The obligations of the spec, and the pairs of each operator.
type Met = (Coverage, Vec<Crossed<'static>>);

/// The obligations that the cases of a selection exercise, judged by several threads.
fn covered(selection: &Selection, parts: &SuiteSource, level: FeatureLevel) -> Result<Met, Problem> {
    let library = Library::embedded();
    let filter = selection.filter()?;
    let nothing = || -> Met {
        let operators = library.operators().iter();
        (Coverage::new(library), operators.filter_map(|operator| Crossed::new(operator, level)).collect())
    };
    let Some(blank) = blank() else { return Ok(nothing()) };
    let end = match (parts.count(), selection.limit) {
        (None, None) => {
            return Err(Problem::usage(
                "the cases of an endless suite are never all judged",
                "say how many to judge: --limit 100000",
            ));
        }
        (count, limit) => {
            let limit = limit.filter(|_| !selection.leaves_out());
            count.unwrap_or(u64::MAX).min(limit.unwrap_or(u64::MAX))
        }
    };
    // If cases are left out, only reading the cases in order shows which of them a limit includes.
    let in_order = selection.limit.filter(|_| selection.leaves_out());
    let threads = if in_order.is_some() { 1 } else { selection.threads() };
    let judge = |first: u64| {
        let (mut coverage, mut crossed) = nothing();
        let (mut cursor, mut case, mut scratch) = (parts.cursor(), blank.clone(), Scratch::default());
        let mut picker = Picker::new(filter.as_deref(), selection);
        let (mut start, mut left, mut tries) = (first * CHUNK, in_order.unwrap_or(u64::MAX), 0);
        let mut taken = 0;
        while start < end && left > 0 {
            if tries >= TRIES && end == u64::MAX {
                return Err(too_rare(taken, tries));
            }
            let before = taken;
            for index in start..start.saturating_add(CHUNK).min(end) {
                cursor.read(index, &mut case);
                let operator = library.operator(&case.desc.signature.operator);
                if let Some(operator) = operator.filter(|_| picker.picks(&case)) {
                    let judgement = operator.judge(&case.desc, level, &mut scratch);
                    coverage.mark(operator, &case.desc, level, judgement, &mut scratch);
                    let of = crossed.iter_mut().find(|crossed| crossed.operator().name() == operator.name());
                    if let Some(crossed) = of.filter(|_| !judgement.violated.is_empty()) {
                        crossed.add(&case, judgement.violated, level, &mut scratch);
                    }
                    (left, taken) = (left - 1, taken + 1);
                    if left == 0 {
                        break;
                    }
                }
            }
            tries = if taken == before { tries + CHUNK } else { 0 };
            start = start.saturating_add(CHUNK.saturating_mul(threads as u64));
        }
        Ok((coverage, crossed))
    };
    thread::scope(|scope| {
        let mut all = nothing();
        let workers: Vec<_> = (0..threads as u64).map(|first| scope.spawn(move || judge(first))).collect();
        for worker in workers {
            match worker.join() {
                Ok(met) => {
                    let (coverage, crossed) = met?;
                    all.0.merge(&coverage);
                    all.1.iter_mut().zip(&crossed).for_each(|(all, crossed)| all.merge(crossed));
                }
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(all)
    })
}
