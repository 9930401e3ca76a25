//! The verdict on a case, from the outcome and the expectation. [`rule`] is the whole table.

use std::fmt;

use dmlcts_model::{Allowed, ErrorCode, Expectation, Mismatch, Outcome, StrayPlace, named_enum};

use crate::Difference;

named_enum! {
    /// The verdict on a case, in the order of summaries.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    pub enum Verdict: id, from_id {
        /// The outcome is as expected.
        Pass = "pass",
        /// The pages leave the outcome open, and allow this one.
        Recorded = "recorded",
        /// The backend declared that it does not support this.
        Skip = "skip",
        /// A failure that is listed as known.
        ExpectedFail = "expected-fail",
        /// The outcome is not as expected.
        Fail = "fail",
        /// A case that is listed as a known failure passed.
        UnexpectedPass = "unexpected-pass",
        /// It failed once, and passed when it was run again alone.
        Flake = "flake",
        /// The backend ended or panicked while the case ran.
        Crash = "crash",
        /// The backend did not answer in time.
        Timeout = "timeout",
        /// There is no answer, usually because the backend is lost.
        Lost = "lost",
    }
}

impl Verdict {
    /// Whether a run with such a case exits with an error.
    pub fn is_unexpected(self) -> bool {
        !matches!(self, Self::Pass | Self::Recorded | Self::Skip | Self::ExpectedFail)
    }

    /// The name in summaries.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "passed",
            Self::Recorded => "recorded",
            Self::Skip => "skipped",
            Self::ExpectedFail => "failed as expected",
            Self::Fail => "failed",
            Self::UnexpectedPass => "passed unexpectedly",
            Self::Flake => "flaky",
            Self::Crash => "crashed",
            Self::Timeout => "timed out",
            Self::Lost => "lost",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The way in which a case failed. Shrinking preserves it, and groups consist of failures of one class.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Class {
    /// The output differs.
    Output(Difference),
    /// The result has other sizes than the output.
    WrongShape,
    /// The result has another data type than the output.
    WrongType,
    /// Bytes outside the output's memory were written.
    WroteOutside,
    /// The input's memory changed.
    InputChanged,
    /// The first run was right, but a later run of the same operator was not.
    Remembered,
    /// A valid desc was refused as invalid.
    RefusedValid,
    /// A desc was refused, but not as invalid.
    RefusedOtherwise,
    /// An invalid desc was accepted.
    AcceptedInvalid,
    /// The desc was accepted but not run.
    NotRun,
    /// The outcome is not one that the open questions allow.
    OutsideQuestion,
    /// The backend called the desc unsupported, although it had declared support.
    Undeclared,
    /// The backend reported an error of its own.
    Failed,
    /// The backend ended or panicked.
    Crashed,
    /// The backend did not answer in time.
    TimedOut,
    /// The backend gave no answer.
    Lost,
}

impl Class {
    /// Every class.
    pub const ALL: [Self; 20] = [
        Self::Output(Difference::WrongValue),
        Self::Output(Difference::Unwritten),
        Self::Output(Difference::NanCanonicalised),
        Self::Output(Difference::DenormalFlushed),
        Self::Output(Difference::ZeroSign),
        Self::WrongShape,
        Self::WrongType,
        Self::WroteOutside,
        Self::InputChanged,
        Self::Remembered,
        Self::RefusedValid,
        Self::RefusedOtherwise,
        Self::AcceptedInvalid,
        Self::NotRun,
        Self::OutsideQuestion,
        Self::Undeclared,
        Self::Failed,
        Self::Crashed,
        Self::TimedOut,
        Self::Lost,
    ];

    /// The name in files and options.
    pub fn id(self) -> &'static str {
        match self {
            Self::Output(difference) => difference.name(),
            Self::WrongShape => "wrong-shape",
            Self::WrongType => "wrong-type",
            Self::WroteOutside => "wrote-outside",
            Self::InputChanged => "input-changed",
            Self::Remembered => "remembered",
            Self::RefusedValid => "refused-valid",
            Self::RefusedOtherwise => "refused-otherwise",
            Self::AcceptedInvalid => "accepted-invalid",
            Self::NotRun => "not-run",
            Self::OutsideQuestion => "outside-question",
            Self::Undeclared => "undeclared",
            Self::Failed => "failed",
            Self::Crashed => "crashed",
            Self::TimedOut => "timed-out",
            Self::Lost => "lost",
        }
    }

