//! Counting the cases of a file, to hold them against what its checkpoints and its summary say: a file that
//! lost lines looks like any other, and nothing may be built on it.

use dmlcts_runner::Verdict;

use crate::{CaseForm, TotalsForm};

/// The cases of a file, as far as it was read.
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
    /// Where it does not stand behind the ones before it.
    pub(crate) fn case(&mut self, case: &CaseForm<'_>) -> Result<(), String> {
        let index = case.index;
        if self.last.is_some_and(|before| before >= index) {
            return Err(format!("case {index} stands behind a later one, or twice"));
        }
        self.verdicts[case.verdict as usize] += 1;
        self.last = Some(index);
        Ok(())
    }

    /// How many cases there are.
    pub(crate) fn cases(&self) -> u64 {
        self.verdicts.iter().sum()
    }

    /// Holds the cases against what something says of them: it, as an error names it.
    ///
    /// # Errors
    ///
    /// Where it counts others.
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
