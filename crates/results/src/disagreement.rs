//! In what two runs differ, as far as their headers tell.

/// One thing in which two runs differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// What differs.
    pub what: &'static str,
    /// What this one has; empty for nothing.
    pub own: String,
    /// What the other one has; empty for nothing.
    pub other: String,
}

impl Disagreement {
    /// In words, with names for the two.
    pub fn describe(&self, own: &str, other: &str) -> String {
        let shown = |value: &str| if value.is_empty() { "none".to_owned() } else { value.to_owned() };
        format!("{}: {} {own}, {} {other}", self.what, shown(&self.own), shown(&self.other))
    }
}

/// What must agree: its name, and what it is.
pub(crate) type Facts = Vec<(&'static str, String)>;

/// Both lists name the same things in the same order.
pub(crate) fn disagreements(own: Facts, other: Facts) -> Vec<Disagreement> {
    let both = own.into_iter().zip(other);
    both.filter(|((_, own), (_, other))| own != other)
        .map(|((what, own), (_, other))| Disagreement { what, own, other })
        .collect()
}

/// As much of a hash as tells two apart.
pub(crate) fn short(hash: &str) -> String {
    hash.chars().take(12).collect()
}
