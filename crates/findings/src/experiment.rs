//! The loop of experiments: learn, ask, learn again, until no answer surprises or the budget ends.

use std::collections::BTreeSet;

use dmlcts_generate::draw::{Draws, derive};
use dmlcts_model::Case;
use dmlcts_spec::Operator;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    again::{again, doubtful},
    effort::Effort,
    fresh::Fresh,
    label::{Ask, Label, RoundLimit},
    learn::learn,
    propose::{Asked, ProposalSource, fresh_cases, questions},
    rule_set::RuleSet,
    simplify::pruned,
    universe::Universe,
};

/// The rounds without a counterexample that end the loop.
const QUIET: usize = 2;
/// The most rounds.
const ROUNDS: usize = 16;
/// After `PATIENCE` rounds in a row with more than one counterexample in `NOISE` answers, the loop ends: the
/// language seems to lack the cause.
const PATIENCE: usize = 5;
const NOISE: usize = 8;
/// The times that passes are doubted after learning.
const DOUBTS: usize = 4;
/// The work of the searches of all rounds for one kind of failures: see [`Effort::examined`].
const EXAMINED: u64 = 250_000_000;
/// The kinds of failures that get so much work each. If there are more kinds, each gets less.
const SHARES: u64 = 6;
/// The fresh cases of the estimate.
const ESTIMATE: usize = 250;

/// What a search may cost.
#[derive(Clone, Copy)]
pub struct Budget<'a> {
    /// The cases that the search may ask.
    pub cases: usize,
    /// The cases on each side of a final predicate that are asked for evidence.
    pub evidence: usize,
    /// The threads of the search. Their number changes no result.
    pub threads: usize,
    /// Whether the search must end at once, with the rules that it has.
    pub is_over: &'a dyn Fn() -> bool,
}

impl Budget<'_> {
    /// No experiments.
    pub const NONE: Self = Self { cases: 0, evidence: 0, threads: 1, is_over: &|| false };
}

/// What fresh cases say of a predicate that was learned before they were asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// The fresh cases for which it holds, and those of them that failed.
    pub held: usize,
    /// See [`Estimate::held`].
    pub held_failing: usize,
    /// The fresh cases for which it does not hold, and those of them that passed.
    pub not_held: usize,
    /// See [`Estimate::not_held`].
    pub not_held_passing: usize,
}

impl Estimate {
    /// The cases on each side that a predicate needs to be called exact. If a predicate is wrong for 1 in
    /// 1,000 cases, 3,000 cases show no mistake with a chance of 5 %.
    pub const AMPLE: usize = 3_000;

    /// Whether each side has at least [`Estimate::AMPLE`] cases.
    pub fn is_ample(self) -> bool {
        self.held >= Self::AMPLE && self.not_held >= Self::AMPLE
    }

    /// Counts a case: whether the predicate holds for it, and whether it failed.
    pub fn count(&mut self, holds: bool, failed: bool) {
        let (all, right) = if holds {
            (&mut self.held, &mut self.held_failing)
        } else {
            (&mut self.not_held, &mut self.not_held_passing)
        };
        *all += 1;
        *right += usize::from(holds == failed);
    }

    /// The number of cases.
    pub fn cases(self) -> usize {
        self.held + self.not_held
    }

    /// Both together.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self {
            held: self.held + other.held,
            held_failing: self.held_failing + other.held_failing,
            not_held: self.not_held + other.not_held,
            not_held_passing: self.not_held_passing + other.not_held_passing,
        }
    }

    /// The same with at most this number of cases on each side, if it has no mistake. So operators that share
    /// the cases of one rule count alike, and many cases of one do not make up for few of another.
    #[must_use]
    pub fn of_side(self, most: usize) -> Self {
        if self.wrong() > 0 {
            return self;
        }
        let (held, not_held) = (self.held.min(most), self.not_held.min(most));
        Self { held, held_failing: held, not_held, not_held_passing: not_held }
    }

    /// The one of two that says more: the one with more mistakes, or else with more cases. Both may count the
    /// same cases, so that their sum would be too large.
    #[must_use]
    pub fn stronger(self, other: Self) -> Self {
        let weight = |one: &Self| (one.wrong(), one.cases());
        if weight(&other) > weight(&self) { other } else { self }
    }

    /// The number of cases that it gets wrong.
    pub fn wrong(&self) -> usize {
        self.held - self.held_failing + self.not_held - self.not_held_passing
    }
}

/// The result of the loop. That of no experiment has rules alone.
#[derive(Default)]
pub(crate) struct Experimented {
    pub(crate) rules: RuleSet,
    pub(crate) rounds: usize,
    pub(crate) asked: usize,
    pub(crate) counterexamples: usize,
    pub(crate) estimate: Option<Estimate>,
    /// Whether the loop ended because the language seems to lack the cause.
    pub(crate) is_lost: bool,
}

