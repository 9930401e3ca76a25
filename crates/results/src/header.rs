//! The first line: what was run, on what, and by whom. Two runs whose headers agree run the same cases on the same
//! backend.

use std::time::Duration;

use dmlcts_backend::{Capabilities, protocol::Hello};
use dmlcts_model::FeatureLevel;
use dmlcts_runner::{Configuration, Partition};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of the format that this program writes, and the only one that it reads.
pub const VERSION: u32 = 1;

/// Everything that it takes to run the same again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Header {
    /// The version of the format: 1.
    pub format: u32,
    /// The version of dmlcts.
    pub program: String,
    /// The BLAKE3 hash of the spec, in hex.
    pub spec: String,
    /// The command that runs the same again, for a POSIX shell. What was read from standard input is not in it.
    pub command: String,
    /// Which cases were chosen, and how they are run.
    pub selection: SelectionForm,
    /// How many cases there are to choose from, those that are left out included; null where they never end.
    pub cases: Option<u64>,
    /// The feature level that cases are judged at.
    pub level: String,
    /// Who answers.
    pub backend: BackendForm,
}

/// Which cases were chosen, and how they are run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SelectionForm {
    /// The profile that the run is to show a backend's conformance to, where it is to. Suite, seed and feature level are its own then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfileEdition>,
    /// The suite; null where cases were given one by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<SuiteForm>,
    /// The cases that were given instead of a suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<GivenForm>,
    /// The seed of everything that is drawn.
    pub seed: u64,
    /// The predicate that had to hold.
    #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// The strategies that were chosen; empty where all of the suite's were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub strategies: Vec<String>,
    /// The feature level that was asked for; null where it is the backend's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feature_level: Option<String>,
    /// The part of the cases that was run; null where all were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<PartitionForm>,
    /// How many cases were to run at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// How many bytes a case may take; larger ones are created only.
    pub memory: u64,
    /// How often a failure is run again alone.
    #[serde(default = "usual_retries")]
    pub retries: u32,
    /// The lists of what is known to fail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known_failures: Vec<KnownFileForm>,
    /// Differences that are no failures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
}

/// An edition of a profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProfileEdition {
    /// The profile's name.
    pub name: String,
    /// Its version.
    pub version: u32,
}

/// A suite.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteForm {
    /// Its name.
    pub name: String,
    /// The BLAKE3 hash of its text, in hex.
    pub hash: String,
}

/// Cases that were given one by one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GivenForm {
    /// How many.
    pub cases: u64,
    /// The BLAKE3 hash of their lines, each with a line feed behind it, in hex.
    pub hash: String,
}

/// A list of known failures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KnownFileForm {
    /// The file, as it was named.
    pub path: String,
    /// The BLAKE3 hash of its text, in hex.
    pub hash: String,
}

/// One of several parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PartitionForm {
    /// Which, from 1.
    pub part: u64,
    /// How many there are.
    pub of: u64,
}

/// Who answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BackendForm {
    /// As it was named on the command line.
    pub argument: String,
    /// Whether one that is built in answered on threads of the program, and not in processes.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub in_process: bool,
    /// For how many milliseconds one in another process might be silent while it had cases.
    #[serde(default = "usual_case_timeout")]
    pub case_timeout: u64,
    /// What it says of itself, as a backend process says it in its `hello`.
    pub capabilities: Hello,
}

/// Who is asked, and how: what the command line says of the backend, and the backend does not say itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The backend's name on the command line.
    pub argument: String,
    /// Whether one that is built in answers on threads of this program.
    pub in_process: bool,
    /// How long one in another process may be silent while it has cases.
    pub case_timeout: Duration,
}

impl Asked {
    /// How long a backend may be silent where nobody says otherwise.
    pub const USUAL_CASE_TIMEOUT: Duration = Duration::from_secs(10);

    /// In what two ways to ask differ.
    pub fn disagreements(&self, other: &Self) -> Vec<Disagreement> {
        disagreements(self.facts(), other.facts())
    }

    fn facts(&self) -> Facts {
        let in_process = if self.in_process { "given" } else { "" };
        vec![
            ("--backend", self.argument.clone()),
            ("--in-process", in_process.to_owned()),
            ("--case-timeout", format!("{}ms", self.case_timeout.as_millis())),
        ]
    }
}

/// What a file says that was written before retries were recorded.
fn usual_retries() -> u32 {
    Configuration::default().retries
}

