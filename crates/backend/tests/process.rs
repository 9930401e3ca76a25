//! The host against a process that misbehaves: whatever it does, it is pinned on the case that asked for it, every other
//! case has its answer, and the run goes on.

#[path = "puppet/trouble.rs"]
mod trouble;

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use dmlcts_backend::{
    Backend, Batch, Run,
    process::{Command, Host, Incidents, Launcher},
};
use dmlcts_model::{BindingOffsets, DataType, Desc, List, Outcome, Tensor, Value};

use trouble::{Trouble, signatures};

/// Long enough for a process to start on a busy machine.
const CASE_TIMEOUT: Duration = Duration::from_millis(1500);
/// The ways to ask and to answer.
const WAYS: [&str; 3] = ["each", "batch", "ahead"];
/// What output memory holds before.
const POISON: u8 = 0xA5;

/// A path that no other test uses, of a file that is not there.
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

fn remembering(way: &str, memory: &std::path::Path) -> Host {
    Arc::new(Launcher::new(command(way, memory), CASE_TIMEOUT)).host().expect("the puppet starts")
}

fn command(way: &str, memory: &std::path::Path) -> Command {
    let program = env!("CARGO_BIN_EXE_dmlcts-puppet");
    Command::parse(&format!("'{program}' {way} '{}'", memory.display())).expect("a command")
}

/// A batch with a case for each trouble, of so many bytes each.
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

/// That the outputs of the cases that ran are copies, and nothing else was written.
#[track_caller]
fn check_copies(batch: &Batch) {
    for (number, job) in batch.jobs().iter().enumerate() {
        let memory = &batch.outputs[job.runs[0].output.clone()];
        let expected = if job.outcome == Outcome::Output { number as u8 + 1 } else { POISON };
        assert!(memory.iter().all(|byte| *byte == expected), "case {number}: {:?} {memory:?}", job.outcome);
    }
}

/// Runs a batch in which two cases ask for trouble, in all ways, and returns what became of the first.
#[track_caller]
fn pinned(trouble: Trouble) -> Outcome {
    let mut troubles = [Trouble::None; 40];
    troubles[11] = trouble;
    // Of the same size as the first.
    troubles[31] = trouble;
    let mut outcomes = WAYS.map(|way| {
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
        // And the host goes on.
        let after = run_in(&mut host, &[Trouble::None; 3]);
        check_copies(&after);
        assert!(after.jobs().iter().all(|job| job.outcome == Outcome::Output));
        assert_eq!(batch.jobs()[11].outcome, batch.jobs()[31].outcome, "{way}");
        batch.jobs()[11].outcome.clone()
    });
    assert!(outcomes.iter().all(|outcome| *outcome == outcomes[0]), "all ways: {outcomes:?}");
    std::mem::replace(&mut outcomes[0], Outcome::Lost)
}

/// The words of a failure.
#[track_caller]
fn failure(trouble: Trouble) -> String {
    match pinned(trouble) {
        Outcome::Failed { reason, .. } => reason.into_owned(),
        other => panic!("{trouble:?}: {other:?}"),
    }
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
    assert_eq!((busy("each"), busy("busy")), (480, 2000));
}

#[test]
fn refusals_keep_their_words() {
    let batch = run_in(&mut host("each"), &[Trouble::None, Trouble::Refuses]);
    assert!(
        matches!(&batch.jobs()[1].outcome, Outcome::Rejected { reason, .. } if reason == "as it was told")
    );
    check_copies(&batch);
}

#[test]
fn a_crash_is_pinned_with_its_last_words() {
    let Outcome::Crashed(reason) = pinned(Trouble::Ends) else { panic!("no crash") };
    assert!(reason.starts_with("it ended (exit"), "{reason}");
    assert!(reason.ends_with("it said: loading | ZeroDivisionError: division by zero"), "{reason}");
    let Outcome::Crashed(reason) = pinned(Trouble::Aborts) else { panic!("no crash") };
    assert!(!cfg!(unix) || reason.contains("signal: 6"), "{reason}");
    let Outcome::Crashed(reason) = pinned(Trouble::CutsShort) else { panic!("no crash") };
    assert!(reason.starts_with("it ended inside of a frame (exit"), "{reason}");
}