/// What a loop works on.
pub(crate) struct OperatorSubject<'a, 'lib> {
    pub(crate) operator: &'a Operator,
    pub(crate) asked: Asked,
    pub(crate) class: &'a str,
    /// The number of operators and kinds of failures that there are.
    pub(crate) kinds: usize,
    pub(crate) fresh: Fresh<'lib>,
    pub(crate) seed: u64,
    pub(crate) budget: Budget<'a>,
}

/// A loop of experiments between its rounds.
struct Loop<'a, 'lib> {
    subject: OperatorSubject<'a, 'lib>,
    draws: Draws,
    /// The work of all searches.
    effort: Effort<'a>,
    /// The lines of the cases that have a label.
    known: BTreeSet<String>,
    /// The cases that surprised: the rules at that time got them wrong.
    surprising: Vec<usize>,
    /// The passes that were asked again with other data.
    doubted: BTreeSet<usize>,
    result: Experimented,
    /// The rules of each round.
    history: Vec<RuleSet>,
    /// Whether the last round got no answer.
    is_unanswered: bool,
}

/// Learns the rules of a universe by experiments, which extend the universe.
pub(crate) fn experiment(
    universe: &mut Universe<'_>,
    subject: OperatorSubject<'_, '_>,
    ask: &mut dyn Ask,
) -> Experimented {
    let mut state = Loop::new(universe, subject);
    let (mut quiet, mut noisy) = (0, 0);
    loop {
        state.learn(universe, ask);
        let is_over = state.result.rounds >= ROUNDS
            || state.is_unanswered
            || (state.subject.budget.is_over)()
            || state.limit().is_some();
        state.result.is_lost = noisy >= PATIENCE;
        if quiet >= QUIET || is_over || state.result.is_lost {
            if let Some(limit) = state.limit().filter(|_| quiet < QUIET && !state.result.is_lost) {
                ask.cut(limit);
            }
            break;
        }
        let answers = state.round(universe, ask);
        (quiet, noisy) = match answers.wrong.len() {
            0 => (quiet + 1, 0),
            wrong if wrong * NOISE > answers.asked => (0, noisy + 1),
            _ => (0, 0),
        };
    }
    state.keep_best(universe);
    state.estimate(universe, ask);
    state.result
}

impl<'a, 'lib> Loop<'a, 'lib> {
    fn new(universe: &Universe<'_>, subject: OperatorSubject<'a, 'lib>) -> Self {
        Self {
            draws: Draws::new(derive(subject.seed, "questions")),
            effort: Effort::new(subject.budget.is_over),
            subject,
            known: universe.cases().iter().map(ToString::to_string).collect(),
            surprising: Vec::new(),
            doubted: BTreeSet::new(),
            result: Experimented::default(),
            history: Vec::new(),
            is_unanswered: false,
        }
    }

    /// The cases that rounds may still ask.
    fn left(&self) -> usize {
        self.subject.budget.cases.saturating_sub(self.result.asked + ESTIMATE)
    }

    /// The limit that the rounds have reached.
    fn limit(&self) -> Option<RoundLimit> {
        if self.left() == 0 {
            Some(RoundLimit::Cases)
        } else {
            (self.effort.examined() >= share(self.subject.kinds)).then_some(RoundLimit::Candidates)
        }
    }

    fn source(&mut self) -> ProposalSource<'_, 'lib> {
        ProposalSource {
            operator: self.subject.operator,
            asked: &self.subject.asked,
            fresh: &mut self.subject.fresh,
            draws: &mut self.draws,
            known: &mut self.known,
        }
    }

    /// Learns the rules, and again if passes that make a condition necessary fail with other data. Rules that
    /// are still right about every case are learned again, too: from other passes, which other rules may fit.
    fn learn(&mut self, universe: &mut Universe<'_>, ask: &mut dyn Ask) {
        for _ in 0..DOUBTS {
            let seed = derive(self.subject.seed, "sample");
            self.result.rules = learn(universe, &self.surprising, seed, &self.effort);
            if self.left() == 0 {
                break;
            }
            let doubtful = doubtful(&self.result.rules, universe);
            let (asked, replaced) = again(universe, &doubtful, self.subject.class, &mut self.doubted, ask);
            self.result.asked += asked;
            self.surprising.extend(&replaced);
            if replaced.is_empty() {
                break;
            }
        }
        self.history.push(self.result.rules.clone());
    }

