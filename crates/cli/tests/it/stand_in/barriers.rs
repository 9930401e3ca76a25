//! The barriers of the backend `directml`. The stand-in follows them, and removes one on request, as if the
//! backend forgot it.

use super::*;

/// The barriers of a batch's command list in order, and the message about each one if it is missing.
const BARRIERS: [&str; 5] = [
    "dispatching: the input is in the state COPY_DEST, not UNORDERED_ACCESS: a transition is missing",
    "dispatching: the output is in the state COPY_DEST, not UNORDERED_ACCESS: a transition is missing",
    "dispatching: a dispatch before it writes the persistent resource: a UAV barrier is missing",
    "barriers: a copy reads a buffer in the state UNORDERED_ACCESS, not COPY_SOURCE: a transition is missing",
    "barriers: a copy reads a buffer in the state UNORDERED_ACCESS, not COPY_SOURCE: a transition is missing",
];
const BETWEEN_DISPATCHES: usize = 2;

/// Runs cases without one barrier, counted from the first of the process. `None` if the stand-in cannot judge
/// barriers on this Direct3D. It can on Wine's, and `.ci/wine` requires it.
fn run_without(barrier: usize, arguments: &[&str]) -> Option<(String, i32)> {
    let (text, code) = run(&format!("lost@barrier:{}", barrier + 1), arguments);
    if text.contains("barriers are not judged") {
        eprintln!("SKIPPED: barriers are not judged here: {text}");
        assert!(env::var_os("DMLCTS_REQUIRE_BARRIERS").is_none(), "DMLCTS_REQUIRE_BARRIERS is set");
        return None;
    }
    Some((text, code))
}

/// The case has a persistent resource, which its initialiser writes.
#[test]
fn each_barrier_that_the_backend_needs_is_missed() {
    for (number, words) in BARRIERS.iter().enumerate() {
        let Some((text, code)) = run_without(number, &["--retries", "0", PADDING1]) else { return };
        assert!(code == 1 && text.contains(&format!("the device is removed: {words}")), "{number}: {text}");
        assert!(text.contains("the device was removed: 0x887A0005 DXGI_ERROR_DEVICE_REMOVED"), "{text}");
    }
}

/// Barriers are counted across lists: with one list, the first barrier of the second list is not missing.
#[test]
fn each_list_is_judged_by_its_own_barriers() {
    let second = BARRIERS.len();
    let Some(alone) = run_without(second, &[PADDING1]) else { return };
    assert_eq!(passed(alone), 1);
    let Some((text, code)) = run_without(second, &["--limit", "1000"]) else { return };
    assert!(code == 1 && text.contains(&format!("the device is removed: {}", BARRIERS[0])), "{text}");
    assert!(text.contains(", 1 flaky\n") && !text.contains(" failed, "), "{text}");
}

/// An initialiser without work writes nothing that needs a barrier.
#[test]
fn independent_copies_need_no_barrier() {
    let slice = "SLICE FLOAT32 in=4 out=2 Offsets=1 Sizes=2 Strides=1 fill=iota";
    for number in 0..BARRIERS.len() {
        let Some((text, code)) = run_without(number, &["--retries", "0", slice]) else { return };
        assert_eq!(code, i32::from(number != BETWEEN_DISPATCHES), "{number}: {text}");
    }
}
