//! `dmlcts run`: puts cases to a backend.

use std::{
    io::{self, IsTerminal},
    sync::Arc,
};

use dmlcts_generate::Certificate;
use dmlcts_report::{Context, Options, Terminal};
use dmlcts_runner::{Configuration, Ending, Listed, Parts, Run, Source, Stop};
use dmlcts_spec::Library;

use crate::{
    arguments::RunArguments, backends, certificate, exit::Exit, output, problem::Problem,
    selection::parse_case,
};

/// Runs, shows what happens, and says how the program ends.
pub(crate) fn run(arguments: &RunArguments) -> Result<Exit, Problem> {
    let selection = &arguments.selection;
    // First of all, since expanding a large suite takes a while, too.
    let stop = Stop::default();
    stop_at_ctrl_c(&stop);
    let backend = backends::factory(&arguments.backend)?;
    let filter = selection.filter()?;
    let (source, context) = source(arguments)?;
    let run = Run {
        library: Library::embedded(),
        source,
        backend,
        configuration: Configuration {
            level: selection.feature_level,
            jobs: selection.threads(),
            limit: selection.limit,
            fail_fast: arguments.fail_fast,
            timeout: arguments.timeout,
            memory: arguments.memory,
            allow: arguments.allow.clone(),
            filter,
            // A case that somebody typed is shown as it was typed.
            shrink: arguments.cases.is_empty(),
            ..Configuration::default()
        },
        stop: stop.clone(),
    };
    let (mut out, mut err) = (output::stdout(), io::stderr());
    let bar = err.is_terminal();
    let options = Options { quiet: arguments.quiet, bar, palette: output::palette() };
    let mut terminal = Terminal::new(&mut out, &mut err, context, options);
    let mut written = Ok(());
    let summary = dmlcts_runner::run(&run, &mut |event| {
        if written.is_ok() {
            written = terminal.show(&event);
        }
    })?;
    match written {
        // The reader has seen enough; what the run came to holds all the same.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(Exit::of(&summary)),
    }
}

/// The cases, and what a summary calls them.
fn source(arguments: &RunArguments) -> Result<(Arc<dyn Source>, Context), Problem> {
    let library = Library::embedded();
    if !arguments.cases.is_empty() {
        let cases = arguments.cases.iter().map(|line| parse_case(line)).collect::<Result<Vec<_>, _>>()?;
        let next = vec![(format!("dmlcts explain '{}'", cases[0]), "what the spec says of it".to_owned())];
        let what = if cases.len() == 1 { "one case".to_owned() } else { format!("{} cases", cases.len()) };
        let context = Context { library, what, certificate: Vec::new(), next };
        return Ok((Arc::new(Listed::new(cases, "given")), context));
    }
    let selection = &arguments.selection;
    let parts = selection.parts()?;
    let name = parts.expansion().suite().name().to_owned();
    let is_whole =
        selection.filter.is_none() && selection.feature_level.is_none() && selection.strategy.is_empty();
    let certificate = if is_whole { proof(&parts) } else { Vec::new() };
    let mut what = format!("suite {name}, seed {}", selection.seed);
    if let Some(filter) = &selection.filter {
        what.extend([", where ", filter]);
    }
    let mut next = Vec::new();
    if name == "smoke" {
        next.push(("dmlcts run --suite ci".to_owned(), "more cases".to_owned()));
    }
    next.push((
        format!("dmlcts list --suite {} | head", selection.suite),
        "the cases, one line each".to_owned(),
    ));
    next.push(("dmlcts spec list".to_owned(), "what is promised".to_owned()));
    Ok((Arc::new(parts), Context { library, what, certificate, next }))
}

/// What a complete run proves, where exhaustive parts are most of the suite.
fn proof(parts: &Parts) -> Vec<String> {
    let all = parts.count().map(u128::from);
    Certificate::of(parts.expansion())
        .filter(|certificate| all.is_some_and(|all| certificate.cases() * 2 > all))
        .map(|certificate| certificate::lines(&certificate))
        .unwrap_or_default()
}

/// The first Ctrl-C ends the run with its summary; the second ends the program at once.
fn stop_at_ctrl_c(stop: &Stop) {
    let stop = stop.clone();
    // Without a handler Ctrl-C ends the program at once, which is no reason not to run.
    let _ = ctrlc::set_handler(move || {
        if stop.is_requested() {
            std::process::exit(i32::from(Exit::Interrupted.code()));
        }
        stop.request(Ending::Interrupted);
    });
}
