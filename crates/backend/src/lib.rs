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
pub mod process;
pub mod protocol;
mod sequential;
mod strays;

pub use batch::{Batch, Job, Run};
pub use capabilities::{Capabilities, Lack, Limits};
pub use sequential::{Operators, Refusal, RunError, Sequential};
pub use strays::note_strays;

use std::time::Duration;

use dmlcts_model::FeatureLevel;

/// Something that creates operators and runs them.
pub trait Backend: Send {
    /// What it is and what it supports; the same at every call.
    fn capabilities(&self) -> &Capabilities;

    /// Makes a backend whose [`Capabilities::can_set_feature_level`] is true behave as a device of this level
    /// does, from the next batch on. Others are never asked.
    fn set_feature_level(&mut self, level: FeatureLevel);

    /// Says that whatever it is asked from now on was asked before, or is made of what was: to tell a flake from a failure, or to make one
    /// smaller. A backend that ends after so many cases that hang does not count these. By default, nothing changes.
    fn look_again(&mut self) {}

    /// Does every job of the batch, and writes an outcome for each.
    fn run(&mut self, batch: &mut Batch);

    /// Does jobs of the batch from this one on, and returns how many of all are done then. A backend that can stop between
    /// jobs stops once the time is up, so that whoever waits hears of those that are done. By default it does all of them.
    fn run_from(&mut self, first: usize, batch: &mut Batch, time: Duration) -> usize {
        let (_, _) = (first, time);
        self.run(batch);
        batch.jobs().len()
    }

    /// Whether nothing of it can write to a batch's inputs, since it works on a copy of them in another process. Whoever says so is
    /// not looked after. By default, it is not so.
    fn is_apart(&self) -> bool {
        false
    }

    /// Why it can do nothing any more, such as a process that does not start again. It is asked after each batch, and
    /// has given an outcome to every job of it all the same. A backend that answers stays as it is: the run ends.
    fn lost(&self) -> Option<&str> {
        None
    }

    /// Starts on a batch, for a backend that goes on by itself while its caller prepares the next one. At most
    /// [`Limits::in_flight`] batches are started and not finished; between the two calls, nobody looks into the batch.
    /// By default, nothing is done before [`Backend::finish`].
    fn start(&mut self, batch: &mut Batch) {
        let _ = batch;
    }

    /// Finishes the batch that was started first of those that are not finished, which is this one: afterwards
    /// it is as [`Backend::run`] leaves it.
    fn finish(&mut self, batch: &mut Batch) {
        self.run(batch);
    }

    /// Goes on with that batch, and returns how many of its jobs, from the first on, are done for good: all of them, and then it is
    /// finished, or fewer, so that they need not wait for one that takes its time. That is so where nothing came for so long, for one.
    /// It is asked again until all are done. By default, it finishes the batch.
    fn finish_some(&mut self, batch: &mut Batch, time: Duration) -> usize {
        let _ = time;
        self.finish(batch);
        batch.jobs().len()
    }
}
