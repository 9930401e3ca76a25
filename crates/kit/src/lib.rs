//! dmlcts under `cargo test`, for a backend in Rust.
//!
//! ```toml
//! [dev-dependencies]
//! dmlcts-kit = "0.1"
//!
//! [[test]]
//! name = "conformance"
//! harness = false
//! ```
//!
//! The whole of `tests/conformance.rs`, for a crate `myops` whose `Gpu` implements [`Operators`]:
//!
//! ```no_run
//! # mod myops {
//! #     use dmlcts_kit::{BindingOffsets, Desc, Operators, Refusal, RunError};
//! #     pub struct Gpu;
//! #     impl Gpu { pub fn open() -> Result<Self, String> { Ok(Self) } }
//! #     impl Operators for Gpu {
//! #         type Operator = ();
//! #         fn create(&mut self, _: &Desc) -> Result<(), Refusal> { Ok(()) }
//! #         fn run(&mut self, _: &mut (), _: BindingOffsets, _: &[u8], _: &mut [u8]) -> Result<(), RunError> {
//! #             Ok(())
//! #         }
//! #     }
//! # }
//! # #[cfg(feature = "gate")]
//! fn main() {
//!     dmlcts_kit::Gate::new(myops::Gpu::open).suite("ci").findings("findings").test()
//! }
//! # #[cfg(not(feature = "gate"))]
//! # fn main() {}
//! ```

mod serve;

#[cfg(feature = "gate")]
mod gate;
#[cfg(feature = "gate")]
mod trial;

pub use dmlcts_backend::{Capabilities, Lack, Limits, Operators, Refusal, RunError};
pub use dmlcts_model::{
    BindingOffsets, DataType, Desc, ErrorCode, FeatureLevel, List, NumberKind, Side, Signature, Tensor, Value,
};
#[cfg(feature = "gate")]
pub use gate::Gate;
pub use serve::serve;
