//! Lets operators share a condition if that costs few mistakes. A fault in several operators has one cause. A
//! pass by chance gives the rule of one of them a condition more, which the others do without.

use dmlcts_spec::{Library, program::Values};

use crate::{
    again::variants,
    label::{Ask, Label},
    learned::LearnedRule,
    merge::LearnedSubject,
    role::{form, translated},
    simplify::DOUBTED,
};

/// The passes that a shared condition may get wrong: one for each `IMPURITY` failures of the operator, and at
/// most `FEW`. At most `MORE` if it replaces rules that have `LONG` conditions, or that are wrong themselves.
const IMPURITY: usize = 40;
const FEW: usize = 3;
const MORE: usize = 10;
const LONG: usize = 4;
/// An operator with this number of failures may have one such pass.
const SOME: usize = 10;

/// A condition for an operator, in the place of some of its predicates.
struct Offer {
    subject: usize,
    /// The predicates that it replaces.
    places: Vec<usize>,
    condition: String,
    /// The passes that become mistakes.
    wrong: Vec<usize>,
}

/// Replaces predicates by those of other operators, or by simpler ones, while that makes fewer causes.
pub(crate) fn share(subjects: &mut [LearnedSubject<'_>], library: &Library, mut ask: Option<&mut dyn Ask>) {
    let mut refused: Vec<String> = Vec::new();
    while let Some((name, mut offers)) = best(subjects, library, &refused) {
        if let Some(ask) = ask.as_deref_mut() {
            for offer in &offers {
                doubt(offer, &mut subjects[offer.subject], ask);
            }
        }
        offers.retain(|offer| {
            let subject = &subjects[offer.subject];
            offer.wrong.iter().filter(|case| !subject.failed[**case]).count() <= allowed(subject)
        });
        if gain(subjects, library, &name, &offers) > 0 {
            for offer in offers {
                replace(&mut subjects[offer.subject], offer);
            }
        }
        refused.push(name);
    }
}

/// By how many the causes become fewer: predicates of the same form are one cause.
fn gain(subjects: &[LearnedSubject<'_>], library: &Library, name: &str, offers: &[Offer]) -> usize {
    let mut before: Vec<String> = Vec::new();
    for (place, subject) in subjects.iter().enumerate() {
        for (predicate, found) in subject.learned.predicates.iter().enumerate() {
            let is_replaced =
                offers.iter().any(|offer| offer.subject == place && offer.places.contains(&predicate));
            let form = form(&found.condition, library);
            if is_replaced || form == name {
                before.push(form);
            }
        }
    }
    before.sort_unstable();
    before.dedup();
    before.len().saturating_sub(1)
}

/// The condition that makes one cause of most, without mistakes if possible, with what it replaces. `None` if
/// there is none.
fn best(
    subjects: &[LearnedSubject<'_>],
    library: &Library,
    refused: &[String],
) -> Option<(String, Vec<Offer>)> {
    let mut found: Vec<(String, Vec<Offer>)> = Vec::new();
    for subject in subjects {
        let own = subject.learned.predicates.iter().map(|found| &found.condition);
        for condition in own.chain(&subject.simpler) {
            let name = form(condition, library);
            if refused.contains(&name) || found.iter().any(|(known, _)| *known == name) {
                continue;
            }
            let others = subjects.iter().enumerate();
            let offers = others.filter_map(|(place, other)| {
                let condition = translated(condition, subject.operator, other.operator);
                offer((place, other), &condition, (&name, library))
            });
            let offers: Vec<Offer> = offers.collect();
            found.push((name, offers));
        }
    }
    let gain = |(name, offers): &(String, Vec<Offer>)| gain(subjects, library, name, offers);
    found.retain(|one| gain(one) > 0);
    found.into_iter().min_by_key(|one| {
        let wrong: usize = one.1.iter().map(|offer| offer.wrong.len()).sum();
        (std::cmp::Reverse(gain(one)), wrong, one.0.len())
    })
}

/// What a condition may replace: all predicates of the operator, or one of them.
fn offer(
    (subject, of): (usize, &LearnedSubject<'_>),
    condition: &str,
    (name, library): (&str, &Library),
) -> Option<Offer> {
    let forms: Vec<String> =
        of.learned.predicates.iter().map(|found| form(&found.condition, library)).collect();
    if forms.is_empty() || forms.iter().any(|form| form == name) {
        return None;
    }
    let mut values = Values::default();
    let truth = of.truth(condition, &mut values)?;
    let own: Option<Vec<Vec<bool>>> =
        of.learned.predicates.iter().map(|found| of.truth(&found.condition, &mut values)).collect();
    let own = own?;
    let before = |case: usize| own.iter().any(|truth| truth[case]);
    let all: Vec<usize> = (0..own.len()).collect();
    let replaced = std::iter::once(all).chain((0..own.len()).map(|place| vec![place]));
    let mut offers = replaced.filter_map(|places| {
        let rest = |case: usize| (0..own.len()).any(|place| !places.contains(&place) && own[place][case]);
        let after = |case: usize| truth[case] || rest(case);
        let of_outcome = |failed: bool| (0..truth.len()).filter(move |case| of.failed[*case] == failed);
        let is_lost = of_outcome(true).any(|case| before(case) && !after(case));
        let wrong: Vec<usize> = of_outcome(false).filter(|case| after(*case) && !before(*case)).collect();
        let is_fair = !is_lost && wrong.len() <= DOUBTED;
        is_fair.then_some(Offer { subject, places, condition: condition.to_owned(), wrong })
    });
    offers.next()
}

/// The passes that a condition may get wrong.
fn allowed(subject: &LearnedSubject<'_>) -> usize {
    let failures = subject.failed.iter().filter(|failed| **failed).count();
    let learned = &subject.learned;
    let is_long = learned.predicates.iter().any(|found| found.conditions >= LONG);
    let most = if is_long || !learned.exact { MORE } else { FEW };
    (failures / IMPURITY).clamp(usize::from(failures >= SOME), most)
}

/// Asks passes with other data. A failure for which the condition holds takes the place of its pass.
fn doubt(offer: &Offer, subject: &mut LearnedSubject<'_>, ask: &mut dyn Ask) {
    let class = subject.learned.class.clone();
    ask.begin(subject.operator.name(), &class);
    for pass in &offer.wrong {
        let cases = variants(&subject.cases[*pass]);
        let labels = ask.ask(&cases);
        subject.learned.asked += cases.len();
        let failure = cases.into_iter().zip(labels).find(|(case, label)| {
            matches!(label, Label::Failed(failed) if *failed == class)
                && subject.holds(&offer.condition, case)
        });
        if let Some((case, _)) = failure {
            (subject.cases[*pass], subject.failed[*pass]) = (case, true);
        }
    }
    subject.recount();
}

/// Puts a condition in the place of predicates.
fn replace(subject: &mut LearnedSubject<'_>, offer: Offer) {
    let Offer { places, condition, .. } = offer;
    let Some(truth) = subject.truth(&condition, &mut Values::default()) else { return };
    let (held_failing, held_passing) = (subject.held(&truth, true), subject.held(&truth, false));
    let [first, others @ ..] = places.as_slice() else { return };
    let found = &mut subject.learned.predicates;
    // It has at most as many conditions as what it replaces.
    let conditions = found[*first].conditions;
    found[*first] = LearnedRule { condition, conditions, held_failing, held_passing, estimate: None };
    others.iter().rev().for_each(|place| drop(found.remove(*place)));
    subject.recount();
}