    /// The class with this name.
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.id() == id)
    }

    /// Whether a case with this expectation can fail in this way. For example, an invalid desc has no output
    /// that could be wrong.
    pub fn can_fail(self, expectation: &Expectation) -> bool {
        use Expectation::{Accept, Open, Output, Reject};
        match self {
            Self::Output(_) | Self::Remembered => matches!(expectation, Output),
            Self::WrongShape | Self::WrongType | Self::WroteOutside | Self::InputChanged | Self::NotRun => {
                matches!(expectation, Output | Open(_))
            }
            Self::RefusedValid => matches!(expectation, Output | Accept),
            Self::AcceptedInvalid => matches!(expectation, Reject),
            Self::OutsideQuestion => matches!(expectation, Open(_)),
            Self::RefusedOtherwise
            | Self::Undeclared
            | Self::Failed
            | Self::Crashed
            | Self::TimedOut
            | Self::Lost => true,
        }
    }

    /// Whether a case that did not fail shows that the backend is free of this fault. If an open question
    /// allows a refusal, a refused desc shows nothing about faults that come after creation.
    pub fn is_disproved_by(self, verdict: Verdict, outcome: &Outcome) -> bool {
        let is_refused = verdict == Verdict::Recorded && matches!(outcome, Outcome::Rejected { .. });
        !is_refused || self.is_about_refusals()
    }

    /// The verdict of a case that fails in this way.
    pub(crate) fn verdict(self) -> Verdict {
        match self {
            Self::Crashed => Verdict::Crash,
            Self::TimedOut => Verdict::Timeout,
            Self::Lost => Verdict::Lost,
            _ => Verdict::Fail,
        }
    }

    /// Whether the class is about how a backend refuses.
    pub(crate) fn is_about_refusals(self) -> bool {
        self == Self::RefusedOtherwise
    }

    /// Whether the class is about the creation of an operator, which every case shows. A backend may find out
    /// only in a run that it does not support a case.
    pub(crate) fn shows_on_creation(self) -> bool {
        use Class::{AcceptedInvalid, RefusedOtherwise, RefusedValid};
        matches!(self, RefusedValid | RefusedOtherwise | AcceptedInvalid)
    }

    /// Whether a valid case that fails in this way has no output.
    pub(crate) fn keeps_from_running(self) -> bool {
        use Class::{AcceptedInvalid, InputChanged, Output, Remembered, WroteOutside};
        !matches!(self, Output(_) | WroteOutside | InputChanged | Remembered | AcceptedInvalid)
    }

    /// Whether a backend with a fault of this class may fail in the other way, too. A wrong value, such as
    /// one from another place, can look as if arithmetic had changed it: a zero in place of a denormal, or
    /// one NaN in place of another.
    pub(crate) fn covers(self, other: Self) -> bool {
        let looks_spoiled = matches!(other, Self::Output(difference) if difference.is_of_arithmetic());
        self == other || self == Self::Output(Difference::WrongValue) && looks_spoiled
    }
}

/// A short phrase that can follow "it failed:".
impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Output(Difference::WrongValue) => "wrong values",
            Self::Output(Difference::Unwritten) => "elements never written",
            Self::Output(Difference::NanCanonicalised) => "NaNs lost their bits",
            Self::Output(Difference::DenormalFlushed) => "denormals flushed to zero",
            Self::Output(Difference::ZeroSign) => "zeros lost their sign",
            Self::WrongShape => "a result of other sizes",
            Self::WrongType => "a result of another data type",
            Self::WroteOutside => "bytes outside the output were written",
            Self::InputChanged => "the input was changed",
            Self::Remembered => "a later run of the same operator went wrong",
            Self::RefusedValid => "a valid desc was refused as invalid",
            Self::RefusedOtherwise => "refused, but not as invalid",
            Self::AcceptedInvalid => "an invalid desc was accepted",
            Self::NotRun => "accepted, but not run",
            Self::OutsideQuestion => "none of the outcomes that the open question allows",
            Self::Undeclared => "called unsupported, although declared as supported",
            Self::Failed => "the backend failed",
            Self::Crashed => "the backend crashed",
            Self::TimedOut => "no answer in time",
            Self::Lost => "no answer",
        })
    }
}

/// The result of comparing memory after a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seen {
    /// Nothing was run.
    Nothing,
    /// The output is as expected. With an open question, it is the output of an allowed reading.
    Same,
    /// Something is wrong.
    Wrong(Class),
}