#[test]
#[cfg(unix)]
fn a_closed_output_is_as_good_as_an_end() {
    let Outcome::Crashed(reason) = pinned(Trouble::ClosesOutput) else { panic!("no crash") };
    assert_eq!(reason, "it closed its standard output and went on running");
}

#[test]
fn a_hang_is_cut_at_its_deadline() {
    let started = Instant::now();
    let batch = run_in(&mut host("each"), &[Trouble::None, Trouble::Hangs, Trouble::None]);
    let outcomes: Vec<&Outcome> = batch.jobs().iter().map(|job| &job.outcome).collect();
    assert_eq!(outcomes, [&Outcome::Output, &Outcome::TimedOut, &Outcome::Output]);
    check_copies(&batch);
    assert!(
        started.elapsed() > CASE_TIMEOUT && started.elapsed() < 20 * CASE_TIMEOUT,
        "{:?}",
        started.elapsed()
    );
}

/// What is done of a batch does not wait for a case that hangs, and stays as it is.
#[test]
fn what_is_answered_is_told_of_while_a_case_hangs() {
    let mut troubles = [Trouble::None; 12];
    (troubles[4], troubles[8]) = (Trouble::Hangs, Trouble::Hangs);
    for (way, expected) in [("each", [4, 5, 9, 12]), ("batch", [0, 5, 9, 12]), ("ahead", [0, 5, 9, 12])] {
        let (mut host, mut batch, mut told) = (host(way), batch(&troubles), Vec::new());
        host.start(&mut batch);
        while told.last() != Some(&troubles.len()) {
            let done = host.finish_some(&mut batch, CASE_TIMEOUT / 10);
            let before = told.last().copied().unwrap_or(0);
            assert!(done >= before && batch.jobs()[..done].iter().all(|job| job.outcome != Outcome::Lost));
            told.push(done);
        }
        told.dedup();
        // On a machine that is busy, it may be told of fewer before.
        assert!(told.ends_with(&expected), "{way}: {told:?}");
        check_copies(&batch);
        let hung = batch.jobs().iter().map(|job| job.outcome == Outcome::TimedOut);
        assert!(hung.eq(troubles.map(|trouble| trouble == Trouble::Hangs)), "{way}");
    }
}

/// Somebody has seen it, so that it cannot be asked again.
#[test]
fn what_was_told_of_stands_though_what_follows_makes_no_sense() {
    let troubles = [Trouble::None, Trouble::None, Trouble::TakesLong, Trouble::Babbles, Trouble::None];
    let (mut host, mut batch) = (host("each"), batch(&troubles));
    host.start(&mut batch);
    let told = loop {
        match host.finish_some(&mut batch, Duration::from_millis(20)) {
            0 | 1 => {}
            done => break done,
        }
    };
    assert_eq!(told, 2);
    let first = batch.jobs()[0].runs[0].output.clone();
    batch.outputs[first.clone()].fill(77);
    while host.finish_some(&mut batch, Duration::MAX) < troubles.len() {}
    assert_eq!(batch.outputs[first], [77; 4]);
    let failed = batch.jobs().iter().map(|job| matches!(job.outcome, Outcome::Failed { .. }));
    assert!(failed.eq([false, false, false, true, false]), "{:?}", batch.jobs()[3].outcome);
}

/// The sentences that nobody has taken.
fn told(incidents: &Incidents) -> Vec<String> {
    std::iter::from_fn(|| incidents.take()).collect()
}

/// Who answers a whole run at once is asked for less where the cases of a run together take longer than one may.
#[test]
fn cases_that_take_long_together_are_nobodys_fault() {
    for way in ["batch", "two"] {
        let incidents = Incidents::default();
        let launcher = Launcher::new(command(way, &memory()), CASE_TIMEOUT).telling(incidents.clone());
        let mut host = Arc::new(launcher).host().expect("the puppet starts");
        let (mut first, mut second) = (batch(&[Trouble::TakesLong; 30]), batch(&[Trouble::TakesLong; 30]));
        host.start(&mut first);
        host.start(&mut second);
        host.finish(&mut first);
        host.finish(&mut second);
        for batch in [&first, &second] {
            check_copies(batch);
            let mut jobs = batch.jobs().iter();
            assert!(jobs.all(|job| job.outcome == Outcome::Output), "{way}: {:?}", batch.jobs());
        }
        let told = told(&incidents);
        assert_eq!(told.len(), 2, "the second batch came in parts: {told:?}");
        assert!(told[0].starts_with("a backend process failed: it was silent for 1.5 s"), "{told:?}");
        let slow = "no case hung: 30 cases together took longer than --case-timeout (1.5 s), ";
        assert!(told[1].starts_with(slow), "{told:?}");
    }
}

