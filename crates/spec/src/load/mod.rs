//! From forms to operators: every name resolved, every expression checked and compiled, every example run.
//!
//! Loading goes on after a mistake wherever what follows does not depend on it, so that one load reports as
//! much as it can. Nothing half-checked leaves this module: a single mistake anywhere is an error.

mod common;
mod examples;
mod members;
mod operator;
mod proof;
mod rules;
mod semantics;
mod support;

use std::sync::Arc;

use dmlcts_model::Signatures;

use crate::{Diagnostic, Library, LoadError, Operator, Source, form, yaml};

/// How thoroughly to check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proof {
    /// Everything.
    Full,
    /// Not what takes the longest and was proven when the program was tested: that no expression is
    /// undefined where it should not be, and that no read leaves the input.
    Tested,
}

/// Loads `common.yaml`, which is the first source, and the operators, which are the others.
pub(crate) fn library(sources: &[Source], proof: Proof) -> Result<Library, LoadError> {
    let Some((first, others)) = sources.split_first() else {
        let nothing = Source::new("the library", "");
        let place = crate::source::Located::new(&nothing);
        let message = "no sources: the first is what operators share, the others are operators";
        return Err(LoadError::of(Diagnostic::new(&place, 0..0, message, "")));
    };
    let mut wrong = Vec::new();
    let common = match yaml::read::<form::CommonForm>(first) {
        Ok(document) => Some(common::Common::check(document, &mut wrong)),
        Err(error) => {
            wrong.extend(error.into_diagnostics());
            None
        }
    };
    let mut documents = Vec::new();
    for source in others {
        match yaml::read::<form::OperatorForm>(source) {
            Ok(document) => documents.push(document),
            Err(error) => wrong.extend(error.into_diagnostics()),
        }
    }
    // What depends on the shared part would only repeat its mistakes.
    let Some(common) = common else { return Err(LoadError::all(wrong)) };
    let mut operators: Vec<Operator> = Vec::new();
    for document in &documents {
        let name = &document.value.operator;
        if operators.iter().any(|operator| operator.name() == name) {
            let message = format!("operator `{name}` is defined twice");
            wrong.push(document.root().key("operator").mistake(message, "the second one"));
            continue;
        }
        operators.extend(operator::load(&common, document, proof, &mut wrong));
    }
    let form = &common.document.value;
    let place = common.document.root();
    let remarks = operator::remarks([&form.errata, &form.notes], place, &form.page, "", &mut wrong);
    LoadError::check(wrong)?;
    for (position, operator) in operators.iter_mut().enumerate() {
        operator.position = position;
    }
    let hash = hash(first, &documents, others);
    let signatures = Signatures::new(operators.iter().map(|operator| Arc::clone(operator.signature())));
    Ok(Library { operators, remarks, signatures, hash })
}

/// The hash of what was loaded: of the shared part, then of the operators by name, so that nothing else about the order
/// of the files matters; and how lines end does not, either.
fn hash(common: &Source, documents: &[yaml::Document<form::OperatorForm>], operators: &[Source]) -> String {
    let mut operators: Vec<(&str, &Source)> =
        documents.iter().map(|document| document.value.operator.as_str()).zip(operators).collect();
    operators.sort_by_key(|(name, _)| *name);
    let mut hasher = blake3::Hasher::new();
    for source in std::iter::once(common).chain(operators.into_iter().map(|(_, source)| source)) {
        let text = source.with_line_feeds();
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}
