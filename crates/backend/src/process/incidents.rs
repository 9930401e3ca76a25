//! Incidents: events of a backend that no verdict shows. They are reported at once, long before a crash is
//! traced to a case. They also include how processes shut down.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex},
};

use super::{
    locked,
    shutdown::{Shutdown, Shutdowns},
};

/// The maximum number of sentences that wait to be shown. Further ones are dropped.
const MOST: usize = 64;

/// The maximum number of different notes that are shown. Further ones are counted.
const MOST_NOTES: usize = 20;

/// Sentences for the user of a run, and the counts of shutdowns. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Incidents(Arc<Mutex<Log>>);

#[derive(Debug, Default)]
struct Log {
    waiting: VecDeque<String>,
    /// How often each note came.
    notes: BTreeMap<String, u64>,
    /// The number of notes that are not among these.
    further_notes: u64,
    shutdowns: Shutdowns,
}

impl Incidents {
    /// Adds a sentence: lower-case, without a period.
    pub fn add(&self, sentence: String) {
        let mut told = locked(&self.0);
        if told.waiting.len() < MOST {
            told.waiting.push_back(sentence);
        }
    }

    /// Adds a line that a process prints for the user. Each different line is one incident, however often and
    /// from however many processes it comes.
    pub(super) fn note(&self, note: &str) {
        let mut told = locked(&self.0);
        let is_full = told.notes.len() == MOST_NOTES;
        if let Some(count) = told.notes.get_mut(note) {
            *count += 1;
        } else if is_full {
            told.further_notes += 1;
        } else {
            told.notes.insert(note.to_owned(), 1);
            drop(told);
            self.add(format!("a backend process notes: {note}"));
        }
    }

    /// The notes that came more than once, and the number of those that were not shown, as sentences for the
    /// end of a run.
    pub fn repeated_notes(&self) -> Vec<String> {
        let told = locked(&self.0);
        let repeated = told.notes.iter().filter(|(_, count)| **count > 1);
        let further = Some(told.further_notes).filter(|further| *further > 0);
        repeated
            .map(|(note, count)| format!("backend processes noted {count} times: {note}"))
            .chain(further.map(|further| format!("backend processes noted {further} lines more")))
            .collect()
    }

    /// Removes and returns the oldest sentence.
    pub fn take(&self) -> Option<String> {
        locked(&self.0).waiting.pop_front()
    }

    /// Counts the shutdown of a process, and what it sent without a question.
    pub(super) fn ended(&self, shutdown: Shutdown, surplus: Option<String>) {
        let sentences = {
            let shutdowns = &mut locked(&self.0).shutdowns;
            [shutdowns.count(shutdown), surplus.and_then(|what| shutdowns.count_surplus(&what))]
        };
        sentences.into_iter().flatten().for_each(|sentence| self.add(sentence));
    }

    /// The counts of shutdowns so far.
    pub fn shutdowns(&self) -> Shutdowns {
        locked(&self.0).shutdowns.clone()
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
