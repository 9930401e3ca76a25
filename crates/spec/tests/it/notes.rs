//! Notes that state what the pages expect of certain valid descs: each is an obligation, which a valid desc
//! meets.

use dmlcts_model::{FeatureLevel, line};
use dmlcts_spec::{Coverage, Library, Obligation, Scratch, Source};

/// The notes that a desc exercises.
fn exercised(text: &str) -> Vec<String> {
    let library = Library::embedded();
    let case = line::parse(text, library.signatures()).unwrap_or_else(|error| panic!("{text}: {error}"));
    let operator = library.operator(&case.desc.signature.operator).expect("the line named it");
    let (mut scratch, level) = (Scratch::default(), FeatureLevel::NEWEST);
    let judgement = operator.judge(&case.desc, level, &mut scratch);
    let mut coverage = Coverage::new(library);
    coverage.mark(operator, &case.desc, level, judgement, &mut scratch);
    let notes = operator.obligations(level).into_iter().filter(|one| matches!(one, Obligation::Note(_)));
    let met = notes.filter(|&note| coverage.met(operator, note));
    met.map(|note| note.describe(operator)).collect()
}

#[track_caller]
fn exercises(text: &str, notes: &[&str]) {
    assert_eq!(exercised(text), notes.iter().map(|note| format!("{note} exercised")).collect::<Vec<_>>());
}

#[test]
fn a_valid_desc_exercises_the_notes_that_are_about_it() {
    let slice = "SLICE FLOAT32 in=4,4 out=4,4 Offsets=0,0 Sizes=4,4";
    exercises(&format!("{slice} Strides=1,1"), &["slice.identity"]);
    exercises("SLICE FLOAT32 in=4,4 out=4,3 Offsets=0,0 Sizes=4,3 Strides=1,1", &[]);
    exercises("SLICE UINT8 in=4 out=3 Offsets=0 Sizes=3 Strides=1", &["slice.written-bytes"]);
    exercises(
        "SLICE FLOAT32 in=2,2 out=1,1 InputTensor.Strides=0,1 Offsets=1,1 Sizes=1,1 Strides=1,1",
        &["slice.broadcast"],
    );
    // A stride of 0 on an axis of one element repeats nothing.
    exercises("SLICE FLOAT32 in=1,2 out=1,1 InputTensor.Strides=0,1 Offsets=0,1 Sizes=1,1 Strides=1,1", &[]);
    let slice1 = "SLICE1 FLOAT32 in=4 out=1 InputWindowOffsets=0";
    let beyond = "slice1.stride-beyond-window";
    exercises(&format!("{slice1} InputWindowSizes=4 InputWindowStrides=4"), &[]);
    exercises(&format!("{slice1} InputWindowSizes=4 InputWindowStrides=-5"), &[beyond]);
    let least = format!("{slice1} InputWindowSizes=4 InputWindowStrides=-2147483648");
    exercises(&least, &["slice1.least-stride", beyond]);
    let greatest = format!("{slice1} InputWindowSizes=4 InputWindowStrides=2147483647");
    exercises(&greatest, &["slice1.greatest-stride", beyond]);
    let whole = "SLICE1 FLOAT32 in=4 out=4 InputWindowOffsets=0 InputWindowSizes=4 InputWindowStrides=";
    exercises(&format!("{whole}1"), &["slice1.identity"]);
    exercises(&format!("{whole}-1"), &[]);
    let padding = "PADDING1 FLOAT16 in=4 out=6 PaddingMode=CONSTANT StartPadding=1 EndPadding=1";
    exercises(&format!("{padding} PaddingValue=1"), &["padding1.value-float16"]);
    let notes = ["padding1.value-bytes", "padding1.value-float16"];
    exercises(&format!("{padding} PaddingValue=0x003c000000000001"), &notes);
    // The value means nothing in another mode, and is written nowhere without padding.
    exercises(&format!("{} PaddingValue=0x003c000000000001", padding.replace("CONSTANT", "EDGE")), &[]);
    let none = "PADDING1 FLOAT16 in=4 out=4 PaddingMode=CONSTANT StartPadding=0 EndPadding=0";
    exercises(&format!("{none} PaddingValue=0x003c000000000001"), &["padding1.no-padding"]);
}

#[test]
fn invalid_and_open_descs_exercise_no_note() {
    let slice = "SLICE FLOAT32 in=4,4 out=4,4 Offsets=0,0 Sizes=4,4 Strides=1,1";
    exercises(&format!("{slice} InputTensor.Flags=2"), &[]);
    exercises(&slice.replace("in=4,4", "in=4,4 InputTensor.TotalTensorSizeInBytes=4"), &[]);
}

/// The messages of the embedded specs with an edit.
fn mistake(file: &str, from: &str, to: &str) -> String {
    let mut sources = Library::embedded_sources();
    let source = sources.iter_mut().find(|source| source.name == file).expect("the file is there");
    assert!(source.text.contains(from), "{from}");
    *source = Source::new(file, source.text.replacen(from, to, 1));
    Library::load(&sources).expect_err("it has a mistake").to_string()
}

#[test]
fn a_mistake_in_a_condition_is_shown_once() {
    let text = mistake(
        "spec/common.yaml",
        "when: any axis InputTensor.Strides",
        "when: any axis InputTensor.Stride",
    );
    assert_eq!(text.matches("means nothing here").count(), 1, "{text}");
    assert!(text.starts_with("spec/common.yaml:"), "{text}");
    let text =
        mistake("spec/slice.yaml", "    text: The text calls", "    when: 1 == 1\n    text: The text calls");
    assert!(text.contains("an erratum has no `when`"), "{text}");
    let text = mistake("spec/common.yaml", "Binding.Offset mod 16 == 0", "Binding.Offset mod 16");
    assert_eq!(text.matches("error").count() + text.matches("spec/common.yaml:").count(), 1, "{text}");
}
