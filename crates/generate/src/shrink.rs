//! Shrinks a failing case to a small case that fails in the same way.
//!
//! Each step proposes simpler cases: one axis less, a simpler tuple on an axis, packed strides, a plainer
//! type or fill. A proposal is accepted if its judgement agrees with the original and it still fails. Steps
//! are greedy, with the largest simplification first. Their number is limited, since each needs a backend.

use dmlcts_model::{BindingOffsets, Case, DataType, FeatureLevel, Fill, MemberKind, Side, Value};
use dmlcts_spec::{Judgement, Library, Scratch, Validity};

use crate::{
    lower::{INPUT, OUTPUT},
    solve::{Interval, Problem},
    space::Space,
    strategy::neighbour::{drop_axis, retype, set_tuple, tuple, tuples_fit},
};

/// The largest number of tuples that are enumerated for one axis.
const MOST_TUPLES: usize = 4_000;
/// The largest number of these that are tried, the simplest first.
const TRIED_TUPLES: usize = 24;

/// The smallest case that `fails`, starting from a failing case. At most `steps` cases are tried. A valid
/// case stays valid, an open case keeps its questions, and an invalid case violates the same clauses.
pub fn shrink(
    case: &Case,
    library: &Library,
    level: FeatureLevel,
    steps: usize,
    fails: &mut dyn FnMut(&Case) -> bool,
) -> Case {
    let Some(operator) = library.operator(&case.desc.signature.operator) else { return case.clone() };
    let mut scratch = Scratch::default();
    let wanted = operator.judge(&case.desc, level, &mut scratch);
    let space = Space::new(operator, level);
    let mut best = case.clone();
    let mut left = steps;
    // Each round starts again from the largest step, since a small one may have made it possible.
    loop {
        let proposals = proposals(&best, space.as_ref(), wanted.validity());
        let next = proposals.into_iter().find(|proposal| {
            if left == 0 || *proposal == best {
                return false;
            }
            if !alike(operator.judge(&proposal.desc, level, &mut scratch), wanted) {
                return false;
            }
            left -= 1;
            fails(proposal)
        });
        match next {
            Some(simpler) => best = simpler,
            None => return best,
        }
    }
}

/// Whether two judgements have the same violations and questions.
fn alike(one: Judgement, other: Judgement) -> bool {
    one.violated == other.violated && one.questions == other.questions
}

/// Simpler cases, the largest simplification first. Each is simpler in one respect and otherwise no more
/// complex, so that repeated steps end.
fn proposals(case: &Case, space: Option<&Space<'_>>, validity: Validity) -> Vec<Case> {
    let mut all = Vec::new();
    let mut propose = |change: &mut dyn FnMut(&mut Case)| {
        let mut simpler = case.clone();
        change(&mut simpler);
        all.push(simpler);
    };
    let rank = case.desc.rank();
    let usual = Side::BOTH.map(|side| {
        case.desc.tensor(side).is_some_and(|tensor| tensor.total_size == tensor.usual_total_size())
    });
    let refit = |case: &mut Case| {
        for (side, usual) in Side::BOTH.into_iter().zip(usual) {
            if let Some(tensor) = case.desc.tensor_mut(side)
                && usual
            {
                tensor.total_size = tensor.usual_total_size();
            }
        }
    };
    for axis in 0..if tuples_fit(&case.desc) { rank } else { 0 } {
        propose(&mut |simpler| {
            drop_axis(&mut simpler.desc, axis);
            refit(simpler);
        });
    }
    layouts(case, &mut propose);
    if let Some(space) = space.filter(|_| tuples_fit(&case.desc)) {
        for axis in 0..rank {
            for simpler_tuple in simpler_tuples(case, space, axis, validity) {
                propose(&mut |simpler| {
                    set_tuple(&mut simpler.desc, space, axis, &simpler_tuple);
                    refit(simpler);
                });
            }
        }
    }
    plainer(case, &mut propose);
    all
}

/// Adds a proposal: a change to the case that is being shrunk.
type Propose<'a> = dyn FnMut(&mut dyn FnMut(&mut Case)) + 'a;

