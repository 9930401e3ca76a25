//! Asks passes again with other data. A wrong element shows only if it differs from the right one, so a pass
//! with equal elements is weak evidence.
//!
//! A case with other data is another case, since conditions on data tell them apart. So a failure with other
//! data takes the place of a weak pass, and a pass that would show an element from a wrong place stays.

use std::collections::BTreeSet;

use dmlcts_model::{Case, Fill};

use crate::{
    data::has_only_distinct_elements,
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

/// The case with other data, several times. None if the case shows elements from wrong places with its own
/// data.
pub fn with_other_data(case: &Case) -> impl Iterator<Item = Case> + '_ {
    let fills = if has_only_distinct_elements(case) { &[][..] } else { &FILLS[..] };
    fills.iter().map(|fill| Case { fill: fill.clone(), ..case.clone() })
}

/// Asks passes again. A failure with other data takes the place of its pass. Returns the number of cases
/// asked and the passes that were replaced.
pub(crate) fn again(
    universe: &mut Universe<'_>,
    passes: &[usize],
    class: &str,
    doubted: &mut BTreeSet<usize>,
    ask: &mut dyn Ask,
) -> (usize, Vec<usize>) {
    let is_weak = |case: &usize| !has_only_distinct_elements(universe.case(*case));
    let new = passes.iter().copied().filter(|case| doubted.insert(*case) && is_weak(case));
    let new: Vec<usize> = new.take(MOST).collect();
    let cases: Vec<Case> = new.iter().flat_map(|case| with_other_data(universe.case(*case))).collect();
    if cases.is_empty() {
        return (0, Vec::new());
    }
    let labels = ask.ask(&cases);
    let mut replaced = Vec::new();
    for ((pass, cases), labels) in
        new.into_iter().zip(cases.chunks(FILLS.len())).zip(labels.chunks(FILLS.len()))
    {
        let is_failure = |label: &Label| matches!(label, Label::Failed(failed) if failed == class);
        if let Some((case, _)) = cases.iter().zip(labels).find(|(_, label)| is_failure(label)) {
            universe.replace_by_failure(pass, case.clone());
            replaced.push(pass);
        }
    }
    (cases.len(), replaced)
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
