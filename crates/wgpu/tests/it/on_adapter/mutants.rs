//! Faults planted in the kernels' texts, each of which the suite must find. Some give a wrong result. Some
//! give a right one but leave a tensor, which guards and spans must catch.

use dmlcts_model::Outcome;
use dmlcts_runner::{Configuration, Summary, Verdict};
use dmlcts_wgpu::{Options, Texts};

use super::common::{gpu, run, suite};

/// The evidence of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Evidence {
    /// A wrong output.
    Result,
    /// A read or a write out of bounds.
    Guard,
    Either,
}

/// Runs the suite until it finds a failure.
fn summary(options: Options) -> Option<Summary> {
    let gpu = gpu(options)?;
    let configuration =
        Configuration { max_failures: Some(1), memory: 1 << 20, jobs: 1, ..Configuration::default() };
    Some(run(&gpu, suite("smoke"), configuration))
}

#[track_caller]
fn killed(by: Evidence, batches: bool, text: impl Fn(&mut Texts) -> &mut String, faults: &[(&str, &str)]) {
    let mut texts = Texts::default();
    let text = text(&mut texts);
    for (right, wrong) in faults {
        assert_eq!(text.matches(right).count(), 1, "`{right}` must stand once in the kernel");
        *text = text.replace(right, wrong);
    }
    let Some(summary) = summary(Options { batches, texts, refuses_unfit: false, ..Options::default() })
    else {
        return;
    };
    let first = summary.groups.first().map(|group| &group.first);
    let first = first.unwrap_or_else(|| panic!("the mutant survived: {faults:?}"));
    let guarded = match &first.outcome {
        Outcome::Strayed(_) => true,
        Outcome::Failed { reason, .. } => reason.contains("outside"),
        _ => false,
    };
    assert!(first.verdict == Verdict::Fail, "{faults:?}: {first:?}");
    let found = if guarded { Evidence::Guard } else { Evidence::Result };
    assert!(by == Evidence::Either || found == by, "{faults:?} was found by {found:?}: {:?}", first.outcome);
}

fn batched(texts: &mut Texts) -> &mut String {
    &mut texts.batched
}

fn large(texts: &mut Texts) -> &mut String {
    &mut texts.large
}

fn transposed(texts: &mut Texts) -> &mut String {
    &mut texts.transposed
}

#[test]
fn batched_an_index_off_by_one() {
    let fault =
        ("moves.source += c * records[at + 1u];", "moves.source += (c + vec4(1u)) * records[at + 1u];");
    killed(Evidence::Either, true, batched, &[fault]);
}

#[test]
fn batched_reading_from_behind_the_input_what_is_not_used() {
    // The output is right: only the span check shows the fault.
    let fault = (
        "    let case_ = read_case(records[cases.first + index]);",
        "    let case_ = read_case(records[cases.first + index]);\n    _ = is_readable(case_, case_.input_bytes / WIDTH);",
    );
    killed(Evidence::Guard, true, batched, &[fault]);
}

#[test]
fn batched_a_word_too_many() {
    let fault = (
        "for (var first = lane * 4u; first < case_.elements;",
        "for (var first = lane * 4u; first < case_.elements + 64u;",
    );
    killed(Evidence::Guard, true, batched, &[fault]);
}

#[test]
fn batched_a_word_too_many_and_no_span_check() {
    // The words after the output are the guard.
    let check = (
        "    let inside = place < case_.output_bytes / bytes;",
        "    let inside = place < case_.output_bytes / bytes + 2u;",
    );
    let word = (
        "for (var first = lane * 4u; first < case_.elements;",
        "for (var first = lane * 4u; first < case_.elements + 8u;",
    );
    let tail = ("    if (elements < 4u / WIDTH) {", "    if (false) {");
    killed(Evidence::Guard, true, batched, &[check, word, tail]);
}

#[test]
fn batched_a_narrow_element_that_clobbers_its_neighbours() {
    let fault = (
        "    atomicXor(&outputs[place], (old ^ (bits << shift)) & mine);",
        "    atomicStore(&outputs[place], bits << shift);",
    );
    killed(Evidence::Result, true, batched, &[fault]);
}

#[test]
fn batched_a_fold_without_its_mirror() {
    killed(Evidence::Result, true, batched, &[("if (mirror != 0u) {", "if (mirror == 0xffffffffu) {")]);
}

#[test]
fn batched_only_the_first_round_of_lanes() {
    let fault = (
        "for (var first = lane; first < case_.elements; first += LANES * 4u)",
        "for (var first = lane; first < min(case_.elements, LANES); first += LANES * 4u)",
    );
    let wide = (
        "        if (elements[i] < case_.elements) {\n            if (WIDTH >= 4u) {",
        "        if (elements[i] < case_.elements && i < 1u) {\n            if (WIDTH >= 4u) {",
    );
    killed(Evidence::Result, true, batched, &[fault, wide]);
}

#[test]
fn large_a_tail_that_clobbers() {
    let fault = ("    if (!WINDOWED && count == in_block) {", "    if (!WINDOWED) {");
    killed(Evidence::Either, false, large, &[fault]);
}

#[test]
fn large_a_shift_that_forgets_the_upper_word() {
    let fault = ("    return (low >> shift) | (high << (vec4(32u) - shift));", "    return low >> shift;");
    killed(Evidence::Result, false, large, &[fault]);
}

#[test]
fn large_halves_that_are_not_swapped() {
    let fault =
        ("    if (WIDTH == 2u) {\n        return halves;", "    if (WIDTH == 2u) {\n        return words;");
    killed(Evidence::Result, false, large, &[fault]);
}

#[test]
fn large_a_run_that_may_reach_over_the_end_of_a_row() {
    let fault = ("    if (c + count > job.axis[0].size) {", "    if (c >= job.axis[0].size) {");
    killed(Evidence::Either, false, large, &[fault]);
}

#[test]
fn large_no_last_cell() {
    killed(
        Evidence::Result,
        false,
        large,
        &[("    if (index >= job.cells) {", "    if (index + 1u >= job.cells) {")],
    );
}

#[test]
fn large_a_scatter_that_clobbers_its_neighbours() {
    let fault = (
        "    atomicXor(&output_words[start + byte / 4u], (old ^ (bits.x << shift)) & mine);",
        "    atomicStore(&output_words[start + byte / 4u], bits.x << shift);",
    );
    killed(Evidence::Result, false, large, &[fault]);
}

#[test]
fn large_a_fill_with_too_many_bits() {
    let fault = ("let element = job.fill.x & ones();", "let element = job.fill.x >> 1u;");
    killed(Evidence::Result, false, large, &[fault]);
}

#[test]
fn transposed_a_column_that_is_a_row() {
    // The suite has few tensors that are large enough for tiles: these cases are the hazards' own.
    let mut texts = Texts::default();
    let text = transposed(&mut texts);
    assert_eq!(text.matches("put(place, column * PITCH + row);").count(), 1);
    *text = text.replace("put(place, column * PITCH + row);", "put(place, row * PITCH + column);");
    let Some(gpu) = gpu(Options { batches: false, texts, ..Options::default() }) else { return };
    let summary = run(&gpu, super::hazards::transposed_cases(), Configuration::default());
    assert_eq!(summary.tally().of(Verdict::Fail), super::hazards::TRANSPOSED.len() as u64);
}
