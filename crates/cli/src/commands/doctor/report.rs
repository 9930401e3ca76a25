//! The output of `doctor`, line by line.

use dmlcts_model::escaped;
use dmlcts_report::{Style, Tone, counted};
use dmlcts_runner::Class;

use crate::{output, problem::Problem};

/// The reason for a check that the deadline prevented.
const NO_TIME: &str = "the time was up before";

/// The report, line by line. It continues after its reader closes the pipe, since the exit code depends on
/// the remaining checks.
pub(super) struct Report {
    style: Style,
    pub(super) failures: usize,
    /// The number of checks that the deadline prevented.
    late: usize,
    /// The operators and classes of the failures that were shown.
    pub(super) shown: Vec<(usize, Class)>,
}

impl Report {
    pub(super) fn new(style: Style) -> Self {
        Self { style, failures: 0, late: 0, shown: Vec::new() }
    }

    /// Shows a check that passed.
    pub(super) fn fine(&mut self, what: &str, found: &str) -> Result<(), Problem> {
        self.line(Tone::Good, "ok   ", what, found)
    }

    /// Shows a check that failed, and the remedy.
    pub(super) fn wrong(&mut self, what: &str, found: &str, remedy: &str) -> Result<(), Problem> {
        self.failures += 1;
        self.line(Tone::Bad, "FAIL ", what, found)?;
        self.below(remedy)
    }

    /// Shows another line below the last one.
    pub(super) fn below(&mut self, text: &str) -> Result<(), Problem> {
        output::show(&format!("{:30} {}", "", self.style.paint(Tone::Note, escaped(text))))
    }

    /// Shows a check that could not be tried, and the reason.
    pub(super) fn untried(&mut self, what: &str, why: &str) -> Result<(), Problem> {
        self.line(Tone::Note, "--   ", what, &format!("not tried: {why}"))
    }

    /// Shows that the deadline prevented a check.
    pub(super) fn late(&mut self, what: &str) -> Result<(), Problem> {
        self.late += 1;
        self.untried(what, NO_TIME)
    }

    /// Shows the number of checks that the deadline prevented. They may hide faults, so they count as a
    /// failure.
    pub(super) fn end(&mut self) -> Result<(), Problem> {
        if self.late == 0 {
            return Ok(());
        }
        self.failures += 1;
        let were = if self.late == 1 { "was" } else { "were" };
        let checks = counted(self.late as u64, "check");
        let found = format!("{checks} {were} not tried for want of time; --timeout gives more");
        self.line(Tone::Bad, "FAIL ", "tries every check", &found)
    }

    pub(super) fn line(&mut self, tone: Tone, mark: &str, what: &str, found: &str) -> Result<(), Problem> {
        output::show(&format!("{} {what:<24} {}", self.style.paint(tone, mark), escaped(found)))
    }
}
