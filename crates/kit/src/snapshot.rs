//! The trial that compares a backend with its accepted snapshots.

use std::{collections::BTreeMap, env, fs, io::Write as _, sync::Arc};

use dmlcts_backend::{Backend as _, Purpose, process::Incidents};
use dmlcts_diagnose::ExplainOptions;
use dmlcts_results::{BackendOptions, Header, SelectionForm, SuiteForm};
use dmlcts_runner::{CaseSource as _, Class, Configuration, Event, Stop, SuiteSource};
use dmlcts_snapshots::{Changes, Examples, Folder, Ran, plain};
use libtest_mimic::{Completion, Failed};

use crate::trial::{MOST_CRASHES, SEED, TrialSubject, broken, explaining};

/// The name of the trial.
pub(crate) const TRIAL: &str = "snapshot";
/// The command that makes a snapshot again.
const COMMAND: &str = "cargo test -- snapshot";
/// The most lines of a change that a trial shows.
const MOST_LINES: usize = 20;

impl TrialSubject {
    /// Runs the whole suite, and compares it with the snapshots in a folder. What changed is written there.
    pub(crate) fn run_snapshot(&self, folder: &Folder) -> Result<Completion, Failed> {
        let source = Arc::new(SuiteSource::new(self.suite.expand(self.library, SEED)?, &[]));
        let strategies = source.strategies();
        let backend = self.launcher(&Stop::default(), &Incidents::default()).host(Purpose::Retries)?;
        let name = plain(&backend.capabilities().name);
        drop(backend);
        let options = BackendOptions {
            argument: String::new(),
            in_process: false,
            case_timeout: self.case_timeout,
            memory: None,
        };
        let stored = folder.findings(&name, self.suite.name()).map_err(|error| with_help(&error))?;
        // `cargo insta test` asks for a review itself.
        let passes = env::var_os("INSTA_FORCE_PASS").is_some_and(|value| value == "1");
        let ends = !passes && !stored.iter().any(|finding| finding.classes.contains(&Class::Crashed));
        // The trials of the strategies explain the crashes. Other trials run beside this one.
        let max_crashes = ends.then_some(MOST_CRASHES);
        let configuration = Configuration { jobs: 1, record: true, max_crashes, ..Configuration::default() };
        let selection = self.selection(&configuration);
        let explaining = ExplainOptions { earlier: stored, ..explaining(ExplainOptions::USUAL_CASES) };
        let (mut header, mut examples) = (None, BTreeMap::new());
        let (run, incidents) =
            self.run_and_tell(source, configuration, &explaining, &mut |event| match event {
                Event::Started { capabilities, level, cases } => {
                    let what = (selection.clone(), COMMAND.to_owned());
                    let spec = self.library.hash();
                    header = Some(Header::new(what, spec, *cases, *level, (&options, capabilities)));
                }
                Event::Cases { cases, .. } => examples.extend(Examples::among(cases, &strategies)),
                _ => {}
            })?;
        if let Some(reason) = broken(&run.summary) {
            return Err(format!("{reason}\n{}", self.report(&run, incidents, false)).into());
        }
        let header = header.ok_or("the run did not start")?;
        let all =
            folder.propose_run(&name, &Ran { header, run, examples }).map_err(|error| with_help(&error))?;
        for (name, _) in &all {
            refer(folder, name)?;
        }
        let changed: Vec<String> =
            all.iter().filter(|(_, changes)| !changes.is_empty()).map(|one| text(folder, one)).collect();
        if changed.is_empty() || passes {
            return Ok(Completion::Completed);
        }
        Err(format!("{}review: `cargo insta review`, or `dmlcts snapshot review`", changed.concat()).into())
    }

    /// The cases of the suite, and how they run.
    fn selection(&self, configuration: &Configuration) -> SelectionForm {
        let suite = SuiteForm { name: self.suite.name().to_owned(), hash: self.suite.source().hash() };
        SelectionForm {
            suite: Some(suite),
            seed: SEED,
            memory: configuration.memory,
            runs: configuration.runs,
            retries: configuration.retries,
            ..SelectionForm::default()
        }
    }
}

/// Notes that a test has a snapshot, for `cargo insta test --unreferenced`.
fn refer(folder: &Folder, name: &str) -> Result<(), Failed> {
    let Some(path) = env::var_os("INSTA_SNAPSHOT_REFERENCES_FILE") else { return Ok(()) };
    let written = fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(&path)
        .and_then(|mut file| writeln!(file, "{}", folder.accepted(name).display()));
    written.map_err(|error| format!("cannot write {}: {error}", path.display()).into())
}

/// The first lines of what changed in a file.
fn text(folder: &Folder, (name, changes): &(String, Changes)) -> String {
    let text = changes.to_text();
    let lines: Vec<&str> = text.lines().take(MOST_LINES).collect();
    format!("{}: {}\n{}\n\n", folder.pending(name).display(), changes.counts(), lines.join("\n"))
}

fn with_help(error: &dmlcts_snapshots::SnapshotError) -> Failed {
    format!("{error}\nhelp: {}", error.help()).into()
}
