//! The command line as clap parses it, with the texts of `--help`.

mod backend;
mod fuzz;
mod replay;
mod results;
mod run;
mod snapshot;

use std::{ffi::OsString, time::Duration};

use clap::builder::NonEmptyStringValueParser;
use clap::{ArgAction, Args, ColorChoice, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;
use dmlcts_model::FeatureLevel;
use dmlcts_results::BackendOptions;

use crate::{exit, units, version};

pub(crate) use backend::{BackendArguments, OfSuiteArguments};
pub(crate) use fuzz::FuzzArguments;
pub(crate) use replay::ReplayArguments;
pub(crate) use results::{
    AcceptArguments, AddFindingsArguments, DiffArguments, FailuresArguments, FindingsArguments,
    FindingsCommand, ListFindingsArguments, MergeArguments, MergeFindingsArguments, ReportArguments,
};
pub(crate) use run::{RunArguments, Selection, VerdictArguments};
pub(crate) use snapshot::{
    AllArguments, MakeArguments, NamedArguments, ReviewArguments, ShowArguments, ShowDiffArguments,
    SnapshotArguments, SnapshotCommand,
};

/// The headings of options in the help.
mod heading {
    pub(super) const CASES: &str = "Cases";
    pub(super) const LIMITS: &str = "Limits";
    pub(super) const BACKEND: &str = "Backend";
    pub(super) const VERDICTS: &str = "Verdicts";
    pub(super) const REPORTS: &str = "Output and reports";
    pub(super) const GLOBAL: &str = "Options of every command";
}

/// Conformance tests and a spec-driven fuzzer for DirectML's tensor-moving operators.
#[derive(Debug, Parser)]
#[command(
    name = "dmlcts",
    version,
    long_version = version::long(),
    propagate_version = true,
    after_help = exit::SHORT_HELP,
    after_long_help = exit::HELP,
    max_term_width = 110,
    disable_help_flag = true,
    disable_version_flag = true
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Use colours: auto, always or never
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true,
        global = true,
        help_heading = heading::GLOBAL
    )]
    pub(crate) color: ColorChoice,

    /// Print help; -h prints a summary
    #[arg(long, short, global = true, action = ArgAction::Help, help_heading = heading::GLOBAL)]
    help: Option<bool>,

    /// Print the version; --version adds the commit
    #[arg(long, short = 'V', global = true, action = ArgAction::Version, help_heading = heading::GLOBAL)]
    version: Option<bool>,
}

/// Reads `--color` before clap parses the arguments, since help and errors are coloured, too.
pub(crate) fn color_of(words: impl Iterator<Item = OsString>) -> ColorChoice {
    let mut words = words.map(|word| word.to_string_lossy().into_owned()).take_while(|word| word != "--");
    let mut color = ColorChoice::Auto;
    while let Some(word) = words.next() {
        let value = match word.strip_prefix("--color") {
            Some("") => words.next(),
            Some(rest) => rest.strip_prefix('=').map(str::to_owned),
            None => None,
        };
        color = value.and_then(|value| ColorChoice::from_str(&value, false).ok()).unwrap_or(color);
    }
    color
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(Box<RunArguments>),
    Fuzz(Box<FuzzArguments>),
    Replay(ReplayArguments),
    List(ListArguments),
    Count(CountArguments),
    /// Shows a case: its desc, its input and its expected output
    ///
    /// The desc is shown member by member.
    #[command(after_help = SHOW_EXAMPLE)]
    Show(CaseArguments),
    /// Explains a case: its clauses, and where its output comes from
    ///
    /// It names the clauses that decide the case, and for each element of the output the input element that
    /// it comes from.
    #[command(after_help = EXPLAIN_EXAMPLE)]
    Explain(CaseArguments),
    /// Says whether a desc is valid, and which clauses it breaks
    #[command(after_help = JUDGE_EXAMPLES)]
    Judge(CaseArguments),
    Export(ExportArguments),
    /// Checks, shows and lists specs: the promises of the pages, as YAML
    #[command(subcommand)]
    Spec(SpecCommand),
    /// Lists the backends: adapters, drivers, limits and a self-test
    ///
    /// For each adapter, it shows the driver, the limits and the findings of the self-test.
    Backends,
    Init(InitArguments),
    Doctor(DoctorArguments),
    Serve(ServeArguments),
    Failures(FailuresArguments),
    Accept(AcceptArguments),
    Findings(FindingsArguments),
    Merge(MergeArguments),
    Diff(DiffArguments),
    Snapshot(Box<SnapshotArguments>),
    Suites(SuitesArguments),
    Profiles(ProfilesArguments),
    Mutants(MutantsArguments),
    Completions(CompletionsArguments),
}

const COMPLETIONS_PLACES: &str = "\
Where it goes:
  bash        ~/.local/share/bash-completion/completions/dmlcts
  zsh         ~/.zfunc/_dmlcts, with fpath+=~/.zfunc above compinit in ~/.zshrc
  fish        ~/.config/fish/completions/dmlcts.fish
  powershell  dmlcts completions powershell | Out-String | Invoke-Expression
              as a line of the file that $PROFILE names
  elvish      eval (dmlcts completions elvish | slurp)
              as a line of rc.elv

