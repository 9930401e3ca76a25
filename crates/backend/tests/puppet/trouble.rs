//! What the puppet and its tests share: an operator that copies its input, and the trouble that a case asks for.

use std::sync::Arc;

use dmlcts_model::{Member, MemberKind, Signature, Signatures};

/// What the puppet does with a case instead of copying, by the value of the member `Trouble`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    None,
    Refuses,
    Ends,
    Aborts,
    Hangs,
    Prints,
    CutsShort,
    Announces,
    AnswersTooMany,
    Floods,
    Babbles,
    SendsTooFewBytes,
    Repeats,
    /// Answers another question than it was asked.
    Misnumbers,
    /// Sends its answer, or with others theirs, twice.
    AnswersTwice,
    /// Ends where the file of the second argument is not there, which it makes.
    EndsOnce,
    /// Ends, and so does every later process when it is asked for anything.
    Breaks,
    /// Starts a process that holds its pipes, and ends.
    LeavesAnother,
    /// The same, with a process that has left its group.
    LeavesAStranger,
    /// Closes its standard output, and goes on.
    ClosesOutput,
    /// Takes a tenth of a second.
    TakesLong,
    /// Hangs where the file of the second argument is not there, which it makes.
    HangsOnce,
}

impl Trouble {
    pub(crate) const ALL: [Self; 22] = [
        Self::None,
        Self::Refuses,
        Self::Ends,
        Self::Aborts,
        Self::Hangs,
        Self::Prints,
        Self::CutsShort,
        Self::Announces,
        Self::AnswersTooMany,
        Self::Floods,
        Self::Babbles,
        Self::SendsTooFewBytes,
        Self::Repeats,
        Self::Misnumbers,
        Self::AnswersTwice,
        Self::EndsOnce,
        Self::Breaks,
        Self::LeavesAnother,
        Self::LeavesAStranger,
        Self::ClosesOutput,
        Self::TakesLong,
        Self::HangsOnce,
    ];
}

/// The operator.
pub(crate) fn signatures() -> Signatures {
    let member = |name: &str, kind| Member { name: name.to_owned(), kind };
    Signatures::new([Arc::new(Signature {
        operator: "COPY".to_owned(),
        members: vec![
            member("DimensionCount", MemberKind::Count),
            member("Trouble", MemberKind::U32),
            member("Steps", MemberKind::I32List),
            member("Value", MemberKind::Scalar),
        ],
    })])
}
