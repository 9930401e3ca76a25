//! `dmlcts-lab` measures this project with faults: how many faults the suites find, and how well the causes
//! of failures are found.

mod atoms;
mod findings;
mod groups;
mod no_predicate;
mod random;
mod random_fault;

use std::{
    error::Error,
    io::{self, BufWriter, StdoutLock, Write as _},
    process::ExitCode,
    sync::Arc,
};

use clap::{Args, Parser, Subcommand, ValueHint, value_parser};
use dmlcts_generate::Suite;
use dmlcts_mutants::Mutant;
use dmlcts_report::Screen;
use dmlcts_runner::{CaseSource, Configuration, SuiteSource};
use dmlcts_spec::Library;

/// The reason why a measurement failed.
type Problem = Box<dyn Error + Send + Sync>;

/// Measures this project with faults
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    tool: Tool,
}

#[derive(Debug, Subcommand)]
enum Tool {
    /// Measures how many random faults suites find
    ///
    /// Each fault is an effect where 1 to 4 conditions hold together. The table has the share of these faults
    /// that a suite finds. The exit code is 1 if the suites `smoke` and `ci` find too few.
    Random {
        /// The number of random faults
        #[arg(value_name = "N", value_parser = value_parser!(u32).range(1..=1_000_000))]
        count: u32,

        /// Conditions of each random fault
        ///
        /// Commas separate several numbers. The faults are divided equally among them.
        #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1,2,3,4", value_parser = value_parser!(u8).range(1..=4))]
        atoms: Vec<u8>,

        /// Explain the failures of each fault, as the command `findings` does for mutants
        #[arg(long)]
        findings: bool,

        #[command(flatten)]
        common: Common,
    },

    /// Explains the failures of each mutant
    ///
    /// It prints the findings of each fault, and how often their predicates are right. A predicate is right
    /// if it holds for exactly the cases that fail, among those of the suite, 25,000 fresh ones and up to
    /// 6,000 that differ from these in one member.
    Findings {
        #[command(flatten)]
        mutants: Mutants,

        #[command(flatten)]
        common: Common,
    },

    /// Explains groups of mutants
    ///
    /// Each group is a backend with several faults that do not hide each other. Each fault should be a
    /// finding.
    Groups {
        /// The number of groups
        #[arg(value_name = "N", value_parser = value_parser!(u32).range(1..=200))]
        count: u32,

        /// The number of mutants in each group
        #[arg(long, value_name = "N", default_value_t = 2, value_parser = value_parser!(u8).range(2..=8))]
        size: u8,

        #[command(flatten)]
        mutants: Mutants,

        #[command(flatten)]
        common: Common,
    },
}

#[derive(Debug, Args)]
struct Mutants {
    /// Only these mutants; commas separate several names
    #[arg(long = "mutant", value_name = "NAME", value_delimiter = ',', value_parser = mutant)]
    named: Vec<&'static Mutant>,
}

impl Mutants {
    /// The named mutants, or else all.
    fn chosen(self) -> Vec<&'static Mutant> {
        if self.named.is_empty() { dmlcts_mutants::all().collect() } else { self.named }
    }
}

#[derive(Debug, Args)]
struct Common {
    /// The suite: a name, or a YAML file
    ///
    /// `random` measures several suites if it is given several times.
    #[arg(long, default_value = "smoke", value_name = "NAME|PATH", value_parser = Suite::load, value_hint = ValueHint::FilePath)]
    suite: Vec<Suite>,

    /// The seed of all random choices
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// The number of threads [default: one per processor]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
}

impl Common {
    /// The cases of the only suite.
    fn cases(&self) -> Result<Arc<dyn CaseSource>, Problem> {
        let [suite] = self.suite.as_slice() else {
            return Err("findings are those of one suite; name one suite".into());
        };
        self.cases_of(suite)
    }

    /// The cases of a suite, which must end.
    fn cases_of(&self, suite: &Suite) -> Result<Arc<dyn CaseSource>, Problem> {
        let source = SuiteSource::new(suite.expand(Library::embedded(), self.seed)?, &[]);
        match source.count() {
            Some(_) => Ok(Arc::new(source)),
            None => Err(format!(
                "the suite `{}` is endless; name a suite with an end, such as --suite ci",
                suite.name()
            )
            .into()),
        }
    }

    /// The number of threads.
    fn threads(&self) -> usize {
        self.jobs.map_or_else(|| Configuration::default().jobs, usize::from)
    }
}

/// The mutant with this name.
fn mutant(name: &str) -> Result<&'static Mutant, &'static str> {
    dmlcts_mutants::find(name).ok_or("there is no such mutant; `dmlcts mutants --list` lists the mutants")
}

/// Standard output, buffered. The caller flushes it.
fn stdout() -> Screen<BufWriter<StdoutLock<'static>>> {
    Screen::new(BufWriter::new(io::stdout().lock()), false)
}

fn main() -> ExitCode {
    dmlcts_runner::silence_caught_panics();
    let measured = match Arguments::parse().tool {
        Tool::Random { count, atoms, findings: true, common } => random::explain(count, &atoms, &common),
        Tool::Random { count, atoms, findings: false, common } => random::measure(count, &atoms, &common),
        Tool::Findings { mutants, common } => findings::explain(&mutants.chosen(), &common),
        Tool::Groups { count, size, mutants, common } => {
            groups::explain(count, usize::from(size), &mutants.chosen(), &common)
        }
    };
    measured.unwrap_or_else(|problem| {
        // If standard error cannot be written, the exit code still reports the problem.
        let _ = writeln!(Screen::new(io::stderr(), false), "error: {problem}");
        ExitCode::from(2)
    })
}
