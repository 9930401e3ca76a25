//! Every case of the smaller suites is judged: it must be as its strategy claims.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use dmlcts_generate::{Expansion, Length, Strategy, Suite};
use dmlcts_model::{Case, FeatureLevel, MemberKind, Tensor, Value, line};
use dmlcts_spec::{Coverage, IdSet, Judgement, Library, Scratch, Validity};

fn expand(name: &str, seed: u64) -> Expansion<'static> {
    let suite = Suite::load(name).unwrap_or_else(|error| panic!("{error}"));
    suite.expand(Library::embedded(), seed).unwrap_or_else(|error| panic!("{error}"))
}

fn judge(case: &Case) -> Judgement {
    let operator = Library::embedded().operator(&case.desc.signature.operator).unwrap();
    operator.judge(&case.desc, FeatureLevel::NEWEST, &mut Scratch::default())
}

/// The cases of the parts of one strategy.
fn cases(expansion: &Expansion<'_>, strategy: Strategy) -> Vec<Case> {
    let mut case = expansion.blank().unwrap();
    let mut all = Vec::new();
    for part in expansion.parts().iter().filter(|part| part.strategy() == strategy) {
        let Length::Finite(length) = part.length() else { panic!("{} never ends", part.id()) };
        for index in 0..length {
            assert!(part.case(index, &mut case));
            all.push(case.clone());
        }
        assert!(!part.case(length, &mut case), "nothing past the end");
    }
    assert!(!all.is_empty(), "{strategy} has no cases");
    all
}

#[test]
fn repaired_descs_are_valid() {
    let expansion = expand("smoke", 0);
    for strategy in [
        Strategy::Documented,
        Strategy::Exhaustive,
        Strategy::Large,
        Strategy::Twins,
        Strategy::Random,
        Strategy::Layout,
    ] {
        let mut open = 0;
        let mut questions: BTreeMap<&str, usize> = BTreeMap::new();
        let cases = cases(&expansion, strategy);
        for case in &cases {
            let judgement = judge(case);
            let violated: Vec<_> = ids(case, judgement.violated);
            assert!(violated.is_empty(), "{strategy}: {case} breaks {violated:?}");
            let operator = Library::embedded().operator(&case.desc.signature.operator).unwrap();
            for question in judgement.questions.iter() {
                *questions.entry(operator.questions()[question].id.as_str()).or_default() += 1;
            }
            open += usize::from(judgement.validity() == Validity::Open);
        }
        assert!(
            open * 4 < cases.len(),
            "{strategy}: {open} of {} cases are open: {questions:?}",
            cases.len()
        );
    }
}

fn ids(case: &Case, set: IdSet) -> Vec<&'static str> {
    let operator = Library::embedded().operator(&case.desc.signature.operator).unwrap();
    set.iter().map(|place| operator.clauses()[place].id.as_str()).collect()
}

/// The clauses that no desc breaks alone. Three depend on the feature level, and at the newest no desc breaks
/// them. An input without elements, or an output with too many, breaks another clause, too.
const NEVER_BROKEN_ALONE: [&str; 6] = [
    "slice.input.size-positive",
    "slice.introduced",
    "slice1.input.size-positive",
    "slice1.output.element-count",
    "slice1.introduced",
    "padding1.introduced",
];

#[test]
fn each_other_clause_is_broken_alone_and_each_such_desc_has_a_valid_twin() {
    let expansion = expand("smoke", 0);
    let negative = cases(&expansion, Strategy::Negative);
    let mut broken: BTreeMap<&str, usize> = BTreeMap::new();
    for (place, case) in negative.iter().enumerate() {
        let violated = ids(case, judge(case).violated);
        if violated.is_empty() {
            assert_eq!(judge(case).validity(), Validity::Valid, "{case}");
            continue;
        }
        // The twin comes next, unless it has come already.
        let mut seen = negative.iter().take(place + 2).rev();
        let twin = seen.find(|other| is_twin(case, other) && judge(other).validity() == Validity::Valid);
        assert!(twin.is_some(), "{case} has no valid twin up to the next case");
        for id in &violated {
            let least = broken.entry(id).or_insert(usize::MAX);
            *least = violated.len().min(*least);
        }
    }
    let clauses = Library::embedded().operators().iter().flat_map(dmlcts_spec::Operator::clauses);
    let ids = clauses.map(|clause| clause.id.as_str());
    let not_alone: Vec<&str> = ids.filter(|id| broken.get(id) != Some(&1)).collect();
    assert_eq!(not_alone, NEVER_BROKEN_ALONE);
}

/// The ways in which two descs can differ.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Difference {
    /// The values of lists on this axis.
    Axis(usize),
    /// The lengths of lists, and the members that count them.
    Length,
    /// Data types.
    Type,
    /// Another member, identified by its index.
    Field(usize),
}

