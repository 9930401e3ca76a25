//! The times of a batch add up to no more than the time that passed.

use super::*;

/// A process that has two batches works on one of them, and the time counts for that one alone.
#[test]
fn a_batch_that_waits_for_another_takes_no_time() {
    for way in WAYS {
        let mut host = host(way);
        let since = Instant::now();
        let cases: [&[Trouble]; 2] = [&[Trouble::TakesLong], &[Trouble::TakesLong, Trouble::TakesLong]];
        let batches = run_ahead(&mut host, cases);
        let passed = since.elapsed();
        let [first, second] = batches.map(|batch| batch.times.answer.expect("a host measures it"));
        // A host that reads the first answer late counts less for the second batch.
        assert!(first >= Duration::from_millis(100), "{way}: {first:?}");
        let sum = first + second;
        assert!(
            sum >= Duration::from_millis(300) && sum <= passed,
            "{way}: {first:?} + {second:?}, {passed:?}"
        );
    }
}

#[test]
fn a_restart_counts_as_start_and_not_as_answer() {
    let mut host = host("batch");
    let since = Instant::now();
    let times = run_in(&mut host, &[Trouble::EndsOnce, Trouble::None]).times;
    let (passed, answer) = (since.elapsed(), times.answer.expect("a host measures it"));
    assert!(times.start > Duration::ZERO && answer > Duration::ZERO);
    assert!(times.start + answer <= passed, "{times:?} > {passed:?}");
    assert_eq!(run_in(&mut host, &[Trouble::None]).times.start, Duration::ZERO);
}
