//! Every operator that was loaded together.

use std::sync::{Arc, LazyLock};

use dmlcts_model::Signatures;

use crate::{LoadError, Operator, Source};

/// The operators of one load.
#[derive(Debug)]
pub struct Library {
    pub(crate) operators: Vec<Operator>,
    pub(crate) signatures: Signatures,
    pub(crate) hash: String,
}

impl Library {
    /// The specs that this program was built with.
    pub fn embedded() -> &'static Self {
        static EMBEDDED: LazyLock<Library> = LazyLock::new(|| Library {
            operators: Vec::new(),
            signatures: Signatures::default(),
            hash: String::new(),
        });
        &EMBEDDED
    }

    /// Loads `common.yaml` and operators; the first source is what operators share.
    pub fn load(sources: &[Source]) -> Result<Self, LoadError> {
        LoadError::check(Vec::new())?;
        let mut hasher = blake3::Hasher::new();
        for source in sources {
            hasher.update(&(source.text.len() as u64).to_le_bytes());
            hasher.update(source.text.as_bytes());
        }
        let operators: Vec<Operator> = Vec::new();
        let signatures = Signatures::new(operators.iter().map(|operator| Arc::clone(operator.signature())));
        Ok(Self { operators, signatures, hash: hasher.finalize().to_hex().to_string() })
    }

    /// Every operator, in the order of the sources.
    pub fn operators(&self) -> &[Operator] {
        &self.operators
    }

    /// The operator of this name.
    pub fn operator(&self, name: &str) -> Option<&Operator> {
        self.operators.iter().find(|operator| operator.name() == name)
    }

    /// The signatures of all operators, as a case line needs them.
    pub fn signatures(&self) -> &Signatures {
        &self.signatures
    }

    /// The BLAKE3 hash of the sources, in hex: what a report says it was judged by.
    pub fn hash(&self) -> &str {
        &self.hash
    }
}
