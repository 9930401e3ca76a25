//! Output of a process in place of an answer.

use super::*;

/// The words of a failure.
#[track_caller]
fn failure(trouble: Trouble) -> String {
    match pinned(trouble) {
        Outcome::Failed { reason, .. } => reason.into_owned(),
        other => panic!("{trouble:?}: {other:?}"),
    }
}

#[test]
fn wrong_answers_are_described() {
    assert!(failure(Trouble::Prints).starts_with("`case done` stands where a frame must begin"));
    assert!(failure(Trouble::Announces).contains("announces 1152921504606846976 bytes of body"));
    assert!(failure(Trouble::AnswersTooMany).contains("they answer 1000 cases, and "));
    assert!(failure(Trouble::Babbles).contains("unknown variant `maybe`"));
    assert!(failure(Trouble::SendsTooFewBytes).contains(" and 1 came"));
    assert!(failure(Trouble::Repeats).contains("it sent `hello` where `results` are due"));
    assert!(failure(Trouble::EntersForever).contains("it sent `phase` where `results` are due"));
    let batch = run_in(&mut host("ahead"), &[Trouble::None, Trouble::Misnumbers]);
    let Outcome::Failed { reason, .. } = &batch.jobs()[1].outcome else { panic!("{:?}", batch.jobs()) };
    assert!(reason.contains("their `number` is 77, where "), "{reason}");
}

/// The answers that came before the frame do not count either: the puppet makes them wrong.
#[test]
fn no_answer_of_a_batch_counts_with_a_frame_of_another_version() {
    let reason = failure(Trouble::SpeaksAnother);
    assert!(reason.starts_with("it speaks protocol version 2; "), "{reason}");
}

/// Surplus answers replace those of other cases, of the same batch or of the next. The host still finds the
/// case that caused them.
#[test]
fn answers_beyond_those_that_are_due_are_the_failure_of_who_sends_them() {
    assert!(failure(Trouble::AnswersTwice).contains("after its answers, it sent another `results`"));
    let flood = failure(Trouble::Floods);
    assert!(flood.contains("after its answers, it sent another `results`"), "{flood}");
}

#[test]
fn the_batch_behind_surplus_answers_has_its_own() {
    for way in ["batch", "ahead"] {
        let [first, second] = run_ahead(
            &mut host(way),
            [
                &[Trouble::None, Trouble::None, Trouble::AnswersTwice],
                &[Trouble::None, Trouble::None, Trouble::Refuses],
            ],
        );
        assert!(matches!(first.jobs()[2].outcome, Outcome::Failed { .. }), "{way}: {:?}", first.jobs()[2]);
        let refused = &second.jobs()[2];
        assert!(matches!(refused.outcome, Outcome::Rejected { .. }), "{way}: {refused:?}");
    }
}
