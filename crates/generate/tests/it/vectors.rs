//! The test vectors of other projects: they load, the spec agrees with them, and a suite runs them as they
//! are.

use dmlcts_generate::{
    Length, Suite,
    vectors::{Vectors, VectorsForm},
};
use dmlcts_model::Fill;
use dmlcts_spec::{Library, Source};

const FILE: &str = "\
vectors: mine
source: {name: Mine, version: '1', url: 'https://example.org', license: MIT, retrieved: '2026-11-23'}
method: typed
cases:
  - id: first
    test: test_first
    descs: [SLICE UINT8 in=4 out=2 Offsets=0 Sizes=2 Strides=2]
    input: {rows: [[1, 2, 3, 4]]}
    output: {hex: 01 03}
";

fn load(text: &str) -> Result<Vectors, String> {
    let source = Source::new("mine.yaml", text);
    Vectors::parse(&source, Library::embedded()).map_err(|error| error.to_string())
}

#[track_caller]
fn mistake(from: &str, to: &str) -> String {
    assert!(FILE.contains(from), "{from}");
    load(&FILE.replacen(from, to, 1)).expect_err("it is a mistake")
}

#[test]
fn the_embedded_vectors_agree_with_the_spec() {
    let files = Vectors::embedded(Library::embedded()).unwrap_or_else(|error| panic!("{error}"));
    let counts: Vec<usize> = files.iter().map(|file| file.cases().len()).collect();
    assert_eq!(counts, [14, 5]);
}

#[test]
fn a_vector_is_a_case_with_its_input() {
    let vectors = load(FILE).expect("it has no mistake");
    let [case] = vectors.cases() else { panic!("one case") };
    assert_eq!(case.fill, Fill::Explicit([1, 2, 3, 4].as_slice().into()));
    let VectorsForm { source, cases, .. } = vectors.form();
    assert_eq!((source.license.as_str(), cases[0].test.as_str()), ("MIT", "test_first"));
}

#[test]
fn a_disagreement_names_both_and_the_place() {
    let text = mistake("01 03", "01 04");
    assert!(text.contains("Mine has 4 at element 1, and the spec of SLICE computes 3"), "{text}");
    assert!(text.contains("mine.yaml:9:"), "{text}");
    let text = mistake("output: {hex: 01 03}", "rejected: true");
    assert!(text.contains("Mine refuses this desc, and the spec judges it valid"), "{text}");
    let text = mistake("Strides=2", "Strides=4");
    assert!(
        text.contains("Mine runs this desc, and the spec judges it invalid by slice.reads-in-bounds"),
        "{text}"
    );
}

#[test]
fn an_open_desc_has_the_answers_that_its_question_allows() {
    let open = |seen: &str| {
        let text = FILE.replace("Strides=2", "Strides=0").replace("    output: {hex: 01 03}\n", "");
        load(&format!("{text}    seen: {seen}\n"))
    };
    let repeats = "{by: A, output: {rows: [[1, 1]]}}";
    assert!(open(&format!("[{repeats}, {{by: B, rejected: true}}]")).is_ok());
    let text = open("[{by: A, output: {rows: [[1, 2]]}}]").expect_err("no reading gives that");
    assert!(text.contains("A has 2 at element 1, and the spec of SLICE computes 1"), "{text}");
    let text = open("[{by: A}]").expect_err("it says nothing");
    assert!(text.contains("expected `output` or `rejected: true`"), "{text}");
}

#[test]
fn mistakes_have_a_place() {
    for (from, to, message) in [
        ("id: first", "id: First", "`First` is not an id, or is used twice"),
        ("Strides=2]", "Strides=2 fill=iota]", "the fill of a vector is its `input`"),
        ("Offsets=0", "Offset=0", "Offset"),
        ("{rows: [[1, 2, 3, 4]]}", "{rows: [[1, 2, 3]]}", "the row has 3 elements"),
        ("hex: 01 03", "hex: 01 0", "a byte is two hex digits"),
        ("hex: 01 03", "hex: '01'", "the tensor has 1 bytes, and its sizes make 2"),
        ("{hex: 01 03}", "{hex: 01 03, rows: [[1, 3]]}", "either `rows` or `hex`"),
        ("    output: {hex: 01 03}\n", "", "expected `output` or `rejected: true`"),
        ("Strides=2]", "Strides=2 InputBinding.Offset=8]", "no outcome is defined"),
        ("license: MIT, ", "", "license"),
    ] {
        let text = mistake(from, to);
        assert!(text.contains(message) && text.contains("mine.yaml:"), "{to}: {text}");
    }
}

#[test]
fn a_part_has_the_vectors_of_its_operators_types_and_ranks() {
    let count = |bounds: &str| {
        let text =
            format!("suite: mine\npurpose: a test\nparts:\n  - {{id: all, strategy: vectors{bounds}}}\n");
        let suite = Suite::parse(&Source::new("mine.yaml", text)).unwrap_or_else(|error| panic!("{error}"));
        let expansion = suite.expand(Library::embedded(), 0).unwrap_or_else(|error| panic!("{error}"));
        let Length::Finite(count) = expansion.length() else { panic!("vectors end") };
        let mut case = expansion.blank().expect("there are operators");
        assert!((0..count).all(|index| expansion.case(index, &mut case).is_some()));
        count
    };
    let all = count("");
    assert_eq!(all, 19);
    let operators = ["SLICE", "SLICE1", "PADDING1"].map(|name| count(&format!(", operators: [{name}]")));
    assert_eq!(operators.iter().sum::<u128>(), all, "{operators:?}");
    assert_eq!(count(", types: [INT32]"), 3);
    assert_eq!(count(", ranks: {min: 5, max: 8}"), 0);
}
