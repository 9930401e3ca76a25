//! The first line of a results file: the program, the selection of cases, and the backend. Two runs whose
//! headers agree run the same cases on the same backend.

use std::time::Duration;

use dmlcts_backend::{Capabilities, protocol::Hello};
use dmlcts_model::FeatureLevel;
use dmlcts_runner::Difference;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Disagreement, SelectionForm, UnknownName,
    disagreement::{Facts, disagreements, short},
    selection::exact_size,
};

/// The version of the format that this program writes, and the only one that it reads.
pub const VERSION: u32 = 1;

/// Everything needed to run the same cases again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Header {
    /// The version of the format: 1.
    pub format: u32,
    /// The version of dmlcts.
    pub program: String,
    /// The BLAKE3 hash of the spec, in hex.
    pub spec: String,
    /// The command that repeats the run, for a POSIX shell. It does not contain the text that was read from
    /// standard input.
    pub command: String,
    /// The selected cases, and how they run.
    pub selection: SelectionForm,
    /// The number of all cases, including those that the selection leaves out; null if the cases never end.
    pub cases: Option<u64>,
    /// The feature level at which cases are judged.
    pub level: String,
    /// The backend that answers.
    pub backend: BackendForm,
}

/// The backend that answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BackendForm {
    /// Its name on the command line.
    pub argument: String,
    /// Whether a built-in backend answered on threads of the program instead of in processes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_process: bool,
    /// The time that a backend in another process could be silent while it had cases, in milliseconds.
    #[serde(default = "usual_case_timeout")]
    pub case_timeout: u64,
    /// The maximum memory of a backend process in bytes, if it was limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// Its declaration, in the form of a backend process's `hello`.
    pub capabilities: Hello,
}

/// The backend and its options on the command line. The backend itself does not declare them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackendOptions {
    /// The backend's name on the command line.
    pub argument: String,
    /// Whether a built-in backend answers on threads of this program.
    pub in_process: bool,
    /// The time that a backend in another process may be silent while it has cases.
    pub case_timeout: Duration,
    /// The maximum memory of a backend process in bytes.
    pub memory: Option<u64>,
}

impl BackendOptions {
    /// The default time that a backend may be silent.
    pub const USUAL_CASE_TIMEOUT: Duration = Duration::from_secs(10);
    /// The default backend, which every machine has.
    pub const USUAL_BACKEND: &str = "reference";

    /// The words of a command for the same backend and options. Options with their default values are left
    /// out.
    pub fn words(&self) -> Vec<String> {
        let Self { argument, in_process, case_timeout, memory } = self;
        let mut words = Vec::new();
        if argument != Self::USUAL_BACKEND {
            words.extend(["--backend".to_owned(), argument.clone()]);
        }
        if *in_process {
            words.push("--in-process".to_owned());
        }
        if *case_timeout != Self::USUAL_CASE_TIMEOUT {
            words.extend(["--case-timeout".to_owned(), format!("{}ms", case_timeout.as_millis())]);
        }
        if let Some(memory) = memory {
            words.extend(["--backend-memory".to_owned(), exact_size(*memory)]);
        }
        words
    }

    /// The differences between two backends and their options.
    pub fn disagreements(&self, other: &Self) -> Vec<Disagreement> {
        disagreements(self.facts(), other.facts())
    }

    fn facts(&self) -> Facts {
        let Self { argument, in_process, case_timeout, memory } = self;
        vec![
            ("--backend", argument.clone()),
            ("--in-process", if *in_process { "given" } else { "" }.to_owned()),
            ("--case-timeout", format!("{}ms", case_timeout.as_millis())),
            ("--backend-memory", memory.map(exact_size).unwrap_or_default()),
        ]
    }
}

fn usual_case_timeout() -> u64 {
    BackendOptions::USUAL_CASE_TIMEOUT.as_millis() as u64
}

