//! Processes that end or are ended.

use super::*;

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
        assert!(reason.contains("no case repeats it alone"), "{reason}");
    }
}

/// A kill from outside is an incident, and every case has its own answer.
#[test]
#[cfg(unix)]
fn a_kill_that_no_case_repeats_is_blamed_on_none() {
    for way in WAYS {
        let incidents = Incidents::default();
        let launcher = Launcher::new(command(way, &memory()), CASE_TIMEOUT).with_incidents(incidents.clone());
        let mut host = Arc::new(launcher).host(Purpose::Cases).expect("the puppet starts");
        let mut troubles = [Trouble::None; 20];
        troubles[7] = Trouble::IsKilledOnce;
        let batch = run_in(&mut host, &troubles);
        assert!(batch.jobs().iter().all(|job| job.outcome == Outcome::Output), "{way}");
        let told: Vec<_> = std::iter::from_fn(|| incidents.take()).collect();
        assert!(told.iter().any(|told| told.contains("killed from outside (SIGKILL)")), "{told:?}");
    }
}

/// A case that is killed each time is a crash: it takes more memory than there is, for example.
#[test]
#[cfg(unix)]
fn a_kill_that_its_case_repeats_is_its_crash() {
    let Outcome::Crashed(reason) = pinned(Trouble::IsKilled) else { panic!("no crash") };
    assert!(reason.contains("signal: 9"), "{reason}");
}

/// A process that takes more memory than it may is ended, and its case is blamed.
#[test]
#[cfg(target_os = "linux")]
fn a_case_that_takes_too_much_memory_is_found() {
    for way in WAYS {
        let launcher = Launcher::new(command(way, &memory()), CASE_TIMEOUT).with_memory(Some(128 << 20));
        let mut host = Arc::new(launcher).host(Purpose::Cases).expect("the puppet starts");
        let batch = run_in(&mut host, &[Trouble::None, Trouble::TakesMemory, Trouble::None]);
        let outcomes: Vec<_> = batch.jobs().iter().map(|job| &job.outcome).collect();
        let [Outcome::Output, Outcome::Crashed(how), Outcome::Output] = outcomes[..] else {
            panic!("{way}: {outcomes:?}")
        };
        assert!(how.starts_with("out of memory: it used more than the 128 MiB of --backend-memory"), "{how}");
    }
}

/// A fresh process gets both batches after the one that ended the process, and answers both at once.
#[test]
fn answers_that_come_early_are_those_of_the_next_batch() {
    let [first, second, third] = run_ahead(
        &mut host("two"),
        [
            &[Trouble::None, Trouble::Ends, Trouble::None],
            &[Trouble::None; 5],
            &[Trouble::None, Trouble::Refuses],
        ],
    );
    assert!(matches!(first.jobs()[1].outcome, Outcome::Crashed(_)));
    assert!(second.jobs().iter().all(|job| job.outcome == Outcome::Output), "{:?}", second.jobs()[0].outcome);
    assert!(matches!(third.jobs()[1].outcome, Outcome::Rejected { .. }));
}

#[test]
fn a_crash_leaves_the_batches_behind_it_alone() {
    for way in ["each", "ahead"] {
        let [first, second, third] = run_ahead(
            &mut host(way),
            [
                &[Trouble::None, Trouble::Ends, Trouble::None],
                &[Trouble::None; 5],
                &[Trouble::None, Trouble::None, Trouble::Aborts],
            ],
        );
        assert!(matches!(first.jobs()[1].outcome, Outcome::Crashed(_)), "{way}");
        assert!(second.jobs().iter().all(|job| job.outcome == Outcome::Output), "{way}");
        assert!(matches!(third.jobs()[2].outcome, Outcome::Crashed(_)), "{way}");
    }
}

/// Every process that a backend starts ends with it, and a child that stays does not hide that the backend
/// has ended.
#[test]
#[cfg(target_os = "linux")]
fn a_left_process_is_ended_and_delays_no_case() {
    for (trouble, is_ended) in [(Trouble::LeavesAnother, true), (Trouble::LeavesAStranger, false)] {
        let memory = memory();
        // A host that waited for the child would wait for days.
        let launcher = Arc::new(Launcher::new(command("each", &memory), NEVER));
        let mut host = launcher.host(Purpose::Cases).expect("the puppet starts");
        let batch = run_in(&mut host, &[Trouble::None, trouble, Trouble::None]);
        let outcomes: Vec<&Outcome> = batch.jobs().iter().map(|job| &job.outcome).collect();
        let [Outcome::Output, Outcome::Crashed(how), Outcome::Output] = outcomes[..] else {
            panic!("{trouble:?}: {outcomes:?}")
        };
        assert!(how.contains("exit status: 3"), "{how}");
        let left = std::fs::read_to_string(&memory).expect("it wrote down what it left");
        // An ended process whose parent does not wait for it is a zombie.
        let state = std::fs::read_to_string(format!("/proc/{left}/stat")).unwrap_or_default();
        assert_eq!(state.is_empty() || state.contains(") Z "), is_ended, "{state}");
    }
}

#[test]
fn the_first_failure_is_told_before_its_case_is_found() {
    let incidents = Incidents::default();
    let launcher = Launcher::new(command("each", &memory()), CASE_TIMEOUT).with_incidents(incidents.clone());
    let mut host = Arc::new(launcher).host(Purpose::Cases).expect("the puppet starts");
    run_in(&mut host, &[Trouble::None, Trouble::Ends, Trouble::None, Trouble::Aborts]);
    let told = incidents.take().expect("it is told");
    assert!(told.starts_with("a backend process failed: it ended (exit "), "{told}");
    assert_eq!(incidents.take(), None, "once");
}
