//! `--bless FILE`: what failed in a whole run becomes a list of known failures, so that the next run fails by news only.

use std::{fs, path::Path, sync::Arc};

use dmlcts_report::counted;
use dmlcts_results::SelectionForm;
use dmlcts_runner::{
    BlessError, Blessing, Event, KnownFailureForm, KnownFailures, KnownFailuresForm, Source, Summary, Verdict,
};
use dmlcts_spec::Library;

use crate::{arguments::RunArguments, exit::Exit, known::whole_suite, problem::Problem};

/// A list that is to be written when the run has ended.
pub(crate) struct Bless {
    path: String,
    suite: String,
    blessing: Blessing,
    /// What the file says now.
    old: Vec<Arc<KnownFailureForm>>,
}

impl Bless {
    /// Gets ready, where the arguments ask for it: only what a whole run of a suite shows can be held against the next one.
    pub(crate) fn new(
        arguments: &RunArguments,
        form: &SelectionForm,
        known: &KnownFailures,
    ) -> Result<Option<Self>, Problem> {
        let Some(path) = arguments.bless.clone() else { return Ok(None) };
        let Some(suite) = whole_suite(form) else {
            return Err(Problem::usage(
                "only a whole run of a suite can be blessed",
                "leave out what selects cases (--where, --strategy, --limit, --partition, --feature-level, --seed) and what changes \
                 how they are compared (--allow, --memory)",
            ));
        };
        let old = known.of_file(&path);
        Ok(Some(Self { path, suite: suite.to_owned(), blessing: Blessing::default(), old }))
    }

    /// The lists of a run: those that are named, and the one that is to be written where it is there.
    pub(crate) fn lists(arguments: &RunArguments) -> Vec<String> {
        let mut paths = arguments.known_failures.clone();
        let is_there = |path: &&String| Path::new(path.as_str()).exists() && !paths.contains(path);
        paths.extend(arguments.bless.iter().find(is_there).cloned());
        paths
    }

    /// Takes note of what became of cases.
    pub(crate) fn hear(&mut self, event: &Event<'_>) {
        if let Event::Cases { cases, .. } = event {
            self.blessing.hear(cases);
        }
    }

    /// Writes the list. What comes back is how the program ends, and a sentence that says why.
    pub(crate) fn write(&self, summary: &Summary, source: &dyn Source) -> Result<(Exit, String), Problem> {
        let of_run = Exit::of(summary, Some(&self.suite));
        let refused = |error: &BlessError| {
            let exit = if of_run == Exit::Success { Exit::Usage } else { of_run };
            (exit, format!("nothing was blessed: {error}"))
        };
        let blessed = self.blessing.entries((Library::embedded(), source), (summary, &self.suite), &self.old);
        let failures = match blessed {
            Ok(failures) => failures,
            Err(error) => return Ok(refused(&error)),
        };
        let entries = counted(failures.len() as u64, "known failure");
        let form = KnownFailuresForm { backend: summary.capabilities.name.clone(), failures };
        let text = form.to_yaml(fs::read_to_string(&self.path).ok().filter(|old| !old.is_empty()).as_deref());
        fs::write(&self.path, text).map_err(|error| {
            Problem::usage(format!("cannot write {}: {error}", self.path), "name a file that can be written")
        })?;
        let flaky = summary.tally().of(Verdict::Flake);
        let (exit, but) = match flaky {
            0 => (Exit::Success, String::new()),
            _ => (Exit::Unexpected, format!("; {} cannot be known", counted(flaky, "flaky case"))),
        };
        Ok((exit, format!("{} has {entries} now{but}", self.path)))
    }
}
