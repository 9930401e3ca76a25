//! Shows a run on the terminal while it runs and when it ends.
//!
//! Results go to the output. Progress goes to the error stream: as a bar if that is a terminal, otherwise as
//! a line now and then. Short runs show no progress. Whatever a backend process does, the error stream gets
//! at most [`LINES`] lines, and the summary lists further incidents.

use std::{
    io::{self, Write},
    time::{Duration, Instant},
};

use dmlcts_diagnose::{Diagnosis, Event};
use dmlcts_model::escaped;
use dmlcts_runner::{Event as RunEvent, Failure, Progress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::{
    Context, Style,
    finding::write_findings,
    known::write_known,
    numbers::{counted, folded, grouped, rate, span},
    summary::write_summary,
};

/// A run that takes longer shows its progress.
const LONG: Duration = Duration::from_secs(1);
/// The time between two lines of progress, if there is no bar.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// The maximum number of lines of the error stream. The last one is for the number of further incidents.
const LINES: usize = 3;

/// How much to show, and in which form.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Show only failures.
    pub quiet: bool,
    /// Whether the error stream is a terminal, which can show a bar.
    pub bar: bool,
    /// The colours of the output.
    pub style: Style,
}

/// Shows a run's events.
pub struct Terminal<'a> {
    out: &'a mut dyn Write,
    err: &'a mut dyn Write,
    context: Context,
    options: Options,
    cases: Option<u64>,
    started: Instant,
    last_line: Option<Instant>,
    /// The number of lines of the error stream so far.
    lines: usize,
    has_failed: bool,
    bar: Option<ProgressBar>,
}

impl<'a> Terminal<'a> {
    /// Shows results on `out` and progress on `err`.
    pub fn new(out: &'a mut dyn Write, err: &'a mut dyn Write, context: Context, options: Options) -> Self {
        let now = Instant::now();
        Self {
            out,
            err,
            context,
            options,
            cases: None,
            started: now,
            last_line: None,
            lines: 0,
            has_failed: false,
            bar: None,
        }
    }

    /// Adds lines to the summary that say what the run proves.
    pub fn prove(&mut self, certificate: Vec<String>) {
        self.context.certificate = certificate;
    }

    /// Leaves out findings that the run made known.
    pub fn accept(&mut self, ids: &[String]) {
        self.context.accepted = ids.to_vec();
    }

    /// Shows an event of a run or its explanation. Errors of the error stream are ignored.
    pub fn show(&mut self, event: &Event<'_>) {
        match event {
            Event::Run(event) => self.course(event),
            Event::Explaining { failures } => {
                self.say(&format!("looking for the causes of {}", counted(*failures, "failure")));
            }
            Event::Shrinking { findings } => {
                let findings = counted(*findings as u64, "finding");
                self.say(&format!("looking for a smaller case of {findings}"));
            }
        }
    }

    /// Shows an event of a run.
    fn course(&mut self, event: &RunEvent<'_>) {
        match event {
            RunEvent::Started { cases, .. } => {
                self.cases = *cases;
                self.started = Instant::now();
                self.last_line = None;
            }
            // The terminal shows failures, not the result of each case.
            RunEvent::Cases { .. } | RunEvent::Pause { .. } => {}
            RunEvent::Progress(totals) => self.progress(&totals.progress),
            RunEvent::Incident(sentence) if self.has_room() => self.say(sentence),
            RunEvent::Incident(sentence) => self.context.incidents.push((*sentence).to_owned()),
            RunEvent::Failed(failure) => self.failed(failure),
            RunEvent::FailsFromStart { cases, class } => {
                let doctor = self.context.doctor.as_deref();
                let doctor = doctor.map(|command| format!("; to try one step after another: {command}"));
                let doctor = doctor.unwrap_or_default();
                self.say(&format!("the first {cases} cases all failed ({class}){doctor}"));
            }
        }
    }

