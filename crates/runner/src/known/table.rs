//! The tables of known failures: entry × result of a case, and entry × results of all its cases.

use dmlcts_model::named_enum;

use super::{KnownCounts, KnownFailure, Smallest, Status};
use crate::{Ruling, Verdict};

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

/// Compares an entry with the ruling on a case. Returns the verdict that replaces the case's own, and how the
/// case fits the entry.
pub fn reconcile(entry: &KnownFailure, (verdict, class): Ruling) -> (Verdict, Fit) {
    use Verdict::{Crash, ExpectedFail, Fail, Flake, Lost, Pass, Recorded, Skip, Timeout, UnexpectedPass};
    let is_known = entry.status == Status::Known;
    let may_pass = !is_known || entry.is_partial || entry.is_flaky;
    match verdict {
        Pass | Recorded | UnexpectedPass if !may_pass => (UnexpectedPass, Fit::Passed),
        Pass | Recorded | UnexpectedPass => (verdict, Fit::Passed),
        Skip => (Skip, Fit::Skipped),
        Fail | Crash | Timeout | ExpectedFail if class.is_some_and(|class| entry.covers(class)) => {
            (if is_known { ExpectedFail } else { verdict }, Fit::AsExpected)
        }
        Fail | Crash | Timeout | ExpectedFail => (verdict, Fit::Otherwise),
        Flake | Lost => (verdict, Fit::Unknown),
    }
}

named_enum! {
    /// What became of the cases of an entry.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Conclusion: id {
        /// The entry is true: what is known fails as it says, and what is fixed passes.
        Holds = "holds",
        /// It is known, and some of its cases pass or fail in another way.
        Changed = "changed",
        /// It is known, and its cases pass.
        Fixed = "fixed",
        /// It was fixed, and fails again.
        Regressed = "regressed",
        /// It fails, and nobody has accepted it.
        New = "new",
        /// The results of its cases vary, or there is no answer.
        Unknown = "unknown",
        /// None of its cases ran.
        NotRun = "not run",
    }
}

impl Conclusion {
    /// Whether the entry must be changed, or the backend fixed.
    pub fn is_unexpected(self) -> bool {
        matches!(self, Self::Changed | Self::Fixed | Self::Regressed)
    }
}

/// This many passes show that a failure is fixed, also if the run has not all of its cases.
const ENOUGH: u64 = 20;

/// The conclusion about an entry with these results of its cases. `is_whole` is whether the run had every
/// case of its suite.
pub fn conclude(entry: &KnownFailure, counts: &KnownCounts, is_whole: bool) -> Conclusion {
    let KnownCounts { as_expected, otherwise, passed, unknown, .. } = counts;
    let smallest = counts.smallest.as_ref().map(|smallest| smallest.result);
    let is_other = smallest == Some(Smallest::AnotherClass);
    let fails_so = matches!(smallest, Some(Smallest::AsKnown | Smallest::AnotherAnswer));
    let failed = *as_expected > 0 || fails_so;
    let passes = *passed > 0 || smallest == Some(Smallest::Passed);
    let is_otherwise = !otherwise.is_empty() || is_other;
    match entry.status {
        _ if !failed && !is_otherwise && !passes => {
            if *unknown > 0 {
                Conclusion::Unknown
            } else {
                Conclusion::NotRun
            }
        }
        Status::New if failed => Conclusion::New,
        Status::Fixed if failed => Conclusion::Regressed,
        Status::New | Status::Fixed => Conclusion::Holds,
        Status::Known if is_otherwise || smallest == Some(Smallest::AnotherAnswer) => Conclusion::Changed,
        Status::Known if !passes || entry.is_flaky || entry.is_partial && failed => Conclusion::Holds,
        Status::Known if !failed && (is_whole || *passed >= ENOUGH) => Conclusion::Fixed,
        Status::Known => Conclusion::Changed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CauseKind, Class, Difference};

    fn entry(status: Status, classes: &[Class], may_pass: &str) -> KnownFailure {
        KnownFailure {
            file: String::new(),
            id: String::new(),
            cases: String::new(),
            classes: classes.to_vec(),
            status,
            kind: CauseKind::Bug,
            is_partial: may_pass == "partial",
            is_flaky: may_pass == "flaky",
            reason: String::new(),
            link: None,
        }
    }

    /// Every entry with every result of a case, and with every combination of results. People can check the
    /// text line by line.
    #[test]
    fn the_table() {
        let wrong = Class::Output(Difference::WrongValue);
        let zero = Class::Output(Difference::ZeroSign);
        let happened = [
            (Verdict::Pass, None),
            (Verdict::Recorded, None),
            (Verdict::Skip, None),
            (Verdict::Fail, Some(wrong)),
            (Verdict::Fail, Some(zero)),
            (Verdict::Fail, Some(Class::RefusedValid)),
            (Verdict::Crash, Some(Class::Crashed)),
            (Verdict::Timeout, Some(Class::TimedOut)),
            (Verdict::Flake, Some(wrong)),
            (Verdict::Lost, Some(Class::Lost)),
        ];
        let kinds = [
            (Status::Known, ""),
            (Status::Known, "partial"),
            (Status::Known, "flaky"),
            (Status::New, ""),
            (Status::Fixed, ""),
        ];
        let mut table = String::new();
        let mut line = |line: String| table.extend([line.trim_end(), "\n"]);
        for classes in [&[wrong][..], &[zero], &[Class::RefusedValid, zero]] {
            for (status, may_pass) in kinds {
                let entry = entry(status, classes, may_pass);
                line(format!("a case that is {} {may_pass} to fail with {}", status.id(), entry.class_ids()));
                for ruling in happened {
                    let (verdict, fit) = reconcile(&entry, ruling);
                    let class = ruling.1.map(|class| format!(" {}", class.id())).unwrap_or_default();
                    line(format!("  {:24}{:18}{fit:?}", format!("{}{class}", ruling.0.id()), verdict.id()));
                }
            }
        }
        for (status, may_pass) in kinds {
            line(format!("a finding that is {} {may_pass}", status.id()));
            for bits in 0_u32..16 {
                let has = |bit: u32| bits & 1 << bit != 0;
                let words = ["fail so", "fail otherwise", "pass", "change"];
                let did: Vec<&str> = (0..4).filter(|bit| has(*bit)).map(|bit| words[bit as usize]).collect();
                let did = if did.is_empty() { "did not run".to_owned() } else { did.join(", ") };
                let counts = |passed: u64| KnownCounts {
                    as_expected: u64::from(has(0)),
                    otherwise: has(1).then_some((Class::Crashed, 1)).into_iter().collect(),
                    passed: if has(2) { passed } else { 0 },
                    unknown: u64::from(has(3)),
                    ..KnownCounts::default()
                };
                let entry = entry(status, &[wrong], may_pass);
                let of = |passed, is_whole| conclude(&entry, &counts(passed), is_whole).id();
                let (part, many, whole) = (of(19, false), of(20, false), of(1, true));
                line(format!("  {did:42}{part:12}{many:12}{whole}"));
            }
        }
        insta::assert_snapshot!(table);
    }
}
