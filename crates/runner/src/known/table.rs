//! The table: what an entry says × what happened → what it comes to. First case by case, then for the entry as a whole.

use crate::{Class, Ruling, Verdict};

/// What a case says of the entry that matches it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fit {
    /// It failed as the entry says.
    AsExpected,
    /// It failed, and in another way.
    Otherwise,
    /// It passed.
    Passed,
    /// It was skipped: the backend does not declare it.
    Skipped,
    /// Nobody knows: there was no answer, or another one each time.
    Unknown,
}

/// Holds what an entry expects of a case against what the case came to. Without an entry, that is what it comes to.
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
    /// It is: every case that it matches fails as it says.
    Holds,
    /// No case matches.
    MatchesNothing,
    /// All cases that match were skipped, since the backend does not declare them.
    Skipped,
    /// All cases that match pass.
    Stale,
    /// Some fail as it says, others pass.
    TooWide,
    /// All fail, and none as it says.
    Changed,
    /// Some fail as it says, others in another way, or some of these and others pass.
    Mixed,
    /// Nobody knows, since what the cases came to changes from time to time.
    Unknown,
}

impl Conclusion {
    /// Whether the entry is to be corrected.
    pub fn is_error(self) -> bool {
        self != Self::Holds
    }
}

/// Concludes from whether any case that matches failed as the entry says, failed otherwise, passed, was skipped, and from
/// whether of any nobody knows.
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

    /// Every signature against everything that can happen to a case, and every entry against everything that can happen
    /// to its cases, as one text that a reader can check line by line.
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
