//! The operators that were loaded together.

use std::sync::LazyLock;

use dmlcts_model::Signatures;

use crate::{
    BindingRule, LoadError, Operator, Remark, Source,
    expression::Scope,
    load::{self, Proof},
};

/// The operators of one load.
#[derive(Debug)]
pub struct Library {
    pub(crate) operators: Vec<Operator>,
    pub(crate) remarks: Vec<Remark>,
    pub(crate) bindings: Vec<BindingRule>,
    pub(crate) signatures: Signatures,
    /// The BLAKE3 hash of the sources, in hex.
    pub(crate) hash: String,
}

impl Library {
    /// The spec files that are embedded in this program: `common.yaml` first, then the operators, oldest
    /// first.
    pub fn embedded_sources() -> Vec<Source> {
        dmlcts_spec_files::FILES.iter().map(|(name, text)| Source::new(*name, *text)).collect()
    }

    /// The embedded specs, loaded on first use.
    ///
    /// # Panics
    ///
    /// If an embedded spec does not load. Tests rule this out.
    pub fn embedded() -> &'static Self {
        static LIBRARY: LazyLock<Library> = LazyLock::new(|| {
            let loaded = load::load(&Library::embedded_sources(), Proof::Tested);
            loaded.unwrap_or_else(|error| panic!("the embedded specs do not load:\n{error}"))
        });
        &LIBRARY
    }

    /// Loads `common.yaml`, the first source, and the operators, the other sources.
    pub fn load(sources: &[Source]) -> Result<Self, LoadError> {
        load::load(sources, Proof::Full)
    }

    /// Every operator, in the order of the sources.
    pub fn operators(&self) -> &[Operator] {
        &self.operators
    }

    /// The operator with this name.
    pub fn operator(&self, name: &str) -> Option<&Operator> {
        self.operators.iter().find(|operator| operator.name() == name)
    }

    /// Errata and notes about what all operators share.
    pub fn remarks(&self) -> &[Remark] {
        &self.remarks
    }

    /// The rules of bindings, for each tensor.
    pub fn bindings(&self) -> &[BindingRule] {
        &self.bindings
    }

    /// The signatures of all operators, for parsing case lines.
    pub fn signatures(&self) -> &Signatures {
        &self.signatures
    }

    /// The names that each operator's expressions may use, for compiling a [`Predicate`](crate::Predicate).
    pub fn scopes(&self) -> impl Iterator<Item = &Scope> {
        self.operators.iter().map(Operator::scope)
    }

    /// The BLAKE3 hash of the sources, in hex. Reports use it to identify the specs. It depends neither on
    /// the order of the operators nor on the line endings.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The first 12 digits of the hash, for people to compare.
    pub fn short_hash(&self) -> &str {
        // Every hex digit is one byte, so this is a character boundary.
        &self.hash[..12]
    }
}
