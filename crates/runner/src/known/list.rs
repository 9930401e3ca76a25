//! Lists of known failures, checked against the spec. A check reports all mistakes at once, with their
//! locations.

use std::{collections::BTreeSet, fmt, sync::Arc};

use dmlcts_backend::Capabilities;
use dmlcts_model::{Case, Expectation, FeatureLevel, Outcome, line};
use dmlcts_spec::{
    Diagnostic, Library, LoadError, Operator, Predicate, Source, Validity,
    program::Values,
    yaml::{self, Document, Place},
};

use super::{
    Fit, KnownCounts, KnownFailure, KnownFailureForm, KnownFailuresForm, KnownTally,
    bounds::{are_empty, misfit, numbers},
    reconcile,
};
use crate::{Class, Ruling, Sensitivities, Sensitivity, StoredFinding, Verdict};

/// The known failures of one or more backends. If several entries match a case, the first one that expects
/// its result counts. If none does, the first one counts.
#[derive(Clone, Debug, Default)]
pub struct KnownFailures {
    entries: Vec<Listed>,
}

#[derive(Clone)]
struct Listed {
    entry: Arc<KnownFailure>,
    backend: String,
    form: Arc<KnownFailureForm>,
    selector: Selector,
}

/// An entry that matches a case.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Match {
    /// The index of the entry.
    pub(crate) place: usize,
    /// Whether the case can show the entry's failure. If it cannot, the entry does not match.
    pub(crate) sensitivity: Sensitivity,
}

/// The selection of an entry's cases.
#[derive(Clone)]
enum Selector {
    Where(Box<Predicate>),
    /// The lines of the cases, as this program writes them.
    Cases(BTreeSet<String>),
}

impl KnownFailures {
    /// Loads and checks files.
    ///
    /// # Errors
    ///
    /// All mistakes of the first file that has mistakes.
    pub fn load(sources: &[Source], library: &Library) -> Result<Self, LoadError> {
        let mut entries: Vec<Listed> = Vec::new();
        let mut ids: Vec<(String, String)> = Vec::new();
        for source in sources {
            let document: Document<KnownFailuresForm> = yaml::read(source)?;
            let mut wrong = Vec::new();
            if document.value.backend.trim().is_empty() {
                let place = document.root().key("backend");
                wrong
                    .push(place.mistake("the backend has no name", "expected the name that it gives itself"));
            }
            for (at, form) in document.value.failures.iter().enumerate() {
                let place = document.root().key("failures").index(at);
                if let Some((_, file)) = ids.iter().find(|(id, _)| *id == form.id) {
                    let message = format!("two known failures are called `{}`", form.id);
                    let label = if *file == source.name {
                        "the second".to_owned()
                    } else {
                        format!("the other one stands in {file}")
                    };
                    wrong.push(place.key("id").mistake(message, label));
                }
                ids.push((form.id.clone(), source.name.clone()));
                if let Some((signature, selector)) = check(form, place, library, &mut wrong) {
                    entries.push(Listed {
                        entry: Arc::new(entry(form, signature, &source.name)),
                        backend: document.value.backend.clone(),
                        form: Arc::new(form.clone()),
                        selector,
                    });
                }
            }
            LoadError::check(wrong)?;
        }
        Ok(Self { entries })
    }

    /// The known failures of a backend with these capabilities.
    #[must_use]
    pub fn of(&self, capabilities: &Capabilities) -> Self {
        let concerned = |listed: &&Listed| listed.misfit(capabilities).is_none();
        Self { entries: self.entries.iter().filter(concerned).cloned().collect() }
    }

    /// The entries that do not apply to a backend with these capabilities: the id of each, and a phrase with
    /// the reason that can follow the id.
    pub fn misfits(&self, capabilities: &Capabilities) -> Vec<(&str, String)> {
        let misfits =
            self.entries.iter().map(|listed| (listed.entry.id.as_str(), listed.misfit(capabilities)));
        misfits.filter_map(|(id, misfit)| Some((id, misfit?))).collect()
    }