fn usual_case_timeout() -> u64 {
    Asked::USUAL_CASE_TIMEOUT.as_millis() as u64
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_usual(in_process: &bool) -> bool {
    !in_process
}

impl Header {
    /// The header of a run of these cases on this backend, which is asked so.
    pub fn new(
        (selection, command): (SelectionForm, String),
        spec: &str,
        cases: Option<u64>,
        level: FeatureLevel,
        (asked, capabilities): (&Asked, &Capabilities),
    ) -> Self {
        let Asked { argument, in_process, case_timeout } = asked.clone();
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
            backend: BackendForm { argument, in_process, case_timeout, capabilities },
        }
    }

    /// Who was asked, and how.
    pub fn asked(&self) -> Asked {
        let BackendForm { argument, in_process, case_timeout, .. } = &self.backend;
        let case_timeout = Duration::from_millis(*case_timeout);
        Asked { argument: argument.clone(), in_process: *in_process, case_timeout }
    }

    /// In what the runs of two headers differ; nothing where they run the same cases on the same backend. How a backend
    /// was [asked](Self::asked) makes no difference: its path may be another on another machine.
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

    /// What the backend declares, as far as it matters to what comes out: how much it wants at a time does not, and differs
    /// between a process and a thread.
    fn declared(&self) -> Hello {
        let mut declared = self.backend.capabilities.clone();
        declared.limits.busy_cases = None;
        declared
    }

    /// What must agree, in the order in which a person would ask.
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

impl SelectionForm {
    /// In what two selections differ.
    pub fn disagreements(&self, other: &Self) -> Vec<Disagreement> {
        disagreements(self.facts(), other.facts())
    }

    fn facts(&self) -> Facts {
        let suite = self.suite.as_ref().map(|suite| format!("suite {} ({})", suite.name, short(&suite.hash)));
        let given =
            self.given.as_ref().map(|given| format!("{} given ({})", given.cases, short(&given.hash)));
        // The same list may have another path elsewhere.
        let known: Vec<String> = self.known_failures.iter().map(|file| short(&file.hash)).collect();
        let number = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
        let profile =
            self.profile.as_ref().map(|profile| format!("{} version {}", profile.name, profile.version));
        vec![
            ("--profile", profile.unwrap_or_default()),
            ("cases", suite.or(given).unwrap_or_default()),
            ("--seed", self.seed.to_string()),
            ("--where", self.filter.clone().unwrap_or_default()),
            ("--strategy", self.strategies.join(",")),
            ("--feature-level", self.feature_level.clone().unwrap_or_default()),
            ("--partition", self.partition.map(|partition| partition.to_string()).unwrap_or_default()),
            ("--limit", number(self.limit)),
            ("--memory", self.memory.to_string()),
            ("--retries", self.retries.to_string()),
            ("--allow", self.allow.join(",")),
            ("--known-failures", known.join(", ")),
        ]
    }
}

/// One thing in which two runs differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// What differs.
    pub what: &'static str,
    /// What this one has; empty for nothing.
    pub own: String,
    /// What the other one has; empty for nothing.
    pub other: String,
}

impl Disagreement {
    /// In words, with names for the two.
    pub fn describe(&self, own: &str, other: &str) -> String {
        let shown = |value: &str| if value.is_empty() { "none".to_owned() } else { value.to_owned() };
        format!("{}: {} {own}, {} {other}", self.what, shown(&self.own), shown(&self.other))
    }
}

/// What must agree: its name, and what it is.
type Facts = Vec<(&'static str, String)>;

/// Both lists name the same things in the same order.
fn disagreements(own: Facts, other: Facts) -> Vec<Disagreement> {
    let both = own.into_iter().zip(other);
    both.filter(|((_, own), (_, other))| own != other)
        .map(|((what, own), (_, other))| Disagreement { what, own, other })
        .collect()
}

/// As much of a hash as tells two apart.
fn short(hash: &str) -> String {
    hash.chars().take(12).collect()
}

impl From<Partition> for PartitionForm {
    fn from(partition: Partition) -> Self {
        Self { part: partition.part(), of: partition.of() }
    }
}

impl std::fmt::Display for PartitionForm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.part, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked() -> Asked {
        let case_timeout = Asked::USUAL_CASE_TIMEOUT;
        Asked { argument: "reference".to_owned(), in_process: false, case_timeout }
    }

    fn header() -> Header {
        let capabilities = dmlcts_reference::Reference::backend();
        let capabilities = dmlcts_backend::Backend::capabilities(&capabilities);
        let suite = Some(SuiteForm { name: "smoke".to_owned(), hash: "ab".repeat(32) });
        let selection = SelectionForm { suite, retries: 2, ..SelectionForm::default() };
        let what = (selection, "dmlcts run".to_owned());
        Header::new(what, &"cd".repeat(32), Some(7), FeatureLevel::NEWEST, (&asked(), capabilities))
    }

    #[test]
    fn how_a_backend_is_asked_is_compared_apart() {
        let said = |change: fn(&mut Asked)| {
            let mut other = asked();
            change(&mut other);
            let all = header().asked().disagreements(&other);
            all.iter().map(|one| one.describe("here", "there")).collect::<Vec<_>>().join("; ")
        };
        assert_eq!(said(|_| {}), "");
        assert_eq!(said(|asked| asked.argument = "wgpu".to_owned()), "--backend: reference here, wgpu there");
        assert_eq!(said(|asked| asked.in_process = true), "--in-process: none here, given there");
        assert_eq!(
            said(|asked| asked.case_timeout = Duration::from_millis(1500)),
            "--case-timeout: 10000ms here, 1500ms there"
        );
        // A file of before says neither, and is taken to be of a usual run.
        let mut json = serde_json::to_value(header()).expect("it is JSON");
        json["backend"].as_object_mut().expect("an object").remove("case_timeout");
        json["selection"].as_object_mut().expect("an object").remove("retries");
        let old: Header = serde_json::from_value(json).expect("a header");
        assert_eq!((old.asked(), old.selection.retries), (asked(), 2));
    }

    #[test]
    fn whatever_differs_between_two_runs_is_named() {
        let said = |change: fn(&mut Header)| {
            let mut other = header();
            change(&mut other);
            let all = header().disagreements(&other);
            all.iter().map(|one| one.describe("here", "there")).collect::<Vec<_>>().join("; ")
        };
        assert_eq!(said(|_| {}), "");
        // The same program may lie elsewhere.
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
        assert_eq!(
            said(|header| header.selection.partition = Some(PartitionForm { part: 2, of: 3 })),
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
