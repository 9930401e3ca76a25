//! What became of each case of a chunk, for whoever keeps a record of a run.
//!
//! Most cases pass, and of those there is nothing to say but that: their lines lie in one text, and nothing is allocated
//! for them one by one.

use std::{ops::Range, sync::Arc};

use dmlcts_model::Outcome;
use dmlcts_spec::Judgement;

use crate::{Class, Differences, KnownFailure, Rate, Said, Sensitivities, Verdict};

/// What became of consecutive cases, in their order.
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
    sensitivities: Sensitivities,
    details: Option<Box<Details>>,
}

/// What became of one case.
#[derive(Clone, Copy, Debug)]
pub struct CaseResult<'a> {
    /// Its index in the source.
    pub index: u64,
    /// The place of its strategy in [`Source::strategies`](crate::Source::strategies).
    pub strategy: usize,
    /// The place of its operator in the library.
    pub operator: usize,
    /// The case.
    pub line: &'a str,
    /// What it came to.
    pub verdict: Verdict,
    /// What it could have shown, where [`Configuration::record_sensitivity`](crate::Configuration::record_sensitivity) asks for it.
    pub sensitivities: Sensitivities,
    /// What there is to say of it, unless it passed and that is all.
    pub details: Option<&'a Details>,
}

/// What there is to say of a case that did not just pass.
#[derive(Clone, Debug)]
pub struct Details {
    /// What the backend did.
    pub outcome: Outcome,
    /// In which way it failed.
    pub class: Option<Class>,
    /// What the spec says of its desc.
    pub judgement: Judgement,
    /// What it says to the open questions that it raised, by the question's place, where that is recorded.
    pub answers: Vec<(usize, Said)>,
    /// How the output differs, where it does, with the first element that does.
    pub differences: Option<Differences>,
    /// The known failure that counts it.
    pub known: Option<Arc<KnownFailure>>,
    /// How often it failed, where it is a flake.
    pub rate: Option<Rate>,
}

impl CaseResults {
    /// The cases, one by one.
    pub fn iter(&self) -> impl Iterator<Item = CaseResult<'_>> {
        self.entries.iter().map(|entry| CaseResult {
            index: entry.index,
            strategy: entry.strategy as usize,
            operator: entry.operator as usize,
            line: &self.lines[entry.line.clone()],
            verdict: entry.verdict,
            sensitivities: entry.sensitivities,
            details: entry.details.as_deref(),
        })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Adds a case.
    pub(crate) fn push(
        &mut self,
        (index, strategy, operator): (u64, usize, usize),
        line: &str,
        (verdict, sensitivities): (Verdict, Sensitivities),
        details: Option<Details>,
    ) {
        let start = self.lines.len();
        self.lines.push_str(line);
        let (strategy, operator) = (strategy as u32, operator as u32);
        let line = start..self.lines.len();
        let details = details.map(Box::new);
        self.entries.push(Entry { index, strategy, operator, line, verdict, sensitivities, details });
    }

    /// Says that a case is a flake.
    pub(crate) fn doubt(&mut self, index: u64, rate: Rate) {
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.index == index) {
            entry.verdict = Verdict::Flake;
            if let Some(details) = &mut entry.details {
                details.rate = Some(rate);
            }
        }
    }
}
