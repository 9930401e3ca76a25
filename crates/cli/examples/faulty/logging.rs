//! A backend that logs its cases. It is slow and correct, or quick and faulty, and can hang at some cases.

use std::{
    env,
    fs::{File, OpenOptions},
    io::Write as _,
    thread,
    time::Duration,
};

use dmlcts_backend::{Backend, Batch, Capabilities, Job};
use dmlcts_model::{Case, ErrorCode, FeatureLevel, Fill, Outcome, Phase};
use dmlcts_reference::Reference;

/// The variable that names the backend's log of cases.
const LOG: &str = "DMLCTS_TEST_LOG";
/// The variable that names the cases at which the backend hangs, one line each.
const STUCK: &str = "DMLCTS_TEST_STUCK";
/// The variable that makes the backend quick and faulty: at edges, and at slices of INT16.
const WRONG: &str = "DMLCTS_TEST_WRONG";

/// A slow, correct backend that can hang at some cases; it answers each case as it is done.
struct LoggingBackend {
    inner: Box<dyn Backend>,
    log: File,
    stuck: Option<String>,
    is_wrong: bool,
    /// The process that started it.
    host: u32,
}

/// The backend, which the variables configure.
pub(crate) fn backend() -> impl Backend {
    let log = env::var_os(LOG).expect("the log is named");
    let log = OpenOptions::new().append(true).create(true).open(log).expect("the log can be written");
    let inner = Box::new(Reference::backend());
    let (stuck, is_wrong) = (env::var(STUCK).ok(), env::var_os(WRONG).is_some());
    LoggingBackend { inner, log, stuck, is_wrong, host: host() }
}

impl Backend for LoggingBackend {
    fn capabilities(&self) -> &Capabilities {
        self.inner.capabilities()
    }

    fn set_feature_level(&mut self, level: FeatureLevel) {
        self.inner.set_feature_level(level);
    }

    fn run(&mut self, batch: &mut Batch) {
        let (jobs, inputs, outputs) = batch.parts();
        for job in jobs {
            self.run_one(job, inputs, outputs);
        }
    }
}

impl LoggingBackend {
    fn run_one(&mut self, job: &mut Job, inputs: &[u8], outputs: &mut [u8]) {
        let line = Case { desc: job.desc.clone(), binding: job.binding, fill: Fill::Iota }.to_string();
        writeln!(self.log, "{line}").expect("the log can be written");
        if self.stuck.iter().flat_map(|stuck| stuck.lines()).any(|stuck| stuck == line) {
            wait_for_the_end(self.host);
        }
        if !self.is_wrong {
            thread::sleep(Duration::from_millis(4));
        }
        let mut one = Batch::default();
        one.push(&job.desc, job.binding).runs.extend(job.runs.iter().cloned());
        (one.inputs, one.outputs) = (inputs.to_vec(), outputs.to_vec());
        self.inner.run(&mut one);
        job.outcome = one.jobs()[0].outcome.clone();
        outputs.copy_from_slice(&one.outputs);
        if self.is_wrong && job.outcome == Outcome::Output {
            spoil(&line, job, outputs);
        }
    }
}

/// Changes the output of a case.
fn spoil(line: &str, job: &mut Job, outputs: &mut [u8]) {
    if line.contains(" PaddingMode=EDGE ") || line.starts_with("SLICE1 INT16 ") {
        job.runs.iter().for_each(|run| outputs[run.output.start] ^= 1);
    } else if line.starts_with("SLICE INT16 ") {
        let (phase, code) = (Phase::Create, ErrorCode::INVALID_ARGUMENT);
        job.outcome = Outcome::Rejected { phase, code, reason: "no such integers".into() };
    }
}

/// The parent of processes whose own one has ended.
const INIT: u32 = 1;

/// Hangs as long as the host lives that started the backend. It may have been killed meanwhile, or before the
/// backend asked for it.
fn wait_for_the_end(of: u32) {
    while host() == of && of != INIT {
        thread::sleep(Duration::from_millis(20));
    }
    std::process::exit(0);
}

/// The parent of this process.
fn host() -> u32 {
    #[cfg(unix)]
    let parent = std::os::unix::process::parent_id();
    #[cfg(not(unix))]
    let parent = 0;
    parent
}
