//! What a run changes in a ledger: compared with what the ledger has of the same backend, and entered where
//! the run says more.

use super::{LedgerEntry, LedgerForm, LedgerQuestion};

/// What a run says that the ledger did not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerNews {
    /// The ledger's file.
    pub path: String,
    /// To how many questions the run has an answer.
    pub answered: usize,
    /// What the run was compared with.
    pub against: Against,
    /// The hash of the spec that the other answers are of, where it is another one.
    pub other_spec: Option<String>,
    /// What changed, by the ids of the questions.
    pub changes: Vec<LedgerChange>,
    /// Where the run was not entered: the options of the entry that the ledger has instead.
    pub kept: Option<String>,
}

/// What a run is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Against {
    /// Nothing: the ledger has nothing of this suite on this device.
    Nothing,
    /// What the ledger has of this backend.
    Last,
    /// What the ledger has of this backend with another driver.
    Driver(String),
}

/// How an answer changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerChange {
    /// The same cases have other answers.
    Changed {
        /// What they had.
        old: LedgerQuestion,
        /// What they have.
        new: LedgerQuestion,
    },
    /// Other cases have these answers, too.
    Also {
        /// What is known.
        old: LedgerQuestion,
        /// What is news.
        new: LedgerQuestion,
    },
    /// There was no answer.
    New(LedgerQuestion),
    /// There is no answer any more, though all cases ran.
    Gone(LedgerQuestion),
}

impl LedgerForm {
    /// Compares a run with what is there, and enters it. A run that came to the end of its cases takes the
    /// place of one with the same options, and of any other where it is of the whole suite. Where it did not
    /// come to their end, what it has beyond the entry is added. A run of other cases of the suite says what
    /// is news, and changes nothing.
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

/// How what a run says differs from an entry; `are_same` says that all cases of the entry ran.
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

/// How the answers to one question differ; each has no id and no answer where there is nothing of it.
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
            // As many cases with the same answers in other numbers: some changed sides. More or fewer are of
            // another suite, or are refused together with other questions now.
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

/// Adds what is news of a question.
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

/// Where an answer stands among others: as the runner has them.
fn order(answer: &str) -> (usize, &str) {
    let known = ["reject", "accept", "semantics"];
    (known.iter().position(|known| *known == answer).unwrap_or(known.len()), answer)
}
