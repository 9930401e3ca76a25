//! The header of a snapshot file: what ran where. It is shown, and never compared as a part of the backend's
//! behaviour.

use dmlcts_results::{Header, SelectionForm};
use dmlcts_spec::{Source, yaml};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{SnapshotError, digests::Digests};

/// What ran, and where.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Metadata {
    /// Why the file was written.
    pub description: String,
    /// The backend's name.
    pub backend: String,
    /// The backend's version.
    pub version: String,
    /// Its device.
    pub device: String,
    /// Its driver.
    pub driver: String,
    /// The feature level at which cases were judged.
    pub level: String,
    /// The start of the spec's hash.
    pub spec: String,
    /// The suite's name.
    pub suite: String,
    /// The start of the hash of the suite's text.
    pub suite_hash: String,
    /// The seed.
    pub seed: String,
    /// The other options that select cases or forgive differences, such as `--where`; may be empty.
    pub options: String,
    /// The version of dmlcts.
    pub dmlcts: String,
    /// The command that repeats the run.
    pub command: String,
}

/// The header as YAML.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct HeaderForm {
    source: String,
    description: String,
    info: InfoForm,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct InfoForm {
    backend: String,
    version: String,
    device: String,
    driver: String,
    level: String,
    spec: String,
    suite: String,
    suite_hash: String,
    seed: String,
    options: String,
    dmlcts: String,
    command: String,
    lines: String,
    body: String,
    header: String,
}

impl Metadata {
    /// The metadata of a recorded run.
    pub fn new(header: &Header) -> Self {
        let backend = &header.backend.capabilities;
        let selection = &header.selection;
        let suite = selection.suite.as_ref();
        let whole = SelectionForm { partition: None, ..selection.clone() };
        Self {
            description: String::new(),
            backend: backend.name.clone(),
            version: backend.version.clone(),
            device: backend.device.clone(),
            driver: backend.driver.clone(),
            level: header.level.clone(),
            spec: format!("{:.12}", header.spec),
            suite: suite.map_or_else(String::new, |suite| suite.name.clone()),
            suite_hash: suite.map_or_else(String::new, |suite| format!("{:.12}", suite.hash)),
            seed: selection.seed.to_string(),
            options: whole.words_of_a_run().join(" "),
            dmlcts: header.program.clone(),
            command: header.command.clone(),
        }
    }

    /// The keys of the header with their values: first the description, then the keys of `info`.
    pub(crate) fn values(&self) -> [(&'static str, &String); 13] {
        [
            ("description", &self.description),
            ("backend", &self.backend),
            ("version", &self.version),
            ("device", &self.device),
            ("driver", &self.driver),
            ("level", &self.level),
            ("spec", &self.spec),
            ("suite", &self.suite),
            ("suite_hash", &self.suite_hash),
            ("seed", &self.seed),
            ("options", &self.options),
            ("dmlcts", &self.dmlcts),
            ("command", &self.command),
        ]
    }

    /// The header of a file with these digests.
    pub(crate) fn write(&self, Digests { lines, body, header }: &Digests) -> String {
        let digests = [("lines", lines), ("body", body), ("header", header)];
        let info = self.values().into_iter().skip(1).chain(digests);
        let info: Vec<String> = info.map(|(key, value)| format!("  {key}: {}\n", scalar(value))).collect();
        let description = scalar(&self.description);
        format!("---\nsource: dmlcts\ndescription: {description}\ninfo:\n{}---\n", info.concat())
    }

    /// Reads the header of a file. Returns it with its digests, as the header has them.
    pub(crate) fn parse(path: &str, text: &str) -> Result<(Self, Digests), SnapshotError> {
        let form: HeaderForm = yaml::read(&Source::new(path, text))?.value;
        if form.source != "dmlcts" {
            let cause = "`source` is not dmlcts: another program wrote this file";
            return Err(SnapshotError::line(path, 2, cause));
        }
        let info = form.info;
        let about = Self {
            description: form.description,
            backend: info.backend,
            version: info.version,
            device: info.device,
            driver: info.driver,
            level: info.level,
            spec: info.spec,
            suite: info.suite,
            suite_hash: info.suite_hash,
            seed: info.seed,
            options: info.options,
            dmlcts: info.dmlcts,
            command: info.command,
        };
        Ok((about, Digests { lines: info.lines, body: info.body, header: info.header }))
    }

    /// The parts that can explain a change, each with its name.
    pub(crate) fn components(&self) -> [(&'static str, String); 9] {
        let suite = format!("{} ({})", self.suite, self.suite_hash);
        [
            ("dmlcts", self.dmlcts.clone()),
            ("spec", self.spec.clone()),
            ("suite", suite),
            ("seed", self.seed.clone()),
            ("options", self.options.clone()),
            ("backend", format!("{} {}", self.backend, self.version).trim_end().to_owned()),
            ("device", self.device.clone()),
            ("driver", self.driver.clone()),
            ("feature level", self.level.clone()),
        ]
    }
}

/// A value with quotes only if it needs them. The rules are those of insta, so that a file has the same bytes
/// whether `dmlcts` or `cargo insta` accepted it.
fn scalar(text: &str) -> String {
    const WORDS: [&str; 8] = ["yes", "no", "true", "false", "on", "off", "null", "~"];
    let quoted = yaml::quoted(text);
    let is_plain = quoted.len() == text.len() + "\"\"".len() // nothing was escaped
        && !text.is_empty()
        && text.trim_matches(' ') == text
        && !text.starts_with(['&', '*', '?', '|', '-', '<', '>', '=', '!', '%', '@', '.'])
        && !text.starts_with("0x")
        && !text.contains([':', '{', '}', '[', ']', ',', '#', '`', '\''])
        && !WORDS.contains(&text.to_lowercase().as_str())
        && text.parse::<f64>().is_err();
    if is_plain { text.to_owned() } else { quoted }
}
