//! A test for each known hazard of GPU backends.

use std::sync::Arc;

use dmlcts_backend::{Backend, Batch, Run};
use dmlcts_model::{Case, Outcome, line};
use dmlcts_runner::{CaseSource, Configuration};
use dmlcts_spec::Library;
use dmlcts_wgpu::Options;

use super::common::{assert_expected, gpu, lines, run};

/// Tensors with transposed rows, in every width, with whole and partial tiles.
pub(crate) const TRANSPOSED: [&str; 6] = [
    "SLICE UINT32 in=64,96 out=64,96 InputTensor.Strides=1,64 Offsets=0,0 Sizes=64,96 Strides=1,1 fill=random:1",
    "SLICE UINT8 in=33,100 out=33,100 InputTensor.Strides=1,33 Offsets=0,0 Sizes=33,100 Strides=1,1 fill=random:2",
    "SLICE UINT16 in=3,70,34 out=3,70,34 InputTensor.Strides=2400,1,70 Offsets=0,0,0 Sizes=3,70,34 Strides=1,1,1 fill=random:3",
    "SLICE UINT64 in=40,2,35 out=40,2,35 InputTensor.Strides=1,1400,40 Offsets=0,0,0 Sizes=40,2,35 Strides=1,1,1 fill=random:4",
    "SLICE1 FLOAT32 in=64,96 out=64,96 InputTensor.Strides=1,64 InputWindowOffsets=0,0 InputWindowSizes=64,96 InputWindowStrides=-1,-1 fill=random:5",
    "SLICE1 FLOAT16 in=50,64 out=50,32 InputTensor.Strides=1,50 InputWindowOffsets=0,0 InputWindowSizes=50,64 InputWindowStrides=1,2 fill=random:6",
];

pub(crate) fn transposed_cases() -> Arc<dyn CaseSource> {
    lines(&TRANSPOSED)
}

pub(crate) fn case(text: &str) -> Case {
    line::parse(text, Library::embedded().signatures()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn rows_across_are_moved_in_tiles() {
    let Some(gpu) = gpu(Options { batches: false, ..Options::default() }) else { return };
    assert_expected(&run(&gpu, transposed_cases(), Configuration::default()));
}

#[test]
fn more_cases_than_one_dimension_has_workgroups() {
    let Some(gpu) = gpu(Options::default()) else { return };
    let one = case("SLICE UINT8 in=1 out=1 Offsets=0 Sizes=1 Strides=1 fill=iota");
    let mut batch = Batch::default();
    let count = 70_000_usize;
    for number in 0..count {
        let at = number * 16;
        batch.inputs.resize(at + 16, 0xEE);
        batch.inputs[at..at + 4].copy_from_slice(&(number as u32).to_le_bytes());
        batch.push(&one.desc, one.binding).runs.push(Run { input: at..at + 4, output: at..at + 4 });
    }
    batch.outputs.resize(count * 16, 0xB5);
    gpu.backend().run(&mut batch);
    for (number, job) in batch.jobs().iter().enumerate() {
        assert_eq!(job.outcome, Outcome::Output);
        let found = &batch.outputs[number * 16..number * 16 + 16];
        assert_eq!(found[0], number as u8, "case {number}");
        assert!(found[1..].iter().all(|byte| *byte == 0xB5), "case {number}: {found:?}");
    }
}

#[test]
fn a_case_of_many_loop_iterations_is_no_small_one() {
    // 65,536 strided bytes: 8,192 rounds of eight lanes, each through two axes.
    let Some(gpu) = gpu(Options::default()) else { return };
    let long = "SLICE UINT8 in=256,256 out=256,256 OutputTensor.Strides=1,256 Offsets=0,0 Sizes=256,256 Strides=1,1 fill=random:1";
    let folded = "PADDING1 UINT8 in=1,200 out=60,1000 PaddingMode=SYMMETRIC StartPadding=20,300 EndPadding=39,500 fill=random:2";
    assert_expected(&run(&gpu, lines(&[long, folded]), Configuration::default()));
}

#[test]
fn narrow_elements_of_a_strided_output_share_words_with_their_neighbours() {
    // Distant invocations write neighbouring bytes, and no invocation writes every second one.
    let cases = [
        "SLICE UINT8 in=64,3 out=64,3 OutputTensor.Strides=1,64 Offsets=0,0 Sizes=64,3 Strides=1,1 fill=random:1",
        "SLICE UINT8 in=3,2 out=3,2 OutputTensor.Strides=2,3 Offsets=0,0 Sizes=3,2 Strides=1,1 fill=random:2",
        "SLICE UINT16 in=32,2 out=32,2 OutputTensor.Strides=2,65 Offsets=0,0 Sizes=32,2 Strides=1,1 fill=random:3",
    ];
    for batches in [true, false] {
        let Some(gpu) = gpu(Options { batches, ..Options::default() }) else { return };
        assert_expected(&run(&gpu, lines(&cases), Configuration::default()));
    }
}

#[test]
fn every_bit_of_special_values_survives() {
    let cases = ["FLOAT16", "FLOAT32", "FLOAT64"].map(|data_type| {
        format!("SLICE1 {data_type} in=64 out=64 InputWindowOffsets=0 InputWindowSizes=64 InputWindowStrides=-1 fill=special:1")
    });
    let cases: Vec<&str> = cases.iter().map(String::as_str).collect();
    for batches in [true, false] {
        let Some(gpu) = gpu(Options { batches, ..Options::default() }) else { return };
        assert_expected(&run(&gpu, lines(&cases), Configuration::default()));
    }
}

#[test]
fn the_self_test_finds_what_every_case_rests_on() {
    let Some(gpu) = gpu(Options::default()) else { return };
    let found = gpu.findings();
    assert!(found.poison_lands && found.guards_hold && found.spans_trap, "{found}");
    // Before Mesa 25, lavapipe ends an invocation silently; kernels stay far below that limit.
    assert!(found.loop_limit.is_none_or(|limit| limit >= 65_535), "{found}");
}
