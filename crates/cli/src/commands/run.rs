//! `dmlcts run`: runs cases on a backend.

use std::{
    io::{self, IsTerminal},
    sync::Arc,
    time::Instant,
};

use dmlcts_backend::process::Incidents;
use dmlcts_diagnose::{Diagnosis, Event, ExplainOptions};
use dmlcts_generate::Certificate;
use dmlcts_model::{Case, FeatureLevel};
use dmlcts_profiles::{Claim, Profile};
use dmlcts_report::{Context, KnownContext, Options, Replay, Subject, Terminal, command, is_proof};
use dmlcts_results::{FolderForm, SelectionForm};
use dmlcts_runner::{
    CaseSource, Configuration, Ending, Event as RunEvent, Listed, Run, Stop, SuiteSource, Summary,
};
use dmlcts_spec::Library;
use dmlcts_store::{FailedCases, Folder};

use super::conclusion::conclude;
use crate::{
    arguments::{RunArguments, Selection},
    backends::{self, Hosting},
    certificate, colour,
    exit::Exit,
    given::{self, Bindings},
    known::{Acceptance, Expected, accept_run, is_whole},
    output,
    problem::{Problem, exit_after},
    record::Record,
    reports::Reports,
    signals,
};

/// Runs the cases and reports the results. `--timeout` counts from `started`.
pub(crate) fn run(arguments: &RunArguments, started: Instant) -> Result<Exit, Problem> {
    arguments.check_paths()?;
    let (arguments, claim) = &arguments.spelled_out().of_profile()?;
    let selection = &arguments.selection;
    let ((stop, begun), incidents) = (signals::end_run(), Incidents::default());
    let filter = selection.filter()?;
    // A deadline that no clock can hold never comes.
    let deadline = |from: Instant| arguments.limits.timeout.and_then(|time| from.checked_add(time));
    let until = deadline(started).filter(|_| arguments.limits.budget.is_none());
    let known = Expected::load(&arguments.verdicts)?;
    let Cases { source, parts, mut context, form } = cases(arguments, until, known.form(), claim.as_ref())?;
    // A search for cases may take longer than a whole budget.
    let deadline = until.or_else(|| deadline(Instant::now()));
    let backend = backends::factory(&arguments.backend, &hosting(arguments, deadline, &stop, &incidents))?;
    let command = command(&arguments.words_of_a_run(&form));
    let is_whole = is_whole(&form);
    let accept = accept_command(arguments, &command).filter(|_| !arguments.verdicts.accept);
    context.known = KnownContext { listed: known.failures(), is_whole, accept };
    let mut failed = arguments.verdicts.accept.then(FailedCases::default);
    let mut reports = Reports::open(&arguments.reports)?;
    let record = Record::open(arguments, (form, command), source.strategies(), claim.clone());
    let (mut record, earlier) = record.map_err(|problem| reports.explain(context.subject.name(), problem))?;
    reports.follow(source.strategies(), arguments.resume.as_ref().zip(earlier.resume.as_ref()))?;
    let run = Run {
        library: Library::embedded(),
        source,
        backend,
        configuration: Configuration {
            deadline,
            filter,
            incidents,
            known: known.failures(),
            tries_smallest: arguments.cases.is_empty(),
            record: record.is_some() || arguments.verdicts.accept || reports.need_cases(),
            resume: earlier.resume,
            run_outcomes: earlier.run_outcomes,
            ..configuration(arguments)
        },
        stop,
    };
    let (mut out, mut err) = (output::stdout(), output::stderr());
    let bar = io::stderr().is_terminal();
    let options = Options { quiet: arguments.quiet, bar, style: colour::style() };
    let mut terminal = Terminal::new(&mut out, &mut err, context.clone(), options);
    let mut recorded = Ok(());
    let ended = dmlcts_diagnose::run(&run, &explaining(arguments), &mut |event| {
        if let Event::Run(event) = &event {
            if let Some(failed) = &mut failed {
                failed.on_event(event);
            }
            if let RunEvent::Started { capabilities, .. } = event {
                recorded = known.check(&capabilities.name);
                // Before this event, the program waits for the backend to start.
                begun.set();
            }
            reports.on_event(event);
            if let Some(record) = record.as_mut().filter(|_| recorded.is_ok()) {
                recorded = record.on_event(event);
            }
            if recorded.is_err() {
                run.stop.request(Ending::NotRecorded);
            }
        }
        terminal.show(&event);
    });
    let diagnosis = ended.map_err(|error| {
        reports.explain(context.subject.name(), Problem::start(error, &arguments.backend))
    })?;
    let summary = &diagnosis.summary;
    let ran = !is_empty(summary, selection);
    // The findings that the folder takes are known now: the terminal and the annotations leave them out.
    let accepts = failed.as_ref().zip(known.folder()).filter(|_| ran && recorded.is_ok());
    let accepted = accepts.map(|accepts| accepting(arguments, accepts, &diagnosis, is_whole));
    if let Some(Ok(accepted)) = &accepted {
        context.accepted.clone_from(&accepted.ids);
        terminal.accept(&accepted.ids);
    }
    let mut written = Ok(());
    if ran && !is_refused(summary) {
        if let Some(parts) = parts.as_ref().filter(|_| is_proof(summary)) {
            terminal.prove(proof(parts));
        }
        written = terminal.finish(&diagnosis);
    }
    // A worker that was left behind may have a process that hangs.
    dmlcts_backend::process::end_all();
    recorded.map_err(|problem| unrecorded(problem, &mut reports, &context, &diagnosis))?;
    let report = || {
        if !ran {
            return Err(reports.explain(context.subject.name(), nothing(summary, selection)));
        }
        reports.write(&context, &diagnosis)?;
        let mut exit = Exit::of(summary, is_whole);
        if let Some(accepted) = accepted {
            let accepted = accepted?;
            // A failure to print does not change the exit code.
            accepted.text.lines().for_each(output::note);
            exit = if exit == Exit::Unexpected { accepted.exit } else { exit };
        }
        output::unless_gone(written)?;
        conclude(exit, summary, &arguments.backend)
    };
    let ended = report();
    let finished = record.map_or(Ok(()), |mut record| record.finish(&diagnosis, exit_after(&ended)));
    ended.and_then(|exit| finished.map(|()| exit))
}