/// A verdict, and the class of an unexpected outcome.
pub type Ruling = (Verdict, Option<Class>);

const PASS: Ruling = (Verdict::Pass, None);
const RECORDED: Ruling = (Verdict::Recorded, None);
const SKIP: Ruling = (Verdict::Skip, None);

fn fail(class: Class) -> Ruling {
    (Verdict::Fail, Some(class))
}

/// Returns the verdict for an outcome and an expectation. `seen` is the result of comparing memory.
/// `declared` is whether the backend declared support for the desc's operator, data types, ranks and sizes.
/// If it did not, neither a refusal nor "unsupported" is a failure.
pub fn verdict_on(outcome: &Outcome, seen: Seen, expectation: &Expectation, declared: bool) -> Ruling {
    use Expectation::{Accept, Open, Output, Reject};
    let as_invalid = |code: ErrorCode| code == ErrorCode::INVALID_ARGUMENT;
    match (outcome, expectation) {
        // Outcomes that are wrong for every expectation.
        (Outcome::Crashed(_), _) => (Verdict::Crash, Some(Class::Crashed)),
        (Outcome::TimedOut, _) => (Verdict::Timeout, Some(Class::TimedOut)),
        (Outcome::Lost, _) => (Verdict::Lost, Some(Class::Lost)),
        (Outcome::Failed { .. }, _) => fail(Class::Failed),
        (Outcome::Mismatched { what: Mismatch::Shape, .. }, _) => fail(Class::WrongShape),
        (Outcome::Mismatched { what: Mismatch::Type, .. }, _) => fail(Class::WrongType),
        (Outcome::Strayed(stray), _) => fail(match stray.place {
            StrayPlace::Input => Class::InputChanged,
            StrayPlace::Before | StrayPlace::Behind => Class::WroteOutside,
        }),

        // A refusal as invalid.
        (Outcome::Rejected { code, .. }, Reject) if as_invalid(*code) => PASS,
        (Outcome::Rejected { code, .. }, Open(allowed))
            if as_invalid(*code) && allowed.contains(&Allowed::Reject) =>
        {
            RECORDED
        }

        // A backend may decline descs that it never declared.
        (Outcome::Rejected { .. } | Outcome::Unsupported(_), _) if !declared => SKIP,
        (Outcome::Unsupported(_), _) => fail(Class::Undeclared),

        // Any other refusal.
        (Outcome::Rejected { code, .. }, Output | Accept) if as_invalid(*code) => fail(Class::RefusedValid),
        (Outcome::Rejected { code, .. }, Open(_)) if as_invalid(*code) => fail(Class::OutsideQuestion),
        (Outcome::Rejected { .. }, _) => fail(Class::RefusedOtherwise),

        // The desc was accepted although it is invalid. It has no runs, so it cannot have run.
        (Outcome::Accepted | Outcome::Output, Reject) => fail(Class::AcceptedInvalid),

        // Accepted, not run. A backend may not skip a requested run.
        (Outcome::Accepted, Output) => fail(Class::NotRun),
        (Outcome::Accepted, Accept) => PASS,
        (Outcome::Accepted, Open(allowed)) => match seen {
            _ if !accepts(allowed) => fail(Class::OutsideQuestion),
            Seen::Wrong(class) => fail(class),
            Seen::Nothing | Seen::Same => RECORDED,
        },

        // Run.
        (Outcome::Output, Output | Accept) => match seen {
            Seen::Same | Seen::Nothing => PASS,
            Seen::Wrong(class) => fail(class),
        },
        (Outcome::Output, Open(allowed)) => match seen {
            _ if allowed.contains(&Allowed::Accept) => RECORDED,
            _ if !accepts(allowed) => fail(Class::OutsideQuestion),
            Seen::Same | Seen::Nothing => RECORDED,
            Seen::Wrong(_) => fail(Class::OutsideQuestion),
        },
    }
}

