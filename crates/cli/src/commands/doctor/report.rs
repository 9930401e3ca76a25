//! What `doctor` shows, line by line.

use dmlcts_model::escaped;
use dmlcts_report::{Palette, Tone, counted};
use dmlcts_runner::Class;

use crate::{output, problem::Problem};

/// Why a check was not tried that no time was left for.
const NO_TIME: &str = "the time was up before";

/// What was found, line by line. It goes on where nobody reads it any more, since the exit code is still to
/// come.
pub(super) struct Report {
    palette: Palette,
    pub(super) failures: usize,
    /// The checks that no time was left for.
    late: usize,
    /// The operators and ways in which cases failed that were shown to fail.
    pub(super) shown: Vec<(usize, Class)>,
}

impl Report {
    pub(super) fn new(palette: Palette) -> Self {
        Self { palette, failures: 0, late: 0, shown: Vec::new() }
    }

    /// Shows what is as it should be.
    pub(super) fn fine(&mut self, what: &str, found: &str) -> Result<(), Problem> {
        self.line(Tone::Good, "ok   ", what, found)
    }

    /// Shows what is not, and what to do.
    pub(super) fn wrong(&mut self, what: &str, found: &str, remedy: &str) -> Result<(), Problem> {
        self.failures += 1;
        self.line(Tone::Bad, "FAIL ", what, found)?;
        self.below(remedy)
    }

    /// Shows more of the last line.
    pub(super) fn below(&mut self, text: &str) -> Result<(), Problem> {
        output::show(&format!("{:30} {}", "", self.palette.paint(Tone::Note, escaped(text))))
    }

    /// Shows what there was nothing to tell by. Why not has a line of its own, as a failure.
    pub(super) fn untried(&mut self, what: &str, why: &str) -> Result<(), Problem> {
        self.line(Tone::Note, "--   ", what, &format!("not tried: {why}"))
    }

    /// Shows that the time was up before this many checks.
    pub(super) fn late(&mut self, what: &str, checks: usize) -> Result<(), Problem> {
        self.late += checks;
        self.untried(what, NO_TIME)
    }

    /// Shows how many checks no time was left for: a backend is not well for all that they would tell.
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
        output::show(&format!("{} {what:<24} {}", self.palette.paint(tone, mark), escaped(found)))
    }
}
