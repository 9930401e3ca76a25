//! A failure that is run again alone: what that shows of it, and whether it fails then.

use dmlcts_model::{Case, Outcome};

use crate::{Failure, Found, Verdict, deal::Shared, executor::Executor, judge::Examination};

/// A failure, with what running it alone shows. Its verdict is a pass where it passes alone.
pub(crate) fn describe(
    shared: &Shared,
    strategies: &[String],
    found: &Found,
    case: Case,
    examiner: &mut Executor<'_>,
) -> Failure {
    let alone = examiner.examine(&case, found.index, found.strategy);
    shown(shared, strategies, found, case, alone)
}

/// Whether a case was not run again, since nobody is left to run it, or no time.
pub(crate) fn is_unanswered(shared: &Shared, alone: &Examination) -> bool {
    let is_cut_off = || shared.lost().is_some() || shared.is_time_up() || shared.may_have_hung_up();
    alone.outcome == Outcome::Lost && is_cut_off()
}

/// A failure, with what running it alone showed.
pub(crate) fn shown(
    shared: &Shared,
    strategies: &[String],
    found: &Found,
    case: Case,
    alone: Option<Examination>,
) -> Failure {
    let operator = &shared.library.operators()[found.operator];
    let mut failure = Failure {
        index: found.index,
        strategy: strategies[found.strategy].clone(),
        case,
        operator,
        level: shared.level,
        judgement: found.judgement,
        expectation: dmlcts_model::Expectation::Reject,
        outcome: found.outcome.clone(),
        verdict: found.verdict,
        rate: found.rate,
        class: found.class,
        evidence: None,
    };
    if let Some(alone) = alone {
        let is_unanswered = is_unanswered(shared, &alone);
        failure.judgement = alone.planned.judgement;
        failure.expectation = alone.planned.expectation;
        if is_unanswered {
            // What was found stands.
            return failure;
        }
        failure.verdict = match alone.verdict {
            // It fails as it is known to, and failed in another way before: that it passes would not be true.
            Verdict::ExpectedFail => found.verdict,
            // A known failure passes, too, that passes although nobody expects it to.
            verdict if verdict.is_unexpected() && verdict != Verdict::UnexpectedPass => verdict,
            _ => Verdict::Pass,
        };
        // What the backend does well now says nothing of what it did then.
        if let Some(class) = alone.class {
            failure.class = class;
            failure.outcome = alone.outcome;
            failure.evidence = alone.evidence;
        }
    }
    failure
}