/// Proposes packed strides, usual total sizes, no alignment and no offsets.
fn layouts(case: &Case, propose: &mut Propose<'_>) {
    for side in Side::BOTH {
        let Some(tensor) = case.desc.tensor(side) else { continue };
        if tensor.strides.is_some() {
            propose(&mut |simpler| {
                if let Some(tensor) = simpler.desc.tensor_mut(side) {
                    tensor.strides = None;
                    tensor.total_size = tensor.usual_total_size();
                }
            });
        }
        if tensor.total_size != tensor.usual_total_size() {
            propose(&mut |simpler| {
                if let Some(tensor) = simpler.desc.tensor_mut(side) {
                    tensor.total_size = tensor.usual_total_size();
                }
            });
        }
        if tensor.alignment != 0 || tensor.flags != 0 {
            propose(&mut |simpler| {
                if let Some(tensor) = simpler.desc.tensor_mut(side) {
                    tensor.alignment = 0;
                    tensor.flags = 0;
                }
            });
        }
    }
    if case.binding != BindingOffsets::default() {
        propose(&mut |simpler| simpler.binding = BindingOffsets::default());
    }
}

/// Proposes FLOAT32, a scalar of zero, and the fill `iota`.
fn plainer(case: &Case, propose: &mut Propose<'_>) {
    let scalars = |case: &mut Case| {
        for (member, value) in case.desc.signature.members.iter().zip(&mut case.desc.members) {
            if matches!(member.kind, MemberKind::Scalar) {
                *value = Value::Scalar([0; 8]);
            }
        }
    };
    propose(&mut |simpler| scalars(simpler));
    if case.fill != Fill::Iota {
        propose(&mut |simpler| simpler.fill = Fill::Iota);
    }
    let plain = |tensor: &dmlcts_model::Tensor| tensor.data_type == DataType::FLOAT32;
    if !Side::BOTH.iter().all(|&side| case.desc.tensor(side).is_some_and(plain)) {
        propose(&mut |simpler| {
            scalars(simpler);
            simpler.fill = Fill::Iota;
            retype(&mut simpler.desc, DataType::FLOAT32);
            for side in Side::BOTH {
                if let Some(tensor) = simpler.desc.tensor_mut(side) {
                    tensor.total_size = tensor.usual_total_size();
                }
            }
        });
    }
}

/// The cost of a tuple: the magnitudes of its values, plus a little for negative signs.
fn cost(tuple: &[i64]) -> u128 {
    tuple.iter().map(|&value| 2 * u128::from(value.unsigned_abs()) + u128::from(value < 0)).sum()
}

/// Tuples with less cost than the one on an axis, the cheapest first. For a valid case they satisfy the rules
/// on an axis. For an invalid case they differ in only one value.
fn simpler_tuples(case: &Case, space: &Space<'_>, axis: usize, validity: Validity) -> Vec<Vec<i64>> {
    let Some(old) = tuple(&case.desc, space, axis) else { return Vec::new() };
    let mut found: Vec<Vec<i64>> = Vec::new();
    for (place, &value) in old.iter().enumerate() {
        for less in [0, 1, -1, value / 2, value - value.signum()] {
            let mut changed = old.clone();
            changed[place] = less;
            found.push(changed);
        }
    }
    let setting = space.setting_of(&case.desc).filter(|_| validity != Validity::Invalid);
    if let Some(setting) = setting {
        let mut domains = space.domains();
        for (domain, &value) in domains.iter_mut().zip(&old) {
            let magnitude = value.abs().max(1);
            *domain = Interval::new(domain.low.max(-magnitude), domain.high.min(magnitude));
        }
        for place in [INPUT, OUTPUT] {
            domains[place].low = 1;
        }
        // Enumerates a box of small values first, because the enumeration of a large one stops early.
        let near =
            domains.iter().map(|domain| Interval::new(domain.low.max(-4), domain.high.min(4))).collect();
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
    }
    let most = cost(&old);
    // Drops values that a desc cannot hold, since such cases cannot be written as a line.
    let can_hold = space.domains();
    let holds = |tuple: &[i64]| tuple.iter().zip(&can_hold).all(|(&value, domain)| domain.contains(value));
    found.retain(|tuple| cost(tuple) < most && holds(tuple));
    found.sort_by_cached_key(|tuple| (cost(tuple), tuple.clone()));
    found.dedup();
    spread(found)
}

