//! Compares the strategy with enumeration: every tuple of the box is judged, and every possible combination
//! must occur in some row.

use std::collections::BTreeSet;

use dmlcts_model::FeatureLevel;
use dmlcts_spec::Library;

use super::{
    array::{Covering, cover, for_each_choice},
    axes::Feature,
    *,
};
use crate::lower::INPUT;

/// Axes in the box: the setting, and the codes of the strategy's features.
type Seen = BTreeSet<(usize, Vec<u8>)>;

fn spaces() -> impl Iterator<Item = Space<'static>> {
    let operators = Library::embedded().operators().iter();
    operators.filter_map(|operator| Space::new(operator, FeatureLevel::NEWEST))
}

fn all_ranks(space: &Space<'_>) -> Vec<usize> {
    (space.ranks.0..=space.ranks.1).collect()
}

/// The codes of a tuple, from the judge alone.
fn codes(
    space: &Space<'_>,
    axes: &Axes,
    setting: usize,
    tuple: &[i64],
    (case, scratch): (&mut Case, &mut Scratch),
) -> (Validity, Vec<u8>) {
    let judgement = space.judge_tuple(&space.settings[setting], tuple, case, scratch);
    let code = |feature: &Feature| match *feature {
        Feature::Value(place) => (tuple[place].clamp(-2, 2) + 2) as u8,
        Feature::Exact(clause) => u8::from(judgement.boundary.contains(clause)),
    };
    (judgement.validity(), axes.features.iter().map(code).collect())
}

/// Every valid axis of the box, found by trying all values.
fn enumerate(space: &Space<'_>, axes: &Axes) -> Seen {
    let mut seen = Seen::new();
    let (mut case, mut scratch) = (space.blank(), Scratch::default());
    for setting in 0..space.settings.len() {
        let mut tuples = vec![Vec::new()];
        for (place, variable) in space.variables.iter().enumerate() {
            let (low, high) = if place < 2 { (1, 8) } else { (-3, 8) };
            let high = if place == INPUT { 4 } else { high };
            let longer = |tuple: &Vec<i64>| {
                let tuple = tuple.clone();
                let values = variable.range.low.max(low)..=variable.range.high.min(high);
                values.map(move |value| [tuple.as_slice(), &[value]].concat())
            };
            tuples = tuples.iter().flat_map(longer).collect();
        }
        for tuple in &tuples {
            let (validity, codes) = codes(space, axes, setting, tuple, (&mut case, &mut scratch));
            if validity == Validity::Valid {
                seen.insert((setting, codes));
            }
        }
    }
    seen
}

/// Whether the enumerated axes have values that occur together.
fn can_meet(parameters: &Parameters<'_, '_>, seen: &Seen, values: &[(usize, u8)]) -> bool {
    let find = |parameter: usize| values.iter().find(|value| value.0 == parameter).map(|value| value.1);
    let of_axis = |axis: usize| -> Vec<(usize, u8)> {
        let range = parameters.of_axis(axis);
        let values = values.iter().filter(|(parameter, _)| range.contains(parameter));
        values
            .map(|&(parameter, value)| {
                (parameter - range.start, parameters.code(parameter - range.start, value))
            })
            .collect()
    };
    let has = |setting: usize, wanted: &[(usize, u8)]| {
        seen.iter()
            .any(|(of, codes)| *of == setting && wanted.iter().all(|&(feature, code)| codes[feature] == code))
    };
    let permuted = Some(1);
    let is_flat = find(RANK).is_some_and(|rank| parameters.ranks[usize::from(rank)] == 1);
    let needs_two =
        !of_axis(1).is_empty() || find(INPUT_LAYOUT) == permuted || find(OUTPUT_LAYOUT) == permuted;
    let setting = find(SETTING).map(usize::from);
    let settings = (0..parameters.space.settings.len()).filter(|&it| setting.is_none_or(|set| set == it));
    !(is_flat && needs_two)
        && settings.into_iter().any(|setting| has(setting, &of_axis(0)) && has(setting, &of_axis(1)))
}

/// A function of the values of some parameters.
type Visit<'a> = dyn FnMut(&[(usize, u8)]) + 'a;

/// Calls `visit` with every combination of `count` values.
fn for_each_combination(domains: &[usize], count: usize, visit: &mut Visit<'_>) {
    for_each_choice(domains.len(), count, &mut |chosen| {
        let combinations: usize = chosen.iter().map(|&parameter| domains[parameter]).product();
        for mut rest in 0..combinations {
            let mut values = Vec::new();
            for &parameter in chosen {
                values.push((parameter, (rest % domains[parameter]) as u8));
                rest /= domains[parameter];
            }
            visit(&values);
        }
    });
}

