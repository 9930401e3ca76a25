//! The options of `dmlcts replay`.

use clap::{Args, ValueHint, builder::NonEmptyStringValueParser};

use super::{BackendArguments, file};

const EXAMPLES: &str = "\
Examples:
  dmlcts replay findings/mine --backend 'exec:python3 mine.py'
  dmlcts replay findings/mine/slice-crashed-1f0a.yaml --backend 'exec:python3 mine.py'

Exit codes:
  0    no finding got worse
  1    a finding fails in another way, or one that was fixed fails again
  2    wrong usage or bad input, or no case could run
  3    the backend or the machine failed
  130  interrupted";

/// Runs the cases of findings again: which are fixed?
///
/// A line for each finding says what became of it: FIXED, STILL, CHANGED, REGRESSED, FLAKE or NOT RUN. Its
/// cases run one by one, the smallest first. What is not as the finding says runs three more times.
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReplayArguments {
    /// Folders of findings, and files of them
    #[arg(
        required = true,
        value_name = "DIR|FILE",
        value_parser = NonEmptyStringValueParser::new(),
        value_hint = ValueHint::AnyPath
    )]
    pub(crate) paths: Vec<String>,

    /// Also write the table to this file, as Markdown
    ///
    /// The file is overwritten.
    #[arg(long, value_name = "PATH", value_parser = file, value_hint = ValueHint::FilePath)]
    pub(crate) markdown: Option<String>,

    #[command(flatten)]
    pub(crate) backend: BackendArguments,
}