/// Accepts what a run showed. Cases that were given to become findings have to fail.
fn accepting(
    arguments: &RunArguments,
    (failed, folder): (&FailedCases, &Folder),
    diagnosis: &Diagnosis,
    is_whole: bool,
) -> Result<Acceptance, Problem> {
    let none_failed = !arguments.cases.is_empty() && failed.0.is_empty();
    match Exit::of(&diagnosis.summary, is_whole) {
        Exit::Success if none_failed => Err(Problem::usage(
            "no case fails, so that no finding was added",
            "compare the backend and its options with those of the run that found the case",
        )),
        // The run says why nothing was judged.
        exit @ Exit::Usage if none_failed => Ok(Acceptance { exit, text: String::new(), ids: Vec::new() }),
        _ => accept_run(folder, (diagnosis, failed), is_whole, &[]),
    }
}

/// The command that accepts what a run showed. `run` is the command that repeats the run.
fn accept_command(arguments: &RunArguments, run: &str) -> Option<String> {
    let folder = arguments.verdicts.findings.as_ref()?;
    Some(match arguments.recorded() {
        Some(path) => command(&["dmlcts", "accept", folder, "--from", path]),
        None => format!("{run} --accept"),
    })
}

/// The options of the arguments for hosting the backend.
pub(super) fn hosting(
    arguments: &RunArguments,
    deadline: Option<Instant>,
    stop: &Stop,
    incidents: &Incidents,
) -> Hosting {
    Hosting {
        case_timeout: arguments.case_timeout,
        end: deadline,
        ends_cases_alone: arguments.limits.budget.is_some(),
        deadline: stop.deadline().clone(),
        max_hangs: arguments.limits.max_hangs,
        memory: arguments.backend_memory,
        incidents: incidents.clone(),
        in_process: arguments.in_process,
        ..Hosting::default()
    }
}

/// The options of the arguments for running cases.
pub(super) fn configuration(arguments: &RunArguments) -> Configuration {
    let selection = &arguments.selection;
    Configuration {
        level: selection.feature_level,
        jobs: selection.threads(),
        limit: selection.limit,
        ends_cases_alone: arguments.limits.budget.is_some(),
        max_failures: arguments.limits.max_failures,
        max_hangs: arguments.limits.max_hangs,
        retries: arguments.verdicts.retries,
        memory: arguments.limits.memory,
        runs: arguments.verdicts.runs,
        allow: arguments.verdicts.allow.clone(),
        partition: selection.partition,
        ..Configuration::default()
    }
}

