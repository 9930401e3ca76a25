//! Every operator that was loaded together.

use std::sync::LazyLock;

use dmlcts_model::Signatures;

use crate::{LoadError, Operator, Remark, Source, expression::Scope, load};

/// The operators of one load.
#[derive(Debug)]
pub struct Library {
    pub(crate) operators: Vec<Operator>,
    pub(crate) remarks: Vec<Remark>,
    pub(crate) signatures: Signatures,
    pub(crate) hash: String,
}

impl Library {
    /// The files that this program was built with, which are those that `spec/` held: what operators share
    /// first, then the operators, oldest first.
    pub fn embedded_sources() -> Vec<Source> {
        dmlcts_spec_files::FILES.iter().map(|(name, text)| Source::new(*name, *text)).collect()
    }

    /// The specs that this program was built with, loaded on first use.
    ///
    /// # Panics
    ///
    /// Where the program was built with a spec that does not load, which its tests rule out.
    pub fn embedded() -> &'static Self {
        static LIBRARY: LazyLock<Library> = LazyLock::new(|| {
            load::library(&Library::embedded_sources(), load::Proof::Tested)
                .unwrap_or_else(|error| panic!("the embedded specs do not load:\n{error}"))
        });
        &LIBRARY
    }

    /// Loads `common.yaml`, which is the first source, and the operators, which are the others.
    pub fn load(sources: &[Source]) -> Result<Self, LoadError> {
        load::library(sources, load::Proof::Full)
    }

    /// Every operator, in the order of the sources.
    pub fn operators(&self) -> &[Operator] {
        &self.operators
    }

    /// The operator of this name.
    pub fn operator(&self, name: &str) -> Option<&Operator> {
        self.operators.iter().find(|operator| operator.name() == name)
    }

    /// Errata and notes about what all operators share.
    pub fn remarks(&self) -> &[Remark] {
        &self.remarks
    }

    /// The signatures of all operators, as a case line needs them.
    pub fn signatures(&self) -> &Signatures {
        &self.signatures
    }

    /// What names mean in each operator's expressions, as a [`Predicate`](crate::Predicate) needs them.
    pub fn scopes(&self) -> impl Iterator<Item = &Scope> {
        self.operators.iter().map(Operator::scope)
    }

    /// The BLAKE3 hash of the sources, in hex: what a report says it was judged by. The order in which the operators
    /// were given does not matter, nor how their lines end.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// As much of the hash as tells specs apart, for people to compare.
    pub fn short_hash(&self) -> &str {
        // Hex digits are a byte each.
        &self.hash[..12]
    }
}
