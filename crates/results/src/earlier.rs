//! The findings of an earlier run, whose ids and predicates a later run keeps.

use dmlcts_model::line;
use dmlcts_runner::StoredFinding;
use dmlcts_spec::{Library, Validity};

use crate::{Error, FindingForm, Header, Item, Reader, UnknownName};

/// The most characters of an id.
const LONGEST_ID: usize = 100;

/// The header of a results file, and the findings in its summary. Cases that this program's spec cannot read
/// are left out, so that a file of another version can be given.
///
/// # Errors
///
/// The file cannot be read, its run was cut off, or an id is not one.
pub fn earlier_findings(path: &str, library: &Library) -> Result<(Header, Vec<StoredFinding>), Error> {
    let mut reader = Reader::open(path)?;
    let (mut found, mut number) = (None, 1);
    while let Some(item) = reader.next()? {
        number += 1;
        if let Item::Summary(summary) = item {
            found = Some(summary.findings);
        }
    }
    let header = reader.header().clone();
    let Some(found) = found else {
        return Err(Error::NoFindings { path: path.to_owned(), number, command: header.command });
    };
    let stored: Result<Vec<StoredFinding>, _> = found.iter().map(|form| form.stored(library)).collect();
    let stored = stored.map_err(|cause| Error::UnknownName { path: path.to_owned(), cause })?;
    Ok((header, stored))
}

impl FindingForm {
    fn stored(&self, library: &Library) -> Result<StoredFinding, UnknownName> {
        let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
        if self.id.is_empty() || self.id.len() > LONGEST_ID || !self.id.chars().all(is_plain) {
            return Err(UnknownName::new("the id of a finding", &self.id));
        }
        let of_invalid = |invalid: bool| if invalid { Validity::Invalid } else { Validity::Valid };
        let lines = self.failures.smallest.iter().chain([&self.failures.line]);
        Ok(StoredFinding {
            id: self.id.clone(),
            class: self.failures.class,
            predicate: self.rule.as_ref().map(|rule| rule.predicate.clone()),
            validity: self.rule.as_ref().map(|rule| of_invalid(rule.invalid)),
            cases: lines.filter_map(|text| line::parse(text, library.signatures()).ok()).collect(),
            count: self.failures.cases,
            fresh: None,
        })
    }
}
