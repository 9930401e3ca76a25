//! Shared by the puppet and its tests: an operator that copies its input, and the trouble that a case asks
//! for.

use std::sync::Arc;

use dmlcts_model::{Member, MemberKind, Signature, Signatures};

/// The puppet's action in place of copying, by the value of the member `Trouble`.
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
    /// Answers with the number of another run.
    Misnumbers,
    /// Sends its answer twice; together with other cases, also theirs.
    AnswersTwice,
    /// Ends if the file of the second argument does not exist, and creates it.
    EndsOnce,
    /// Kills itself with SIGKILL if the file of the second argument does not exist, and creates it.
    IsKilledOnce,
    /// Kills itself with SIGKILL.
    IsKilled,
    /// Takes 256 MiB of memory, and keeps it.
    TakesMemory,
    /// Ends, and every later process ends at its first case.
    Breaks,
    /// Starts a process that holds its pipes, and ends.
    LeavesAnother,
    /// The same, with a process that has left its group.
    LeavesAStranger,
    /// Closes its standard output, and continues.
    ClosesOutput,
    /// Takes a tenth of a second.
    TakesLong,
    /// Hangs if the file of the second argument does not exist, and creates it.
    HangsOnce,
    /// Sends a frame of another version of the protocol. In a batch with other cases, their answers are
    /// wrong.
    SpeaksAnother,
    /// Says again and again that it begins to run.
    EntersForever,
    /// With phases: creating takes 2 seconds.
    Compiles,
}

impl Trouble {
    pub(crate) const ALL: [Self; 28] = [
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
        Self::IsKilledOnce,
        Self::IsKilled,
        Self::TakesMemory,
        Self::Breaks,
        Self::LeavesAnother,
        Self::LeavesAStranger,
        Self::ClosesOutput,
        Self::TakesLong,
        Self::HangsOnce,
        Self::SpeaksAnother,
        Self::EntersForever,
        Self::Compiles,
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
