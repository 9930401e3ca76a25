//! The options of `run`, and those that choose cases, which other commands have, too.

use std::time::Duration;

use clap::{Args, ValueHint};
use dmlcts_generate::suite::Strategy;
use dmlcts_model::FeatureLevel;
use dmlcts_results::Asked;
use dmlcts_runner::{Configuration, Difference, Partition, Runs};

use super::{ReportArguments, file, heading};
use crate::{exit, problem::unknown, units};

/// Which cases of which suite.
#[derive(Clone, Debug, Args)]
pub(crate) struct Selection {
    /// A suite's name, or a YAML file
    ///
    /// `dmlcts suites` lists the names.
    #[arg(
        long,
        default_value = "smoke",
        value_name = "NAME|PATH",
        value_hint = ValueHint::FilePath,
        help_heading = heading::CASES
    )]
    pub(crate) suite: String,

    /// Only cases for which this predicate holds
    ///
    /// It is written in the language of the specs. `operator` is the operator's name; `valid`, `invalid` and `open` say how the desc is judged.
    #[arg(long = "where", value_name = "EXPR", help_heading = heading::CASES)]
    pub(crate) filter: Option<String>,

    /// Only cases that these strategies make
    ///
    /// Commas separate the names of several.
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        value_parser = strategy,
        help_heading = heading::CASES
    )]
    pub(crate) strategy: Vec<Strategy>,

    /// The feature level to judge at, such as 4.1
    ///
    /// A backend that can be set to a level, as the reference can, is set to it and takes every case.
    /// A run on any other backend, `list` and `count` leave out the cases that only a higher level makes valid.
    #[arg(long, value_name = "LEVEL", help_heading = heading::CASES)]
    pub(crate) feature_level: Option<FeatureLevel>,

    /// The seed of everything that is drawn
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        value_parser = units::seed,
        allow_negative_numbers = true,
        help_heading = heading::CASES
    )]
    pub(crate) seed: u64,

    /// One of several parts, such as 3/16
    ///
    /// 3/16 is the third of sixteen parts. The hash of a case's line says to which part it belongs. Together the parts are exactly the suite, and adding cases to a suite moves none of the others.
    #[arg(long, value_name = "K/N", allow_hyphen_values = true, help_heading = heading::CASES)]
    pub(crate) partition: Option<Partition>,

    /// The greatest number of cases
    #[arg(
        long,
        value_name = "N",
        value_parser = units::count,
        allow_negative_numbers = true,
        help_heading = heading::LIMITS
    )]
    pub(crate) limit: Option<u64>,

    /// The number of threads [default: one a processor]
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..=1024),
        allow_negative_numbers = true,
        help_heading = heading::LIMITS
    )]
    pub(crate) jobs: Option<u16>,
}

const FEW_EXAMPLES: &str = "\
Examples:
  dmlcts run --suite ci --backend 'exec:python3 mine.py'
  dmlcts run 'SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=iota'
  dmlcts run - < cases.txt

`dmlcts run --help` says more of each option, and lists the exit codes.";

const RUN_EXAMPLES: &str = "\
Examples:
  dmlcts run
  dmlcts run --suite ci --backend wgpu
  dmlcts run --profile directml-6.4 --backend wgpu
  dmlcts run --where 'operator == PADDING1 and PaddingMode == REFLECTION' --limit 1000
  dmlcts run --suite soak --timeout 10m --seed 7
  dmlcts run --suite exhaustive --partition 3/16 --results part-3.jsonl
  dmlcts run 'SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=iota'
  dmlcts run - < cases.txt";