impl Header {
    /// Checks the values that serde does not: levels, differences, and the backend's declaration.
    pub(crate) fn check(&self) -> Result<(), UnknownName> {
        let levels = self.selection.feature_level.iter().chain([&self.level]);
        for level in levels {
            level.parse::<FeatureLevel>().map_err(|_| UnknownName::new("the feature level", level))?;
        }
        for kind in &self.selection.allow {
            let is_known = Difference::ALL.into_iter().any(|known| known.name() == kind);
            is_known.then_some(()).ok_or_else(|| UnknownName::new("the difference", kind))?;
        }
        let capabilities = self.backend.capabilities.capabilities();
        capabilities.map(drop).map_err(|cause| UnknownName::new("the backend", &cause))
    }

    /// The header of a run of these cases on this backend with these options.
    pub fn new(
        (selection, command): (SelectionForm, String),
        spec: &str,
        cases: Option<u64>,
        level: FeatureLevel,
        (options, capabilities): (&BackendOptions, &Capabilities),
    ) -> Self {
        let BackendOptions { argument, in_process, case_timeout, memory } = options.clone();
        let case_timeout = u64::try_from(case_timeout.as_millis()).unwrap_or(u64::MAX);
        let capabilities = capabilities.into();
        Self {
            format: VERSION,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            spec: spec.to_owned(),
            command,
            selection,
            cases,
            level: level.to_string(),
            backend: BackendForm { argument, in_process, case_timeout, memory, capabilities },
        }
    }

    /// The feature level at which cases are judged.
    ///
    /// # Errors
    ///
    /// This program does not know the level.
    pub fn feature_level(&self) -> Result<FeatureLevel, UnknownName> {
        self.level.parse().map_err(|_| UnknownName::new("the feature level", &self.level))
    }

    /// The backend and its options.
    pub fn backend_options(&self) -> BackendOptions {
        let BackendForm { argument, in_process, case_timeout, memory, .. } = &self.backend;
        let case_timeout = Duration::from_millis(*case_timeout);
        BackendOptions { argument: argument.clone(), in_process: *in_process, case_timeout, memory: *memory }
    }

    /// The differences between two headers; empty if both runs have the same cases and the same backend. The
    /// [options of the backend](Self::backend_options) are not compared, since its path may differ on another
    /// machine.
    pub fn disagreements(&self, other: &Self) -> Vec<Disagreement> {
        let mut found = disagreements(self.facts(), other.facts());
        let (own, others) = (self.declared(), other.declared());
        if found.is_empty() && own != others {
            let text = |hello: &Hello| serde_json::to_string(hello).unwrap_or_default();
            let what = "what the backend declares";
            found.push(Disagreement { what, own: text(&own), other: text(&others) });
        }
        found
    }

    /// The parts of the backend's declaration that affect results. The number of cases that keep it busy
    /// affects none, and differs between a process and a thread.
    fn declared(&self) -> Hello {
        let mut declared = self.backend.capabilities.clone();
        declared.limits.busy_cases = None;
        declared
    }

    /// The facts that must agree, the most general ones first.
    fn facts(&self) -> Facts {
        let backend = &self.backend.capabilities;
        let mut facts = vec![("dmlcts", self.program.clone()), ("spec", short(&self.spec))];
        facts.extend(self.selection.facts());
        facts.extend([
            ("backend", format!("{} {}", backend.name, backend.version)),
            ("device", backend.device.clone()),
            ("driver", backend.driver.clone()),
            ("feature level", self.level.clone()),
            ("number of cases", self.cases.map_or_else(|| "endless".to_owned(), |cases| cases.to_string())),
        ]);
        facts
    }
}

#[cfg(test)]
mod tests {
    use dmlcts_runner::{Partition, Runs};

    use super::*;
    use crate::{GivenForm, ProfileEdition, SuiteForm};

    fn backend_options() -> BackendOptions {
        let case_timeout = BackendOptions::USUAL_CASE_TIMEOUT;
        BackendOptions { argument: "reference".to_owned(), in_process: false, case_timeout, memory: None }
    }

