//! The selection of a run: its cases, how they run, and the options of `run` that select them.
//!
//! The comparison of two selections, the check for a whole suite, and the words of a command all use one list
//! of options. It destructures the selection, so the compiler reports a field that it omits.

use dmlcts_profiles::Profile;
use dmlcts_runner::{Configuration, Partition, Runs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Disagreement,
    disagreement::{Facts, disagreements, short},
};

/// The selected cases, and how they run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SelectionForm {
    /// The profile that the run tests the backend against, if any. It determines the suite, the seed and the
    /// feature level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfileEdition>,
    /// The suite; null if cases were given one by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<SuiteForm>,
    /// The cases that were given instead of a suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<GivenForm>,
    /// The seed of all random choices.
    pub seed: u64,
    /// The predicate that selects cases.
    #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// The selected strategies; empty if all strategies of the suite were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub strategies: Vec<String>,
    /// The order of the cases; null for that of the suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    /// The requested feature level; null for the backend's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feature_level: Option<String>,
    /// The part of the cases that was run; null if all were run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<Partition>,
    /// The maximum number of cases to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// The maximum number of bytes for a case. The operator of a larger case is created, but not run.
    pub memory: u64,
    /// How often a created operator runs.
    #[serde(default, skip_serializing_if = "are_sampled")]
    pub runs: Runs,
    /// The number of times that a failure runs again alone.
    #[serde(default = "usual_retries")]
    pub retries: u32,
    /// The folder of known findings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub findings: Option<FolderForm>,
    /// The differences that do not count as failures.
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
    /// The number of cases.
    pub cases: u64,
    /// The BLAKE3 hash of their lines, each followed by a line feed, in hex.
    pub hash: String,
}

/// A folder of known findings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FolderForm {
    /// The path of the folder, as it was given.
    pub path: String,
    /// The BLAKE3 hash of the texts of its files, in the order of their names, in hex.
    pub hash: String,
    /// The name that it must have, if that is not the backend's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A size in the syntax of options: a whole number of the largest unit that represents it exactly.
pub(crate) fn exact_size(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let unit = units.into_iter().find(|(shift, _)| bytes > 0 && bytes.trailing_zeros() >= *shift);
    unit.map_or_else(|| format!("{bytes}B"), |(shift, name)| format!("{}{name}", bytes >> shift))
}

/// The value for a file that does not record retries.
fn usual_retries() -> u32 {
    Configuration::USUAL_RETRIES
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn are_sampled(runs: &Runs) -> bool {
    *runs == Runs::Sampled
}

/// The aspect of a run that an option decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decides {
    /// The cases of a suite that the run selects.
    Choice,
    /// The random choices.
    Seed,
    /// The order of the cases.
    Order,
    /// The feature level at which cases are judged and must be valid.
    Level,
    /// The part of the selected cases that runs.
    Part,
    /// The size above which a case does not run.
    Size,
    /// The criteria for a failure.
    Failure,
    /// The treatment of a failure.
    Gate,
}

impl SelectionForm {
    /// The differences between two selections.
    pub fn disagreements(&self, other: &Self) -> Vec<Disagreement> {
        disagreements(self.facts(), other.facts())
    }

    pub(crate) fn facts(&self) -> Facts {
        let profile = self.profile.as_ref();
        let profile = profile.map(|profile| format!("{} version {}", profile.name, profile.version));
        let suite = self.suite.as_ref().map(|suite| format!("suite {} ({})", suite.name, short(&suite.hash)));
        let given =
            self.given.as_ref().map(|given| format!("{} given ({})", given.cases, short(&given.hash)));
        // The same folder may have another path on another machine.
        let findings = self.findings.as_ref().map(|folder| short(&folder.hash));
        let mut facts =
            vec![("--profile", profile.unwrap_or_default()), ("cases", suite.or(given).unwrap_or_default())];
        facts.extend(self.values().map(|(_, name, value, _)| (name, value)));
        facts.push(("--findings", findings.unwrap_or_default()));
        facts
    }

