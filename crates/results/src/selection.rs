//! Which cases were chosen, how they are run, and the options of `run` that say so.
//!
//! What two selections differ in, whether one is a whole suite, and which words of a command mean the same
//! again: all of it follows from two functions here that take a selection apart, so that a member which is
//! added is forgotten nowhere.

use dmlcts_runner::{Configuration, Partition, Profile, Runs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Disagreement,
    disagreement::{Facts, disagreements, short},
};

/// Which cases were chosen, and how they are run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SelectionForm {
    /// The profile that the run is to show a backend's conformance to, where it is to. Suite, seed and
    /// feature level are its own then.
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
    /// How often a created operator runs.
    #[serde(default, skip_serializing_if = "are_sampled")]
    pub runs: Runs,
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

/// A size as `--memory` reads it back: a whole number of the largest unit that loses nothing.
fn exact_size(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let unit = units.into_iter().find(|(shift, _)| bytes > 0 && bytes.trailing_zeros() >= *shift);
    unit.map_or_else(|| format!("{bytes}B"), |(shift, name)| format!("{}{name}", bytes >> shift))
}

/// What a file says that was written before retries were recorded.
fn usual_retries() -> u32 {
    Configuration::USUAL_RETRIES
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn are_sampled(runs: &Runs) -> bool {
    *runs == Runs::Sampled
}

/// What an option of `run` decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decides {
    /// Which of a suite's cases there are to choose from.
    Choice,
    /// What is drawn.
    Seed,
    /// The feature level that cases are judged at, and must be valid at.
    Level,
    /// How many of the cases that were chosen run here.
    Part,
    /// Which cases are too large to run.
    Size,
    /// What is a failure.
    Failure,
    /// What is made of a failure.
    Gate,
}

impl SelectionForm {
    /// In what two selections differ.
    pub fn disagreements(&self, other: &Self) -> Vec<Disagreement> {
        disagreements(self.facts(), other.facts())
    }

    pub(crate) fn facts(&self) -> Facts {
        let Self {
            profile,
            suite,
            given,
            seed,
            filter,
            strategies,
            feature_level,
            partition,
            limit,
            memory,
            runs,
            retries,
            known_failures,
            allow,
        } = self;
        let suite = suite.as_ref().map(|suite| format!("suite {} ({})", suite.name, short(&suite.hash)));
        let given = given.as_ref().map(|given| format!("{} given ({})", given.cases, short(&given.hash)));
        let profile = profile.as_ref().map(|profile| format!("{} version {}", profile.name, profile.version));
        // The same list may have another path elsewhere.
        let known: Vec<String> = known_failures.iter().map(|file| short(&file.hash)).collect();
        vec![
            ("--profile", profile.unwrap_or_default()),
            ("cases", suite.or(given).unwrap_or_default()),
            ("--seed", seed.to_string()),
            ("--where", filter.clone().unwrap_or_default()),
            ("--strategy", strategies.join(",")),
            ("--feature-level", feature_level.clone().unwrap_or_default()),
            ("--partition", partition.map(|partition| partition.to_string()).unwrap_or_default()),
            ("--limit", limit.map(|limit| limit.to_string()).unwrap_or_default()),
            ("--memory", exact_size(*memory)),
            ("--runs", runs.id().to_owned()),
            ("--retries", retries.to_string()),
            ("--allow", allow.join(",")),
            ("--known-failures", known.join(", ")),
        ]
    }

