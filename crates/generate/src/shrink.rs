//! Shrinks a failing case to a small case that fails in the same way.
//!
//! Each step proposes simpler cases: one axis less, a simpler tuple on an axis, packed or smaller strides, a
//! plainer type, value or fill. A proposal is accepted if its judgement agrees with the original and it still
//! fails. Steps are greedy, with the largest simplification first. Their number is limited, since each needs
//! a backend.

mod plainer;
mod tuples;

use dmlcts_model::{Case, FeatureLevel};
use dmlcts_spec::{Judgement, Library, Scratch, Validity};

use self::{
    plainer::{layouts, plainer},
    tuples::simpler_tuples,
};
use crate::{
    edit::{drop_axis, fit_sizes, set_tuple, tuples_fit, usual_sizes},
    space::Space,
};

/// The smallest case that `fails`, starting from a failing case. At most `steps` cases are tried. A valid
/// case stays valid, an open case keeps its questions, and an invalid case violates the same clauses.
pub fn shrink(
    case: &Case,
    library: &Library,
    level: FeatureLevel,
    steps: usize,
    fails: &mut dyn FnMut(&Case) -> bool,
) -> Case {
    let mut best = case.clone();
    let mut left = steps;
    // Each round starts again from the largest step, since a small one may have made it possible.
    loop {
        let next = smaller(&best, library, level).find(|proposal| {
            if left == 0 {
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

/// Cases that are simpler than a case in one respect, the largest simplification first. Each violates the
/// same clauses and leaves the same questions open. Repeated steps end.
pub fn smaller<'lib>(
    case: &Case,
    library: &'lib Library,
    level: FeatureLevel,
) -> impl Iterator<Item = Case> + use<'lib> {
    let operator = library.operator(&case.desc.signature.operator);
    let case = case.clone();
    operator.into_iter().flat_map(move |operator| {
        let mut scratch = Scratch::default();
        let wanted = operator.judge(&case.desc, level, &mut scratch);
        let all = proposals(&case, Space::new(operator, level).as_ref(), wanted.validity());
        let case = case.clone();
        all.into_iter().filter(move |proposal| {
            *proposal != case && alike(operator.judge(&proposal.desc, level, &mut scratch), wanted)
        })
    })
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
    let usual = usual_sizes(&case.desc);
    for axis in 0..if tuples_fit(&case.desc) { rank } else { 0 } {
        propose(&mut |simpler| {
            drop_axis(&mut simpler.desc, axis);
            fit_sizes(&mut simpler.desc, usual);
        });
    }
    layouts(case, &mut propose);
    if let Some(space) = space.filter(|_| tuples_fit(&case.desc)) {
        for axis in 0..rank {
            for simpler_tuple in simpler_tuples(case, space, axis, validity) {
                propose(&mut |simpler| {
                    set_tuple(&mut simpler.desc, axis, &simpler_tuple);
                    fit_sizes(&mut simpler.desc, usual);
                });
            }
        }
    }
    plainer(case, &mut propose);
    all
}

/// Adds a proposal: a change to the case that is being shrunk.
type Propose<'a> = dyn FnMut(&mut dyn FnMut(&mut Case)) + 'a;

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

    /// The least value is found by halving, and coupled values become smaller together.
    #[test]
    fn a_threshold_is_met_exactly() {
        let least = |name: &'static str, least: i64| {
            move |case: &Case| any_axis(case, name, |value| value.abs() >= least)
        };
        let small = shrunk(
            "PADDING1 FLOAT32 in=9 out=2921 PaddingMode=EDGE StartPadding=1912 EndPadding=1000 fill=iota",
            &mut least("StartPadding", 1_000),
        );
        assert_eq!(
            small,
            "PADDING1 FLOAT32 in=1 out=1001 PaddingMode=EDGE StartPadding=1000 EndPadding=0 fill=iota"
        );
        let small = shrunk(
            "SLICE1 FLOAT32 in=4000 out=900 InputWindowOffsets=301 InputWindowSizes=3597 InputWindowStrides=-4 \
             fill=iota",
            &mut |case| {
                let is_long =
                    |tensor: &dmlcts_model::Tensor| tensor.sizes.as_ref().is_some_and(|it| it[0] >= 100);
                let strides = any_axis(case, "InputWindowStrides", |stride| stride < -2);
                case.desc.output.as_ref().is_some_and(is_long) && strides
            },
        );
        assert_eq!(
            small,
            "SLICE1 FLOAT32 in=298 out=100 InputWindowOffsets=0 InputWindowSizes=298 InputWindowStrides=-3 fill=iota"
        );
    }

    #[test]
    fn a_limit_of_bits_stays_round() {
        let mut asked = 0;
        let small = shrunk(
            "SLICE1 FLOAT32 in=4 out=1 InputWindowOffsets=0 InputWindowSizes=4 InputWindowStrides=1911913177 \
             fill=iota",
            &mut |case| {
                asked += 1;
                any_axis(case, "InputWindowStrides", |stride| stride > 0xff_ffff)
            },
        );
        assert!(small.contains("InputWindowStrides=16777216 "), "{small}");
        assert!(asked < 400, "{asked}");
    }

    #[test]
    fn strides_shrink_together() {
        let small = shrunk(
            "SLICE1 FLOAT32 in=2,3,4 out=2,3,4 InputTensor.Strides=3,90,400 InputWindowOffsets=0,0,0 \
             InputWindowSizes=2,3,4 InputWindowStrides=1,1,1 fill=iota",
            &mut |case| {
                let strides = case.desc.input.as_ref().and_then(|tensor| tensor.strides.clone());
                case.desc.rank() == 3 && strides.is_some_and(|it| it[0] < it[1] && it[1] < it[2])
            },
        );
        assert!(small.contains("InputTensor.Strides=1,2,3 "), "{small}");
        let small = shrunk(
            "SLICE FLOAT32 in=2,3 out=2,3 InputTensor.Strides=64,16 Offsets=0,0 Sizes=2,3 Strides=1,1 fill=iota",
            &mut |case| {
                let strides = case.desc.input.as_ref().and_then(|tensor| tensor.strides.clone());
                strides.is_some_and(|it| it.iter().all(|stride| *stride > 4))
            },
        );
        assert!(small.contains("InputTensor.Strides=5 "), "{small}");
    }

    #[test]
    fn bits_that_matter_stay_and_others_go() {
        let nan = |bytes: &[u8]| bytes.chunks(4).any(|it| it[3] & 0x7f == 0x7f && it[2] & 0x80 != 0);
        let small =
            shrunk("SLICE FLOAT32 in=6 out=4 Offsets=1 Sizes=4 Strides=1 fill=special:9", &mut |case| {
                let mut memory = vec![0; case.desc.input.as_ref().map_or(0, |it| it.total_size as usize)];
                crate::fill::write(&case.fill, dmlcts_model::DataType::FLOAT32, &mut memory);
                memory.len() >= 12 && nan(&memory)
            });
        let fill = small.split("fill=explicit:").nth(1).expect(&small);
        assert_eq!(fill.len(), 24, "{small}");
        let plain = ["0000803f", "00000040", "00004040"];
        let kept = (0..3).filter(|place| &fill[8 * place..8 * place + 8] != plain[*place]).count();
        assert_eq!(kept, 1, "{small}");
        let padding = "PADDING1 FLOAT32 in=1 out=2 PaddingMode=CONSTANT PaddingValue=0x12345678c0490fdb \
                       StartPadding=1 EndPadding=0 fill=iota";
        let value = |case: &Case| case.desc.scalar("PaddingValue").unwrap_or_default();
        let small = shrunk(padding, &mut |case| value(case)[..4] != [0; 4] && value(case)[3] & 0x80 != 0);
        assert!(small.contains("PaddingValue=-3.140625 "), "{small}");
        let small = shrunk(padding, &mut |case| value(case) != [0; 8]);
        assert!(small.contains("PaddingValue=1 "), "{small}");
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
