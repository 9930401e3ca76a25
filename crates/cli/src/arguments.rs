//! The command line, as clap reads it and `--help` explains it.

mod results;
mod run;

use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use dmlcts_model::FeatureLevel;

use crate::{breakage::Fault, exit, units};

pub(crate) use results::{
    DiffArguments, FailuresArguments, LedgerArguments, MergeArguments, ReportArguments,
};
pub(crate) use run::{RunArguments, Selection};

/// Conformance tests and a spec-driven fuzzer for DirectML's tensor-moving operators.
#[derive(Debug, Parser)]
#[command(name = "dmlcts", version, propagate_version = true, after_help = exit::HELP, max_term_width = 110)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(Box<RunArguments>),
    List(ListArguments),
    Count(CountArguments),
    /// Shows a case: its desc member by member, its input, and the output that is expected
    Show(CaseArguments),
    /// Explains a case: the clauses that it touches, and where each element of its output comes from
    Explain(CaseArguments),
    /// Says whether a case's desc is valid, and by which clauses it is not
    Judge(CaseArguments),
    /// Checks, shows and lists specs: what the pages promise, as YAML
    #[command(subcommand)]
    Spec(SpecCommand),
    /// Lists who can answer cases here: adapters with their drivers and limits, and what a self-test found
    Backends,
    Doctor(DoctorArguments),
    Serve(ServeArguments),
    Failures(FailuresArguments),
    Merge(MergeArguments),
    Diff(DiffArguments),
    Ledger(LedgerArguments),
    Suites(SuitesArguments),
    Profiles(ProfilesArguments),
}

/// Answers cases as a backend process does, on standard input and output
///
/// The protocol is specified in crates/backend/PROTOCOL.md. `dmlcts run --backend 'exec:dmlcts serve'` runs the reference in a process of its own.
#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// Who answers the cases: as for `run`
    #[arg(long, value_name = "NAME", default_value = RunArguments::DEFAULT_BACKEND)]
    pub(crate) backend: String,

    /// Misbehave in this way at the case of --break-at, for `doctor`
    #[arg(long = "break", hide = true, value_enum, requires = "break_at")]
    pub(crate) fault: Option<Fault>,

    /// The case to misbehave at
    #[arg(long, hide = true, value_name = "CASE", requires = "fault")]
    pub(crate) break_at: Option<String>,

    /// The number of the process that started this one and that it is to end with; left out where others stand between them
    #[arg(long, hide = true, value_name = "NUMBER")]
    pub(crate) parent: Option<u32>,
}

/// Takes a first look at a backend: is it well, and would a run notice if it were not?
///
/// It runs the suite `smoke` and says what it tells of the backend, line by line. Then it breaks the backend on purpose, through a shim around it, and shows that each way to be broken is noticed. The exit code is 0 where all is well, 1 where a line says FAIL, and 3 where the backend does not start or is lost.
#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    /// Whom to look at: as for `run`
    #[arg(long, value_name = "NAME", default_value = RunArguments::DEFAULT_BACKEND)]
    pub(crate) backend: String,

    /// How long a backend in another process may be silent while it has cases, such as 500ms or 1m
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = units::time_span, allow_hyphen_values = true)]
    pub(crate) case_timeout: Duration,

    /// How long all of it may take, such as 90s or 10m
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = units::time_span, allow_hyphen_values = true)]
    pub(crate) timeout: Duration,
}

/// Lists the suites that the program was built with, or shows the parts of one
#[derive(Debug, Args)]
pub(crate) struct SuitesArguments {
    /// The suite to show: a name, or the path of a YAML file
    #[arg(value_name = "NAME|PATH")]
    pub(crate) name: Option<String>,
}

/// Lists the profiles that a backend can be shown to conform to, or shows one
///
/// A profile is a suite, a seed and a feature level, with the hash of the spec and digests of what is expected of its cases.
#[derive(Debug, Args)]
pub(crate) struct ProfilesArguments {
    /// The profile to show
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// Hold its digests against the cases that this program makes, and what it expects of them
    #[arg(long, requires = "name")]
    pub(crate) check: bool,
}

const LIST_EXAMPLES: &str = "\
Examples:
  dmlcts list | head
  dmlcts list --suite exhaustive --where 'InputTensor.DimensionCount == 1'
  dmlcts list --strategy negative";

/// Lists the cases of a suite, one line each
///
/// A line is a whole case: `dmlcts run`, `show`, `explain` and `judge` take it, in quotes.
#[derive(Debug, Args)]
#[command(after_help = LIST_EXAMPLES)]
pub(crate) struct ListArguments {
    #[command(flatten)]
    pub(crate) selection: Selection,
}

/// Counts the cases of a suite, part by part
///
/// Without --where and --feature-level, nothing is generated: exhaustive parts know their size. Notes say what a part was to have and has not, such as a clause that no desc breaks alone.
#[derive(Debug, Args)]
pub(crate) struct CountArguments {
    #[command(flatten)]
    pub(crate) selection: Selection,

    /// Count what the cases exercise of the spec instead, and name what they do not
    ///
    /// An obligation is one thing to be tried: a clause kept, broken or met exactly, a question raised, a branch, a mode, a type, a rank, a row of support. Every case is judged, and none is run.
    #[arg(long)]
    pub(crate) obligations: bool,
}

const CASE_EXAMPLE: &str = "\
Example:
  dmlcts explain 'SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=iota'";

/// A case, and the level to judge it at.
#[derive(Debug, Args)]
#[command(after_help = CASE_EXAMPLE)]
pub(crate) struct CaseArguments {
    /// The case, as `dmlcts list` prints it
    #[arg(value_name = "CASE")]
    pub(crate) case: String,

    /// The feature level to judge at, such as 4.1 [default: the newest]
    #[arg(long, value_name = "LEVEL")]
    pub(crate) feature_level: Option<FeatureLevel>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SpecCommand {
    /// Checks specs, and says what is wrong with them
    ///
    /// Without files it checks those that the program was built with. A file named common.yaml takes the place of the built-in one.
    Check {
        /// YAML files
        #[arg(value_name = "FILE")]
        files: Vec<String>,
    },
    /// Shows all that is promised of an operator, with citations
    Show {
        /// The operator's name
        #[arg(value_name = "OPERATOR")]
        operator: String,
    },
    /// Lists the operators
    List,
}

/// The name of a file to write. What stands for standard output elsewhere does not here, where the run itself is shown.
fn file(path: &str) -> Result<String, String> {
    match path {
        "-" => {
            Err("standard output shows the run: name a file, or write ./- for one that is called so"
                .to_owned())
        }
        _ => Ok(path.to_owned()),
    }
}

/// Says that a name is unknown, which one may be meant, and which there are.
pub(crate) fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    let meant = dmlcts_model::closest(name, known.iter().copied())
        .map(|close| format!("did you mean `{close}`? "))
        .unwrap_or_default();
    format!("there is no {what} `{name}`; {meant}there are: {}", known.join(", "))
}
