//! Fuzzing the protocol of backend processes: whatever a pipe brings, it is a frame, the end, or a mistake
//! that can be shown; and whatever a header says, it is a message that makes sense, or a mistake.

use dmlcts_backend::{
    Backend, Batch,
    protocol::{Bounds, Frame, Hello, HostHello, LevelForm, Results, read_packed, read_run, write_frame},
};
use dmlcts_model::Outcome;
use dmlcts_reference::Reference;
use dmlcts_spec::Library;

/// As much memory may be asked for.
const MOST: u64 = 1 << 20;

/// The target. The bytes are read as what a pipe brings, and as the header of each message: the first line is
/// the header, and what follows it the body.
///
/// # Panics
///
/// Where a frame does not survive being written, or an answer to a job goes beyond it.
pub fn frames(bytes: &[u8]) {
    let mut pipe = bytes;
    loop {
        let before = pipe;
        match Frame::read(&mut pipe, Bounds { header: MOST, body: MOST }) {
            Ok(Some(frame)) => {
                let mut written = Vec::new();
                let wrote = write_frame(&mut written, frame.kind, &frame.header, &frame.body);
                assert!(
                    wrote.is_ok() && before.starts_with(&written),
                    "{frame:?} was written as {written:?}"
                );
                messages(&frame.header, &frame.body);
            }
            Ok(None) => break,
            Err(error) => {
                assert!(error.to_string().len() < 1000, "{error}");
                break;
            }
        }
    }
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    messages(&bytes[..end], bytes.get(end + 1..).unwrap_or_default());
}

/// Reads a header as each message.
fn messages(header: &[u8], body: &[u8]) {
    let _ = serde_json::from_slice::<HostHello>(header);
    let _ = serde_json::from_slice::<LevelForm>(header);
    if let Ok(hello) = serde_json::from_slice::<Hello>(header)
        && let Ok(capabilities) = hello.capabilities()
    {
        assert_eq!(Hello::from(&capabilities).capabilities(), Ok(capabilities));
    }
    let signatures = Library::embedded().signatures();
    let mut batch = Batch::default();
    run(read_run(header, body, signatures, &mut batch, MOST).is_ok(), &mut batch);
    let mut packed = Batch::default();
    run(read_packed(header, body, signatures, &mut packed, MOST).is_ok(), &mut packed);
    if let Ok(results) = Results::read(header) {
        let (jobs, _, outputs) = batch.parts();
        if let Ok(count) = results.apply(body, jobs, outputs) {
            assert!(count <= jobs.len());
        }
    }
}

/// Runs what was read without a mistake.
fn run(is_read: bool, batch: &mut Batch) {
    if is_read {
        Reference::backend().run(batch);
        assert!(batch.jobs().iter().all(|job| job.outcome != Outcome::Lost));
    }
}