    /// The options that need no file: the aspect that each decides, its name, its value, and its usual value.
    /// An option that is not given has no text.
    fn values(&self) -> [(Decides, &'static str, String, String); 11] {
        // The suite and the given cases are not options: a suite may be named by its path, and cases may come
        // from standard input. A profile is represented by the options that it stands for.
        let Self {
            profile: _,
            suite: _,
            given: _,
            seed,
            filter,
            strategies,
            order,
            feature_level,
            partition,
            limit,
            memory,
            runs,
            retries,
            findings: _,
            allow,
        } = self;
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        let none = String::new;
        let partition = partition.map(|partition| partition.to_string()).unwrap_or_default();
        let limit = limit.map(|limit| limit.to_string()).unwrap_or_default();
        let usual_retries = Configuration::USUAL_RETRIES.to_string();
        [
            (Decides::Choice, "--where", text(filter), none()),
            (Decides::Choice, "--strategy", strategies.join(","), none()),
            (Decides::Seed, "--seed", seed.to_string(), "0".to_owned()),
            (Decides::Order, "--order", text(order), none()),
            (Decides::Level, "--feature-level", text(feature_level), none()),
            (Decides::Part, "--partition", partition, none()),
            (Decides::Part, "--limit", limit, none()),
            (Decides::Size, "--memory", exact_size(*memory), exact_size(Configuration::USUAL_MEMORY)),
            (Decides::Failure, "--runs", runs.id().to_owned(), Runs::Sampled.id().to_owned()),
            (Decides::Failure, "--allow", allow.join(","), none()),
            (Decides::Gate, "--retries", retries.to_string(), usual_retries),
        ]
    }

    /// The options that differ from a usual run of a whole suite, each with its value and the aspect that it
    /// decides.
    fn options(&self) -> Vec<(Decides, &'static str, String)> {
        let unusual = self.values().into_iter().filter(|(_, _, value, usual)| value != usual);
        let mut all: Vec<_> = unusual.map(|(decides, name, value, _)| (decides, name, value)).collect();
        if let Some(FolderForm { path, name, hash: _ }) = &self.findings {
            all.push((Decides::Gate, "--findings", path.clone()));
            all.extend(name.iter().map(|name| (Decides::Gate, "--name", name.clone())));
        }
        all
    }

    /// The words of a command for the options that decide `wanted`. Options with their usual values are left
    /// out.
    pub fn words(&self, wanted: &[Decides]) -> Vec<String> {
        let options = self.options().into_iter().filter(|(decides, ..)| wanted.contains(decides));
        options.flat_map(|(_, name, value)| [name.to_owned(), value]).collect()
    }

    /// The words for a command that runs a single case with the same result.
    pub fn words_of_a_case(&self) -> Vec<String> {
        self.words(&[Decides::Level, Decides::Size, Decides::Failure, Decides::Gate])
    }

    /// The words that select cases of any suite.
    pub fn words_of_a_choice(&self) -> Vec<String> {
        self.words(&[Decides::Choice, Decides::Seed])
    }

    /// The words with which `list` and `count` show the cases that run.
    pub fn words_of_a_list(&self) -> Vec<String> {
        self.words(&[Decides::Choice, Decides::Seed, Decides::Order, Decides::Level, Decides::Part])
    }

    /// All words except the suite or the given cases. A profile replaces the words that it stands for.
    pub fn words_of_a_run(&self) -> Vec<String> {
        let how = [Decides::Order, Decides::Part, Decides::Size, Decides::Failure, Decides::Gate];
        match &self.profile {
            Some(profile) => [vec!["--profile".to_owned(), profile.name.clone()], self.words(&how)].concat(),
            None => self.words(&[&[Decides::Choice, Decides::Seed, Decides::Level], &how[..]].concat()),
        }
    }

    /// The words for `count --obligations`: they select the cases of a run without a limit.
    pub fn words_without_limit(&self) -> Vec<String> {
        Self { limit: None, ..self.clone() }.words_of_a_list()
    }

    /// The words, beyond the suite, that affect the cases that run. There are none if all cases run as usual.
    pub fn words_of_answers(&self) -> Vec<String> {
        self.words(&[Decides::Choice, Decides::Seed, Decides::Level, Decides::Part, Decides::Size])
    }

    /// Whether the selection has all cases that the suite has with this seed.
    pub fn has_all_cases(&self) -> bool {
        self.words(&[Decides::Choice, Decides::Level, Decides::Part]).is_empty()
    }

    /// Whether a suite runs with the usual options: the usual seed, all cases, and the usual criteria for a
    /// failure.
    pub fn is_usual(&self) -> bool {
        self.words_of_answers().is_empty() && self.words(&[Decides::Failure]).is_empty()
    }

    /// Whether it selects the cases of a profile, or a part of them.
    pub fn is_of(&self, profile: &Profile) -> bool {
        let form = profile.form();
        self.suite.as_ref().is_some_and(|suite| suite.name == form.suite)
            && self.seed == form.seed
            && self.feature_level == Some(profile.level().to_string())
            && self.memory <= form.memory
            && self.runs == Runs::Sampled
            && self.words(&[Decides::Choice]).is_empty()
            && self.limit.is_none()
    }

    /// A short description of the selected cases.
    pub fn describe(&self) -> String {
        let Some(suite) = &self.suite else { return "cases given".to_owned() };
        let mut text = format!("suite {}, seed {}", suite.name, self.seed);
        if let Some(filter) = &self.filter {
            text.extend([", where ", filter]);
        }
        if let Some(partition) = self.partition {
            text.extend([", part ", &partition.to_string()]);
        }
        text
    }
}
