//! The options of the commands that read results, and the options of reports.

use clap::{Args, Subcommand, ValueHint, builder::NonEmptyStringValueParser};
use dmlcts_model::FeatureLevel;

use super::{BackendArguments, file, heading};
use crate::exit;

/// Options for reports.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = heading::REPORTS)]
pub(crate) struct ReportArguments {
    /// Write a report to this file, as JUnit XML
    ///
    /// A test is one strategy and one operator, so that names stay the same from run to run. A failing test
    /// names its findings. Each finding is one more failing test. The file is overwritten.
    #[arg(long, value_name = "PATH", value_parser = file, value_hint = ValueHint::FilePath)]
    pub(crate) junit: Option<String>,

    /// Append a report to this file, as Markdown
    ///
    /// In GitHub Actions, "$GITHUB_STEP_SUMMARY" is such a file.
    #[arg(long, value_name = "PATH", value_parser = file, value_hint = ValueHint::FilePath)]
    pub(crate) markdown: Option<String>,

    /// Write a report to this file, as one HTML page
    ///
    /// It has the findings with their tensors, the clauses, the answers to open questions, and a table of the
    /// failed cases with a filter. The page loads nothing from a network. The file is overwritten.
    #[arg(long, value_name = "PATH", value_parser = file, value_hint = ValueHint::FilePath)]
    pub(crate) html: Option<String>,

    /// Print each finding as a GitHub workflow command
    ///
    /// GitHub Actions shows up to ten of them at the top of a job's page.
    #[arg(long)]
    pub(crate) annotations: bool,

    /// Show all findings in full, with whole predicates
    #[arg(long)]
    pub(crate) all: bool,
}

const MERGE_EXAMPLES: &str = "\
Examples:
  dmlcts merge part-*.jsonl --results whole.jsonl
  dmlcts merge run.jsonl";

/// Joins the results files of a run that several machines shared
///
/// The parts are those of --partition. The summary counts all parts, and the exit code is for the whole run.
/// It names parts that are missing, duplicate or of different runs. Its findings are those of a whole run
/// with `--explain 0`. Predicates that the experiments of a part confirmed stay if they are exact for
/// the whole run. A single file of a whole run gets its summary.
#[derive(Debug, Args)]
#[command(after_help = MERGE_EXAMPLES, after_long_help = format!("{MERGE_EXAMPLES}\n\n{}", exit::HELP))]
#[command(next_help_heading = heading::REPORTS)]
pub(crate) struct MergeArguments {
    /// The files, in any order
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath, help_heading = None)]
    pub(crate) files: Vec<String>,

    /// Write the whole run to this file
    ///
    /// It has the cases and verdicts that a run on one machine would have.
    #[arg(long, value_name = "PATH", value_parser = file, value_hint = ValueHint::FilePath)]
    pub(crate) results: Option<String>,

    /// Overwrite the file of --results
    ///
    /// Without this option, a file that is not empty is left unchanged.
    #[arg(long, requires = "results")]
    pub(crate) overwrite: bool,

    #[command(flatten)]
    pub(crate) reports: ReportArguments,

    /// Print only failures
    #[arg(long, short)]
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
/// It lists the cases that were fixed, broken or changed, are new or are gone. Cases are matched by their
/// lines, so that runs of different suites, specs, versions and backends can be compared. A case is fixed or
/// broken if its verdict is expected in one run only. It is changed if it is expected in both runs or in
/// neither, and differs: skipped instead of passed, or another way to fail. A case that was skipped and
/// passes in the new run is fixed. A case with another answer to an open question is answered differently,
/// which is no worse.
#[derive(Debug, Args)]
#[command(after_help = DIFF_EXIT)]
pub(crate) struct DiffArguments {
    /// The results file of the older run
    #[arg(value_name = "OLD", value_hint = ValueHint::FilePath)]
    pub(crate) old: String,

