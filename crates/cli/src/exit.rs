//! The exit codes of the program: one enum, documented in `--help`.

use std::process::ExitCode;

use dmlcts_runner::{Ending, Summary};

/// The exit codes in the text of `--help`.
pub(crate) const HELP: &str = "\
Exit codes:
  0    nothing unexpected happened
  1    a verdict was unexpected, or a known failure is not as it is known
  2    wrong usage or bad input: arguments, a case line, a predicate, a file; no case to run,
       or none that the backend declares to be able to do
  3    the backend or the machine failed, so that the run is not complete, or the backend ended
       otherwise than with exit code 0 when it was told to end (outranks 1)
  130  interrupted: the run ends with the summary of what ran, and at once at the second Ctrl-C

A reader of the output that goes away early, such as `head`, ends a command that only lists
something quietly, with 0. A command that comes to a verdict goes on without it, since its exit
code is still to come.";

/// The exit codes in the text of `-h`.
pub(crate) const SHORT_HELP: &str = "\
Exit codes: 0 nothing unexpected, 1 an unexpected verdict, 2 wrong usage,
3 the backend or the machine failed, 130 interrupted. `--help` says more.";

/// The way in which the program ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exit {
    /// Nothing unexpected happened.
    Success,
    /// A verdict was unexpected.
    Unexpected,
    /// An argument or a file that it names is wrong.
    Usage,
    /// The backend or the machine failed.
    Broken,
    /// The user pressed Ctrl-C or sent a signal.
    Interrupted,
}

impl Exit {
    /// The exit code for the system.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Unexpected => 1,
            Self::Usage => 2,
            Self::Broken => 3,
            Self::Interrupted => 130,
        }
    }

    /// The exit for a run. `is_whole` is whether it has every case of its suite.
    pub(crate) fn of(summary: &Summary, is_whole: bool) -> Self {
        if summary.ending == Ending::Interrupted {
            Self::Interrupted
        } else if matches!(summary.ending, Ending::BackendLost | Ending::NotRecorded | Ending::Hangs)
            || !summary.abandoned.is_empty()
            || summary.bad_end.is_some()
        {
            Self::Broken
        } else if summary.tally().unexpected() > 0
            || summary.known(is_whole).any(|(_, conclusion)| conclusion.is_unexpected())
        {
            Self::Unexpected
        } else if summary.is_unjudged() || summary.is_uncompared() {
            Self::Usage
        } else {
            Self::Success
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dmlcts_model::line;
    use dmlcts_reference::Reference;
    use dmlcts_runner::{Configuration, Listed, Run, Stop, Tally};
    use dmlcts_spec::Library;

    use super::*;

    /// The exit code for a run of one case, after a closure has changed the summary.
    fn exit(spoil: impl Fn(&mut Summary)) -> u8 {
        let library = Library::embedded();
        let text = "SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=iota";
        let case = line::parse(text, library.signatures()).expect("a case");
        let run = Run {
            library,
            source: Arc::new(Listed::new(vec![case], "given")),
            backend: Arc::new(|_| Ok(Box::new(Reference::backend()))),
            configuration: Configuration { jobs: 1, ..Configuration::default() },
            stop: Stop::default(),
        };
        let mut summary = dmlcts_runner::run(&run, &mut |_| {}).expect("the reference starts");
        spoil(&mut summary);
        Exit::of(&summary, false).code()
    }

    fn fail(summary: &mut Summary) {
        summary.strategies[0].1.count(dmlcts_runner::Verdict::Fail);
    }

    #[test]
    fn each_way_to_end_has_its_code_and_the_graver_one_wins() {
        assert_eq!(exit(|_| {}), 0);
        assert_eq!(exit(fail), 1);
        let skip = |summary: &mut Summary| {
            summary.strategies[0].1 = Tally::default();
            summary.strategies[0].1.count(dmlcts_runner::Verdict::Skip);
        };
        assert_eq!(exit(skip), 2, "where all is skipped, nothing was shown");
        assert_eq!(
            exit(|summary| {
                skip(summary);
                summary.strategies[0].1.count(dmlcts_runner::Verdict::Pass);
            }),
            0
        );
        let uncompared = |summary: &mut Summary| {
            (summary.totals.work.runs, summary.totals.work.too_large) = (0, 1);
        };
        assert_eq!(exit(uncompared), 2, "where no output was compared, none was shown to be right");
        assert_eq!(exit(|summary| summary.totals.work.too_large = 1), 0, "some were");
        assert_eq!(exit(|summary| summary.ending = Ending::Timeout), 0, "time that is up is no failure");
        assert_eq!(
            exit(|summary| summary.ending = Ending::Hangs),
            3,
            "a backend that hangs and hangs is one"
        );
        let lose = |summary: &mut Summary| summary.ending = Ending::BackendLost;
        assert_eq!(exit(lose), 3);
        assert_eq!(
            exit(|summary| {
                fail(summary);
                lose(summary);
            }),
            3
        );
        assert_eq!(
            exit(|summary| {
                fail(summary);
                summary.abandoned.push(0..1);
            }),
            3
        );
        let end_badly = |summary: &mut Summary| summary.bad_end = Some("exit status: 1".to_owned());
        assert_eq!(exit(end_badly), 3, "though every case passed");
        assert_eq!(
            exit(|summary| {
                fail(summary);
                end_badly(summary);
                summary.ending = Ending::Interrupted;
            }),
            130
        );
    }
}
