//! `dmlcts snapshot`: makes a snapshot of a run, and compares it with the accepted one.

use std::{cell::RefCell, collections::BTreeMap, io::Write as _, time::Instant};

use dmlcts_diagnose::{Diagnosis, StoredFinding};
use dmlcts_report::command;
use dmlcts_results::{CaseForm, Header, Line};
use dmlcts_snapshots::{Changes, Examples, Snapshot, SnapshotError, check_name, compare, compare_examples};
use dmlcts_spec::Library;

use crate::{
    arguments::{MakeArguments, RunArguments, Selection},
    commands::run,
    exit::Exit,
    names::plain,
    output,
    problem::Problem,
    recorded,
    selection::load_suite,
};

/// The name of the file of the examples.
const EXAMPLES: &str = "examples";

/// A recorded run, as a snapshot needs it.
struct Recorded {
    header: Header,
    run: Diagnosis,
    /// The results of the examples of the pages, by line.
    examples: BTreeMap<String, CaseForm<'static>>,
}

/// Makes the snapshot of a suite or of a recorded run, and writes what changed.
pub(super) fn make(arguments: &MakeArguments, started: Instant) -> Result<Exit, Problem> {
    arguments.name.iter().try_for_each(|name| check_name(name))?;
    if let Some(path) = &arguments.from {
        return from(path, arguments, false);
    }
    suite_file(load_suite(&arguments.suite)?.name())?;
    let folder = tempfile::tempdir().map_err(|cause| {
        let help = "make room in the folder for temporary files, or name another one by TMPDIR";
        Problem::usage(format!("cannot make a temporary folder: {cause}"), help)
    })?;
    let path = folder.path().join("run.jsonl").display().to_string();
    let run = RunArguments { stored: stored(arguments)?, ..of_run(arguments, &path) };
    let is_kept = !run.stored.is_empty();
    match run::run(&run, started)? {
        Exit::Interrupted => {
            output::note("interrupted: no snapshot was written");
            Ok(Exit::Interrupted)
        }
        Exit::Broken => {
            let problem = from(&path, arguments, is_kept).err();
            let said = problem.map(|problem| problem.render()).unwrap_or_default();
            let _ = output::stderr().write_all(said.as_bytes());
            Ok(Exit::Broken)
        }
        Exit::Success | Exit::Unexpected | Exit::Usage => from(&path, arguments, is_kept),
    }
}

/// The arguments of the run that is recorded in the file at a path. What this command has no option for is as
/// `run` has it.
fn of_run(arguments: &MakeArguments, path: &str) -> RunArguments {
    let usual = arguments.backend.run();
    RunArguments {
        selection: Selection {
            suite: arguments.suite.clone(),
            filter: arguments.filter.clone(),
            seed: arguments.seed,
            jobs: arguments.jobs,
            ..usual.selection
        },
        timeout: arguments.timeout,
        results: Some(path.to_owned()),
        is_silent: true,
        ..usual
    }
}

/// The findings of the accepted snapshot, whose ids and predicates the run keeps. A backend says its name
/// only when it runs, so the snapshot is found by its folder or by the backend of its command.
fn stored(arguments: &MakeArguments) -> Result<Vec<StoredFinding>, Problem> {
    let folder = arguments.all.folder()?;
    let suite = load_suite(&arguments.suite)?;
    let backend = command(&["--backend", &arguments.backend.backend]);
    let name = arguments.name.clone().unwrap_or_else(|| plain(&arguments.backend.backend));
    let mut found = Vec::new();
    for one in folder.list()?.iter().filter(|one| one.is_accepted && one.suite() == plain(suite.name())) {
        let path = folder.accepted(&one.name);
        let text = folder.text(&path)?.unwrap_or_default();
        let is_named = one.is_called(&name);
        if is_named || arguments.name.is_none() && text.contains(" --backend ") {
            let snapshot = Snapshot::parse(&path.display().to_string(), &text)?;
            if is_named || snapshot.about.command.contains(&backend) {
                found = snapshot.stored(Library::embedded());
            }
        }
    }
    Ok(found)
}