    /// The results file of the newer run
    #[arg(value_name = "NEW", value_hint = ValueHint::FilePath)]
    pub(crate) new: String,

    /// Also write the differences to this file, as one HTML page
    ///
    /// It has the changes, the findings, the clauses and answers of both runs, and a table of the cases that
    /// differ, with a filter. The page loads nothing from a network. The file is overwritten.
    #[arg(long, value_name = "PATH", value_parser = file, value_hint = ValueHint::FilePath)]
    pub(crate) html: Option<String>,

    /// Also write the differences to this file, as Markdown
    ///
    /// It can be a comment on a pull request. The file is overwritten.
    #[arg(long, value_name = "PATH", value_parser = file, value_hint = ValueHint::FilePath)]
    pub(crate) markdown: Option<String>,
}

const FAILURES_EXAMPLES: &str = "\
Examples:
  dmlcts failures run.jsonl | head
  dmlcts failures run.jsonl | sh
  dmlcts failures run.jsonl | grep timed-out";

/// Lists the failed cases of a results file, each as a command
///
/// Each command runs a case again, followed by the way in which the case failed and the id of its finding.
/// The file of an unfinished run can be read, too; it has no findings. The commands use the backend that the
/// file names in `header.backend.argument`. `exec:` and `dylib:` there run the program that they name: pipe
/// the commands into a shell only if you trust the file. All other words of the file are quoted. A value
/// outside its set ends the program with exit code 2.
#[derive(Debug, Args)]
#[command(after_help = FAILURES_EXAMPLES)]
pub(crate) struct FailuresArguments {
    /// The file that `--results` of `run` or `merge` wrote
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: String,

    /// Also list the cases that failed as known
    #[arg(long)]
    pub(crate) known: bool,
}

const ACCEPT_EXAMPLES: &str = "\
Examples:
  dmlcts accept findings/mine --from run.jsonl
  dmlcts accept findings/mine --from run.jsonl slice-refused-valid-1f0a

Exit codes:
  0    every finding was written
  1    some cannot become known; each is named with the reason
  2    wrong usage or bad input; nothing was written";

/// Writes the findings of a run into a folder, so that later runs expect them
///
/// Each finding is a file, with a predicate, the smallest case and what the backend does with it. A finding
/// that is there already keeps its id, its comments and a person's words: `reason`, `link`, `kind`,
/// `partial`, `flaky` and `applies`. A known finding whose cases pass gets the status `fixed`. What comes and
/// goes, a time-out and a lack of memory cannot become known.
#[derive(Debug, Args)]
#[command(after_help = ACCEPT_EXAMPLES)]
pub(crate) struct AcceptArguments {
    /// The folder of one backend, such as findings/mine
    #[arg(value_name = "DIR", value_parser = NonEmptyStringValueParser::new(), value_hint = ValueHint::DirPath)]
    pub(crate) folder: String,

    /// Only these findings; all of the run without an id
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,

    /// The file that `--results` of `run` or `merge` wrote
    #[arg(long, value_name = "FILE", value_parser = file, value_hint = ValueHint::FilePath)]
    pub(crate) from: String,

    /// The name of the folder, if it is not that of the backend
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
}

const FINDINGS_EXAMPLES: &str = "\
Examples:
  dmlcts findings findings/mine
  dmlcts findings findings/mine --html findings.html
  dmlcts findings add findings/mine --backend 'exec:python3 mine.py' crash-0a1b
  dmlcts findings merge findings/mine other/findings/mine";

/// Lists the findings of a folder, one line each
///
/// A line has the status, the kind, the id and the first line of the reason. Every file is checked. Write
/// `./merge` for a folder that is called `merge`, since that is a command, and `./add` for one called `add`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    after_help = FINDINGS_EXAMPLES
)]
pub(crate) struct FindingsArguments {
    #[command(subcommand)]
    pub(crate) command: Option<FindingsCommand>,

    #[command(flatten)]
    pub(crate) list: Option<ListFindingsArguments>,
}

