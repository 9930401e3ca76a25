//! Backends that are given up, and those that are not.

use super::*;

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
    let launcher = Launcher::new(command("each", &memory()), CASE_TIMEOUT).knowing(vec![desc]);
    let mut host = Arc::new(launcher).host().expect("the puppet starts");
    let batch = run_in(&mut host, &[Trouble::Ends; 50]);
    assert!(batch.jobs().iter().all(|job| matches!(job.outcome, Outcome::Crashed(_))));
    assert_eq!(host.lost(), None);
}

/// What a run begins with may all fail. That its first case does is known, and told of, as soon as a process has answered anything.
#[test]
fn what_fails_first_of_all_is_told_of_where_a_canary_is_answered() {
    let desc = |trouble| batch(&[trouble]).jobs()[0].desc.as_ref().clone();
    for (known, first) in [(vec![desc(Trouble::None)], 1), (vec![desc(Trouble::Ends)], 5)] {
        let launcher = Launcher::new(command("each", &memory()), CASE_TIMEOUT).knowing(known);
        let mut host = Arc::new(launcher).host().expect("the puppet starts");
        let mut batch = batch(&[Trouble::Ends; 5]);
        host.start(&mut batch);
        assert_eq!(host.finish_some(&mut batch, Duration::MAX), first);
        while host.finish_some(&mut batch, Duration::MAX) < batch.jobs().len() {}
        assert!(batch.jobs().iter().all(|job| matches!(job.outcome, Outcome::Crashed(_))));
        assert_eq!(host.lost(), None);
    }
}