/// The simplest tuples, and some from the rest, because the simplest often no longer fail.
fn spread(found: Vec<Vec<i64>>) -> Vec<Vec<i64>> {
    let step = found.len().div_ceil(TRIED_TUPLES).max(1);
    let simplest = TRIED_TUPLES.min(found.len());
    let chosen = |place: &usize| *place < simplest || place.is_multiple_of(step);
    found.into_iter().enumerate().filter(|(place, _)| chosen(place)).map(|(_, tuple)| tuple).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dmlcts_model::line;

    fn shrunk(text: &str, fails: &mut dyn FnMut(&Case) -> bool) -> String {
        let library = Library::embedded();
        let case = line::parse(text, library.signatures()).unwrap();
        assert!(fails(&case), "{text}");
        let small = shrink(&case, library, FeatureLevel::NEWEST, 2_000, fails);
        assert!(fails(&small), "{small}");
        small.to_string()
    }

    fn any_axis(case: &Case, name: &str, holds: impl Fn(i64) -> bool) -> bool {
        case.desc.list(name).is_some_and(|list| list.iter().any(|&value| holds(value)))
    }

    #[test]
    fn irrelevant_values_are_shrunk() {
        let small = shrunk(
            "SLICE1 INT16 in=2,7,3 out=1,3,2 InputTensor.Strides=40,4,1 InputWindowOffsets=1,0,1 \
             InputWindowSizes=1,7,2 InputWindowStrides=1,-3,1 OutputBinding.Offset=64 fill=special:77",
            &mut |case| any_axis(case, "InputWindowStrides", |stride| stride < -1),
        );
        assert_eq!(
            small,
            "SLICE1 FLOAT32 in=1 out=1 InputWindowOffsets=0 InputWindowSizes=1 InputWindowStrides=-2 fill=iota"
        );
    }

    #[test]
    fn sums_are_kept() {
        let small = shrunk(
            "PADDING1 FLOAT64 in=3,5,1 out=9,16,1 PaddingMode=REFLECTION PaddingValue=7 StartPadding=2,9,0 \
             EndPadding=4,2,0 fill=random:3",
            &mut |case| {
                let sizes = case.desc.input.as_ref().and_then(|tensor| tensor.sizes.clone()).unwrap();
                let folds = case.desc.list("StartPadding").unwrap().iter().zip(&sizes);
                folds.into_iter().any(|(start, size)| *start > *size && *size > 1)
            },
        );
        assert_eq!(
            small,
            "PADDING1 FLOAT32 in=2 out=5 PaddingMode=REFLECTION StartPadding=3 EndPadding=0 fill=iota"
        );
    }

    #[test]
    fn an_invalid_case_goes_on_breaking_the_same_clauses() {
        let small = shrunk(
            "SLICE1 FLOAT16 in=4,9 out=2,1 InputWindowOffsets=0,8 InputWindowSizes=4,2 InputWindowStrides=2,-1 \
             fill=iota",
            &mut |case| case.desc.rank() > 0,
        );
        assert_eq!(
            small,
            "SLICE1 FLOAT32 in=1 out=1 InputWindowOffsets=0 InputWindowSizes=2 InputWindowStrides=1 fill=iota"
        );
    }

    /// `Strides` of SLICE is a `UINT`, so a refused stride cannot shrink to -1.
    #[test]
    fn a_smaller_case_is_one_that_a_desc_can_hold() {
        let small = shrunk("SLICE FLOAT32 in=40 out=3 Offsets=2 Sizes=3 Strides=17 fill=iota", &mut |case| {
            any_axis(case, "Strides", |stride| !(1..5).contains(&stride))
        });
        assert!(line::parse(&small, Library::embedded().signatures()).is_ok(), "{small}");
    }

    #[test]
    fn steps_are_bounded() {
        let library = Library::embedded();
        let text = "SLICE1 FLOAT32 in=64,64 out=64,64 InputWindowOffsets=0,0 InputWindowSizes=64,64 \
                    InputWindowStrides=1,1 fill=iota";
        let case = line::parse(text, library.signatures()).unwrap();
        let mut asked = 0;
        shrink(&case, library, FeatureLevel::NEWEST, 10, &mut |_| {
            asked += 1;
            false
        });
        assert_eq!(asked, 10);
    }

    #[test]
    fn lists_that_disagree_are_left_alone() {
        let text =
            "SLICE FLOAT32 in=2,2 out=2,2 DimensionCount=3 Offsets=0 Sizes=null Strides=1,1,1 fill=iota";
        shrunk(text, &mut |case| case.desc.integer("DimensionCount") == Some(3));
    }
}
