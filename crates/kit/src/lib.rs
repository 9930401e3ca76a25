//! dmlcts under `cargo test`, for a backend in Rust.
//!
//! ```toml
//! [dependencies] # for `impl Operators`: no spec and no oracle
//! dmlcts-kit = { git = "https://example.org/dmlcts.git", tag = "v0.1.0", default-features = false }
//!
//! [dev-dependencies] # for the test
//! dmlcts-kit = { git = "https://example.org/dmlcts.git", tag = "v0.1.0" }
//!
//! [[test]]
//! name = "conformance"
//! harness = false
//!
//! [profile.dev]
//! opt-level = 1 # without it, the largest cases take minutes
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
//! #         fn run(&mut self, _: &mut (), _: BindingOffsets, _: &[u8], _: &mut [u8])
//! #             -> Result<(), RunError>
//! #         {
//! #             Ok(())
//! #         }
//! #     }
//! # }
//! # #[cfg(feature = "gate")]
//! fn main() {
//!     dmlcts_kit::Gate::new(myops::Gpu::open).suite("ci").findings("findings/myops").test()
//! }
//! # #[cfg(not(feature = "gate"))]
//! # fn main() {}
//! ```
//!
//! The author implements `create` and `run` of [`Operators`], and `capabilities` with the name and version of
//! the crate: `Capabilities::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))`. Without
//! `capabilities`, a program has them only while Cargo runs it. If `dmlcts` runs the same program, the name
//! is that of its file, such as `conformance`, and the version is `unknown`.
//!
//! The gate runs the backend in processes of its own, so that an abort or a hang costs one case. A trial ends
//! after 10 hangs or 100 unexpected crashes. It fails with the report of `dmlcts run`: the case, the
//! expectation, and a predicate that holds for the failing cases. Each trial learns it from its own cases. If
//! one cause makes several trials of `cargo test` fail, a list at the end names each cause once.
//!
//! A file of the folder `findings/myops` describes a known failure, as for `dmlcts run --findings`. It is a
//! trial, too, which passes as long as the backend fails as the file says. Once its cases pass, the finding
//! is fixed: its own trial and those of its cases fail and say FIXED. Take the file out, or keep it as a
//! guard with `DMLCTS_ACCEPT=1`.
//!
//! The folder must be there: `mkdir -p findings/myops`, with a README in it, since git keeps no empty folder.
//! `DMLCTS_ACCEPT=1 cargo test --test conformance` makes it, too, writes the files of what fails or is fixed,
//! and prints what it changes, as `dmlcts run --accept` does. At the hundredth unexpected crash, it ends and
//! accepts nothing. Fix the crash, declare its cases as a lack, or write the file of a finding whose `where`
//! holds for them. `dmlcts run --accept` has no such limit.
//!
//! `Gate::snapshot` adds a trial that compares the backend with its accepted snapshot, as `dmlcts snapshot`
//! does. `cargo insta review` or `dmlcts snapshot review` accepts a change. Without them, take `.new` off the
//! name of each file.
//!
//! For a library that works on packed arrays, the author implements the two methods of
//! [`arrays::ArrayBackend`] instead. [`arrays::Arrays`] does the rest. The folder `adapters/rust` has two
//! such libraries.
//!
//! [`check_tensors`], [`check_slice`] and [`check_padding`] refuse what DirectML refuses, for a library that
//! takes more.
//!
//! The feature `fuzz` has `fuzz_target!`, a fuzz target for cargo-fuzz in one line, whose documentation has
//! the `Cargo.toml`. libFuzzer writes a case that differs into a file `crash-…`. `dmlcts` runs it on the
//! gate's program, whose path `cargo test` prints, and makes it a known finding:
//!
//! ```sh
//! dmlcts findings add findings/myops fuzz/artifacts/ops/crash-… \
//!     --backend 'exec:target/debug/deps/conformance-… --dmlcts-serve'
//! ```
//!
//! The feature `proptest` has `case()`, a strategy of random cases that shrinks as `dmlcts run` does, with an
//! example of a test. `case_at` is for a backend with an older feature level. `check` compares a backend with
//! the spec on a case. The crate `proptest` is a dev-dependency of its own. A case takes microseconds: run
//! 10,000 with `PROPTEST_CASES=10000`.
//!
//! [`export!`] makes a shared library of the backend, which `dmlcts run --backend dylib:PATH` loads.
//!
//! `cargo doc -p dmlcts-kit --all-features --open` has what the features add.
//!
//! Without the feature `gate`, a backend can be written and [served](serve): 18 crates instead of 70,
//! without YAML and oracle. The gate has clap, since `libtest-mimic` depends on it.

#[cfg(any(feature = "fuzz", feature = "proptest"))]
mod agreement;
#[cfg(feature = "fuzz")]
pub mod fuzz;
#[cfg(feature = "gate")]
mod gate;
#[cfg(feature = "gate")]
mod overall;
#[cfg(feature = "proptest")]
mod property;
#[cfg(any(feature = "fuzz", feature = "proptest"))]
mod random_case;
mod serve;
#[cfg(feature = "gate")]
mod snapshot;
#[cfg(all(test, feature = "gate"))]
mod tests;
#[cfg(feature = "gate")]
mod trial;

#[cfg(any(feature = "fuzz", feature = "proptest"))]
pub use agreement::{Compared, Disagreement, check};
pub use dmlcts_backend::{
    Capabilities, Lack, Limits, Operators, Refusal, RunError, Walk, arrays, byte_strides, check_padding,
    check_slice, check_tensors, export,
};
pub use dmlcts_model::{
    BindingOffsets, DataType, Desc, ErrorCode, FeatureLevel, List, NumberKind, Side, Signature, Tensor, Value,
};
#[cfg(feature = "gate")]
pub use gate::Gate;
#[cfg(feature = "proptest")]
pub use property::{AnyCase, CaseLine, CaseTree, case, case_at};
pub use serve::serve;