#[test]
fn a_hang_among_cases_that_take_long_is_found() {
    let mut troubles = [Trouble::TakesLong; 30];
    troubles[20] = Trouble::Hangs;
    let batch = run_in(&mut host("batch"), &troubles);
    check_copies(&batch);
    for (job, trouble) in batch.jobs().iter().zip(troubles) {
        assert_eq!(job.outcome == Outcome::TimedOut, trouble == Trouble::Hangs, "{:?}", job.outcome);
    }
}

/// Cases that are quick do not explain why a process was silent over them.
#[test]
fn a_hang_that_does_not_come_again_is_not_passed_over() {
    let mut troubles = [Trouble::None; 20];
    troubles[7] = Trouble::HangsOnce;
    let mut host = host("batch");
    let batch = run_in(&mut host, &troubles);
    let hung = batch.jobs().iter().filter(|job| job.outcome == Outcome::TimedOut).count();
    let ran = batch.jobs().iter().filter(|job| job.outcome == Outcome::Output).count();
    assert_eq!((hung, ran), (1, 19), "{:?}", batch.jobs());
}

#[test]
fn what_is_no_answer_is_named() {
    let failure = |trouble| failure(trouble);
    assert!(failure(Trouble::Prints).starts_with("`case done` stands where a frame must begin"));
    assert!(failure(Trouble::Announces).contains("announces 1152921504606846976 bytes of body"));
    assert!(failure(Trouble::AnswersTooMany).contains("they answer 1000 cases, and "));
    assert!(failure(Trouble::Babbles).contains("unknown variant `maybe`"));
    assert!(failure(Trouble::SendsTooFewBytes).contains(" and 1 came"));
    assert!(failure(Trouble::Repeats).contains("it sent `hello` where `results` are due"));
    let batch = run_in(&mut host("ahead"), &[Trouble::None, Trouble::Misnumbers]);
    let Outcome::Failed { reason, .. } = &batch.jobs()[1].outcome else { panic!("{:?}", batch.jobs()) };
    assert!(reason.contains("their `number` is 77, where "), "{reason}");
}

/// Answers that nobody asked for stand in the place of others' answers, of the same batch or of the next: whose they are
/// comes out all the same.
#[test]
fn answers_beyond_those_that_are_due_are_the_failure_of_who_sends_them() {
    assert!(failure(Trouble::AnswersTwice).contains("after its answers, it sent another `results`"));
    let flood = failure(Trouble::Floods);
    assert!(flood.contains("after its answers, it sent another `results`"), "{flood}");
}

#[test]
fn the_batch_behind_surplus_answers_has_its_own() {
    for way in ["batch", "ahead"] {
        let mut host = host(way);
        let mut first = batch(&[Trouble::None, Trouble::None, Trouble::AnswersTwice]);
        let mut second = batch(&[Trouble::None, Trouble::None, Trouble::Refuses]);
        host.start(&mut first);
        host.start(&mut second);
        host.finish(&mut first);
        host.finish(&mut second);
        check_copies(&first);
        check_copies(&second);
        assert!(matches!(first.jobs()[2].outcome, Outcome::Failed { .. }), "{way}: {:?}", first.jobs()[2]);
        let refused = &second.jobs()[2];
        assert!(matches!(refused.outcome, Outcome::Rejected { .. }), "{way}: {refused:?}");
    }
}