/// Whether two cases differ in one way, or in lists on two axes or, for a product beyond 64 bits, on three.
fn is_twin(one: &Case, other: &Case) -> bool {
    let (one, other) = (&one.desc, &other.desc);
    if one.signature != other.signature {
        return false;
    }
    let mut found = BTreeSet::new();
    let mut lists = |one: Option<&[i64]>, other: Option<&[i64]>| match (one, other) {
        (Some(one), Some(other)) if one.len() == other.len() => {
            let axes = (0..one.len()).filter(|&axis| one[axis] != other[axis]);
            found.extend(axes.map(Difference::Axis));
        }
        (one, other) if one != other => found.extend([Difference::Length]),
        _ => {}
    };
    let tensors = [(&one.input, &other.input), (&one.output, &other.output)];
    for (one, other) in tensors.iter().filter_map(|pair| pair.0.as_ref().zip(pair.1.as_ref())) {
        lists(one.sizes.as_deref(), other.sizes.as_deref());
        lists(one.strides.as_deref(), other.strides.as_deref());
    }
    for members in one.members.iter().zip(&other.members) {
        if let (Value::List(one), Value::List(other)) = members {
            lists(one.as_deref(), other.as_deref());
        }
    }
    for (side, pair) in tensors.into_iter().enumerate() {
        let (Some(one), Some(other)) = pair else {
            found.extend((pair.0 != pair.1).then_some(Difference::Field(side)));
            continue;
        };
        let layout = |tensor: &Tensor| (tensor.sizes.clone(), tensor.strides.clone(), tensor.data_type);
        found.extend((one.data_type != other.data_type).then_some(Difference::Type));
        found.extend((one.dimension_count != other.dimension_count).then_some(Difference::Length));
        found.extend((one.flags != other.flags).then_some(Difference::Field(2 + side)));
        found.extend((one.alignment != other.alignment).then_some(Difference::Field(4 + side)));
        // Other sizes, strides or another type need another total size.
        let alone = one.total_size != other.total_size && layout(one) == layout(other);
        found.extend(alone.then_some(Difference::Field(6 + side)));
    }
    for (place, (value, other)) in one.members.iter().zip(&other.members).enumerate() {
        if value == other || matches!(value, Value::List(_)) {
            continue;
        }
        found.insert(match one.signature.members[place].kind {
            MemberKind::Count => Difference::Length,
            MemberKind::DataType => Difference::Type,
            _ => Difference::Field(8 + place),
        });
    }
    let is_axis = |difference: &Difference| matches!(difference, Difference::Axis(_));
    found.len() <= 1 || ([2, 3].contains(&found.len()) && found.iter().all(is_axis))
}

/// A backend that remembers operators by all but one value of a desc gives the second of two twins the result
/// of the first.
#[test]
fn each_list_and_each_scalar_has_twins_that_differ_in_it_alone() {
    let all = cases(&expand("smoke", 0), Strategy::Twins);
    let (mut lists, mut scalars) = (BTreeSet::new(), BTreeMap::<_, BTreeSet<_>>::new());
    for pair in all.iter().flat_map(|one| all.iter().map(move |other| (&one.desc, &other.desc))) {
        let (one, other) = pair;
        let same_tensors = one.input == other.input && one.output == other.output;
        if one.signature != other.signature || !same_tensors {
            continue;
        }
        let places: Vec<usize> =
            (0..one.members.len()).filter(|&place| one.members[place] != other.members[place]).collect();
        let [place] = places[..] else { continue };
        let name = format!("{} {}", one.signature.operator, one.signature.members[place].name);
        match &one.members[place] {
            Value::List(_) => drop(lists.insert(name)),
            Value::Scalar(bytes) => {
                let data_type = one.input.as_ref().map(|tensor| tensor.data_type);
                scalars.entry((name, data_type)).or_default().insert(*bytes);
            }
            Value::Integer(_) => {}
        }
    }
    // A change of another list alone makes the desc invalid.
    let known = ["SLICE Offsets", "SLICE Strides", "SLICE1 InputWindowOffsets", "SLICE1 InputWindowSizes"];
    let expected = known.into_iter().chain(["SLICE1 InputWindowStrides"]).map(str::to_owned);
    assert_eq!(lists, expected.collect());
    // The part has five types. Each has 16 special values, and some of them are equal in eight bits.
    assert_eq!(scalars.len(), 5, "{scalars:?}");
    assert!(scalars.values().all(|values| values.len() >= 12), "{scalars:?}");
}

