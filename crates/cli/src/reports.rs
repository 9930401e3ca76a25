//! Reports of a run in files: JUnit XML, Markdown and HTML.
//!
//! Before the run, the program checks that the files can be written: a run of hours must not end with an
//! error about a mistyped name. A file is replaced only by a complete report. If a run has no result, the
//! report says so and is not empty.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write as _},
    path::Path,
};

use dmlcts_diagnose::Diagnosis;
use dmlcts_model::FeatureLevel;
use dmlcts_report::{
    Context, write_annotations, write_html, write_html_of_problem, write_junit, write_junit_of_problem,
    write_markdown, write_markdown_of_problem,
};
use dmlcts_results::{CaseForm, CaseLog, Item, Reader, check_name, prepare_to_replace, replace};
use dmlcts_runner::{Event, Totals};
use dmlcts_spec::Library;

use crate::{arguments::ReportArguments, output, problem::Problem};

/// The open report files.
pub(crate) struct Reports {
    /// This file is replaced.
    junit: Option<String>,
    /// This file is appended to.
    markdown: Option<(String, File)>,
    /// This file is replaced.
    html: Option<Html>,
    /// Whether findings are printed as workflow commands.
    annotations: bool,
}

/// The page of a run, and what it needs of the cases.
struct Html {
    path: String,
    strategies: Vec<String>,
    /// `None` before the first case.
    log: Option<CaseLog>,
}

impl Reports {
    /// Checks that the files that the arguments name can be written.
    pub(crate) fn open(arguments: &ReportArguments) -> Result<Self, Problem> {
        arguments.junit.iter().chain(&arguments.html).try_for_each(|path| prepare_report(path))?;
        let open = |path: &String| {
            let file = check_name(Path::new(path))
                .and_then(|()| OpenOptions::new().append(true).create(true).open(path));
            file.map(|file| (path.clone(), file)).map_err(|error| Problem::unopened_report(path, &error))
        };
        let markdown = arguments.markdown.as_ref().map(open).transpose()?;
        let html = arguments.html.clone().map(|path| Html { path, strategies: Vec::new(), log: None });
        Ok(Self { junit: arguments.junit.clone(), markdown, html, annotations: arguments.annotations })
    }

    /// Whether a report needs the result of each case.
    pub(crate) fn need_cases(&self) -> bool {
        self.html.is_some()
    }

    /// Prepares for the cases of a run with these strategies. If the run continues one that was interrupted,
    /// takes the cases of that run: those of its file before the end of its totals.
    pub(crate) fn follow(
        &mut self,
        strategies: Vec<String>,
        earlier: Option<(&String, &Totals)>,
    ) -> Result<(), Problem> {
        let Some(html) = &mut self.html else { return Ok(()) };
        html.strategies = strategies;
        let Some((path, totals)) = earlier else { return Ok(()) };
        let mut reader = Reader::open(path)?;
        let level = reader.header().feature_level().unwrap_or(FeatureLevel::NEWEST);
        while let Some(item) = reader.next()? {
            match item {
                Item::Case(case) if case.index < totals.next => self.add(&case, level),
                _ => {}
            }
        }
        Ok(())
    }

    /// Takes the results of cases from an event of the run.
    pub(crate) fn on_event(&mut self, event: &Event<'_>) {
        let Some(html) = &mut self.html else { return };
        match event {
            Event::Started { level, .. } => {
                html.log.get_or_insert_with(|| CaseLog::new(Library::embedded(), *level));
            }
            Event::Cases { cases, .. } => {
                let Some(log) = &mut html.log else { return };
                for result in cases.iter() {
                    log.add(&CaseForm::of_result(&result, Library::embedded(), &html.strategies));
                }
            }
            _ => {}
        }
    }

    /// Takes a line of a results file, whose cases were judged at this level.
    pub(crate) fn take(&mut self, line: &[u8], level: FeatureLevel) {
        // Every line was read before, so that a line without a case is of another kind.
        if self.html.is_some()
            && let Some(case) = CaseForm::of_line(line)
        {
            self.add(&case, level);
        }
    }

    fn add(&mut self, case: &CaseForm<'_>, level: FeatureLevel) {
        if let Some(html) = &mut self.html {
            html.log.get_or_insert_with(|| CaseLog::new(Library::embedded(), level)).add(case);
        }
    }

    /// Writes the result of a run.
    pub(crate) fn write(&mut self, context: &Context, run: &Diagnosis) -> Result<(), Problem> {
        let log = self.html.as_mut().and_then(|html| html.log.take());
        let log = log.unwrap_or_else(|| CaseLog::new(context.library, run.summary.level));
        self.write_by(
            |out| write_junit(out, context, run),
            |out| write_markdown(out, context, run),
            |out| write_html(out, context, run, &log),
        )?;
        if !self.annotations {
            return Ok(());
        }
        // A `Screen` would escape the commands. `write_annotations` escapes what they hold.
        let mut out = io::stdout().lock();
        output::unless_gone(write_annotations(&mut out, context, run).and_then(|()| out.flush()))
    }

    /// Writes that the run of this name has no result, with the reason, and returns the reason.
    pub(crate) fn explain(&mut self, run: &str, problem: Problem) -> Problem {
        let message = problem.to_string();
        // The first problem is the cause; an error of this report would hide it.
        let _ = self.write_by(
            |out| write_junit_of_problem(out, run, &message),
            |out| write_markdown_of_problem(out, &message),
            |out| write_html_of_problem(out, &message),
        );
        problem
    }

    fn write_by(
        &mut self,
        junit: impl Fn(&mut dyn io::Write) -> io::Result<()>,
        markdown: impl Fn(&mut dyn io::Write) -> io::Result<()>,
        html: impl Fn(&mut dyn io::Write) -> io::Result<()>,
    ) -> Result<(), Problem> {
        if let Some(path) = &self.junit {
            write_report(path, junit)?;
        }
        if let Some((path, file)) = &mut self.markdown {
            let mut text = Vec::new();
            // One write keeps the report together if other programs append to the same file.
            let written = markdown(&mut text).and_then(|()| io::Write::write_all(file, &text));
            written.map_err(|cause| Problem::Report { path: path.clone(), cause })?;
        }
        if let Some(Html { path, .. }) = &self.html {
            write_report(path, html)?;
        }
        Ok(())
    }
}

/// Checks that a report can be written to this file.
pub(crate) fn prepare_report(path: &str) -> Result<(), Problem> {
    prepare_to_replace(Path::new(path)).map_err(|error| Problem::unopened_report(path, &error))
}

/// Replaces this file with a report.
pub(crate) fn write_report(
    path: &str,
    write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> Result<(), Problem> {
    let mut text = Vec::new();
    let written = write(&mut text).and_then(|()| replace(Path::new(path), &text));
    written.map_err(|cause| Problem::Report { path: path.to_owned(), cause })
}
