//! `dmlcts replay`: runs the cases of findings again.

use std::{io::Write as _, path::Path, sync::Arc};

use dmlcts_backend::process::Incidents;
use dmlcts_model::escaped;
use dmlcts_report::{counted, write_markdown_replay};
use dmlcts_runner::{
    Configuration, Ending, Listed, Rerun, Run, Smallest, Status, Stop, Summary, Trials, run_then,
};
use dmlcts_spec::Library;
use dmlcts_store::{Folder, Stored};

use super::run::{configuration, hosting};
use crate::{
    arguments::ReplayArguments,
    backends,
    exit::Exit,
    output,
    problem::Problem,
    reports::{prepare_report, write_report},
    signals,
};

/// What became of a finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Now {
    /// It was fixed, and fails again.
    Regressed,
    /// It fails in another way, or some of its cases pass.
    Changed,
    /// Its cases pass.
    Fixed,
    /// Its cases fail as it says.
    Still,
    /// Its cases do not do the same each time.
    Flake,
    /// None of its cases ran.
    NotRun,
}

impl Now {
    const ALL: [Self; 6] =
        [Self::Regressed, Self::Changed, Self::Fixed, Self::Still, Self::Flake, Self::NotRun];

    /// The word in the table, and the words in the sum.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Regressed => ("REGRESSED", "failing again"),
            Self::Changed => ("CHANGED", "changed"),
            Self::Fixed => ("FIXED", "fixed"),
            Self::Still => ("STILL", "still failing"),
            Self::Flake => ("FLAKE", "varying"),
            Self::NotRun => ("NOT RUN", "not run"),
        }
    }
}

pub(crate) fn replay(arguments: &ReplayArguments) -> Result<Exit, Problem> {
    arguments.check_paths()?;
    let usual = arguments.backend.run();
    let (stop, begun) = signals::end_run();
    begun.set();
    let incidents = Incidents::default();
    let findings = findings(&arguments.paths)?;
    if let Some(path) = &arguments.markdown {
        prepare_report(path)?;
    }
    let backend = backends::factory(&usual.backend, &hosting(&usual, None, &stop, &incidents))?;
    // The cases of findings run one by one, behind a run without cases.
    let run = Run {
        library: Library::embedded(),
        source: Arc::new(Listed::new(Vec::new(), "replay")),
        backend,
        configuration: Configuration { incidents, jobs: 1, ..configuration(&usual) },
        stop: stop.clone(),
    };
    let mut out = output::stdout();
    let mut written = Ok(());
    let ended = run_then(&run, &mut |_| (), |ended| {
        let (mut all, mut rows) = (Vec::new(), Vec::new());
        for finding in &findings {
            let (now, why) = now(finding, ended.trials);
            if stop.is_requested() {
                break;
            }
            if written.is_ok() {
                let id = escaped(&finding.file.finding);
                written = writeln!(out, "{:<10} {id:<36} {}", now.words().0, escaped(&why));
            }
            all.push(now);
            rows.push([now.words().0.to_owned(), finding.file.finding.clone(), why]);
        }
        (all, rows)
    });
    let (summary, (all, rows)) = ended.map_err(|error| Problem::start(error, &usual.backend))?;
    dmlcts_backend::process::end_all();
    let sum = sum(&all, findings.len(), &summary);
    if let Some(path) = &arguments.markdown {
        write_report(path, |out| write_markdown_replay(out, &sum, &rows))?;
    }
    output::unless_gone(
        written.and_then(|()| writeln!(out, "{}", escaped(&sum))).and_then(|()| out.flush()),
    )?;
    exit(&all, &stop, &summary)
}

/// The findings of folders and files.
fn findings(paths: &[String]) -> Result<Vec<Stored>, Problem> {
    let library = Library::embedded();
    let mut all = Vec::new();
    for path in paths {
        let is_folder = Path::new(path).is_dir();
        let found = if is_folder {
            Folder::new(path).read(library)?
        } else {
            vec![Folder::read_file(path.as_ref(), library)?]
        };
        all.extend(found);
    }
    if all.is_empty() {
        return Err(Problem::usage(
            format!("there is no finding in {}", paths.join(", ")),
            "name a folder of findings, as `dmlcts fuzz` and `dmlcts run --accept` write it",
        ));
    }
    Ok(all)
}

