//! Joins kinds of failures that have one cause: an overflow may crash for some descs and give wrong values
//! for others.

use std::cmp::Reverse;

use dmlcts_model::{Case, FeatureLevel};
use dmlcts_spec::Library;

use crate::{
    classes::{ENOUGH_FAILURES, learn},
    experiment::Budget,
    label::{Ask, Label, Labelled, RoundLimit},
    learned::Learned,
    outcomes::{Cases, Outcomes},
};

/// The most pairs of kinds that are learned about.
const PAIRS: usize = 12;

/// The kinds of an operator's failures that count as another kind.
#[derive(Default)]
pub(crate) struct Joined(Vec<JoinedKind>);

struct JoinedKind {
    operator: String,
    kind: String,
    counts_as: String,
}

impl Joined {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn kind(&self, operator: &str, kind: String) -> String {
        let is_joined = |one: &&JoinedKind| one.operator == operator && one.kind == kind;
        self.0.iter().find(is_joined).map_or(kind, |one| one.counts_as.clone())
    }

    fn label(&self, case: &Case, label: Label) -> Label {
        let operator = &case.desc.signature.operator;
        match label {
            Label::Failed(kind) => Label::Failed(self.kind(operator, kind)),
            Label::Blind(kind) => Label::Blind(self.kind(operator, kind)),
            other => other,
        }
    }

    /// Gives labelled cases their joined kinds.
    pub(crate) fn relabel<'a>(&self, labelled: impl Iterator<Item = &'a mut Labelled>) {
        for one in labelled {
            let label = std::mem::replace(&mut one.label, Label::Unknown);
            one.label = self.label(&one.case, label);
        }
    }

    /// The outcomes with joined kinds.
    pub(crate) fn outcomes(&self, outcomes: &Outcomes, cases: &mut dyn Cases) -> Outcomes {
        let joined = outcomes.failures.iter().map(|(index, kind)| {
            let case = cases.read(*index);
            (*index, self.kind(&case.desc.signature.operator, kind.clone()))
        });
        Outcomes { failures: joined.collect(), passes: outcomes.passes.clone() }
    }
}

/// The cases of a run with joined kinds.
pub(crate) struct JoinedCases<'a> {
    pub(crate) joined: &'a Joined,
    pub(crate) cases: &'a mut dyn Cases,
}

impl Cases for JoinedCases<'_> {
    fn read(&mut self, index: u64) -> Case {
        self.cases.read(index)
    }

    fn blind_to(&mut self, index: u64, case: &Case) -> Option<String> {
        let kind = self.cases.blind_to(index, case)?;
        Some(self.joined.kind(&case.desc.signature.operator, kind))
    }
}

/// Answers with joined kinds.
pub(crate) struct JoinedAnswers<'a> {
    pub(crate) joined: &'a Joined,
    pub(crate) ask: &'a mut dyn Ask,
}

impl Ask for JoinedAnswers<'_> {
    fn ask(&mut self, cases: &[Case]) -> Vec<Label> {
        let labels = cases.iter().zip(self.ask.ask(cases));
        labels.map(|(case, label)| self.joined.label(case, label)).collect()
    }

    fn begin(&mut self, operator: &str, class: &str) {
        self.ask.begin(operator, class);
    }

    fn begin_evidence(&mut self, operator: &str, class: &str) {
        self.ask.begin_evidence(operator, class);
    }

    fn end_evidence(&mut self) {
        self.ask.end_evidence();
    }

    fn cut(&mut self, limit: RoundLimit) {
        self.ask.cut(limit);
    }
}

/// Joins two kinds of an operator's failures if one rule is right about both, and is no longer than theirs.
/// It takes the place of theirs.
pub(crate) fn join_kinds(
    learned: &mut Vec<Learned>,
    labelled: &[Labelled],
    of: (&Library, FeatureLevel),
    seed: u64,
    budget: Budget<'_>,
) -> Joined {
    let mut joined = Joined::default();
    let mut pairs = pairs(learned, labelled);
    pairs.truncate(PAIRS);
    for [kept, left] in pairs {
        // Either may have been joined with another kind.
        let find = |of: &Learned| learned.iter().position(|one| one.is_like(of));
        let (Some(place), Some(other)) = (find(&kept), find(&left)) else { continue };
        if (budget.is_over)() {
            break;
        }
        // Refusals in different words have different reasons.
        let is_of_kept = |one: &&JoinedKind| one.operator == kept.operator && one.counts_as == kept.class;
        let of_kept = joined.0.iter().filter(is_of_kept).map(|one| &one.kind);
        if of_kept.chain([&kept.class]).any(|kind| class(kind) == class(&left.class)) {
            continue;
        }
        let operator = kept.operator.clone();
        let of_left = |one: &JoinedKind| one.operator == operator && one.counts_as == left.class;
        let mut known: Vec<Labelled> =
            labelled.iter().filter(|one| one.case.desc.signature.operator == operator).cloned().collect();
        joined.relabel(known.iter_mut());
        let pair = JoinedKind {
            operator: operator.clone(),
            kind: left.class.clone(),
            counts_as: kept.class.clone(),
        };
        let both = Joined(vec![pair]);
        both.relabel(known.iter_mut());
        let own = [&learned[place], &learned[other]];
        let has_rules = own.iter().all(|one| one.exact && !one.predicates.is_empty());
        let longest = own.iter().map(|one| length(one)).max().filter(|_| has_rules);
        let found = learn(&known, of, seed, budget, None);
        let is_right = |one: &Learned| {
            let [rule] = one.predicates.as_slice() else { return false };
            one.exact
                && rule.held_failing >= ENOUGH_FAILURES
                && longest.is_none_or(|most| rule.conditions <= most)
        };
        let Some(mut found) = found.into_iter().find(|one| one.is_like(&kept) && is_right(one)) else {
            continue;
        };
        found.asked = learned[place].asked + learned[other].asked;
        learned[place] = found;
        learned.remove(other);
        joined.0.iter_mut().filter(|one| of_left(one)).for_each(|one| one.counts_as.clone_from(&kept.class));
        joined.0.extend(both.0);
    }
    joined
}

/// The pairs of kinds of one operator, the larger kind first.
fn pairs(learned: &[Learned], labelled: &[Labelled]) -> Vec<[Learned; 2]> {
    let failures = |of: &Learned| {
        let is_failure = |one: &&Labelled| {
            one.case.desc.signature.operator == of.operator
                && matches!(&one.label, Label::Failed(kind) if *kind == of.class)
        };
        labelled.iter().filter(is_failure).count()
    };
    let mut pairs = Vec::new();
    for (place, one) in learned.iter().enumerate() {
        let is_pair = |other: &&Learned| other.operator == one.operator && other.validity == one.validity;
        for other in learned[place + 1..].iter().filter(is_pair) {
            let mut pair = [one.clone(), other.clone()];
            pair.sort_by_key(|one| Reverse(failures(one)));
            pairs.push(pair);
        }
    }
    pairs
}

/// The class of a kind, without the words that tell it from others.
fn class(kind: &str) -> &str {
    kind.split(": ").next().unwrap_or(kind)
}

/// The number of conditions of all rules.
fn length(learned: &Learned) -> usize {
    learned.predicates.iter().map(|rule| rule.conditions).sum()
}
