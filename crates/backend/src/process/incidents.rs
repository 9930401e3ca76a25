//! What happens to a backend and is worth saying at once: long before a case has its verdict, when a crash is being pinned
//! on one.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

/// As many wait to be shown; what comes on top of them is not kept.
const MOST: usize = 64;

/// Sentences for whoever watches a run. Copies share them.
#[derive(Clone, Debug, Default)]
pub struct Incidents(Arc<Mutex<VecDeque<String>>>);

impl Incidents {
    /// Adds a sentence: lower-case, without a period.
    pub fn add(&self, sentence: String) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < MOST {
            waiting.push_back(sentence);
        }
    }

    /// The oldest sentence that nobody has taken.
    pub fn take(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
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
