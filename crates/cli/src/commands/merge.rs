//! `dmlcts merge`: joins the results files of the parts of a run.

use std::{
    fs,
    io::{self, Write},
};

use dmlcts_diagnose::Diagnosis;
use dmlcts_model::FeatureLevel;
use dmlcts_profiles::Claim;
use dmlcts_report::{
    Context, KnownContext, Replay, Subject, command, is_proof, write_findings, write_known, write_summary,
};
use dmlcts_results::{Analysis, Error, Header, Reader, RunFiles, Writer};
use dmlcts_runner::CaseSource;
use dmlcts_spec::Library;

use super::{conclusion::conclude, run::proof};
use crate::{
    arguments::MergeArguments,
    colour,
    exit::Exit,
    known::is_whole,
    output,
    problem::{Problem, exit_after},
    profile, recorded,
    reports::Reports,
};

/// Joins the files and shows the result of the whole run.
pub(crate) fn merge(arguments: &MergeArguments) -> Result<Exit, Problem> {
    let library = Library::embedded();
    arguments.check_paths()?;
    let mut reports = Reports::open(&arguments.reports)?;
    let opened = open_parts(&arguments.files);
    let opened = opened.map_err(|problem| reports.explain(&run_of(&arguments.files), problem))?;
    let Some((files, header, claim)) = opened else { return Ok(Exit::Usage) };
    let mut context = context(&header, &arguments.files, arguments.reports.all);
    let run = context.subject.name().to_owned();
    let suite = recorded::suite(&header.selection);
    let strategies = recorded::strategies(&header.selection, suite.as_deref());
    let mut writer = match &arguments.results {
        Some(path) => {
            // If the parts cannot be joined, the existing file stays unchanged.
            let joined = RunFiles::open(&arguments.files)
                .and_then(|files| files.join(library, &strategies, None, &mut |_| Ok(())));
            joined.map_err(|error| reports.explain(&run, error.into()))?;
            let opened = Writer::create(path, arguments.overwrite, library, strategies.clone());
            Some(opened.map_err(|error| reports.explain(&run, error.of_output().into()))?)
        }
        None => None,
    };
    if let Some(writer) = &mut writer {
        let written = writer.header(&header);
        written.map_err(|error| reports.explain(&run, error.of_output().into()))?;
    }
    let level = header.feature_level().unwrap_or(FeatureLevel::NEWEST);
    let mut take = |line: &[u8]| {
        reports.take(line, level);
        writer.as_mut().map_or(Ok(()), |writer| writer.copy(line))
    };
    // Another version may expand a suite of the same text to other cases.
    let source = suite.as_deref().filter(|_| header.program == env!("CARGO_PKG_VERSION"));
    let source = source.map(|source| source as &dyn CaseSource);
    let analysis = Analysis { source, earlier: &[] };
    let joined = files.join(library, &strategies, Some(analysis), &mut take);
    if let (Err(_), Some(path)) = (&joined, &arguments.results)
        && fs::metadata(path).is_ok_and(|found| found.is_file())
    {
        // A part of a joined file would look like an interrupted run. The first error is reported.
        let _ = fs::remove_file(path);
    }
    let joined = joined.map_err(|error| reports.explain(&run, error.of_output().into()))?;
    let Some(diagnosis) = joined else { return Ok(Exit::Usage) };
    let summary = &diagnosis.summary;
    let stated = claim.as_ref().map(|claim| claim.state(library, summary));
    context.claim = claim;
    context.failures = arguments.results.as_ref().map(|path| command(&["dmlcts", "failures", path]));
    if let Some(parts) = suite.filter(|_| is_proof(summary) && header.selection.has_all_cases()) {
        context.certificate = proof(&parts);
    }
    let mut report = || {
        reports.write(&context, &diagnosis)?;
        output::write(|out| show(out, &context, &diagnosis, arguments.quiet))?;
        let exit = Exit::of(summary, is_whole(&header.selection));
        conclude(exit, summary, &header.backend.argument)
    };
    let ended = report();
    if let Some(writer) = &mut writer {
        let finished = writer.finish(&diagnosis, exit_after(&ended).code(), stated.as_ref().map(Into::into));
        return ended.and_then(|exit| Ok(finished.map(|()| exit).map_err(Error::of_output)?));
    }
    ended
}

/// Opens the files, and checks that they are the parts of one run that this program can sum up. Returns the
/// files, their selection and their claim.
fn open_parts(paths: &[String]) -> Result<Option<(RunFiles, Header, Option<Claim>)>, Problem> {
    let files = RunFiles::open(paths)?;
    let Some(header) = files.header() else { return Ok(None) };
    recorded::check_spec(&paths[0], &header, "join it with the version of dmlcts that wrote it")?;
    let claim = profile::claim(&header.selection)?;
    Ok(Some((files, header, claim)))
}

/// The name of the run in reports if the files cannot be joined: from the first readable file. A pipe is not
/// opened again, since it may have no writer, and opening it would block.
fn run_of(paths: &[String]) -> String {
    let is_file = |path: &&String| fs::metadata(path).is_ok_and(|found| found.is_file());
    let first = paths.iter().filter(is_file).find_map(|path| Reader::open(path).ok());
    let name = |part: Reader| context(part.header(), paths, false).subject.name().to_owned();
    first.map_or_else(|| "merge".to_owned(), name)
}

/// Shows the result of the whole run.
fn show(out: &mut dyn Write, context: &Context, run: &Diagnosis, quiet: bool) -> io::Result<()> {
    let style = colour::style();
    write_findings(out, context, run, style)?;
    write_known(out, context, &run.summary, style)?;
    if quiet { Ok(()) } else { write_summary(out, context, run, style) }
}

/// The context of a recorded run's summary.
fn context(header: &Header, paths: &[String], all: bool) -> Context {
    let selection = &header.selection;
    let subject = match &selection.suite {
        None => Subject::Given,
        Some(suite) => {
            let mut what = selection.describe();
            if paths.len() > 1 {
                what.extend([", in ", &paths.len().to_string(), " parts"]);
            }
            let mut words =
                ["dmlcts", "count", "--obligations", "--suite", &suite.name].map(str::to_owned).to_vec();
            words.extend(selection.words_without_limit());
            Subject::Suite { name: suite.name.clone(), what, obligations: command(&words) }
        }
    };
    // Each part of several has a command of its own.
    let resume = match paths {
        [path] => Some(format!("{} --resume {}", header.command, command(&[path]))),
        _ => None,
    };
    // The limits of a run are not recorded.
    Context {
        known: KnownContext { is_whole: is_whole(selection), ..KnownContext::default() },
        next: vec![(header.command.clone(), "the same again".to_owned())],
        resume,
        all,
        ..Context::new(Library::embedded(), subject, Replay::of(header))
    }
}