Example:
  dmlcts completions fish > ~/.config/fish/completions/dmlcts.fish";

/// Prints a script that completes commands and options in a shell
#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_PLACES)]
pub(crate) struct CompletionsArguments {
    /// bash, zsh, fish, powershell or elvish
    #[arg(value_name = "SHELL", value_enum, hide_possible_values = true)]
    pub(crate) shell: Shell,
}

/// Runs as a backend process, for `--backend exec:`
///
/// It reads cases from standard input and answers on standard output. The protocol is specified in
/// crates/backend/PROTOCOL.md. `dmlcts run --backend 'exec:dmlcts serve'` runs the reference in a process of
/// its own.
#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// The backend, as for `run`
    #[arg(long, value_name = "NAME", default_value = BackendOptions::USUAL_BACKEND, value_hint = ValueHint::Other)]
    pub(crate) backend: String,

    /// The number of the host process, with which this process ends; left out if other processes are between
    /// them
    #[arg(long, hide = true, value_name = "NUMBER")]
    pub(crate) parent: Option<u32>,
}

/// Takes a first look at a backend
///
/// It runs the suite `smoke` and reports its findings about the backend, line by line. The exit code is 0 if
/// all is well. It is 1 if a line says FAIL or there was no time for a check, and 3 if the backend does not
/// start or is lost.
#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    /// The backend, as for `run`
    #[arg(long, value_name = "NAME", default_value = BackendOptions::USUAL_BACKEND, value_hint = ValueHint::Other)]
    pub(crate) backend: String,

    /// How long a process may be silent
    ///
    /// If a backend process has cases and is silent for this time, such as 500ms or 1m, it is ended.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = units::time_span, allow_hyphen_values = true)]
    pub(crate) case_timeout: Duration,

    /// How much memory a backend process may use
    #[arg(long, value_name = "SIZE", value_parser = units::size, allow_hyphen_values = true)]
    pub(crate) backend_memory: Option<u64>,

    /// The time limit for all checks
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = units::time_span, allow_hyphen_values = true)]
    pub(crate) timeout: Duration,
}

/// Lists the built-in suites, or shows the parts of one
#[derive(Debug, Args)]
pub(crate) struct SuitesArguments {
    /// The suite to show: a name, or the path of a YAML file
    #[arg(value_name = "NAME|PATH", value_hint = ValueHint::FilePath)]
    pub(crate) name: Option<String>,
}

/// Measures how strong a suite is: which planted faults does it find?
///
/// Each mutant is a backend with one fault. For each mutant and each strategy of the suite, a run ends at the
/// first unexpected verdict. The table has the number of cases that this took, or `-` if the mutant survived.
/// The exit code is 1 if a mutant survived the whole suite, unless the suite lacks what the fault needs.
#[derive(Debug, Args)]
#[command(after_help = MUTANTS_EXAMPLES)]
pub(crate) struct MutantsArguments {
    /// The suite to measure: a name, or a YAML file
    #[arg(long, default_value = "smoke", value_name = "NAME|PATH", value_hint = ValueHint::FilePath)]
    pub(crate) suite: String,

    /// The seed of all random choices
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = units::seed, allow_negative_numbers = true)]
    pub(crate) seed: u64,

    /// Only these mutants; commas separate several names
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) mutant: Vec<String>,

    /// The number of threads [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,

    /// List the mutants instead of running them
    #[arg(long)]
    pub(crate) list: bool,

    /// Print only totals and survivors
    ///
    /// Runs the pages' examples and the whole suite, but no single strategy.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

const MUTANTS_EXAMPLES: &str = "\
Examples:
  dmlcts mutants --list
  dmlcts mutants --suite ci
  dmlcts mutants --mutant slice1-stride-at-least-one,padding-every-mode-is-constant";

/// Lists the profiles that a backend can conform to, or shows one
///
/// A profile is a suite, a seed and a feature level, with the hash of the spec and digests of the cases and
/// their expected results.
#[derive(Debug, Args)]
pub(crate) struct ProfilesArguments {
    /// The profile to show
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// Compare its digests with the cases of this program
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
/// A line is a whole case: `dmlcts run`, `show`, `explain` and `judge` take it, in quotes. If an endless
/// suite has a million cases in a row that are left out, the list ends with exit code 2.
#[derive(Debug, Args)]
#[command(after_help = LIST_EXAMPLES)]
pub(crate) struct ListArguments {
    #[command(flatten)]
    pub(crate) selection: Selection,
}

/// Counts the cases of a suite, part by part
///
/// Without --where and --feature-level, no case is generated: exhaustive parts know their size. Notes name
/// cases that a part lacks, such as a clause that no desc breaks alone.
#[derive(Debug, Args)]
pub(crate) struct CountArguments {
    #[command(flatten)]
    pub(crate) selection: Selection,