    fn header() -> Header {
        let capabilities = dmlcts_reference::Reference::backend();
        let capabilities = dmlcts_backend::Backend::capabilities(&capabilities);
        let suite = Some(SuiteForm { name: "smoke".to_owned(), hash: "ab".repeat(32) });
        let selection = SelectionForm { suite, retries: 2, ..SelectionForm::default() };
        let what = (selection, "dmlcts run".to_owned());
        Header::new(what, &"cd".repeat(32), Some(7), FeatureLevel::NEWEST, (&backend_options(), capabilities))
    }

    #[test]
    fn how_a_backend_is_asked_is_compared_apart() {
        let said = |change: fn(&mut BackendOptions)| {
            let mut other = backend_options();
            change(&mut other);
            let all = header().backend_options().disagreements(&other);
            all.iter().map(|one| one.describe("here", "there")).collect::<Vec<_>>().join("; ")
        };
        assert_eq!(said(|_| {}), "");
        assert_eq!(
            said(|options| options.argument = "wgpu".to_owned()),
            "--backend: reference here, wgpu there"
        );
        assert_eq!(said(|options| options.in_process = true), "--in-process: none here, given there");
        assert_eq!(
            said(|options| options.case_timeout = Duration::from_millis(1500)),
            "--case-timeout: 10000ms here, 1500ms there"
        );
        // A file without these keys is read with their default values.
        let mut json = serde_json::to_value(header()).expect("it is JSON");
        json["backend"].as_object_mut().expect("an object").remove("case_timeout");
        json["selection"].as_object_mut().expect("an object").remove("retries");
        let old: Header = serde_json::from_value(json).expect("a header");
        assert_eq!((old.backend_options(), old.selection.retries), (backend_options(), 2));
    }

    #[test]
    fn every_difference_between_two_headers_is_named() {
        let said = |change: fn(&mut Header)| {
            let mut other = header();
            change(&mut other);
            let all = header().disagreements(&other);
            all.iter().map(|one| one.describe("here", "there")).collect::<Vec<_>>().join("; ")
        };
        assert_eq!(said(|_| {}), "");
        // The same program may have another path.
        assert_eq!(said(|header| header.backend.argument = "exec:/there/mine".to_owned()), "");
        assert_eq!(
            said(|header| header.program = "9.9.9".to_owned()),
            format!("dmlcts: {} here, 9.9.9 there", env!("CARGO_PKG_VERSION"))
        );
        assert_eq!(
            said(|header| header.spec = "ef".repeat(32)),
            "spec: cdcdcdcdcdcd here, efefefefefef there"
        );
        assert_eq!(
            said(|header| header.selection.suite.as_mut().expect("it has one").hash = "01".repeat(32)),
            "cases: suite smoke (abababababab) here, suite smoke (010101010101) there"
        );
        assert_eq!(
            said(|header| {
                header.selection.suite = None;
                header.selection.given = Some(GivenForm { cases: 3, hash: "23".repeat(32) });
            }),
            "cases: suite smoke (abababababab) here, 3 given (232323232323) there"
        );
        assert_eq!(
            said(|header| {
                header.selection.profile = Some(ProfileEdition { name: "mine".to_owned(), version: 2 });
            }),
            "--profile: none here, mine version 2 there"
        );
        assert_eq!(said(|header| header.selection.seed = 3), "--seed: 0 here, 3 there");
        assert_eq!(said(|header| header.selection.retries = 7), "--retries: 2 here, 7 there");
        assert_eq!(said(|header| header.selection.runs = Runs::Once), "--runs: sampled here, once there");
        assert_eq!(
            said(|header| header.selection.partition = Partition::new(2, 3)),
            "--partition: none here, 2/3 there"
        );
        assert_eq!(
            said(|header| header.backend.capabilities.driver = "2.0".to_owned()),
            "driver: none here, 2.0 there"
        );
        assert!(
            said(|header| header.backend.capabilities.ranks.max = 4)
                .starts_with("what the backend declares: {")
        );
    }
}
