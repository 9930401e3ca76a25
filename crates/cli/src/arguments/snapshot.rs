//! The options of `dmlcts snapshot`.

use std::time::Duration;

use clap::{Args, Subcommand, ValueHint, builder::NonEmptyStringValueParser};
use dmlcts_snapshots::{Folder, SnapshotError};

use super::{OfSuiteArguments, file, heading};
use crate::units;

const EXAMPLES: &str = "\
Examples:
  dmlcts snapshot --backend 'exec:python3 mine.py'
  dmlcts snapshot --from run.jsonl
  dmlcts snapshot diff
  dmlcts snapshot review

Exit codes:
  0    nothing changed
  1    a change waits for a review
  2    wrong usage or bad input: an incomplete run, a snapshot that was edited by hand
  3    the backend or the machine failed; nothing was written";

/// Compares a backend with its accepted snapshot
///
/// A snapshot has the findings of a backend, its answers to open questions, how it refuses invalid descs, and
/// what it lacks. A change is written beside the accepted file, as NAME/SUITE.snap.new. `snapshot diff` shows
/// it, and `snapshot accept` or `cargo insta review` accepts it. Driver and version are shown and not
/// compared.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
pub(crate) struct SnapshotArguments {
    #[command(subcommand)]
    pub(crate) command: Option<SnapshotCommand>,

    #[command(flatten)]
    pub(crate) make: MakeArguments,
}

/// The options that make a snapshot.
#[derive(Debug, Args)]
pub(crate) struct MakeArguments {
    #[command(flatten)]
    pub(crate) all: AllArguments,

    /// The backend's folder in it [default: the backend's name]
    ///
    /// A name has 1 to 60 letters a-z, digits and hyphens.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// Take a recorded run instead of running a suite
    ///
    /// FILE is a results file of a whole suite. `merge` makes one of the parts of a run.
    #[arg(
        long,
        value_name = "FILE",
        value_parser = file,
        value_hint = ValueHint::FilePath,
        conflicts_with_all = ["suite", "filter", "seed", "jobs", "timeout", "backend", "in_process", "case_timeout", "backend_memory"],
    )]
    pub(crate) from: Option<String>,

    /// Keep the wrong outputs of the examples in this folder
    ///
    /// Each is a file of at most 64 KiB, and stays. `diff --outputs` and `review --outputs` show old and new
    /// ones from the same folder. A results file does not have these bytes.
    #[arg(
        long,
        value_name = "DIR",
        value_parser = NonEmptyStringValueParser::new(),
        value_hint = ValueHint::DirPath,
        conflicts_with = "from"
    )]
    pub(crate) outputs: Option<String>,

    /// A suite's name, or a YAML file
    #[arg(
        long,
        default_value = "ci",
        value_name = "NAME|PATH",
        value_hint = ValueHint::FilePath,
        help_heading = heading::CASES
    )]
    pub(crate) suite: String,

    #[command(flatten)]
    pub(crate) of_suite: OfSuiteArguments,

    /// End after this time, such as 10m; nothing is written then
    #[arg(long, value_name = "TIME", value_parser = units::time_span, help_heading = heading::LIMITS)]
    pub(crate) timeout: Option<Duration>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SnapshotCommand {
    /// Shows the changes that wait for a review, the worst first
    ///
    /// The first line names what changed beside the backend: driver, suite, spec. At most eight changes of a
    /// snapshot are shown with an example. The exit code is 1 if anything waits.
    Diff(ShowDiffArguments),
    /// Shows each change, and asks whether to accept it
    ///
    /// `a` accepts, `r` rejects, `s` or an empty line skips, `q` ends. The answers are lines of standard
    /// input.
    Review(ReviewArguments),
    /// Accepts the changes
    Accept(NamedArguments),
    /// Removes the changes; what was accepted stays
    Reject(NamedArguments),
    /// Checks that nothing waits for a review or is out of date
    ///
    /// Each pending, orphaned or outdated file is an error with its remedy. The exit code is 1 then.
    Check(AllArguments),
    /// Shows snapshots, several side by side
    ///
    /// For each finding, question and clause in which the backends differ, it shows what each of them does.
    Show(ShowArguments),
}

/// The folder.
#[derive(Debug, Args)]
pub(crate) struct AllArguments {
    /// The folder of the snapshots [default: snapshots]
    #[arg(
        long,
        value_name = "PATH",
        value_parser = NonEmptyStringValueParser::new(),
        value_hint = ValueHint::DirPath
    )]
    pub(crate) dir: Option<String>,
}

impl AllArguments {
    /// The folder.
    pub(crate) fn folder(&self) -> Result<Folder, SnapshotError> {
        self.dir.as_ref().map_or_else(Folder::usual, |dir| Ok(Folder::new(dir)))
    }
}

/// Snapshots of a folder.
#[derive(Debug, Args)]
pub(crate) struct NamedArguments {
    /// Only these: a backend's folder, or a folder and a suite
    ///
    /// Such as `reference` or `reference/ci`. Without names, it means all.
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,

    #[command(flatten)]
    pub(crate) all: AllArguments,
}

/// A folder of outputs to show.
#[derive(Debug, Args)]
pub(crate) struct OutputsArguments {
    /// Show the expected, old and new outputs of examples; the last two from DIR
    ///
    /// `dmlcts snapshot --outputs` fills the folder. The page of the changes shows the outputs.
    #[arg(
        long,
        value_name = "DIR",
        value_parser = NonEmptyStringValueParser::new(),
        value_hint = ValueHint::DirPath
    )]
    pub(crate) outputs: Option<String>,
}

/// Snapshots of a folder to review.
#[derive(Debug, Args)]
pub(crate) struct ReviewArguments {
    #[command(flatten)]
    pub(crate) named: NamedArguments,

    #[command(flatten)]
    pub(crate) outputs: OutputsArguments,
}

/// Snapshots of a folder to show.
#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    #[command(flatten)]
    pub(crate) named: NamedArguments,

    /// Also show what is the same in several snapshots
    ///
    /// A star marks what differs.
    #[arg(long)]
    pub(crate) all: bool,
}

/// Snapshots of a folder, and the report about them.
#[derive(Debug, Args)]
pub(crate) struct ShowDiffArguments {
    #[command(flatten)]
    pub(crate) named: NamedArguments,

    /// Write the changes to this file, as Markdown
    ///
    /// It can be the text of a pull request. The file is overwritten.
    #[arg(long, value_name = "PATH", value_parser = file, value_hint = ValueHint::FilePath)]
    pub(crate) markdown: Option<String>,

    /// Write the changes to this file, as one HTML page
    ///
    /// It has all changes. The page loads nothing from a network. The file is overwritten.
    #[arg(long, value_name = "PATH", value_parser = file, value_hint = ValueHint::FilePath)]
    pub(crate) html: Option<String>,

    #[command(flatten)]
    pub(crate) outputs: OutputsArguments,

    /// Also show these outputs below each change
    #[arg(long, requires = "outputs")]
    pub(crate) values: bool,
}
