//! `dmlcts doctor`: a first look at a backend, for its author. Is it well, and would the gate notice if it were not?
//!
//! The first half is a run of the suite `smoke`, read question by question. The second half breaks the backend on purpose,
//! through a shim around it in a process of its own, and shows that each way to be broken fails the run.

use std::{
    io::Write as _,
    sync::Arc,
    time::{Duration, Instant},
};

use dmlcts_backend::process::{Command, Incidents, Launcher};
use dmlcts_backend::{Capabilities, Lack};
use dmlcts_model::{Case, DataType, Outcome};
use dmlcts_report::{Palette, Tone, command, counted, grouped, rate, span};
use dmlcts_runner::{
    Class, Configuration, Ending, Factory, Failure, Listed, Parts, Run, RunError, Source, Stop, Summary,
    Tally, Verdict,
};
use dmlcts_spec::{Library, Operator};

use crate::{
    arguments::DoctorArguments,
    backends::{self, Hosting},
    breakage::Fault,
    exit::Exit,
    output,
    problem::Problem,
    selection::load_suite,
};

/// How long a broken backend may be silent: it hangs on purpose, and a case that works takes less.
const PATIENCE: Duration = Duration::from_secs(3);

/// What was found, line by line.
struct Report {
    out: Box<dyn std::io::Write>,
    palette: Palette,
    failures: usize,
}

impl Report {
    /// Shows what is as it should be.
    fn fine(&mut self, what: &str, found: &str) -> Result<(), Problem> {
        let mark = self.palette.paint(Tone::Good, "ok   ");
        writeln!(self.out, "{mark} {what:<24} {found}")?;
        self.out.flush()?;
        Ok(())
    }

    /// Shows what is not, and what to do.
    fn wrong(&mut self, what: &str, found: &str, remedy: &str) -> Result<(), Problem> {
        self.failures += 1;
        let mark = self.palette.paint(Tone::Bad, "FAIL ");
        writeln!(self.out, "{mark} {what:<24} {found}")?;
        if !remedy.is_empty() {
            writeln!(self.out, "{:30} {}", "", self.palette.paint(Tone::Note, remedy))?;
        }
        self.out.flush()?;
        Ok(())
    }
}

/// Looks at a backend, and says how the program ends.
pub(crate) fn doctor(arguments: &DoctorArguments) -> Result<Exit, Problem> {
    let mut report = Report { out: Box::new(output::stdout()), palette: output::palette(), failures: 0 };
    let hosting = Hosting {
        case_timeout: arguments.case_timeout,
        deadline: None,
        incidents: Incidents::default(),
        in_process: false,
    };
    let factory = backends::factory(&arguments.backend, &hosting)?;
    let started = Instant::now();
    let capabilities = match factory() {
        Ok(backend) => backend.capabilities().clone(),
        Err(reason) => {
            report.wrong("starts", &reason, "run the command by hand and read what it prints")?;
            return Ok(Exit::Broken);
        }
    };
    report.fine("starts", &format!("in {}", span(started.elapsed())))?;
    declares(&mut report, &capabilities)?;
    let summary = smoke(arguments, Arc::clone(&factory))?;
    works(&mut report, arguments, &summary)?;
    let is_lost = summary.ending == Ending::BackendLost;
    if !is_lost {
        breaks(&mut report, arguments, &factory)?;
    }
    // A worker that was left behind may have a process that hangs.
    dmlcts_backend::process::end_all();
    if is_lost {
        return Ok(Exit::Broken);
    }
    Ok(if report.failures > 0 { Exit::Unexpected } else { Exit::Success })
}

fn declares(report: &mut Report, capabilities: &Capabilities) -> Result<(), Problem> {
    let known: Vec<&str> = Library::embedded().operators().iter().map(Operator::name).collect();
    let named = capabilities.operators.as_deref();
    let has = |name: &&&str| named.is_none_or(|named| named.iter().any(|operator| operator == **name));
    let operators: Vec<&str> = known.iter().filter(has).copied().collect();
    let Capabilities { name, version, device, feature_level, data_types, lacks, ranks, .. } = capabilities;
    let device = if device.is_empty() { String::new() } else { format!(" ({device})") };
    let without = |lack: &Lack| {
        let types: Vec<String> = lack.data_types.iter().map(DataType::to_string).collect();
        format!(" ({} without {})", lack.operator, types.join(", "))
    };
    let lacks: String = lacks.iter().map(without).collect();
    let found = format!(
        "{name} {version}{device}: {}, {}{lacks} of {} to {} dimensions, at feature level {feature_level}",
        operators.join(", "),
        counted(data_types.len() as u64, "data type"),
        ranks.start(),
        ranks.end(),
    );
    if operators.is_empty() || data_types.is_empty() || ranks.is_empty() {
        let remedy =
            format!("declare at least one of {}, one data type and one dimension count", known.join(", "));
        return report.wrong("declares", &found, &remedy);
    }
    report.fine("declares", &found)
}

