//! The messages for mistakes in a spec: one snapshot for each mistake, of everything that is shown.
//!
//! Each mistake is one edit of the embedded specs.

use dmlcts_spec::{Library, LoadError, Source};

/// Replaces one text in one file, and loads the files.
#[track_caller]
fn load_with(file: &str, from: &str, to: &str) -> Result<Library, LoadError> {
    let mut sources = Library::embedded_sources();
    let source = sources.iter_mut().find(|source| source.name == file).expect("the file is embedded");
    assert!(source.text.contains(from), "`{from}` is not in {file}");
    source.text = source.text.replacen(from, to, 1);
    Library::load(&sources)
}

#[track_caller]
fn mistake(file: &str, from: &str, to: &str) -> String {
    match load_with(file, from, to) {
        Ok(_) => panic!("replacing `{from}` by `{to}` in {file} goes unnoticed"),
        Err(error) => error.to_string(),
    }
}

/// A snapshot, under the test's name, of the messages after an edit.
macro_rules! mistakes {
    ($($name:ident: $file:literal, $from:expr => $to:expr;)*) => {
        $(
            #[test]
            fn $name() {
                insta::assert_snapshot!(mistake(concat!("spec/", $file, ".yaml"), $from, $to));
            }
        )*
    };
}

mistakes! {
    // The file as YAML.
    not_yaml: "slice1", "members:\n" => "members: [\n";
    tab_as_indentation: "slice1", "  DimensionCount: count" => "\tDimensionCount: count";
    anchor: "slice1", "summary: Copies" => "summary: &copies Copies";
    alias: "slice1", "cite: Tensor constraints" => "cite: *copies";
    tag: "slice1", "summary: Copies" => "summary: !text Copies";
    key_twice: "slice1", "introduced: \"2.1\"" => "introduced: \"2.1\"\nintroduced: \"3.0\"";
    second_document: "slice1", "members:\n" => "---\nmembers:\n";

    // The form.
    unknown_key: "slice1", "    that: InputWindowSizes >= 1" => "    thta: InputWindowSizes >= 1";
    missing_key: "slice1", "    cite: Members / InputWindowStrides\n    note" => "    note";
    number_for_a_text: "slice1", "introduced: \"2.1\"" => "introduced: 2.1";
    text_for_a_mapping: "slice1", "dimensions: {min: 4, max: 5}" => "dimensions: 4 to 5";
    number_out_of_range: "slice1", "{min: 4, max: 5}" => "{min: 4, max: -1}";
    word_that_is_no_choice: "slice1", "each: axis" => "each: axes";
    one_item_for_a_list: "slice1", "given: [input.present, output.present]" => "given: input.present";

    // Names.
    unknown_level: "slice1", "since: \"4.1\"" => "since: \"4.2\"";
    unknown_data_type: "slice1", "[FLOAT64, FLOAT32" => "[FLAOT64, FLOAT32";
    unknown_kind_of_member: "slice1", "InputWindowOffsets: u32[]" => "InputWindowOffsets: u64[]";
    unknown_given: "slice1", "[window-not-empty, stride-nonzero]" => "[window-not-empty, stride-non-zero]";
    given_below: "slice1", "    that: InputWindowSizes >= 1" => "    given: [stride-nonzero]\n    that: InputWindowSizes >= 1";
    id_twice: "slice1", "id: stride-nonzero" => "id: window-in-bounds";
    id_with_capitals: "slice1", "id: stride-nonzero" => "id: Stride_Nonzero";
    support_out_of_order: "slice1", "since: \"3.0\"" => "since: \"5.0\"";
    wrong_code: "common", "name: INT8, code: 8" => "name: INT8, code: 18";
    missing_enumerator: "padding1", "    EDGE: clamp(at, 0, n - 1)\n" => "";
    unknown_enumerator: "padding1", "    EDGE: clamp" => "    EDGES: clamp";
    two_answers_in_one: "slice", "[{reject: true}, {semantics: true}]" => "[{reject: true, semantics: true}]";

    // Expressions.
    unknown_name: "slice1", "InputWindowOffsets + InputWindowSizes <=" => "InputWindowOffset + InputWindowSizes <=";
    unknown_character: "slice1", "that: InputWindowStrides != 0" => "that: InputWindowStrides ≠ 0";
    expression_that_ends_early: "slice1", "that: InputWindowStrides != 0" => "that: InputWindowStrides !=";
    parenthesis_left_open: "slice1", "then InputWindowSizes - 1 else 0)\"" => "then InputWindowSizes - 1 else 0\"";
    condition_for_an_integer: "slice1", "magnitude: abs(InputWindowStrides)" => "magnitude: abs(InputWindowStrides < 0)";
    integer_for_a_condition: "slice1", "that: InputWindowStrides != 0" => "that: InputWindowStrides";
    order_of_data_types: "slice1", "OutputTensor.DataType == InputTensor" => "OutputTensor.DataType <= InputTensor";
    axis_without_an_axis: "slice1", "each: axis\n    that: InputWindowSizes >= 1" => "that: InputWindowSizes >= 1";
    coordinate_in_a_clause: "slice1", "that: InputWindowStrides != 0" => "that: InputWindowStrides != c";
    let_of_a_taken_name: "slice1", "  magnitude:" => "  InputWindowSizes:";
    mistake_in_a_folded_scalar: "common", "align((1 + sum axes (Tensor.Sizes" => "align((1 + sum axes (Tensor.Szies";
    mistake_behind_an_escape: "slice1", "\"InputWindowOffsets + (if" => "\"InputWindowOffsets +\\x20(if InputWindowStride > 0 and";
    enumerator_of_another_type: "padding1", "PaddingMode == REFLECTION" => "PaddingMode == REFLECT";

    // Rules that are proven by trying.
    divisor_that_can_be_zero: "slice1", "given: [window-not-empty, stride-nonzero]" => "given: [window-not-empty]";
    read_past_the_end: "padding1", "EDGE: clamp(at, 0, n - 1)" => "EDGE: clamp(at, 0, n)";
    read_that_is_undefined: "padding1", "if n == 1 then 0 else min(" => "min(";

    // Examples.
    example_that_is_no_case: "slice1", "InputWindowStrides=1,1,2,2" => "InputWindowStride=1,1,2,2";
    example_that_is_invalid: "slice1", "InputWindowStrides=1,1,2,2" => "InputWindowStrides=1,1,2,0";
    example_with_a_short_row: "slice1", "- [5, 6, 7, 8]" => "- [5, 6, 7]";
    example_with_a_row_too_few: "slice1", "        - [2, 4]\n" => "";
    example_that_is_open: "slice", "Strides=1,1,2,3" => "Strides=0,1,2,3";
}

