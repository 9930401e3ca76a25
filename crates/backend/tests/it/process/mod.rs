//! The host against a process that misbehaves: each fault is assigned to the case that asked for it, every
//! other case has its answer, and the run continues.

mod ends;
mod hangs;
mod lost;
mod noise;
mod shutdown;
mod time_up;
mod times;
#[path = "../../puppet/trouble.rs"]
mod trouble;

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use dmlcts_backend::{
    Backend as _, Batch, Pipelined as _, Purpose, Run,
    process::{Command, Deadline, Host, Incidents, Launcher},
};
use dmlcts_model::{BindingOffsets, DataType, Desc, List, Outcome, Tensor, Value};
use dmlcts_tests::at_once;

use trouble::{Trouble, signatures};

/// Enough time for a process to start on a busy machine.
const CASE_TIMEOUT: Duration = Duration::from_millis(1500);
/// A time that no test waits for.
const NEVER: Duration = Duration::from_secs(1 << 20);
/// The ways to ask and to answer.
const WAYS: [&str; 3] = ["each", "batch", "ahead"];
/// The content of output memory before a run.
const POISON: u8 = 0xA5;

/// The path of a file that does not exist, which no other test uses.
fn memory() -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("dmlcts-puppet-{}-{number}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

fn host(way: &str) -> Host {
    remembering(way, &memory())
}

fn remembering(way: &str, memory: &Path) -> Host {
    Arc::new(Launcher::new(command(way, memory), CASE_TIMEOUT))
        .host(Purpose::Cases)
        .expect("the puppet starts")
}

fn command(way: &str, memory: &Path) -> Command {
    let program = env!("CARGO_BIN_EXE_dmlcts-puppet");
    Command::parse(&format!("'{program}' {way} '{}'", memory.display())).expect("a command")
}

/// A batch with a case for each trouble, of this number of bytes each.
fn batch(troubles: &[Trouble]) -> Batch {
    let mut batch = Batch::default();
    let signatures = signatures();
    let signature = signatures.get("COPY").expect("the operator");
    for (number, trouble) in troubles.iter().enumerate() {
        let bytes = 4 + 4 * (number % 5);
        let tensor = Tensor::packed(DataType::UINT8, List::from_elem(bytes as i64, 1));
        let mut desc = Desc::usual(Arc::clone(signature), tensor.clone(), tensor);
        let code = Trouble::ALL.iter().position(|known| known == trouble).expect("it is one of them");
        desc.members[1] = Value::Integer(code as i64);
        let (from, to) = (batch.inputs.len().next_multiple_of(16), batch.outputs.len().next_multiple_of(16));
        batch.inputs.resize(from, 0);
        batch.inputs.resize(from + bytes, number as u8 + 1);
        batch.outputs.resize(to + bytes, POISON);
        let job = batch.push(&desc, BindingOffsets::default());
        job.runs.push(Run { input: from..from + bytes, output: to..to + bytes });
    }
    batch
}

fn run_in(host: &mut Host, troubles: &[Trouble]) -> Batch {
    let mut batch = batch(troubles);
    host.run(&mut batch);
    batch
}

/// Runs batches of these cases, each one started before the previous one is finished, and checks their
/// outputs.
#[track_caller]
fn run_ahead<const COUNT: usize>(host: &mut Host, cases: [&[Trouble]; COUNT]) -> [Batch; COUNT] {
    let mut batches = cases.map(batch);
    for place in 0..=COUNT {
        if let Some(next) = batches.get_mut(place) {
            host.start(next);
        }
        if let Some(last) = place.checked_sub(1) {
            host.finish(&mut batches[last]);
        }
    }
    batches.iter().for_each(check_copies);
    batches
}

/// Checks that the outputs of the cases that ran are copies, and that nothing else was written.
#[track_caller]
fn check_copies(batch: &Batch) {
    for (number, job) in batch.jobs().iter().enumerate() {
        let memory = &batch.outputs[job.runs[0].output.clone()];
        let expected = if job.outcome == Outcome::Output { number as u8 + 1 } else { POISON };
        assert!(memory.iter().all(|byte| *byte == expected), "case {number}: {:?} {memory:?}", job.outcome);
    }
}

/// Runs a batch in which two cases ask for trouble, in all ways, and returns the outcome of the first.
#[track_caller]
fn pinned(trouble: Trouble) -> Outcome {
    let mut troubles = [Trouble::None; 40];
    troubles[11] = trouble;
    // Of the same size as the first.
    troubles[31] = trouble;
    let mut outcomes = at_once(WAYS, |way| {
        let mut host = host(way);
        let batch = run_in(&mut host, &troubles);
        check_copies(&batch);
        for (number, job) in batch.jobs().iter().enumerate() {
            assert_eq!(
                job.outcome == Outcome::Output,
                troubles[number] == Trouble::None,
                "{way}: case {number}"
            );
        }
        assert_eq!(host.lost(), None);
        // The host continues.
        let after = run_in(&mut host, &[Trouble::None; 3]);
        check_copies(&after);
        assert!(after.jobs().iter().all(|job| job.outcome == Outcome::Output));
        assert_eq!(batch.jobs()[11].outcome, batch.jobs()[31].outcome, "{way}");
        batch.jobs()[11].outcome.clone()
    });
    assert!(outcomes.iter().all(|outcome| *outcome == outcomes[0]), "all ways: {outcomes:?}");
    outcomes.swap_remove(0)
}

#[test]
fn an_honest_process_answers_every_case() {
    for way in WAYS {
        let mut host = host(way);
        let batch = run_in(&mut host, &[Trouble::None; 100]);
        assert!(batch.jobs().iter().all(|job| job.outcome == Outcome::Output));
        check_copies(&batch);
        assert_eq!(host.capabilities().operators.as_deref(), Some(&["COPY".to_owned()][..]));
        run_in(&mut host, &[]);
    }
}

#[test]
fn a_process_says_how_many_cases_keep_it_busy() {
    let busy = |way: &str| host(way).capabilities().limits.busy_jobs;
    assert_eq!((busy("each"), busy("busy")), (384, 2000));
}

#[test]
fn refusals_keep_their_words() {
    let batch = run_in(&mut host("each"), &[Trouble::None, Trouble::Refuses]);
    assert!(
        matches!(&batch.jobs()[1].outcome, Outcome::Rejected { reason, .. } if reason == "as it was told")
    );
    check_copies(&batch);
}

/// A process that says `ahead` has the next batch before it has answered the previous one.
#[test]
fn a_process_that_declares_ahead_has_two_batches() {
    let mut host = host("two");
    let mut batches: Vec<Batch> = (5..=10).map(|cases| batch(&vec![Trouble::None; cases])).collect();
    for pair in batches.chunks_mut(2) {
        for batch in &mut *pair {
            host.start(batch);
        }
        for batch in &mut *pair {
            host.finish(batch);
        }
    }
    for batch in &batches {
        check_copies(batch);
        assert!(batch.jobs().iter().all(|job| job.outcome == Outcome::Output));
    }
}
