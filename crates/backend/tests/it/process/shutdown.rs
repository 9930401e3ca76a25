//! The host records how each process ends that it told to end.

use dmlcts_backend::process::Shutdowns;

use super::*;

/// Processes that answer a case and are told to end, and the incidents meanwhile.
fn dismissed(way: &str, processes: usize) -> (Shutdowns, Vec<String>) {
    let incidents = Incidents::default();
    let launcher = Launcher::new(command(way, &memory()), Duration::from_secs(60));
    let launcher = Arc::new(launcher.with_incidents(incidents.clone()).with_short_grace());
    for _ in 0..processes {
        let mut host = launcher.host(Purpose::Cases).expect("the puppet starts");
        run_in(&mut host, &[Trouble::None]);
    }
    (incidents.shutdowns(), std::iter::from_fn(|| incidents.take()).collect())
}

/// The number of good, bad and late ends.
fn counts(shutdowns: &Shutdowns) -> (u64, u64, u64) {
    (shutdowns.well, shutdowns.badly, shutdowns.late)
}

#[test]
fn an_honest_process_ends_well() {
    let (shutdowns, told) = dismissed("each", 2);
    assert_eq!((counts(&shutdowns), shutdowns.bad_end()), ((2, 0, 0), None));
    assert_eq!(told, [""; 0]);
}

#[test]
fn a_failure_after_the_last_answer_is_reported_with_its_last_words() {
    let (shutdowns, _) = dismissed("leaks", 1);
    let leaks = "23; it said: ==7==ERROR: LeakSanitizer: detected memory leaks | SUMMARY: 12 bytes leaked";
    let said = shutdowns.bad_end().expect("it leaks");
    assert!(said.starts_with("a backend process ended badly when it was told to end: exit "), "{said}");
    assert!(said.ends_with(leaks), "{said}");
    let (shutdowns, told) = dismissed("fails-at-end", 3);
    let said = shutdowns.bad_end().expect("they fail");
    assert!(
        said.starts_with("3 backend processes ended badly when they were told to end; the first: exit "),
        "{said}"
    );
    assert_eq!((counts(&shutdowns), told.len()), ((0, 3, 0), 0));
    let (shutdowns, _) = dismissed("aborts-at-end", 1);
    let said = shutdowns.bad_end().expect("it aborts");
    assert!(!cfg!(unix) || said.contains("signal: 6"), "{said}");
}

/// An ended process breaks nothing, and its host knows why it ended.
#[test]
fn a_process_that_does_not_end_is_killed_and_reported_once() {
    let (shutdowns, told) = dismissed("stays", 2);
    assert_eq!((counts(&shutdowns), shutdowns.bad_end()), ((0, 0, 2), None));
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("a backend process did not end within 1.5 s of `bye`"), "{told:?}");
}

/// Text on standard output is a fault, as at any other time.
#[test]
fn surplus_answers_are_reported_once() {
    let prints = "`12 cases done, 0 failed` stands where a frame must begin; ";
    for (way, what) in [("prints-at-end", prints), ("repeats-at-end", "it sent another `hello`")] {
        let (shutdowns, told) = dismissed(way, 2);
        assert_eq!((counts(&shutdowns), shutdowns.noisy, shutdowns.bad_end()), ((2, 0, 0), 2, None), "{way}");
        let start = format!("a backend process went on after its last answer: {what}");
        assert!(told.len() == 1 && told[0].starts_with(&start), "{told:?}");
    }
}
