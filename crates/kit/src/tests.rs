//! What authors need for a library, compared with the spec: the rules, and backends on packed arrays.

use std::{ops::Range, sync::Arc};

use dmlcts_backend::Sequential;
use dmlcts_generate::Suite;
use dmlcts_runner::{Configuration, Run, Stop, SuiteSource, Verdict};
use dmlcts_spec::{Library, Scratch, Validity};

use super::{
    arrays::{ArrayBackend, ArrayResult, Arrays, PackedArray, PaddingMode},
    *,
};

fn check(desc: &Desc) -> Result<(), Refusal> {
    let (input, output) = check_tensors(desc)?;
    if desc.signature.operator == "PADDING1" {
        check_padding(desc, input, output).map(drop)
    } else {
        check_slice(desc, input, output).map(drop)
    }
}

#[test]
fn the_rules_say_what_the_spec_says() {
    let library = Library::embedded();
    let suite = Suite::load("smoke").expect("a suite");
    let expansion = suite.expand(library, 0).expect("cases");
    let mut case = expansion.blank().expect("a case");
    let (mut scratch, mut told) = (Scratch::default(), [0, 0]);
    for index in 0.. {
        if expansion.case(index, &mut case).is_none() {
            break;
        }
        let operator = library.operator(&case.desc.signature.operator).expect("an operator");
        let validity = operator.judge(&case.desc, FeatureLevel::NEWEST, &mut scratch).validity();
        match (validity, check(&case.desc)) {
            (Validity::Open, _) | (_, Err(Refusal::Unsupported(_))) => {}
            (Validity::Valid, Ok(())) => told[0] += 1,
            (Validity::Invalid, Err(Refusal::Invalid(_))) => told[1] += 1,
            (validity, checked) => panic!("{case} is {validity:?}, and checked: {checked:?}"),
        }
    }
    assert!(told.iter().all(|count| *count > 1_000), "{told:?}");
}

/// A library that goes through coordinates one by one.
struct Naive;

impl ArrayBackend for Naive {
    fn capabilities(&self) -> Capabilities {
        Capabilities::new("naive", "1")
    }

    fn slice(&mut self, array: &PackedArray, ranges: &[Range<usize>], steps: &[isize]) -> ArrayResult {
        let places = ranges.iter().zip(steps).map(|(range, step)| {
            let far = |place: usize| if *step > 0 { place } else { range.start + range.end - 1 - place };
            range.clone().step_by(step.unsigned_abs()).map(far).map(Some).collect()
        });
        gathered(array, &places.collect::<Vec<_>>(), &[])
    }

    fn pad(
        &mut self,
        array: &PackedArray,
        widths: &[[usize; 2]],
        mode: PaddingMode,
        value: &PackedArray,
    ) -> ArrayResult {
        let places = widths.iter().zip(&array.sizes).map(|(&[before, behind], &size)| {
            let places = 0..before + size + behind;
            places.map(|place| source(place as i64 - before as i64, size as i64, mode)).collect()
        });
        gathered(array, &places.collect::<Vec<_>>(), &value.bytes)
    }
}

/// The place on an axis from which a padding copies; `None` for the value.
fn source(place: i64, size: i64, mode: PaddingMode) -> Option<usize> {
    let found = match mode {
        PaddingMode::Constant => Some(place).filter(|place| (0..size).contains(place))?,
        PaddingMode::Edge => place.clamp(0, size - 1),
        PaddingMode::Reflection if size == 1 => 0,
        PaddingMode::Reflection => {
            let turn = place.rem_euclid(2 * size - 2);
            turn.min(2 * size - 2 - turn)
        }
        PaddingMode::Symmetric => {
            let turn = place.rem_euclid(2 * size);
            turn.min(2 * size - 1 - turn)
        }
        PaddingMode::Wrap => place.rem_euclid(size),
    };
    Some(found as usize)
}

/// An array of the elements at these places of each axis, and of the value where an axis has none.
fn gathered(array: &PackedArray, places: &[Vec<Option<usize>>], value: &[u8]) -> ArrayResult {
    let width = array.data_type.element_size().ok_or("no whole bytes")?;
    let sizes: Vec<usize> = places.iter().map(Vec::len).collect();
    let mut bytes = Vec::new();
    for index in 0..sizes.iter().product() {
        let (mut rest, mut at, mut stride) = (index, Some(0), 1);
        for (places, size) in places.iter().zip(&array.sizes).rev() {
            at = at.zip(places[rest % places.len()]).map(|(at, place)| at + place * stride);
            rest /= places.len();
            stride *= size;
        }
        bytes.extend_from_slice(at.map_or(value, |at| &array.bytes[at * width..][..width]));
    }
    Ok(PackedArray { data_type: array.data_type, sizes, bytes })
}

#[test]
fn two_methods_are_a_backend_that_passes_the_suite() {
    let expansion = Suite::load("smoke").and_then(|suite| suite.expand(Library::embedded(), 0));
    let run = Run {
        library: Library::embedded(),
        source: Arc::new(SuiteSource::new(expansion.expect("the suite expands"), &[])),
        backend: Arc::new(|_| Ok(Box::new(Sequential(Arrays::new(Naive))))),
        configuration: Configuration::default(),
        stop: Stop::default(),
    };
    let summary = dmlcts_runner::run(&run, &mut |_| {}).expect("the backend starts");
    let failed: Vec<_> = summary.groups.iter().map(|group| group.first.case.to_string()).collect();
    assert_eq!(summary.tally().unexpected(), 0, "{failed:#?}");
    assert!(summary.tally().of(Verdict::Pass) > 4_000);
}
