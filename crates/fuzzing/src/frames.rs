//! Fuzzing the protocol of backend processes: whatever a pipe brings, it is a frame, the end, or a mistake that can be
//! shown; and whatever a header says, it is a message that makes sense, or a mistake.

use dmlcts_backend::{
    Backend, Batch,
    protocol::{
        Bounds, Frame, Hello, HostHello, LevelForm, Results, RunForm, read_packed, read_run, write_frame,
    },
};
use dmlcts_model::{Outcome, Signatures};
use dmlcts_reference::Reference;
use dmlcts_spec::Library;

/// As much memory may be asked for.
const MOST: u64 = 1 << 20;

/// The target. The bytes are read as what a pipe brings, and as the header of each message: the first line is the
/// header, and what follows it the body.
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
    let (mut batch, mut slow) = (Batch::default(), Batch::default());
    let signatures = Library::embedded().signatures();
    let form = serde_json::from_slice::<RunForm>(header).map_err(|error| error.to_string());
    let form = form.and_then(|form| form.fill(body, signatures, &mut slow, MOST).map(|()| form.number));
    assert_eq!(read_run(header, body, signatures, &mut batch, MOST), form);
    if form.is_ok() {
        assert_eq!((&batch.inputs, &batch.outputs), (&slow.inputs, &slow.outputs));
        for (quick, slow) in batch.jobs().iter().zip(slow.jobs()) {
            assert_eq!((&quick.desc, &quick.runs), (&slow.desc, &slow.runs));
        }
        Reference::backend().run(&mut batch);
        assert!(batch.jobs().iter().all(|job| job.outcome != Outcome::Lost));
    }
    packed(header, body, signatures);
    let results = Results::read(header);
    assert_eq!(results, serde_json::from_slice(header).map_err(|error| error.to_string()));
    if let Ok(results) = results {
        let (jobs, _, outputs) = batch.parts();
        if let Ok(count) = results.apply(body, jobs, outputs) {
            assert!(count <= jobs.len());
        }
    }
}

/// Reads a header and a body as `packed`. What makes sense is run.
fn packed(header: &[u8], body: &[u8], signatures: &Signatures) {
    let mut batch = Batch::default();
    if read_packed(header, body, signatures, &mut batch, MOST).is_ok() {
        Reference::backend().run(&mut batch);
        assert!(batch.jobs().iter().all(|job| job.outcome != Outcome::Lost));
    }
}
