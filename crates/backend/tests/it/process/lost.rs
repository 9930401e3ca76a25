//! Backends that are given up, and those that are not.

use super::*;

#[test]
fn a_process_that_does_not_come_back_is_lost_and_no_case_is() {
    let fickle = "declares something else than when it was first started: `limits.busy_cases` was none and is 2000, \
                  `name` was \"puppet\" and is \"another\"; a backend says the same whenever it is started";
    for (way, why) in [("dies-at-second-start", "it does not start again"), ("fickle", fickle)] {
        let mut host = host(way);
        let batch = run_in(&mut host, &[Trouble::None, Trouble::EndsOnce, Trouble::None]);
        assert_eq!(batch.jobs()[0].outcome, Outcome::Output);
        assert!(batch.jobs()[1..].iter().all(|job| job.outcome == Outcome::Lost), "{:?}", batch.jobs());
        assert!(host.lost().is_some_and(|lost| lost.contains(why)), "{way}: {:?}", host.lost());
        // It gets no more cases.
        let after = run_in(&mut host, &[Trouble::None; 3]);
        assert!(after.jobs().iter().all(|job| job.outcome == Outcome::Lost));
    }
}

#[test]
fn a_backend_that_never_answers_is_given_up() {
    let mut host = host("each");
    let batch = run_in(&mut host, &[Trouble::Ends; 200]);
    assert!(batch.jobs().iter().all(|job| job.outcome == Outcome::Lost));
    let why = "4 processes in a row failed before they answered a case; the last one: it ended (exit ";
    let lost = host.lost().expect("it is given up");
    assert!(
        lost.starts_with(why) && lost.ends_with("it said: loading | ZeroDivisionError: division by zero")
    );
}

/// Each case is answered, and each answer is followed by another, so that none counts.
#[test]
fn a_backend_that_always_answers_twice_is_given_up() {
    for way in WAYS {
        let mut host = host(way);
        let batch = run_in(&mut host, &[Trouble::AnswersTwice; 5]);
        assert!(batch.jobs().iter().all(|job| job.outcome == Outcome::Lost), "{way}: {:?}", batch.jobs());
        let lost = host.lost().expect("it is given up");
        assert!(lost.starts_with("4 processes in a row failed before they answered a case; "), "{lost}");
    }
}

#[test]
fn a_backend_that_stops_answering_is_given_up_later() {
    let mut host = host("each");
    let mut troubles = [Trouble::None; 200];
    troubles[1] = Trouble::Breaks;
    let batch = run_in(&mut host, &troubles);
    let outcomes: Vec<&Outcome> = batch.jobs().iter().map(|job| &job.outcome).collect();
    assert_eq!(outcomes[0], &Outcome::Output);
    assert!(outcomes[1..].iter().all(|outcome| **outcome == Outcome::Lost), "{outcomes:?}");
    let lost = host.lost().expect("it is given up");
    assert!(lost.starts_with("4 processes in a row failed before they answered a case; "), "{lost}");
}

/// Any number of cases in a row may end their processes or break the protocol: the run continues as long as
/// others are answered.
#[test]
fn a_class_of_cases_that_fails_is_judged_to_its_end() {
    let runs = [
        (Trouble::Ends, &WAYS[..]),
        (Trouble::Prints, &["each"]),
        (Trouble::SendsTooFewBytes, &["batch"]),
        (Trouble::AnswersTwice, &["packed"]),
    ];
    at_once(runs, |(trouble, ways)| {
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
    });
}

#[test]
fn a_backend_that_answers_none_but_what_it_is_known_to_is_not_given_up() {
    let desc = batch(&[Trouble::None]).jobs()[0].desc.as_ref().clone();
    let launcher = Launcher::new(command("each", &memory()), CASE_TIMEOUT).with_probes(vec![desc]);
    let mut host = Arc::new(launcher).host(Purpose::Cases).expect("the puppet starts");
    let batch = run_in(&mut host, &[Trouble::Ends; 50]);
    assert!(batch.jobs().iter().all(|job| matches!(job.outcome, Outcome::Crashed(_))));
    assert_eq!(host.lost(), None);
}

/// A probe that ends processes gives up a backend only if no other probe is answered.
#[test]
fn probes_are_asked_in_turn() {
    let desc = |trouble| batch(&[trouble]).jobs()[0].desc.as_ref().clone();
    let rows = [(vec![desc(Trouble::Ends), desc(Trouble::None)], false), (vec![desc(Trouble::Ends)], true)];
    for (known, is_lost) in rows {
        let launcher = Launcher::new(command("each", &memory()), CASE_TIMEOUT).with_probes(known);
        let mut host = Arc::new(launcher).host(Purpose::Cases).expect("the puppet starts");
        let batch = run_in(&mut host, &[Trouble::Ends; 5]);
        assert_eq!(host.lost().is_some(), is_lost);
        let crashed = batch.jobs().iter().filter(|job| matches!(job.outcome, Outcome::Crashed(_))).count();
        assert_eq!(crashed, if is_lost { 0 } else { 5 });
    }
}