/// A process that says `ahead` has the next batch before it has answered the one before it.
#[test]
fn who_is_asked_ahead_has_two_batches() {
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

#[test]
fn a_crash_that_does_not_come_again_is_not_passed_over() {
    for way in WAYS {
        let mut troubles = [Trouble::None; 20];
        troubles[7] = Trouble::EndsOnce;
        let batch = run_in(&mut host(way), &troubles);
        let crashed: Vec<&Outcome> = batch
            .jobs()
            .iter()
            .map(|job| &job.outcome)
            .filter(|outcome| **outcome != Outcome::Output)
            .collect();
        let [Outcome::Crashed(reason)] = crashed[..] else { panic!("{crashed:?}") };
        assert!(reason.contains("no case does it again when it is run alone"), "{reason}");
    }
}

/// Both batches behind the one that ended the process are put to a fresh one, which answers both at once.
#[test]
fn answers_that_come_early_are_those_of_the_next_batch() {
    let mut host = host("two");
    let mut first = batch(&[Trouble::None, Trouble::Ends, Trouble::None]);
    let mut second = batch(&[Trouble::None; 5]);
    let mut third = batch(&[Trouble::None, Trouble::Refuses]);
    host.start(&mut first);
    host.start(&mut second);
    host.finish(&mut first);
    host.start(&mut third);
    host.finish(&mut second);
    host.finish(&mut third);
    check_copies(&first);
    check_copies(&second);
    check_copies(&third);
    assert!(matches!(first.jobs()[1].outcome, Outcome::Crashed(_)));
    assert!(second.jobs().iter().all(|job| job.outcome == Outcome::Output), "{:?}", second.jobs()[0].outcome);
    assert!(matches!(third.jobs()[1].outcome, Outcome::Rejected { .. }));
}

#[test]
fn a_crash_leaves_the_batches_behind_it_alone() {
    for way in ["each", "ahead"] {
        let mut host = host(way);
        let mut first = batch(&[Trouble::None, Trouble::Ends, Trouble::None]);
        let mut second = batch(&[Trouble::None; 5]);
        let mut third = batch(&[Trouble::None, Trouble::None, Trouble::Aborts]);
        host.start(&mut first);
        host.start(&mut second);
        host.finish(&mut first);
        host.start(&mut third);
        host.finish(&mut second);
        host.finish(&mut third);
        check_copies(&first);
        check_copies(&second);
        check_copies(&third);
        assert!(matches!(first.jobs()[1].outcome, Outcome::Crashed(_)), "{way}");
        assert!(second.jobs().iter().all(|job| job.outcome == Outcome::Output), "{way}");
        assert!(matches!(third.jobs()[2].outcome, Outcome::Crashed(_)), "{way}");
    }
}

#[test]
fn a_process_that_does_not_come_back_is_lost_and_no_case_is() {
    let fickle = "it declares something else than when it was first started: `limits.busy_cases` was none and is 2000, \
                  `name` was \"puppet\" and is \"another\"; a backend says the same whenever it is started";
    for (way, why) in [("dies-at-second-start", "it does not start again"), ("fickle", fickle)] {
        let mut host = host(way);
        let batch = run_in(&mut host, &[Trouble::None, Trouble::EndsOnce, Trouble::None]);
        assert_eq!(batch.jobs()[0].outcome, Outcome::Output);
        assert!(batch.jobs()[1..].iter().all(|job| job.outcome == Outcome::Lost), "{:?}", batch.jobs());
        assert!(host.lost().is_some_and(|lost| lost.contains(why)), "{way}: {:?}", host.lost());
        // It is asked no more.
        let started = Instant::now();
        let after = run_in(&mut host, &[Trouble::None; 3]);
        assert!(after.jobs().iter().all(|job| job.outcome == Outcome::Lost));
        assert!(started.elapsed() < CASE_TIMEOUT);
    }
}

#[test]
fn a_backend_that_never_answers_is_given_up() {
    let mut host = host("each");
    let batch = run_in(&mut host, &[Trouble::Ends; 200]);
    assert!(batch.jobs().iter().all(|job| job.outcome == Outcome::Lost));
    let why = "8 processes failed, and none answered a single case: it ended (exit ";
    let lost = host.lost().expect("it is given up");
    assert!(
        lost.starts_with(why) && lost.ends_with("it said: loading | ZeroDivisionError: division by zero")
    );
}

#[test]
fn a_backend_that_stops_answering_is_given_up_later() {
    let mut host = host("each");
    let mut troubles = [Trouble::None; 200];
    troubles[1] = Trouble::Breaks;
    let batch = run_in(&mut host, &troubles);
    let outcomes: Vec<&Outcome> = batch.jobs().iter().map(|job| &job.outcome).collect();
    assert_eq!(outcomes[0], &Outcome::Output);
    assert!(matches!(outcomes[1], Outcome::Crashed(_)));
    assert_eq!(outcomes[199], &Outcome::Lost);
    let lost = host.lost().expect("it is given up");
    assert!(lost.starts_with("16 processes in a row answered no case, and another one not even "), "{lost}");
}

/// However many cases in a row end their processes or break the protocol, the run goes on as long as others are answered.
#[test]
fn a_class_of_cases_that_fails_is_judged_to_its_end() {
    let runs = [
        (Trouble::Ends, &WAYS[..]),
        (Trouble::Prints, &["each"]),
        (Trouble::SendsTooFewBytes, &["batch"]),
        (Trouble::AnswersTwice, &["packed"]),
    ];
    for (trouble, ways) in runs {
        for way in ways {
            let mut troubles = [trouble; 40];
            (troubles[0], troubles[30], troubles[39]) = (Trouble::None, Trouble::None, Trouble::None);
            let mut host = host(way);
            let batch = run_in(&mut host, &troubles);
            check_copies(&batch);
            assert_eq!(host.lost(), None, "{way} {trouble:?}");
            for (number, (job, trouble)) in batch.jobs().iter().zip(troubles).enumerate() {
                let was_pinned = matches!(job.outcome, Outcome::Crashed(_) | Outcome::Failed { .. });
                assert_eq!(was_pinned, trouble != Trouble::None, "{way} {trouble:?} {number}: {job:?}");
            }
        }
    }
}

#[test]
fn a_backend_that_answers_none_but_what_it_is_known_to_is_not_given_up() {
    let desc = batch(&[Trouble::None]).jobs()[0].desc.clone();
    let launcher = Launcher::new(command("each", &memory()), CASE_TIMEOUT).knowing(vec![desc]);
    let mut host = Arc::new(launcher).host().expect("the puppet starts");
    let batch = run_in(&mut host, &[Trouble::Ends; 50]);
    assert!(batch.jobs().iter().all(|job| matches!(job.outcome, Outcome::Crashed(_))));
    assert_eq!(host.lost(), None);
}

/// Every process that a backend starts ends with it, and none that goes on hides that the backend has ended.
#[test]
#[cfg(target_os = "linux")]
fn what_a_process_leaves_behind_is_ended_and_delays_nobody() {
    for (trouble, is_ended) in [(Trouble::LeavesAnother, true), (Trouble::LeavesAStranger, false)] {
        let memory = memory();
        let started = Instant::now();
        let batch = run_in(&mut remembering("each", &memory), &[Trouble::None, trouble, Trouble::None]);
        assert!(started.elapsed() < CASE_TIMEOUT, "{:?}", started.elapsed());
        let outcomes: Vec<&Outcome> = batch.jobs().iter().map(|job| &job.outcome).collect();
        let [Outcome::Output, Outcome::Crashed(how), Outcome::Output] = outcomes[..] else {
            panic!("{trouble:?}: {outcomes:?}")
        };
        assert!(how.contains("exit status: 3"), "{how}");
        let left = std::fs::read_to_string(&memory).expect("it wrote down what it left");
        // One that was ended and that nobody waits for is a zombie.
        let state = std::fs::read_to_string(format!("/proc/{left}/stat")).unwrap_or_default();
        assert_eq!(state.is_empty() || state.contains(") Z "), is_ended, "{state}");
    }
}

#[test]
fn the_first_failure_is_told_before_its_case_is_found() {
    let incidents = Incidents::default();
    let launcher = Launcher::new(command("each", &memory()), CASE_TIMEOUT).telling(incidents.clone());
    let mut host = Arc::new(launcher).host().expect("the puppet starts");
    run_in(&mut host, &[Trouble::None, Trouble::Ends, Trouble::None, Trouble::Aborts]);
    let told = incidents.take().expect("it is told");
    assert!(told.starts_with("a backend process failed: it ended (exit "), "{told}");
    assert_eq!(incidents.take(), None, "once");
}
