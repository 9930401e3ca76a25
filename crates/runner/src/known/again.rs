//! Runs failures again before they enter a list. A failure that does not occur each time is a flake: it
//! depends on chance, so no predicate describes it, and it does not belong in a list.
//!
//! A run itself repeats only the first failures of a group. This module repeats all failures that would
//! change the list. They run in batches, so that this takes no longer than they took in the run.

use std::{collections::BTreeMap, sync::Arc};

use super::{BlessError, Blessing, KnownFailures};
use crate::{Class, Configuration, Ending, Event, Run, Summary, Verdict, Witnessed, run};

impl Blessing {
    /// Repeats the failures of a run that the list does not cover yet, `times` times. Forgets those that do
    /// not fail in the same way each time, and returns their number.
    ///
    /// # Errors
    ///
    /// If the run or a repetition cannot be the basis of a list.
    pub fn run_again(
        &mut self,
        first: &Run,
        (summary, suite): (&Summary, &str),
        times: u32,
    ) -> Result<u64, BlessError> {
        // If the host had to end a process, faults at its exit went unnoticed.
        let ends = || match first.configuration.incidents.shutdowns().late_end() {
            Some(late_end) => Err(BlessError::BadEnd(late_end)),
            None => Ok(()),
        };
        Self::check(summary)?;
        ends()?;
        let mut left = self.untold(summary, suite)?;
        let before = left.len();
        for _ in 0..times {
            if left.is_empty() {
                break;
            }
            let failed = failing(first, left.keys().copied().collect())?;
            left.retain(|index, class| failed.get(index) == Some(class));
            ends()?;
        }
        let flakes = before - left.len();
        let untold = self.untold(summary, suite)?;
        untold.keys().filter(|index| !left.contains_key(index)).for_each(|index| self.forget(*index));
        Ok(flakes as u64)
    }
}

/// The cases at these indices that fail, with their classes.
fn failing(first: &Run, only: Arc<[u64]>) -> Result<BTreeMap<u64, Class>, BlessError> {
    let again = Run {
        library: first.library,
        source: Arc::clone(&first.source),
        backend: Arc::clone(&first.backend),
        configuration: Configuration {
            only: Some(only),
            // The failures must count as failures, whatever the lists contain.
            known: KnownFailures::default(),
            record: true,
            record_sensitivity: false,
            retries: 0,
            shrink: false,
            explain: None,
            resume: None,
            witnessed: Witnessed::default(),
            ..first.configuration.clone()
        },
        stop: first.stop.clone(),
    };
    let mut failed = BTreeMap::new();
    let ended = run(&again, &mut |event| {
        if let Event::Cases { cases, .. } = event {
            let cases = cases.iter().filter(|case| case.verdict == Verdict::Fail);
            failed.extend(cases.filter_map(|case| Some((case.index, case.details?.class?))));
        }
    });
    let interrupted = || BlessError::NotRunAgain("it was interrupted".to_owned());
    let summary = ended.map_err(|error| {
        if first.stop.is_interrupted() { interrupted() } else { BlessError::NotRunAgain(error.to_string()) }
    })?;
    match summary.ending {
        Ending::Complete => Blessing::check(&summary).map(|()| failed),
        Ending::Timeout => Err(BlessError::NotRunAgain("the time was up".to_owned())),
        Ending::Interrupted => Err(interrupted()),
        _ => Err(BlessError::NotRunAgain(summary.lost.unwrap_or_else(|| "the run ended early".to_owned()))),
    }
}
