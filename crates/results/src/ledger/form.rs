//! The form of a ledger as YAML, field by field, and its output. The order depends only on the contents, so a
//! change of one answer changes only its lines.

use std::fmt::Write as _;

use dmlcts_backend::Capabilities;
use dmlcts_model::FeatureLevel;
use dmlcts_runner::{AnswerCount, Recorded};
use dmlcts_spec::{
    Answer, Operator,
    yaml::{comments, quoted, scalar},
};
use schemars::JsonSchema;
use serde::Deserialize;

/// The answers of backends to the questions that the pages leave open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LedgerForm {
    /// The answers of each backend in the cases of each suite, one entry each. No two entries have the same
    /// name, device, driver and suite.
    pub backends: Vec<LedgerEntry>,
}

/// The answers of one backend in the cases of one suite.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LedgerEntry {
    /// The backend's own name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The device that it runs on, if it reports one.
    #[serde(default)]
    pub device: String,
    /// The driver of the device, if it reports one.
    #[serde(default)]
    pub driver: String,
    /// The feature level at which cases were judged.
    pub level: String,
    /// The suite of the cases.
    pub suite: String,
    /// The options of `dmlcts run`, beyond the suite, that affect the cases that ran and their allowed
    /// outcomes; left out if there were none.
    #[serde(default)]
    pub options: String,
    /// The BLAKE3 hash of the spec, in hex.
    pub spec: String,
    /// The questions that the cases raised, sorted by their ids.
    pub questions: Vec<LedgerQuestion>,
}

/// A question and its answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LedgerQuestion {
    /// Its id.
    pub question: String,
    /// The answers; empty if `together` counts every case.
    #[serde(default)]
    pub answers: Vec<LedgerAnswer>,
    /// The number of further cases that raised it and were refused, for it or for another question that they
    /// raised.
    #[serde(default)]
    pub together: u64,
}

/// One answer to a question.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LedgerAnswer {
    /// `reject`; `accept`: created, and the output was not compared; `semantics`: ran as the spec's
    /// semantics; or `reads` with the expression of another reading that the question allows.
    pub answer: String,
    /// The number of cases.
    pub cases: u64,
    /// The first of these cases.
    pub example: String,
}

impl LedgerEntry {
    /// The answers of a backend in a run of a suite.
    pub fn new(
        capabilities: &Capabilities,
        level: FeatureLevel,
        (suite, options): (&str, &str),
        spec: &str,
        recorded: &[Recorded],
    ) -> Self {
        let mut questions: Vec<LedgerQuestion> = recorded.iter().map(LedgerQuestion::new).collect();
        questions.sort_by(|one, other| one.question.cmp(&other.question));
        Self {
            name: capabilities.name.clone(),
            version: capabilities.version.clone(),
            device: capabilities.device.clone(),
            driver: capabilities.driver.clone(),
            level: level.to_string(),
            suite: suite.to_owned(),
            options: options.to_owned(),
            spec: spec.to_owned(),
            questions,
        }
    }

    /// The unique key of an entry, which also determines the order.
    pub(crate) fn key(&self) -> (&str, &str, &str, &str) {
        (&self.name, &self.device, &self.driver, &self.suite)
    }

    fn write(&self, text: &mut String) {
        let mut line = |head: &str, key: &str, value: &str| {
            if !value.is_empty() || !["device", "driver", "options"].contains(&key) {
                // Writing into a string cannot fail.
                let _ = writeln!(text, "{head}{key}: {}", scalar(value));
            }
        };
        line("  - ", "name", &self.name);
        for (key, value) in [
            ("version", &self.version),
            ("device", &self.device),
            ("driver", &self.driver),
            ("level", &self.level),
            ("suite", &self.suite),
            ("options", &self.options),
        ] {
            line("    ", key, value);
        }
        // A hash of digits alone would be a number.
        let _ = writeln!(text, "    spec: {}", quoted(&self.spec));
        text.push_str(if self.questions.is_empty() { "    questions: []\n" } else { "    questions:\n" });
        self.questions.iter().for_each(|question| question.write(text));
    }
}

impl LedgerQuestion {
    fn new(recorded: &Recorded) -> Self {
        let answers = recorded.answers.iter().map(|AnswerCount { answer, cases, first }| LedgerAnswer {
            answer: answer_text(recorded.operator, *answer),
            cases: *cases,
            example: first.1.clone(),
        });
        Self {
            question: recorded.question.id.clone(),
            answers: answers.collect(),
            together: recorded.together,
        }
    }

    fn write(&self, text: &mut String) {
        let mut line = |head: &str, value: &str| text.extend([head, value, "\n"]);
        line("      - question: ", &scalar(&self.question));
        if !self.answers.is_empty() {
            line("        answers:", "");
        }
        for LedgerAnswer { answer, cases, example } in &self.answers {
            line("          - answer: ", &scalar(answer));
            line("            cases: ", &cases.to_string());
            line("            example: ", &scalar(example));
        }
        if self.together > 0 {
            line("        together: ", &self.together.to_string());
        }
    }
}

/// An answer in the form of [`LedgerAnswer::answer`]. A reading is written as its expression, since its
/// number depends on the spec.
fn answer_text(operator: &Operator, answer: Answer) -> String {
    match answer {
        Answer::Reject => "reject".to_owned(),
        Answer::Accept => "accept".to_owned(),
        Answer::Reading(0) => "semantics".to_owned(),
        Answer::Reading(reading) => {
            let reading = operator.readings().get(reading - 1);
            format!("reads {}", reading.map(|reading| reading.expression.to_string()).unwrap_or_default())
        }
    }
}

/// The comment at the top of a ledger that has none.
const HEAD: &str = "\
# What backends answer where the pages leave a question open. `dmlcts run --ledger` keeps it, and `dmlcts ledger` shows it.
";

impl LedgerForm {
    /// The text of the ledger. Only the comments at the top of `old` are kept.
    pub(crate) fn to_yaml(&self, old: &str) -> String {
        let above = comments(old);
        let mut text = if above.trim().is_empty() { HEAD } else { above }.to_owned();
        text.push_str(if self.backends.is_empty() { "backends: []\n" } else { "backends:\n" });
        self.backends.iter().for_each(|entry| entry.write(&mut text));
        text
    }
}