/// The options of the arguments for explaining failures. A case that the user typed is shown as typed, unless
/// it becomes a finding of a folder.
pub(super) fn explaining(arguments: &RunArguments) -> ExplainOptions {
    let explains = arguments.cases.is_empty() || arguments.verdicts.accept;
    ExplainOptions {
        cases: explains.then_some(arguments.verdicts.explain as usize),
        shrink: explains,
        ..ExplainOptions::NONE
    }
}

/// The error that no case ran, with the reason.
pub(super) fn nothing(summary: &Summary, selection: &Selection) -> Problem {
    match summary.ending {
        Ending::Timeout => no_time(),
        _ => selection.nothing(summary.totals.progress.read),
    }
}

/// The error that the time was up before the first case.
fn no_time() -> Problem {
    Problem::usage("the time was up before a case ran", "give the run more time by --timeout or --budget")
}

/// Whether nothing ran although the selection has cases.
pub(super) fn is_empty(summary: &Summary, selection: &Selection) -> bool {
    let ending = match summary.ending {
        // A small number of cases may leave a part without any case.
        Ending::Complete => selection.partition.is_none() || summary.totals.progress.read == 0,
        ending => ending == Ending::Timeout,
    };
    ending && summary.totals.progress.ran == 0 && summary.abandoned.is_empty()
}

/// Reports a run that could not be recorded, up to the error, and returns the problem.
fn unrecorded(problem: Problem, reports: &mut Reports, context: &Context, run: &Diagnosis) -> Problem {
    if is_refused(&run.summary) {
        return reports.explain(context.subject.name(), problem);
    }
    // The first problem is the cause; an error of a report would hide it.
    let _ = reports.write(context, run);
    problem
}

/// Whether the run ended before its first case, because it could not be recorded.
fn is_refused(summary: &Summary) -> bool {
    summary.ending == Ending::NotRecorded && summary.totals.progress.ran == 0
}

/// The cases of a run.
pub(super) struct Cases {
    pub(super) source: Arc<dyn CaseSource>,
    /// The source again if it is a whole suite, which can prove something.
    parts: Option<Arc<SuiteSource>>,
    /// The context of the run's summary.
    pub(super) context: Context,
    /// The selection, as a results file records it.
    pub(super) form: SelectionForm,
}

/// The cases of the arguments, if they are found in time. `named` is the folder of findings.
pub(super) fn cases(
    arguments: &RunArguments,
    deadline: Option<Instant>,
    named: Option<FolderForm>,
    claim: Option<&Claim>,
) -> Result<Cases, Problem> {
    let selection = &arguments.selection;
    let words_of_cases = |form: &SelectionForm| {
        // `--budget` stands for an order, and cannot be given with one.
        let order = form.order.clone().filter(|_| arguments.limits.budget.is_none());
        arguments.words_of_a_run(&SelectionForm { order, ..form.clone() })
    };
    let context = |form: &SelectionForm, subject: Subject, next: Vec<(String, String)>| Context {
        all: arguments.reports.all,
        timings: arguments.timings,
        claim: claim.cloned(),
        time_limit: arguments.time_limit(),
        next,
        resume: arguments.recorded().map(|path| {
            let resume = ["--resume".to_owned(), path.clone()];
            command(&[words_of_cases(form).as_slice(), &resume, &arguments.words_of_limits(1)].concat())
        }),
        longer: arguments
            .limits
            .timeout
            .map(|_| command(&[words_of_cases(form), arguments.words_of_limits(2)].concat())),
        doctor: Some(command(&["dmlcts", "doctor", "--backend", &arguments.backend])),
        failures: arguments.recorded().map(|path| command(&["dmlcts", "failures", path])),
        ..Context::new(Library::embedded(), subject, Replay { options: arguments.words_of_a_case(form) })
    };
    if !arguments.cases.is_empty() {
        let most = selection.limit.filter(|_| !selection.leaves_out()).unwrap_or(u64::MAX);
        let cases = given::cases(&arguments.cases, most, Bindings::Kept)?;
        let level = selection.feature_level.unwrap_or(FeatureLevel::NEWEST);
        let next = vec![(Replay::explain(&cases[0], level), "what the spec says of it".to_owned())];
        let lines: Vec<String> = cases.iter().map(Case::to_string).collect();
        let form = arguments.selection_form(None, &lines, named, claim);
        let context = context(&form, Subject::Given, next);
        return Ok(Cases { source: Arc::new(Listed::new(cases, "given")), parts: None, context, form });
    }
    let parts = Arc::new(selection.source_until(deadline)?.ok_or_else(no_time)?);
    let suite = parts.expansion().suite();
    let form = arguments.selection_form(Some(suite), &[], named, claim);
    let (of_suite, of_list) = (selection.words_of_a_suite(), form.words_of_a_list());
    let mut next = further(arguments, claim, &form);
    let list = joined(&["dmlcts", "list"], &[&of_suite, &of_list]);
    next.push((format!("{list} | head"), "the cases, one line each".to_owned()));
    next.push(("dmlcts spec list".to_owned(), "what is promised".to_owned()));
    let subject = Subject::Suite {
        name: suite.name().to_owned(),
        what: form.describe(),
        obligations: joined(&["dmlcts", "count", "--obligations"], &[&of_suite, &form.words_without_limit()]),
    };
    let context = context(&form, subject, next);
    let source: Arc<dyn CaseSource> = Arc::clone(&parts) as _;
    let parts = Some(parts).filter(|_| form.has_all_cases());
    Ok(Cases { source, parts, context, form })
}

