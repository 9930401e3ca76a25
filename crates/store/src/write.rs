//! Writes a finding's file. What a person wrote stays: comments, and keys whose values have not changed.

use dmlcts_runner::{Applies, BoundsForm};
use dmlcts_spec::yaml::{quoted, scalar};

use crate::{EvidenceForm, FindingFile, SeenForm};

impl FindingFile {
    /// The text of the file. `old` is the text that it replaces with its values: keys with the same value
    /// keep their text, and comments stay above their keys. A new file starts with a reference to its
    /// `schema` for editors, if the path is known.
    pub fn to_yaml(&self, old: Option<(&str, &Self)>, schema: Option<&str>) -> String {
        let new = self.keys();
        let Some((text, before)) = old else {
            let modeline = schema.map(|schema| format!("# yaml-language-server: $schema={schema}\n"));
            return new.into_iter().fold(modeline.unwrap_or_default(), |text, (_, lines)| text + &lines);
        };
        let (before, text) = (before.keys(), format!("{}\n", text.trim_end()));
        let (parts, end) = parts(&text);
        let mut written: Vec<(&str, String)> = Vec::new();
        for KeyPart { key, above, lines } in parts {
            let value = new.iter().find(|(other, _)| *other == key);
            let is_same = value.is_some_and(|value| before.contains(value));
            let lines = if is_same { lines } else { value.map_or("", |(_, value)| value) };
            written.push((key, format!("{above}{lines}")));
        }
        for (place, (key, lines)) in new.iter().enumerate() {
            if written.iter().all(|(other, _)| other != key) {
                // Behind the key that it follows in a new file.
                let before = place.checked_sub(1).map(|before| new[before].0);
                let after = written.iter().position(|(other, _)| Some(*other) == before);
                written.insert(after.map_or(0, |after| after + 1), (key, lines.clone()));
            }
        }
        written.into_iter().map(|(_, text)| text).collect::<String>() + end
    }

    /// The keys with their lines, in order.
    fn keys(&self) -> Vec<(&'static str, String)> {
        let mut all: Vec<(&'static str, String)> = Vec::new();
        let mut line = |key: &'static str, value: Option<String>| {
            // A list starts on the next line.
            let space = |value: &str| if value.starts_with('\n') { "" } else { " " };
            all.extend(value.map(|value| (key, format!("{key}:{}{value}\n", space(&value)))));
        };
        let plain = |text: &Option<String>| text.as_deref().map(|text| scalar(text.trim()));
        line("finding", Some(scalar(&self.finding)));
        line("status", Some(self.status.id().to_owned()));
        line("kind", Some(self.kind.id().to_owned()));
        line("where", plain(&self.filter));
        line("class", Some(format!("[{}]", self.class.join(", "))));
        line("evidence", self.evidence.as_ref().map(EvidenceForm::braced));
        line("smallest", Some(scalar(&self.smallest)));
        line("answer", plain(&self.answer));
        line("output", self.output.as_deref().map(quoted));
        let cases: Vec<String> = self.cases.iter().map(|case| format!("\n  - {}", scalar(case))).collect();
        line("cases", (!cases.is_empty()).then(|| cases.concat()));
        line("partial", self.partial.then(|| "true".to_owned()));
        line("flaky", self.flaky.then(|| "true".to_owned()));
        line("applies", self.applies.as_ref().map(applies));
        line("seen", self.seen.as_ref().map(SeenForm::braced));
        line("reason", plain(&self.reason));
        line("link", plain(&self.link));
        all
    }
}

/// A flow mapping of the values that are there.
fn braced<const N: usize>(values: [(&str, Option<String>); N]) -> String {
    let values = values.into_iter().filter_map(|(key, value)| Some(format!("{key}: {}", value?)));
    format!("{{{}}}", values.collect::<Vec<_>>().join(", "))
}

impl EvidenceForm {
    fn braced(&self) -> String {
        let outside = self.outside.as_deref().map(quoted);
        braced([
            ("inside", Some(quoted(&self.inside))),
            ("outside", outside),
            ("spec", Some(quoted(&self.spec))),
        ])
    }
}

fn applies(Applies { version, driver, device }: &Applies) -> String {
    let bounds = |bounds: &Option<BoundsForm>| {
        let BoundsForm { from, below } = bounds.as_ref()?;
        Some(braced([("from", from.as_deref().map(quoted)), ("below", below.as_deref().map(quoted))]))
    };
    let device = device.as_deref().map(quoted);
    braced([("version", bounds(version)), ("driver", bounds(driver)), ("device", device)])
}

impl SeenForm {
    fn braced(&self) -> String {
        let with = self.with.as_deref().map(quoted);
        braced([("first", Some(quoted(&self.first))), ("last", Some(quoted(&self.last))), ("with", with)])
    }
}

/// A key of a file with its value, as it stands there.
struct KeyPart<'a> {
    key: &'a str,
    /// The comments and empty lines above it.
    above: &'a str,
    /// Its lines.
    lines: &'a str,
}

/// The keys of a file, and what follows the last one. A line that starts with a letter starts a key.
fn parts(text: &str) -> (Vec<KeyPart<'_>>, &str) {
    let mut parts: Vec<KeyPart<'_>> = Vec::new();
    let (mut above, mut place) = (0, 0);
    for line in text.split_inclusive('\n') {
        let end = place + line.len();
        let is_apart = line.trim().is_empty() || line.starts_with('#') || line.starts_with("---");
        if line.starts_with(|first: char| first.is_ascii_alphabetic()) {
            let key = line.split(':').next().unwrap_or_default();
            parts.push(KeyPart { key, above: &text[above..place], lines: &text[place..end] });
            above = end;
        } else if let Some(part) = parts.last_mut().filter(|_| !is_apart) {
            // What stood apart between the lines of a value belongs to it.
            let start = above - part.lines.len();
            part.lines = &text[start..end];
            above = end;
        }
        place = end;
    }
    (parts, &text[above..])
}
