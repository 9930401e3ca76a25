//! Tests the number of dispatches in a flight, and that the next batch does not wait for the one in flight.
//! They run on the stand-in and check counts and the order of events, never durations.

use dmlcts_backend::Run;

use super::*;
use crate::{
    direct3d::testing::{LaneBlock, stand_in},
    marshal::tests::case,
};

/// The number of cases of a batch, which all go into one flight.
const CASES: usize = 120;
/// The number of runs of each case, on different data.
const RUNS: usize = 2;
/// The distance between two tensors in bytes: the largest tensor and its guards.
const STEP: usize = 96;
/// The number of bytes that a case copies. The size of a tensor is a multiple of four.
const TAKEN: usize = 4;
const POISON: u8 = 0xCC;
/// A timeout that is never reached.
const LONG: Duration = Duration::from_secs(60);
/// A timeout that is reached by a blocked device.
const SHORT: Duration = Duration::from_millis(100);

/// A batch of cases that copy some bytes of an input of this length, from different places. Each place needs
/// an operator of its own.
fn batch(length: usize) -> Batch {
    let mut batch = Batch::default();
    for number in 0..CASES {
        let place = place(number, length);
        let case = case(&format!(
            "SLICE UINT8 in={length} out={TAKEN} Offsets={place} Sizes={TAKEN} Strides=1 fill=iota"
        ));
        let job = batch.push(&case.desc, case.binding);
        job.runs.extend((0..RUNS).map(|run| {
            let start = start(number, run);
            Run { input: start..start + length, output: start..start + TAKEN }
        }));
    }
    let bytes = start(CASES, 0);
    batch.inputs.extend((0..bytes).map(|byte| (byte + byte / STEP) as u8));
    batch.outputs.resize(bytes, POISON);
    batch
}

/// The offset from which a case copies.
fn place(number: usize, length: usize) -> usize {
    number % (length - TAKEN + 1)
}

/// The start of the tensors of a case's run in their arenas.
fn start(number: usize, run: usize) -> usize {
    (number * RUNS + run) * STEP
}

/// Checks that every run of a batch wrote the right bytes, and that no other byte changed.
#[track_caller]
fn check(batch: &Batch, length: usize) {
    let mut expected = vec![POISON; batch.outputs.len()];
    for (number, job) in batch.jobs().iter().enumerate() {
        assert_eq!(job.outcome, Outcome::Output, "case {number}");
        for run in 0..RUNS {
            let (to, from) = (start(number, run), start(number, run) + place(number, length));
            expected[to..to + TAKEN].copy_from_slice(&batch.inputs[from..from + TAKEN]);
        }
    }
    assert!(batch.outputs == expected);
}

/// Blocks the work that is started next on the device.
fn hold(device: &Device) -> LaneBlock {
    let lane = device.lane().expect("there is room");
    let hold = LaneBlock::on(&lane, &device.direct3d);
    device.give_back(lane);
    hold
}

/// The flights of a started batch.
fn flights(started: &Started) -> Vec<&Flight> {
    started
        .flights
        .iter()
        .filter_map(|state| match state {
            FlightState::UnderWay(flight) => Some(&**flight),
            FlightState::Over(_) => None,
        })
        .collect()
}

#[test]
fn a_batch_is_one_command_list_with_a_dispatch_a_run_and_comes_back_at_once() {
    let directml = stand_in();
    let mut backend = directml.backend();
    // Batches with new operators, other new operators, and known operators.
    for (number, length) in [32, 28, 32].into_iter().enumerate() {
        let mut batch = batch(length);
        backend.start(&mut batch);
        let started = backend.started[0].as_ref().expect("it is started");
        let dispatches: Vec<_> = flights(started).iter().map(|flight| flight.jobs().count()).collect();
        assert_eq!(dispatches, [CASES * RUNS]);
        backend.finish(&mut batch);
        check(&batch, length);
        let lists = directml.gate.enter().device().expect("there is one").submissions();
        assert_eq!(lists, number as u64 + 1, "of as many batches");
    }
}

/// The device finishes the second batch while the first one is blocked.
#[test]
fn a_batch_is_uploaded_and_runs_before_the_one_that_was_started_first_is_done() {
    let directml = stand_in();
    let mut backend = directml.backend();
    let hold = hold(directml.gate.enter().device().expect("there is one"));
    let (mut first, mut second) = (batch(32), batch(28));
    backend.start(&mut first);
    backend.start(&mut second);
    let lanes: Vec<_> = backend.started.iter().flatten().flat_map(flights).map(Flight::lane).collect();
    let [Some(held), Some(free)] = lanes[..] else { panic!("each is a flight") };
    assert_eq!(free.wait(LONG), Ok(true));
    assert!(free.is_done() && !held.is_done());
    hold.release();
    backend.finish(&mut first);
    backend.finish(&mut second);
    check(&first, 32);
    check(&second, 28);
}

/// A removed device is not reported as a timeout, even if the timeout has passed.
#[test]
fn a_device_that_is_removed_while_a_batch_waits_for_it_is_told_as_removed() {
    let directml = stand_in();
    let gate = directml.gate.enter();
    let device = gate.device().expect("there is one");
    let hold = hold(device);
    let (mut first, mut bad) = (batch(32), Batch::default());
    let mut held = Started::send(device, SHORT, &mut first);
    let case = case("SLICE UINT8 in=4 out=4 Offsets=0 Sizes=4 Strides=1 fill=iota InputBinding.Offset=4");
    bad.push(&case.desc, case.binding).runs.push(Run { input: 0..4, output: 0..4 });
    bad.inputs.resize(4, 0);
    bad.outputs.resize(4, POISON);
    let _removes_it = Started::send(device, LONG, &mut bad);
    held.land();
    hold.release();
    assert!(!device.is_late());
    let fault = held.lost.expect("nothing came back").fault;
    assert!(matches!(fault, FlightFault::Removed { .. }), "{fault:?}");
}

/// A lane has a part of a heap, which is not given out again.
#[test]
fn a_flight_that_does_not_start_gives_its_lane_back() {
    let directml = stand_in();
    let gate = directml.gate.enter();
    let device = gate.device().expect("there is one");
    let batch = batch(32);
    let job = &batch.jobs()[0];
    let desc = Marshalled::new(&job.desc).expect("it can be said");
    let operator = device.compile(&desc, &mut Operators::new()).expect("it is valid");
    operator.claim().expect("it is new");
    let arenas = (batch.inputs.len(), batch.outputs.len());
    for _ in 0..2 {
        let mut load = Load::default();
        load.push(0, &operator, job.binding, &job.runs[0], arenas, u64::MAX).expect("it has a place");
        let started = load.start(device, &batch.inputs, &batch.outputs, LONG);
        assert!(matches!(started, Err(FlightFault::Impossible(_))), "somebody else was to initialise it");
        assert_eq!(device.free_lanes(), 1);
    }
}
