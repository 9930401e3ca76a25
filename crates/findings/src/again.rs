//! Asks passes again with other data. A wrong element shows only if it differs from the right one, so a pass
//! with equal elements is weak evidence.
//!
//! A case with other data is another case, since conditions on data tell them apart. So a failure with other
//! data takes the place of a weak pass, and a pass that would show an element from a wrong place stays.

use std::collections::BTreeSet;

use dmlcts_model::{Case, Fill, Side, Value, packed_strides};

use crate::{
    data::{has_only_distinct_elements, is_repeated},
    label::{Ask, Label},
    rule_set::RuleSet,
    simplify::shorter,
    universe::Universe,
};

/// The data that a pass is asked again with.
const FILLS: [Fill; 4] =
    [Fill::Random { seed: 11 }, Fill::Random { seed: 12 }, Fill::Coordinates { pass: 0 }, Fill::Iota];
/// A condition is doubted if it excludes no more passes than this.
const FEW: usize = 4;
/// The largest input that separate elements may give a case, in bytes.
const LARGEST: u64 = 1 << 20;
/// The passes that are asked again at a time.
const MOST: usize = 24;

/// The case with other data, several times; if its scalar shows no element from a wrong place, with another
/// scalar, too. None if the case shows elements from wrong places with its own data.
pub fn with_other_data(case: &Case) -> impl Iterator<Item = Case> + '_ {
    let fills = if has_only_distinct_elements(case) { &[][..] } else { &FILLS[..] };
    let with_fill = |fill: &Fill| Case { fill: fill.clone(), ..case.clone() };
    let others =
        fills[..fills.len().min(2)].iter().filter_map(move |fill| with_other_scalar(with_fill(fill)));
    fills.iter().map(with_fill).chain(others)
}

/// The case with another scalar in place of 0, which a backend may read outside of the input, or of one that
/// other bytes of its union repeat. `None` if the desc has no such scalar.
fn with_other_scalar(mut case: Case) -> Option<Case> {
    let size = case.desc.tensor(Side::Output)?.data_type.element_size()?;
    let scalar = case.desc.members.iter_mut().find_map(|member| match member {
        Value::Scalar(bytes) if bytes[..size] == [0; 8][..size] || is_repeated(*bytes, size) => Some(bytes),
        _ => None,
    })?;
    // A usual number in each type of float, whose bytes and words all differ.
    *scalar = 0x4078_b627_4193_3c5d_u64.to_le_bytes();
    Some(case)
}

/// The case with a packed input, if a stride of 0 makes several elements one. `None` if the packed input is
/// large.
pub fn with_separate_elements(case: &Case) -> Option<Case> {
    let mut case = case.clone();
    let input = case.desc.input.as_mut()?;
    let (sizes, strides) = (input.sizes.clone()?, input.strides.as_ref()?);
    let is_shared = sizes.iter().zip(strides).any(|(size, stride)| *size > 1 && *stride == 0);
    input.strides = Some(packed_strides(&sizes));
    input.total_size = input.total_size.max(input.usual_total_size());
    (is_shared && input.usual_total_size() <= LARGEST).then_some(case)
}

/// Whether strides of 0 make all elements of the input one: then no element from a wrong place shows.
fn has_one_element(case: &Case) -> bool {
    let Some(input) = case.desc.tensor(Side::Input) else { return false };
    let (Some(sizes), Some(strides)) = (&input.sizes, &input.strides) else { return false };
    sizes.iter().zip(strides).all(|(size, stride)| *size == 1 || *stride == 0)
}

/// The case with other data; if all elements of its input are one, with separate elements, too.
pub(crate) fn variants(case: &Case) -> Vec<Case> {
    let separate = with_separate_elements(case).filter(|_| has_one_element(case));
    let others = separate.iter().cloned().chain(separate.iter().flat_map(with_other_data));
    with_other_data(case).chain(others).collect()
}

/// Whether an element from a wrong place shows, unless it equals the right one by chance: the data are
/// random, with more than one element, and the scalar shows such elements.
pub(crate) fn is_random(case: &Case) -> bool {
    matches!(case.fill, Fill::Random { .. })
        && !has_one_element(case)
        && with_other_scalar(case.clone()).is_none()
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
    let new = passes.iter().copied().filter(|case| doubted.insert(*case));
    let variants = new.map(|case| (case, variants(universe.case(case))));
    let new: Vec<(usize, Vec<Case>)> = variants.filter(|(_, cases)| !cases.is_empty()).take(MOST).collect();
    let cases: Vec<Case> = new.iter().flat_map(|(_, cases)| cases).cloned().collect();
    if cases.is_empty() {
        return (0, Vec::new());
    }
    let mut labels = ask.ask(&cases).into_iter();
    let mut replaced = Vec::new();
    let is_failure = |label: &Label| matches!(label, Label::Failed(failed) if failed == class);
    for (pass, cases) in new {
        let labels: Vec<Label> = labels.by_ref().take(cases.len()).collect();
        if let Some((case, _)) = cases.into_iter().zip(labels).find(|(_, label)| is_failure(label)) {
            universe.replace_by_failure(pass, case);
            replaced.push(pass);
        }
    }
    (cases.len(), replaced)
}

/// The passes that alone make a condition necessary: without the condition, the rule holds for few passes.
pub(crate) fn doubtful(rules: &RuleSet, universe: &Universe<'_>) -> Vec<usize> {
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
