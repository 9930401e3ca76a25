//! `dmlcts-lab random`: the share of random faults that suites find, by the number of their conditions.

use std::{collections::BTreeSet, io::Write, process::ExitCode, sync::Arc};

use dmlcts_generate::Suite;
use dmlcts_model::{counted, escaped};
use dmlcts_runner::{CaseSource, Configuration, Listed, cases_to_failure, side_by_side};
use dmlcts_spec::Library;

use crate::{
    Common, Problem,
    findings::{Apart, FaultSubject, explain_all},
    random_fault::{Faults, RandomFault},
    stdout,
};

/// A suite and its cases.
struct Measured {
    name: String,
    source: Arc<dyn CaseSource>,
}

/// A fault, and for each suite whether it finds the fault.
struct RandomRow {
    fault: Arc<RandomFault>,
    found: Vec<bool>,
}

/// The number of drawn faults, and the number of these that a suite finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Share {
    found: usize,
    drawn: usize,
}

impl Share {
    fn of<'a>(rows: impl Iterator<Item = &'a RandomRow>, suite: usize) -> Self {
        rows.fold(Self { found: 0, drawn: 0 }, |share, row| Self {
            found: share.found + usize::from(row.found[suite]),
            drawn: share.drawn + 1,
        })
    }

    /// The share in percent.
    fn percent(self) -> f64 {
        100.0 * self.found as f64 / self.drawn.max(1) as f64
    }

    fn is_below(self, percent: usize) -> bool {
        self.found * 100 < percent * self.drawn
    }
}

/// The percentage of the faults with this number of conditions that a suite must find; `None` without a
/// floor.
fn floor(suite: &str, atoms: usize) -> Option<usize> {
    match (suite, atoms) {
        ("smoke", 1 | 2) | ("ci", 1..=3) => Some(99),
        ("smoke", 3) => Some(80),
        _ => None,
    }
}

/// Measures suites with random faults.
pub(crate) fn measure(count: u32, atoms: &[u8], common: &Common) -> Result<ExitCode, Problem> {
    let suite = |suite: &Suite| {
        Ok::<_, Problem>(Measured { name: suite.name().to_owned(), source: common.cases_of(suite)? })
    };
    let suites = common.suite.iter().map(suite).collect::<Result<Vec<_>, _>>()?;
    let faults = draw(count, atoms, common.seed)?;
    let rows = side_by_side(&faults, common.threads(), |fault| {
        let found = suites.iter().map(|suite| is_found(fault, &suite.source));
        Ok::<_, Problem>(RandomRow { fault: Arc::clone(fault), found: found.collect::<Result<_, _>>()? })
    })?;
    let too_low = too_low(&suites, &rows);
    print(&suites, &rows, &too_low)?;
    Ok(ExitCode::from(u8::from(!too_low.is_empty())))
}

/// Explains random faults, and prints a table.
pub(crate) fn explain(count: u32, atoms: &[u8], common: &Common) -> Result<ExitCode, Problem> {
    let subject = |fault: Arc<RandomFault>| FaultSubject {
        name: fault.effect.describe().to_owned(),
        about: fault.text.clone(),
        conditions: Some(fault.atoms),
        backend: fault.factory(),
    };
    let subjects: Vec<FaultSubject> = draw(count, atoms, common.seed)?.into_iter().map(subject).collect();
    explain_all(&subjects, &Apart::default(), common)
}

/// Draws up to `count` faults, in equal shares for each number of conditions. A larger count only adds
/// faults.
fn draw(count: u32, atoms: &[u8], seed: u64) -> Result<Vec<Arc<RandomFault>>, Problem> {
    let atoms = Vec::from_iter(BTreeSet::from_iter(atoms));
    let mut faults = Faults::new(seed)?;
    let mut drawn = Vec::new();
    for place in 0..count as usize {
        let (index, atoms) = (place / atoms.len(), usize::from(*atoms[place % atoms.len()]));
        let is_wrong = |fault: &Arc<RandomFault>| {
            let witness: Arc<dyn CaseSource> = Arc::new(Listed::new(vec![fault.witness.clone()], "witness"));
            is_found(fault, &witness)
        };
        drawn.extend(faults.draw(atoms, index as u64, is_wrong)?);
    }
    Ok(drawn)
}

/// Whether a case of the source has an unexpected verdict on the reference with this fault.
fn is_found(fault: &Arc<RandomFault>, source: &Arc<dyn CaseSource>) -> Result<bool, Problem> {
    let found = cases_to_failure(Library::embedded(), fault.factory(), source, Configuration::default())?;
    Ok(found.is_some())
}

/// A sentence for each suite that finds too few of the faults with some number of conditions.
fn too_low(suites: &[Measured], rows: &[RandomRow]) -> Vec<String> {
    let mut too_low = Vec::new();
    for (place, Measured { name, .. }) in suites.iter().enumerate() {
        for atoms in numbers(rows) {
            let share = Share::of(rows.iter().filter(|row| row.fault.atoms == atoms), place);
            if let Some(floor) = floor(name, atoms).filter(|floor| share.is_below(*floor)) {
                let Share { found, drawn } = share;
                let conditions = counted(atoms as u64, "condition");
                too_low.push(format!(
                    "`{name}` finds {found} of {drawn} random faults with {conditions}, and must find {floor} %"
                ));
            }
        }
    }
    too_low
}

