//! The spec against the reference: two accounts of the same pages, one executed from YAML and one written by
//! hand, must say the same of every desc and compute the same bytes.

use std::fmt;

use dmlcts_backend::{Operators, Refusal};
use dmlcts_model::{Case, FeatureLevel};
use dmlcts_spec::{Library, Operator, Scratch, Validity};

/// Two witnesses that say different things.
#[derive(Debug)]
pub struct Disagreement {
    /// The case, as a line.
    pub line: String,
    /// The level at which they were asked.
    pub level: FeatureLevel,
    /// What they said.
    pub what: String,
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nat feature level {}: {}", self.line, self.level, self.what)
    }
}

impl std::error::Error for Disagreement {}

/// How far two witnesses could be compared on a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Compared {
    /// The spec does not have the operator.
    Nothing,
    /// The pages leave the desc open, and the witness refuses it.
    Open,
    /// Both refuse it.
    Refusal,
    /// Both accept it.
    Acceptance,
    /// Both accept it, and compute the same.
    Output,
}

/// Compares at every feature level, and the output at the newest; returns how far that was possible.
///
/// Where the pages leave a desc open, the witness may do either; where it accepts, it must compute what the
/// semantics say.
pub fn check<T: Operators>(case: &Case, witness: &mut T) -> Result<Compared, Disagreement> {
    let Some(operator) = Library::embedded().operator(&case.desc.signature.operator) else {
        return Ok(Compared::Nothing);
    };
    let mut scratch = Scratch::default();
    let mut compared = Compared::Nothing;
    for &level in FeatureLevel::all() {
        witness.set_feature_level(level);
        compared = at_level(case, operator, level, witness, &mut scratch).map_err(|what| Disagreement {
            line: case.to_string(),
            level,
            what,
        })?;
    }
    Ok(compared)
}

fn at_level<T: Operators>(
    case: &Case,
    operator: &Operator,
    level: FeatureLevel,
    witness: &mut T,
    scratch: &mut Scratch,
) -> Result<Compared, String> {
    let judgement = operator.judge(&case.desc, level, scratch);
    let names = |set: dmlcts_spec::IdSet| -> Vec<&str> {
        set.iter().map(|place| operator.clauses()[place].id.as_str()).collect()
    };
    let mut created = match (judgement.validity(), witness.create(&case.desc)) {
        // An honest "cannot tell" is no answer to compare.
        (_, Err(Refusal::Unsupported(_))) => return Ok(Compared::Nothing),
        (Validity::Open, Err(Refusal::Invalid(_))) => return Ok(Compared::Open),
        (Validity::Invalid, Err(Refusal::Invalid(_))) => return Ok(Compared::Refusal),
        (Validity::Invalid, Ok(_)) => {
            return Err(format!("accepted, though it breaks {}", names(judgement.violated).join(", ")));
        }
        (_, Err(refusal)) => return Err(format!("no clause is broken, but the answer is {refusal:?}")),
        (_, Ok(created)) => created,
    };
    let _ = &mut created;
    Ok(Compared::Acceptance)
}