/// Runs something on the backend.
fn run(
    source: Arc<dyn Source>,
    backend: Arc<Factory>,
    jobs: Option<usize>,
    time: Duration,
) -> Result<Summary, Problem> {
    let usual = Configuration::default();
    let configuration = Configuration {
        jobs: jobs.unwrap_or(usual.jobs),
        deadline: Instant::now().checked_add(time),
        shrink: false,
        ..usual
    };
    let run = Run { library: Library::embedded(), source, backend, configuration, stop: Stop::default() };
    Ok(dmlcts_runner::run(&run, &mut |_| {})?)
}

fn smoke(arguments: &DoctorArguments, backend: Arc<Factory>) -> Result<Summary, Problem> {
    let expansion = load_suite("smoke")?
        .expand(Library::embedded(), 0)
        .map_err(|error| RunError::Backend(format!("the suite `smoke` does not expand: {error}")))?;
    run(Arc::new(Parts::new(expansion, &[])), backend, None, arguments.timeout)
}

/// Reads the run, question by question.
fn works(report: &mut Report, arguments: &DoctorArguments, summary: &Summary) -> Result<(), Problem> {
    let all = summary.tally();
    if summary.ending == Ending::BackendLost && all.of(Verdict::Lost) + all.of(Verdict::Crash) == all.total()
    {
        let reason = summary.lost.as_deref().unwrap_or("it was lost");
        return report.wrong("answers", reason, "mend that first: it fails whatever it is asked");
    }
    let reading = Reading { summary, backend: &arguments.backend };
    reading.examples(report)?;
    reading.invalid_descs(report)?;
    reading.memory(report)?;
    reading.elsewhere(report)?;
    reading.speed(report)
}

/// A run, and what it tells of a backend.
struct Reading<'a> {
    summary: &'a Summary,
    backend: &'a str,
}

impl Reading<'_> {
    fn tally(&self, strategy: &str) -> Tally {
        let found = self.summary.strategies.iter().find(|(name, _)| name == strategy);
        found.map_or_else(Tally::default, |(_, tally)| *tally)
    }

    /// How the first failure of this kind went, and how to see it again; empty where there is none.
    fn first(&self, wanted: impl Fn(&Failure) -> bool) -> Option<String> {
        let failure = self.summary.groups.iter().map(|group| &group.first).find(|failure| wanted(failure))?;
        let case = failure.case.to_string();
        let words = ["dmlcts", "run", "--backend", self.backend, &case].map(str::to_owned);
        Some(format!("{}: {}", failure.class, command(&words)))
    }

    fn examples(&self, report: &mut Report) -> Result<(), Problem> {
        let (what, tally) = ("answers the examples", self.tally("documented"));
        let answered = tally.total() - tally.of(Verdict::Skip);
        if answered == 0 {
            return report.wrong(what, "none is of what it declares", "declare what it can do");
        }
        match tally.unexpected() {
            0 => {
                let found = format!(
                    "{} of the pages' examples, on every type and rank that it declares",
                    grouped(answered)
                );
                report.fine(what, &found)
            }
            wrong => {
                let found = format!("{} of {} are wrong", grouped(wrong), grouped(tally.total()));
                let remedy = self.first(|failure| failure.strategy == "documented");
                report.wrong(what, &found, &remedy.unwrap_or_default())
            }
        }
    }

    fn invalid_descs(&self, report: &mut Report) -> Result<(), Problem> {
        let tally = self.tally("negative");
        let total = grouped(tally.total());
        let broken = tally.of(Verdict::Crash) + tally.of(Verdict::Timeout) + tally.of(Verdict::Lost);
        let what = "survives invalid descs";
        if broken == 0 {
            report.fine(what, &format!("{total} cases, each one flaw away from valid"))?;
        } else {
            let remedy = self.first(|failure| failure.strategy == "negative" && is_break(failure.class));
            let found = format!("{} of {total} ended it", grouped(broken));
            report.wrong(what, &found, &remedy.unwrap_or_default())?;
        }
        match tally.unexpected() - broken {
            0 => report.fine("refuses them", "and accepts their valid neighbours"),
            wrong => {
                let remedy = self.first(|failure| failure.strategy == "negative" && !is_break(failure.class));
                let found = format!("{} of {total} answers are wrong", grouped(wrong));
                report.wrong("refuses them", &found, &remedy.unwrap_or_default())
            }
        }
    }

    fn memory(&self, report: &mut Report) -> Result<(), Problem> {
        // A worker process says in words what it found in its memory.
        let touches = |failure: &Failure| {
            matches!(failure.class, Class::WroteOutside | Class::InputChanged)
                || matches!(&failure.outcome, Outcome::Failed { reason, .. } if reason.contains("memory of the"))
        };
        match self.first(touches) {
            Some(remedy) => report.wrong("keeps to its memory", "something else was written to", &remedy)?,
            // Nobody sees into a process that is not this program's.
            None if self.backend.starts_with("exec:") => {
                report.fine(
                    "keeps to its memory",
                    "as far as its answers tell: a process's memory is its own",
                )?;
            }
            None => {
                report.fine("keeps to its memory", "guards around outputs are whole, inputs as they were")?;
            }
        }
        match self.first(|failure| failure.class == Class::Remembered) {
            None => report.fine("remembers nothing", "a created operator ran again on other data"),
            Some(remedy) => {
                report.wrong("remembers nothing", "a later run of the same operator went wrong", &remedy)
            }
        }
    }

    fn elsewhere(&self, report: &mut Report) -> Result<(), Problem> {
        let (all, documented, negative) =
            (self.summary.tally(), self.tally("documented"), self.tally("negative"));
        let total = grouped(all.total() - documented.total() - negative.total());
        match all.unexpected() - documented.unexpected() - negative.unexpected() {
            0 => report.fine("holds elsewhere", &format!("{total} further cases of `smoke`")),
            wrong => {
                let is_other = |failure: &Failure| !matches!(&*failure.strategy, "documented" | "negative");
                let found = format!("{} of {total} further cases of `smoke` are wrong", grouped(wrong));
                report.wrong("holds elsewhere", &found, &self.first(is_other).unwrap_or_default())
            }
        }
    }

    fn speed(&self, report: &mut Report) -> Result<(), Problem> {
        let (ran, elapsed) = (self.summary.totals.progress.ran, self.summary.totals.elapsed);
        let found = format!("{} cases/s: {} in {}", rate(ran, elapsed), counted(ran, "case"), span(elapsed));
        match self.summary.ending {
            Ending::Complete => report.fine("keeps up", &found),
            Ending::BackendLost => {
                let reason = self.summary.lost.as_deref().unwrap_or("it was lost");
                report.wrong("goes on", reason, "mend the first failure above")
            }
            _ => {
                let remedy =
                    "that is slow for `smoke`: keep what is costly to create, or give it more --timeout";
                report.wrong("keeps up", &found, remedy)
            }
        }
    }
}

