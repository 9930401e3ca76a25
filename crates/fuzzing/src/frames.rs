//! Fuzzes the protocol of backend processes. Any bytes are a frame, the end, or a mistake with a short
//! message. Any header is a valid message or a mistake.

use dmlcts_backend::{
    Backend, Batch,
    protocol::{Bounds, Frame, Hello, HostHello, LevelForm, Results, read_packed, read_run, write_frame},
};
use dmlcts_model::Outcome;
use dmlcts_reference::Reference;
use dmlcts_spec::Library;

/// The maximum number of bytes of a header, a body or a batch's outputs.
const MOST: u64 = 1 << 20;

/// The target. The bytes are read as frames, and as each message, with the first line as the header and the
/// rest as the body.
///
/// # Panics
///
/// A frame that was read is written as other bytes, or results answer more jobs than there are.
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

/// Reads a header and a body as each message.
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

/// Runs a batch that was read without a mistake.
fn run(is_read: bool, batch: &mut Batch) {
    if is_read {
        Reference::backend().run(batch);
        assert!(batch.jobs().iter().all(|job| job.outcome != Outcome::Lost));
    }
}