/// The greatest value that a number of 16 bits holds is 65535.
#[test]
fn each_tensor_has_a_stride_that_16_bits_do_not_hold_between_elements_that_are_used() {
    let mut found = BTreeSet::new();
    for case in cases(&expand("smoke", 0), Strategy::Large) {
        for (side, tensor) in [&case.desc.input, &case.desc.output].into_iter().flatten().enumerate() {
            let sizes = tensor.sizes.as_deref().unwrap_or_default();
            let steps = sizes.iter().zip(tensor.strides.as_deref().unwrap_or_default());
            // Only few elements, so that the stride is not that of a packed tensor.
            let few = sizes.iter().product::<i64>() < 64;
            if few && steps.clone().any(|(&size, &stride)| size > 1 && stride > 65_535) {
                found.insert((case.desc.signature.operator.clone(), side));
            }
        }
    }
    assert_eq!(found.len(), 6, "{found:?}");
}

#[test]
fn no_searched_strategy_makes_a_case_twice() {
    for name in ["smoke", "ci"] {
        let expansion = expand(name, 0);
        for strategy in [Strategy::Documented, Strategy::Negative, Strategy::Boundary, Strategy::Twins] {
            let cases = cases(&expansion, strategy);
            let lines: BTreeSet<String> = cases.iter().map(ToString::to_string).collect();
            assert_eq!(lines.len(), cases.len(), "{name}: {strategy} repeats a case");
        }
    }
}

#[test]
fn every_binding_of_a_generated_case_is_allowed() {
    for name in ["smoke", "ci"] {
        let expansion = expand(name, 0);
        let Length::Finite(length) = expansion.length() else { panic!("{name} ends") };
        let (mut case, mut moved) = (expansion.blank().unwrap(), 0);
        for index in 0..length {
            expansion.case(index, &mut case).unwrap();
            moved += u32::from(case.binding != dmlcts_model::BindingOffsets::default());
            let broken = Library::embedded().broken_bindings(&case);
            assert!(broken.is_empty(), "{case}: {}", broken[0].text);
        }
        assert!(moved > 100, "{name}: {moved}");
    }
}

#[test]
fn boundaries_have_both_sides() {
    let expansion = expand("smoke", 0);
    let mut exact = BTreeSet::new();
    let mut sides = BTreeMap::new();
    for case in cases(&expansion, Strategy::Boundary) {
        let judgement = judge(&case);
        exact.extend(ids(&case, judgement.boundary));
        *sides.entry(format!("{:?}", judgement.validity())).or_insert(0) += 1;
    }
    assert!(exact.len() > 20, "{exact:?}");
    assert!(sides["Valid"] > 100 && sides["Invalid"] > 40, "{sides:?}");
}

#[test]
fn every_line_reads_back_as_its_case() {
    let expansion = expand("smoke", 0);
    let Length::Finite(length) = expansion.length() else { panic!("smoke ends") };
    let signatures = Library::embedded().signatures();
    let mut case = expansion.blank().unwrap();
    for index in 0..length {
        expansion.case(index, &mut case).unwrap();
        let text = case.to_string();
        assert_eq!(line::parse(&text, signatures).unwrap(), case, "{text}");
    }
}

#[test]
fn an_index_is_enough_and_seeds_differ() {
    let (one, other) = (expand("smoke", 5), expand("smoke", 5));
    let Length::Finite(length) = one.length() else { panic!("smoke ends") };
    let (mut case, mut again) = (one.blank().unwrap(), other.blank().unwrap());
    // The second expansion is read backwards: neither order nor earlier reads matter.
    let texts: Vec<String> = (0..length)
        .map(|index| {
            one.case(index, &mut case).unwrap();
            case.to_string()
        })
        .collect();
    for index in (0..length).rev() {
        other.case(index, &mut again).unwrap();
        assert_eq!(again.to_string(), texts[index as usize]);
    }
    let seeded = expand("smoke", 6);
    let mut others = 0;
    for (text, index) in texts.iter().zip(0..) {
        others += u32::from(seeded.case(index, &mut case).is_some() && case.to_string() != *text);
    }
    assert!(others > 1_000, "{others}");
    assert_eq!(one.case(length, &mut case), None);
}

#[test]
fn smoke_meets_every_obligation_that_can_be_met() {
    let library = Library::embedded();
    let expansion = expand("smoke", 0);
    let level = FeatureLevel::NEWEST;
    let mut coverage = Coverage::new(library);
    let mut scratch = Scratch::default();
    let Length::Finite(length) = expansion.length() else { panic!("smoke ends") };
    let mut case = expansion.blank().unwrap();
    for index in 0..length {
        expansion.case(index, &mut case).unwrap();
        let operator = library.operator(&case.desc.signature.operator).unwrap();
        let judgement = operator.judge(&case.desc, level, &mut scratch);
        coverage.mark(operator, &case.desc, level, judgement, &mut scratch);
    }
    let unmet = library.operators().iter().flat_map(|operator| {
        let missing = operator.obligations(level).into_iter().filter(|&it| !coverage.met(operator, it));
        missing.map(|obligation| obligation.describe(operator)).collect::<Vec<_>>()
    });
    insta::assert_snapshot!(unmet.collect::<Vec<_>>().join("\n"));
}

