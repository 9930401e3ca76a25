//! How far a campaign is, and who is told of it.

use std::{
    io::{self, IsTerminal as _, Write as _},
    time::{Duration, Instant},
};

use dmlcts_model::FeatureLevel;
use dmlcts_report::{counted, grouped, span};
use dmlcts_spec::{Coverage, Library};
use dmlcts_store::{Position, PositionFile};
use indicatif::{ProgressBar, ProgressStyle};

use crate::problem::Problem;

/// How often the position is written, and the status shown on a terminal.
const MOMENT: Duration = Duration::from_secs(1);
/// How often the status is shown elsewhere.
const MINUTE: Duration = Duration::from_secs(60);

/// The position of a campaign, its file, and what this command did so far.
pub(super) struct CampaignStatus {
    file: PositionFile,
    pub(super) position: Position,
    /// The position before this command.
    before: Position,
    started: Instant,
    written: Instant,
    shown: Instant,
    /// The time from the start to the last new finding.
    last_new: Option<Duration>,
    /// The number of flakes of known kinds.
    pub(super) flakes: u64,
    /// The time that went into studying failures, without that of the study that goes on.
    pub(super) studied: Duration,
    /// What the cases of this command exercised.
    coverage: Coverage,
    /// Shows the status, if standard error is a terminal.
    bar: Option<ProgressBar>,
}

impl CampaignStatus {
    pub(super) fn new(file: PositionFile, position: Position) -> Self {
        let now = Instant::now();
        Self {
            file,
            before: position.clone(),
            position,
            started: now,
            written: now,
            shown: now,
            last_new: None,
            flakes: 0,
            studied: Duration::ZERO,
            coverage: Coverage::new(Library::embedded()),
            bar: io::stderr().is_terminal().then(new_bar),
        }
    }

    /// Whether this command ran no case.
    pub(super) fn is_idle(&self) -> bool {
        self.position.cases == self.before.cases
    }

    /// The number of cases that are left of those that this command may run.
    pub(super) fn left(&self, limit: Option<u64>) -> Option<u64> {
        limit.map(|limit| limit.saturating_sub(self.position.cases - self.before.cases))
    }

    /// Notes the number of cases, the index of the next one and what a run exercised so far, and writes and
    /// shows this from time to time.
    pub(super) fn tick(
        &mut self,
        (cases, next): (u64, u64),
        coverage: &Coverage,
        level: FeatureLevel,
    ) -> Result<(), Problem> {
        (self.position.cases, self.position.next) = (cases, next);
        if self.written.elapsed() >= MOMENT {
            self.cover(coverage, level);
            self.write()?;
        }
        let pause = if self.bar.is_some() { MOMENT } else { MINUTE };
        if self.shown.elapsed() >= pause {
            self.shown = Instant::now();
            let [course, found] = self.lines();
            match &self.bar {
                Some(bar) => bar.set_message(format!("{course}\n{found}")),
                // What cannot be shown changes nothing.
                None => drop(writeln!(io::stderr(), "{course}; {found}")),
            }
        }
        Ok(())
    }

    /// Adds what a run exercised.
    pub(super) fn cover(&mut self, coverage: &Coverage, level: FeatureLevel) {
        self.coverage.merge(coverage);
        self.position.obligations = self.coverage.count(Library::embedded(), level);
    }

    /// Notes that there is a new finding.
    pub(super) fn found(&mut self) {
        self.last_new = Some(self.started.elapsed());
    }

    /// Removes the status from a terminal.
    pub(super) fn clear(&mut self) {
        if let Some(bar) = &self.bar {
            bar.set_message("");
            bar.tick();
        }
    }

    /// Writes the position.
    pub(super) fn write(&mut self) -> Result<(), Problem> {
        self.written = Instant::now();
        self.position.seconds = self.before.seconds + self.started.elapsed().as_secs();
        self.position.studied = self.before.studied + self.studied.as_secs();
        Ok(self.file.write(&self.position)?)
    }

    /// What this command ran, and what it found.
    fn lines(&self) -> [String; 2] {
        let (cases, time) = (self.position.cases - self.before.cases, self.started.elapsed());
        let Position { new, known, obligations: [met, all], lap, .. } = self.position;
        let course = format!(
            "{}: {}, {}/s, lap {}, {} of {} obligations met",
            span(time),
            counted(cases, "case"),
            grouped((cases as f64 / time.as_secs_f64().max(0.001)) as u64),
            lap + 1,
            grouped(met as u64),
            grouped(all as u64),
        );
        let last = self.last_new.map(|at| format!(", the last one after {}", span(at))).unwrap_or_default();
        let found = format!("failing: {new} new{last}, {known} known findings; {}", self.share());
        [course, found]
    }

    /// What this command ran, at its end.
    pub(super) fn sentence(&self) -> String {
        let [course, _] = self.lines();
        format!("{course}; {} in all; {}", grouped(self.position.cases), self.share())
    }

    /// The share of the time that failures cost.
    fn share(&self) -> String {
        let share = self.studied.as_secs_f64() / self.started.elapsed().as_secs_f64().max(0.001);
        format!("{:.0} % of the time went into studying failures", 100.0 * share)
    }
}

/// A bar that shows text alone.
fn new_bar() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    // The template is a constant.
    match ProgressStyle::with_template("{msg}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
