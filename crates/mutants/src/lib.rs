//! Mutants: backends with one planted fault each, which measure how strong a suite is. A suite in which a
//! mutant survives would also pass a library with that bug.
//!
//! # How to read it
//!
//! A mutant is data: a name, a description, the place where the fault was seen, a witness, and a [`Fault`]. A
//! fault is a struct of functions, one for each seam of the backend. `Mutant::new` takes the right functions
//! from `RIGHT`, and the mutant replaces one or two of them with the methods of the same names. These are the
//! seams, in the order in which a case meets them:
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
//! Four seams have methods for their usual faults. `unchecked` leaves a check of `judge` out for some descs,
//! and `refuses` adds one. `plan_where` is a `plan` of some operators. `folds` is a `source` of one padding
//! mode, and `converts` is a `value` of one data type.
//!
//! The backend in `backend.rs` and its copy in `kernel.rs` ask these questions. `fault.rs` defines the
//! struct, and `mutant.rs` the methods and the defaults. Each other file has the mutants of one theme.
//!
//! Most themes add a default: the mutants of `validation.rs` start with a function `validation`, which sets
//! `seen_in`.
//!
//! # What a mutant must be
//!
//! - Small and plausible: a bug of a shipped library, or one that a kernel, a driver or an FFI layer can
//!   have.
//! - Wrong: each mutant has a [witness](field@Mutant::witness), a case at which it differs from the reference
//!   in a way that the specification forbids. A test runs all witnesses.
//! - Independent of the suites. A mutant that survives every suite stays, because it shows a gap in the
//!   suites.

mod backend;
mod fault;
mod kernel;
mod mutant;

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
pub use fault::Fault;
pub use mutant::{Mutant, Needs};
pub use several::{CreatedBySeveral, Several};

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
