//! The backend's side of the protocol, for any [`Backend`].

use std::io::{self, BufRead, Write};

use dmlcts_model::{Outcome, Phase, Signatures};
use serde::{Deserialize, Serialize};

use super::{
    Bounds, Frame, FrameError, FrameKind, Hello, HostHello, LONGEST_HEADER, LONGEST_HELLO, LevelForm,
    PhaseForm, Results, TimesForm, another_version, check_text, guards, prefix, read_packed, read_run,
    signatures, speaks, write_frame,
};
use crate::{Backend, Batch};

/// Why a conversation ended early.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Bytes that are not a frame.
    #[error("what the host sent is not a frame: {0}")]
    Frame(#[from] FrameError),
    /// A frame that makes no sense.
    #[error("the host sent a `{0}` that makes no sense: {1}")]
    Message(&'static str, String),
    /// An answer could not be written.
    #[error("the host does not listen: {0}")]
    Io(#[from] io::Error),
}

/// Answers a host, until it says bye or ends the pipe. The host's `hello` describes the operators for which
/// it asks.
///
/// ```no_run
/// # fn example(mine: impl dmlcts_backend::Operators) -> Result<(), Box<dyn std::error::Error>> {
/// use dmlcts_backend::{Interleaved, protocol};
///
/// let mut output = protocol::claim_stdout()?;
/// protocol::serve(&mut Interleaved::new(mine), &mut std::io::stdin().lock(), &mut output)?;
/// # Ok(())
/// # }
/// ```
pub fn serve(
    backend: &mut dyn Backend,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> Result<(), ServeError> {
    let mut bounds = Bounds { header: LONGEST_HELLO, body: isize::MAX as u64 };
    let mut batch = Batch::default();
    let mut operators = Signatures::default();
    while let Some(frame) = Frame::read(input, bounds)? {
        bounds.header = LONGEST_HEADER;
        match frame.kind {
            FrameKind::Hello => {
                if let Some(version) = another_version(&frame.header) {
                    return Err(ServeError::Message("hello", speaks("it", version)));
                }
                let host: HostHello = parse(&frame)?;
                check_text("host", &host.host).map_err(|what| ServeError::Message("hello", what))?;
                operators = signatures(host.operators);
                let hello = Hello { packed: true, ahead: true, ..Hello::from(backend.capabilities()) };
                send(output, FrameKind::Hello, &hello)?;
            }
            FrameKind::Level => {
                let level: LevelForm = parse(&frame)?;
                let level = level.feature_level.parse();
                let level = level.map_err(|error| ServeError::Message("level", format!("{error}")))?;
                backend.set_feature_level(level);
            }
            FrameKind::Run | FrameKind::Packed => {
                batch.clear();
                let read = if frame.kind == FrameKind::Run { read_run } else { read_packed };
                let read = read(&frame.header, &frame.body, &operators, &mut batch, u64::MAX);
                let number = read.map_err(|what| ServeError::Message(frame.kind.name(), what))?;
                let inputs: usize =
                    batch.jobs().iter().flat_map(|job| &job.runs).map(|run| run.input.len()).sum();
                let body = frame.body.get(frame.body.len() - inputs..).unwrap_or_default();
                if backend.capabilities().limits.create_time.is_zero() {
                    backend.run(&mut batch);
                } else {
                    let mut sent = Ok(());
                    let mut enter = |phase: Phase| {
                        if sent.is_ok() {
                            sent = send(output, FrameKind::Phase, &PhaseForm { phase: phase.into() });
                        }
                    };
                    backend.run_in_phases(&mut batch, &mut enter);
                    sent?;
                }
                guards::check(&mut batch, body);
                answer(output, &batch, number)?;
            }
            FrameKind::Bye => return Ok(()),
            FrameKind::Phase | FrameKind::Results => {
                return Err(ServeError::Message(frame.kind.name(), "only a backend sends it".to_owned()));
            }
        }
    }
    Ok(())
}

/// The header of a frame.
fn parse<'a, T: Deserialize<'a>>(frame: &'a Frame) -> Result<T, ServeError> {
    serde_json::from_slice(&frame.header)
        .map_err(|error| ServeError::Message(frame.kind.name(), error.to_string()))
}

/// Sends a message without a body.
fn send<T: Serialize>(output: &mut impl Write, kind: FrameKind, message: &T) -> io::Result<()> {
    write_frame(output, kind, &serde_json::to_vec(message)?, &[])
}

/// Sends what became of the jobs of a question with this number.
fn answer(output: &mut impl Write, batch: &Batch, number: Option<u64>) -> io::Result<()> {
    let jobs = batch.jobs();
    let times = batch.times.work.map(TimesForm::from);
    let header = serde_json::to_vec(&Results { number, times, ..Results::of(jobs) })?;
    let runs = || jobs.iter().filter(|job| job.outcome == Outcome::Output).flat_map(|job| &job.runs);
    let length = runs().map(|run| run.output.len()).sum();
    output.write_all(&prefix(FrameKind::Results, header.len(), length))?;
    output.write_all(&header)?;
    for run in runs() {
        output.write_all(&batch.outputs[run.output.clone()])?;
    }
    output.flush()
}
