//! The expectation of a case.

/// The outcome that the spec requires of a case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expectation {
    /// The operator is created and run. The output holds the bytes that the oracle computed.
    Output,
    /// The operator is created. It is not run, because it is too large or running it would show nothing more.
    Accept,
    /// The operator is refused as invalid when it is created.
    Reject,
    /// The pages leave the outcome open. Each of these outcomes is recorded, and any other is a failure.
    Open(Vec<Allowed>),
}

/// One of the outcomes that an open question allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Allowed {
    /// The operator is refused as invalid when it is created.
    Reject,
    /// The operator is created, and run with any output.
    Accept,
    /// The operator is created and run with the output of this reading. Reading 0 is the spec's own
    /// semantics; the questions allow the others.
    Output(usize),
}
