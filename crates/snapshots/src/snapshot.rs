//! What a snapshot holds.

use dmlcts_diagnose::EarlierFinding;
use dmlcts_model::line;
use dmlcts_runner::Class;
use dmlcts_spec::{Library, Predicate, Validity};

use crate::{Chance, Metadata};

/// What a backend does on a suite, without the cases that pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// The header, which is not compared.
    pub about: Metadata,
    /// The findings, by id.
    pub findings: Vec<Finding>,
    /// The findings that have no room.
    pub further: Option<Further>,
    /// The failures by chance, by operator.
    pub chance: Vec<Chance>,
    /// The answers to each open question, in the order of the spec.
    pub answers: Vec<Statement>,
    /// How descs that break a clause are refused: most clauses first, then the exceptions in the order of the
    /// spec.
    pub refusals: Vec<Statement>,
    /// What the backend declares to lack.
    pub lacks: Vec<String>,
}

/// A statement about one thing, such as a question and its answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// What it is about.
    pub subject: String,
    /// What it says.
    pub text: String,
}

/// A finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The id.
    pub id: String,
    /// How most of its cases fail.
    pub class: Class,
    /// The predicate that holds for its cases, or else the names of its operators.
    pub place: Place,
    /// The numbers of its cases.
    pub counts: Counts,
    /// The smallest case, unless its line is long.
    pub example: Option<String>,
    /// A sentence about the first wrong element of that case.
    pub shows: Option<String>,
}

/// Which cases a finding has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Those for which a predicate holds.
    Where {
        /// The predicate.
        predicate: String,
        /// Whether it is about invalid descs. It is about valid ones otherwise.
        invalid: bool,
    },
    /// Cases of these operators, with no predicate.
    Of(String),
}

/// The numbers of a finding's cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    /// The number of failures.
    pub cases: u64,
    /// The number of failures and of passes for which the predicate holds.
    pub of: u64,
    /// Eight hexadecimal digits.
    pub digest: String,
}

/// Findings that have no room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Further {
    /// Their number.
    pub findings: u64,
    /// The number of their cases.
    pub cases: u64,
    /// Eight hexadecimal digits.
    pub digest: String,
}

impl Finding {
    /// The class and the place, as the file has them.
    pub fn headline(&self) -> String {
        let class = self.class.id();
        match &self.place {
            Place::Where { predicate, invalid: true } => {
                format!("{class} where {predicate} among invalid descs")
            }
            Place::Where { predicate, invalid: false } => format!("{class} where {predicate}"),
            Place::Of(operators) => format!("{class} of {operators}"),
        }
    }

    /// Whether it is the same finding as another one, with the same cases that fail in the same way.
    pub(crate) fn is_as(&self, other: &Self) -> bool {
        (&self.id, self.class, &self.place, &self.counts)
            == (&other.id, other.class, &other.place, &other.counts)
    }

    /// The finding for a run that keeps its id and its predicate.
    fn earlier(&self, library: &Library) -> EarlierFinding {
        let (predicate, validity) = match &self.place {
            Place::Where { predicate, invalid } => {
                let validity = if *invalid { Validity::Invalid } else { Validity::Valid };
                (Predicate::parse(predicate, library).ok(), Some(validity))
            }
            Place::Of(_) => (None, None),
        };
        // With a predicate, the first failure for which it holds counts.
        let example = self.example.as_ref().filter(|_| predicate.is_none());
        let case = example.and_then(|text| line::parse(text, library.signatures()).ok());
        EarlierFinding {
            id: self.id.clone(),
            classes: vec![self.class],
            predicate,
            validity,
            cases: case.into_iter().collect(),
            count: self.counts.cases,
            fresh: None,
        }
    }
}

impl Snapshot {
    /// The findings whose ids and predicates a later run keeps.
    pub fn earlier(&self, library: &Library) -> Vec<EarlierFinding> {
        self.findings.iter().map(|finding| finding.earlier(library)).collect()
    }
}
