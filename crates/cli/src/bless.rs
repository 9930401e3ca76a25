//! `--bless FILE`: writes the failures of a whole run into a list of known failures, so that only new
//! failures fail the next run.

use std::{fs, path::Path, sync::Arc};

use dmlcts_model::escaped;
use dmlcts_report::counted;
use dmlcts_results::{FileLock, SelectionForm, prepare_to_replace, replace};
use dmlcts_runner::{
    BlessError, Blessed, Blessing, Conclusion, Ending, Event, KnownFailureForm, KnownFailures,
    KnownFailuresForm, Run, Summary, Verdict,
};
use dmlcts_spec::{Library, Source as ListSource, read_file, yaml};

use crate::{
    arguments::RunArguments,
    exit::Exit,
    known::{has_own_name, whole_suite},
    problem::Problem,
};

/// A list that is written after the run.
pub(crate) struct Bless {
    path: String,
    suite: String,
    blessing: Blessing,
    /// The number of times that a failure runs again before it is listed.
    retries: u32,
    /// The backend of the failures that the file lists before the run.
    backend: Option<String>,
}

impl Bless {
    /// Prepares to write the list if the arguments ask for it. Only a whole run of a suite can be blessed,
    /// since only its result can be compared with the next run. `cases` is the number of the suite's cases;
    /// `None` for an endless suite.
    pub(crate) fn new(
        arguments: &RunArguments,
        form: &SelectionForm,
        cases: Option<u64>,
    ) -> Result<Option<Self>, Problem> {
        let Some(path) = arguments.bless.clone() else { return Ok(None) };
        let Some(suite) = whole_suite(form) else { return Err(not_whole(form)) };
        if arguments.retries == 0 {
            return Err(Problem::usage(
                "a list takes what fails each time, and with --retries 0 nothing is run again",
                "leave out --retries 0, or --bless",
            ));
        }
        if cases.is_none() {
            return Err(Problem::usage(
                format!("the suite `{suite}` never ends, and only a whole run of a suite can be blessed"),
                "bless a run of a suite that has an end",
            ));
        }
        prepare_to_replace(Path::new(&path)).map_err(|error| {
            Problem::usage(
                format!("cannot write the known failures {path}: {error}"),
                "name a file in a folder that exists, and that you may write to",
            )
        })?;
        let backend = if Path::new(&path).exists() { Some(backend_of(&read_file(&path)?)?) } else { None };
        let suite = suite.to_owned();
        let retries = arguments.retries;
        Ok(Some(Self { path, suite, blessing: Blessing::default(), retries, backend }))
    }

    /// The lists of a run: the named lists, and the list to write if it exists.
    pub(crate) fn lists(arguments: &RunArguments) -> Vec<String> {
        let mut paths = arguments.known_failures.clone();
        let is_there = |path: &&String| Path::new(path.as_str()).exists() && !paths.contains(path);
        paths.extend(arguments.bless.iter().find(is_there).cloned());
        paths
    }

    /// Notes the backend and the results of cases.
    ///
    /// # Errors
    ///
    /// The list is of another backend, and would lose all its entries.
    pub(crate) fn on_event(&mut self, event: &Event<'_>) -> Result<(), Problem> {
        match event {
            Event::Started { capabilities, .. } => {
                self.backend.iter().try_for_each(|backend| self.check(backend, &capabilities.name))?;
            }
            Event::Cases { cases, .. } => self.blessing.hear(cases),
            _ => {}
        }
        Ok(())
    }

    /// Refuses the list of another backend.
    fn check(&self, backend: &str, own: &str) -> Result<(), Problem> {
        if backend == own {
            return Ok(());
        }
        Err(Problem::usage(
            format!("{} lists what fails on `{backend}`, and this run is on `{own}`", self.path),
            "name another file behind --bless, a new one or one of this backend",
        ))
    }

    /// The entries of the list and its text. Another run may have changed them since this run began.
    fn read_again(&self, own: &str) -> Result<(Vec<Arc<KnownFailureForm>>, Option<String>), Problem> {
        if !fs::metadata(&self.path).is_ok_and(|about| about.is_file() && about.len() > 0) {
            return Ok((Vec::new(), None));
        }
        let source = read_file(&self.path)?;
        self.check(&backend_of(&source)?, own)?;
        let known = KnownFailures::load(std::slice::from_ref(&source), Library::embedded())?;
        Ok((known.of_file(&self.path), Some(source.text)))
    }

