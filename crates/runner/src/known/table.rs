//! The tables of known failures: entry × result of a case, and entry × results of all its cases.

use crate::{Class, Ruling, Verdict};

/// How the result of a case fits the entry that matches it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fit {
    /// The case failed as the entry describes.
    AsExpected,
    /// The case failed in another way.
    Otherwise,
    /// The case passed.
    Passed,
    /// The case was skipped, because the backend does not declare it.
    Skipped,
    /// Unknown: the case has no answer, or is a flake.
    Unknown,
}

/// Compares the signature of an entry with the ruling on a case. Returns the verdict that replaces the case's
/// own, and how the case fits the entry.
pub fn reconcile(signature: Class, (verdict, class): Ruling) -> (Verdict, Fit) {
    use Verdict::{Crash, ExpectedFail, Fail, Flake, Lost, Pass, Recorded, Skip, Timeout, UnexpectedPass};
    match verdict {
        Pass | Recorded | UnexpectedPass => (UnexpectedPass, Fit::Passed),
        Skip => (Skip, Fit::Skipped),
        Fail | Crash | Timeout | ExpectedFail if class.is_some_and(|class| signature.covers(class)) => {
            (ExpectedFail, Fit::AsExpected)
        }
        Fail | Crash | Timeout | ExpectedFail => (verdict, Fit::Otherwise),
        Flake | Lost => (verdict, Fit::Unknown),
    }
}

/// Whether an entry is still true, after a complete run of a suite that it names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Conclusion {
    /// Still true: every case that it matches fails as it describes.
    Holds,
    /// The entry matches no case.
    MatchesNothing,
    /// All cases that it matches were skipped, because the backend does not declare them.
    Skipped,
    /// All cases that it matches pass.
    Stale,
    /// Some cases fail as it describes, and others pass.
    TooWide,
    /// All cases fail, but none as it describes.
    Changed,
    /// Some cases fail in another way. Of the others, some fail as it describes, or some pass.
    Mixed,
    /// Unknown, because the results of the cases vary.
    Unknown,
}

impl Conclusion {
    /// Whether the entry must be corrected.
    pub fn is_error(self) -> bool {
        self != Self::Holds
    }
}

/// The conclusion about an entry. Each argument is whether any case that it matches failed as described,
/// failed otherwise, passed, was skipped, or has an unknown result.
#[expect(clippy::fn_params_excessive_bools, reason = "each is a column of the table")]
pub fn conclude(
    as_expected: bool,
    otherwise: bool,
    passed: bool,
    skipped: bool,
    unknown: bool,
) -> Conclusion {
    match (as_expected, otherwise, passed, skipped, unknown) {
        (true, false, false, _, _) => Conclusion::Holds,
        (true, false, true, _, _) => Conclusion::TooWide,
        (false, true, false, _, _) => Conclusion::Changed,
        (_, true, _, _, _) => Conclusion::Mixed,
        (false, false, true, _, false) => Conclusion::Stale,
        (false, false, _, _, true) => Conclusion::Unknown,
        (false, false, false, true, false) => Conclusion::Skipped,
        (false, false, false, false, false) => Conclusion::MatchesNothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Difference;

    /// Every signature with every result of a case, and every combination of results with its conclusion.
    /// People can check the text line by line.
    #[test]
    fn the_table() {
        let wrong = Class::Output(Difference::WrongValue);
        let signatures = [
            wrong,
            Class::Output(Difference::ZeroSign),
            Class::RefusedValid,
            Class::Crashed,
            Class::TimedOut,
        ];
        let happened = [
            (Verdict::Pass, None),
            (Verdict::Recorded, None),
            (Verdict::Skip, None),
            (Verdict::Fail, Some(wrong)),
            (Verdict::Fail, Some(Class::Output(Difference::ZeroSign))),
            (Verdict::Fail, Some(Class::RefusedValid)),
            (Verdict::Crash, Some(Class::Crashed)),
            (Verdict::Timeout, Some(Class::TimedOut)),
            (Verdict::Flake, Some(wrong)),
            (Verdict::Lost, Some(Class::Lost)),
        ];
        let mut table = String::new();
        let mut line = |line: String| table.extend([&line, "\n"]);
        for signature in signatures {
            line(format!("a case of an entry that says {}", signature.id()));
            for ruling in happened {
                let (verdict, fit) = reconcile(signature, ruling);
                let class = ruling.1.map(|class| format!(" {}", class.id())).unwrap_or_default();
                line(format!("  {:24}{:18}{fit:?}", format!("{}{class}", ruling.0.id()), verdict.id()));
            }
        }
        line("an entry whose cases".to_owned());
        for bits in 0_u32..32 {
            let has = |bit: u32| bits & 1 << bit != 0;
            let words = ["fail so", "fail otherwise", "pass", "are skipped", "change"];
            let did: Vec<&str> = (0..5).filter(|bit| has(*bit)).map(|bit| words[bit as usize]).collect();
            let did = if did.is_empty() { "are none".to_owned() } else { did.join(", ") };
            let conclusion = conclude(has(0), has(1), has(2), has(3), has(4));
            let error = if conclusion.is_error() { ": an error" } else { "" };
            line(format!("  {did:54}{conclusion:?}{error}"));
        }
        insta::assert_snapshot!(table);
    }
}
