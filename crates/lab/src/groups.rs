//! `dmlcts-lab groups`: backends with several faults each. Each fault is a finding, if none hides another.

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

/// A group, and the findings of its run.
struct GroupRow {
    names: Vec<&'static str>,
    findings: Vec<Finding>,
}

/// A mutant that has one finding, and the indices of the cases that fail.
type Single = (&'static Mutant, BTreeSet<usize>);

/// Explains groups of `size` mutants each, and prints a table. Each mutant of a group has exactly one finding
/// when it runs alone, and at most half of the failures of one are failures of another.
pub(crate) fn explain(
    count: u32,
    size: usize,
    mutants: &[&'static Mutant],
    common: &Common,
) -> Result<ExitCode, Problem> {
    let suite = common.cases()?;
    let mut draws = Draws::new(derive(common.seed, "groups of mutants"));
    let mut mutants = subjects_of(mutants);
    draws.shuffle(&mut mutants);
    // Most mutants have one finding, and most of them can be in one group.
    mutants.truncate(2 * size * count as usize);
    let alone = side_by_side(&mutants, common.threads(), |mutant| {
        let (findings, failing) = explained_alone(mutant, &suite, ExplainOptions::USUAL_CASES)?;
        Ok::<_, Problem>((findings == 1).then_some((*mutant, failing)))
    })?;
    let singles: Vec<Single> = alone.into_iter().flatten().collect();
    let groups = grouped(singles, size, count as usize);
    let rows = side_by_side(&groups, common.threads(), |group| {
        let (diagnosis, _) = run(&subject(group), &suite, Some(ExplainOptions::USUAL_CASES))?;
        let names = group.iter().map(|mutant| mutant.name).collect();
        Ok::<_, Problem>(GroupRow { names, findings: diagnosis.findings })
    })?;
    print(&rows, size)?;
    Ok(ExitCode::SUCCESS)
}

/// At most `count` groups of mutants that do not hide each other.
fn grouped(mut singles: Vec<Single>, size: usize, count: usize) -> Vec<Vec<&'static Mutant>> {
    let mut groups = Vec::new();
    while groups.len() < count
        && let Some(one) = singles.pop()
    {
        let mut group = vec![one];
        while group.len() < size
            && let Some(place) = singles.iter().position(|other| group.iter().all(|one| is_apart(one, other)))
        {
            group.push(singles.remove(place));
        }
        if group.len() == size {
            groups.push(group.into_iter().map(|(mutant, _)| mutant).collect());
        }
    }
    groups
}

/// Whether at most half of the failures of one are failures of the other.
fn is_apart((_, one): &Single, (_, other): &Single) -> bool {
    2 * one.intersection(other).count() <= one.len().min(other.len())
}

/// The group as a subject of explanations.
fn subject(mutants: &[&'static Mutant]) -> FaultSubject {
    let joined = |text: fn(&Mutant) -> &str, between: &str| {
        mutants.iter().map(|mutant| text(mutant)).collect::<Vec<_>>().join(between)
    };
    let (name, about) = (joined(|mutant| mutant.name, " and "), joined(|mutant| mutant.about, "; "));
    let mutants = mutants.to_vec();
    let backend: Arc<Factory> = Arc::new(move |_| Ok(Box::new(Several::new(&mutants))));
    FaultSubject { name, about, conditions: None, backend }
}

fn print(rows: &[GroupRow], size: usize) -> std::io::Result<()> {
    let mut out = stdout();
    for GroupRow { names, findings } in rows {
        writeln!(out, "{}: {}", names.join(" and "), counted(findings.len() as u64, "finding"))?;
        print_findings(&mut out, findings)?;
    }
    let right = rows.iter().filter(|row| row.findings.len() == size).count();
    let groups = counted(rows.len() as u64, "group");
    writeln!(out, "\n{groups} of {size} mutants: {size} findings for {right} of {}", rows.len())?;
    out.flush()
}
