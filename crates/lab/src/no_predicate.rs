//! Faults whose failures no predicate over descs and data describes, each with the reason. Findings cannot
//! explain them exactly, so `dmlcts-lab findings` lists them apart.

const RECIPROCAL: &str = "whether a quotient is wrong depends on how its divisor's reciprocal rounds";
const SATURATES: &str = "an element fails if it has too many bits, but not if it is the greatest number, to which the \
                         conversion saturates; no condition is about one element";
const OFFSETS: &str = "whether one offset is read depends on all combinations of coordinates";

/// The names of the mutants, with the reasons.
const REASONS: [(&str, &str); 8] = [
    ("wrap-by-reciprocal", RECIPROCAL),
    ("symmetric-by-reciprocal", RECIPROCAL),
    ("coordinates-by-reciprocal", RECIPROCAL),
    ("int64-in-double", SATURATES),
    ("uint64-in-double", SATURATES),
    ("int32-in-float", SATURATES),
    ("uint32-in-float", SATURATES),
    ("thirty-second-element-wrong", OFFSETS),
];

/// Why no predicate describes the failures of the mutant with this name; `None` if one may.
pub(crate) fn reason(name: &str) -> Option<&'static str> {
    REASONS.iter().find(|(known, _)| *known == name).map(|(_, reason)| *reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_mutants_are_listed_and_each_exists() {
        for (name, reason) in REASONS {
            assert!(dmlcts_mutants::find(name).is_some(), "{name}");
            assert!(!reason.is_empty(), "{name}");
        }
        assert!(REASONS.len() * 10 <= dmlcts_mutants::all().count());
    }
}
