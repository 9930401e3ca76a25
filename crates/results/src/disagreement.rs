//! The differences between the headers of two runs.

/// One difference between two runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// The name of the fact that differs.
    pub what: &'static str,
    /// The value of this run; empty for none.
    pub own: String,
    /// The value of the other run; empty for none.
    pub other: String,
}

impl Disagreement {
    /// A phrase that describes the difference, with these names for the two runs.
    pub fn describe(&self, own: &str, other: &str) -> String {
        let shown = |value: &str| if value.is_empty() { "none".to_owned() } else { value.to_owned() };
        format!("{}: {} {own}, {} {other}", self.what, shown(&self.own), shown(&self.other))
    }
}

/// The facts that must agree: their names and values.
pub(crate) type Facts = Vec<(&'static str, String)>;

/// The facts that differ. Both lists have the same names in the same order.
pub(crate) fn disagreements(own: Facts, other: Facts) -> Vec<Disagreement> {
    let both = own.into_iter().zip(other);
    both.filter(|((_, own), (_, other))| own != other)
        .map(|((what, own), (_, other))| Disagreement { what, own, other })
        .collect()
}

/// The start of a hash, long enough to distinguish two hashes.
pub(crate) fn short(hash: &str) -> String {
    hash.chars().take(12).collect()
}
