//! Asks passes again with other data. A wrong element shows only if it differs from the right one, so a pass
//! with equal elements is weak evidence.

use std::collections::BTreeSet;

use dmlcts_model::{Case, Fill};

use crate::{
    label::{Ask, Label},
    learn::Explanation,
    simplify::shorter,
    universe::Universe,
};

/// The data that a pass is asked again with.
const FILLS: [Fill; 4] =
    [Fill::Coordinates { pass: 0 }, Fill::Random { seed: 11 }, Fill::Random { seed: 12 }, Fill::Iota];
/// A condition is doubted if it excludes no more passes than this.
const FEW: usize = 4;
/// The passes that are asked again at a time.
const MOST: usize = 24;

/// The case with other data, several times.
pub fn with_other_data(case: &Case) -> impl Iterator<Item = Case> + '_ {
    FILLS.iter().map(|fill| Case { fill: fill.clone(), ..case.clone() })
}

/// Asks passes again. Those that fail with other data are failures from then on. Returns the numbers of cases
/// asked and of passes that became failures.
pub(crate) fn again(
    universe: &mut Universe<'_>,
    passes: &[usize],
    class: &str,
    doubted: &mut BTreeSet<usize>,
    ask: &mut Ask<'_>,
) -> (usize, usize) {
    let new: Vec<usize> = passes.iter().copied().filter(|case| doubted.insert(*case)).take(MOST).collect();
    let cases: Vec<Case> = new.iter().flat_map(|case| with_other_data(universe.case(*case))).collect();
    if cases.is_empty() {
        return (0, 0);
    }
    let labels = ask(&cases);
    let mut flipped = 0;
    for (case, labels) in new.iter().zip(labels.chunks(FILLS.len())) {
        let is_failure = |label: &Label| matches!(label, Label::Failed(failed) if failed == class);
        if labels.iter().any(is_failure) {
            universe.fail(*case);
            flipped += 1;
        }
    }
    (cases.len(), flipped)
}

/// The passes that alone make a condition necessary: without the condition, the rule holds for few passes.
pub(crate) fn doubtful(rules: &Explanation, universe: &Universe<'_>) -> Vec<usize> {
    let passes = universe.of_outcome(false);
    let mut found: Vec<usize> = passes.iter().copied().filter(|case| rules.hold(universe, *case)).collect();
    for without in rules.rules.iter().flat_map(shorter) {
        let holds = |case: &usize| without.holds(&rules.atoms, universe, *case);
        let excluded: Vec<usize> = passes.iter().copied().filter(holds).take(FEW + 1).collect();
        if excluded.len() <= FEW {
            found.extend(excluded);
        }
    }
    found
}
