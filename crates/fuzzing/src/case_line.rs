//! Fuzzing the case line: whatever the text, it is a case that survives being written down, or a mistake with
//! a place in the text. A case that reads can also be judged and created, however absurd it is.

use dmlcts_backend::Operators;
use dmlcts_model::{FeatureLevel, line};
use dmlcts_reference::Reference;
use dmlcts_spec::{Library, Scratch};

/// The target.
///
/// # Panics
///
/// Where a case is lost on the way, or a mistake points outside of the text.
pub fn case_line(bytes: &[u8]) {
    let library = Library::embedded();
    let text = String::from_utf8_lossy(bytes);
    let case = match line::parse(&text, library.signatures()) {
        Ok(case) => case,
        Err(mistake) => {
            assert!(text.get(mistake.span.clone()).is_some(), "{text:?}: {mistake:?}");
            return;
        }
    };
    let written = case.to_string();
    let back = line::parse(&written, library.signatures());
    assert_eq!(back.as_ref(), Ok(&case), "{text:?} was written as {written:?}");

    if let Some(operator) = library.operator(&case.desc.signature.operator) {
        operator.judge(&case.desc, FeatureLevel::NEWEST, &mut Scratch::default());
        // What it answers is the business of another target.
        let _ = Reference::new().create(&case.desc);
    }
}
