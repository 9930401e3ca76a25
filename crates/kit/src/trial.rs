//! The trials of a gate: each is a run of its own, with its own processes.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use dmlcts_backend::process::{Command, Incidents, Launcher};
use dmlcts_diagnose::{Diagnosis, Event, ExplainOptions, LeftOut};
use dmlcts_generate::{Strategy, Suite};
use dmlcts_model::Desc;
use dmlcts_report::{Context, KnownContext, Replay, Style, Subject as Cases, write_findings, write_known};
use dmlcts_runner::{
    CaseSource, Conclusion, Configuration, Ending, Event as RunEvent, KnownEntry, KnownFailures, Listed, Run,
    Status, Stop, SuiteSource, Summary, Verdict,
};
use dmlcts_spec::{Library, Operator, Predicate};
use dmlcts_store::{AcceptedRun, FailedCases, Folder, Stored};
use libtest_mimic::{Completion, Failed};

use crate::overall::Overall;

/// The command that accepts what fails.
pub(crate) const ACCEPTING: &str = "DMLCTS_ACCEPT=1 cargo test";
/// The seed of the suites.
pub(crate) const SEED: u64 = 0;
/// The number of hanging cases after which a trial ends.
const MOST_HANGS: u64 = 10;
/// The number of unexpected crashes after which a trial ends. Each costs two processes.
pub(crate) const MOST_CRASHES: u64 = 100;
/// How to go on after a run that crashes ended, and that accepts nothing.
const ABOUT_CRASHES: &str = "help: fix the crash, declare its cases as a lack, or write the file of a \
    finding of the class `crashed` whose `where` holds for them: known crashes are not counted; or accept them by \
    `dmlcts run --accept`, which has no limit\n";

/// The number of cases that a finding may cost: less than in a run, since many trials may have the same one.
const EXPLAINED: usize = 300;

/// What all trials have in common.
pub(crate) struct TrialSubject {
    pub(crate) library: &'static Library,
    pub(crate) suite: Suite,
    /// The known findings.
    pub(crate) known: KnownFailures,
    /// Makes the commands of reports.
    pub(crate) replay: Replay,
    /// Starts a process of the backend.
    pub(crate) command: Command,
    /// The time that such a process may be silent.
    pub(crate) case_timeout: Duration,
    /// The findings of the trials that have run.
    pub(crate) overall: Arc<Overall>,
}

impl TrialSubject {
    /// Runs the cases of an operator that a strategy makes. `source` has the cases of all operators.
    pub(crate) fn run_strategy(
        &self,
        operator: &Operator,
        strategy: Strategy,
        source: &OnceLock<Arc<SuiteSource>>,
    ) -> Result<Completion, Failed> {
        let filter = Predicate::parse(&format!("operator == {}", operator.name()), self.library);
        let filter = filter.map_err(|mistake| mistake.message)?;
        let source = if let Some(source) = source.get() {
            Arc::clone(source)
        } else {
            let expansion = self.suite.expand(self.library, SEED)?;
            Arc::clone(source.get_or_init(|| Arc::new(SuiteSource::new(expansion, &[strategy]))))
        };
        let (filter, max_crashes) = (Some(Arc::new(filter)), Some(MOST_CRASHES));
        let configuration = Configuration { filter, max_crashes, ..Configuration::default() };
        let (diagnosis, incidents) = self.run(source, self.known.clone(), configuration)?;
        let summary = &diagnosis.summary;
        let report = |is_whole: bool| {
            let trial = format!("{}::{strategy}", operator.name().to_lowercase());
            self.overall.add(&trial, &diagnosis.findings);
            self.report(&diagnosis, incidents.clone(), is_whole)
        };
        if let Some(reason) = broken(summary) {
            return Err(format!("{reason}\n{}", report(false)).into());
        }
        if summary.totals.progress.ran == 0 {
            return Err("no case was selected; name another suite".into());
        }
        let changed = summary.known(false).any(|(_, conclusion)| conclusion.is_unexpected());
        if summary.tally().unexpected() > 0 || changed {
            return Err(report(self.are_fixed(summary)?).into());
        }
        if summary.is_unjudged() {
            let name = &summary.capabilities.name;
            return Ok(Completion::ignored_with(format!("{name} declares to support none of the cases")));
        }
        if summary.is_uncompared() {
            return Err("every output was too large to run, so that none was compared".into());
        }
        Ok(Completion::Completed)
    }

