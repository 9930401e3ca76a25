//! `dmlcts count --obligations`: the share of the spec that a selection exercises, and the obligations that
//! it leaves out.
//!
//! Every case is judged and none is run, so that the result describes the suite and no backend.

use std::{io::Write, thread};

use dmlcts_generate::Part;
use dmlcts_model::FeatureLevel;
use dmlcts_report::counted;
use dmlcts_runner::{Source as _, SuiteSource};
use dmlcts_spec::{Coverage, Library, Obligation, Operator, Scratch};

use super::picker::{Picker, TRIES, blank, too_rare};
use crate::{arguments::Selection, exit::Exit, output, problem::Problem};

/// The number of cases in a row that one thread judges.
const CHUNK: u64 = 4096;

/// For each operator, shows the number of met obligations, and names the unmet ones.
pub(super) fn obligations(selection: &Selection) -> Result<Exit, Problem> {
    let library = Library::embedded();
    let parts = selection.parts()?;
    let level = selection.feature_level.unwrap_or(FeatureLevel::NEWEST);
    let coverage = covered(selection, &parts, level)?;
    let remarks: Vec<String> = parts.expansion().parts().iter().flat_map(Part::remarks).collect();
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
            let reason = reason(operator, obligation, &remarks).map(|reason| format!(": {reason}"));
            writeln!(out, "  {}{}", obligation.describe(operator), reason.unwrap_or_default())?;
        }
    }
    out.flush()?;
    Ok(Exit::Success)
}

/// The reason why the search for cases found none, if a remark gives it.
fn reason<'a>(operator: &Operator, obligation: Obligation, remarks: &'a [String]) -> Option<&'a str> {
    let (Obligation::Violated(place) | Obligation::Boundary(place)) = obligation else { return None };
    let id = &operator.clauses().get(place)?.id;
    remarks.iter().find_map(|remark| remark.strip_prefix(id.as_str())?.strip_prefix(": "))
}

/// The obligations that the cases of a selection exercise, judged by several threads.
fn covered(selection: &Selection, parts: &SuiteSource, level: FeatureLevel) -> Result<Coverage, Problem> {
    let library = Library::embedded();
    let filter = selection.filter()?;
    let Some(blank) = blank() else { return Ok(Coverage::new(library)) };
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
        let mut coverage = Coverage::new(library);
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
                    (left, taken) = (left - 1, taken + 1);
                    if left == 0 {
                        break;
                    }
                }
            }
            tries = if taken == before { tries + CHUNK } else { 0 };
            start = start.saturating_add(CHUNK.saturating_mul(threads as u64));
        }
        Ok(coverage)
    };
    thread::scope(|scope| {
        let mut all = Coverage::new(library);
        let workers: Vec<_> = (0..threads as u64).map(|first| scope.spawn(move || judge(first))).collect();
        for worker in workers {
            match worker.join() {
                Ok(coverage) => all.merge(&coverage?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(all)
    })
}
