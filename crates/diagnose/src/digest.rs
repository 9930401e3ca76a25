//! The digest of a finding: it changes if the finding gets or loses a case, or if a case fails in another way
//! or with other bytes. It is a sum over the cases, so that it does not depend on their order.

use dmlcts_runner::{CaseDigest, Digest};

/// The digests of the cases of a finding.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FindingDigest {
    /// Of the cases and the classes of their failures.
    pub cases: Digest,
    /// Of the same with the outputs.
    pub outputs: Digest,
}

impl FindingDigest {
    /// The digests of these cases. `None` if a case has none: digests are only computed in runs that are
    /// recorded.
    pub fn of(cases: impl Iterator<Item = Option<CaseDigest>>) -> Option<Self> {
        let mut sum = Self::default();
        for case in cases {
            let CaseDigest { case, output } = case?;
            let with_output = output.map_or(case, |output| case.with(output));
            sum.cases.0 = sum.cases.0.wrapping_add(case.0);
            sum.outputs.0 = sum.outputs.0.wrapping_add(with_output.0);
        }
        Some(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dmlcts_runner::{Class, Difference};

    #[test]
    fn the_digest_of_a_finding_depends_on_lines_classes_and_outputs_and_on_no_order() {
        let wrong = Class::Output(Difference::WrongValue);
        let one = Some(CaseDigest::new("one", wrong, Some(Digest(1))));
        let two = Some(CaseDigest::new("two", Class::RefusedValid, None));
        let of = |cases: &[Option<CaseDigest>]| FindingDigest::of(cases.iter().copied());
        assert_eq!(of(&[one, two]), of(&[two, one]));
        assert_ne!(of(&[one]), of(&[one, two]));
        assert_eq!(of(&[one, None]), None, "a case without a digest");
        let other_bytes = of(&[Some(CaseDigest::new("one", wrong, Some(Digest(2))))]);
        let (before, after) = (of(&[one]).expect("it has one"), other_bytes.expect("it has one"));
        assert!(before.cases == after.cases && before.outputs != after.outputs);
        let other_class = of(&[Some(CaseDigest::new("one", Class::Remembered, Some(Digest(1))))]);
        assert_ne!(other_class.expect("it has one").cases, before.cases);
    }
}
