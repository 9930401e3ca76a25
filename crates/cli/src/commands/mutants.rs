//! `dmlcts mutants`: the kill matrix. Each mutant runs each strategy of a suite until the first unexpected
//! verdict. A mutant that survives all strategies also runs the whole suite. A fault that remembers earlier
//! cases may need several strategies.

use std::{io::Write, sync::Arc, thread, time::Duration};

use dmlcts_backend::process::Incidents;
use dmlcts_generate::{Length, Suite, suite::Strategy};
use dmlcts_model::{FeatureLevel, escaped};
use dmlcts_mutants::{Mutant, Needs};
use dmlcts_report::grouped;
use dmlcts_runner::{CaseSource, Configuration, Listed, SuiteSource, cases_to_failure, side_by_side};
use dmlcts_spec::{Library, Operator};

use crate::{
    arguments::MutantsArguments,
    backends::{self, Hosting},
    exit::Exit,
    output,
    problem::Problem,
    selection::{load_suite, suite_problem, threads},
};

/// The time limit of a case. The process of a mutant that exceeds it is ended.
const CASE_TIMEOUT: Duration = Duration::from_secs(2);

/// The column of the pages' own examples, which are not part of the suite.
const PAGES: &str = "pages";

/// The cases of one strategy, of the whole suite, or of the pages.
struct Column {
    name: String,
    source: Arc<dyn CaseSource>,
    /// For each part of the suite in this column: the index of its first case in the suite, and its length.
    parts: Vec<(u64, u64)>,
}

impl Column {
    /// The number in the whole suite of the case with this number in the column. Numbers start at 1.
    fn in_suite(&self, mut number: u64) -> Option<u64> {
        for &(start, length) in &self.parts {
            if number <= length {
                return Some(start + number);
            }
            number -= length;
        }
        None
    }
}

/// A mutant, and for each column the number of cases up to the first unexpected verdict.
struct MutantRow {
    mutant: &'static Mutant,
    kills: Vec<Option<u64>>,
}

impl MutantRow {
    /// Whether the mutant survives the whole suite, which is the last column.
    fn survives(&self) -> bool {
        self.kills.last().is_none_or(Option::is_none)
    }
}

/// Prints the kill matrix of a suite, or lists the mutants.
pub(crate) fn mutants(arguments: &MutantsArguments) -> Result<Exit, Problem> {
    let mutants: Vec<&Mutant> = if arguments.mutant.is_empty() {
        dmlcts_mutants::all().collect()
    } else {
        arguments.mutant.iter().map(|name| backends::mutant(name)).collect::<Result<_, _>>()?
    };
    if arguments.list {
        return list(&mutants);
    }
    let suite = load_suite(&arguments.suite)?;
    let columns = columns(&suite, &arguments.suite, arguments)?;
    check_reference(columns.last(), &suite, arguments.seed)?;
    let rows = run_all(&mutants, &columns, arguments)?;
    output::unless_gone(print(&suite, &columns, &rows, arguments.quiet))?;
    let survives = |row: &MutantRow| row.survives() && excuse(row.mutant, &suite).is_none();
    Ok(if rows.iter().any(survives) { Exit::Unexpected } else { Exit::Success })
}

/// Lists mutants with their descriptions.
fn list(mutants: &[&Mutant]) -> Result<Exit, Problem> {
    let mut out = output::stdout();
    for mutant in mutants {
        writeln!(out, "{}", mutant.name)?;
        writeln!(out, "  {}: {}", mutant.operators.join(", "), mutant.about)?;
        writeln!(out, "  seen in: {}", mutant.seen_in)?;
        if let Some(reason) = mutant.needs.reason() {
            writeln!(out, "  needs: {reason}")?;
        }
        let lines: Vec<String> = mutant.witness.iter().map(|line| witness_line(line)).collect();
        writeln!(out, "  case: {}", lines.join("\n        "))?;
    }
    out.flush()?;
    Ok(Exit::Success)
}

/// A line of a witness as `run` takes it. Its prefix stands behind it, as in a comment.
fn witness_line(line: &str) -> String {
    let (level, line) = match line.strip_prefix('@').and_then(|line| line.split_once(' ')) {
        Some((level, line)) => (format!("  # --feature-level {level}"), line),
        None => (String::new(), line),
    };
    match line.split_once("x ").filter(|(times, _)| times.bytes().all(|byte| byte.is_ascii_digit())) {
        Some((times, line)) => format!("{line}{level}  # {times} times, in one batch with the lines below"),
        None => format!("{line}{level}"),
    }
}

/// The cases of these strategies of a suite, or of all strategies if the list is empty.
fn cases(suite: &Suite, name: &str, seed: u64, strategies: &[Strategy]) -> Result<SuiteSource, Problem> {
    let expansion = suite.expand(Library::embedded(), seed).map_err(|error| suite_problem(name, error))?;
    let source = SuiteSource::new(expansion, strategies);
    if source.count().is_none() {
        return Err(Problem::usage(
            format!("the suite `{}` is endless, and a survivor would run forever", suite.name()),
            "name a suite with an end, such as --suite ci",
        ));
    }
    Ok(source)
}