    /// Shows what a run came to. Returns errors of the output.
    pub fn finish(&mut self, diagnosis: &Diagnosis) -> io::Result<()> {
        self.end_progress();
        match self.context.incidents.len() as u64 {
            0 => {}
            1 => self.finish_incidents(),
            more => self.write(&format!("and {}: the report lists them", counted(more, "further incident"))),
        }
        write_findings(self.out, &self.context, diagnosis, self.options.style)?;
        write_known(self.out, &self.context, &diagnosis.summary, self.options.style)?;
        if !self.options.quiet {
            write_summary(self.out, &self.context, diagnosis, self.options.style)?;
        }
        self.out.flush()
    }

    /// Ends a run whose report is not shown: the error stream gets all incidents.
    pub fn finish_without_report(&mut self) {
        self.end_progress();
        self.finish_incidents();
    }

    fn end_progress(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    fn finish_incidents(&mut self) {
        for sentence in std::mem::take(&mut self.context.incidents) {
            self.write(&sentence);
        }
    }

    fn progress(&mut self, progress: &Progress) {
        let now = Instant::now();
        if self.options.quiet || now.duration_since(self.started) < LONG {
            return;
        }
        if self.options.bar {
            let bar = self.bar.get_or_insert_with(|| new_bar(self.cases));
            bar.set_position(progress.read);
            let elapsed = now.duration_since(self.started);
            let mut message = format!("{} a second", rate(progress.read, elapsed));
            if let Some(left) = time_left(progress.read, self.cases, elapsed) {
                message.extend([", ", &span(left), " left"]);
            }
            if progress.unexpected > 0 {
                message.extend([", ", &grouped(progress.unexpected), " unexpected"]);
            }
            bar.set_message(message);
        } else if self.last_line.is_none_or(|last| now.duration_since(last) >= LINE_EVERY) {
            self.last_line = Some(now);
            let of = self.cases.map(|cases| format!(" of {}", grouped(cases))).unwrap_or_default();
            let line = format!(
                "at case {}{of}: {} cases/s, {} unexpected",
                grouped(progress.read),
                rate(progress.read, now.duration_since(self.started)),
                grouped(progress.unexpected),
            );
            self.say(&line);
        }
    }

    fn failed(&mut self, failure: &Failure) {
        // The report has all of them. The first one tells early that the run fails.
        if !std::mem::replace(&mut self.has_failed, true) {
            let case = failure.case.to_string();
            let line = format!("first failure: {}: {}", failure.class, folded(&case));
            self.say(&line);
        }
    }

    fn has_room(&self) -> bool {
        self.lines + 1 < LINES
    }

    /// Writes a line of progress if there is room for it.
    fn say(&mut self, line: &str) {
        if self.has_room() {
            self.write(line);
        }
    }

    /// Writes a line to the error stream, and ignores errors.
    fn write(&mut self, line: &str) {
        if self.options.quiet {
            return;
        }
        self.lines += 1;
        let line = escaped(line);
        if let Some(bar) = &self.bar {
            bar.suspend(|| {
                let _ = writeln!(self.err, "{line}");
            });
        } else {
            let _ = writeln!(self.err, "{line}");
        }
    }
}

/// The estimated time for the remaining cases at the same speed, in whole seconds.
fn time_left(read: u64, cases: Option<u64>, elapsed: Duration) -> Option<Duration> {
    let seconds = elapsed.as_secs_f64() * cases?.saturating_sub(read) as f64 / read.max(1) as f64;
    Some(Duration::from_secs(seconds.min(1e9) as u64))
}

fn new_bar(cases: Option<u64>) -> ProgressBar {
    let (template, length) = if cases.is_some() {
        ("{bar:16} {human_pos} of {human_len} cases, {msg}", cases)
    } else {
        ("{spinner} {human_pos} cases, {msg}, {elapsed}", None)
    };
    let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr_with_hz(8));
    // Both templates are constants that a test parses.
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_of_both_kinds_can_be_made() {
        assert_eq!(new_bar(Some(7)).length(), Some(7));
        assert_eq!(new_bar(None).length(), None);
    }

    #[test]
    fn the_time_left_follows_from_the_time_taken() {
        let taken = Duration::from_secs(10);
        assert_eq!(time_left(100, Some(400), taken), Some(Duration::from_secs(30)));
        assert_eq!(time_left(100, None, taken), None);
        assert_eq!(time_left(0, Some(u64::MAX), taken), Some(Duration::from_secs(1_000_000_000)));
    }
}