#[test]
fn every_allowed_combination_has_a_row_and_no_other() {
    for space in spaces() {
        let axes = Axes::new(&space);
        assert!(!axes.is_cut && axes.features.len() > 2);
        let seen = enumerate(&space, &axes);
        let kinds = axes.valid.iter().enumerate();
        let kinds =
            kinds.flat_map(|(setting, kinds)| kinds.iter().map(move |kind| (setting, kind.codes.clone())));
        assert_eq!(kinds.collect::<Seen>(), seen, "the solver finds what enumeration finds");
        let types = space.types.clone();
        let parameters = Parameters::new(&space, &axes, types, all_ranks(&space), vec![Invalid::Nothing]);
        for strength in [2, 3] {
            let Covering { rows, impossible } = cover(&parameters, strength);
            let mut unmet = 0;
            for_each_combination(array::Model::domains(&parameters), strength, &mut |values| {
                let is_met =
                    rows.iter().any(|row| values.iter().all(|&(parameter, value)| row[parameter] == value));
                let name = space.operator.name();
                assert_eq!(is_met, can_meet(&parameters, &seen, values), "{name}: {values:?}");
                unmet += usize::from(!is_met);
            });
            assert!(unmet > 2);
            assert_eq!(impossible, unmet);
        }
    }
}

#[test]
fn a_case_is_what_its_row_says() {
    for space in spaces() {
        let axes = Axes::new(&space);
        let types = space.types.clone();
        let parameters = Parameters::new(&space, &axes, types, all_ranks(&space), vec![Invalid::Nothing]);
        for (number, row) in cover(&parameters, 2).rows.iter().enumerate() {
            let mut case = space.blank();
            assert!(assemble(&parameters, row, &mut Draws::of_case(3, number as u64), &mut case));
            let judgement = space.operator.judge(&case.desc, space.level, &mut Scratch::default());
            assert_eq!(judgement.validity(), Validity::Valid, "{case}");
            let input = case.desc.input.as_ref().expect("an input");
            let rank = parameters.ranks[usize::from(row[RANK])];
            assert_eq!((case.desc.rank(), input.data_type), (rank, parameters.types[usize::from(row[TYPE])]));
            assert_eq!(space.setting_of(&case.desc), Some(usize::from(row[SETTING])));
            let bound = usize::from(row[BINDING]) == 1;
            assert_eq!((case.binding.input > 0, case.binding.output > 0), (bound, bound));
            let fill = match case.fill {
                Fill::Iota => 0,
                Fill::Coordinates { .. } => 1,
                Fill::Random { .. } => 2,
                _ => 3,
            };
            assert_eq!(row[FILL], fill);
            for (parameter, tensor) in [(INPUT_LAYOUT, &case.desc.input), (OUTPUT_LAYOUT, &case.desc.output)]
            {
                let strides = tensor.as_ref().and_then(|tensor| tensor.strides.as_ref());
                assert_eq!(strides.is_some(), row[parameter] != 0);
                let repeats = strides.is_some_and(|strides| strides.contains(&0));
                assert_eq!(
                    repeats,
                    LAYOUTS[usize::from(row[parameter])] == CoveredLayout::Broadcast,
                    "{case}"
                );
            }
            for (number, axis) in [rank - 1, 0].into_iter().enumerate().take(rank) {
                let tuple = edit::tuple(&case.desc, axis);
                let setting = usize::from(row[SETTING]);
                let (_, codes) =
                    codes(&space, &axes, setting, &tuple, (&mut space.blank(), &mut Scratch::default()));
                let wanted = row[parameters.of_axis(number)].iter().enumerate();
                let wanted: Vec<u8> =
                    wanted.map(|(feature, &value)| parameters.code(feature, value)).collect();
                assert_eq!(codes, wanted, "axis {axis} of {case}");
            }
        }
    }
}

#[test]
fn one_thing_is_invalid_and_meets_every_value_of_everything_else() {
    for space in spaces() {
        let axes = Axes::new(&space);
        let all = invalid(&space, &axes);
        let broken = |wanted: fn(&Invalid) -> bool| all.iter().filter(|invalid| wanted(invalid)).count();
        assert_eq!(broken(|invalid| matches!(invalid, Invalid::Type(_) | Invalid::Rank(_))), 2);
        assert!(broken(|invalid| matches!(invalid, Invalid::Axis(_))) >= 2);
        let types = space.types.clone();
        let parameters = Parameters::new(&space, &axes, types, all_ranks(&space), all.clone());
        let rows = cover(&parameters, 2).rows;
        for (number, row) in rows.iter().enumerate() {
            let mut case = space.blank();
            assert!(assemble(&parameters, row, &mut Draws::of_case(3, number as u64), &mut case));
            let violated = space.operator.judge(&case.desc, space.level, &mut Scratch::default()).violated;
            match all[usize::from(row[INVALID])] {
                Invalid::Axis(clause) => {
                    let broken: Vec<usize> = violated.iter().collect();
                    assert_eq!(broken, [axes.broken[clause].0], "{case}");
                }
                _ => assert!(!violated.is_empty(), "{case}"),
            }
        }
        for (number, invalid) in all.iter().enumerate() {
            for (parameter, values) in
                [(TYPE, parameters.types.len()), (FILL, FillForm::ALL.len()), (BINDING, 2)]
            {
                let met: BTreeSet<u8> = rows
                    .iter()
                    .filter(|row| usize::from(row[INVALID]) == number)
                    .map(|row| row[parameter])
                    .filter(|&value| value != ANY)
                    .collect();
                let stands_in = parameter == TYPE && matches!(invalid, Invalid::Type(_));
                assert_eq!(met.len(), if stands_in { 0 } else { values }, "{invalid:?}");
            }
        }
    }
}
