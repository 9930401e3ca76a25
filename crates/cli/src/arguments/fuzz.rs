//! The options of `dmlcts fuzz`.

use std::time::Duration;

use clap::{Args, ValueHint, builder::NonEmptyStringValueParser};

use super::{OfSuiteArguments, heading};
use crate::units;

const EXAMPLES: &str = "\
Examples:
  dmlcts fuzz --backend 'exec:python3 mine.py' --findings findings/mine --time 8h
  dmlcts fuzz --backend 'exec:python3 mine.py' --findings findings/mine --time 20s --new-only

Exit codes:
  0    no finding is new
  1    a finding is new, or one that was fixed fails again
  2    wrong usage or bad input
  3    the backend or the machine failed; the same command goes on from there
  130  interrupted; the same command goes on from there";

/// Looks for findings without end, and keeps each in a folder
///
/// The cases of a suite run in turn, again and again, each time with other random choices. A failure that no
/// finding of the folder explains is shrunk, explained and written there as `new`, and the campaign goes on.
/// The same command continues where the last one ended. Cases and seed decide what is found, not the time.
/// Campaigns with several seeds may share a folder at the same time.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES, next_help_heading = heading::LIMITS)]
pub(crate) struct FuzzArguments {
    /// The folder of the backend's findings
    ///
    /// It is made if there is none. `.campaign` in it holds the position, and is not for version control.
    #[arg(
        long,
        value_name = "DIR",
        value_parser = NonEmptyStringValueParser::new(),
        value_hint = ValueHint::DirPath,
        help_heading = heading::VERDICTS
    )]
    pub(crate) findings: String,

    /// The name of the folder, if it is not that of the backend
    #[arg(long, value_name = "NAME", help_heading = heading::VERDICTS)]
    pub(crate) name: Option<String>,

    /// Exit with 1 only for findings that the folder did not have before
    #[arg(long, help_heading = heading::VERDICTS)]
    pub(crate) new_only: bool,

    /// A suite's name, or a YAML file
    #[arg(
        long,
        default_value = "fuzz",
        value_name = "NAME|PATH",
        value_hint = ValueHint::FilePath,
        help_heading = heading::CASES
    )]
    pub(crate) suite: String,

    /// End after this time, such as 20s or 8h
    #[arg(long, value_name = "TIME", value_parser = units::time_span, allow_hyphen_values = true)]
    pub(crate) time: Option<Duration>,

    /// End after this number of cases
    ///
    /// A failure that was met before is studied to its end.
    #[arg(long, value_name = "N", value_parser = units::count, allow_negative_numbers = true)]
    pub(crate) limit: Option<u64>,

    /// End at the first new finding
    #[arg(long)]
    pub(crate) until_first: bool,

    #[command(flatten)]
    pub(crate) of_suite: OfSuiteArguments,
}
