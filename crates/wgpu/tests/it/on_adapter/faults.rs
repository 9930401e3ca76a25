//! Faults around the cases: no memory, kernels that cannot be built, lost devices, answers that do not come.
//! Each is an outcome of its batch, in the driver's words, and does not affect the next batch.

use std::time::Duration;

use dmlcts_backend::{Backend, Batch, Pipelined, Run};
use dmlcts_model::{ErrorCode, Outcome, Phase};
use dmlcts_wgpu::{Gpu, OpenError, Options, Texts, Wgpu};

use super::{common::gpu, hazards::case};

/// A batch of one copy of four numbers.
fn four_numbers() -> Batch {
    let mut batch = Batch::default();
    let case = case("SLICE UINT32 in=4 out=4 Offsets=0 Sizes=4 Strides=1 fill=iota");
    batch.inputs.resize(48, 1);
    batch.outputs.resize(48, 0xB5);
    batch.push(&case.desc, case.binding).runs.push(Run { input: 16..32, output: 16..32 });
    batch
}

/// A batch of one copy of this number of bytes, too many for a small case.
fn many_bytes(bytes: usize) -> Batch {
    let mut batch = Batch::default();
    let text = format!("SLICE UINT8 in={bytes} out={bytes} Offsets=0 Sizes={bytes} Strides=1 fill=iota");
    let case = case(&text);
    batch.inputs.resize(bytes, 1);
    batch.outputs.resize(bytes, 0xB5);
    batch.push(&case.desc, case.binding).runs.push(Run { input: 0..bytes, output: 0..bytes });
    batch
}

/// Small cases, which run together, and a large one, which runs alone, are right.
#[track_caller]
fn works(backend: &mut Wgpu) {
    let mut small = four_numbers();
    backend.run(&mut small);
    assert_eq!(small.jobs()[0].outcome, Outcome::Output);
    assert_eq!(small.outputs[16..32], [1; 16]);
    let mut large = many_bytes(100_000);
    backend.run(&mut large);
    assert_eq!(large.jobs()[0].outcome, Outcome::Output);
    assert_eq!(large.outputs, large.inputs);
}

#[test]
fn a_batch_without_an_answer_times_out_and_the_next_one_runs_on_another_device() {
    let Some(gpu) = gpu(Options { timeout: Duration::ZERO, ..Options::default() }) else { return };
    let mut backend = gpu.backend();
    let mut late = many_bytes(8 << 10);
    backend.run(&mut late);
    assert_eq!(late.jobs()[0].outcome, Outcome::TimedOut);
    gpu.set_timeout(Options::default().timeout);
    works(&mut backend);
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
    works(&mut backend);
}

#[test]
fn a_device_that_is_lost_under_two_batches_fails_both_and_not_the_third() {
    let Some(gpu) = gpu(Options::default()) else { return };
    let mut backend = gpu.backend();
    let [mut first, mut second] = [four_numbers(), four_numbers()];
    backend.start(&mut first);
    gpu.lose_device();
    backend.start(&mut second);
    backend.finish(&mut first);
    backend.finish(&mut second);
    // The first one may be done already.
    let [first, second] = [first, second].map(|batch| batch.jobs()[0].outcome.clone());
    assert!(matches!(first, Outcome::Output | Outcome::Failed { .. }), "{first:?}");
    assert!(matches!(second, Outcome::Failed { .. }), "{second:?}");
    works(&mut backend);
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
fn a_case_that_needs_more_memory_than_all_is_out_of_memory_and_the_next_one_is_not() {
    let Some(gpu) = gpu(Options { memory: 1 << 20, ..Options::default() }) else { return };
    let mut backend = gpu.backend();
    let mut large = many_bytes(400 << 10);
    backend.run(&mut large);
    let Outcome::Rejected { phase: Phase::Bind, code: ErrorCode::OUT_OF_MEMORY, reason } =
        &large.jobs()[0].outcome
    else {
        panic!("{:?}", large.jobs()[0].outcome)
    };
    assert!(reason.starts_with("out of memory: buffers of 12"), "{reason}");
    assert!(reason.ends_with("of the 1048576 that this backend takes in all"), "{reason}");
    assert!(large.outputs.iter().all(|byte| *byte == 0xB5));
    works(&mut backend);
}

#[test]
fn small_cases_that_get_no_memory_are_out_of_memory() {
    // The self-test takes less than 4 KiB, and gives it back.
    let options = Options { memory: 4 << 10, timeout: Duration::ZERO, ..Options::default() };
    let Some(gpu) = gpu(options) else { return };
    let mut backend = gpu.backend();
    let mut batch = Batch::default();
    let case = case("SLICE UINT32 in=4 out=4 Offsets=0 Sizes=4 Strides=1 fill=iota");
    batch.inputs.resize(8 << 10, 1);
    batch.outputs.resize(8 << 10, 0xB5);
    for at in (0..8 << 10).step_by(1 << 10) {
        batch.push(&case.desc, case.binding).runs.push(Run { input: at..at + 16, output: at..at + 16 });
    }
    backend.run(&mut batch);
    for job in batch.jobs() {
        let Outcome::Rejected { code: ErrorCode::OUT_OF_MEMORY, .. } = &job.outcome else {
            panic!("{:?}", job.outcome)
        };
    }
    let mut next = four_numbers();
    gpu.set_timeout(Options::default().timeout);
    backend.run(&mut next);
    assert_eq!(next.jobs()[0].outcome, Outcome::Output);
}

#[test]
fn unused_memory_of_others_is_freed_on_demand() {
    // The large case takes three times its 100,000 bytes and a little more. So the memory that the small case
    // keeps for the next batch must be released.
    let Some(gpu) = gpu(Options { memory: 302_000, ..Options::default() }) else { return };
    let mut backend = gpu.backend();
    for _ in 0..2 {
        works(&mut backend);
    }
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
fn a_kernel_that_only_the_driver_refuses_fails_its_case_with_the_words_and_no_panic() {
    let mut texts = Texts::default();
    // An override is checked only when a pipeline is made from the text.
    let right = "const LANES: u32 = 64u;";
    assert_eq!(texts.large.matches(right).count(), 1);
    texts.large = texts.large.replace(right, "override LANES: u32 = 1000000u;");
    let Some(gpu) = gpu(Options { texts, ..Options::default() }) else { return };
    let mut backend = gpu.backend();
    let mut large = many_bytes(100_000);
    backend.run(&mut large);
    let Outcome::Failed { phase: Phase::Execute, reason } = &large.jobs()[0].outcome else {
        panic!("{:?}", large.jobs()[0].outcome)
    };
    assert!(
        reason.starts_with("a validation error: ") && reason.contains("create_compute_pipeline"),
        "{reason}"
    );
    let mut small = four_numbers();
    backend.run(&mut small);
    assert_eq!(small.jobs()[0].outcome, Outcome::Output);
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
fn an_adapter_that_is_not_there_is_named_with_those_that_are() {
    let Some(gpu) = gpu(Options::default()) else { return };
    let Err(error) = Gpu::open("no such adapter") else { panic!("it opened") };
    assert!(error.to_string().contains(&gpu.capabilities().device), "{error}");
}
