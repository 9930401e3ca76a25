//! The options of `run`, and the options that select cases, which other commands share.

use std::time::Duration;

use clap::{Args, FromArgMatches as _, ValueHint, builder::NonEmptyStringValueParser};
use dmlcts_diagnose::ExplainOptions;
use dmlcts_generate::{Order, suite::Strategy};
use dmlcts_model::FeatureLevel;
use dmlcts_results::BackendOptions;
use dmlcts_runner::{Configuration, Difference, Partition, Runs};

use super::{ReportArguments, file, heading};
use crate::{exit, problem::unknown, units};

/// The options that select cases.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = heading::CASES)]
pub(crate) struct Selection {
    /// A suite's name, or a YAML file
    ///
    /// `dmlcts suites` lists the names.
    #[arg(long, default_value = "smoke", value_name = "NAME|PATH", value_hint = ValueHint::FilePath)]
    pub(crate) suite: String,

    /// Only cases for which this predicate holds
    ///
    /// It is written in the language of the specs. `operator` is the operator's name; `valid`, `invalid` and
    /// `open` are the judgement of the desc.
    #[arg(long = "where", value_name = "EXPR")]
    pub(crate) filter: Option<String>,

    /// Only cases of these strategies
    ///
    /// Commas separate several names.
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = strategy)]
    pub(crate) strategy: Vec<Strategy>,

    /// The order: sequential, layered or obligations
    ///
    /// Layered takes a case of each part of the suite in turn, so that the first few hundred have some of
    /// everything. `soak` and `fuzz` have this order anyway. Obligations begins with the cases that meet an
    /// obligation of the spec that no earlier case meets: a few hundred meet all that the suite meets. They
    /// are chosen after `--where` and `--feature-level`, but before `--partition`, so that all parts have the
    /// same order. Cases that the backend lacks something for are chosen, too.
    #[arg(long, value_name = "ORDER", value_parser = order)]
    pub(crate) order: Option<Order>,

    /// The feature level to judge at, such as 4.1
    ///
    /// A backend whose level can be set, such as the reference, is set to it and runs every case. A run on
    /// any other backend, `list` and `count` leave out the cases that only a higher level makes valid.
    #[arg(long, value_name = "LEVEL")]
    pub(crate) feature_level: Option<FeatureLevel>,

    /// The seed of all random choices
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = units::seed, allow_negative_numbers = true)]
    pub(crate) seed: u64,

    /// One of several parts, such as 3/16
    ///
    /// 3/16 is the third of sixteen parts. The hash of a case's line decides its part. All parts together are
    /// exactly the suite. New cases in a suite do not move other cases to another part.
    #[arg(long, value_name = "K/N", allow_hyphen_values = true)]
    pub(crate) partition: Option<Partition>,

    /// The maximum number of cases
    #[arg(
        long,
        value_name = "N",
        value_parser = units::count,
        allow_negative_numbers = true,
        help_heading = heading::LIMITS
    )]
    pub(crate) limit: Option<u64>,

    /// The number of threads [default: one per processor]
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
/// The spec judges every case. The backend runs it, and its output is compared with the expected output bit
/// for bit. Failures are grouped, and a small case of each group is shown.
#[derive(Clone, Debug, Args)]
#[command(after_help = FEW_EXAMPLES, after_long_help = format!("{RUN_EXAMPLES}\n\n{}", exit::HELP))]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(crate) struct RunArguments {
    /// Cases to run instead of a suite; `-` reads standard input
    ///
    /// A case is a line of `dmlcts list`, in quotes. Standard input holds one case per line; empty lines and
    /// lines that begin with `#` are skipped.
    #[arg(value_name = "CASE", conflicts_with_all = ["suite", "strategy"])]
    pub(crate) cases: Vec<String>,

    #[command(flatten)]
    pub(crate) selection: Selection,

    /// Show that the backend conforms to a profile
    ///
    /// The run ends with a statement that can be published. `dmlcts profiles` lists the profiles. A profile
    /// sets the suite, the seed, the feature level and the memory of a case. The statement lists all cases
    /// that the run leaves out or forgives. A run that ends early makes no statement.
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with_all = ["suite", "seed", "filter", "strategy", "limit", "feature_level", "cases", "accept", "runs"],
        help_heading = heading::CASES
    )]
    pub(crate) profile: Option<String>,

    #[command(flatten)]
    pub(crate) limits: LimitArguments,

    #[expect(rustdoc::invalid_html_tags, reason = "a terminal shows it, to which a placeholder is no tag")]
    /// reference, wgpu, directml, exec:<command>, dylib:<path>, mutant:<name>
    ///
    /// `wgpu:` takes a part of an adapter's name. `directml:` takes words, separated by commas. `warp`
    /// selects a GPU in software; `no-metacommands`, `half-precision` and `debug` set how operators are
    /// compiled and observed; any other word is a part of an adapter's name.
    ///
    /// `exec:` starts a process that speaks the protocol of crates/backend/PROTOCOL.md. Spaces separate the
    /// words of its command, quotes group them, and no shell runs.
    ///
    /// `dylib:` loads a shared library that speaks the ABI of crates/backend/include/dmlcts_backend.h.
    ///
    /// A backend of these two kinds is a program with your rights: name only one that you would start
    /// yourself.
    #[arg(
        long,
        value_name = "NAME",
        default_value = BackendOptions::USUAL_BACKEND,
        value_hint = ValueHint::Other,
        help_heading = heading::BACKEND
    )]
    pub(crate) backend: String,

    /// Run a built-in backend on threads
    ///
    /// A process costs a few microseconds for each case, and its faults do not end the run if a driver
    /// crashes or hangs.
    #[arg(long, help_heading = heading::BACKEND)]
    pub(crate) in_process: bool,

    /// How long a process may be silent
    ///
    /// If a backend process has cases and is silent for this time, such as 500ms or 1m, it is ended. Then
    /// dmlcts finds the case that hangs, and a fresh process continues. A backend that compiles may
    /// declare that it needs more (`limits.create_timeout`). With `--in-process`, this is the time limit for
    /// the device of `directml`.
    #[arg(
        long,
        value_name = "TIME",
        default_value = "10s", // as BackendOptions::USUAL_CASE_TIMEOUT
        value_parser = units::time_span,
        allow_hyphen_values = true,
        help_heading = heading::BACKEND
    )]
    pub(crate) case_timeout: Duration,

    /// How much memory a backend process may use
    ///
    /// A process that uses more, such as 2GiB, is ended, and the case is found as for a crash. Its resident
    /// memory counts, and that of the processes that it started, without what they share. It is measured
    /// after each answer, and every 20 ms while none comes. Only on Linux.
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = units::size,
        allow_hyphen_values = true,
        help_heading = heading::BACKEND
    )]
    pub(crate) backend_memory: Option<u64>,

    #[command(flatten)]
    pub(crate) verdicts: VerdictArguments,

    /// Record the result of each case, as JSON lines
    ///
    /// The file is written during the run. `--resume` continues a run that was interrupted. `cargo doc -p
    /// dmlcts-results --open` is the format's specification.
    #[arg(
        long,
        value_name = "PATH",
        value_parser = file,
        value_hint = ValueHint::FilePath,
        help_heading = heading::REPORTS
    )]
    pub(crate) results: Option<String>,

    /// Overwrite the file of --results
    ///
    /// Without this option, a file that is not empty is left unchanged.
    #[arg(long, requires = "results", help_heading = heading::REPORTS)]
    pub(crate) overwrite: bool,

    /// Continue a recorded run that was interrupted
    ///
    /// The rest is recorded in the same file. The other options must be the same as at the start of the run,
    /// except `--timeout`, `--budget`, `--max-failures` and `--max-hangs`: they are not recorded, and count
    /// from each start. A run that started with `--budget` continues with `--budget` or with `--order
    /// obligations`. The summary counts the whole run.
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

    /// Show where the time of a run goes
    ///
    /// The line `timings` has the time to start the backend, to create operators, to run them, the rest of
    /// the time until the answers came (`transfer`), and the host's time to prepare and to judge cases. Each
    /// is summed over the threads, without cases that run again alone. A process works while the host
    /// prepares the next cases, so the times overlap. A backend that does not measure its own work has one
    /// time, `answers`.
    #[arg(long, conflicts_with = "quiet", help_heading = heading::REPORTS)]
    pub(crate) timings: bool,

    /// Print only failures
    #[arg(long, short, help_heading = heading::REPORTS)]
    pub(crate) quiet: bool,
}

