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
//!
//! The corpus holds texts that a person can read: YAML, expressions and case lines. Corpora of raw bytes
//! mean something else as soon as the decoder changes; a case line never does. [`mutate_case`] keeps it so
//! while fuzzing, by changing cases and writing them down again.
//!
//! A body panics where what it asks does not hold: that is how libFuzzer and `cargo test` learn of it.

pub mod agreement;
mod arbitrary_case;
mod case_line;
mod frames;
mod mutate_case;
mod spec_text;

use dmlcts_model::{Case, line};
use dmlcts_spec::Library;

pub use arbitrary_case::arbitrary_case;
pub use case_line::case_line;
pub use frames::frames;
pub use mutate_case::mutate_case;
pub use spec_text::spec_text;

/// The case that the bytes say: the line that they hold, or else what [`arbitrary_case`] makes of them.
pub fn case_from(bytes: &[u8]) -> Option<Case> {
    let line = std::str::from_utf8(bytes).ok();
    line.and_then(|text| line::parse(text, Library::embedded().signatures()).ok())
        .or_else(|| arbitrary_case(&mut arbitrary::Unstructured::new(bytes)).ok())
}

/// The target: see the table above.
///
/// # Panics
///
/// Where two witnesses disagree.
pub fn agreement(bytes: &[u8]) {
    let Some(case) = case_from(bytes) else { return };
    if let Err(disagreement) = agreement::check(&case, &mut dmlcts_reference::Reference::new()) {
        panic!("{disagreement}");
    }
}