#[test]
fn an_example_that_computes_something_else() {
    insta::assert_snapshot!(mistake("spec/slice1.yaml", "- [6, 8]", "- [6, 7]"));
}

#[test]
fn several_mistakes_are_reported_together() {
    let mut sources = Library::embedded_sources();
    for (at, from, to) in [
        (1, "  last: Offsets", "  last: Offset"),
        (1, "id: output-size", "id: Output"),
        (2, "InputWindowStrides: i32[]", "InputWindowStrides: i33[]"),
        (3, "SYMMETRIC: min(mirrored", "SYMMETRIC: min(mirored"),
    ] {
        assert!(sources[at].text.contains(from), "`{from}`");
        sources[at].text = sources[at].text.replacen(from, to, 1);
    }
    insta::assert_snapshot!(Library::load(&sources).expect_err("there are mistakes"));
}

#[test]
fn several_mistakes_of_form_are_reported_together() {
    let mut sources = Library::embedded_sources();
    sources[1].text =
        "operator: SLICE\nintroduced: 1.0\npgae: x\nmembers: []\nsupport: {}\nclauses:\n  - {id: a, cite: 3}\n".to_owned();
    insta::assert_snapshot!(Library::load(&sources).expect_err("there are mistakes"));
}

#[test]
fn a_bomb_is_refused() {
    let bomb = "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n";
    let load = |text: String| {
        Library::load(&[Source::new("bomb.yaml", text)]).expect_err("it is refused").to_string()
    };
    insta::assert_snapshot!(load(bomb.to_owned()));
    insta::assert_snapshot!(load("[".repeat(2000)));
    insta::assert_snapshot!(load(format!("page: {}", "x".repeat(2 << 20))));
    insta::assert_snapshot!(load(String::new()));
}