    /// Asks the questions of a round. Passes for which the rules hold are asked again with other data.
    fn round(&mut self, universe: &mut Universe<'_>, ask: &mut dyn Ask) -> Answers {
        let rules = std::mem::take(&mut self.result.rules);
        let mut cases = questions(&rules, universe, &mut self.source());
        cases.truncate(self.left());
        let first = universe.len();
        let is_asked = !cases.is_empty();
        let mut answers = put(universe, &rules, cases, self.subject.class, ask);
        self.is_unanswered = is_asked && answers.asked == 0;
        let holds = |case: &usize| !universe.is_failure(*case) && rules.hold(universe, *case);
        let passes: Vec<usize> = (first..universe.len()).filter(holds).collect();
        let (asked, replaced) = again(universe, &passes, self.subject.class, &mut self.doubted, ask);
        // A pass that fails with other data is no surprise where the rules hold.
        answers.wrong.retain(|case| !replaced.contains(case) || !rules.hold(universe, *case));
        self.result.rounds += 1;
        self.result.asked += answers.asked + asked;
        self.result.counterexamples += answers.wrong.len();
        self.surprising.extend(&answers.wrong);
        self.result.rules = rules;
        answers
    }

    /// Takes the rules of the cheapest round, of equals the latest. Takes none if none is better than that.
    fn keep_best(&mut self, universe: &Universe<'_>) {
        let none = RuleSet::default();
        let history = std::iter::once(none).chain(std::mem::take(&mut self.history).into_iter().rev());
        let best = history.min_by_key(|rules| rules.cost(universe));
        let mut best = best.unwrap_or_default();
        if let ([rule], false) = (best.rules.as_slice(), best.errors(universe) == 0) {
            best.rules = vec![pruned(rule, &best.atoms, universe)];
        }
        self.result.rules = best;
    }

    /// Estimates the rules on fresh cases. The answers do not change them.
    fn estimate(&mut self, universe: &mut Universe<'_>, ask: &mut dyn Ask) {
        let mut pool = Universe::new(universe.terms, universe.threads);
        fresh_cases(&mut pool, &mut self.source(), universe, ESTIMATE);
        let rules = std::mem::take(&mut self.result.rules);
        let first = universe.len();
        let answers = put(universe, &rules, pool.cases().to_vec(), self.subject.class, ask);
        let holds = |case: &usize| !universe.is_failure(*case) && rules.hold(universe, *case);
        let passes: Vec<usize> = (first..universe.len()).filter(holds).collect();
        let (asked, _) = again(universe, &passes, self.subject.class, &mut self.doubted, ask);
        let mut found = Estimate::default();
        for case in first..universe.len() {
            found.count(rules.hold(universe, case), universe.is_failure(case));
        }
        self.result.asked += answers.asked + asked;
        self.result.estimate = Some(found);
        self.result.rules = rules;
    }
}

/// The work for each of this number of kinds of failures.
fn share(kinds: usize) -> u64 {
    EXAMINED * SHARES / SHARES.max(kinds as u64)
}

/// The number of cases that were asked, and those that the rules got wrong.
struct Answers {
    asked: usize,
    wrong: Vec<usize>,
}

/// Asks cases and adds them to the universe. Cases that fail in another class stay out, as those without an
/// answer do.
fn put(
    universe: &mut Universe<'_>,
    rules: &RuleSet,
    cases: Vec<Case>,
    class: &str,
    ask: &mut dyn Ask,
) -> Answers {
    let labels = ask.ask(&cases);
    let asked = labels.iter().filter(|label| **label != Label::Unknown).count();
    let mut answers = Answers { asked, wrong: Vec::new() };
    for (case, label) in cases.into_iter().zip(labels) {
        let Some(failed) = label.failed(class) else { continue };
        universe.push(case, failed);
        let place = universe.len() - 1;
        if rules.hold(universe, place) != failed {
            answers.wrong.push(place);
        }
    }
    answers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_cases_of_one_operator_do_not_make_up_for_few_of_another() {
        let of = |held, not_held| Estimate { held, held_failing: held, not_held, not_held_passing: not_held };
        let (many, few) = (of(3_000, 3_000), of(1_500, 20));
        assert!(!many.of_side(1_500).with(few.of_side(1_500)).is_ample());
        assert!(many.of_side(1_500).with(of(1_500, 1_500)).is_ample());
        let wrong = Estimate { held_failing: 2_999, ..many };
        assert_eq!(few.with(wrong.of_side(1_500)).wrong(), 1, "a mistake is not hidden");
    }

    #[test]
    fn many_kinds_cost_no_more_than_six() {
        assert_eq!([1, 6].map(share), [EXAMINED; 2]);
        assert!([7, 12, 1_000].into_iter().all(|kinds| share(kinds) * kinds as u64 <= 6 * EXAMINED));
    }
}