/// The runs that ask for more than a run that passes, in the order that the guide gives for a new backend.
fn further(arguments: &RunArguments, claim: Option<&Claim>, form: &SelectionForm) -> Vec<(String, String)> {
    let (of_backend, of_case) = (arguments.backend_options().words(), arguments.words_of_a_case(form));
    let said = |words: &[&str], more: &[&[String]], purpose: &str| (joined(words, more), purpose.to_owned());
    if let Some(claim) = claim {
        let whole = whole_profile(claim.profile.name()).into_iter();
        let run = |name| said(&["dmlcts", "run", "--profile", name], &[&of_backend], "the whole profile");
        return whole.map(run).collect();
    }
    let suite = form.suite.as_ref().map_or("", |suite| suite.name.as_str());
    let strategies: Vec<&str> = form.strategies.iter().map(String::as_str).collect();
    match (suite, strategies.as_slice(), form.filter.as_deref()) {
        ("smoke", ["documented"], None) => {
            vec![said(&["dmlcts", "run", "--where", "valid"], &[&of_case], "all that a backend must accept")]
        }
        ("smoke", [], Some("valid")) => {
            vec![said(&["dmlcts", "run"], &[&of_case], "and all that it must refuse")]
        }
        ("smoke", ..) => {
            let choice = form.words_of_a_choice();
            vec![said(&["dmlcts", "run", "--suite", "ci"], &[&of_case, &choice], "more cases")]
        }
        ("ci", [], None) => {
            let folder = arguments.verdicts.findings.as_deref();
            let folder = folder.map_or(vec!["--findings", "findings/mine", "--name", "mine"], |folder| {
                let named = arguments.verdicts.name.iter().flat_map(|name| ["--name", name.as_str()]);
                ["--findings", folder].into_iter().chain(named).collect()
            });
            let fuzz = [&["dmlcts", "fuzz", "--time", "10m"], &folder[..]].concat();
            let profile = Profile::names().find(|name| whole_profile(name).is_none());
            let exhaustive = ["dmlcts", "run", "--suite", "exhaustive"];
            let mut all = vec![
                said(&exhaustive, &[&of_case], "every valid desc of a small box"),
                said(&fuzz, &[&of_backend], "a campaign that keeps what it finds"),
            ];
            all.extend(profile.map(|name| {
                said(&["dmlcts", "run", "--profile", name], &[&of_backend], "a statement of conformance")
            }));
            all
        }
        _ => Vec::new(),
    }
}

/// A command of these words, and of the words of options.
fn joined(words: &[&str], more: &[&[String]]) -> String {
    let more = more.iter().copied().flatten().map(String::as_str);
    command(&words.iter().copied().chain(more).collect::<Vec<_>>())
}

/// The full profile of a `-smoke` profile.
fn whole_profile(name: &str) -> Option<&'static str> {
    let whole = name.strip_suffix("-smoke")?;
    Profile::names().find(|known| *known == whole)
}

/// The proof of a complete run, if exhaustive parts make up most of the suite.
pub(super) fn proof(parts: &SuiteSource) -> Vec<String> {
    let all = parts.count().map(u128::from);
    Certificate::of(parts.expansion())
        .filter(|certificate| all.is_some_and(|all| certificate.cases() * 2 > all))
        .map(|certificate| certificate::lines(&certificate))
        .unwrap_or_default()
}
