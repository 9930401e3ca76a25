//! The result of each case of a batch, for a record of the run.
//!
//! Most cases pass, and a passing case has no details. The lines of all cases share one text, so that a case
//! needs no allocation of its own.

use std::{ops::Range, sync::Arc};

use dmlcts_model::Outcome;
use dmlcts_spec::Judgement;

use crate::{CaseAnswer, Class, Differences, Digest, KnownFailure, Rate, Verdict};

/// The results of consecutive cases, in their order.
#[derive(Clone, Debug, Default)]
pub struct CaseResults {
    lines: String,
    entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    index: u64,
    strategy: u32,
    operator: u32,
    line: Range<usize>,
    verdict: Verdict,
    details: Option<Box<Details>>,
}

/// The result of one case.
#[derive(Clone, Copy, Debug)]
pub struct CaseResult<'a> {
    /// The index of the case in the source.
    pub index: u64,
    /// The index of its strategy in [`CaseSource::strategies`](crate::CaseSource::strategies).
    pub strategy: usize,
    /// The index of its operator in the library.
    pub operator: usize,
    /// The case as a line.
    pub line: &'a str,
    /// The verdict.
    pub verdict: Verdict,
    /// Further facts; `None` for a case that passed, unless it was too large to run.
    pub details: Option<&'a Details>,
}

/// Further facts about a case that did not simply pass.
#[derive(Clone, Debug)]
pub struct Details {
    /// What the backend did.
    pub outcome: Outcome,
    /// How it failed, if it did.
    pub class: Option<Class>,
    /// The spec's judgement of its desc.
    pub judgement: Judgement,
    /// The answers to the open questions that the case raised, each with the question's index, if they are
    /// recorded.
    pub answers: Vec<(usize, CaseAnswer)>,
    /// How the output differs, if it does, with the first wrong element only.
    pub differences: Option<Differences>,
    /// The known failure that counts the case.
    pub known: Option<Arc<KnownFailure>>,
    /// How often the case failed, if it is a flake.
    pub rate: Option<Rate>,
    /// Whether its output is right for its own data, and wrong for other data only.
    pub only_other_data: bool,
    /// The digest of the output of the run that went wrong, if the case failed with an output.
    pub digest: Option<Digest>,
    /// That output, if it has at most [`Details::MOST_OUTPUT`] bytes.
    pub output: Option<Vec<u8>>,
}

impl Details {
    /// Larger outputs are not kept.
    pub const MOST_OUTPUT: usize = 256;
}

impl CaseResults {
    /// Iterates over the results.
    pub fn iter(&self) -> impl Iterator<Item = CaseResult<'_>> {
        self.entries.iter().map(|entry| CaseResult {
            index: entry.index,
            strategy: entry.strategy as usize,
            operator: entry.operator as usize,
            line: &self.lines[entry.line.clone()],
            verdict: entry.verdict,
            details: entry.details.as_deref(),
        })
    }

    /// The number of results.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no results.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn push(
        &mut self,
        (index, strategy, operator): (u64, usize, usize),
        line: &str,
        verdict: Verdict,
        details: Option<Details>,
    ) {
        let start = self.lines.len();
        self.lines.push_str(line);
        let (strategy, operator) = (strategy as u32, operator as u32);
        let line = start..self.lines.len();
        let details = details.map(Box::new);
        self.entries.push(Entry { index, strategy, operator, line, verdict, details });
    }

    /// Changes the verdict of a case to a flake.
    pub(crate) fn doubt(&mut self, index: u64, rate: Rate) {
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.index == index) {
            entry.verdict = Verdict::Flake;
            if let Some(details) = &mut entry.details {
                details.rate = Some(rate);
            }
        }
    }
}
