//! Compares the versions of backends and drivers with bounds. Versions have many formats, so only the first
//! number with a dot counts.

use std::{cmp::Ordering, fmt};

use dmlcts_backend::Capabilities;
use schemars::JsonSchema;
use serde::Deserialize;

/// A range of versions. Versions compare by their first number with a dot, part by part: `Mesa 25.2.8` is
/// from 25.2 and below 26.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoundsForm {
    /// This version and later ones.
    #[serde(default)]
    pub from: Option<String>,
    /// Versions before this one, which fixes the failure.
    #[serde(default)]
    pub below: Option<String>,
}

/// The backends to which a finding applies: all of them if nothing is set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Applies {
    /// Only these versions of the backend.
    #[serde(default)]
    pub version: Option<BoundsForm>,
    /// Only these versions of the driver.
    #[serde(default)]
    pub driver: Option<BoundsForm>,
    /// Only devices whose name contains this, regardless of case.
    #[serde(default)]
    pub device: Option<String>,
}

/// Why a finding does not apply to a backend with these capabilities: the required and the actual value.
/// `None` if it applies.
pub(super) fn misfit(form: &Applies, capabilities: &Capabilities) -> Option<String> {
    let Capabilities { device, version, driver, .. } = capabilities;
    let here = |what: &str, own: &str| match own {
        "" => format!("this one names no {what}"),
        own => format!("this one has {own}"),
    };
    if let Some(part) = &form.device
        && !device.to_lowercase().contains(&part.to_lowercase())
    {
        return Some(format!("is of a device with `{part}` in its name, and {}", here("device", device)));
    }
    let mut bounded = [("version", &form.version, version), ("driver", &form.driver, driver)].into_iter();
    bounded.find_map(|(what, bounds, own)| {
        let bounds = bounds.as_ref().filter(|bounds| !holds(bounds, own))?;
        Some(format!("is of a {what} {bounds}, and {}", here(what, own)))
    })
}

/// In the form `from 5 and below 6.2`.
impl fmt::Display for BoundsForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bounds = [("from", &self.from), ("below", &self.below)];
        let bounds = bounds.iter().filter_map(|(what, bound)| Some(format!("{what} {}", bound.as_deref()?)));
        f.write_str(&bounds.collect::<Vec<_>>().join(" and "))
    }
}

impl BoundsForm {
    /// Whether no version is within these bounds.
    pub fn are_empty(&self) -> bool {
        let number = |text: &Option<String>| text.as_deref().and_then(numbers);
        number(&self.from).zip(number(&self.below)).is_some_and(|(from, below)| from >= below)
    }
}

/// Whether a text has a number, so that it can bound versions.
pub fn is_version(text: &str) -> bool {
    numbers(text).is_some()
}

/// Which of two versions is the later one. `None` if one has no number and they differ.
pub fn compare_versions(one: &str, other: &str) -> Option<Ordering> {
    if one == other {
        return Some(Ordering::Equal);
    }
    Some(numbers(one)?.cmp(&numbers(other)?))
}

/// Whether a version is within bounds. A version without a number is within none.
fn holds(BoundsForm { from, below }: &BoundsForm, version: &str) -> bool {
    let Some(version) = numbers(version) else { return false };
    let bound = |text: &Option<String>| text.as_deref().and_then(numbers);
    bound(from).is_none_or(|from| version >= from) && bound(below).is_none_or(|below| version < below)
}

/// The parts of the first number with a dot, or else of the first number. Trailing zeros are dropped.
fn numbers(text: &str) -> Option<Vec<u64>> {
    let words = || {
        let words = text.split(|letter: char| !letter.is_ascii_digit() && letter != '.');
        words.map(|word| word.trim_matches('.')).filter(|word| !word.is_empty())
    };
    let word = words().find(|word| word.contains('.')).or_else(|| words().next())?;
    let mut parts: Vec<u64> = word.split('.').map(|part| part.parse().unwrap_or(u64::MAX)).collect();
    while parts.last() == Some(&0) {
        parts.pop();
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_number_by_number() {
        let bounds = |from: &str, below: &str| {
            let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            BoundsForm { from: some(from), below: some(below) }
        };
        let keeps = |from: &str, below: &str, version: &str| holds(&bounds(from, below), version);
        assert!(keeps("25.2", "26", "llvmpipe, Mesa 25.2.8 (LLVM 20.1.2)"));
        assert!(!keeps("25.2.9", "", "Mesa 25.2.8"));
        assert!(keeps("25.10", "", "25.11") && !keeps("25.10", "", "25.9"), "parts are numbers");
        assert!(keeps("580", "580.159.5", "580.159.04"));
        assert!(keeps("1.2.0", "", "1.2") && !keeps("", "1.2.0", "1.2"), "zeros at the end say nothing");
        assert!(keeps("2", "4", "v3") && !keeps("2", "", "unknown"));
    }

    #[test]
    fn two_versions_are_ordered_by_their_numbers() {
        assert_eq!(compare_versions("1.9", "1.10"), Some(Ordering::Less));
        assert_eq!(compare_versions("Mesa 26", "25.2.8"), Some(Ordering::Greater));
        assert_eq!(compare_versions("1.0", "1"), Some(Ordering::Equal));
        assert_eq!(compare_versions("main", "main"), Some(Ordering::Equal));
        assert_eq!((compare_versions("main", "1"), compare_versions("1", "main")), (None, None));
    }
}
