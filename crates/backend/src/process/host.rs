//! A backend in another process: sends batches, takes results as they come, and holds the process to its deadline.
//!
//! Two batches are under way at a time, so that the process works on one while the runner prepares the other. What
//! happens when the process does not answer is in [`super::settle`].

use std::{collections::VecDeque, ops::Range, sync::Arc, time::Duration};

use dmlcts_model::FeatureLevel;
use serde::Serialize;

use super::{
    Launcher,
    child::{Child, Fault},
};
use crate::{
    Backend, Batch, Capabilities, Job,
    protocol::{Bye, Columns, Frame, Kind, LevelForm, Results, prefix},
};

/// So many processes in a row may end or fail without having answered a single case; then the run ends.
const FRUITLESS: u32 = 32;

/// A backend in another process.
pub struct Host {
    launcher: Arc<Launcher>,
    capabilities: Capabilities,
    level: Option<FeatureLevel>,
    child: Option<Child>,
    /// Counts processes, so that a batch knows whether the one that has it is still there.
    generation: u64,
    /// Whether the process has been asked for no case yet.
    is_fresh: bool,
    /// The batches that are started and not finished: which process has them, and the bytes of their outputs.
    sent: VecDeque<(u64, u64)>,
    /// Processes in a row that answered nothing.
    fruitless: u32,
    lost: Option<String>,
}

impl Host {
    pub(super) fn new(launcher: Arc<Launcher>, child: Child, capabilities: Capabilities) -> Self {
        Self {
            launcher,
            capabilities,
            level: None,
            child: Some(child),
            generation: 0,
            is_fresh: true,
            sent: VecDeque::new(),
            fruitless: 0,
            lost: None,
        }
    }

    /// How long the process may be silent while it has cases.
    fn patience(&self) -> Duration {
        self.launcher.case_timeout()
    }

    pub(super) fn is_lost(&self) -> bool {
        self.lost.is_some()
    }

    /// Whether the process has been asked for no case yet, or is yet to be started.
    pub(super) fn is_fresh(&self) -> bool {
        self.child.is_none() || self.is_fresh
    }

    /// Ends the process, which is of no use any more.
    pub(super) fn discard(&mut self) {
        self.child = None;
        self.fruitless += 1;
        if self.fruitless >= FRUITLESS {
            let what = format!("{FRUITLESS} processes in a row answered no case");
            self.lost.get_or_insert(what);
        }
    }

    /// The process; a new one where there is none. `None` where none can be had.
    fn child(&mut self) -> Option<&Child> {
        if self.child.is_none() && self.lost.is_none() {
            match self.launcher.start() {
                Ok((child, capabilities)) if capabilities == self.capabilities => {
                    self.child = Some(child);
                    self.generation += 1;
                    self.is_fresh = true;
                    self.send_level();
                }
                Ok(_) => {
                    self.lost = Some("it declares something else than when it was first started".to_owned());
                }
                Err(reason) => self.lost = Some(format!("it does not start again: {reason}")),
            }
        }
        self.child.as_ref()
    }

    fn send_level(&self) {
        if let (Some(child), Some(level)) = (&self.child, self.level) {
            child.send(message(Kind::Level, &LevelForm { feature_level: level.to_string() }));
        }
    }

    /// Hands jobs over. Returns which process has them, and the bytes that their outputs take.
    fn ask(&mut self, jobs: &[Job], inputs: &[u8], outputs: &[u8]) -> (u64, u64) {
        let bytes = jobs.iter().flat_map(|job| &job.runs).map(|run| run.output.len() as u64).sum::<u64>();
        let permitted = self.sent.iter().map(|(_, bytes)| bytes).sum::<u64>().saturating_add(bytes);
        if let Some(child) = self.child() {
            child.permit(permitted);
            child.send(frame(jobs, inputs, outputs));
            self.is_fresh = false;
        }
        (self.generation, bytes)
    }

    /// Runs some jobs of a batch while no other is under way. Where the process does not answer them all, it is ended, and
    /// how many it has answered comes back with what it did instead.
    pub(super) fn try_range(&mut self, range: Range<usize>, batch: &mut Batch) -> Result<(), (usize, Fault)> {
        let (jobs, inputs, outputs) = batch.parts();
        let Some(jobs) = jobs.get_mut(range) else { return Ok(()) };
        self.ask(jobs, inputs, outputs);
        self.collect(jobs, outputs)
    }