    /// Whether each finding whose cases in a trial all passed is fixed: the cases of its file pass, too. A
    /// few passes alone do not show it, since cases of other trials may fail.
    fn are_fixed(&self, summary: &Summary) -> Result<bool, Failed> {
        let passes = |id: &str| {
            let mut known = summary.known(true);
            known.any(|(tally, conclusion)| tally.entry.id == id && conclusion == Conclusion::Fixed)
        };
        let entries = self.known.entries().iter().filter(|entry| passes(&entry.failure().id));
        let entries: Vec<KnownEntry> = entries.cloned().collect();
        if entries.is_empty() {
            return Ok(false);
        }
        let cases = entries.iter().flat_map(|entry| entry.cases().to_vec()).collect();
        let source = Arc::new(Listed::new(cases, "finding"));
        let (run, _) = self.run(source, KnownFailures::new(entries), Configuration::default())?;
        // A case that two findings list counts for the first, so that the second may have none.
        let mut known = run.summary.known(true);
        Ok(known.all(|(_, conclusion)| matches!(conclusion, Conclusion::Fixed | Conclusion::NotRun)))
    }

    /// Runs the cases of a known finding, which must fail as it says.
    pub(crate) fn run_finding(&self, stored: Stored) -> Result<Completion, Failed> {
        let path = stored.path.clone();
        let source = Listed::new(stored.entry.cases().to_vec(), "finding");
        let known = [stored].into_iter().collect::<KnownFailures>();
        let configuration = Configuration { tries_smallest: true, ..Configuration::default() };
        let (diagnosis, incidents) = self.run(Arc::new(source), known.clone(), configuration)?;
        let summary = &diagnosis.summary;
        if let Some((_, why)) = known.misfits(&summary.capabilities).first() {
            return Ok(Completion::ignored_with(format!("{path} {why}")));
        }
        let report = || self.report(&diagnosis, incidents.clone(), true);
        if let Some(reason) = broken(summary) {
            return Err(format!("{reason}\n{}", report()).into());
        }
        let Some((tally, conclusion)) = summary.known(true).next() else {
            return Err(format!("{path}: none of its cases ran").into());
        };
        let entry = &tally.entry;
        match conclusion {
            Conclusion::Holds if entry.status != Status::New && summary.tally().unexpected() == 0 => {
                Ok(Completion::Completed)
            }
            Conclusion::Unknown if entry.is_flaky => Ok(Completion::Completed),
            Conclusion::New | Conclusion::Holds => {
                Err(format!("nobody accepted {path} yet: set its `status`\n\n{}", report()).into())
            }
            _ => Err(report().into()),
        }
    }

    /// Runs the whole suite, and writes its findings into the folder. Returns what was written.
    pub(crate) fn accept(&self, folder: &Folder) -> Result<String, Failed> {
        let source = Arc::new(SuiteSource::new(self.suite.expand(self.library, SEED)?, &[]));
        let configuration = Configuration {
            record: true,
            tries_smallest: true,
            known: self.known.clone(),
            max_crashes: Some(MOST_CRASHES),
            ..Configuration::default()
        };
        let mut failed = FailedCases::default();
        let explaining = explaining(ExplainOptions::USUAL_CASES);
        let (diagnosis, incidents) =
            self.run_and_tell(source, configuration, &explaining, &mut |event| failed.on_event(event))?;
        if let Some(reason) = broken(&diagnosis.summary) {
            let help = if ended_by_crashes(&diagnosis.summary) { ABOUT_CRASHES } else { "" };
            let report = self.report(&diagnosis, incidents, false);
            return Err(format!("nothing was accepted: {reason}\n{help}{report}").into());
        }
        let run = AcceptedRun { diagnosis: &diagnosis, failed: &failed.0, is_whole: true };
        match dmlcts_store::accept_run(folder, &run, &[])? {
            Ok(accepted) => Ok(accepted.text(folder.path())),
            Err(id) => Err(format!("there is no finding `{id}`").into()),
        }
    }

    /// Runs cases in processes of the backend, and explains their failures. Returns the incidents, too.
    fn run(
        &self,
        source: Arc<dyn CaseSource>,
        known: KnownFailures,
        configuration: Configuration,
    ) -> Result<(Diagnosis, Vec<String>), Failed> {
        // Other trials run beside this one.
        let configuration = Configuration { jobs: 1, known, ..configuration };
        self.run_and_tell(source, configuration, &explaining(EXPLAINED), &mut |_| {})
    }

