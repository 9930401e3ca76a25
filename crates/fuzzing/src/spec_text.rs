//! Fuzzing what people write: spec files and expressions. Whatever the text, loading ends, does not panic,
//! and says in messages that can be shown what it does not take.

use dmlcts_model::FeatureLevel;
use dmlcts_spec::expression::parse;
use dmlcts_spec::program::Values;
use dmlcts_spec::{Library, Operator, Predicate, Source};

/// The target: loads the text as the file that it looks like, or compiles it as an expression.
///
/// # Panics
///
/// Where a mistake cannot be shown, or an expression changes when it is printed and read again.
pub fn spec_text(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if has_key(&text, "operator:") {
        file(&text, 1);
    } else if has_key(&text, "levels:") {
        file(&text, 0);
    } else {
        expression(&text);
    }
}

/// Whether some line begins with a key of the top level.
fn has_key(text: &str, key: &str) -> bool {
    text.lines().any(|line| line.starts_with(key))
}

/// Loads the text in the place of one of the embedded files: `common.yaml` or an operator's.
fn file(text: &str, place: usize) {
    let mut sources = Library::embedded_sources().into_iter().take(2).collect::<Vec<_>>();
    sources[place] = Source::new("fuzzed.yaml", text);
    if let Err(error) = Library::load(&sources) {
        assert!(!error.diagnostics().is_empty(), "a load failed and said nothing");
        for diagnostic in error.diagnostics() {
            let named = diagnostic.to_string();
            assert!(named.starts_with(diagnostic.source_name()), "the message names no file: {named}");
        }
    }
}

/// Reads the text as an expression, prints it and reads it again; and asks it of every documented example.
fn expression(text: &str) {
    let library = Library::embedded();
    match parse(text) {
        Ok(parsed) => {
            let printed = parsed.to_string();
            match parse(&printed) {
                Ok(back) => assert_eq!(back.to_string(), printed, "printing `{text}` twice differs"),
                Err(mistake) => panic!("`{text}` is printed as `{printed}`, which fails: {mistake:?}"),
            }
        }
        Err(mistake) => {
            assert!(text.get(mistake.span.start..mistake.span.end).is_some(), "{text:?}: {mistake:?}");
        }
    }
    let scopes = library.operators().iter().map(Operator::scope);
    if let Ok(predicate) = Predicate::compile(text, scopes) {
        let mut values = Values::default();
        for example in library.operators().iter().flat_map(Operator::examples) {
            predicate.holds(&example.case, FeatureLevel::NEWEST, &mut values);
        }
    }
}