    /// Runs the failures again and writes the list, while it locks the file against other programs. Returns
    /// the exit and a sentence with its reason.
    pub(crate) fn write(&mut self, summary: &Summary, run: &Run) -> Result<(Exit, String), Problem> {
        let of_run = Exit::of(summary, Some(&self.suite));
        let refused = |error: &BlessError| {
            let exit = match of_run {
                _ if run.stop.reason() == Ending::Interrupted => Exit::Interrupted,
                _ if matches!(error, BlessError::BadEnd(_)) => Exit::Broken,
                Exit::Success => Exit::Usage,
                other => other,
            };
            (exit, format!("nothing was blessed: {error}\n  help: {}", error.help()))
        };
        let flaky = match self.blessing.run_again(run, (summary, &self.suite), self.retries) {
            Ok(flakes) => flakes + summary.tally().of(Verdict::Flake),
            Err(error) => return Ok(refused(&error)),
        };
        dmlcts_backend::process::end_all();
        let _lock = FileLock::acquire(Path::new(&self.path));
        let (listed, old) = self.read_again(&summary.capabilities.name)?;
        let blessed = self.blessing.entries((run.library, &*run.source), (summary, &self.suite), &listed);
        let Blessed { entries: failures, removed, changed, left } = match blessed {
            Ok(blessed) => blessed,
            Err(error) => return Ok(refused(&error)),
        };
        let failures = without_doubles(failures);
        let mut sentence =
            format!("{} has {} now", escaped(&self.path), counted(failures.len() as u64, "known failure"));
        let form = KnownFailuresForm { backend: summary.capabilities.name.clone(), failures };
        let text = form.to_yaml(old.as_deref(), schema(Path::new(&self.path)).as_deref());
        if old.as_ref() != Some(&text) {
            let failed = |cause| Problem::Known { path: self.path.clone(), cause };
            replace(Path::new(&self.path), text.as_bytes()).map_err(failed)?;
        }
        if flaky > 0 {
            sentence.extend(["; ", &counted(flaky, "flaky case"), " cannot be known"]);
        }
        for (what, entries) in [("taken out", &removed), ("changed", &changed)] {
            for (id, conclusion) in entries {
                sentence.extend(["\n", what, ": ", &escaped(id), ", ", why(*conclusion)]);
            }
        }
        for error in &left {
            sentence.extend(["\nnot in it: ", &escaped(&error.to_string()), "\n  help: ", error.help()]);
        }
        let is_all = flaky == 0 && left.is_empty();
        Ok((if is_all { Exit::Success } else { Exit::Unexpected }, sentence))
    }
}

/// The path of the list's schema, relative to the list: in the nearest parent folder with `cases/schema`, as
/// in this repository.
fn schema(list: &Path) -> Option<String> {
    const SCHEMA: &str = "cases/schema/known-failures.json";
    let list = std::path::absolute(list).ok()?;
    let (up, _) = list.ancestors().skip(1).enumerate().find(|(_, folder)| folder.join(SCHEMA).is_file())?;
    Some("../".repeat(up) + SCHEMA)
}

/// Leaves out cases that an earlier entry has: another run blessed them since this run began.
fn without_doubles(entries: Vec<KnownFailureForm>) -> Vec<KnownFailureForm> {
    let mut kept: Vec<KnownFailureForm> = Vec::new();
    for entry in entries {
        let said = |form: &KnownFailureForm| {
            let bounds = (form.version.clone(), form.driver.clone(), form.device.clone());
            (form.signature.clone(), form.filter.clone(), form.cases.clone(), bounds)
        };
        if !kept.iter().any(|other| said(other) == said(&entry)) {
            kept.push(entry);
        }
    }
    kept
}

/// The backend of a list's failures.
fn backend_of(list: &ListSource) -> Result<String, Problem> {
    Ok(yaml::read::<KnownFailuresForm>(list)?.value.backend)
}

/// The result of an entry's cases if the entry changed, as a remark after its id.
fn why(conclusion: Conclusion) -> &'static str {
    match conclusion {
        Conclusion::Stale => "whose cases pass",
        Conclusion::MatchesNothing => "which no case matches",
        Conclusion::Skipped => "whose cases are skipped",
        Conclusion::Changed => "whose cases fail in another way",
        Conclusion::Mixed => "of whose cases some fail in another way or pass",
        Conclusion::TooWide => "of whose cases some pass",
        Conclusion::Holds => "which was true",
        Conclusion::Unknown => "whose cases fail at times",
    }
}

/// The error that a run of this selection cannot be blessed.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_list_names_its_schema_where_it_lies() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for list in ["cases/known-failures/new.yaml", "new.yaml"] {
            let named = schema(&here.join(list)).expect("it lies in a folder above");
            let found = here.join(list).parent().expect("it has a folder").join(&named);
            assert!(found.is_file(), "{list}: {named}");
        }
        assert_eq!(schema(&here.join("new.yaml")).as_deref(), Some("cases/schema/known-failures.json"));
        assert_eq!(schema(Path::new("/no/such/folder/new.yaml")), None);
    }
}
