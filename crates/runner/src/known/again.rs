//! Running failures again before a list says anything of them: one that does not come each time is a flake, and what chance failed has
//! no predicate and no place in a list.
//!
//! In the run itself only the first failures of a group are run again. Here all are of which the list would say something new, in batches
//! as before, so that it takes no longer than that part of the run.

use std::{collections::BTreeMap, sync::Arc};

use super::{BlessError, Blessing, KnownFailures};
use crate::{Class, Configuration, Ending, Event, Run, Summary, Verdict, run};

impl Blessing {
    /// Runs the failures of a run that a list has yet to tell again, so often, and forgets those that do not fail in the same way each time.
    /// Returns how many these are.
    ///
    /// # Errors
    ///
    /// Where the run is no ground for a list, or is none when it is repeated.
    pub fn run_again(
        &mut self,
        first: &Run,
        (summary, suite): (&Summary, &str),
        times: u32,
    ) -> Result<u64, BlessError> {
        // What goes wrong at its end has not been seen of a backend that had to be ended.
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

/// What fails of the cases at these indices, and in which way.
fn failing(first: &Run, only: Arc<[u64]>) -> Result<BTreeMap<u64, Class>, BlessError> {
    let again = Run {
        library: first.library,
        source: Arc::clone(&first.source),
        backend: Arc::clone(&first.backend),
        configuration: Configuration {
            only: Some(only),
            // Whatever the lists say, it is to fail.
            known: KnownFailures::default(),
            record: true,
            record_sensitivity: false,
            retries: 0,
            shrink: false,
            resume: None,
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
