//! A test for each hazard that a GPU backend was seen to meet.

use std::{sync::Arc, time::Duration};

use dmlcts_backend::{Backend, Batch, Run};
use dmlcts_model::{Case, Outcome, line};
use dmlcts_runner::{Configuration, Source};
use dmlcts_spec::Library;
use dmlcts_wgpu::{Gpu, OpenError, Options, Texts};

use crate::common::{assert_expected, gpu, lines, run};

/// Tensors with rows across, in every width, with tiles that are whole and tiles that are not.
pub(crate) const TRANSPOSED: [&str; 6] = [
    "SLICE UINT32 in=64,96 out=64,96 InputTensor.Strides=1,64 Offsets=0,0 Sizes=64,96 Strides=1,1 fill=random:1",
    "SLICE UINT8 in=33,100 out=33,100 InputTensor.Strides=1,33 Offsets=0,0 Sizes=33,100 Strides=1,1 fill=random:2",
    "SLICE UINT16 in=3,70,34 out=3,70,34 InputTensor.Strides=2400,1,70 Offsets=0,0,0 Sizes=3,70,34 Strides=1,1,1 fill=random:3",
    "SLICE UINT64 in=40,2,35 out=40,2,35 InputTensor.Strides=1,1400,40 Offsets=0,0,0 Sizes=40,2,35 Strides=1,1,1 fill=random:4",
    "SLICE1 FLOAT32 in=64,96 out=64,96 InputTensor.Strides=1,64 InputWindowOffsets=0,0 InputWindowSizes=64,96 InputWindowStrides=-1,-1 fill=random:5",
    "SLICE1 FLOAT16 in=50,64 out=50,32 InputTensor.Strides=1,50 InputWindowOffsets=0,0 InputWindowSizes=50,64 InputWindowStrides=1,2 fill=random:6",
];

pub(crate) fn transposed_cases() -> Arc<dyn Source> {
    lines(&TRANSPOSED)
}

fn case(text: &str) -> Case {
    line::parse(text, Library::embedded().signatures()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// A batch of one copy of four numbers.
fn four_numbers() -> Batch {
    let mut batch = Batch::default();
    let case = case("SLICE UINT32 in=4 out=4 Offsets=0 Sizes=4 Strides=1 fill=iota");
    batch.inputs.resize(48, 1);
    batch.outputs.resize(48, 0xB5);
    batch.push(&case.desc, case.binding).runs.push(Run { input: 16..32, output: 16..32 });
    batch
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
    // Neighbouring bytes are written by invocations that are far apart, and every second one by nobody.
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
fn a_batch_without_an_answer_times_out_and_the_next_one_runs_on_another_device() {
    let Some(gpu) = gpu(Options { timeout: Duration::ZERO, ..Options::default() }) else { return };
    // Long enough that it cannot be done before anybody waits.
    let mut batch = Batch::default();
    let long = case("SLICE UINT8 in=8388608 out=8388608 Offsets=0 Sizes=8388608 Strides=1 fill=iota");
    batch.inputs.resize(8 << 20, 1);
    batch.outputs.resize(8 << 20, 0xB5);
    batch.push(&long.desc, long.binding).runs.push(Run { input: 0..8 << 20, output: 0..8 << 20 });
    let mut backend = gpu.backend();
    backend.run(&mut batch);
    assert_eq!(batch.jobs()[0].outcome, Outcome::TimedOut);
}

#[test]
fn a_lost_device_fails_its_batch_with_the_reason_and_not_the_next_one() {
    let Some(gpu) = gpu(Options::default()) else { return };
    let mut backend = gpu.backend();
    gpu.lose_device();
    let mut lost = four_numbers();
    backend.run(&mut lost);
    let Outcome::Failed { reason, .. } = &lost.jobs()[0].outcome else {
        panic!("{:?}", lost.jobs()[0].outcome)
    };
    assert!(reason.contains("the device was lost"), "{reason}");
    let mut next = four_numbers();
    backend.run(&mut next);
    assert_eq!(next.jobs()[0].outcome, Outcome::Output);
    assert_eq!(next.outputs[16..32], [1; 16]);
}

#[test]
fn two_batches_are_under_way_at_a_time_and_come_back_in_order() {
    let Some(gpu) = gpu(Options::default()) else { return };
    let mut backend = gpu.backend();
    let [mut first, mut second] = [four_numbers(), four_numbers()];
    second.inputs.fill(2);
    backend.start(&mut first);
    backend.start(&mut second);
    backend.finish(&mut first);
    backend.finish(&mut second);
    assert_eq!((&first.outputs[16..32], &second.outputs[16..32]), (&[1; 16][..], &[2; 16][..]));
}

#[test]
fn a_kernel_that_is_not_valid_is_an_error_with_its_words_and_no_panic() {
    let texts = Texts { batched: "fn run() { nonsense }".to_owned(), ..Texts::default() };
    if gpu(Options::default()).is_none() {
        return;
    }
    let Err(error) = Gpu::open_with("", Options { texts, ..Options::default() }) else { panic!("it opened") };
    assert!(matches!(error, OpenError::NoDevice { .. }) && error.to_string().contains("nonsense"), "{error}");
}

#[test]
fn memory_that_is_not_the_tensors_is_an_outcome_and_no_panic() {
    let Some(gpu) = gpu(Options::default()) else { return };
    for (input, output) in [(16..31, 16..32), (18..34, 16..32), (16..32, 16..64), (96..112, 16..32)] {
        let mut batch = four_numbers();
        batch.parts().0[0].runs[0] = Run { input, output };
        gpu.backend().run(&mut batch);
        assert!(matches!(batch.jobs()[0].outcome, Outcome::Failed { .. }), "{:?}", batch.jobs()[0].outcome);
    }
}

#[test]
fn the_self_test_finds_what_every_case_rests_on() {
    let Some(gpu) = gpu(Options::default()) else { return };
    let found = gpu.findings();
    assert!(found.poison_lands && found.guards_hold && found.spans_trap, "{found}");
    // Before Mesa 25, lavapipe ends an invocation silently; kernels stay far below.
    assert!(found.loop_limit.is_none_or(|limit| limit >= 65_535), "{found}");
}

#[test]
fn an_adapter_that_is_not_there_is_named_with_those_that_are() {
    let Some(gpu) = gpu(Options::default()) else { return };
    let Err(error) = Gpu::open("no such adapter") else { panic!("it opened") };
    assert!(error.to_string().contains(&gpu.capabilities().device), "{error}");
}