    /// Count the obligations that the cases exercise
    ///
    /// It names the obligations that no case exercises. An obligation is one thing to test: a clause kept,
    /// broken or met exactly, a question raised, a branch, a mode, a type, a rank, a row of support. Every
    /// case is judged, and none is run.
    #[arg(long, help_heading = heading::CASES)]
    pub(crate) obligations: bool,

    /// Name the pairs that the cases leave out, too
    ///
    /// A pair is a way to break a clause, with a data type, mode, rank or axis. A way is a faulty check that
    /// accepts a desc although it breaks the clause. The list has the pairs that no case shows, and those
    /// that no desc shows, each with the reason.
    #[arg(long, requires = "obligations", help_heading = heading::CASES)]
    pub(crate) pairs: bool,
}

const SHOW_EXAMPLE: &str = "\
Example:
  dmlcts show 'SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=iota'";

const EXPLAIN_EXAMPLE: &str = "\
Example:
  dmlcts explain 'SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=iota'";

const JUDGE_EXAMPLES: &str = "\
Examples:
  dmlcts judge 'SLICE FLOAT32 in=4 out=9 Offsets=0 Sizes=9 Strides=1'
  dmlcts list --strategy negative | dmlcts judge -";

/// Cases, and the feature level at which they are judged.
#[derive(Debug, Args)]
pub(crate) struct CaseArguments {
    /// Cases, as `dmlcts list` prints them; `-` reads standard input
    ///
    /// Standard input holds one case per line; empty lines and lines that begin with `#` are skipped. With
    /// several cases, each result begins with the line of its case.
    #[arg(value_name = "CASE", required = true)]
    pub(crate) cases: Vec<String>,

    /// The feature level to judge at, such as 4.1 [default: the newest]
    #[arg(long, value_name = "LEVEL")]
    pub(crate) feature_level: Option<FeatureLevel>,
}

const INIT_EXAMPLES: &str = "\
Examples:
  dmlcts init python mine
  dmlcts init c .";

/// Writes a backend to start from, and its workflow for GitHub
///
/// It passes as it is written. The folder `findings` beside it is for known findings. No file is replaced.
#[derive(Debug, Args)]
#[command(after_help = INIT_EXAMPLES)]
pub(crate) struct InitArguments {
    /// python, c or rust
    ///
    /// python needs NumPy. c is a shared library in C11. rust is a package whose tests are the gate.
    #[arg(value_name = "LANGUAGE", value_enum, hide_possible_values = true)]
    pub(crate) language: Language,

    /// The folder to write into; it need not exist
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath, value_parser = NonEmptyStringValueParser::new())]
    pub(crate) folder: String,
}

/// The language of a new backend.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Language {
    Python,
    C,
    Rust,
}

const EXPORT_EXAMPLES: &str = "\
Examples:
  dmlcts export --as rust 'SLICE UINT8 in=4 out=2 Offsets=0 Sizes=2 Strides=2'
  dmlcts export --as c 'SLICE UINT8 in=4 out=9 Offsets=0 Sizes=9 Strides=1'";

/// Prints a program that shows a case without dmlcts
///
/// The program has the input, the expected output, and a place for an implementation. It fails if the
/// output differs in one bit. As printed, it computes the output itself. For an invalid desc, rust and c ask
/// whether it is refused.
#[derive(Debug, Args)]
#[command(after_help = EXPORT_EXAMPLES)]
pub(crate) struct ExportArguments {
    /// A case, as `dmlcts list` prints it; `-` reads it from standard input
    #[arg(value_name = "CASE", required = true)]
    pub(crate) cases: Vec<String>,

    /// numpy, onnx, rust, c or javascript
    ///
    /// numpy is a Python program. onnx is a Python program that writes a model with its data, and runs it if
    /// onnxruntime is installed. rust is a file for `rustc --test`, c is a C11 file, and javascript is a
    /// program for Node.
    #[arg(long = "as", value_name = "FORMAT", value_enum, hide_possible_values = true)]
    pub(crate) format: ExportFormat,

    /// The feature level to judge at, such as 4.1 [default: the newest]
    #[arg(long, value_name = "LEVEL")]
    pub(crate) feature_level: Option<FeatureLevel>,
}

/// The language of a program that shows a case.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum ExportFormat {
    Numpy,
    Onnx,
    Rust,
    C,
    Javascript,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SpecCommand {
    /// Checks specs, and reports mistakes
    ///
    /// Without files, it checks the built-in specs. A file named common.yaml replaces the built-in one.
    Check {
        /// YAML files
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        files: Vec<String>,
    },
    /// Shows everything that an operator promises, with citations
    Show {
        /// The operator's name
        #[arg(value_name = "OPERATOR")]
        operator: String,
    },
    /// Lists the operators
    List,
}

/// The name of a file to write. `-` is refused, since the run itself is shown on standard output.
fn file(path: &str) -> Result<String, String> {
    match path {
        "" => Err("the name is empty: name a file".to_owned()),
        "-" => {
            Err("standard output shows the run: name a file, or write ./- for one that is called so"
                .to_owned())
        }
        _ => Ok(path.to_owned()),
    }
}