    /// Each option by which this is not a usual run of a whole suite, with its value and what it decides.
    /// Those of a profile are there as what it stands for.
    fn options(&self) -> Vec<(Decides, &'static str, String)> {
        // What is run is no option: the suite may be named by its path, and cases may come from standard
        // input.
        let Self {
            profile: _,
            suite: _,
            given: _,
            seed,
            filter,
            strategies,
            feature_level,
            partition,
            limit,
            memory,
            runs,
            retries,
            known_failures,
            allow,
        } = self;
        let named = |names: &[String]| (!names.is_empty()).then(|| names.join(","));
        let unusual = |number: u64, usual: u64| (number != usual).then(|| number.to_string());
        let once = [
            (Decides::Choice, "--where", filter.clone()),
            (Decides::Choice, "--strategy", named(strategies)),
            (Decides::Seed, "--seed", unusual(*seed, 0)),
            (Decides::Level, "--feature-level", feature_level.clone()),
            (Decides::Part, "--partition", partition.map(|partition| partition.to_string())),
            (Decides::Part, "--limit", limit.map(|limit| limit.to_string())),
            (
                Decides::Size,
                "--memory",
                (*memory != Configuration::USUAL_MEMORY).then(|| exact_size(*memory)),
            ),
            (Decides::Failure, "--runs", (!are_sampled(runs)).then(|| runs.id().to_owned())),
            (Decides::Failure, "--allow", named(allow)),
            (Decides::Gate, "--retries", unusual((*retries).into(), Configuration::USUAL_RETRIES.into())),
        ];
        let lists = known_failures.iter().map(|file| (Decides::Gate, "--known-failures", file.path.clone()));
        let given = once.into_iter().filter_map(|(decides, name, value)| Some((decides, name, value?)));
        given.chain(lists).collect()
    }

    /// The words of a command that decide some of it as this selection does; nothing where that is as usual.
    pub fn words(&self, wanted: &[Decides]) -> Vec<String> {
        let options = self.options().into_iter().filter(|(decides, ..)| wanted.contains(decides));
        options.flat_map(|(_, name, value)| [name.to_owned(), value]).collect()
    }

    /// What bears on a single case: the words with which it comes to the same again.
    pub fn words_of_a_case(&self) -> Vec<String> {
        self.words(&[Decides::Level, Decides::Size, Decides::Failure, Decides::Gate])
    }

    /// What chooses cases of a suite, whichever it is.
    pub fn words_of_a_choice(&self) -> Vec<String> {
        self.words(&[Decides::Choice, Decides::Seed])
    }

    /// What `list` and `count` need to be told to show the cases that run.
    pub fn words_of_a_list(&self) -> Vec<String> {
        self.words(&[Decides::Choice, Decides::Seed, Decides::Level, Decides::Part])
    }

    /// Everything but what is run. A profile takes the place of what it stands for.
    pub fn words_of_a_run(&self) -> Vec<String> {
        let how = [Decides::Part, Decides::Size, Decides::Failure, Decides::Gate];
        match &self.profile {
            Some(profile) => {
                let mut words = vec!["--profile".to_owned(), profile.name.clone()];
                words.extend(self.words(&how));
                words
            }
            None => self.words(&[&[Decides::Choice, Decides::Seed, Decides::Level], &how[..]].concat()),
        }
    }

    /// What chooses the cases that a run would come to without a limit, as `count --obligations` is told.
    pub fn words_without_limit(&self) -> Vec<String> {
        Self { limit: None, ..self.clone() }.words_of_a_list()
    }

    /// What bears on which cases run, beyond the suite: nothing where all of it do, as usual.
    pub fn words_of_answers(&self) -> Vec<String> {
        self.words(&[Decides::Choice, Decides::Seed, Decides::Level, Decides::Part, Decides::Size])
    }

    /// Whether these are all cases that the suite has with this seed.
    pub fn has_all_cases(&self) -> bool {
        self.words(&[Decides::Choice, Decides::Level, Decides::Part]).is_empty()
    }

    /// Whether a suite is run as everybody runs it: with the usual seed, all cases, and nothing allowed that
    /// is not allowed by itself.
    pub fn is_usual(&self) -> bool {
        self.words_of_answers().is_empty() && self.words(&[Decides::Failure]).is_empty()
    }

    /// Whether it chooses the cases of a profile, or a part of them.
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

    /// What is run, in a few words.
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
