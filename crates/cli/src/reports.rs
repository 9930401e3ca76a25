//! Reports of a run in files, beside what is printed: JUnit's XML and Markdown.
//!
//! That the files can be written is seen to before the run, since a run of hours must not end with a name that was mistyped. What was in a file is
//! replaced only by the whole of what is to be in it: a run that does not come to anything leaves a report that says so, and not an empty one.

use std::{
    fs::{File, OpenOptions},
    io,
    path::Path,
};

use dmlcts_report::{
    Context, write_junit, write_junit_of_problem, write_markdown, write_markdown_of_problem,
};
use dmlcts_results::{check_name, prepare_to_replace, replace};
use dmlcts_runner::Summary;

use crate::{arguments::ReportArguments, problem::Problem};

/// The files.
pub(crate) struct Reports {
    /// This one is replaced.
    junit: Option<String>,
    /// This one grows.
    markdown: Option<(String, File)>,
}

impl Reports {
    /// Sees to it that the files which the arguments name can be written.
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
        Ok(Self { junit: arguments.junit.clone(), markdown })
    }

    /// Writes what a run came to.
    pub(crate) fn write(&mut self, context: &Context, summary: &Summary) -> Result<(), Problem> {
        self.write_by(|out| write_junit(out, context, summary), |out| write_markdown(out, context, summary))
    }

    /// Writes that the run of this name came to nothing, and why, and hands on the reason.
    pub(crate) fn explain(&mut self, run: &str, problem: Problem) -> Problem {
        let message = problem.to_string();
        // The first problem is the one that tells.
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
            // In one piece, so that what is behind in a file that grows is not torn apart.
            let written = markdown(&mut text).and_then(|()| io::Write::write_all(file, &text));
            written.map_err(failed(path))?;
        }
        Ok(())
    }
}
