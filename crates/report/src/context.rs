//! Facts about a run that only the program knows: its cases, its known failures, and further commands.

use dmlcts_diagnose::{Diagnosis, Finding};
use dmlcts_profiles::Claim;
use dmlcts_runner::{Ending, KnownFailures, Summary};
use dmlcts_spec::Library;

use crate::{Replay, overview::in_order};

/// Facts about a run that only the program knows.
#[derive(Clone, Debug)]
pub struct Context {
    /// The operators of the spec.
    pub library: &'static Library,
    /// The cases that the run had.
    pub subject: Subject,
    /// Builds the command that runs one of the cases again.
    pub replay: Replay,
    /// The lists of known failures.
    pub known: KnownContext,
    /// The lines to print if the run [is a proof](crate::is_proof): what it proves.
    pub certificate: Vec<String>,
    /// What happened to the backend's processes and was not yet shown.
    pub incidents: Vec<String>,
    /// The profile that the run tests, if it has one.
    pub claim: Option<Claim>,
    /// The option that limits the time of the run. `None` if it is not known.
    pub time_limit: Option<&'static str>,
    /// Commands to continue with after a run that did not end early, and the purpose of each.
    pub next: Vec<(String, String)>,
    /// The command that continues a recorded run that ended before its last case.
    pub resume: Option<String>,
    /// The same run with twice the time, if its time is limited.
    pub longer: Option<String>,
    /// The command that tries the first steps of a backend.
    pub doctor: Option<String>,
    /// The command that lists the failed cases of a recorded run.
    pub failures: Option<String>,
    /// Whether all findings are shown in full, and not only the first ones.
    pub all: bool,
    /// Whether the summary says where the time of the run went.
    pub timings: bool,
    /// The ids of the findings that the run made known. The terminal and annotations leave them out.
    pub accepted: Vec<String>,
}

impl Context {
    /// The facts about a run of these cases, with nothing to print but findings and summary.
    pub fn new(library: &'static Library, subject: Subject, replay: Replay) -> Self {
        Self {
            library,
            subject,
            replay,
            known: KnownContext::default(),
            certificate: Vec::new(),
            incidents: Vec::new(),
            claim: None,
            time_limit: None,
            next: Vec::new(),
            resume: None,
            longer: None,
            doctor: None,
            failures: None,
            all: false,
            timings: false,
            accepted: Vec::new(),
        }
    }

    /// The findings to show, in the order of reports.
    pub(crate) fn shown<'a>(&self, diagnosis: &'a Diagnosis) -> Vec<&'a Finding> {
        let mut findings = in_order(diagnosis);
        findings.retain(|finding| !self.accepted.contains(&finding.id));
        findings
    }

    /// The commands that go further than the run, and the purpose of each. If the run ended early, a command
    /// continues it or gives it more time.
    pub(crate) fn further(&self, summary: &Summary) -> Vec<(&str, &str)> {
        if !has_more(summary) {
            return self.next.iter().map(|(command, purpose)| (command.as_str(), purpose.as_str())).collect();
        }
        let resume = self.resume.as_deref().filter(|_| summary.ending != Ending::NotRecorded);
        let longer = self.longer.as_deref().filter(|_| summary.ending == Ending::Timeout);
        let resume = resume.map(|resume| (resume, "go on with this run"));
        resume.or(longer.map(|longer| (longer, "the same again, with twice the time"))).into_iter().collect()
    }
}

/// The source of a run's cases.
#[derive(Clone, Debug)]
pub enum Subject {
    /// Cases that were chosen to exercise the spec.
    Suite {
        /// The suite's name.
        name: String,
        /// The text after "ran": `suite smoke, seed 0`.
        what: String,
        /// The command that names the obligations that the whole suite leaves out. A run that ended early
        /// adds its number of cases.
        obligations: String,
    },
    /// Cases that were given one by one. Obligations that they leave out mean nothing.
    Given,
}

impl Subject {
    /// The name of the cases, for the names of tests.
    pub fn name(&self) -> &str {
        match self {
            Self::Suite { name, .. } => name,
            Self::Given => "given",
        }
    }
}

/// The known failures of a run, as the program knows them.
#[derive(Clone, Debug, Default)]
pub struct KnownContext {
    /// All findings of the folder, also those that do not apply to the backend.
    pub listed: KnownFailures,
    /// Whether the run has every case of its suite, so that it says of few passes that a failure is fixed.
    pub is_whole: bool,
    /// The command that accepts what the run shows.
    pub accept: Option<String>,
}

/// Whether the run ended early, so that it can still continue with further cases.
pub(crate) fn has_more(summary: &Summary) -> bool {
    !matches!(summary.ending, Ending::Complete | Ending::Limit)
}
