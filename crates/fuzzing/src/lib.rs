//! The bodies of the fuzz targets.
//!
//! A target in `fuzz/` is a few lines that call one function of this crate, so that everything worth
//! reading, testing and reviewing is here, builds with the stable compiler and runs in `cargo test`: with the
//! committed corpus, and with bytes from a seed.
//!
//! | target | given | asks |
//! |---|---|---|
//! | [`spec_text`] | a YAML file, or an expression | that loading it ends in a library or in messages that can be shown |
//! | [`case_line`] | a text | that it reads as a case that survives writing, or as a mistake with a place in the text |
//! | [`frames`] | what a pipe brings, or a header and a body | that it is a message that makes sense, or a mistake that can be shown |
//! | [`agreement()`] | a case, as a line | that judge and reference say the same of it, and that oracle and reference compute the same |
//! | [`NamedBackend`] | a case, as a line | the same of the backend that `DMLCTS_FUZZ_BACKEND` names |
//!
//! The corpus holds texts that a person can read: YAML, expressions and case lines.
//!
//! A body panics where what it asks does not hold: that is how libFuzzer and `cargo test` learn of it.

mod case_line;
mod frames;
mod named_backend;
mod spec_text;

use dmlcts_kit::{check, fuzz::case_from};

pub use case_line::case_line;
pub use frames::frames;
pub use named_backend::NamedBackend;
pub use spec_text::spec_text;

/// The target: see the table above.
///
/// # Panics
///
/// Where two witnesses disagree.
pub fn agreement(bytes: &[u8]) {
    let Some(case) = case_from(bytes) else { return };
    if let Err(disagreement) = check(&case, &mut dmlcts_reference::Reference::new()) {
        panic!("{disagreement}");
    }
}
