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

/// Names for codes: a constant each, and a table from code to name.
macro_rules! error_codes {
    ($($(#[$about:meta])* $constant:ident = $code:literal, $name:literal;)*) => {
        impl ErrorCode {
            $($(#[$about])* pub const $constant: Self = Self($code);)*

            /// The name in the Windows headers.
            pub fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($code => Some($name),)*
                    _ => None,
                }
            }
        }
    };
}

error_codes! {
    /// The only refusal that satisfies an expected reject.
    INVALID_ARGUMENT = 0x8007_0057, "E_INVALIDARG";
    /// No memory, of the host or of the device.
    OUT_OF_MEMORY = 0x8007_000E, "E_OUTOFMEMORY";
    /// Not implemented.
    NOT_IMPLEMENTED = 0x8000_4001, "E_NOTIMPL";
    /// No such interface.
    NO_INTERFACE = 0x8000_4002, "E_NOINTERFACE";
    /// A pointer is null that must not be.
    POINTER = 0x8000_4003, "E_POINTER";
    /// Given up.
    ABORTED = 0x8000_4004, "E_ABORT";
    /// Anything.
    FAILED = 0x8000_4005, "E_FAIL";
    /// Something that should not happen.
    UNEXPECTED = 0x8000_FFFF, "E_UNEXPECTED";
    /// Not allowed.
    ACCESS_DENIED = 0x8007_0005, "E_ACCESSDENIED";
    /// A call that is wrong where it stands.
    INVALID_CALL = 0x887A_0001, "DXGI_ERROR_INVALID_CALL";
    /// There is no such adapter.
    NOT_FOUND = 0x887A_0002, "DXGI_ERROR_NOT_FOUND";
    /// The device does not support it.
    UNSUPPORTED = 0x887A_0004, "DXGI_ERROR_UNSUPPORTED";
    /// The device was removed, or removed itself after a wrong call.
    DEVICE_REMOVED = 0x887A_0005, "DXGI_ERROR_DEVICE_REMOVED";
    /// The device did not finish in time.
    DEVICE_HUNG = 0x887A_0006, "DXGI_ERROR_DEVICE_HUNG";
    /// The device was reset.
    DEVICE_RESET = 0x887A_0007, "DXGI_ERROR_DEVICE_RESET";
    /// The driver failed.
    DRIVER_INTERNAL_ERROR = 0x887A_0020, "DXGI_ERROR_DRIVER_INTERNAL_ERROR";
    /// A part of Windows that is needed is not installed, such as a debug layer.
    COMPONENT_MISSING = 0x887A_002D, "DXGI_ERROR_SDK_COMPONENT_MISSING";
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_shown_in_hex_and_by_name() {
        assert_eq!(ErrorCode::DEVICE_REMOVED.to_string(), "0x887A0005 DXGI_ERROR_DEVICE_REMOVED");
        assert_eq!(ErrorCode(0x8876_0001).to_string(), "0x88760001");
    }
}
