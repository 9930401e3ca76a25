//! A ledger as YAML: what can be written, field by field, and how it is written. The order depends on what
//! stands there alone, so that a change of one answer is a change of its lines.

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

/// What backends answer to the questions that the pages leave open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LedgerForm {
    /// What one backend answered in the cases of one suite, an entry each. No two have name, device, driver
    /// and suite in common.
    pub backends: Vec<LedgerEntry>,
}

/// What one backend answered in the cases of one suite.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LedgerEntry {
    /// The backend, as it calls itself.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The device that it runs on, where it says so.
    #[serde(default)]
    pub device: String,
    /// The driver of the device, where it says so.
    #[serde(default)]
    pub driver: String,
    /// The feature level that cases were judged at.
    pub level: String,
    /// The suite that the cases are of.
    pub suite: String,
    /// The options of `dmlcts run` beyond the suite that bear on which cases ran and what they may do; left
    /// out where there was none.
    #[serde(default)]
    pub options: String,
    /// The BLAKE3 hash of the spec, in hex.
    pub spec: String,
    /// The questions that the cases raised, by their ids.
    pub questions: Vec<LedgerQuestion>,
}

/// A question, and what was answered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LedgerQuestion {
    /// Its id.
    pub question: String,
    /// What was answered; nothing where `together` is all there is.
    #[serde(default)]
    pub answers: Vec<LedgerAnswer>,
    /// How many further cases raised it and were refused for it or for another question that they raised.
    #[serde(default)]
    pub together: u64,
}

/// One answer to a question.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LedgerAnswer {
    /// `reject`; `accept`: created, and what came out was not compared; `semantics`: ran as the spec's
    /// semantics; or `reads` with the expression of another reading that the question allows.
    pub answer: String,
    /// How many cases.
    pub cases: u64,
    /// The first of them.
    pub example: String,
}

impl LedgerEntry {
    /// What a run of a suite shows of a backend.
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

    /// What no two entries have in common, in the order in which they stand.
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

/// As [`LedgerAnswer::answer`] spells it. A reading is spelled out, since its number means something else by
/// another spec.
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

/// What stands above a ledger that had nothing above it.
const HEAD: &str = "\
# What backends answer where the pages leave a question open. `dmlcts run --ledger` keeps it, and `dmlcts ledger` shows it.
";

impl LedgerForm {
    /// The text of the ledger. Comments that stand above everything else in `old` are kept, and no others.
    pub(crate) fn to_yaml(&self, old: &str) -> String {
        let above = comments(old);
        let mut text = if above.trim().is_empty() { HEAD } else { above }.to_owned();
        text.push_str(if self.backends.is_empty() { "backends: []\n" } else { "backends:\n" });
        self.backends.iter().for_each(|entry| entry.write(&mut text));
        text
    }
}
