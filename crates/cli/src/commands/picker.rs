//! Which cases of a suite a selection takes.

use dmlcts_model::{BindingOffsets, Case, DataType, Desc, FeatureLevel, Fill, List, Tensor, line};
use dmlcts_report::grouped;
use dmlcts_runner::Partition;
use dmlcts_spec::{Library, Predicate, Scratch, program::Values};

use crate::{arguments::Selection, problem::Problem};

/// The search in an endless suite ends after this number of cases in a row that are left out, at the end of a
/// chunk.
pub(super) const TRIES: u64 = 1_000_000;

/// What a thread needs to pick cases.
pub(super) struct Picker<'a> {
    filter: Option<&'a Predicate>,
    level: Option<FeatureLevel>,
    partition: Option<Partition>,
    line: String,
    values: Values,
    scratch: Scratch,
}

impl<'a> Picker<'a> {
    /// Picks the cases of a selection, for which this filter, which is the selection's, holds.
    pub(super) fn new(filter: Option<&'a Predicate>, selection: &Selection) -> Self {
        Self {
            filter,
            level: selection.feature_level,
            partition: selection.partition,
            line: String::new(),
            values: Values::default(),
            scratch: Scratch::default(),
        }
    }

    /// Whether a case is among them.
    pub(super) fn picks(&mut self, case: &Case) -> bool {
        let level = self.level.unwrap_or(FeatureLevel::NEWEST);
        if self.filter.is_some_and(|filter| !filter.holds(case, level, &mut self.values)) {
            return false;
        }
        if let Some(partition) = self.partition {
            self.line.clear();
            line::write(case, &mut self.line);
            if !partition.holds(&self.line) {
                return false;
            }
        }
        let Some(level) = self.level else { return true };
        let Some(operator) = Library::embedded().operator(&case.desc.signature.operator) else {
            return false;
        };
        // As in a run: what only a higher level makes valid is left out, what is invalid anyway is not.
        operator.judge_valid(&case.desc, level, &mut self.scratch).is_ok()
            || operator.judge_valid(&case.desc, FeatureLevel::NEWEST, &mut self.scratch).is_err()
    }
}

/// Says how many cases of an endless suite in a row were left out, behind those that were taken.
pub(super) fn too_rare(taken: u64, tries: u64) -> Problem {
    let which = match taken {
        0 => "the first".to_owned(),
        1 => "behind the case that was taken, the next".to_owned(),
        _ => format!("behind the {} cases that were taken, the next", grouped(taken)),
    };
    let message = format!("{which} {} cases of the suite were left out, and it never ends", grouped(tries));
    Problem::usage(
        message,
        "ask for less by --where, for fewer cases by --limit, or name a suite that has an end",
    )
}

/// A case to write over; `None` where the spec has no operator.
pub(super) fn blank() -> Option<Case> {
    let signature = Library::embedded().operators().first()?.signature();
    let unit = || Tensor::packed(DataType::FLOAT32, List::from_elem(1, 1));
    let desc = Desc::usual(std::sync::Arc::clone(signature), unit(), unit());
    Some(Case { desc: Box::new(desc), binding: BindingOffsets::default(), fill: Fill::Iota })
}
