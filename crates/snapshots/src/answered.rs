//! Words for what a backend did. Texts of backends are left out, since they may differ from run to run.

use dmlcts_model::{ErrorCode, Outcome};

/// The error code, by name if it has one.
pub(crate) fn code(code: ErrorCode) -> String {
    code.name().map_or_else(|| format!("{:#010x}", code.0), str::to_owned)
}

/// What the backend did instead of giving an output. `None` for an output.
pub(crate) fn outcome(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Output => None,
        Outcome::Accepted => Some("accepted".to_owned()),
        Outcome::Rejected { phase, code: number, .. } => {
            Some(format!("refused at {phase}, {}", code(*number)))
        }
        Outcome::Unsupported(_) => Some("called unsupported".to_owned()),
        Outcome::Failed { phase, .. } => Some(format!("failed at {phase}")),
        Outcome::Mismatched { what, .. } => Some(what.id().replace('-', " ")),
        Outcome::Strayed(stray) => Some(stray.to_string()),
        Outcome::Crashed(_) => Some("crashed".to_owned()),
        Outcome::TimedOut => Some("no answer in time".to_owned()),
        Outcome::Lost => Some("no answer".to_owned()),
    }
}
