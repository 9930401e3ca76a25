//! Writes snapshots.

use dmlcts_model::{counted, grouped};

use crate::{Finding, Further, Metadata, Snapshot, Statement, digests::Digests, snapshot::Counts};

/// The lines of a finding.
pub(crate) fn finding(finding: &Finding) -> String {
    let mut text = format!("finding {}\n  {}\n  {}\n", finding.id, finding.headline(), counts(finding));
    text.extend(example(finding).map(|example| format!("  {example}\n")));
    text
}

/// The example of a finding, with the sentence about it.
pub(crate) fn example(finding: &Finding) -> Option<String> {
    let shows = finding.shows.as_ref().map_or_else(String::new, |shows| format!(": {shows}"));
    finding.example.as_ref().map(|example| format!("e.g. {example}{shows}"))
}

/// The numbers of a finding's cases.
pub(crate) fn counts(finding: &Finding) -> String {
    let Counts { cases, of, digest } = &finding.counts;
    format!("{} of {}; digest {digest}", grouped(*cases), counted(*of, "case"))
}

/// A whole file: a header with digests, and the body.
pub(crate) fn file(about: &Metadata, body: &str) -> String {
    about.write(&Digests::of(about, body)) + body
}

impl Snapshot {
    /// The body of the file.
    pub fn body(&self) -> String {
        let mut text: String = self.findings.iter().map(finding).collect();
        if let Some(Further { findings, cases, digest }) = &self.further {
            let (findings, cases) = (grouped(*findings), counted(*cases, "case"));
            text.extend(["further findings: ", &findings, " with ", &cases, "; digest ", digest, "\n"]);
        }
        for chance in &self.chance {
            text.extend(["chance   ", &chance.subject(), ": ", &chance.text(), "\n"]);
        }
        for (head, statements) in [("answers  ", &self.answers), ("refuses  ", &self.refusals)] {
            for Statement { subject, text: says } in statements {
                text.extend([head, subject, ": ", says, "\n"]);
            }
        }
        for lack in &self.lacks {
            text.extend(["lacks    ", lack, "\n"]);
        }
        text
    }

    /// The whole file.
    pub fn to_text(&self) -> String {
        file(&self.about, &self.body())
    }
}