    /// As [`Self::run`], and passes the events of the run to `tell`.
    pub(crate) fn run_and_tell(
        &self,
        source: Arc<dyn CaseSource>,
        configuration: Configuration,
        explaining: &ExplainOptions,
        tell: &mut dyn FnMut(&RunEvent<'_>),
    ) -> Result<(Diagnosis, Vec<String>), Failed> {
        let (stop, incidents) = (Stop::default(), Incidents::default());
        let launcher = self.launcher(&stop, &incidents);
        let run = Run {
            library: self.library,
            source,
            backend: Arc::new(move |purpose| Ok(Box::new(launcher.host(purpose)?))),
            configuration: Configuration { max_hangs: Some(MOST_HANGS), incidents, ..configuration },
            stop,
        };
        let mut told = Vec::new();
        let mut diagnosis = dmlcts_diagnose::run(&run, explaining, &mut |event| {
            let Event::Run(event) = event else { return };
            tell(&event);
            if let RunEvent::Incident(sentence) = event {
                told.push(sentence.to_owned());
            }
        })?;
        // They would name options of `dmlcts run`: its limits, and a filter that each predicate repeats.
        diagnosis.left_out = LeftOut::default();
        diagnosis
            .findings
            .iter_mut()
            .filter_map(|finding| finding.rule.as_mut())
            .for_each(|rule| rule.within = None);
        Ok((diagnosis, told))
    }

    /// Starts the processes of a run.
    pub(crate) fn launcher(&self, stop: &Stop, incidents: &Incidents) -> Arc<Launcher> {
        let examples = self.library.operators().iter().filter_map(|operator| operator.examples().first());
        let probes: Vec<Desc> = examples.map(|example| example.case.desc.as_ref().clone()).collect();
        let launcher = Launcher::new(self.command.clone(), self.case_timeout)
            .with_operators(self.library.signatures())
            .with_probes(probes)
            .with_deadline(stop.deadline().clone())
            .with_max_hangs(Some(MOST_HANGS))
            .with_incidents(incidents.clone());
        Arc::new(launcher)
    }

    /// The report of a trial. `is_whole` is whether it ran every case of its known findings.
    pub(crate) fn report(&self, diagnosis: &Diagnosis, incidents: Vec<String>, is_whole: bool) -> String {
        let context = Context {
            known: KnownContext { listed: self.known.clone(), is_whole, accept: Some(ACCEPTING.to_owned()) },
            incidents,
            failures: Some("in this trial".to_owned()),
            all: true,
            ..Context::new(self.library, Cases::Given, self.replay.clone())
        };
        let mut text = Vec::new();
        for incident in &context.incidents {
            text.extend([incident.as_bytes(), b"\n"].concat());
        }
        // Writing into memory cannot fail.
        let _ = write_findings(&mut text, &context, diagnosis, Style::PLAIN);
        let _ = write_known(&mut text, &context, &diagnosis.summary, Style::PLAIN);
        String::from_utf8_lossy(&text).into_owned()
    }
}

/// How to explain failures, if a finding may cost this number of cases.
pub(crate) fn explaining(cases: usize) -> ExplainOptions {
    ExplainOptions { cases: Some(cases), shrink: true, ..ExplainOptions::NONE }
}

/// Whether crashes ended a run before its last case.
fn ended_by_crashes(summary: &Summary) -> bool {
    summary.ending != Ending::Complete && summary.totals.verdicts().of(Verdict::Crash) >= MOST_CRASHES
}

/// Why the backend or the machine did not bring a run to its end.
pub(crate) fn broken(summary: &Summary) -> Option<String> {
    let ended = summary.ending;
    match &summary.lost {
        Some(reason) => Some(format!("the backend is lost: {reason}")),
        None if ended == Ending::Hangs => Some(format!("the trial ended after {MOST_HANGS} hanging cases")),
        None if ended_by_crashes(summary) => {
            let left = summary.cases.unwrap_or_default().saturating_sub(summary.totals.progress.read);
            Some(format!("the trial ended after {MOST_CRASHES} crashes: up to {left} cases did not run"))
        }
        None if ended != Ending::Complete || !summary.abandoned.is_empty() => {
            Some(format!("the trial ended before its last case: {}", ended.id()))
        }
        None => summary.bad_end.as_ref().map(|how| format!("the backend did not end well: {how}")),
    }
}