/// The columns: the pages, each strategy (not with `--quiet`), and the whole suite. The searches of a suite
/// run once for each column.
fn columns(suite: &Suite, name: &str, arguments: &MutantsArguments) -> Result<Vec<Column>, Problem> {
    let source = |strategies: &[Strategy]| cases(suite, name, arguments.seed, strategies);
    let whole = source(&[])?;
    let (mut strategies, mut start): (Vec<(Strategy, Vec<_>)>, _) = (Vec::new(), 0);
    for part in whole.expansion().parts() {
        let Length::Finite(length) = part.length() else { break };
        // The suite has fewer than 2^64 cases.
        let range = (start, length as u64);
        match strategies.iter_mut().find(|(strategy, _)| *strategy == part.strategy()) {
            Some((_, parts)) => parts.push(range),
            None => strategies.push((part.strategy(), vec![range])),
        }
        start += length as u64;
    }
    let mut columns = vec![Column { name: PAGES.to_owned(), source: Arc::new(pages()), parts: Vec::new() }];
    for (strategy, parts) in strategies.into_iter().filter(|_| !arguments.quiet) {
        columns.push(Column {
            name: strategy.name().to_owned(),
            source: Arc::new(source(&[strategy])?),
            parts,
        });
    }
    columns.push(Column { name: "suite".to_owned(), source: Arc::new(whole), parts: vec![(0, start)] });
    Ok(columns)
}

/// The examples of the pages.
fn pages() -> Listed {
    let operators = Library::embedded().operators().iter();
    let examples = operators.flat_map(Operator::examples).map(|example| example.case.clone());
    Listed::new(examples.collect(), PAGES)
}

/// Runs all mutants, several at once. Each mutant that hangs has a thread of its own, which mostly waits.
fn run_all(
    mutants: &[&'static Mutant],
    columns: &[Column],
    arguments: &MutantsArguments,
) -> Result<Vec<MutantRow>, Problem> {
    let (slow, quick): (Vec<_>, Vec<_>) = mutants.iter().copied().partition(|mutant| mutant.hangs());
    let run = |mutant: &&'static Mutant| row(mutant, columns);
    let (slow, quick) = thread::scope(|scope| {
        let slow = scope.spawn(|| side_by_side(&slow, slow.len(), run));
        let quick = side_by_side(&quick, threads(arguments.jobs), run);
        (slow.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), quick)
    });
    let mut rows = quick?;
    rows.extend(slow?);
    let place = |row: &MutantRow| mutants.iter().position(|mutant| std::ptr::eq(*mutant, row.mutant));
    rows.sort_by_key(place);
    Ok(rows)
}

/// Runs a mutant on each strategy, and on the whole suite if it survives them.
fn row(mutant: &'static Mutant, columns: &[Column]) -> Result<MutantRow, Problem> {
    let Some((whole, strategies)) = columns.split_last() else {
        return Ok(MutantRow { mutant, kills: Vec::new() });
    };
    let mut kills = strategies.iter().map(|column| kill(mutant, column)).collect::<Result<Vec<_>, _>>()?;
    let in_suite = |(column, kill): (&Column, &Option<u64>)| column.in_suite((*kill)?);
    let first = strategies.iter().zip(&kills).filter_map(in_suite).min();
    kills.push(if first.is_some() { first } else { kill(mutant, whole)? });
    Ok(MutantRow { mutant, kills })
}

/// Checks that the reference passes the whole suite. Every mutant fails where the reference does.
fn check_reference(whole: Option<&Column>, suite: &Suite, seed: u64) -> Result<(), Problem> {
    let Some(whole) = whole else { return Ok(()) };
    let Some(case) = to_failure("reference", whole, true, None)? else { return Ok(()) };
    Err(Problem::Backend {
        message: format!(
            "the reference itself fails case {case} of the suite, so that every mutant would seem to be killed"
        ),
        help: format!("see dmlcts run --suite {} --seed {seed}", escaped(suite.name())),
    })
}

/// The way in which a mutant runs; `None` for this process at the newest feature level.
///
/// Mutants are safe code, so most of them run in this process, where starting costs nothing. A mutant that
/// hangs needs a process that can be ended. Guard pages are only in worker processes, because a read out of
/// bounds ends the process.
fn own_way(mutant: &Mutant) -> Option<String> {
    if let Some(level) = mutant.needs.level() {
        return Some(format!("at feature level {level}"));
    }
    if mutant.hangs() {
        return Some("in worker processes, which are ended when they hang".to_owned());
    }
    mutant.needs_guards().then(|| "in worker processes, with memory between guard pages".to_owned())
}

