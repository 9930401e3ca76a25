//! The digest of a finding: it changes if the finding gets or loses a case, or if a case fails in another way
//! or with other bytes. It is a sum over the cases, so that it does not depend on their order.

use dmlcts_runner::{CaseDigest, Digest};

/// The digest of these cases. `None` if a case has none: digests are only computed in runs that are recorded.
pub(crate) fn sum(cases: impl Iterator<Item = Option<CaseDigest>>) -> Option<Digest> {
    let mut sum = Digest::default();
    for one in cases {
        let CaseDigest { case, output } = one?;
        let Digest(word) = output.map_or(case, |output| case.with(output));
        sum.0 = sum.0.wrapping_add(word);
    }
    Some(sum)
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
        let of = |cases: &[Option<CaseDigest>]| sum(cases.iter().copied());
        assert_eq!(of(&[one, two]), of(&[two, one]));
        assert_ne!(of(&[one]), of(&[one, two]));
        assert_eq!(of(&[one, None]), None, "a case without a digest");
        for (class, output) in [(wrong, 2), (Class::Remembered, 1)] {
            assert_ne!(of(&[Some(CaseDigest::new("one", class, Some(Digest(output))))]), of(&[one]));
        }
    }
}
