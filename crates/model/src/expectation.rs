//! What a case expects of a backend.

/// What the spec says must happen to a case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expectation {
    /// Created and run; the output holds the bytes that the oracle computed.
    Output,
    /// Created. It is not run, being too large or having no other point.
    Accept,
    /// Refused as invalid when created.
    Reject,
    /// The pages leave it open: any of these is recorded, anything else fails.
    Open(Vec<Allowed>),
}

/// One of the outcomes that an open question allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Allowed {
    /// Refused as invalid when created.
    Reject,
    /// Created, and run with any output.
    Accept,
    /// Created and run with the output of the `n`-th reading that the questions allow; 0 is the spec's own
    /// semantics.
    Output(usize),
}
