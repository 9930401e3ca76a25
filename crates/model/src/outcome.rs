//! The outcome of a case on a backend.

use std::{borrow::Cow, fmt};

use crate::named_enum;

/// What a backend did with a case. The bytes of an output travel beside it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The operator was created and run. The output's bytes are in its buffer.
    Output,
    /// The operator was created, and the case did not ask to run it.
    Accepted,
    /// The operator was refused.
    Rejected {
        /// The step that refused it.
        phase: Phase,
        /// The error code.
        code: ErrorCode,
        /// The backend's message; may be empty.
        reason: Cow<'static, str>,
    },
    /// The backend does not support the case, with its reason. The runner compares this with the backend's
    /// declaration.
    Unsupported(Cow<'static, str>),
    /// An error other than a refusal, such as a driver error, a lost device or an invalid frame.
    Failed {
        /// The step that failed.
        phase: Phase,
        /// The description of the error.
        reason: Cow<'static, str>,
    },
    /// The operator was created and run, and its result cannot be compared with the expected output.
    Mismatched {
        /// What differs.
        what: Mismatch,
        /// Both shapes or types, in the backend's words.
        reason: Cow<'static, str>,
    },
    /// The backend wrote out of bounds, regardless of its answer.
    Strayed(Stray),
    /// The process that ran the case ended.
    Crashed(Cow<'static, str>),
    /// The backend did not answer before the deadline.
    TimedOut,
    /// No answer arrived, for an unknown reason.
    Lost,
}

named_enum! {
    /// What a result and the output of a desc do not have in common.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Mismatch: id, from_id {
        /// Their sizes.
        Shape = "wrong-shape",
        /// Their data types.
        Type = "wrong-type",
    }
}

/// A write out of bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stray {
    /// The memory that was written to.
    pub place: StrayPlace,
    /// The distance in bytes from the edge of the memory: `input[offset]`, `output[-offset]` or `(output +
    /// bytes)[offset]`.
    pub offset: u64,
}

named_enum! {
    /// What a run wrote to that was not its output.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum StrayPlace: id, from_id {
        /// The memory of its input.
        Input = "input",
        /// What lies before the memory of its output.
        Before = "before",
        /// What lies behind the memory of its output.
        Behind = "behind",
    }
}

/// The content of memory before and after a run.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// The content before the run.
    pub was: &'a [u8],
    /// The content after the run.
    pub is: &'a [u8],
}

impl Stray {
    /// The first byte of an input that changed.
    pub fn into_input(was: &[u8], is: &[u8]) -> Option<Self> {
        let offset = if was == is { None } else { first_difference(was.iter(), is.iter()) };
        offset.map(|offset| Self { place: StrayPlace::Input, offset })
    }

    /// The changed byte nearest to an output: the last one before it, or else the first one after it.
    pub fn around_output(before: Change<'_>, behind: Change<'_>) -> Option<Self> {
        if before.was == before.is && behind.was == behind.is {
            return None;
        }
        let distance = first_difference(before.was.iter().rev(), before.is.iter().rev());
        let before = distance.map(|distance| Self { place: StrayPlace::Before, offset: distance + 1 });
        let offset = || first_difference(behind.was.iter(), behind.is.iter());
        before.or_else(|| Some(Self { place: StrayPlace::Behind, offset: offset()? }))
    }
}

/// The index of the first byte that differs. A missing byte differs, too.
fn first_difference<'a>(
    was: impl Iterator<Item = &'a u8>,
    mut is: impl Iterator<Item = &'a u8>,
) -> Option<u64> {
    was.map(|byte| is.next() == Some(byte)).position(|is_same| !is_same).map(|place| place as u64)
}

/// The description, such as `wrote at offset 3 past the end of the output`.
impl fmt::Display for Stray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, offset } = self;
        match place {
            StrayPlace::Input => write!(f, "changed byte {offset} of the input"),
            StrayPlace::Before => write!(f, "wrote at offset {offset} before the start of the output"),
            StrayPlace::Behind => write!(f, "wrote at offset {offset} past the end of the output"),
        }
    }
}

