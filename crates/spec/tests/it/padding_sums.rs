//! Sums of a size and its paddings that equal the output's size only modulo 2^32: PADDING1's question
//! `output-size-wraps`. The outputs of both readings were worked out by hand. The first five descs are those
//! of ONNX Runtime's tests of negative pads.

use dmlcts_model::{FeatureLevel, Fill, line};
use dmlcts_spec::{Answer, Library, Scratch, Validity};

/// -1, -2, -3 and -4 as UINT.
const MINUS: [u32; 5] = [0, u32::MAX, u32::MAX - 1, u32::MAX - 2, u32::MAX - 3];

/// The outputs of a desc, one for each allowed reading, with an input of these elements.
fn readings(desc: &str, input: &[i32]) -> Vec<Vec<i32>> {
    let library = Library::embedded();
    let mut case = line::parse(desc, library.signatures()).unwrap_or_else(|error| panic!("{desc}: {error}"));
    let bytes: Vec<u8> = input.iter().flat_map(|element| element.to_le_bytes()).collect();
    case.fill = Fill::Explicit(bytes.clone().into());
    let operator = library.operator("PADDING1").expect("it is there");
    let mut scratch = Scratch::default();
    let valid = operator
        .judge_valid(&case.desc, FeatureLevel::NEWEST, &mut scratch)
        .unwrap_or_else(|judgement| panic!("{desc}: {judgement:?}"));
    assert_eq!(valid.judgement().validity(), Validity::Open, "{desc}");
    let asked: Vec<usize> = valid.judgement().questions.iter().collect();
    let [question] = asked[..] else { panic!("{desc} raises {} questions", asked.len()) };
    let question = &operator.questions()[question];
    assert_eq!(question.id, "padding1.output-size-wraps");
    assert_eq!(question.allow.first(), Some(&Answer::Reject));
    let numbers = question.allow.iter().filter_map(|answer| match answer {
        Answer::Reading(number) => Some(*number),
        Answer::Reject | Answer::Accept => None,
    });
    let run = |reading: usize| {
        let mut output = vec![0; case.desc.output.as_ref().expect("an output").total_size as usize];
        let mut plan = operator.plan(valid, reading, &mut scratch).expect("a plan");
        plan.execute(&bytes, &mut output).expect("the output is large enough");
        output
            .chunks_exact(4)
            .map(|element| i32::from_le_bytes(element.try_into().expect("four bytes")))
            .collect()
    };
    numbers.map(run).collect()
}

fn desc(sizes: [&str; 2], mode: &str, start: &str, end: &str) -> String {
    let [input, output] = sizes;
    format!(
        "PADDING1 INT32 in={input} out={output} PaddingMode={mode} PaddingValue=123 \
         StartPadding={start} EndPadding={end}"
    )
}

#[track_caller]
fn computes(desc: &str, input: &[i32], semantics: &[i32], as_int: &[i32]) {
    assert_eq!(readings(desc, input), [semantics, as_int], "{desc}");
}

#[test]
fn the_sums_of_negative_pads_have_two_outputs() {
    let [_, one, two, three, four] = MINUS;
    let six = [11, 21, 31, 12, 22, 32];
    let of = |input, output, start: String, end: String| desc([input, output], "CONSTANT", &start, &end);
    // One row is left. It lies before the input, or is the input's second row.
    let case = of("2,3", "1,3", format!("{one},0"), "0,0".to_owned());
    computes(&case, &six, &[123; 3], &[12, 22, 32]);
    let case = of("1,1,3", "1,1,1", format!("0,0,{one}"), format!("0,0,{one}"));
    computes(&case, &[0, 1, 2], &[123], &[1]);
    // Without one row and three columns in front: 13, 14, 15, and so on.
    let case = of("1,1,10,10", "1,1,7,3", format!("0,0,{one},{three}"), format!("0,0,{two},{four}"));
    let hundred: Vec<i32> = (0..100).collect();
    let window: Vec<i32> = (1..=7).flat_map(|row| (3..=5).map(move |column| row * 10 + column)).collect();
    computes(&case, &hundred, &[123; 21], &window);
    // Only the end is cut, where both readings agree.
    let case = of("2,3", "4,4", "1,2".to_owned(), format!("1,{one}"));
    #[rustfmt::skip]
    let cut = [
        123, 123, 123, 123,
        123, 123,  11,  21,
        123, 123,  12,  22,
        123, 123, 123, 123,
    ];
    computes(&case, &six, &cut, &cut);
    let case = of("2,2,2", "2,2,2", "1,0,0".to_owned(), format!("{one},0,0"));
    let moved = [123, 123, 123, 123, 11, 12, 21, 22];
    computes(&case, &[11, 12, 21, 22, 111, 112, 121, 122], &moved, &moved);
}

/// With a start of 2^32 - 1 the window begins at coordinate -(2^32 - 1), or at 1. The former is 3 modulo 6
/// and 0 modulo 3.
#[test]
fn every_mode_has_both_readings() {
    let start = MINUS[1].to_string();
    let of = |mode, sizes| desc(sizes, mode, &start, "0");
    let (three, four) = (["3", "2"], ["4", "3"]);
    computes(&of("CONSTANT", three), &[1, 2, 3], &[123, 123], &[2, 3]);
    computes(&of("EDGE", three), &[1, 2, 3], &[1, 1], &[2, 3]);
    // The period is 6: coordinates 3, 4, 5 fold to 3, 2, 1.
    computes(&of("REFLECTION", four), &[1, 2, 3, 4], &[4, 3, 2], &[2, 3, 4]);
    // The period is 6: coordinates 3, 4 fold to 2, 1.
    computes(&of("SYMMETRIC", three), &[1, 2, 3], &[3, 2], &[2, 3]);
    // Coordinates 0, 1.
    computes(&of("WRAP", three), &[1, 2, 3], &[1, 2], &[2, 3]);
}

#[test]
fn an_axis_without_a_wrapping_sum_keeps_its_semantics() {
    let start = format!("2,{}", MINUS[1]);
    let case = desc(["1,3", "3,2"], "CONSTANT", &start, "0,0");
    let fill = [123; 4];
    computes(&case, &[1, 2, 3], &[&fill[..], &[123, 123]].concat(), &[&fill[..], &[2, 3]].concat());
}

#[test]
fn any_other_sum_is_invalid() {
    let library = Library::embedded();
    let operator = library.operator("PADDING1").expect("it is there");
    let clause = operator.clause("padding1.output-size").expect("it is there");
    let mut scratch = Scratch::default();
    let wrapped = i64::from(u32::MAX) + 1;
    // Below and above the exact sum, and the sums that are too large by 2^32 and 2^33.
    for (start, end) in [(0, 0), (0, wrapped - 1), (wrapped - 1, wrapped - 1)] {
        for error in [-2_i64, -1, 0, 1, 2] {
            let size = (4 + start + end) % wrapped + error;
            let text = desc(["4", &size.to_string()], "EDGE", &start.to_string(), &end.to_string());
            let case =
                line::parse(&text, library.signatures()).unwrap_or_else(|error| panic!("{text}: {error}"));
            let level = FeatureLevel::NEWEST;
            let judgement = operator.judge(&case.desc, level, &mut scratch);
            assert_eq!(judgement.violated.contains(clause), error != 0, "{text}");
            let expected = match (error, start + end) {
                (0, 0) => Validity::Valid,
                (0, _) => Validity::Open,
                _ => Validity::Invalid,
            };
            assert_eq!(judgement.validity(), expected, "{text}");
        }
    }
}