/// The limits at which a run ends.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = heading::LIMITS)]
pub(crate) struct LimitArguments {
    /// End after this time, such as 90s or 10m
    ///
    /// The time counts from the start of the program. If cases fail, the last tenth of the time, at most a
    /// minute, is for explaining the failures.
    #[arg(long, value_name = "TIME", value_parser = units::time_span, allow_hyphen_values = true)]
    pub(crate) timeout: Option<Duration>,

    /// As --timeout, with the most telling cases first
    ///
    /// For slow backends, such as 60s: the order is `obligations`. The time counts from the first case, after
    /// the suite is prepared. `--explain` limits the explanation of failures, and this time does not. It
    /// cannot be combined with `--timeout`, `--order`, `--profile` or given cases.
    #[arg(
        long,
        value_name = "TIME",
        value_parser = units::time_span,
        allow_hyphen_values = true,
        conflicts_with_all = ["timeout", "order", "profile", "cases"]
    )]
    pub(crate) budget: Option<Duration>,

    /// The memory of one case, such as 512MiB
    ///
    /// A larger case is created, but not run.
    #[arg(
        long,
        value_name = "SIZE",
        default_value = "1GiB", // as Configuration::USUAL_MEMORY
        value_parser = units::size,
        allow_hyphen_values = true
    )]
    pub(crate) memory: u64,

    /// End at the first unexpected verdict
    #[arg(long, conflicts_with = "max_failures")]
    pub(crate) fail_fast: bool,

    /// End when this number of verdicts is unexpected
    ///
    /// A run that resumes counts only its own. The findings of such a run cannot be accepted.
    #[arg(long, value_name = "N", value_parser = units::end, allow_negative_numbers = true)]
    pub(crate) max_failures: Option<u64>,

    /// End when this number of cases has hung
    ///
    /// If other cases are left then, the exit code is 3. A case that hangs takes three times the time of
    /// `--case-timeout`: once in its batch, and alone in two fresh processes. Without this option, a run
    /// waits for every case that hangs.
    #[arg(long, value_name = "N", value_parser = units::end, allow_negative_numbers = true)]
    pub(crate) max_hangs: Option<u64>,
}

