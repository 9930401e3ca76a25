//! Makes entries for failures: the selection of their cases, and the other fields, some of which a person may
//! have written.

use dmlcts_model::Case;

use super::{
    Kind, KnownFailureForm,
    group::{Group, Reading},
};
use crate::Class;

/// The maximum number of cases that an entry lists one by one.
const MOST_LISTED: usize = 100;

/// The selection of an entry's cases.
pub(super) struct Selector {
    /// A predicate that holds for the cases.
    pub(super) filter: Option<String>,
    /// The lines of the cases, if there is no predicate.
    cases: Option<Vec<String>>,
    count: usize,
}

/// Separates the cases of a group from those that passed: by predicates first, those with the most cases
/// first, and then one by one. Also returns the number of cases that no selector covers, because they are too
/// many to list.
pub(super) fn selectors(
    group: &Group<'_>,
    reading: &Reading<'_>,
    passed: &[u64],
    (cause, others): (Option<&KnownFailureForm>, &[String]),
) -> (Vec<Selector>, usize) {
    let written = cause.and_then(|form| form.filter.as_deref());
    let (told, rest) = group.told(reading, passed, (written, others));
    let mut selectors: Vec<Selector> = told
        .into_iter()
        .map(|told| Selector { filter: Some(told.predicate), cases: None, count: told.failed.len() })
        .collect();
    if rest.len() > MOST_LISTED {
        return (selectors, rest.len());
    }
    if !rest.is_empty() {
        let cases = reading.cases(&rest).iter().map(Case::to_string).collect();
        selectors.push(Selector { filter: None, cases: Some(cases), count: rest.len() });
    }
    (selectors, 0)
}

/// Makes an entry for some cases of a group. The first entry that comes from an old one continues it, with
/// everything that a person wrote. Further entries from the same old one get a reason of their own, since the
/// old reason may not apply to them.
pub(super) fn entry(
    group: &Group<'_>,
    selector: Selector,
    cause: Option<&KnownFailureForm>,
    suite: &str,
    entries: &[KnownFailureForm],
) -> KnownFailureForm {
    let is_free = |id: &str| entries.iter().all(|entry| entry.id != id);
    let heir = cause.filter(|form| is_free(&form.id));
    let mut entry = match (heir, cause) {
        (Some(heir), _) => heir.clone(),
        (None, Some(cause)) => {
            let reason = reason(group, selector.count, suite, Some(&cause.id));
            KnownFailureForm { id: numbered(&cause.id, is_free), reason, link: None, ..cause.clone() }
        }
        (None, None) => {
            let stem = format!("{}-{}", group.operator.name().to_lowercase(), group.class.id());
            let id = if is_free(&stem) { stem } else { numbered(&stem, is_free) };
            KnownFailureForm { id, reason: reason(group, selector.count, suite, None), ..new_entry(group) }
        }
    };
    if !entry.suites.iter().any(|name| name == suite) {
        entry.suites.push(suite.to_owned());
    }
    if let Some(before) = Class::from_id(&entry.signature) {
        entry.kind = entry.kind.changed(before, group.class);
    }
    group.class.id().clone_into(&mut entry.signature);
    (entry.filter, entry.cases) = (selector.filter, selector.cases);
    entry
}

/// The reason of an entry that was not examined yet.
fn reason(group: &Group<'_>, cases: usize, suite: &str, beside: Option<&str>) -> String {
    let cases = if cases == 1 { "1 case".to_owned() } else { format!("{cases} cases") };
    let beside = beside.map(|id| format!(", found together with {id}")).unwrap_or_default();
    format!("Not examined yet: {} in {cases} of {suite}{beside}.", group.class)
}

/// An entry that was not examined yet.
fn new_entry(group: &Group<'_>) -> KnownFailureForm {
    KnownFailureForm {
        id: String::new(),
        suites: Vec::new(),
        filter: None,
        cases: None,
        signature: group.class.id().to_owned(),
        kind: Kind::Bug.changed(group.class, group.class),
        reason: String::new(),
        link: None,
        version: None,
        driver: None,
        device: None,
    }
}

/// A free id: the stem with a number.
fn numbered(stem: &str, is_free: impl Fn(&str) -> bool) -> String {
    let mut numbered = (2..).map(|number| format!("{stem}-{number}"));
    numbered.find(|id| is_free(id)).unwrap_or_default()
}
