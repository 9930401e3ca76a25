//! Simpler tuples of an axis: smaller values, alone and together with those that they are coupled to.

use dmlcts_model::Case;
use dmlcts_spec::Validity;

use crate::{
    edit::tuple,
    lower::{INPUT, OUTPUT},
    solve::{Interval, Problem},
    space::Space,
};

/// The largest number of tuples that are enumerated for one axis.
const MOST_TUPLES: usize = 4_000;
/// The largest number of these that are tried, the simplest first.
const TRIED_TUPLES: usize = 24;
/// Values up to this are enumerated in all combinations.
const NEAR: i64 = 4;

/// The cost of a tuple: the magnitudes of its values, plus a little for negative signs.
fn cost(tuple: &[i64]) -> u128 {
    tuple.iter().map(|&value| 2 * u128::from(value.unsigned_abs()) + u128::from(value < 0)).sum()
}

/// Tuples with less cost than the one on an axis, the cheapest first. For a valid case, many satisfy the
/// rules on an axis. For an invalid case, they differ in few values.
pub(super) fn simpler_tuples(
    case: &Case,
    space: &Space<'_>,
    axis: usize,
    validity: Validity,
) -> Vec<Vec<i64>> {
    let old = tuple(&case.desc, axis);
    let mut found = spread(enumerated(case, space, &old, validity), &old, space);
    let mut steps = single(&old);
    if old.iter().any(|value| value.abs() > NEAR) {
        steps.extend(coupled(&old));
    }
    found.extend(steps.into_iter().filter(|tuple| is_simpler(tuple, &old, space)));
    found.sort_by_cached_key(|tuple| (cost(tuple), tuple.clone()));
    found.dedup();
    found
}

/// Whether a tuple costs less, and a desc can hold it: other cases cannot be written as a line.
fn is_simpler(tuple: &[i64], old: &[i64], space: &Space<'_>) -> bool {
    let can_hold = space.domains();
    cost(tuple) < cost(old) && tuple.iter().zip(&can_hold).all(|(&value, domain)| domain.contains(value))
}

/// Smaller values with the same sign: the powers of two below, and then the value less powers of two, the
/// largest step first. So the least value that still fails is found in few steps, and round values come
/// first.
pub(super) fn smaller(value: i64) -> impl Iterator<Item = i64> {
    let (sign, magnitude) = (value.signum(), value.unsigned_abs());
    let powers = (0..63).map(|bit| 1_u64 << bit);
    let below = powers.clone().take_while(move |power| *power < magnitude);
    let steps = powers.rev().filter(move |power| *power < magnitude);
    let least = below.chain(steps.map(move |power| magnitude - power));
    least.filter_map(move |less| i64::try_from(less).ok().map(|less| sign * less))
}

/// Tuples with one smaller value.
fn single(old: &[i64]) -> Vec<Vec<i64>> {
    let mut found = Vec::new();
    for (place, &value) in old.iter().enumerate() {
        for less in [0, 1, -1].into_iter().chain(smaller(value)) {
            let mut changed = old.to_vec();
            changed[place] = less;
            found.push(changed);
        }
    }
    found
}

/// Tuples in which several values change together. Either all become smaller by the same amount, or an output
/// size becomes smaller by some elements and another value by as many strides, or all values are halved.
fn coupled(old: &[i64]) -> Vec<Vec<i64>> {
    let mut found = vec![old.iter().map(|value| value / 2).collect()];
    let nearer = |value: i64, by: i64| value - value.signum() * by;
    let amounts = |most: i64| std::iter::successors(Some(most), |by| Some(by / 2)).take_while(|by| *by > 0);
    for one in 0..old.len() {
        for other in one + 1..old.len() {
            for by in amounts(old[one].abs().min(old[other].abs())) {
                let mut changed = old.to_vec();
                (changed[one], changed[other]) = (nearer(old[one], by), nearer(old[other], by));
                found.push(changed);
            }
        }
        for stride in (0..old.len()).filter(|stride| ![one, OUTPUT].contains(stride) && one != OUTPUT) {
            let step = old[stride].abs();
            let most = old[OUTPUT].abs().min(old[one].abs().checked_div(step).unwrap_or(0));
            for by in amounts(most).filter(|_| step > 1) {
                let mut changed = old.to_vec();
                changed[OUTPUT] = nearer(old[OUTPUT], by);
                changed[one] = nearer(old[one], by * step);
                found.push(changed);
            }
        }
    }
    found
}

/// Tuples that satisfy the rules on an axis; none for an invalid case.
fn enumerated(case: &Case, space: &Space<'_>, old: &[i64], validity: Validity) -> Vec<Vec<i64>> {
    let mut found: Vec<Vec<i64>> = Vec::new();
    let setting = space.setting_of(&case.desc).filter(|_| validity != Validity::Invalid);
    let Some(setting) = setting else { return found };
    let mut domains = space.domains();
    for (domain, &value) in domains.iter_mut().zip(old) {
        let magnitude = value.abs().max(1);
        *domain = Interval::new(domain.low.max(-magnitude), domain.high.min(magnitude));
    }
    for place in [INPUT, OUTPUT] {
        domains[place].low = 1;
    }
    // Enumerates a box of small values first, because the enumeration of a large one stops early.
    let near =
        domains.iter().map(|domain| Interval::new(domain.low.max(-NEAR), domain.high.min(NEAR))).collect();
    for domains in [near, domains] {
        if let Some(problem) = Problem::new(domains, space.settings[setting].conditions(true)) {
            let mut looked_at = 0;
            // If the domain is too wide, the tuples of the first box remain.
            let _ = problem.enumerate(&mut |values| {
                found.push(values.to_vec());
                looked_at += 1;
                looked_at < MOST_TUPLES
            });
        }
    }
    found
}

/// The simplest tuples, and some from the rest, because the simplest often no longer fail.
fn spread(mut found: Vec<Vec<i64>>, old: &[i64], space: &Space<'_>) -> Vec<Vec<i64>> {
    found.retain(|tuple| is_simpler(tuple, old, space));
    found.sort_by_cached_key(|tuple| (cost(tuple), tuple.clone()));
    found.dedup();
    let step = found.len().div_ceil(TRIED_TUPLES).max(1);
    let simplest = TRIED_TUPLES.min(found.len());
    let chosen = |place: &usize| *place < simplest || place.is_multiple_of(step);
    found.into_iter().enumerate().filter(|(place, _)| chosen(place)).map(|(_, tuple)| tuple).collect()
}