/// A value on the axes of a list, or of the sizes of a tensor.
fn values(case: &Case, name: &str) -> Vec<i128> {
    let sizes = |tensor: &Option<Tensor>| tensor.as_ref().and_then(|tensor| tensor.sizes.clone());
    let list = match name {
        "in" => sizes(&case.desc.input).map(|sizes| sizes.to_vec()),
        "out" => sizes(&case.desc.output).map(|sizes| sizes.to_vec()),
        member => case.desc.list(member).map(<[i64]>::to_vec),
    };
    list.unwrap_or_default().into_iter().map(i128::from).collect()
}

#[test]
fn sums_that_wrap_around_to_what_is_valid_are_among_the_boundaries() {
    let wrap = 1_i128 << 32;
    let (mut padded, mut windowed, mut strided) = (0, 0, 0);
    for case in cases(&expand("smoke", 0), Strategy::Boundary) {
        let [n, out] = ["in", "out"].map(|name| values(&case, name));
        for axis in 0..n.len() {
            let at = |name: &str| values(&case, name).get(axis).copied();
            if let (Some(start), Some(end)) = (at("StartPadding"), at("EndPadding")) {
                padded += usize::from(n[axis] + start + end == out[axis] + wrap);
            }
            if let (Some(offset), Some(window)) = (at("InputWindowOffsets"), at("InputWindowSizes")) {
                let end = offset + window;
                windowed += usize::from(end > wrap && end - wrap <= n[axis]);
            }
            if let (Some(offset), Some(size), Some(stride)) = (at("Offsets"), at("Sizes"), at("Strides")) {
                let last = offset + (size - 1) * stride;
                strided += usize::from(last >= wrap && last - wrap < n[axis]);
            }
        }
    }
    assert!(padded > 0 && windowed > 0 && strided > 0, "{padded} {windowed} {strided}");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(400))]

    #[test]
    fn any_case_of_an_endless_suite_is_valid_and_its_line_reads_back(
        seed in 0_usize..4, index in proptest::prelude::any::<u64>()
    ) {
        static EXPANSIONS: LazyLock<[Expansion<'static>; 4]> =
            LazyLock::new(|| [0, 1, 2, 3].map(|seed| expand("soak", seed)));
        let expansion = &EXPANSIONS[seed];
        let mut case = expansion.blank().unwrap();
        expansion.case(index.into(), &mut case).unwrap();
        proptest::prop_assert!(judge(&case).violated.is_empty(), "{case}");
        let text = case.to_string();
        let signatures = Library::embedded().signatures();
        proptest::prop_assert_eq!(&line::parse(&text, signatures).unwrap(), &case, "{}", text);
        let mut again = expansion.blank().unwrap();
        expansion.case(index.into(), &mut again).unwrap();
        proptest::prop_assert_eq!(again, case);
    }
}

#[test]
fn mutated_cases_are_of_every_validity_and_cost_little_to_run() {
    let expansion = expand("fuzz", 0);
    let part = expansion.parts().iter().find(|part| part.strategy() == Strategy::Mutated);
    let part = part.expect("campaigns have them");
    let (mut case, mut again) = (expansion.blank().unwrap(), expansion.blank().unwrap());
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let (mut lines, mut slow) = (BTreeSet::new(), 0);
    for index in 0..3_000 {
        assert!(part.case(index, &mut case));
        let line = case.to_string();
        assert_eq!(line::parse(&line, Library::embedded().signatures()).as_ref(), Ok(&case), "{line}");
        let sizes = [&case.desc.input, &case.desc.output]
            .map(|tensor| tensor.as_ref().map_or(0, |tensor| tensor.total_size));
        let is_run = judge(&case).validity() != Validity::Invalid && sizes.iter().all(|size| *size < 1 << 30);
        // Only the cases of other parts.
        slow += usize::from(is_run && sizes.iter().any(|size| *size > 1 << 20));
        *counts.entry(format!("{:?}", judge(&case).validity())).or_default() += 1;
        lines.insert(line);
    }
    assert!(["Valid", "Invalid", "Open"].iter().all(|of| counts.get(*of) > Some(&100)), "{counts:?}");
    assert!(slow < 30, "{slow} cases take long");
    assert!(lines.len() > 2_900, "{} distinct cases", lines.len());
    // Each is the same without those before.
    part.case(1_234, &mut again);
    for index in 0..=1_234 {
        part.case(index, &mut case);
    }
    assert_eq!(case, again);
}
