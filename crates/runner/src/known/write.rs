//! Writes lists of known failures as text, in the form that
//! [`KnownFailures::load`](super::KnownFailures::load) reads.

use std::fmt::Write as _;

use dmlcts_spec::yaml::{comments, quoted, scalar};

use super::{BoundsForm, KnownFailureForm, KnownFailuresForm, keep::edited};

impl KnownFailuresForm {
    /// The text of the list, as a replacement for `old`. If `old` has the same content, it is returned
    /// unchanged. If `old` has the usual shape (one entry for each dash, one below the other), unchanged
    /// entries keep their text, with comments. Otherwise only the comments at the top of `old` are kept. A
    /// new list starts with a reference to its `schema` for editors, if the path is known.
    pub fn to_yaml(&self, old: Option<&str>, schema: Option<&str>) -> String {
        old.and_then(|old| edited(self, old)).unwrap_or_else(|| self.anew(old, schema))
    }

    fn anew(&self, old: Option<&str>, schema: Option<&str>) -> String {
        let modeline = || schema.map(|schema| format!("# yaml-language-server: $schema={schema}\n"));
        let mut text = old.map_or_else(|| modeline().unwrap_or_default(), |old| comments(old).to_owned());
        // Writing into a string cannot fail.
        let _ = writeln!(text, "backend: {}", scalar(&self.backend));
        if self.failures.is_empty() {
            text.push_str("failures: []\n");
        } else {
            text.push_str("failures:\n");
        }
        self.failures.iter().for_each(|failure| failure.write(&mut text));
        text
    }
}

impl KnownFailureForm {
    /// Appends the entry to a text, with its dash in the third column.
    pub(super) fn write(&self, text: &mut String) {
        // A comma separates items within brackets.
        let name = |suite: &String| {
            if suite.contains([',', '[', ']', '{', '}']) { quoted(suite) } else { scalar(suite) }
        };
        let suites: Vec<String> = self.suites.iter().map(name).collect();
        let mut line = |line: String| text.extend([line.as_str(), "\n"]);
        line(format!("  - id: {}", scalar(&self.id)));
        line(format!("    suites: [{}]", suites.join(", ")));
        if let Some(filter) = &self.filter {
            line(format!("    where: {}", scalar(filter)));
        }
        if let Some(cases) = &self.cases {
            line("    cases:".to_owned());
            for case in cases {
                line(format!("      - {}", scalar(case)));
            }
        }
        line(format!("    signature: {}", self.signature));
        line(format!("    kind: {}", self.kind.id()));
        line(format!("    reason: {}", scalar(self.reason.trim())));
        for (key, value) in [("link", &self.link), ("device", &self.device)] {
            if let Some(value) = value {
                line(format!("    {key}: {}", scalar(value)));
            }
        }
        for (key, bounds) in [("version", &self.version), ("driver", &self.driver)] {
            let Some(BoundsForm { from, below }) = bounds else { continue };
            let bound = |key: &str, value: &Option<String>| {
                value.as_ref().map(|value| format!("{key}: {}", quoted(value)))
            };
            let both: Vec<String> =
                [bound("from", from), bound("below", below)].into_iter().flatten().collect();
            line(format!("    {key}: {{{}}}", both.join(", ")));
        }
    }
}

#[cfg(test)]
mod tests {
    use dmlcts_spec::{Source, yaml};

    use super::*;
    use crate::Kind;

    #[test]
    fn what_is_written_is_read_again() {
        let entry = KnownFailureForm {
            id: "no".to_owned(),
            suites: vec!["smoke".to_owned(), "my, suite".to_owned(), "7".to_owned()],
            filter: Some("operator == SLICE1 and rank in [1, 2] and (any axis Sizes < 0)".to_owned()),
            cases: Some(vec!["SLICE FLOAT32 in=4 out=2 Offsets=0 Sizes=2 Strides=2 fill=iota".to_owned()]),
            signature: "wrong-value".to_owned(),
            kind: Kind::Bug,
            reason: "It: says \"so\" #1\nand \\ goes\ton.".to_owned(),
            link: Some("https://example.org/7".to_owned()),
            version: Some(BoundsForm { from: Some("1.10".to_owned()), below: None }),
            driver: Some(BoundsForm { from: Some("1".to_owned()), below: Some("2".to_owned()) }),
            device: Some("[llvm]".to_owned()),
        };
        let form = KnownFailuresForm { backend: "it's \"mine\"".to_owned(), failures: vec![entry; 2] };
        let text = form.to_yaml(Some("# mine\n\n# yours\nbackend: x # lost\n"), Some("schema.json"));
        assert!(text.starts_with("# mine\n\n# yours\nbackend: "), "{text}");
        let read = yaml::read::<KnownFailuresForm>(&Source::new("list", &text));
        let read = read.unwrap_or_else(|error| panic!("{error}\n{text}")).value;
        assert_eq!(format!("{read:?}"), format!("{form:?}"), "{text}");
        let none = KnownFailuresForm { failures: Vec::new(), ..form };
        let anew = none.to_yaml(None, Some("../schema.json"));
        assert!(anew.starts_with("# yaml-language-server: $schema=../schema.json\nbackend: "), "{anew}");
        assert!(yaml::read::<KnownFailuresForm>(&Source::new("list", anew)).is_ok());
        assert!(none.to_yaml(None, None).starts_with("backend: "), "nobody knows where the schema lies");
    }
}
