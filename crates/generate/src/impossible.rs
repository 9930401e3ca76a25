//! Pairs of a way to break a clause and a value of a factor that no desc shows, with the reasons. They are
//! read from `cases/impossible.yaml`.

use std::sync::LazyLock;

use dmlcts_spec::{LoadError, Source, yaml};
use schemars::JsonSchema;
use serde::Deserialize;

/// The entries of the embedded file. A test checks that the file loads.
static EMBEDDED: LazyLock<Vec<Impossible>> = LazyLock::new(|| read().unwrap_or_default());

/// The pairs that no desc shows.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImpossibleForm {
    /// The pairs. The first entry that fits a pair counts.
    pub pairs: Vec<Impossible>,
}

/// Pairs of a way to break a clause and a type, mode, rank or axis.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Impossible {
    /// The id of a clause, or its last part, which stands for the clauses of every tensor and operator.
    pub clause: String,
    /// A part of the way's text between backticks, such as ``mod 2^32 <= 1` ``; by default every way.
    pub way: Option<String>,
    /// The values, such as `FLOAT16`, `rank 8` or `the last axis`; by default all.
    pub with: Option<Vec<String>>,
    /// The reason, as a part of a sentence.
    pub because: String,
}

impl Impossible {
    /// The entries of the embedded file.
    pub fn embedded() -> &'static [Self] {
        &EMBEDDED
    }

    /// The reason why no desc shows a pair, if an entry has one.
    pub fn reason(clause: &str, way: &str, value: &str) -> Option<&'static str> {
        let found = EMBEDDED.iter().find(|entry| entry.fits(clause, way, value));
        found.map(|entry| entry.because.as_str())
    }

    /// Whether the entry has this pair.
    pub fn fits(&self, clause: &str, way: &str, value: &str) -> bool {
        let is_clause = clause
            .strip_suffix(self.clause.as_str())
            .is_some_and(|before| before.is_empty() || before.ends_with('.'));
        is_clause
            && self.way.as_ref().is_none_or(|part| format!("`{way}`").contains(part.as_str()))
            && self.with.as_ref().is_none_or(|values| values.iter().any(|known| known == value))
    }
}

fn read() -> Result<Vec<Impossible>, LoadError> {
    let source = Source::new("cases/impossible.yaml", dmlcts_case_files::IMPOSSIBLE);
    Ok(yaml::read::<ImpossibleForm>(&source)?.value.pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_file_has_no_mistake() {
        assert!(!read().unwrap_or_else(|error| panic!("{error}")).is_empty());
    }
}
