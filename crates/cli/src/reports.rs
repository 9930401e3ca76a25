//! Reports of a run in files, beside what is printed: JUnit's XML and Markdown.
//!
//! The files are opened before the run, since a run of hours must not end with a name that was mistyped. What was in a file is
//! replaced only by what is to be in it: a run that does not come to anything leaves a report that says so, and not an empty one.

use std::{
    fs::{File, OpenOptions},
    io,
};

use dmlcts_report::{
    Context, write_junit, write_junit_of_problem, write_markdown, write_markdown_of_problem,
};
use dmlcts_runner::Summary;

use crate::{arguments::ReportArguments, problem::Problem};

/// The files, open.
pub(crate) struct Reports {
    junit: Option<(String, File)>,
    markdown: Option<(String, File)>,
}

impl Reports {
    /// Opens the files that the arguments name.
    pub(crate) fn open(arguments: &ReportArguments) -> Result<Self, Problem> {
        let open = |path: &Option<String>, how: &OpenOptions| match path {
            None => Ok(None),
            Some(path) => match how.open(path) {
                Ok(file) => Ok(Some((path.clone(), file))),
                Err(error) => Err(Problem::usage(
                    format!("cannot open the report {path}: {error}"),
                    "name a file in a folder that exists, and that you may write to",
                )),
            },
        };
        let (mut over, mut behind) = (OpenOptions::new(), OpenOptions::new());
        Ok(Self {
            junit: open(&arguments.junit, over.write(true).create(true).truncate(false))?,
            markdown: open(&arguments.markdown, behind.append(true).create(true))?,
        })
    }

    /// Writes what a run came to.
    pub(crate) fn write(&mut self, context: &Context, summary: &Summary) -> Result<(), Problem> {
        self.write_by(|out| write_junit(out, context, summary), |out| write_markdown(out, context, summary))
    }

    /// Writes that a run came to nothing, and why, and hands on the reason.
    pub(crate) fn explain(&mut self, context: &Context, problem: Problem) -> Problem {
        let message = problem.to_string();
        // The first problem is the one that tells.
        let _ = self.write_by(
            |out| write_junit_of_problem(out, context, &message),
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
        if let Some((path, file)) = &mut self.junit {
            let written = junit(&mut text).and_then(|()| replace(file, &text));
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

/// Writes a text in the place of what is in a file.
fn replace(file: &mut File, text: &[u8]) -> io::Result<()> {
    // A pipe or a device has nothing in it.
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    io::Write::write_all(file, text)
}