    /// The entries, in the order of the files.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &Arc<KnownFailure>> {
        self.entries.iter().map(|listed| &listed.entry)
    }

    /// The entries of a file.
    pub fn of_file(&self, file: &str) -> Vec<Arc<KnownFailureForm>> {
        let of_file = |listed: &&Listed| listed.entry.file == file;
        self.entries.iter().filter(of_file).map(|listed| Arc::clone(&listed.form)).collect()
    }

    /// The entries of a backend with this name as findings, also those whose bounds exclude it. A failure
    /// that is unexpected again, or that shows that an entry lists too few cases, keeps the entry's id.
    pub(crate) fn stored(&self, backend: &str, library: &Library) -> Vec<StoredFinding> {
        let stored = |listed: &Listed| {
            let mut cases: Vec<Case> = match &listed.selector {
                Selector::Where(_) => Vec::new(),
                Selector::Cases(lines) => {
                    lines.iter().filter_map(|text| line::parse(text, library.signatures()).ok()).collect()
                }
            };
            cases.sort_by_key(|case| case.to_string().len());
            let is_invalid = listed.entry.signature == Class::AcceptedInvalid;
            StoredFinding {
                id: listed.entry.id.clone(),
                class: listed.entry.signature,
                predicate: listed.form.filter.clone(),
                validity: is_invalid.then_some(Validity::Invalid),
                count: cases.len() as u64,
                cases,
                fresh: None,
            }
        };
        self.entries.iter().filter(|listed| listed.backend == backend).map(stored).collect()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Empty counts, one for each entry.
    pub fn tallies(&self) -> Vec<KnownTally> {
        let tally = |entry: &Arc<KnownFailure>| KnownTally {
            entry: Arc::clone(entry),
            counts: KnownCounts::default(),
        };
        self.entries().map(tally).collect()
    }

    /// The entries that match a case, which is written as this line, with this expectation. Its sensitivity
    /// is computed only if an entry depends on it.
    pub(crate) fn matching(
        &self,
        case: &Case,
        (line, expectation): (&str, &Expectation),
        level: FeatureLevel,
        values: &mut Values,
        sensitivities: impl Fn() -> Sensitivities,
    ) -> Vec<Match> {
        let mut matches = |listed: &Listed| match &listed.selector {
            Selector::Where(predicate) => predicate.holds(case, level, values),
            Selector::Cases(lines) => lines.contains(line),
        };
        let places = self.entries.iter().enumerate();
        let can_fail = |listed: &Listed| listed.entry.signature.can_fail(expectation);
        let matching = places.filter(|(_, listed)| can_fail(listed) && matches(listed));
        let sensitive = matching.map(|(place, listed)| Match {
            place,
            sensitivity: match (&listed.selector, listed.entry.signature) {
                // A listed case failed with its own data before.
                (Selector::Cases(_), Class::Output(_) | Class::OutsideQuestion) => Sensitivity::Yes,
                (_, signature @ (Class::Output(_) | Class::Remembered | Class::OutsideQuestion)) => {
                    sensitivities().to(signature)
                }
                _ => Sensitivity::Yes,
            },
        });
        sensitive.filter(|matched| matched.sensitivity != Sensitivity::No).collect()
    }

    /// The verdict on a case that these entries match, and the entry that counts it with the way in which it
    /// fits.
    pub(crate) fn reconcile(
        &self,
        matches: &[Match],
        ruling: Ruling,
        outcome: &Outcome,
    ) -> (Verdict, Option<(usize, Fit)>) {
        let fits = || {
            let known =
                matches.iter().filter_map(|matched| Some((matched, self.entries.get(matched.place)?)));
            known.filter_map(|(matched, listed)| {
                let (verdict, fit) = reconcile(listed.entry.signature, ruling);
                let tells = fit != Fit::Passed
                    || matched.sensitivity == Sensitivity::Yes
                        && listed.entry.signature.is_disproved_by(ruling.0, outcome);
                tells.then_some((matched.place, (verdict, fit)))
            })
        };
        let explains = fits().find(|(_, (_, fit))| *fit == Fit::AsExpected);
        match explains.or_else(|| fits().next()) {
            Some((place, (verdict, fit))) => (verdict, Some((place, fit))),
            None => (ruling.0, None),
        }
    }

    pub(crate) fn entry(&self, place: usize) -> Option<Arc<KnownFailure>> {
        self.entries.get(place).map(|listed| Arc::clone(&listed.entry))
    }
}

impl Listed {
    /// Why the entry does not apply to a backend with these capabilities.
    fn misfit(&self, capabilities: &Capabilities) -> Option<String> {
        if self.backend == capabilities.name {
            misfit(&self.form, capabilities)
        } else {
            Some(format!("is of the backend {}", self.backend))
        }
    }
}

impl fmt::Debug for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listed")
            .field("entry", &self.entry)
            .field("backend", &self.backend)
            .finish_non_exhaustive()
    }
}

