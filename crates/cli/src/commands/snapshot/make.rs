//! `dmlcts snapshot`: makes a snapshot of a run, and compares it with the accepted one.

use std::{
    collections::BTreeMap,
    io::{self, IsTerminal as _, Write as _},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use dmlcts_backend::process::Incidents;
use dmlcts_diagnose::{Diagnosis, Event, Explaining, StoredFinding};
use dmlcts_report::{Options, Terminal, command};
use dmlcts_results::{CaseForm, Header, Line, Reader};
use dmlcts_runner::{Configuration, Event as RunEvent, Run, Stop};
use dmlcts_snapshots::{Changes, Examples, Snapshot, check_name, compare, compare_examples};
use dmlcts_spec::Library;

use super::again::{subcommand, without_folders};
use crate::{
    arguments::{MakeArguments, RunArguments, Selection},
    backends, colour,
    commands::{
        conclusion::conclude,
        run::{self, Cases},
    },
    exit::Exit,
    known::is_whole,
    names::plain,
    output,
    problem::Problem,
    recorded,
    selection::load_suite,
    signals,
};

/// The name of the file of the examples.
const EXAMPLES: &str = "examples";

/// A run of a whole suite, as a snapshot needs it.
struct Ran {
    header: Header,
    run: Diagnosis,
    /// The results of the examples of the pages, by line.
    examples: BTreeMap<String, CaseForm<'static>>,
}

/// Makes the snapshot of a suite or of a recorded run, and writes what changed.
pub(super) fn make(arguments: &MakeArguments, started: Instant) -> Result<Exit, Problem> {
    arguments.name.iter().try_for_each(|name| check_name(name))?;
    if let Some(path) = &arguments.from {
        return propose(&read(path, arguments)?, arguments);
    }
    suite_file(load_suite(&arguments.suite)?.name())?;
    let (exit, ran) = run_suite(arguments, started)?;
    match exit {
        Exit::Interrupted => {
            output::note("interrupted: no snapshot was written");
            Ok(exit)
        }
        Exit::Broken => {
            let problem = propose(&ran, arguments).err();
            let said = problem.map(|problem| problem.render()).unwrap_or_default();
            let _ = output::stderr().write_all(said.as_bytes());
            Ok(exit)
        }
        Exit::Success | Exit::Unexpected | Exit::Usage => propose(&ran, arguments),
    }
}

/// Runs a suite. It shows progress, but no results.
fn run_suite(arguments: &MakeArguments, started: Instant) -> Result<(Exit, Ran), Problem> {
    let arguments_of_run = &of_run(arguments);
    let selection = &arguments_of_run.selection;
    let (stop, runs) = (Stop::default(), Arc::new(AtomicBool::new(false)));
    signals::end_run(&stop, &runs);
    let deadline = arguments.timeout.and_then(|time| started.checked_add(time));
    let incidents = Incidents::default();
    let hosting = run::hosting(arguments_of_run, deadline, &stop, &incidents);
    let backend = backends::factory(&arguments_of_run.backend, &hosting)?;
    let name = backends::name(&*backend, &arguments_of_run.backend)?;
    let stored = accepted(&name, load_suite(&selection.suite)?.name(), arguments)?;
    let Cases { source, context, form, .. } = run::cases(arguments_of_run, deadline, None, None)?;
    let strategies = source.strategies();
    let run = Run {
        library: Library::embedded(),
        source,
        backend,
        configuration: Configuration {
            deadline,
            filter: selection.filter()?,
            incidents,
            record: true,
            ..run::configuration(arguments_of_run)
        },
        stop,
    };
    let (mut out, mut err) = (io::sink(), output::stderr());
    let bar = io::stderr().is_terminal();
    let options = Options { quiet: false, bar, style: colour::style() };
    let mut terminal = Terminal::new(&mut out, &mut err, context, options);
    let (mut header, mut examples) = (None, BTreeMap::new());
    let explaining = Explaining { stored, ..run::explaining(arguments_of_run) };
    let ended = dmlcts_diagnose::run(&run, &explaining, &mut |event| {
        match &event {
            Event::Run(RunEvent::Started { capabilities, level, cases }) => {
                let what = (form.clone(), command(&arguments_of_run.words_of_a_run(&form)));
                let options = arguments_of_run.backend_options();
                let spec = Library::embedded().hash();
                header = Some(Header::new(what, spec, *cases, *level, (&options, capabilities)));
                runs.store(true, Ordering::Relaxed);
            }
            Event::Run(RunEvent::Cases { cases, .. }) => {
                let of_examples = cases.iter().filter(|case| Examples::has(case.line));
                examples.extend(of_examples.map(|case| {
                    let form = CaseForm::of_result(&case, Library::embedded(), &strategies);
                    (case.line.to_owned(), form.into_owned())
                }));
            }
            _ => {}
        }
        terminal.show(&event);
    });
    let diagnosis = ended.map_err(|error| Problem::start(error, &arguments_of_run.backend))?;
    if run::is_empty(&diagnosis.summary, selection) {
        return Err(run::nothing(&diagnosis.summary, selection));
    }
    terminal.finish_without_report();
    dmlcts_backend::process::end_all();
    let exit = Exit::of(&diagnosis.summary, is_whole(&form));
    let exit = conclude(exit, &diagnosis.summary, &arguments_of_run.backend)?;
    let Some(header) = header else { return Err(run::nothing(&diagnosis.summary, selection)) };
    Ok((exit, Ran { header, run: diagnosis, examples }))
}

/// The arguments of the run. What this command has no option for is as `run` has it.
fn of_run(arguments: &MakeArguments) -> RunArguments {
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
        ..usual
    }
}