/// How a run judges cases, and what becomes of failures.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = heading::VERDICTS)]
pub(crate) struct VerdictArguments {
    /// Second runs: sampled or once
    ///
    /// An operator must not remember an earlier input. With `sampled`, one case in eight runs a second time
    /// on other data than its `fill`; after the first 262,144 cases it is one in 32. Cases of special values
    /// also run a second time, and so do cases whose output looks like the memory before it. With `once`,
    /// every case runs once, and faults that only a second run shows are not found.
    #[arg(long, value_name = "HOW", default_value = "sampled", value_parser = runs)]
    pub(crate) runs: Runs,

    /// Differences that are not failures
    ///
    /// The kinds are zero-sign, denormal-flushed and nan-canonicalised; commas separate several.
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = difference)]
    pub(crate) allow: Vec<Difference>,

    /// How often a failure is run again
    ///
    /// The case runs again alone. A known failure that passes also runs again. A case whose result changes is
    /// a flake, which is unexpected. The first failures of each group run again, up to the first one that
    /// fails each time. With 0, no case runs again.
    #[arg(
        long,
        value_name = "N",
        default_value_t = Configuration::USUAL_RETRIES,
        value_parser = clap::value_parser!(u32).range(0..=1000),
        allow_negative_numbers = true
    )]
    pub(crate) retries: u32,

    /// Cases for explaining a finding
    ///
    /// A finding is a set of failures with one cause. Experiments check the predicate that separates its
    /// failures from the passes. Failures run again, flakes run after earlier cases, and a failing case is
    /// shrunk. Each finding gets this number of cases, and two hangs; a case counts once more for each 256
    /// KiB of its tensors. Up to 3,000 further cases on each side of a predicate are its evidence; fewer with
    /// a smaller number. A slow backend ends this after a minute of its own time, and after more in
    /// proportion above 2,000 cases. With 0, none of this runs: predicates follow from the run's own cases
    /// and are not confirmed.
    #[arg(
        long,
        value_name = "N",
        default_value_t = ExplainOptions::USUAL_CASES as u32,
        value_parser = units::cases,
        allow_negative_numbers = true
    )]
    pub(crate) explain: u32,

    /// The folder of the backend's known findings
    ///
    /// A folder such as findings/onnxruntime, with a file for each finding. A case that fails as its finding
    /// says is expected. A case that passes or fails in another way is unexpected. The run names the findings
    /// that changed, that are fixed and that fail again, and never writes into the folder. A finding that is
    /// still there keeps its id. Without this option, every failure is unexpected.
    #[arg(long, value_name = "DIR", value_parser = NonEmptyStringValueParser::new(), value_hint = ValueHint::DirPath)]
    pub(crate) findings: Option<String>,

    /// The name of the folder, if it is not that of the backend
    #[arg(long, value_name = "NAME", requires = "findings")]
    pub(crate) name: Option<String>,

    /// Write the findings into the folder of --findings
    ///
    /// As `dmlcts accept`, after the run. The next run expects what this one showed.
    #[arg(long, requires = "findings", conflicts_with_all = ["resume", "fail_fast", "max_failures", "cases"])]
    pub(crate) accept: bool,
}

impl RunArguments {
    /// The arguments of `dmlcts run` without an option.
    pub(crate) fn usual() -> Self {
        let command = Self::augment_args(clap::Command::new("run"));
        let matches = command.get_matches_from(["run"]);
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }

    /// The same options, with those that they stand for.
    pub(crate) fn spelled_out(&self) -> Self {
        let mut arguments = self.clone();
        let limits = &mut arguments.limits;
        if limits.budget.is_some() {
            limits.timeout = limits.budget;
            arguments.selection.order = Some(Order::Obligations);
        }
        if std::mem::take(&mut limits.fail_fast) {
            limits.max_failures = Some(1);
        }
        arguments
    }

    /// The option that limits the time, as the user wrote it.
    pub(crate) fn time_limit(&self) -> Option<&'static str> {
        let timeout = self.limits.timeout.map(|_| "--timeout");
        self.limits.budget.map(|_| "--budget").or(timeout)
    }
}

fn strategy(name: &str) -> Result<Strategy, String> {
    Strategy::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = Strategy::ALL.into_iter().map(Strategy::name).collect();
        unknown("strategy", name, &names)
    })
}

fn order(name: &str) -> Result<Order, String> {
    Order::from_id(name).ok_or_else(|| unknown("order", name, &Order::ALL.map(Order::id)))
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