named_enum! {
    /// The steps of running an operator in DirectML.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
    pub enum Phase: name {
        /// `CreateOperator`.
        Create = "create",
        /// `CompileOperator`.
        Compile = "compile",
        /// Initialisation and binding.
        Bind = "bind",
        /// Dispatch and execution.
        Execute = "execute",
        /// Reading the output back.
        ReadBack = "read back",
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An `HRESULT`: the error code of a refusal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ErrorCode(pub u32);

/// Defines a constant for each code, and a table from codes to names.
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
    /// An invalid argument. This is the only refusal that satisfies an expected reject.
    INVALID_ARGUMENT = 0x8007_0057, "E_INVALIDARG";
    /// Out of memory, on the host or the device.
    OUT_OF_MEMORY = 0x8007_000E, "E_OUTOFMEMORY";
    /// Not implemented.
    NOT_IMPLEMENTED = 0x8000_4001, "E_NOTIMPL";
    /// No such interface.
    NO_INTERFACE = 0x8000_4002, "E_NOINTERFACE";
    /// A pointer must not be null.
    POINTER = 0x8000_4003, "E_POINTER";
    /// The operation was aborted.
    ABORTED = 0x8000_4004, "E_ABORT";
    /// An unspecified failure.
    FAILED = 0x8000_4005, "E_FAIL";
    /// An unexpected failure.
    UNEXPECTED = 0x8000_FFFF, "E_UNEXPECTED";
    /// Access denied.
    ACCESS_DENIED = 0x8007_0005, "E_ACCESSDENIED";
    /// An invalid call, in the current state or with these arguments.
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
    /// A required resource is in use, and may be available later.
    NOT_CURRENTLY_AVAILABLE = 0x887A_0022, "DXGI_ERROR_NOT_CURRENTLY_AVAILABLE";
    /// Access denied, as reported by DXGI.
    DXGI_ACCESS_DENIED = 0x887A_002B, "DXGI_ERROR_ACCESS_DENIED";
    /// A required component of Windows, such as a debug layer, is not installed.
    COMPONENT_MISSING = 0x887A_002D, "DXGI_ERROR_SDK_COMPONENT_MISSING";
    /// The adapter for which a cached object was made is not present.
    ADAPTER_NOT_FOUND = 0x887E_0001, "D3D12_ERROR_ADAPTER_NOT_FOUND";
    /// A cached object was made by another version of the driver.
    DRIVER_VERSION_MISMATCH = 0x887E_0002, "D3D12_ERROR_DRIVER_VERSION_MISMATCH";
}

/// The code in hex, followed by its name if it has one: `0x80070057 E_INVALIDARG`.
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
    fn a_stray_write_is_the_one_nearest_to_the_output() {
        let around = |before: &[u8], behind: &[u8]| {
            let [before, behind] = [before, behind].map(|is| Change { was: &[7; 4], is });
            Stray::around_output(before, behind).map(|stray| stray.to_string())
        };
        let clean = [7; 4];
        assert_eq!(around(&clean, &clean), None);
        assert_eq!(
            around(&[0, 7, 0, 7], &clean).as_deref(),
            Some("wrote at offset 2 before the start of the output")
        );
        assert_eq!(
            around(&[7, 7, 7, 0], &clean).as_deref(),
            Some("wrote at offset 1 before the start of the output")
        );
        assert_eq!(
            around(&clean, &[7, 7, 7, 0]).as_deref(),
            Some("wrote at offset 3 past the end of the output")
        );
        assert_eq!(
            around(&clean, &[0, 0, 7, 7]).as_deref(),
            Some("wrote at offset 0 past the end of the output")
        );
        assert_eq!(
            around(&clean, &[7, 7]).as_deref(),
            Some("wrote at offset 2 past the end of the output"),
            "it is gone"
        );
        assert_eq!(Stray::into_input(&clean, &clean), None);
        let input = Stray::into_input(&clean, &[7, 7, 0, 0]).map(|stray| stray.to_string());
        assert_eq!(input.as_deref(), Some("changed byte 2 of the input"));
        for place in StrayPlace::ALL {
            assert_eq!(StrayPlace::from_id(place.id()), Some(place));
        }
    }

    #[test]
    fn a_code_is_shown_in_hex_and_by_name() {
        assert_eq!(ErrorCode::DEVICE_REMOVED.to_string(), "0x887A0005 DXGI_ERROR_DEVICE_REMOVED");
        assert_eq!(ErrorCode(0x8876_0001).to_string(), "0x88760001");
    }
}