/// The different numbers of conditions that the faults have, in order.
fn numbers(rows: &[RandomRow]) -> BTreeSet<usize> {
    rows.iter().map(|row| row.fault.atoms).collect()
}

/// Prints the shares, the survivors, and the shares that are too low.
fn print(suites: &[Measured], rows: &[RandomRow], too_low: &[String]) -> std::io::Result<()> {
    const FIRST: usize = "conditions".len();
    let width = |suite: &Measured| suite.name.len().max("1000/1000  100.0 %".len());
    let mut out = stdout();
    write!(out, "conditions")?;
    for suite in suites {
        write!(out, "  {:>1$}", escaped(&suite.name), width(suite))?;
    }
    writeln!(out)?;
    let numbers = numbers(rows);
    let all = (numbers.len() > 1).then_some(None);
    for atoms in numbers.iter().map(|number| Some(*number)).chain(all) {
        let first = atoms.map_or_else(|| "all".to_owned(), |atoms| atoms.to_string());
        write!(out, "{first:>FIRST$}")?;
        for (place, suite) in suites.iter().enumerate() {
            let rows = rows.iter().filter(|row| atoms.is_none_or(|atoms| row.fault.atoms == atoms));
            let share = Share::of(rows, place);
            let cell = format!("{}/{}  {:5.1} %", share.found, share.drawn, share.percent());
            write!(out, "  {cell:>0$}", width(suite))?;
        }
        writeln!(out)?;
    }
    let survivors: Vec<&RandomRow> = rows.iter().filter(|row| row.found.contains(&false)).collect();
    if !survivors.is_empty() {
        writeln!(out, "\nSurvivors ({}):", survivors.len())?;
    }
    for RandomRow { fault, found } in survivors {
        let missed = suites.iter().zip(found).filter(|(_, found)| !**found);
        let missed: Vec<&str> = missed.map(|(suite, _)| suite.name.as_str()).collect();
        let (effect, missed) = (fault.effect.describe(), missed.join(", "));
        writeln!(
            out,
            "  {effect}, with {}; missed by {}",
            counted(fault.atoms as u64, "condition"),
            escaped(&missed)
        )?;
        writeln!(out, "    where {}", fault.text)?;
        writeln!(out, "    such as {}", fault.witness)?;
    }
    if !too_low.is_empty() {
        writeln!(out)?;
    }
    for sentence in too_low {
        writeln!(out, "{}", escaped(sentence))?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use dmlcts_model::{Case, line};
    use dmlcts_spec::Predicate;

    use super::*;
    use crate::random_fault::Effect;

    const MET: &str =
        "SLICE INT8 in=9 out=5 OutputTensor.Strides=2 Offsets=1 Sizes=5 Strides=1 fill=coordinates";
    const OPEN: &str = "SLICE INT8 in=9 out=5 Offsets=1 Sizes=5 Strides=0";
    const REFUSED: &str = "SLICE INT8 in=9 out=9 Offsets=1 Sizes=9 Strides=1";

    fn fault(effect: Effect, text: &str) -> Arc<RandomFault> {
        let predicate = Predicate::parse(text, Library::embedded()).expect(text);
        Arc::new(RandomFault { atoms: 1, effect, predicate, text: text.to_owned(), witness: case(MET) })
    }

    fn case(text: &str) -> Case {
        line::parse(text, Library::embedded().signatures()).expect(text)
    }

    fn is_wrong(fault: &Arc<RandomFault>, lines: &[&str]) -> bool {
        let cases = lines.iter().map(|line| case(line)).collect();
        let source: Arc<dyn CaseSource> = Arc::new(Listed::new(cases, "given"));
        is_found(fault, &source).expect("it runs")
    }

    #[test]
    fn each_effect_is_wrong_where_the_predicate_holds_and_nowhere_else() {
        for effect in Effect::ALL {
            let here = fault(effect, "InputTensor.ElementSize == 1 and any axis Offsets == 1");
            assert!(is_wrong(&here, &[MET]), "{}", effect.describe());
            let elsewhere = fault(effect, "InputTensor.ElementSize == 2");
            assert!(!is_wrong(&elsewhere, &[MET, OPEN, REFUSED]), "{}", effect.describe());
        }
    }

    #[test]
    fn an_invalid_desc_stays_refused() {
        for effect in Effect::ALL {
            assert!(!is_wrong(&fault(effect, "rank == 1"), &[REFUSED]), "{}", effect.describe());
        }
    }

    #[test]
    fn the_offset_of_a_binding_is_seen() {
        let line = format!("{MET} InputBinding.Offset=64");
        let there = fault(Effect::Refused, "InputBinding.Offset == 64");
        assert!(is_wrong(&there, &[&line]) && !is_wrong(&there, &[MET]));
    }

    #[test]
    fn a_share_is_too_low_only_below_its_floor() {
        let share = |found| Share { found, drawn: 200 };
        assert!(share(197).is_below(99) && !share(198).is_below(99) && !share(200).is_below(99));
        assert!(!Share { found: 0, drawn: 0 }.is_below(99));
        let floors = |suite| [1, 2, 3, 4].map(|atoms| floor(suite, atoms));
        assert_eq!(floors("smoke"), [Some(99), Some(99), Some(80), None]);
        assert_eq!(floors("ci"), [Some(99), Some(99), Some(99), None]);
        assert_eq!(floors("mine"), [None; 4]);
    }
}