/// Runs a suite, or the cases given, on a backend
///
/// Every case is judged by the spec, put to the backend, and what the backend does is compared with what the spec says, bit for bit. Failures are grouped, and a small case of each group is shown.
#[derive(Clone, Debug, Args)]
#[command(after_help = FEW_EXAMPLES, after_long_help = format!("{RUN_EXAMPLES}\n\n{}", exit::HELP))]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(crate) struct RunArguments {
    /// Cases to run instead of a suite; `-` reads standard input
    ///
    /// A case is a line of `dmlcts list`, in quotes. Standard input holds one case a line; empty lines and lines that begin with `#` are passed over.
    #[arg(value_name = "CASE", conflicts_with_all = ["suite", "strategy"])]
    pub(crate) cases: Vec<String>,

    #[command(flatten)]
    pub(crate) selection: Selection,

    /// Show that the backend conforms to a profile
    ///
    /// The run ends with a statement that can be published. `dmlcts profiles` lists the profiles. A profile stands for a suite, a seed, a feature level and the memory that a case may take. What the run
    /// leaves out or forgives is in the statement; a run that is cut short makes none.
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with_all = ["suite", "seed", "filter", "strategy", "limit", "feature_level", "cases", "bless", "runs"],
        help_heading = heading::CASES
    )]
    pub(crate) profile: Option<String>,

    /// End after this time, such as 90s or 10m
    ///
    /// It counts from the start of the program.
    #[arg(
        long,
        value_name = "TIME",
        value_parser = units::time_span,
        allow_hyphen_values = true,
        help_heading = heading::LIMITS
    )]
    pub(crate) timeout: Option<Duration>,

    /// The memory of one case, such as 512MiB
    ///
    /// Larger cases are created and not run.
    #[arg(
        long,
        value_name = "SIZE",
        default_value = "1GiB", // as DEFAULT_MEMORY
        value_parser = units::size,
        allow_hyphen_values = true,
        help_heading = heading::LIMITS
    )]
    pub(crate) memory: u64,

    /// End at the first verdict that is not expected
    #[arg(long, help_heading = heading::LIMITS)]
    pub(crate) fail_fast: bool,

    /// End when this number of cases has hung
    ///
    /// The exit code is 3 where other cases are left. A case that hangs takes the time of `--case-timeout` twice: when it hangs, and alone in a fresh process. Without this option, a run waits for all of them.
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u64).range(1..),
        allow_negative_numbers = true,
        help_heading = heading::LIMITS
    )]
    pub(crate) max_hangs: Option<u64>,

    #[expect(rustdoc::invalid_html_tags, reason = "a terminal shows it, to which a placeholder is no tag")]
    /// reference, wgpu, directml, exec:<command> or dylib:<path>
    ///
    /// `wgpu:` takes a part of an adapter's name. `directml:` takes words with commas between them: `warp` for a GPU in software, `no-metacommands`, `half-precision` and `debug` for how operators are compiled and watched; any other is a part of an adapter's name.
    ///
    /// `exec:` starts a process that speaks the protocol of crates/backend/PROTOCOL.md. Blanks separate the words of its command, quotes hold them together, and no shell is asked.
    ///
    /// `dylib:` loads a shared library that speaks the ABI of crates/backend/include/dmlcts_backend.h.
    ///
    /// A backend of either kind is a program with your rights: name only one that you would start yourself.
    #[arg(
        long,
        value_name = "NAME",
        default_value = Self::DEFAULT_BACKEND,
        value_hint = ValueHint::Other,
        help_heading = heading::BACKEND
    )]
    pub(crate) backend: String,

    /// Run a built-in backend on threads, not in processes
    ///
    /// A process costs a few microseconds a case, and survives a driver that crashes or hangs.
    #[arg(long, help_heading = heading::BACKEND)]
    pub(crate) in_process: bool,

    /// How long a process may be silent
    ///
    /// A backend in another process that has cases, and is silent for this time, such as 500ms or 1m, is ended. Then the case that it hangs on is found, and a fresh process goes on with the next one. With `--in-process`, it is how long the device of `directml` may take.
    #[arg(
        long,
        value_name = "TIME",
        default_value = "10s", // as DEFAULT_CASE_TIMEOUT
        value_parser = units::time_span,
        allow_hyphen_values = true,
        help_heading = heading::BACKEND
    )]
    pub(crate) case_timeout: Duration,

    /// Second runs: sampled or once
    ///
    /// An operator must not remember what it ran on before. With `sampled`, one case in eight runs a second time on other data than its `fill`; behind the first 262,144 cases it is one in 32. Cases of special values run a second time, too, as does a case whose output looks like the memory before it. With `once`, no case does, and what only a second run shows is not found.
    #[arg(long, value_name = "HOW", default_value = "sampled", value_parser = runs, help_heading = heading::VERDICTS)]
    pub(crate) runs: Runs,

    /// Differences that are no failures
    ///
    /// The kinds are zero-sign, denormal-flushed and nan-canonicalised; commas separate several.
    #[arg(
        long,
        value_name = "KIND",
        value_delimiter = ',',
        value_parser = difference,
        help_heading = heading::VERDICTS
    )]
    pub(crate) allow: Vec<Difference>,

    /// How often a failure is run again
    ///
    /// It is run alone. A known failure that passes is run again, too. What changes then is a flake, which is unexpected. It is done with the first failures of each group, up to one that fails each time. 0 takes every case as it is found.
    #[arg(
        long,
        value_name = "N",
        default_value_t = Self::DEFAULT_RETRIES,
        value_parser = clap::value_parser!(u32).range(0..=1000),
        allow_negative_numbers = true,
        help_heading = heading::VERDICTS
    )]
    pub(crate) retries: u32,

    /// A list of what is known to fail
    ///
    /// Lists are files as in cases/known-failures, each with the failures of one backend. A case that fails as its entry says is expected to; one that passes, or fails in another way, is not. A whole run of a suite that an entry names also says which entries are untrue, and what to change. No list is taken by itself.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = heading::VERDICTS)]
    pub(crate) known_failures: Vec<String>,

    /// List what fails as known failures in a file
    ///
    /// What is there and still true stays. For failures that have their operator and class in common, it finds a short predicate that no case keeps which passes, or lists the cases, up to 100; what is left it names. Whatever the list is to say something new of runs again first (`--retries`), and what does not fail each time is left out. Entries that are as they were keep their text and its comments; of one that changes, only the comments above it stay. Only a whole run of a suite can be blessed, and none in which something crashed, hung or was lost.
    #[arg(
        long,
        value_name = "FILE",
        value_parser = file,
        value_hint = ValueHint::FilePath,
        conflicts_with_all = ["resume", "fail_fast", "cases"],
        help_heading = heading::VERDICTS
    )]
    pub(crate) bless: Option<String>,

    /// Record what becomes of each case, as JSON lines
    ///
    /// The file is written while the run goes on. A run that was cut off goes on by --resume. `cargo doc -p dmlcts-results --open` is the format's specification.
    #[arg(
        long,
        value_name = "PATH",
        value_parser = file,
        value_hint = ValueHint::FilePath,
        help_heading = heading::REPORTS
    )]
    pub(crate) results: Option<String>,

    /// Write over the file of --results
    ///
    /// Without this, a file that has something in it is left as it is.
    #[arg(long, requires = "results", help_heading = heading::REPORTS)]
    pub(crate) overwrite: bool,

    /// Go on with a recorded run that was cut off
    ///
    /// The rest is recorded in the same file. The other options must be those that the run was started with. The summary counts the whole run.
    #[arg(
        long,
        value_name = "PATH",
        value_parser = file,
        value_hint = ValueHint::FilePath,
        conflicts_with = "results",
        help_heading = heading::REPORTS
    )]
    pub(crate) resume: Option<String>,

    #[command(flatten)]
    pub(crate) reports: ReportArguments,

    /// Print nothing but failures
    #[arg(long, short, help_heading = heading::REPORTS)]
    pub(crate) quiet: bool,
}

