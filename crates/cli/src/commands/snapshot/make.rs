//! `dmlcts snapshot`: makes a snapshot of a run, and compares it with the accepted one.

use std::{
    collections::BTreeMap,
    io::{self, IsTerminal as _, Write as _},
    time::Instant,
};

use dmlcts_backend::process::Incidents;
use dmlcts_diagnose::{EarlierFinding, Event, ExplainOptions};
use dmlcts_report::{Options, Terminal, command};
use dmlcts_results::{CaseForm, Header, Reader};
use dmlcts_runner::{Configuration, Event as RunEvent, Run};
use dmlcts_snapshots::{Changes, Examples, Ran, check_name, plain};
use dmlcts_spec::Library;

use super::{
    again::{subcommand, without_folders},
    outputs::Outputs,
};
use crate::{
    arguments::MakeArguments,
    backends, colour,
    commands::{
        conclusion::conclude,
        run::{self, Cases},
    },
    exit::Exit,
    known::is_whole,
    output,
    problem::Problem,
    recorded,
    selection::load_suite,
    signals,
};

/// Makes the snapshot of a suite or of a recorded run, and writes what changed.
pub(super) fn make(arguments: &MakeArguments, started: Instant) -> Result<Exit, Problem> {
    arguments.name.iter().try_for_each(|name| check_name(name))?;
    if let Some(path) = &arguments.from {
        return propose(read(path, arguments)?, arguments);
    }
    let outputs = arguments.outputs.as_deref().map(Outputs::to_write).transpose()?;
    let (exit, ran) = run_suite(arguments, started)?;
    if let Some(outputs) = outputs.filter(|_| exit != Exit::Interrupted) {
        outputs.write(&ran.run)?;
    }
    match exit {
        Exit::Interrupted => {
            output::note("interrupted: no snapshot was written");
            Ok(exit)
        }
        Exit::Broken => {
            let problem = propose(ran, arguments).err();
            let said = problem.map(|problem| problem.render()).unwrap_or_default();
            let _ = output::stderr().write_all(said.as_bytes());
            Ok(exit)
        }
        Exit::Success | Exit::Unexpected | Exit::Usage => propose(ran, arguments),
    }
}

/// Runs a suite. It shows progress, but no results.
fn run_suite(arguments: &MakeArguments, started: Instant) -> Result<(Exit, Ran), Problem> {
    let mut arguments_of_run = arguments.of_suite.run(&arguments.suite);
    arguments_of_run.limits.timeout = arguments.timeout;
    let arguments_of_run = &arguments_of_run;
    let selection = &arguments_of_run.selection;
    let (stop, begun) = signals::end_run();
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
    let explaining = ExplainOptions { earlier: stored, ..run::explaining(arguments_of_run) };
    let ended = dmlcts_diagnose::run(&run, &explaining, &mut |event| {
        match &event {
            Event::Run(RunEvent::Started { capabilities, level, cases }) => {
                let what = (form.clone(), command(&arguments_of_run.words_of_a_run(&form)));
                let options = arguments_of_run.backend_options();
                let spec = Library::embedded().hash();
                header = Some(Header::new(what, spec, *cases, *level, (&options, capabilities)));
                begun.set();
            }
            Event::Run(RunEvent::Cases { cases, .. }) => {
                examples.extend(Examples::among(cases, &strategies));
            }
            // It may be an accepted one.
            Event::Run(RunEvent::Failed(_)) => return,
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
fn accepted(backend: &str, suite: &str, arguments: &MakeArguments) -> Result<Vec<EarlierFinding>, Problem> {
    Ok(arguments.all.folder()?.findings(&name(backend, arguments), suite)?)
}

/// The backend's folder.
fn name(backend: &str, arguments: &MakeArguments) -> String {
    arguments.name.clone().unwrap_or_else(|| plain(backend))
}

/// Makes the snapshots of a run, and writes what changed.
fn propose(mut ran: Ran, arguments: &MakeArguments) -> Result<Exit, Problem> {
    ran.header.command = without_folders(&ran.header.command);
    let name = name(&ran.header.backend.capabilities.name, arguments);
    report(&arguments.all.folder()?.propose_run(&name, &ran)?, arguments)
}

/// Prints what changed, and what to do with it.
fn report(all: &[(String, Changes)], arguments: &MakeArguments) -> Result<Exit, Problem> {
    let mut exit = Exit::Success;
    output::write(|out| {
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
        Ok(())
    })?;
    Ok(exit)
}

/// The case of an example, if the line of a results file has one.
fn example(line: &[u8]) -> Option<(String, CaseForm<'static>)> {
    // Most lines are of other cases.
    let is_explicit = line.windows(b"fill=explicit:".len()).any(|part| part == b"fill=explicit:");
    let case = is_explicit.then(|| CaseForm::of_line(line)).flatten()?;
    let text = case.line.to_string();
    Examples::has(&text).then(|| (text, case.into_owned()))
}
