//! A fuzz target for a backend: [`fuzz_target!`](crate::fuzz_target) compares it with the spec on cases that
//! libFuzzer makes.
//!
//! The corpus holds texts that a person can read: the lines of cases. A corpus of raw bytes means something
//! else as soon as the decoder changes; a case line never does. [`mutate_case`] keeps it so while fuzzing, by
//! changing cases and writing them down again.

mod arbitrary_case;
mod mutate_case;

use std::fmt;

use arbitrary::{Arbitrary, Unstructured};
use dmlcts_backend::Operators;
use dmlcts_model::{Case, line};
use dmlcts_spec::Library;

use crate::check;

pub use arbitrary_case::arbitrary_case;
pub use mutate_case::mutate_case;

/// An input of a fuzz target. `cargo fuzz fmt` prints its case.
#[derive(Clone)]
pub struct Input(Option<Case>);

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        Ok(Self(case_from(bytes.bytes(bytes.len())?)))
    }
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(case) => write!(f, "{case}"),
            None => f.write_str("no case"),
        }
    }
}

/// The case that bytes mean: the line that they hold, or else what [`arbitrary_case`] makes of them.
pub fn case_from(bytes: &[u8]) -> Option<Case> {
    let line = std::str::from_utf8(bytes).ok();
    line.and_then(|text| line::parse(text, Library::embedded().signatures()).ok())
        .or_else(|| arbitrary_case(&mut Unstructured::new(bytes)).ok())
}

/// What [`fuzz_target!`](crate::fuzz_target) does with each input.
pub type Checker = Box<dyn FnMut(Input)>;

/// A checker on a backend that is opened once.
///
/// # Errors
///
/// The backend does not open.
///
/// # Panics
///
/// The checker panics if the backend differs from the spec: so libFuzzer learns of it.
pub fn checker<T: Operators + 'static, E>(open: impl FnOnce() -> Result<T, E>) -> Result<Checker, E> {
    let mut backend = open()?;
    Ok(Box::new(move |input| {
        if let Some(case) = input.0
            && let Err(disagreement) = check(&case, &mut backend)
        {
            panic!("{disagreement}");
        }
    }))
}

/// The whole of a fuzz target of cargo-fuzz, for a backend that an expression such as `myops::Gpu::open`
/// opens. If the backend does not open, the target says why and exits with 2: no input is at fault.
///
/// All of `fuzz/fuzz_targets/ops.rs`:
///
/// ```ignore
/// #![no_main]
///
/// dmlcts_kit::fuzz_target!(myops::Gpu::open);
/// ```
///
/// All of `fuzz/Cargo.toml`:
///
/// ```toml
/// [package]
/// name = "myops-fuzz"
/// version = "0.0.0"
/// edition = "2024"
/// publish = false
///
/// [package.metadata]
/// cargo-fuzz = true
///
/// [workspace]
///
/// [dependencies]
/// dmlcts-kit = { git = "https://example.org/dmlcts.git", tag = "v0.1.0", default-features = false, features = ["fuzz"] }
/// libfuzzer-sys = "0.4.13"
/// myops = { path = ".." }
///
/// [[bin]]
/// name = "ops"
/// path = "fuzz_targets/ops.rs"
/// test = false
/// doc = false
/// bench = false
/// ```
///
/// `cargo +nightly fuzz run ops` starts it. Without nightly and cargo-fuzz, `cargo run` in the folder `fuzz`
/// does, without the coverage that guides libFuzzer. A case that differs ends it. Its file `crash-…` holds
/// the line of the case, which `dmlcts run` takes.
#[macro_export]
macro_rules! fuzz_target {
    ($open:expr) => {
        ::std::thread_local! {
            static CHECK: ::std::cell::RefCell<::std::option::Option<$crate::fuzz::Checker>> =
                const { ::std::cell::RefCell::new(::std::option::Option::None) };
        }
        ::libfuzzer_sys::fuzz_target!(
            init: match $crate::fuzz::checker($open) {
                ::std::result::Result::Ok(check) => CHECK.set(::std::option::Option::Some(check)),
                ::std::result::Result::Err(error) => {
                    let mut err = ::std::io::stderr();
                    let _ = ::std::io::Write::write_fmt(
                        &mut err,
                        ::std::format_args!("error: the backend cannot be opened: {error}\n"),
                    );
                    ::std::process::exit(2)
                }
            },
            |input: $crate::fuzz::Input| {
                CHECK.with_borrow_mut(|check| check.as_mut().map(|check| check(input)));
            }
        );
        ::libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
            $crate::fuzz::mutate_case(data, size, most, seed)
        });
    };
}
