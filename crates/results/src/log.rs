//! The cases of a run as a page shows them: counts by clause and by answer, and the cases that failed.
//!
//! A line of a file does not say which clauses its case meets exactly, so that each case is judged again. The
//! number of kept failures is bounded, so that a page stays small enough to open at once.

use std::collections::BTreeMap;

use dmlcts_diagnose::{Finding, Membership};
use dmlcts_model::{Case, FeatureLevel, Outcome, element_to_text, line, printable};
use dmlcts_runner::{Class, Tally, Verdict};
use dmlcts_spec::{Judgement, Library, Operator, Scratch, Validity};

use crate::{CaseForm, ChangeKind, OutcomeForm, convert::clause_ids};

/// The maximum number of listed cases.
const MOST: usize = 100_000;
/// The maximum length of a case's line and of a text of a backend.
const LONGEST: usize = 4_000;
/// The maximum length of what a backend said of one case.
const LONGEST_REASON: usize = 200;

/// Counts the cases of a run, and keeps those that failed.
#[derive(Debug)]
pub struct CaseLog {
    library: &'static Library,
    level: FeatureLevel,
    /// By the position of the operator.
    counts: Vec<OperatorCounts>,
    /// By the id of the question and the id of the answer.
    answers: BTreeMap<(String, String), u64>,
    listed: Vec<Listed>,
    left_out: u64,
    scratch: Scratch,
}

/// The verdicts on the cases of one operator.
#[derive(Clone, Debug, Default)]
pub struct OperatorCounts {
    /// Valid descs.
    pub valid: Tally,
    /// Descs that raise an open question.
    pub open: Tally,
    /// Descs that break a clause.
    pub invalid: Tally,
    /// For each clause, the descs that break it.
    pub broken: Vec<Tally>,
    /// For each clause, the valid descs that meet it exactly.
    pub exact: Vec<Tally>,
}

/// A case in the table.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Its index in the run.
    pub index: u64,
    /// Its line.
    pub line: String,
    /// Its verdict.
    pub verdict: Verdict,
    /// How it failed.
    pub class: Option<Class>,
    /// `None` if this program cannot read the line.
    pub validity: Option<Validity>,
    /// The ids of the clauses that it breaks.
    pub violates: Vec<String>,
    /// What the backend did, in a few words.
    pub what: String,
    outcome: Option<Outcome>,
    /// The id of the known failure that expects it.
    pub known: Option<String>,
    /// What changed since the old run, if two runs are compared.
    pub change: Option<Changed>,
}

/// How the result of a case differs from that in the old run.
#[derive(Clone, Debug)]
pub struct Changed {
    /// The kind of the difference; `None` if the results are the same.
    pub kind: Option<ChangeKind>,
    /// The result in the old run; empty if they are the same.
    pub old: String,
    /// The result in the new run; empty if they are the same.
    pub new: String,
}

impl CaseLog {
    /// A log of no cases, which are judged at this level.
    pub fn new(library: &'static Library, level: FeatureLevel) -> Self {
        let counts = library.operators().iter().map(|operator| {
            let clauses = vec![Tally::default(); operator.clauses().len()];
            OperatorCounts { broken: clauses.clone(), exact: clauses, ..OperatorCounts::default() }
        });
        Self {
            library,
            level,
            counts: counts.collect(),
            answers: BTreeMap::new(),
            listed: Vec::new(),
            left_out: 0,
            scratch: Scratch::default(),
        }
    }

    /// Adds the result of a case. It is listed if it failed.
    pub fn add(&mut self, form: &CaseForm<'_>) {
        let read = self.count(form);
        if form.verdict.is_unexpected() || form.verdict == Verdict::ExpectedFail {
            self.list(form, read.as_ref(), None);
        }
    }

    /// Counts a case. Returns it with its judgement, unless this program cannot read its line.
    pub fn count(&mut self, form: &CaseForm<'_>) -> Option<(Case, Judgement)> {
        for answer in &form.answers {
            *self.answers.entry((answer.question.clone(), answer.answer.clone())).or_default() += 1;
        }
        let case = line::parse(&form.line, self.library.signatures()).ok()?;
        let operator = self.library.operator(&case.desc.signature.operator)?;
        let judgement = operator.judge(&case.desc, self.level, &mut self.scratch);
        let counts = self.counts.get_mut(operator.position())?;
        match judgement.validity() {
            Validity::Valid => counts.valid.count(form.verdict),
            Validity::Open => counts.open.count(form.verdict),
            Validity::Invalid => counts.invalid.count(form.verdict),
        }
        for place in judgement.violated.iter() {
            counts.broken.get_mut(place)?.count(form.verdict);
        }
        if judgement.validity() == Validity::Valid {
            for place in judgement.boundary.iter() {
                counts.exact.get_mut(place)?.count(form.verdict);
            }
        }
        Some((case, judgement))
    }