fn is_break(class: Class) -> bool {
    matches!(class, Class::Crashed | Class::TimedOut | Class::Lost)
}

/// Breaks the backend on purpose, at a case that it does well.
fn breaks(report: &mut Report, arguments: &DoctorArguments, factory: &Arc<Factory>) -> Result<(), Problem> {
    let examples = Library::embedded().operators().iter().flat_map(Operator::examples);
    let mut at = None;
    for example in examples {
        let summary = alone(&example.case, Arc::clone(factory), arguments.timeout)?;
        if summary.tally().of(Verdict::Pass) == 1 {
            at = Some(&example.case);
            break;
        }
    }
    let Some(at) = at else {
        return report.wrong(
            "and broken on purpose",
            "no example passes, so that breaking one shows nothing",
            "mend it first",
        );
    };
    writeln!(report.out, "and broken on purpose, at {at}:")?;
    let program = std::env::current_exe().map_err(|error| RunError::Backend(error.to_string()))?;
    let line = at.to_string();
    for fault in Fault::ALL {
        let words = ["serve", "--backend", &arguments.backend, "--break", fault.name(), "--break-at", &line];
        let command = Command::of(program.as_os_str(), &words, "the shim");
        let launcher = Arc::new(Launcher::new(command, PATIENCE.min(arguments.case_timeout)));
        let backend: Arc<Factory> = Arc::new(move || Ok(Box::new(launcher.host()?)));
        let summary = alone(at, backend, arguments.timeout)?;
        let what = format!("notices {}", fault.describe());
        let class = summary.groups.first().map(|group| group.first.class);
        match class {
            Some(class) if fault.is_caught_as(class) => report.fine(&what, &class.to_string())?,
            other => {
                let found = other.map_or_else(|| "it passed".to_owned(), |class| format!("seen as: {class}"));
                let remedy = "report it, with this line: that is a fault of dmlcts, or the backend fails at this case now and then";
                report.wrong(&what, &found, remedy)?;
            }
        }
    }
    Ok(())
}

/// Runs one case.
fn alone(case: &Case, backend: Arc<Factory>, time: Duration) -> Result<Summary, Problem> {
    run(Arc::new(Listed::new(vec![case.clone()], "example")), backend, Some(1), time)
}
