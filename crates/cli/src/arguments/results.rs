//! The options of what is done with results, and of the reports that are made of them.

use clap::{Args, ValueHint};

use super::{file, heading};
use crate::exit;

/// Reports in files, beside what is printed.
#[derive(Clone, Debug, Args)]
pub(crate) struct ReportArguments {
    /// Write a report into this file, as JUnit's XML
    ///
    /// A test is what one strategy made of one operator, so that names stay the same from run to run; a test that fails lists its failures in groups. What was in the file is replaced.
    #[arg(
        long,
        value_name = "PATH",
        value_parser = file,
        value_hint = ValueHint::FilePath,
        help_heading = heading::REPORTS
    )]
    pub(crate) junit: Option<String>,

    /// Write a report at the end of this file, as Markdown
    ///
    /// In GitHub Actions, "$GITHUB_STEP_SUMMARY" is such a file.
    #[arg(
        long,
        value_name = "PATH",
        value_parser = file,
        value_hint = ValueHint::FilePath,
        help_heading = heading::REPORTS
    )]
    pub(crate) markdown: Option<String>,

    /// Keep answers to open questions, and say what changed
    ///
    /// A file has an entry for each backend, device, driver and suite, which a run to the end of the suite replaces. A new driver is compared with the last one. What changes fails nothing. `dmlcts ledger` shows the file.
    #[arg(
        long,
        value_name = "PATH",
        value_parser = file,
        value_hint = ValueHint::FilePath,
        help_heading = heading::REPORTS
    )]
    pub(crate) ledger: Option<String>,
}

const MERGE_EXAMPLES: &str = "\
Examples:
  dmlcts merge part-*.jsonl --results whole.jsonl
  dmlcts merge run.jsonl";

/// Joins the results files of a run that several machines shared
///
/// The parts are those of --partition. The summary counts all parts, and the exit code is that of the whole. Parts that are missing, twice there or of different runs are named. A single file of a whole run is summed up as it is.
#[derive(Debug, Args)]
#[command(after_help = MERGE_EXAMPLES, after_long_help = format!("{MERGE_EXAMPLES}\n\n{}", exit::HELP))]
pub(crate) struct MergeArguments {
    /// The files, in any order
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<String>,

    /// Write the whole run into this file
    ///
    /// The file is what a run on one machine would have written.
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

    /// Taken to say where it belongs
    #[arg(long, hide = true, value_name = "FILE")]
    pub(crate) known_failures: Vec<String>,

    #[command(flatten)]
    pub(crate) reports: ReportArguments,

    /// Print nothing but failures
    #[arg(long, short, help_heading = heading::REPORTS)]
    pub(crate) quiet: bool,
}

const DIFF_EXIT: &str = "\
Exit codes:
  0    nothing got worse: cases came to the same, were fixed, are new and as expected, or are gone
  1    a case broke or changed, a new one fails, or cases are gone from a new run that is not complete, or a part
  2    wrong usage or bad input: files that do not add up, or have no case in common
  3    the machine failed";

/// Compares two results files case by case
///
/// It says which cases were fixed, broken, changed, are new or are gone. A case is known by its line, so that runs of different suites, specs, versions and backends can be compared. A case is fixed or broken where its verdict is expected in one run only, and changed where it is expected in both or in neither, and is not the same: skipped instead of passed, another way to fail. One that was skipped and passes now is fixed. One that has another answer to an open question is answered otherwise, which is no worse.
#[derive(Debug, Args)]
#[command(after_help = DIFF_EXIT)]
pub(crate) struct DiffArguments {
    /// The results file of the run before
    #[arg(value_name = "OLD", value_hint = ValueHint::FilePath)]
    pub(crate) old: String,

    /// The results file of the run after
    #[arg(value_name = "NEW", value_hint = ValueHint::FilePath)]
    pub(crate) new: String,
}

const FAILURES_EXAMPLES: &str = "\
Examples:
  dmlcts failures run.jsonl | head
  dmlcts failures run.jsonl | sh
  dmlcts failures run.jsonl | grep timed-out";

/// Lists the failed cases of a results file, each as a command
///
/// The command runs the case again. Behind a command stands in which way its case failed. A run that goes on can be looked at, too. The commands ask the backend that the file names, `header.backend.argument`, and `exec:` and `dylib:` there run what they name: pipe them into a shell only where you trust the file. All other words of the file are quoted, and a value outside of its set ends the program with exit code 2.
#[derive(Debug, Args)]
#[command(after_help = FAILURES_EXAMPLES)]
pub(crate) struct FailuresArguments {
    /// The file that `--results` of `run` or `merge` wrote
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: String,

    /// List those, too, that failed as they are known to
    #[arg(long)]
    pub(crate) known: bool,
}

/// Shows a ledger: what backends answer to open questions
///
/// For each question it shows what is asked and who leaves it open, and each answer with the backends that gave it, the number of their cases and one of these. A star marks a question whose answers contradict each other.
#[derive(Debug, Args)]
pub(crate) struct LedgerArguments {
    /// The file that `--ledger` of `run` or `merge` wrote
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: String,
}
