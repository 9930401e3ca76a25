//! The changes that a run makes to a ledger. The run is compared with the ledger's entry for the same
//! backend, and entered if it adds something.

use super::{LedgerEntry, LedgerForm, LedgerQuestion};

/// The differences between a run and the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerNews {
    /// The ledger's file.
    pub path: String,
    /// The number of questions that the run answers.
    pub answered: usize,
    /// The entry that the run was compared with.
    pub against: Against,
    /// The hash of the other entry's spec, if it differs.
    pub other_spec: Option<String>,
    /// The changes, sorted by the ids of the questions.
    pub changes: Vec<LedgerChange>,
    /// The options of the entry that the ledger keeps, if the run was not entered.
    pub kept: Option<String>,
}

/// The entry that a run is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Against {
    /// None: the ledger has no entry for this suite on this device.
    Nothing,
    /// The ledger's entry for this backend.
    Last,
    /// The ledger's entry for this backend with another driver.
    Driver(String),
}

/// How an answer changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerChange {
    /// The same cases have other answers.
    Changed {
        /// The old answers.
        old: LedgerQuestion,
        /// The new answers.
        new: LedgerQuestion,
    },
    /// The run has answers that the entry does not have.
    Also {
        /// The known answers.
        old: LedgerQuestion,
        /// The further answers.
        new: LedgerQuestion,
    },
    /// The ledger had no answer.
    New(LedgerQuestion),
    /// The run has no answer, although all cases ran.
    Gone(LedgerQuestion),
}

impl LedgerForm {
    /// Compares a run with the ledger, and enters it. A complete run replaces an entry with the same options;
    /// a complete run of the whole suite replaces any entry. An incomplete run with the same options adds its
    /// further answers. Any other run is only compared.
    pub fn record(&mut self, path: &str, run: LedgerEntry, is_complete: bool) -> LedgerNews {
        let place = self.backends.iter().position(|entry| entry.key() == run.key());
        let of_device = |entry: &&LedgerEntry| {
            let what = |entry: &LedgerEntry| (entry.name.clone(), entry.device.clone(), entry.suite.clone());
            what(entry) == what(&run) && entry.options == run.options
        };
        let last = match place {
            Some(place) => self.backends.get(place),
            None => self.backends.iter().rfind(of_device),
        };
        let is_alike = last.is_some_and(|last| last.options == run.options);
        let mut news = LedgerNews {
            path: path.to_owned(),
            answered: run.questions.iter().filter(|question| !question.answers.is_empty()).count(),
            against: match last {
                None => Against::Nothing,
                Some(last) if last.driver == run.driver => Against::Last,
                Some(last) => Against::Driver(last.driver.clone()),
            },
            other_spec: last.map(|last| last.spec.clone()).filter(|spec| *spec != run.spec),
            changes: last.map(|last| changes(last, &run, is_complete && is_alike)).unwrap_or_default(),
            kept: None,
        };
        match place.and_then(|place| self.backends.get_mut(place)) {
            None => {
                let before = self.backends.iter().take_while(|entry| entry.key() < run.key()).count();
                self.backends.insert(before, run);
            }
            Some(entry) if is_complete && (is_alike || run.options.is_empty()) => *entry = run,
            Some(entry) if is_alike => {
                for change in &news.changes {
                    let (LedgerChange::New(new) | LedgerChange::Also { new, .. }) = change else { continue };
                    add(entry, new);
                }
            }
            Some(entry) => news.kept = Some(entry.options.clone()),
        }
        news
    }
}

/// The differences between a run and an entry. `are_same` is whether all cases of the entry ran.
fn changes(old: &LedgerEntry, new: &LedgerEntry, are_same: bool) -> Vec<LedgerChange> {
    let of = |entry: &LedgerEntry, id: &str| {
        entry.questions.iter().find(|question| question.question == id).cloned().unwrap_or_default()
    };
    let mut ids: Vec<&str> =
        old.questions.iter().chain(&new.questions).map(|question| question.question.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    ids.into_iter().filter_map(|id| change(of(old, id), of(new, id), are_same)).collect()
}

/// The difference between the answers to one question. A missing question has neither an id nor answers.
fn change(old: LedgerQuestion, new: LedgerQuestion, are_same: bool) -> Option<LedgerChange> {
    let names = |question: &LedgerQuestion| -> Vec<String> {
        question.answers.iter().map(|answer| answer.answer.clone()).collect()
    };
    let counts = |question: &LedgerQuestion| -> Vec<u64> {
        question.answers.iter().map(|answer| answer.cases).collect()
    };
    let answered = |question: &LedgerQuestion| counts(question).iter().sum::<u64>();
    match (old.answers.is_empty(), new.answers.is_empty()) {
        (true, true) => None,
        (true, false) => Some(LedgerChange::New(new)),
        (false, true) if new.question.is_empty() => are_same.then_some(LedgerChange::Gone(old)),
        _ if are_same => {
            // If the number of cases is the same but the counts of answers differ, some cases changed their
            // answers. A different number comes from a changed suite, or from cases that are refused together
            // with other questions.
            let is_other = names(&old) != names(&new)
                || answered(&old) == answered(&new) && counts(&old) != counts(&new);
            is_other.then_some(LedgerChange::Changed { old, new })
        }
        _ => {
            let known = names(&old);
            let mut extra = new;
            extra.answers.retain(|answer| !known.contains(&answer.answer));
            extra.together = 0;
            (!extra.answers.is_empty()).then_some(LedgerChange::Also { old, new: extra })
        }
    }
}

/// Adds the further answers to a question.
fn add(entry: &mut LedgerEntry, new: &LedgerQuestion) {
    match entry.questions.binary_search_by(|known| known.question.cmp(&new.question)) {
        Ok(place) => {
            let known = &mut entry.questions[place];
            known.answers.extend(new.answers.iter().cloned());
            known.answers.sort_by(|one, other| order(&one.answer).cmp(&order(&other.answer)));
        }
        Err(place) => entry.questions.insert(place, new.clone()),
    }
}

/// The position of an answer among others, in the order of the runner.
fn order(answer: &str) -> (usize, &str) {
    let known = ["reject", "accept", "semantics"];
    (known.iter().position(|known| *known == answer).unwrap_or(known.len()), answer)
}
