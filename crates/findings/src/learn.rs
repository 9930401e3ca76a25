//! Learns rules from labelled cases: one rule for all failures if there is one, else several, or rules for
//! each mode.

use crate::{
    covering::learn_once, effort::Effort, modes::by_mode, rule_set::RuleSet, search::Aim, universe::Universe,
};

/// A rule with at least this number of conditions may join two causes, so several rules are tried.
const LONG: usize = 4;

/// Learns the rules of a universe. `hints` are cases that the sample contains in any case. A search that is
/// over keeps the rules that it has.
pub(crate) fn learn(universe: &Universe<'_>, hints: &[usize], seed: u64, effort: &Effort<'_>) -> RuleSet {
    let rules = learn_once(universe, hints, seed, (Aim::All, effort));
    if rules.errors(universe) == 0 {
        // Many conditions for all failures may be what two causes have in common.
        if !matches!(rules.rules.as_slice(), [one] if one.length() >= LONG) {
            return rules;
        }
        let several = learn_once(universe, hints, seed, (Aim::Many, effort));
        let is_better = several.errors(universe) == 0 && several.weight() < rules.weight();
        return if is_better { several } else { rules };
    }
    let by_mode = by_mode(universe, hints, seed, effort);
    by_mode.filter(|by_mode| by_mode.cost(universe) < rules.cost(universe)).unwrap_or(rules)
}
