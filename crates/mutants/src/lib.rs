//! Mutants: backends with one planted fault each, which measure how strong a suite is. A suite in which a
//! mutant survives would also pass a library with that bug.
//!
//! # How to read it
//!
//! A mutant is data: a name, a description, the place where the fault was seen, and a [`Fault`]. A fault is a
//! struct of functions, one for each seam of the backend. A mutant replaces one or two of them and takes the
//! others from `RIGHT`. These are the seams, in the order in which a case meets them:
//!
//! | seam | question |
//! |---|---|
//! | `read` | what does the backend see of the caller's desc? |
//! | `judge` | does it accept the desc? The right answer is the reference's |
//! | `code` | with which code does it refuse? |
//! | `plan` | which numbers does the operator keep? |
//! | `coordinates` | which output element has this index? |
//! | `visits` | is this element written? |
//! | `source` | which input coordinate does an axis read? |
//! | `from`, `to` | where in the memory of the input and the output is that element? |
//! | `value` | which bytes arrive? |
//! | `store` | how are they written? |
//! | `after` | what else happens to memory? |
//!
//! The backend in `backend.rs` and its copy in `kernel.rs` ask these questions. `fault.rs` defines the
//! struct. Each other file has the mutants of one theme.
//!
//! # What a mutant must be
//!
//! - Small and plausible: a bug of a shipped library, or one that a kernel, a driver or an FFI layer can
//!   have.
//! - Wrong: each mutant has a [witness](Mutant::witness), a case at which it differs from the reference in a
//!   way that the specification forbids. A test runs all witnesses.
//! - Independent of the suites. A mutant that survives every suite stays, because it shows a gap in the
//!   suites.

mod backend;
mod fault;
mod kernel;
mod no_predicate;

mod arithmetic;
mod combined;
mod ffi;
mod gpu;
mod memory;
mod packing;
mod padding;
mod several;
mod slice;
mod state;
mod strides;
mod validation;
mod values;

pub use backend::Faulty;
use dmlcts_model::FeatureLevel;
pub use fault::Fault;
pub use several::{CreatedBySeveral, Several};

/// A backend with one fault, as data.
#[derive(Debug)]
pub struct Mutant {
    /// The name, in kebab-case.
    pub name: &'static str,
    /// The fault, in one line.
    pub about: &'static str,
    /// Where the fault was seen: the issue of a library, or the kind of code that has such faults.
    pub seen_in: &'static str,
    /// The operators in which the fault can show.
    pub operators: &'static [&'static str],
    /// The requirements for killing the mutant.
    pub needs: Needs,
    /// The case line at which the backend is wrong, or several if the fault needs them. They run in this
    /// order, in one batch. `16x ` before a line repeats it, and `@4.0 ` sets the feature level.
    pub witness: &'static [&'static str],
    /// The planted fault.
    pub fault: Fault,
}

impl Mutant {
    /// Whether an operator may never answer. Such a backend has to run in a process of its own.
    pub fn hangs(&self) -> bool {
        self.fault.hangs
    }

    /// Why no predicate over descs and data describes the failures; `None` if one may.
    pub fn no_predicate(&self) -> Option<&'static str> {
        no_predicate::reason(self.name)
    }
}

/// The requirements for killing a mutant, besides ordinary cases. The kill matrix excuses a suite that cannot
/// meet them. It runs the mutant at the feature level or between the guard pages that it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing: every suite is expected to kill the mutant.
    Nothing,
    /// Tensors of a megabyte or more.
    Memory(&'static str),
    /// Cases that no suite has, because they need gigabytes or a thousand operators in one batch.
    Beyond(&'static str),
    /// Many thousands of cases.
    ManyCases(&'static str),
    /// Memory that ends where a tensor ends, so that reads out of bounds fail. A worker process with guard
    /// pages provides it, and runs the [operators](Faulty) of the mutant one at a time.
    GuardedMemory(&'static str),
    /// A run at this feature level, which is older than the newest.
    OlderLevel(&'static str, &'static str),
}

impl Needs {
    /// The reason in words; `None` for [`Needs::Nothing`].
    pub fn reason(self) -> Option<&'static str> {
        match self {
            Self::Nothing => None,
            Self::Memory(reason)
            | Self::Beyond(reason)
            | Self::ManyCases(reason)
            | Self::GuardedMemory(reason)
            | Self::OlderLevel(_, reason) => Some(reason),
        }
    }

    /// The feature level that a run must have; `None` for the newest.
    pub fn level(self) -> Option<FeatureLevel> {
        match self {
            Self::OlderLevel(level, _) => level.parse().ok(),
            _ => None,
        }
    }
}

/// All mutants, by theme.
pub fn all() -> impl Iterator<Item = &'static Mutant> {
    [
        slice::MUTANTS,
        padding::MUTANTS,
        strides::MUTANTS,
        arithmetic::MUTANTS,
        values::MUTANTS,
        gpu::MUTANTS,
        packing::MUTANTS,
        ffi::MUTANTS,
        validation::MUTANTS,
        state::MUTANTS,
        memory::MUTANTS,
        combined::MUTANTS,
    ]
    .into_iter()
    .flatten()
}

/// The mutant with this name.
pub fn find(name: &str) -> Option<&'static Mutant> {
    all().find(|mutant| mutant.name == name)
}

/// The backend of a mutant.
pub fn backend(mutant: &'static Mutant) -> Faulty {
    mutant.into()
}

/// The backend without a fault, which must answer as the reference does.
pub fn without_fault() -> Faulty {
    static RIGHT: Fault = fault::RIGHT;
    Faulty::new("mutant:none", &RIGHT)
}
