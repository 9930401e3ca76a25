//! What dmlcts asks of a backend.
//!
//! A backend is asked to *create* an operator from a desc, which it accepts or refuses, and to *run* a
//! created one on bytes. It gets a [`Batch`] of jobs and writes an [`Outcome`](dmlcts_model::Outcome) for each. Before any case it
//! states what it is and what it supports ([`Capabilities`]), so that "unsupported" can be judged against
//! what it declared.
//!
//! Most authors implement [`Operators`], one operator at a time, and wrap it in [`Sequential`]; a GPU, which
//! wants thousands of cases in a dispatch, implements [`Backend`] itself.
//!
//! A backend in another process speaks the [`protocol`], and [`process`] hosts it; one in a shared library speaks the ABI of
//! `include/dmlcts_backend.h`, and [`dylib`] hosts it.
//!
//! A backend never sees what is expected of it: the only crate of this project that it needs beside this
//! one is `dmlcts-model`.

mod batch;
mod capabilities;
pub mod dylib;
mod open_error;
mod out_of_bounds;
pub mod process;
pub mod protocol;
mod sequential;

pub use batch::{Batch, Job, Run};
pub use capabilities::{Capabilities, Lack, Limits};
pub use open_error::OpenError;
pub use out_of_bounds::note_writes_out_of_bounds;
pub use sequential::{Operators, Refusal, RunError, Sequential};

use dmlcts_model::FeatureLevel;

/// Something that creates operators and runs them.
pub trait Backend: Send {
    /// What it is and what it supports; the same at every call.
    fn capabilities(&self) -> &Capabilities;

    /// Makes a backend whose [`Capabilities::can_set_feature_level`] is true behave as a device of this level does, from the next batch
    /// on. Others are never asked.
    fn set_feature_level(&mut self, level: FeatureLevel);

    /// Does every job of the batch, and writes an outcome for each.
    fn run(&mut self, batch: &mut Batch);

    /// Why it can do nothing more, such as a process that does not start again. It is asked after each batch, and has given an outcome
    /// to every job of it all the same. A backend that answers stays as it is: the run ends.
    fn lost(&self) -> Option<&str> {
        None
    }
}

/// A backend that works on one batch while its caller prepares the next. [`Immediate`] makes one of any other.
pub trait Pipelined: Backend {
    /// Starts on a batch. At most [`Limits::in_flight`] batches are started and not finished; between the two calls, the caller does
    /// not look into the batch.
    fn start(&mut self, batch: &mut Batch);

    /// Finishes the oldest batch that was started and not finished, which is this one: afterwards it is as [`Backend::run`] leaves it.
    fn finish(&mut self, batch: &mut Batch);
}

/// A backend that does all of its work when its caller wants the results.
#[derive(Debug)]
pub struct Immediate<T>(pub T);

impl<T: Backend> Backend for Immediate<T> {
    fn capabilities(&self) -> &Capabilities {
        self.0.capabilities()
    }

    fn set_feature_level(&mut self, level: FeatureLevel) {
        self.0.set_feature_level(level);
    }

    fn run(&mut self, batch: &mut Batch) {
        self.0.run(batch);
    }

    fn lost(&self) -> Option<&str> {
        self.0.lost()
    }
}

impl<T: Backend> Pipelined for Immediate<T> {
    fn start(&mut self, _: &mut Batch) {}

    fn finish(&mut self, batch: &mut Batch) {
        self.0.run(batch);
    }
}

/// What a backend is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The cases of a run.
    Cases,
    /// Cases that were run before, or are made of such: to tell a flake from a failure, or to find a smaller one. Those that hang are
    /// known to, and do not count.
    Retries,
}