    /// Adds a case to the table, unless the table is full.
    pub fn list(&mut self, form: &CaseForm<'_>, read: Option<&(Case, Judgement)>, change: Option<Changed>) {
        if self.listed.len() >= MOST {
            self.left_out += 1;
            return;
        }
        let judged = read.and_then(|(case, judgement)| {
            let operator = self.library.operator(&case.desc.signature.operator)?;
            Some(clause_ids(operator, judgement.violated))
        });
        let violates = judged.unwrap_or_else(|| form.violates.clone());
        // A text of the backend decides nothing, and may be long.
        let outcome = form
            .outcome
            .as_ref()
            .and_then(|outcome| OutcomeForm { reason: String::new(), ..outcome.clone() }.outcome().ok());
        self.listed.push(Listed {
            index: form.index,
            line: printable(&form.line, LONGEST).into_owned(),
            verdict: form.verdict,
            class: form.class,
            validity: read.map(|(_, judgement)| judgement.validity()),
            violates,
            what: what(form, read.map(|(case, _)| case)),
            outcome,
            known: form.known.clone(),
            change,
        });
    }

    /// For each listed case, the index of the finding that it belongs to.
    pub fn members(&self, findings: &[Finding]) -> Vec<Option<usize>> {
        let mut membership = Membership::new(findings, self.library, self.level);
        let mut member = |listed: &Listed| {
            let case = line::parse(&listed.line, self.library.signatures()).ok()?;
            membership.finding_of(&case, (listed.verdict, listed.class?, listed.outcome.as_ref()?))
        };
        self.listed.iter().map(&mut member).collect()
    }

    /// The spec that judges the cases.
    pub fn library(&self) -> &'static Library {
        self.library
    }

    /// The feature level of the run.
    pub fn level(&self) -> FeatureLevel {
        self.level
    }

    /// The listed cases.
    pub fn listed(&self) -> &[Listed] {
        &self.listed
    }

    /// The number of cases that the table had no place for.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// The counts of an operator's cases.
    pub fn counts(&self, operator: &Operator) -> Option<&OperatorCounts> {
        self.counts.get(operator.position())
    }

    /// The answers to a question, by their ids.
    pub fn answers(&self, question: &str) -> Vec<(&str, u64)> {
        let of_question = self.answers.iter().filter(|((id, _), _)| id == question);
        of_question.map(|((_, answer), cases)| (answer.as_str(), *cases)).collect()
    }

    /// Sorts the listed cases by the kind of their change, the most serious first.
    pub fn sort_by_change(&mut self) {
        let kind = |listed: &Listed| listed.change.as_ref().and_then(|change| change.kind);
        self.listed.sort_by_key(|listed| (kind(listed).is_none(), kind(listed)));
    }
}

/// What the backend did, in a few words: the first wrong element, or its own words.
fn what(form: &CaseForm<'_>, case: Option<&Case>) -> String {
    let wrong = form.differences.as_ref().and_then(|differences| {
        let data_type = case?.desc.output.as_ref()?.data_type;
        let text = |bits: &Option<String>| {
            let bits = u64::from_str_radix(bits.as_ref()?.strip_prefix("0x")?, 16).ok()?;
            Some(element_to_text(data_type, bits.to_le_bytes().get(..data_type.element_size()?)?))
        };
        let (actual, expected) = (text(&differences.actual)?, text(&differences.expected)?);
        let at: Vec<_> = differences.at.iter().map(i64::to_string).collect();
        Some(format!("Output[{}] = {actual}, expected {expected}", at.join(",")))
    });
    if let Some(wrong) = wrong {
        return wrong;
    }
    let Some(outcome) = &form.outcome else { return String::new() };
    let mut words = outcome.kind.clone();
    let details: Vec<&str> =
        [&outcome.phase, &outcome.code].into_iter().flatten().map(String::as_str).collect();
    if !details.is_empty() {
        words.extend([" (", &details.join(", "), ")"]);
    }
    if !outcome.reason.is_empty() {
        words.extend([": ", &printable(&outcome.reason, LONGEST_REASON)]);
    }
    words
}
