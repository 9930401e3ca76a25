//! A shim around a backend that misbehaves at one case, as faulty backends do. `dmlcts doctor` puts it around
//! an author's backend to show that each fault is found.

use std::{
    io::{self, Write},
    process,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use clap::ValueEnum;
use dmlcts_backend::{Backend, Batch, Capabilities};
use dmlcts_model::{Case, FeatureLevel, Outcome, named_enum};
use dmlcts_runner::{Class, Difference};

named_enum! {
    /// A way to misbehave.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
    pub(crate) enum Fault: name {
        /// A bit of the output is wrong.
        WrongData = "wrong-data",
        /// What is declared as supported is called unsupported.
        Lie = "lie",
        /// The process ends.
        Crash = "crash",
        /// No answer comes.
        Hang = "hang",
        /// Something is printed where an answer is due.
        Noise = "noise",
        /// The process ends in the middle of an answer.
        CutShort = "cut-short",
    }
}

impl Fault {
    /// For a person.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::WrongData => "a wrong bit",
            Self::Lie => "a lie",
            Self::Crash => "a crash",
            Self::Hang => "a hang",
            Self::Noise => "noise",
            Self::CutShort => "half an answer",
        }
    }

    /// Whether a failure of this class is the expected result of the fault.
    pub(crate) fn is_caught_as(self, class: Class) -> bool {
        match self {
            Self::WrongData => {
                matches!(class, Class::Output(difference) if difference != Difference::Unwritten)
            }
            Self::Lie => class == Class::Undeclared,
            Self::Crash | Self::CutShort => class == Class::Crashed,
            Self::Hang => class == Class::TimedOut,
            Self::Noise => class == Class::Failed,
        }
    }
}

/// A backend that works correctly except at one case.
pub(crate) struct Broken {
    inner: Box<dyn Backend>,
    fault: Fault,
    at: Case,
    /// Whether the next answer is to be changed while it is written.
    is_due: Arc<AtomicBool>,
}

impl Broken {
    /// Breaks a backend and the writer of its answers.
    pub(crate) fn new<W: Write>(
        inner: Box<dyn Backend>,
        fault: Fault,
        at: Case,
        output: W,
    ) -> (Self, Spoiled<W>) {
        let is_due = Arc::new(AtomicBool::new(false));
        let spoiled = Spoiled { output, fault, is_due: Arc::clone(&is_due) };
        (Self { inner, fault, at, is_due }, spoiled)
    }
}

impl Backend for Broken {
    fn capabilities(&self) -> &Capabilities {
        self.inner.capabilities()
    }

    fn set_feature_level(&mut self, level: FeatureLevel) {
        self.inner.set_feature_level(level);
    }

    fn run(&mut self, batch: &mut Batch) {
        self.inner.run(batch);
        let (jobs, _, outputs) = batch.parts();
        for job in jobs.iter_mut().filter(|job| job.desc == self.at.desc) {
            match self.fault {
                Fault::WrongData => {
                    for run in &job.runs {
                        if let Some(byte) = outputs.get_mut(run.output.start) {
                            *byte ^= 1;
                        }
                    }
                }
                Fault::Lie => job.outcome = Outcome::Unsupported("not today".into()),
                Fault::Crash => {
                    let _ = writeln!(io::stderr(), "the shim crashes");
                    process::abort();
                }
                Fault::Hang => loop {
                    thread::sleep(Duration::from_secs(60));
                },
                Fault::Noise | Fault::CutShort => self.is_due.store(true, Ordering::Relaxed),
            }
        }
    }

    fn lost(&self) -> Option<&str> {
        self.inner.lost()
    }
}

/// The writer of a broken backend's answers.
pub(crate) struct Spoiled<W> {
    output: W,
    fault: Fault,
    is_due: Arc<AtomicBool>,
}

impl<W: Write> Write for Spoiled<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_due.swap(false, Ordering::Relaxed) {
            if self.fault == Fault::Noise {
                self.output.write_all(b"compiling shaders...\n")?;
            } else {
                self.output.write_all(&bytes[..bytes.len() / 2])?;
                self.output.flush()?;
                process::exit(0);
            }
        }
        self.output.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_has_the_name_that_the_command_line_knows() {
        for fault in Fault::ALL {
            assert_eq!(Fault::from_str(fault.name(), false), Ok(fault));
        }
    }
}
