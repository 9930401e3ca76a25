//! What happens to a backend and no verdict tells: what is worth saying at once, long before a case has its verdict, when a crash
//! is being pinned on one; and how processes ended that were told to.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::shutdown::{Shutdown, Shutdowns};

/// As many wait to be shown; what comes on top of them is not kept.
const MOST: usize = 64;

/// Sentences for whoever watches a run, and how its processes ended. Copies share them.
#[derive(Clone, Debug, Default)]
pub struct Incidents(Arc<Mutex<Log>>);

#[derive(Debug, Default)]
struct Log {
    waiting: VecDeque<String>,
    shutdowns: Shutdowns,
}

impl Incidents {
    /// Adds a sentence: lower-case, without a period.
    pub fn add(&self, sentence: String) {
        let mut told = self.told();
        if told.waiting.len() < MOST {
            told.waiting.push_back(sentence);
        }
    }

    /// The oldest sentence that nobody has taken.
    pub fn take(&self) -> Option<String> {
        self.told().waiting.pop_front()
    }

    /// Counts how a process ended that was told to, and what it sent though nothing was asked.
    pub(super) fn ended(&self, shutdown: Shutdown, surplus: Option<String>) {
        let sentences = {
            let shutdowns = &mut self.told().shutdowns;
            [shutdowns.count(shutdown), surplus.and_then(|what| shutdowns.count_surplus(&what))]
        };
        sentences.into_iter().flatten().for_each(|sentence| self.add(sentence));
    }

    /// How processes ended so far that were told to.
    pub fn shutdowns(&self) -> Shutdowns {
        self.told().shutdowns.clone()
    }

    fn told(&self) -> MutexGuard<'_, Log> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_come_in_their_order_and_within_bounds() {
        let (incidents, mut all) = (Incidents::default(), Vec::new());
        for number in 0..1000 {
            incidents.clone().add(number.to_string());
        }
        while let Some(sentence) = incidents.take() {
            all.push(sentence);
        }
        assert_eq!(all, (0..MOST).map(|number| number.to_string()).collect::<Vec<_>>());
    }
}