    /// Takes the results of jobs that the process has.
    fn collect(&mut self, jobs: &mut [Job], outputs: &mut [u8]) -> Result<(), (usize, Fault)> {
        let mut answered = 0;
        while answered < jobs.len() {
            let Some(child) = &self.child else { return Err((answered, Fault::Ended(String::new()))) };
            let taken = child
                .receive(self.patience())
                .and_then(|frame| take(&frame, &mut jobs[answered..], outputs).map_err(Fault::Wrong));
            match taken {
                Ok(taken) => {
                    answered += taken;
                    self.fruitless = 0;
                }
                Err(fault) => {
                    self.discard();
                    return Err((answered, fault));
                }
            }
        }
        Ok(())
    }
}

/// Writes down what a frame says of the next jobs, and returns of how many.
fn take(frame: &Frame, jobs: &mut [Job], outputs: &mut [u8]) -> Result<usize, String> {
    if frame.kind != Kind::Results {
        return Err(format!("it sent `{}` where `results` are due", frame.kind.name()));
    }
    let results: Result<Results, _> =
        serde_json::from_slice(&frame.header).map_err(|error| error.to_string());
    results
        .and_then(|results| results.apply(&frame.body, jobs, outputs))
        .map_err(|what| format!("its `results` make no sense: {what}"))
}

/// A message without a body, as a frame.
pub(super) fn message<T: Serialize>(kind: Kind, message: &T) -> Vec<u8> {
    let header = serde_json::to_vec(message).unwrap_or_default();
    let mut bytes = prefix(kind, header.len(), 0).to_vec();
    bytes.extend(header);
    bytes
}

/// `run`, for these jobs.
fn frame(jobs: &[Job], inputs: &[u8], outputs: &[u8]) -> Vec<u8> {
    let runs = || jobs.iter().flat_map(|job| &job.runs);
    let output_fill: Vec<u8> =
        runs().map(|run| outputs.get(run.output.start).copied().unwrap_or_default()).collect();
    let body = runs().map(|run| run.input.len()).sum::<usize>();
    let mut bytes = Vec::with_capacity(32 + 256 * jobs.len() + body);
    bytes.extend(prefix(Kind::Run, 0, body));
    // Writing to memory does not fail.
    let _ = serde_json::to_writer(&mut bytes, &Columns { jobs, output_fill: &output_fill });
    let header = bytes.len() - crate::protocol::PREFIX;
    bytes[..crate::protocol::PREFIX].copy_from_slice(&prefix(Kind::Run, header, body));
    for run in runs() {
        bytes.extend_from_slice(&inputs[run.input.clone()]);
    }
    bytes
}

impl Backend for Host {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn set_feature_level(&mut self, level: FeatureLevel) {
        self.level = Some(level);
        self.send_level();
    }

    fn run(&mut self, batch: &mut Batch) {
        self.start(batch);
        self.finish(batch);
    }

    fn lost(&self) -> Option<&str> {
        self.lost.as_deref()
    }

    fn start(&mut self, batch: &mut Batch) {
        let (jobs, inputs, outputs) = batch.parts();
        let asked = if jobs.is_empty() { (self.generation, 0) } else { self.ask(jobs, inputs, outputs) };
        self.sent.push_back(asked);
    }

    fn finish(&mut self, batch: &mut Batch) {
        let Some((generation, _)) = self.sent.front().copied() else { return };
        let count = batch.jobs().len();
        let tried = if count == 0 {
            Ok(())
        } else if generation == self.generation && self.child.is_some() {
            let (jobs, _, outputs) = batch.parts();
            self.collect(jobs, outputs)
        } else {
            // The process that had it ended over an earlier batch.
            self.try_range(0..count, batch)
        };
        self.sent.pop_front();
        if let Err((answered, fault)) = tried {
            self.settle(answered..count, &fault, batch);
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if let Some(child) = self.child.take() {
            // One that still has cases would answer them first.
            if self.sent.is_empty() {
                child.send(message(Kind::Bye, &Bye {}));
                child.dismiss();
            }
        }
    }
}