impl RunArguments {
    /// Who answers where nobody is named: the one that every machine has.
    pub(crate) const DEFAULT_BACKEND: &str = Asked::USUAL_BACKEND;
    /// How often a failure is run again where no number is given.
    pub(crate) const DEFAULT_RETRIES: u32 = Configuration::USUAL_RETRIES;
    /// What one case may take where no size is given.
    pub(crate) const DEFAULT_MEMORY: u64 = Configuration::USUAL_MEMORY;
    /// How long a process may be silent where no time is given.
    pub(crate) const DEFAULT_CASE_TIMEOUT: Duration = Asked::USUAL_CASE_TIMEOUT;
}

fn strategy(name: &str) -> Result<Strategy, String> {
    Strategy::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = Strategy::ALL.into_iter().map(Strategy::name).collect();
        unknown("strategy", name, &names)
    })
}

fn runs(name: &str) -> Result<Runs, String> {
    Runs::from_id(name).ok_or_else(|| {
        let names = Runs::ALL.map(Runs::id);
        unknown("number of runs", name, &names)
    })
}

fn difference(name: &str) -> Result<Difference, String> {
    let allowed = [Difference::ZeroSign, Difference::DenormalFlushed, Difference::NanCanonicalised];
    allowed.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
        let names: Vec<&str> = allowed.into_iter().map(Difference::name).collect();
        unknown("kind of difference that can be allowed", name, &names)
    })
}