/// Reads a results file of a whole run.
fn read(path: &str, arguments: &MakeArguments) -> Result<Ran, Problem> {
    let about = Reader::open(path)?;
    let selection = &about.header().selection;
    let suite = selection.suite.as_ref().map_or("given", |suite| suite.name.as_str());
    let stored = accepted(&about.header().backend.capabilities.name, suite, arguments)?;
    let mut examples = BTreeMap::new();
    let (header, run) = recorded::read(path, &stored, &mut |line| examples.extend(example(line)))?;
    Ok(Ran { header, run, examples })
}

/// The findings of the accepted snapshot of this backend and suite, whose ids and predicates a run keeps.
fn accepted(backend: &str, suite: &str, arguments: &MakeArguments) -> Result<Vec<StoredFinding>, Problem> {
    let folder = arguments.all.folder()?;
    let path = folder.accepted(&place(backend, suite, arguments)?);
    let Some(text) = folder.text(&path)? else { return Ok(Vec::new()) };
    Ok(Snapshot::parse(&path.display().to_string(), &text)?.stored(Library::embedded()))
}

/// The name of the snapshot of this backend and suite.
fn place(backend: &str, suite: &str, arguments: &MakeArguments) -> Result<String, Problem> {
    let name = arguments.name.clone().unwrap_or_else(|| plain(backend));
    check_name(&name)?;
    Ok(format!("{name}/{}", suite_file(suite)?))
}

/// Makes the snapshot of a run, and writes what changed.
fn propose(ran: &Ran, arguments: &MakeArguments) -> Result<Exit, Problem> {
    let Ran { header, run, examples } = ran;
    let folder = arguments.all.folder()?;
    let suite = header.selection.suite.as_ref().map_or("given", |suite| suite.name.as_str());
    let suite = place(&header.backend.capabilities.name, suite, arguments)?;
    // Before anything is written.
    Snapshot::new(header, run, None)?;
    let changes = folder.propose(&suite, |path, text| {
        let old = text.map(|text| Snapshot::parse(path, text)).transpose()?;
        let mut new = Snapshot::new(header, run, old.as_ref())?;
        let changes = compare(old.as_ref(), &new);
        new.about.description = description(&changes);
        new.about.command = without_folders(&new.about.command);
        Ok((Some(new.to_text()).filter(|_| !changes.is_empty()), changes))
    })?;
    let backend = suite.split('/').next().unwrap_or_default().to_owned();
    let mut all = vec![(suite, changes)];
    if let Some(mut new) = Examples::new(header, examples) {
        new.about.command = without_folders(&new.about.command);
        let place = format!("{backend}/{EXAMPLES}");
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
            let with = |word: &str| subcommand(word, &arguments.all);
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