/// Whether an outcome other than a refusal is allowed.
fn accepts(allowed: &[Allowed]) -> bool {
    allowed.iter().any(|outcome| *outcome != Allowed::Reject)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dmlcts_model::{Phase, Stray};

    fn refused(code: ErrorCode) -> Outcome {
        Outcome::Rejected { phase: Phase::Create, code, reason: "".into() }
    }

    fn strayed(place: StrayPlace) -> Outcome {
        Outcome::Strayed(Stray { place, offset: 3 })
    }

    /// Every outcome against every expectation, as one text that a reader can check line by line.
    #[test]
    fn the_table() {
        let expectations = [
            ("output", Expectation::Output),
            ("accept", Expectation::Accept),
            ("reject", Expectation::Reject),
            ("open: reject or reading 0", Expectation::Open(vec![Allowed::Reject, Allowed::Output(0)])),
            ("open: accept", Expectation::Open(vec![Allowed::Accept])),
        ];
        let wrong = Seen::Wrong(Class::Output(Difference::WrongValue));
        let outcomes = [
            ("output, same", Outcome::Output, Seen::Same),
            ("output, wrong", Outcome::Output, wrong),
            ("wrote behind", strayed(StrayPlace::Behind), Seen::Nothing),
            ("wrote into input", strayed(StrayPlace::Input), Seen::Nothing),
            ("accepted", Outcome::Accepted, Seen::Nothing),
            ("invalid argument", refused(ErrorCode::INVALID_ARGUMENT), Seen::Nothing),
            ("out of memory", refused(ErrorCode::OUT_OF_MEMORY), Seen::Nothing),
            ("unsupported", Outcome::Unsupported("".into()), Seen::Nothing),
            ("wrong shape", Outcome::Mismatched { what: Mismatch::Shape, reason: "".into() }, Seen::Nothing),
            ("wrong type", Outcome::Mismatched { what: Mismatch::Type, reason: "".into() }, Seen::Nothing),
            ("failed", Outcome::Failed { phase: Phase::Execute, reason: "".into() }, Seen::Nothing),
            ("crashed", Outcome::Crashed("".into()), Seen::Nothing),
            ("timed out", Outcome::TimedOut, Seen::Nothing),
            ("lost", Outcome::Lost, Seen::Nothing),
        ];
        let mut table = String::new();
        let mut line = |line: &str| table.extend([line, "\n"]);
        for declared in [true, false] {
            line(if declared { "declared" } else { "not declared" });
            for (name, expectation) in &expectations {
                line(&format!("  expected {name}"));
                for (did, outcome, seen) in &outcomes {
                    let (verdict, class) = verdict_on(outcome, *seen, expectation, declared);
                    // A case that must only be accepted is not run, so its memory shows nothing. Such a case,
                    // and one that must be refused, has no memory in which a write could be out of bounds.
                    let is_run = matches!(expectation, Expectation::Output | Expectation::Open(_));
                    let is_accepted = *expectation == Expectation::Accept && *seen != Seen::Nothing;
                    let is_possible = is_run
                        || !is_accepted
                            && !matches!(outcome, Outcome::Strayed(_) | Outcome::Mismatched { .. });
                    if let Some(class) = class.filter(|_| is_possible) {
                        assert!(class.can_fail(expectation), "{name}, {did}: {class}");
                    }
                    let class = class.map(|class| format!(": {class}")).unwrap_or_default();
                    line(&format!("    {did:18}{verdict}{class}"));
                }
            }
        }
        insta::assert_snapshot!(table);
    }

    #[test]
    fn what_is_refused_where_it_may_be_disproves_no_other_fault() {
        let refusal = refused(ErrorCode::INVALID_ARGUMENT);
        let wrote = Class::WroteOutside;
        assert!(!wrote.is_disproved_by(Verdict::Recorded, &refusal), "it never ran");
        assert!(wrote.is_disproved_by(Verdict::Recorded, &Outcome::Output));
        assert!(
            Class::Undeclared.is_disproved_by(Verdict::Pass, &refusal),
            "an invalid desc must be refused"
        );
        assert!(
            !Class::OutsideQuestion.is_disproved_by(Verdict::Recorded, &refusal),
            "it might run and go wrong"
        );
        assert!(
            Class::RefusedOtherwise.is_disproved_by(Verdict::Recorded, &refusal),
            "it refuses as it should"
        );
    }

    #[test]
    fn what_is_spelled_out_is_read_again() {
        for verdict in Verdict::ALL {
            assert_eq!(Verdict::from_id(verdict.id()), Some(verdict));
        }
        for class in Class::ALL {
            assert_eq!(Class::from_id(class.id()), Some(class));
        }
    }

    #[test]
    fn only_what_nobody_foresaw_is_unexpected() {
        let expected: Vec<_> = Verdict::ALL.into_iter().filter(|verdict| !verdict.is_unexpected()).collect();
        assert_eq!(expected, [Verdict::Pass, Verdict::Recorded, Verdict::Skip, Verdict::ExpectedFail]);
    }
}
