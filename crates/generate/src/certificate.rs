//! The certificate of a complete run of an exhaustive suite: its bounds, its counts and the hashes of its
//! spec and suite.

use crate::{Expansion, Part, Row, Strategy};

/// The coverage of an expansion, to print after a complete run. Equal certificates mean equal cases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// The name of the suite.
    pub suite: String,
    /// The BLAKE3 hash of the suite's text, in hex.
    pub suite_hash: String,
    /// The BLAKE3 hash of the specs, in hex.
    pub spec_hash: String,
    /// The seed of all random choices.
    pub seed: u64,
    /// The exhaustive parts.
    pub parts: Vec<CertifiedPart>,
}

/// An exhaustive part of a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertifiedPart {
    /// The name of the part.
    pub id: String,
    /// The bounds as they are written, preceded by the operator if one is named.
    pub bounds: Vec<String>,
    /// The counts.
    pub rows: Vec<Row>,
}

impl Certificate {
    /// The certificate of an expansion. `None` if no part is exhaustive, or if the search for an exhaustive
    /// part was cut short. Searches the exhaustive parts.
    pub fn of(expansion: &Expansion<'_>) -> Option<Self> {
        let exhaustive = |part: &&Part<'_>| part.strategy() == Strategy::Exhaustive;
        if expansion.parts().iter().filter(exhaustive).any(|part| part.omitted().is_cut) {
            return None;
        }
        let parts: Vec<CertifiedPart> = expansion
            .parts()
            .iter()
            .map(|part| CertifiedPart {
                id: part.id().to_owned(),
                bounds: part
                    .form()
                    .bounds
                    .iter()
                    .flatten()
                    .map(|bound| match &bound.operator {
                        Some(operator) => format!("{operator}: {}", bound.that),
                        None => bound.that.clone(),
                    })
                    .collect(),
                rows: part.rows(),
            })
            .filter(|part| !part.rows.is_empty())
            .collect();
        (!parts.is_empty()).then(|| Self {
            suite: expansion.suite().name().to_owned(),
            suite_hash: expansion.suite().source().hash(),
            spec_hash: expansion.library().hash().to_owned(),
            seed: expansion.seed(),
            parts,
        })
    }

    /// The number of cases that it covers.
    pub fn cases(&self) -> u128 {
        self.parts.iter().flat_map(|part| &part.rows).map(|row| row.cases).sum()
    }
}
