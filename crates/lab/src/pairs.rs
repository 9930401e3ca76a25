//! `dmlcts-lab pairs`: backends with two faults each. Two faults are two findings, if neither hides the
//! other.

use std::{collections::BTreeSet, io::Write, process::ExitCode, sync::Arc};

use dmlcts_diagnose::{ExplainOptions, Finding};
use dmlcts_generate::draw::{Draws, derive};
use dmlcts_mutants::{Mutant, Several};
use dmlcts_report::counted;
use dmlcts_runner::{Factory, side_by_side};

use crate::{
    Common, Problem,
    findings::{FaultSubject, explained_alone, print_findings, run, subjects_of},
    stdout,
};

/// A pair, and the findings of its run.
struct PairRow {
    names: [&'static str; 2],
    findings: Vec<Finding>,
}

/// A mutant that has one finding, and the indices of the cases that fail.
type Single = (&'static Mutant, BTreeSet<usize>);

/// Explains pairs of mutants, and prints a table. Each mutant of a pair has exactly one finding when it runs
/// without the other, and at most half of the failures of one are failures of the other.
pub(crate) fn explain(count: u32, mutants: &[&'static Mutant], common: &Common) -> Result<ExitCode, Problem> {
    let suite = common.cases()?;
    let mut draws = Draws::new(derive(common.seed, "pairs of mutants"));
    let mut mutants = subjects_of(mutants);
    draws.shuffle(&mut mutants);
    // Most mutants have one finding, and most two of them can be a pair.
    mutants.truncate(4 * count as usize);
    let alone = side_by_side(&mutants, common.threads(), |mutant| {
        let (findings, failing) = explained_alone(mutant, &suite, ExplainOptions::USUAL_CASES)?;
        Ok::<_, Problem>((findings == 1).then_some((*mutant, failing)))
    })?;
    let mut singles: Vec<Single> = alone.into_iter().flatten().collect();
    let mut pairs = Vec::new();
    while let Some(one) = singles.pop().filter(|_| pairs.len() < count as usize) {
        if let Some(place) = singles.iter().position(|other| is_apart(&one.1, &other.1)) {
            pairs.push([one.0, singles.remove(place).0]);
        }
    }
    let rows = side_by_side(&pairs, common.threads(), |pair| {
        let subject = subject(*pair);
        let (diagnosis, _) = run(&subject, &suite, Some(ExplainOptions::USUAL_CASES))?;
        Ok::<_, Problem>(PairRow { names: pair.map(|mutant| mutant.name), findings: diagnosis.findings })
    })?;
    print(&rows)?;
    Ok(ExitCode::SUCCESS)
}

/// Whether at most half of the failures of one are failures of the other.
fn is_apart(one: &BTreeSet<usize>, other: &BTreeSet<usize>) -> bool {
    2 * one.intersection(other).count() <= one.len().min(other.len())
}

/// The pair as a subject of explanations.
fn subject(mutants: [&'static Mutant; 2]) -> FaultSubject {
    let backend: Arc<Factory> = Arc::new(move |_| Ok(Box::new(Several::new(&mutants))));
    FaultSubject {
        name: mutants.map(|mutant| mutant.name).join(" and "),
        about: mutants.map(|mutant| mutant.about).join("; "),
        conditions: None,
        backend,
    }
}

fn print(rows: &[PairRow]) -> std::io::Result<()> {
    let mut out = stdout();
    for PairRow { names: [one, other], findings } in rows {
        writeln!(out, "{one} and {other}: {}", counted(findings.len() as u64, "finding"))?;
        print_findings(&mut out, findings)?;
    }
    let two = rows.iter().filter(|row| row.findings.len() == 2).count();
    let pairs = counted(rows.len() as u64, "pair");
    writeln!(out, "\n{pairs} of mutants: two findings for {two} of {}", rows.len())?;
    out.flush()
}
