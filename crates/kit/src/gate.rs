//! The gate: a test program whose trials run the cases of a suite on a backend.
//!
//! The backend runs in processes of its own, where a crash or a hang costs one case. The program starts
//! itself again for them: with [`SERVE`] as its only argument, it serves the backend and runs no trial.

use std::{
    collections::BTreeMap,
    env, fmt,
    io::{self, Write as _},
    panic,
    path::{Path, PathBuf},
    process,
    sync::{Arc, OnceLock},
    time::Duration,
};

use dmlcts_backend::{Operators, process::Command};
use dmlcts_generate::{Strategy, Suite};
use dmlcts_report::Replay;
use dmlcts_spec::{Library, Operator};
use dmlcts_store::{Folder, StoreError, Stored};
use libtest_mimic::{Arguments, Trial};

use crate::{
    overall::Overall,
    serve,
    snapshot::TRIAL,
    trial::{ACCEPTING, SEED, TrialSubject},
};

/// The argument with which the program serves its backend.
const SERVE: &str = "--dmlcts-serve";
/// The variable of the environment with which the gate accepts what fails.
const ACCEPT: &str = "DMLCTS_ACCEPT";
/// The time that a process of the backend may be silent.
const CASE_TIMEOUT: Duration = Duration::from_secs(10);

/// A test program with a trial for each operator and strategy of a suite, and for each known finding.
///
/// A trial is called `slice1::boundary`, and that of a finding `finding::` and its id. `cargo test -- slice1`
/// selects trials as usual, but a second filter is an error, unlike in libtest. `--skip` may come repeatedly.
/// A trial runs its own cases alone, and so does cargo-nextest. Each crash costs two processes, so a trial
/// ends after 100 unexpected ones, and says how many cases did not run.
///
/// With `DMLCTS_ACCEPT=1`, the program first runs the whole suite, writes what fails into the folder of
/// [`Self::findings`] and prints the change, as `dmlcts run --accept` does. Then the trials run, and expect
/// what was written. A flake, a time-out or a run that was cut off is not accepted, and its trials fail.
/// At the hundredth unexpected crash, the run ends and accepts nothing. Then only a trial `gate` is there,
/// which fails and says what to do.
#[derive(Debug)]
#[must_use = "`test` runs the trials"]
pub struct Gate<F> {
    open: F,
    suite: String,
    findings: Option<PathBuf>,
    snapshots: Option<PathBuf>,
    case_timeout: Duration,
}

impl<T: Operators, E: fmt::Display, F: FnOnce() -> Result<T, E>> Gate<F> {
    /// A gate for the backend that `open` opens, with the suite `smoke`.
    pub fn new(open: F) -> Self {
        Self { open, suite: "smoke".to_owned(), findings: None, snapshots: None, case_timeout: CASE_TIMEOUT }
    }

    /// The suite: a name that `dmlcts suites` lists, or the path of a YAML file.
    pub fn suite(self, suite: impl Into<String>) -> Self {
        Self { suite: suite.into(), ..self }
    }

    /// The folder with the known findings of the backend, relative to the folder of the package.
    pub fn findings(self, folder: impl Into<PathBuf>) -> Self {
        Self { findings: Some(folder.into()), ..self }
    }

    /// Adds the trial `snapshot`, which compares the backend with the accepted snapshots in a folder. Its
    /// path is relative to the folder of the package. Its files are those of `dmlcts snapshot --dir`.
    ///
    /// A change is written beside the accepted file, and the trial fails. `cargo insta review` or `dmlcts
    /// snapshot review` accepts it. The trial runs the whole suite. If the accepted snapshot has no crash, it
    /// ends after 100 crashes, unless `INSTA_FORCE_PASS` is 1.
    pub fn snapshot(self, folder: impl Into<PathBuf>) -> Self {
        Self { snapshots: Some(folder.into()), ..self }
    }

    /// How long the backend may take for a case, by default 10 seconds.
    pub fn case_timeout(self, time: Duration) -> Self {
        Self { case_timeout: time, ..self }
    }

    /// Runs the trials that the arguments of the program select, and ends the program.
    pub fn test(self) -> ! {
        if env::args_os().skip(1).eq([SERVE]) {
            panics_in_one_line();
            // `ExitCode` ends no program by itself.
            process::exit(i32::from(serve(self.open) != process::ExitCode::SUCCESS));
        }
        let mut arguments = Arguments::from_args();
        // A list of the trials runs no case.
        let accepted = if arguments.list { Ok(()) } else { self.accept() };
        let overall = Arc::default();
        let trials = accepted.and_then(|()| self.trials(&overall)).unwrap_or_else(|reason| {
            // No filter may hide that nothing can run.
            (arguments.filter, arguments.skip) = (None, Vec::new());
            vec![Trial::test("gate", || Err(reason.into()))]
        });
        let conclusion = libtest_mimic::run(&arguments, trials);
        print(&overall.text());
        dmlcts_backend::process::end_all();
        conclusion.exit()
    }

