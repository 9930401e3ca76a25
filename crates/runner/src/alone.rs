//! Runs a failure again alone, and describes what that shows.

use dmlcts_model::{Case, Outcome};

use crate::{Failure, Found, Verdict, deal::Shared, executor::Executor, judge::Examination};

/// Runs a failure alone and describes it. Its verdict is a pass if it passes alone.
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

/// Whether a case was not run again, because no backend or no time was left.
pub(crate) fn is_unanswered(shared: &Shared, alone: &Examination) -> bool {
    let is_cut_off = || shared.lost().is_some() || shared.is_time_up() || shared.may_have_hung_up();
    alone.outcome == Outcome::Lost && is_cut_off()
}

/// Describes a failure that ran alone, if it did.
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
            // The first verdict stands.
            return failure;
        }
        failure.verdict = match alone.verdict {
            // Alone, it matches a known failure, but it failed in another way before: a pass would be untrue.
            Verdict::ExpectedFail => found.verdict,
            // An unexpected pass of a known failure is a pass, too.
            verdict if verdict.is_unexpected() && verdict != Verdict::UnexpectedPass => verdict,
            _ => Verdict::Pass,
        };
        // If the case passes alone, its outcome says nothing about the failure.
        if let Some(class) = alone.class {
            failure.class = class;
            failure.outcome = alone.outcome;
            failure.evidence = alone.evidence;
        }
    }
    failure
}
