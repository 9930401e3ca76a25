//! Reports of a run in files, beside what is printed: JUnit's XML and Markdown.
//!
//! The files are opened before the run, since a run of hours must not end with a name that was mistyped.

use std::{
    fs::{File, OpenOptions},
    io,
};

use dmlcts_report::{Context, write_junit, write_markdown};
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
        let (mut anew, mut behind) = (OpenOptions::new(), OpenOptions::new());
        Ok(Self {
            junit: open(&arguments.junit, anew.write(true).create(true).truncate(true))?,
            markdown: open(&arguments.markdown, behind.append(true).create(true))?,
        })
    }

    /// Writes what a run came to.
    pub(crate) fn write(&mut self, context: &Context, summary: &Summary) -> Result<(), Problem> {
        type Report = fn(&mut dyn io::Write, &Context, &Summary) -> io::Result<()>;
        let reports: [(&mut Option<(String, File)>, Report); 2] =
            [(&mut self.junit, write_junit), (&mut self.markdown, write_markdown)];
        for (report, write) in reports {
            let Some((path, file)) = report else { continue };
            // In one piece, so that what is behind in a file that grows is not torn apart.
            let mut text = Vec::new();
            let written = write(&mut text, context, summary).and_then(|()| io::Write::write_all(file, &text));
            written.map_err(|cause| Problem::Report { path: path.clone(), cause })?;
        }
        Ok(())
    }
}