    /// Accepts what fails, if the environment says so.
    fn accept(&self) -> Result<(), String> {
        match env::var_os(ACCEPT) {
            Some(value) if value == "1" => {}
            Some(value) if !value.is_empty() && value != "0" => {
                return Err(format!("{ACCEPT} is {}; write 1 to accept what fails", value.display()));
            }
            _ => return Ok(()),
        }
        if env::var_os("NEXTEST").is_some() {
            return Err(format!("{ACCEPT} would run the whole suite for each test; use `cargo test` for it"));
        }
        let folder = self.folder().ok_or_else(|| {
            format!(
                "{ACCEPT} has no folder to write into; name one: `Gate::new(…).findings(\"findings/myops\")`"
            )
        })?;
        let library = Library::embedded();
        let stored = folder.read_or_none(library).map_err(|error| error.to_string())?;
        let suite = Suite::load(&self.suite).map_err(|error| error.to_string())?;
        let subject = self.subject(library, suite, &stored)?;
        let text = subject
            .accept(&folder)
            .map_err(|failed| failed.message().unwrap_or("the run failed").to_owned())?;
        print(&text);
        Ok(())
    }

    /// The trials, or why there are none.
    fn trials(&self, overall: &Arc<Overall>) -> Result<Vec<Trial>, String> {
        let library = Library::embedded();
        let suite = Suite::load(&self.suite).map_err(|error| error.to_string())?;
        let stored = self.stored(library)?;
        let subject = self.subject(library, suite, &stored)?;
        let subject = Arc::new(TrialSubject { overall: Arc::clone(overall), ..subject });
        let mut trials = Vec::new();
        for (strategy, operators) in strategies(library, &subject.suite) {
            // Its first trial searches the cases for all operators.
            let source = Arc::new(OnceLock::new());
            trials.extend(operators.into_iter().map(|operator| {
                let (subject, source) = (Arc::clone(&subject), Arc::clone(&source));
                let name = format!("{}::{strategy}", operator.name().to_lowercase());
                Trial::ignorable_test(name, move || subject.run_strategy(operator, strategy, &source))
            }));
        }
        if trials.is_empty() {
            return Err(format!("the suite `{}` has no cases; name another one", self.suite));
        }
        trials.extend(stored.into_iter().map(|stored| {
            let subject = Arc::clone(&subject);
            let name = format!("finding::{}", stored.file.finding);
            Trial::ignorable_test(name, move || subject.run_finding(stored))
        }));
        if let Some(path) = &self.snapshots {
            let folder = dmlcts_snapshots::Folder::new(in_package(path));
            trials.push(Trial::ignorable_test(TRIAL, move || subject.run_snapshot(&folder)));
        }
        Ok(trials)
    }

    /// What the trials have in common.
    fn subject(
        &self,
        library: &'static Library,
        suite: Suite,
        stored: &[Stored],
    ) -> Result<TrialSubject, String> {
        // It only checks the suite: the cases of a part are searched when they are read.
        suite.expand(library, SEED).map_err(|error| error.to_string())?;
        let program = env::current_exe()
            .map_err(|error| format!("this program does not find itself, to run the backend: {error}"))?;
        let path = program.display().to_string();
        let path = if path.contains(char::is_whitespace) { format!("\"{path}\"") } else { path };
        let text = format!("{path} {SERVE}");
        Ok(TrialSubject {
            library,
            suite,
            known: stored.iter().cloned().collect(),
            replay: Replay { options: vec!["--backend".to_owned(), format!("exec:{text}")] },
            command: Command::of(program.as_os_str(), &[SERVE], &text),
            case_timeout: self.case_timeout,
            overall: Arc::default(),
        })
    }

    /// The folder of the known findings.
    fn folder(&self) -> Option<Folder> {
        Some(Folder::new(in_package(self.findings.as_ref()?)))
    }

    /// The known findings.
    fn stored(&self, library: &Library) -> Result<Vec<Stored>, String> {
        let Some(folder) = self.folder() else { return Ok(Vec::new()) };
        folder.read(library).map_err(|error| {
            let help = match error {
                StoreError::None { ref path } => {
                    format!("make it: mkdir -p {path}; or accept what fails today: {ACCEPTING}")
                }
                ref error => error.help(),
            };
            format!("the known findings cannot be read: {error}\nhelp: {help}")
        })
    }
}

/// Leaves the backtrace out of the messages of panics, unless `RUST_BACKTRACE` is `full`. A trial may see
/// thousands of panics, and each backtrace takes longer than a hundred cases.
fn panics_in_one_line() {
    if env::var_os("RUST_BACKTRACE").is_none_or(|value| value != "full") {
        panic::set_hook(Box::new(|information| {
            let _ = writeln!(io::stderr(), "\nthread 'main' {information}");
        }));
    }
}

/// Prints a text. A reader that goes away does not change the result.
fn print(text: &str) {
    let _ = io::stdout().write_all(text.as_bytes());
}

/// A path in the folder of the package. Cargo runs a test there, and other callers need not.
fn in_package(path: &Path) -> PathBuf {
    env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| path.to_owned(), |root| Path::new(&root).join(path))
}

/// The strategies of a suite, each with the operators for which it makes cases.
fn strategies(library: &'static Library, suite: &Suite) -> BTreeMap<Strategy, Vec<&'static Operator>> {
    let mut all: BTreeMap<Strategy, Vec<&Operator>> = BTreeMap::new();
    for part in &suite.form().parts {
        let is_chosen = |operator: &&Operator| {
            part.operators.as_ref().is_none_or(|names| names.iter().any(|name| name == operator.name()))
        };
        let operators = all.entry(part.strategy).or_default();
        for operator in library.operators().iter().filter(is_chosen) {
            if !operators.iter().any(|known| known.name() == operator.name()) {
                operators.push(operator);
            }
        }
    }
    all
}