fn entry(form: &KnownFailureForm, signature: Class, file: &str) -> KnownFailure {
    let listed = form.cases.as_ref().map_or(0, Vec::len);
    KnownFailure {
        file: file.to_owned(),
        id: form.id.clone(),
        suites: form.suites.clone(),
        cases: form.filter.clone().unwrap_or_else(|| format!("{listed} listed")),
        signature,
        kind: form.kind,
        reason: form.reason.trim().to_owned(),
        link: form.link.clone(),
    }
}

/// Checks an entry. `None` if it has no valid signature or no valid selection of cases.
fn check(
    form: &KnownFailureForm,
    place: Place<'_>,
    library: &Library,
    wrong: &mut Vec<Diagnostic>,
) -> Option<(Class, Selector)> {
    let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    if form.id.is_empty() || !form.id.chars().all(is_plain) {
        let message = format!("`{}` is not an id", form.id);
        wrong.push(place.key("id").mistake(message, "expected lower-case words joined by hyphens"));
    }
    if form.suites.is_empty() {
        let message = "no run would say whether the entry is still true";
        wrong.push(place.key("suites").mistake(message, "expected a suite at least, such as [smoke]"));
    }
    if form.reason.trim().is_empty() {
        wrong.push(
            place.key("reason").mistake("the failure has no reason", "expected a sentence that says why"),
        );
    }
    if let Some(link) = form.link.as_deref().filter(|link| !link.contains("://")) {
        let message = format!("`{link}` is no address");
        wrong.push(place.key("link").mistake(message, "expected one such as https://example.org/issues/7"));
    }
    for (name, bounds) in [("version", &form.version), ("driver", &form.driver)] {
        let Some(bounds) = bounds else { continue };
        if bounds.from.is_none() && bounds.below.is_none() {
            wrong.push(
                place.name(name).mistake("these bounds exclude nothing", "expected `from`, `below` or both"),
            );
        }
        if are_empty(bounds) {
            let message = format!("no {name} is {bounds}, so that the entry never counts");
            wrong.push(place.name(name).mistake(message, "expected a `from` that is less than `below`"));
        }
        for (key, bound) in [("from", &bounds.from), ("below", &bounds.below)] {
            if let Some(text) = bound.as_deref().filter(|text| numbers(text).is_none()) {
                let message = format!("`{text}` is no version");
                wrong.push(place.key(name).key(key).mistake(message, "expected a number such as 25.2"));
            }
        }
    }
    let signature = Class::from_id(&form.signature).filter(|class| *class != Class::Lost);
    if signature.is_none() {
        // The schema check has already reported this with all names.
        let message = format!("`{}` is no way to fail", form.signature);
        wrong.push(place.key("signature").mistake(message, "expected a class of failure"));
    }
    let selector = selector(form, place, library, wrong);
    signature.zip(selector)
}

fn selector(
    form: &KnownFailureForm,
    place: Place<'_>,
    library: &Library,
    wrong: &mut Vec<Diagnostic>,
) -> Option<Selector> {
    match (&form.filter, &form.cases) {
        (Some(text), None) => {
            let scopes = library.operators().iter().map(Operator::scope);
            match Predicate::compile(text, scopes) {
                Ok(predicate) => return Some(Selector::Where(Box::new(predicate))),
                Err(mistake) => {
                    let within = mistake.span.start..mistake.span.end;
                    let diagnostic = place.key("where").mistake_within(within, mistake.message.clone(), "");
                    wrong.push(match &mistake.help {
                        Some(help) => diagnostic.help(help.clone()),
                        None => diagnostic,
                    });
                }
            }
        }
        (None, Some(cases)) => {
            if cases.is_empty() {
                wrong.push(
                    place.key("cases").mistake("the entry has no case", "expected a case line at least"),
                );
            }
            let mut lines = BTreeSet::new();
            for (at, text) in cases.iter().enumerate() {
                match line::parse(text, library.signatures()) {
                    Ok(case) => {
                        lines.insert(case.to_string());
                    }
                    Err(error) => {
                        let place = place.key("cases").index(at);
                        let mistake = place.mistake_within(error.span, error.message, "");
                        wrong.push(if error.help.is_empty() { mistake } else { mistake.help(error.help) });
                    }
                }
            }
            return Some(Selector::Cases(lines));
        }
        (Some(_), Some(_)) => {
            let label = "expected `where` or `cases`, and not both";
            wrong.push(place.name("cases").mistake("the entry names its cases twice", label));
        }
        (None, None) => {
            let label = "expected `where` with a predicate, or `cases` with case lines";
            wrong.push(place.mistake("the entry does not say which cases fail", label));
        }
    }
    None
}
