//! Reports of a run in files: JUnit XML and Markdown.
//!
//! Before the run, the program checks that the files can be written: a run of hours must not end with an
//! error about a mistyped name. A file is replaced only by a complete report. If a run has no result, the
//! report says so and is not empty.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write as _},
    path::Path,
};

use dmlcts_report::{
    Context, write_annotations, write_junit, write_junit_of_problem, write_markdown,
    write_markdown_of_problem,
};
use dmlcts_results::{check_name, prepare_to_replace, replace};
use dmlcts_runner::Summary;

use crate::{arguments::ReportArguments, output, problem::Problem};

/// The open report files.
pub(crate) struct Reports {
    /// This file is replaced.
    junit: Option<String>,
    /// This file is appended to.
    markdown: Option<(String, File)>,
    /// Whether findings are printed as workflow commands.
    annotations: bool,
}

impl Reports {
    /// Checks that the files that the arguments name can be written.
    pub(crate) fn open(arguments: &ReportArguments) -> Result<Self, Problem> {
        let failed = |path: &str, error: &io::Error| {
            Problem::usage(
                format!("cannot open the report {path}: {error}"),
                "name a file in a folder that exists, and that you may write to",
            )
        };
        if let Some(path) = &arguments.junit {
            prepare_to_replace(Path::new(path)).map_err(|error| failed(path, &error))?;
        }
        let open = |path: &String| {
            let file = check_name(Path::new(path))
                .and_then(|()| OpenOptions::new().append(true).create(true).open(path));
            file.map(|file| (path.clone(), file)).map_err(|error| failed(path, &error))
        };
        let markdown = arguments.markdown.as_ref().map(open).transpose()?;
        Ok(Self { junit: arguments.junit.clone(), markdown, annotations: arguments.annotations })
    }

    /// Writes the result of a run.
    pub(crate) fn write(&mut self, context: &Context, summary: &Summary) -> Result<(), Problem> {
        self.write_by(|out| write_junit(out, context, summary), |out| write_markdown(out, context, summary))?;
        if !self.annotations {
            return Ok(());
        }
        // A `Screen` would escape the commands. `write_annotations` escapes what they hold.
        let mut out = io::stdout().lock();
        output::unless_gone(write_annotations(&mut out, context, summary).and_then(|()| out.flush()))
    }

    /// Writes that the run of this name has no result, with the reason, and returns the reason.
    pub(crate) fn explain(&mut self, run: &str, problem: Problem) -> Problem {
        let message = problem.to_string();
        // The first problem is the cause; an error of this report would hide it.
        let _ = self.write_by(
            |out| write_junit_of_problem(out, run, &message),
            |out| write_markdown_of_problem(out, &message),
        );
        problem
    }

    fn write_by(
        &mut self,
        junit: impl Fn(&mut dyn io::Write) -> io::Result<()>,
        markdown: impl Fn(&mut dyn io::Write) -> io::Result<()>,
    ) -> Result<(), Problem> {
        let failed = |path: &String| {
            let path = path.clone();
            move |cause| Problem::Report { path, cause }
        };
        let mut text = Vec::new();
        if let Some(path) = &self.junit {
            let written = junit(&mut text).and_then(|()| replace(Path::new(path), &text));
            written.map_err(failed(path))?;
        }
        text.clear();
        if let Some((path, file)) = &mut self.markdown {
            // One write keeps the report together if other programs append to the same file.
            let written = markdown(&mut text).and_then(|()| io::Write::write_all(file, &text));
            written.map_err(failed(path))?;
        }
        Ok(())
    }
}
