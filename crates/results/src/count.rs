//! Counts the cases of a file, and compares the counts with its checkpoints and its summary. A file that lost
//! lines looks like any other, but its results must not be used.

use dmlcts_runner::Verdict;

use crate::{CaseForm, TotalsForm};

/// The counts of the cases that were read so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Count {
    /// The index of the last one.
    last: Option<u64>,
    verdicts: [u64; Verdict::ALL.len()],
}

impl Count {
    /// Counts one more case.
    ///
    /// # Errors
    ///
    /// If its index is not greater than the index of the case before it.
    pub(crate) fn case(&mut self, case: &CaseForm<'_>) -> Result<(), String> {
        let index = case.index;
        if self.last.is_some_and(|before| before >= index) {
            return Err(format!("case {index} stands behind a later one, or twice"));
        }
        self.verdicts[case.verdict as usize] += 1;
        self.last = Some(index);
        Ok(())
    }

    /// The number of cases.
    pub(crate) fn cases(&self) -> u64 {
        self.verdicts.iter().sum()
    }

    /// Compares the cases with these totals. `what` is the name of the totals in an error.
    ///
    /// # Errors
    ///
    /// If the totals count other cases.
    pub(crate) fn check(&self, what: &str, totals: &TotalsForm) -> Result<(), String> {
        for verdict in Verdict::ALL {
            let counts = totals.verdicts.iter().filter_map(|form| form.counts.get(&verdict));
            let (counted, there) = (counts.sum::<u64>(), self.verdicts[verdict as usize]);
            if counted != there {
                let id = verdict.id();
                return Err(format!("{what} counts {counted} of verdict `{id}`, and there are {there}"));
            }
        }
        Ok(())
    }
}
