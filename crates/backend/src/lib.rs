//! The interface between dmlcts and a backend.
//!
//! A backend *creates* an operator from a desc, which it accepts or refuses, and *runs* a created operator on
//! bytes. It gets a [`Batch`] of jobs and writes an [`Outcome`](dmlcts_model::Outcome) for each. Before any
//! case it declares what it supports ([`Capabilities`]), so that the runner can check "unsupported" against
//! the declaration.
//!
//! Most authors implement [`Operators`], which handles one operator at a time, and wrap it in [`Sequential`].
//! A worker process wraps it in [`Interleaved`] instead, which keeps many operators alive at once.
//! For a library that works on packed arrays, [`arrays`] makes `Operators` of two methods.
//! A GPU, which needs thousands of cases in a dispatch, implements [`Backend`] itself.
//!
//! A backend in another process speaks the [`protocol`], and [`process`] hosts it. A backend in a shared
//! library implements the ABI of `include/dmlcts_backend.h`, and [`dylib`] hosts it. [`export!`] makes such a
//! library of [`Operators`].
//!
//! A backend never sees the expected output of a case. Besides this crate it needs only `dmlcts-model`.

pub mod arrays;
mod batch;
mod capabilities;
pub mod dylib;
#[cfg(unix)]
mod guard_pages;
mod guarded_memory;
mod interleaved;
#[cfg(feature = "host")]
mod open_error;
mod out_of_bounds;
#[cfg(feature = "host")]
pub mod process;
#[cfg_attr(
    not(feature = "host"),
    allow(dead_code, unused_imports, reason = "the host's end of the protocol lies beside the backend's")
)]
pub mod protocol;
mod rules;
mod sequential;
pub mod starters;
mod times;

pub use batch::{Batch, Job, Run};
pub use capabilities::{Capabilities, Lack, Limits};
pub use interleaved::Interleaved;
#[cfg(feature = "host")]
pub use open_error::OpenError;
pub use out_of_bounds::note_writes_out_of_bounds;
pub use rules::{Walk, byte_strides, check_padding, check_slice, check_tensors};
pub use sequential::{Operators, Refusal, RunError, Sequential};
pub use times::{Times, WorkTimes};

use dmlcts_model::{FeatureLevel, Phase};

/// Creates operators and runs them.
pub trait Backend: Send {
    /// What the backend is and what it supports; the same at every call.
    fn capabilities(&self) -> &Capabilities;

    /// Sets the feature level of the device that the backend imitates, from the next batch on. Called only if
    /// [`Capabilities::can_set_feature_level`] is true.
    fn set_feature_level(&mut self, level: FeatureLevel);

    /// Does every job of the batch, and writes an outcome for each.
    fn run(&mut self, batch: &mut Batch);

    /// Like [`Backend::run`]. A backend with a [`Limits::create_time`] calls `enter` with [`Phase::Create`]
    /// before it creates an operator, and with [`Phase::Execute`] before it runs one.
    fn run_in_phases(&mut self, batch: &mut Batch, _enter: &mut dyn FnMut(Phase)) {
        self.run(batch);
    }

    /// Why the backend cannot go on, such as a process that does not start again. It is called after each
    /// batch, for which the backend has still written every outcome. If it returns a reason, the run ends.
    fn lost(&self) -> Option<&str> {
        None
    }
}

/// A backend that works on one batch while its caller prepares the next. [`Immediate`] adapts any other
/// backend. With both defaults, a backend does all of its work in `finish`.
pub trait Pipelined: Backend {
    /// Starts on a batch. At most [`Limits::in_flight`] batches are started and not finished. Between the two
    /// calls, the caller does not access the batch.
    fn start(&mut self, _batch: &mut Batch) {}

    /// Finishes the oldest started batch, which must be this one. Afterwards it is as [`Backend::run`] leaves
    /// it.
    fn finish(&mut self, batch: &mut Batch) {
        self.run(batch);
    }
}

/// A backend that does all of its work in [`Pipelined::finish`].
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

impl<T: Backend> Pipelined for Immediate<T> {}

/// The purpose for which a backend is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The cases of a run.
    Cases,
    /// Cases that ran before, or that are derived from such cases: to distinguish a flake from a failure, or
    /// to find a smaller case. Their hangs are known, and do not count.
    Retries,
}