/// What became of a finding, and why.
fn now(finding: &Stored, trials: &mut Trials<'_>) -> (Now, String) {
    let cases = finding.entry.cases();
    let of = |count: usize| match cases.len() {
        1 => "its case".to_owned(),
        all if all == count => format!("all {all} cases"),
        all => format!("{count} of {all} cases"),
    };
    let did: Vec<Rerun> =
        cases.iter().map(|case| trials.replay(&finding.entry, case, Configuration::USUAL_RETRIES)).collect();
    let count = |of: &dyn Fn(&Rerun) -> bool| did.iter().filter(|did| of(did)).count();
    let first =
        |of: &dyn Fn(&Rerun) -> bool| did.iter().position(of).map(|at| (did[at], cases[at].to_string()));
    let is = |smallest: Smallest| move |did: &Rerun| matches!(did, Rerun::Did(one, _) if *one == smallest);
    let failed = count(&is(Smallest::AsKnown));
    let passed = count(&is(Smallest::Passed));
    let ran = cases.len() - count(&|did| *did == Rerun::NotRun);
    let is_flaky = finding.file.flaky;
    if ran == 0 {
        return (Now::NotRun, "the backend cannot run its cases".to_owned());
    }
    if let Some((_, case)) = first(&|did| *did == Rerun::Varies) {
        return (Now::Flake, format!("not the same each time: {case}"));
    }
    if let Some((Rerun::Did(_, Some(class)), case)) = first(&is(Smallest::AnotherClass)) {
        let known = finding.entry.failure().class_ids();
        return (Now::Changed, format!("{} instead of {known}: {case}", class.id()));
    }
    if let Some((_, case)) = first(&is(Smallest::AnotherAnswer)) {
        return (Now::Changed, format!("another wrong output: {case}"));
    }
    match (failed, first(&is(Smallest::Passed))) {
        (0, _) if is_flaky => (Now::Flake, format!("{} passed this time", of(passed))),
        (0, _) if ran < cases.len() => {
            (Now::NotRun, format!("{} passed, and the backend cannot run the others", of(passed)))
        }
        (0, _) => (Now::Fixed, format!("{} passed", of(passed))),
        _ if finding.file.status == Status::Fixed => (Now::Regressed, format!("{} failed", of(failed))),
        (_, Some((_, case))) if !is_flaky && !finding.file.partial => {
            (Now::Changed, format!("{} passed, such as {case}", of(passed)))
        }
        _ => (Now::Still, format!("{} failed", of(failed))),
    }
}

/// The number of findings of each kind.
fn sum(all: &[Now], findings: usize, summary: &Summary) -> String {
    let kinds = Now::ALL.iter().map(|kind| (all.iter().filter(|now| *now == kind).count(), kind.words().1));
    let kinds: Vec<String> =
        kinds.filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    let left = findings - all.len();
    let left = if left > 0 { format!("; {left} were left when the replay ended") } else { String::new() };
    let (name, version) = (&summary.capabilities.name, &summary.capabilities.version);
    format!("{} on {name} {version}: {}{left}", counted(findings as u64, "finding"), kinds.join(", "))
}

fn exit(all: &[Now], stop: &Stop, summary: &Summary) -> Result<Exit, Problem> {
    if stop.reason() == Ending::Interrupted {
        return Ok(Exit::Interrupted);
    }
    if summary.lost.is_some() || summary.bad_end.is_some() {
        return Ok(Exit::Broken);
    }
    if all.iter().all(|now| *now == Now::NotRun) {
        return Err(Problem::usage(
            "the backend can run all cases of none of these findings",
            "name a backend that can",
        ));
    }
    let is_worse = all.iter().any(|now| matches!(now, Now::Regressed | Now::Changed));
    Ok(if is_worse { Exit::Unexpected } else { Exit::Success })
}
