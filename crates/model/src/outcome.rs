//! What a backend did with a case.

use std::{borrow::Cow, fmt};

/// What a backend did with a case. The bytes of an output travel beside it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Created and run; the output's bytes are in its buffer.
    Output,
    /// Created; it was not asked to run.
    Accepted,
    /// Refused.
    Rejected {
        /// What was being done.
        phase: Phase,
        /// How it was refused.
        code: ErrorCode,
        /// The backend's own words; may be empty.
        reason: Cow<'static, str>,
    },
    /// Not supported, with the backend's reason. Judged against what the backend declared.
    Unsupported(Cow<'static, str>),
    /// Something went wrong that is not a refusal: a driver error, a device lost, a wrong frame.
    Failed {
        /// What was being done.
        phase: Phase,
        /// What went wrong.
        reason: Cow<'static, str>,
    },
    /// The process that ran it ended.
    Crashed(Cow<'static, str>),
    /// It did not answer in time.
    TimedOut,
    /// No answer came, and nobody knows why.
    Lost,
}

/// The steps of DirectML's life of an operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// `CreateOperator`.
    Create,
    /// `CompileOperator`.
    Compile,
    /// Initialisation and binding.
    Bind,
    /// Dispatch and execution.
    Execute,
    /// Reading the output back.
    ReadBack,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Create => "create",
            Self::Compile => "compile",
            Self::Bind => "bind",
            Self::Execute => "execute",
            Self::ReadBack => "read back",
        })
    }
}

/// An `HRESULT`: how a refusal was coded.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ErrorCode(pub u32);

impl ErrorCode {
    /// `E_INVALIDARG`: the only refusal that satisfies an expected reject.
    pub const INVALID_ARGUMENT: Self = Self(0x8007_0057);
    /// `E_OUTOFMEMORY`.
    pub const OUT_OF_MEMORY: Self = Self(0x8007_000E);

    /// The name in the Windows headers.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::INVALID_ARGUMENT => Some("E_INVALIDARG"),
            Self::OUT_OF_MEMORY => Some("E_OUTOFMEMORY"),
            _ => None,
        }
    }
}

/// In hex, and by name where there is one: `0x80070057 E_INVALIDARG`.
impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010X}", self.0)?;
        self.name().map_or(Ok(()), |name| write!(f, " {name}"))
    }
}

impl fmt::Debug for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