/// The number of cases until a mutant is found; `None` if it survives them.
fn kill(mutant: &'static Mutant, column: &Column) -> Result<Option<u64>, Problem> {
    let in_process = !mutant.hangs() && !mutant.needs_guards();
    to_failure(&format!("mutant:{}", mutant.name), column, in_process, mutant.needs.level())
}

/// The number of cases up to the first unexpected verdict on the backend of this name; `None` if there is
/// none. It runs in this process, or in a worker process.
fn to_failure(
    name: &str,
    column: &Column,
    in_process: bool,
    level: Option<FeatureLevel>,
) -> Result<Option<u64>, Problem> {
    let (incidents, max_hangs, case_timeout) = (Incidents::default(), Some(1), CASE_TIMEOUT);
    let of_run = Configuration { incidents: incidents.clone(), level, ..Configuration::default() };
    let hosting = Hosting { case_timeout, max_hangs, incidents, in_process, ..Hosting::default() };
    let backend = backends::factory(name, &hosting)?;
    let first = cases_to_failure(Library::embedded(), backend, &column.source, of_run);
    first.map_err(|error| Problem::start(error, name))
}

/// Why a suite need not kill a mutant; `None` if it must.
fn excuse(mutant: &Mutant, suite: &Suite) -> Option<&'static str> {
    match mutant.needs {
        Needs::Nothing | Needs::OlderLevel(..) => None,
        Needs::Memory(reason) | Needs::ManyCases(reason) => (suite.name() == "smoke").then_some(reason),
        Needs::Beyond(reason) => Some(reason),
        Needs::GuardedMemory(reason) => (!mutant.needs_guards()).then_some(reason),
    }
}

/// Prints the matrix, the totals and the survivors.
fn print(suite: &Suite, columns: &[Column], rows: &[MutantRow], quiet: bool) -> std::io::Result<()> {
    let mut out = output::stdout();
    if !quiet {
        print_matrix(&mut out, columns, rows)?;
    }
    let killed = |place: usize| rows.iter().filter(|row| row.kills[place].is_some()).count();
    for (place, column) in columns.iter().enumerate() {
        let name = if place + 1 == columns.len() { suite.name() } else { &column.name };
        let cases = column.source.count().unwrap_or_default();
        writeln!(
            out,
            "{}: {} cases kill {} of {} mutants",
            escaped(name),
            grouped(cases),
            killed(place),
            rows.len()
        )?;
    }
    if let Some(place) = columns.iter().position(|column| column.name == PAGES) {
        let missed = rows.len() - killed(place);
        writeln!(out, "The pages' own examples miss {missed} of {} mutants.", rows.len())?;
    }
    let apart: Vec<_> = rows.iter().filter_map(|row| Some((row.mutant, own_way(row.mutant)?))).collect();
    if !apart.is_empty() && !quiet {
        writeln!(out, "\nRun in another mode ({}):", apart.len())?;
        for (mutant, way) in apart {
            writeln!(out, "  {}: {way}", mutant.name)?;
        }
    }
    let survivors: Vec<_> = rows.iter().filter(|row| row.survives()).collect();
    let (excused, unexcused): (Vec<&MutantRow>, Vec<&MutantRow>) =
        survivors.into_iter().partition(|row| excuse(row.mutant, suite).is_some());
    for (title, rows) in [("Survivors", unexcused), ("Survivors that this suite need not kill", excused)] {
        if rows.is_empty() {
            continue;
        }
        writeln!(out, "\n{title} ({}):", rows.len())?;
        for MutantRow { mutant, .. } in rows {
            let needs = excuse(mutant, suite).map(|why| format!("; needs {why}")).unwrap_or_default();
            writeln!(out, "  {}: {} ({}){needs}", mutant.name, mutant.about, mutant.seen_in)?;
        }
    }
    out.flush()
}

/// Prints the number of cases up to the kill, for each mutant and column.
fn print_matrix(out: &mut impl Write, columns: &[Column], rows: &[MutantRow]) -> std::io::Result<()> {
    let first = rows.iter().map(|row| row.mutant.name.len()).max().unwrap_or(0).max("mutant".len());
    let width = |column: &Column| column.name.len().max(7);
    write!(out, "{:first$}", "mutant")?;
    for column in columns {
        write!(out, "  {:>1$}", escaped(&column.name), width(column))?;
    }
    writeln!(out)?;
    for row in rows {
        write!(out, "{:first$}", row.mutant.name)?;
        for (column, kill) in columns.iter().zip(&row.kills) {
            let cell = kill.map_or_else(|| "-".to_owned(), grouped);
            write!(out, "  {cell:>0$}", width(column))?;
        }
        writeln!(out)?;
    }
    write!(out, "{:first$}", "killed")?;
    let killed = |place: usize| rows.iter().filter(|row| row.kills[place].is_some()).count();
    for (place, column) in columns.iter().enumerate() {
        write!(out, "  {:>1$}", killed(place), width(column))?;
    }
    writeln!(out, "\n")
}