/// Makes the snapshot of a recorded run, and writes what changed. `is_kept` is whether the run kept the ids
/// and predicates of the accepted findings.
fn from(path: &str, arguments: &MakeArguments, is_kept: bool) -> Result<Exit, Problem> {
    let own = read(path, &[])?;
    let folder = arguments.all.folder()?;
    let name = arguments.name.clone().unwrap_or_else(|| plain(&own.header.backend.capabilities.name));
    check_name(&name)?;
    let file = suite_file(own.header.selection.suite.as_ref().map_or("given", |suite| suite.name.as_str()))?;
    let suite = format!("{name}/{file}");
    // Before anything is written.
    Snapshot::new(&own.header, &own.run, None)?;
    let examples = Examples::new(&own.header, &own.examples);
    let failed: RefCell<Option<Problem>> = RefCell::new(None);
    let proposed = folder.propose(&suite, |place, text| {
        let old = text.map(|text| Snapshot::parse(place, text)).transpose()?;
        let kept = if is_kept { Ok(own) } else { with_stored(path, own, old.as_ref()) };
        let mut new = match kept {
            Ok(recorded) => Snapshot::new(&recorded.header, &recorded.run, old.as_ref())?,
            Err(problem) => {
                *failed.borrow_mut() = Some(problem);
                let (why, help) = ("it could not be read again".to_owned(), String::new());
                return Err(SnapshotError::Unfit { why, help });
            }
        };
        let changes = compare(old.as_ref(), &new);
        new.about.description = description(&changes);
        Ok((Some(new.to_text()).filter(|_| !changes.is_empty()), changes))
    });
    if let Some(problem) = failed.into_inner() {
        return Err(problem);
    }
    let mut all = vec![(suite, proposed?)];
    if let Some(mut new) = examples {
        let place = format!("{name}/{EXAMPLES}");
        let changes = folder.propose(&place, |path, text| {
            let old = text.map(|text| Examples::parse(path, text)).transpose()?;
            let changes = compare_examples(old.as_ref(), &new);
            new.about.description = description(&changes);
            Ok((Some(new.to_text()).filter(|_| !changes.is_empty()), changes))
        })?;
        all.push((place, changes));
    }
    report(&all, arguments)
}

/// Prints what changed, and what to do with it.
fn report(all: &[(String, Changes)], arguments: &MakeArguments) -> Result<Exit, Problem> {
    let mut out = output::stdout();
    let mut exit = Exit::Success;
    let mut write = || {
        for (name, changes) in all {
            if changes.is_empty() {
                writeln!(out, "{name}: as accepted")?;
            } else {
                exit = Exit::Unexpected;
                writeln!(out, "{name}: {}", changes.counts())?;
                writeln!(out, "  {}", changes.cause)?;
            }
        }
        if exit == Exit::Unexpected {
            let dir = arguments.all.dir.as_ref().map_or(vec![], |dir| vec!["--dir", dir.as_str()]);
            let with = |word: &str| command(&[&["dmlcts", "snapshot", word], &dir[..]].concat());
            writeln!(out, "see {}, then {} or {}", with("diff"), with("review"), with("accept"))?;
        }
        out.flush()
    };
    let written = write();
    output::unless_gone(written)?;
    Ok(exit)
}

/// Why a file is written.
fn description(changes: &Changes) -> String {
    format!("{}; {}", changes.counts(), changes.cause)
}

/// The run with the ids and predicates of the accepted findings. If its own findings are the accepted ones,
/// it is as it was read.
fn with_stored(path: &str, own: Recorded, old: Option<&Snapshot>) -> Result<Recorded, Problem> {
    let stored = old.map(|old| old.stored(Library::embedded())).unwrap_or_default();
    let is_stored = |finding: &dmlcts_diagnose::Finding| {
        let predicate = finding.rule.as_ref().map(|rule| &rule.predicate);
        stored.iter().any(|one| {
            one.id == finding.id && one.classes == [finding.class] && one.predicate.as_ref() == predicate
        })
    };
    if stored.is_empty() || own.run.findings.iter().all(is_stored) {
        return Ok(own);
    }
    read(path, &stored)
}

/// Reads a results file of a whole run.
fn read(path: &str, earlier: &[StoredFinding]) -> Result<Recorded, Problem> {
    let mut examples = BTreeMap::new();
    let (header, run) = recorded::read(path, earlier, &mut |line| examples.extend(example(line)))?;
    Ok(Recorded { header, run, examples })
}

/// The case of an example, if the line of a results file has one.
fn example(line: &[u8]) -> Option<(String, CaseForm<'static>)> {
    // Most lines are of other cases.
    let is_explicit = line.windows(b"fill=explicit:".len()).any(|part| part == b"fill=explicit:");
    let Some(Line::Case(case)) = is_explicit.then(|| Line::parse(line)).flatten() else { return None };
    let text = case.line.to_string();
    Examples::has(&text).then(|| (text, case.into_owned()))
}

/// The name of a suite's file.
fn suite_file(suite: &str) -> Result<String, Problem> {
    let file = plain(suite);
    check_name(&file)?;
    if file == EXAMPLES {
        let message =
            format!("the suite `{suite}` cannot have a snapshot: its file would be {EXAMPLES}.snap");
        return Err(Problem::usage(
            message,
            "that file holds the examples of the pages: give the suite another name, in its first line",
        ));
    }
    Ok(file)
}