/// The options that list findings.
#[derive(Debug, Args)]
pub(crate) struct ListFindingsArguments {
    /// The folder of one backend, such as findings/mine
    #[arg(value_name = "DIR", value_parser = NonEmptyStringValueParser::new(), value_hint = ValueHint::DirPath)]
    pub(crate) folder: String,

    /// Also write the findings to this file, as a Markdown table
    ///
    /// The file is overwritten.
    #[arg(long, value_name = "PATH", value_parser = file, value_hint = ValueHint::FilePath)]
    pub(crate) markdown: Option<String>,

    /// Also write the findings to this file, as one HTML page
    ///
    /// The page loads nothing from a network. The file is overwritten.
    #[arg(long, value_name = "PATH", value_parser = file, value_hint = ValueHint::FilePath)]
    pub(crate) html: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FindingsCommand {
    Add(AddFindingsArguments),
    Merge(MergeFindingsArguments),
}

const ADD_FINDINGS_EXAMPLES: &str = "\
Examples:
  dmlcts findings add findings/mine --backend 'exec:python3 mine.py' fuzz/artifacts/ops/crash-0a1b
  dmlcts findings add findings/mine 'SLICE UINT8 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=iota'

Exit codes:
  0    every failure is in the folder
  1    some cannot become known; each is named with the reason
  2    wrong usage or bad input, or no case fails; nothing was written
  3    the backend or the machine failed";

/// Runs cases, and writes their findings into a folder
///
/// A crash file of a fuzz target holds such a case. The failures are explained and shrunk as in the run of a
/// suite, and written as `dmlcts accept` does. The folder is made if there is none.
#[derive(Debug, Args)]
#[command(after_help = ADD_FINDINGS_EXAMPLES)]
pub(crate) struct AddFindingsArguments {
    /// The folder to write, such as findings/mine
    #[arg(value_name = "DIR", value_parser = NonEmptyStringValueParser::new(), value_hint = ValueHint::DirPath)]
    pub(crate) folder: String,

    /// Cases in quotes, or files with one case per line; `-` reads standard input
    ///
    /// A word without a space names a file. Empty lines and lines that begin with `#` are skipped.
    #[arg(value_name = "CASE|FILE", required = true, value_hint = ValueHint::FilePath)]
    pub(crate) cases: Vec<String>,

    /// The name of the folder, if it is not that of the backend
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// The feature level to judge at, as for `run`
    #[arg(long, value_name = "LEVEL")]
    pub(crate) feature_level: Option<FeatureLevel>,

    #[command(flatten)]
    pub(crate) backend: BackendArguments,
}

const MERGE_FINDINGS_EXAMPLES: &str = "\
Example:
  dmlcts findings merge findings/mine other/findings/mine

Exit codes:
  0    every finding was joined
  2    wrong usage or bad input, or findings that cannot be joined; nothing was written
  3    the machine failed";

/// Joins the findings of a folder into another folder of the same backend
///
/// A finding that only FROM has is copied. If both folders have a finding, INTO keeps a person's words:
/// `status`, `reason`, `link`, `kind`, `partial`, `flaky`, `applies` and comments. The predicate, the
/// classes, the cases and the evidence are those of the file that was seen last. If `seen` does not tell
/// which one that is, the command names both files and writes nothing. FROM is only read.
#[derive(Debug, Args)]
#[command(after_help = MERGE_FINDINGS_EXAMPLES)]
pub(crate) struct MergeFindingsArguments {
    /// The folder to write, such as findings/mine
    #[arg(value_name = "INTO", value_parser = NonEmptyStringValueParser::new(), value_hint = ValueHint::DirPath)]
    pub(crate) into: String,

    /// The folder to read
    #[arg(value_name = "FROM", value_parser = NonEmptyStringValueParser::new(), value_hint = ValueHint::DirPath)]
    pub(crate) from: String,

    /// The name of the folder INTO, if it is not that of FROM
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
}
