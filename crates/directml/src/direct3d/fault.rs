//! The faults of a flight: an `HRESULT`, a removed device, or a timeout.

use dmlcts_model::{ErrorCode, Outcome, Phase};
use windows::core::{Error, HRESULT};

/// Why a flight failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FlightFault {
    /// A call failed on a device that is still usable. `said` are the messages of the debug layers.
    Failed { phase: Phase, call: &'static str, code: ErrorCode, said: Option<String> },
    /// The device was removed.
    Removed { phase: Phase, reason: ErrorCode, said: Option<String> },
    /// The device did not finish in time and was given up.
    Late,
    /// No device is left.
    Lost(String),
    /// A tensor or a buffer has no possible location.
    Impossible(&'static str),
}

/// The code of a failed call. If a call succeeds but returns no interface, the error of `windows` has the
/// code of a success.
pub(crate) fn code(error: &Error) -> ErrorCode {
    match error.code() {
        code if code.is_ok() => ErrorCode::POINTER,
        code => ErrorCode(code.0 as u32),
    }
}

/// Whether a removed device returns this code.
pub(crate) fn tells_of_removal(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::DEVICE_REMOVED
            | ErrorCode::DEVICE_HUNG
            | ErrorCode::DEVICE_RESET
            | ErrorCode::DRIVER_INTERNAL_ERROR
    )
}

impl FlightFault {
    /// Whether the device is no longer usable.
    pub(crate) fn ends_device(&self) -> bool {
        !matches!(self, Self::Failed { .. } | Self::Impossible(_))
    }

    /// The phase in which the fault occurred.
    pub(crate) fn phase(&self) -> Phase {
        match self {
            Self::Failed { phase, .. } | Self::Removed { phase, .. } => *phase,
            Self::Impossible(_) => Phase::Bind,
            Self::Late | Self::Lost(_) => Phase::Execute,
        }
    }

    /// The outcome of a job that was alone on the device. A failure before binding is a refusal.
    pub(crate) fn outcome(&self) -> Outcome {
        match self {
            Self::Failed { phase: phase @ (Phase::Create | Phase::Compile), call, code, said } => {
                let reason = match said {
                    None => (*call).into(),
                    Some(_) => format!("{call}{}", debugged(said.as_ref())).into(),
                };
                Outcome::Rejected { phase: *phase, code: *code, reason }
            }
            Self::Failed { phase, call, code, said } => {
                let reason = format!("{call}: {code}{}", debugged(said.as_ref())).into();
                Outcome::Failed { phase: *phase, reason }
            }
            Self::Removed { phase, reason, said } => {
                let reason = format!("the device was removed: {reason}{}", debugged(said.as_ref())).into();
                Outcome::Failed { phase: *phase, reason }
            }
            Self::Late => Outcome::TimedOut,
            Self::Impossible(reason) => Outcome::Failed { phase: Phase::Bind, reason: (*reason).into() },
            Self::Lost(reason) => Outcome::Failed { phase: Phase::Execute, reason: reason.clone().into() },
        }
    }
}

fn debugged(said: Option<&String>) -> String {
    said.map_or_else(String::new, |said| format!("; the debug layer says: {said}"))
}

/// Adds the name of a failed call and its phase to an error.
pub(crate) trait Call<T> {
    /// The value, or the fault.
    fn call(self, phase: Phase, call: &'static str) -> Result<T, FlightFault>;
}

impl<T> Call<T> for windows::core::Result<T> {
    fn call(self, phase: Phase, call: &'static str) -> Result<T, FlightFault> {
        self.map_err(|error| {
            let code = code(&error);
            if tells_of_removal(code) {
                FlightFault::Removed { phase, reason: code, said: None }
            } else {
                FlightFault::Failed { phase, call, code, said: None }
            }
        })
    }
}

/// The interface that a call returned, or an error if a successful call returned none.
pub(crate) fn given<T>(interface: Option<T>) -> windows::core::Result<T> {
    const E_POINTER: HRESULT = HRESULT(ErrorCode::POINTER.0 as i32);
    interface.ok_or_else(|| Error::from_hresult(E_POINTER))
}
