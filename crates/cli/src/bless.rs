//! `--bless FILE`: what failed in a whole run becomes a list of known failures, so that the next run fails by news only.

use std::{fs, path::Path, sync::Arc};

use dmlcts_report::counted;
use dmlcts_results::{SelectionForm, prepare_to_replace, replace};
use dmlcts_runner::{
    BlessError, Blessed, Blessing, Event, KnownFailureForm, KnownFailures, KnownFailuresForm, Source,
    Summary, Verdict,
};
use dmlcts_spec::{Library, read_file, yaml};

use crate::{
    arguments::RunArguments,
    exit::Exit,
    known::{has_own_name, whole_suite},
    problem::Problem,
};

/// A list that is to be written when the run has ended.
pub(crate) struct Bless {
    path: String,
    suite: String,
    blessing: Blessing,
    /// Whose failures the file lists now.
    backend: Option<String>,
    /// What it says.
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
        let Some(suite) = whole_suite(form) else { return Err(not_whole(form)) };
        prepare_to_replace(Path::new(&path)).map_err(|error| {
            Problem::usage(
                format!("cannot write the known failures {path}: {error}"),
                "name a file in a folder that exists, and that you may write to",
            )
        })?;
        let backend = if Path::new(&path).exists() {
            Some(yaml::read::<KnownFailuresForm>(&read_file(&path)?)?.value.backend)
        } else {
            None
        };
        let (old, suite) = (known.of_file(&path), suite.to_owned());
        Ok(Some(Self { path, suite, blessing: Blessing::default(), backend, old }))
    }

    /// The lists of a run: those that are named, and the one that is to be written where it is there.
    pub(crate) fn lists(arguments: &RunArguments) -> Vec<String> {
        let mut paths = arguments.known_failures.clone();
        let is_there = |path: &&String| Path::new(path.as_str()).exists() && !paths.contains(path);
        paths.extend(arguments.bless.iter().find(is_there).cloned());
        paths
    }

    /// Takes note of who answers and of what became of cases.
    ///
    /// # Errors
    ///
    /// Where the list is of another backend: it would lose all that it says.
    pub(crate) fn hear(&mut self, event: &Event<'_>) -> Result<(), Problem> {
        match event {
            Event::Started { capabilities, .. } => {
                let own = &capabilities.name;
                if let Some(backend) = self.backend.as_ref().filter(|backend| *backend != own) {
                    return Err(Problem::usage(
                        format!("{} lists what fails on `{backend}`, and this run is on `{own}`", self.path),
                        "name another file behind --bless, a new one or one of this backend",
                    ));
                }
            }
            Event::Cases { cases, .. } => self.blessing.hear(cases),
            _ => {}
        }
        Ok(())
    }

    /// Writes the list. What comes back is how the program ends, and a sentence that says why.
    pub(crate) fn write(&self, summary: &Summary, source: &dyn Source) -> Result<(Exit, String), Problem> {
        let of_run = Exit::of(summary, Some(&self.suite));
        let refused = |error: &BlessError| {
            let exit = if of_run == Exit::Success { Exit::Usage } else { of_run };
            (exit, format!("nothing was blessed: {error}\n  help: {}", error.help()))
        };
        let blessed = self.blessing.entries((Library::embedded(), source), (summary, &self.suite), &self.old);
        let Blessed { entries: failures, left } = match blessed {
            Ok(blessed) => blessed,
            Err(error) => return Ok(refused(&error)),
        };
        let mut sentence =
            format!("{} has {} now", self.path, counted(failures.len() as u64, "known failure"));
        let form = KnownFailuresForm { backend: summary.capabilities.name.clone(), failures };
        let old = fs::read_to_string(&self.path).ok().filter(|old| !old.is_empty());
        let text = form.to_yaml(old.as_deref());
        if old.as_ref() != Some(&text) {
            let failed = |cause| Problem::Known { path: self.path.clone(), cause };
            replace(Path::new(&self.path), text.as_bytes()).map_err(failed)?;
        }
        let flaky = summary.tally().of(Verdict::Flake);
        if flaky > 0 {
            sentence.extend(["; ", &counted(flaky, "flaky case"), " cannot be known"]);
        }
        for error in &left {
            sentence.extend(["\nnot in it: ", &error.to_string(), "\n  help: ", error.help()]);
        }
        let is_all = flaky == 0 && left.is_empty();
        Ok((if is_all { Exit::Success } else { Exit::Unexpected }, sentence))
    }
}

/// Says why a run of this selection cannot be blessed.
fn not_whole(form: &SelectionForm) -> Problem {
    if let Some(suite) = form.suite.as_ref().filter(|suite| !has_own_name(suite)) {
        return Problem::usage(
            format!(
                "the suite of this run calls itself `{}`, which is another one that is built in",
                suite.name
            ),
            "give it a name of its own behind `suite:`: a list of known failures tells suites by their names",
        );
    }
    Problem::usage(
        "only a whole run of a suite can be blessed",
        "leave out what selects cases (--where, --strategy, --limit, --partition, --feature-level, --seed) and what changes \
         how they are compared (--allow, --memory)",
    )
}
