//! What ends a flight: an `HRESULT`, a removed device, or no end in time.

use dmlcts_model::{ErrorCode, Outcome, Phase};
use windows::core::{Error, HRESULT};

/// Why a flight did not arrive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A call failed, on a device that goes on.
    Failed { phase: Phase, call: &'static str, code: ErrorCode },
    /// The device was removed.
    Removed { phase: Phase, reason: ErrorCode },
    /// The device did not finish in time, and was removed for it.
    Late { seconds: u64 },
    /// There is no device any more.
    Lost(String),
    /// A tensor or a buffer is nowhere.
    Impossible(&'static str),
}

/// The code of a call that failed.
pub(crate) fn code(error: &Error) -> ErrorCode {
    ErrorCode(error.code().0 as u32)
}

/// Whether this is one of the codes that a removed device answers with.
pub(crate) fn tells_of_removal(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::DEVICE_REMOVED
            | ErrorCode::DEVICE_HUNG
            | ErrorCode::DEVICE_RESET
            | ErrorCode::DRIVER_INTERNAL_ERROR
    )
}

impl Fault {
    /// Whether the device is of no use any more.
    pub(crate) fn ends_device(&self) -> bool {
        !matches!(self, Self::Failed { .. } | Self::Impossible(_))
    }

    /// What becomes of a job that was alone on the device. What fails before anything is bound is a refusal.
    pub(crate) fn outcome(&self) -> Outcome {
        match self {
            Self::Failed { phase: phase @ (Phase::Create | Phase::Compile), call, code } => {
                Outcome::Rejected { phase: *phase, code: *code, reason: (*call).into() }
            }
            Self::Failed { phase, call, code } => {
                Outcome::Failed { phase: *phase, reason: format!("{call}: {code}").into() }
            }
            Self::Removed { phase, reason } => {
                Outcome::Failed { phase: *phase, reason: format!("the device was removed: {reason}").into() }
            }
            Self::Late { seconds } => Outcome::Failed {
                phase: Phase::Execute,
                reason: format!("the device did not finish within {seconds} s, and was removed").into(),
            },
            Self::Impossible(reason) => Outcome::Failed { phase: Phase::Bind, reason: (*reason).into() },
            Self::Lost(reason) => Outcome::Failed { phase: Phase::Execute, reason: reason.clone().into() },
        }
    }
}

/// Says which call it was that failed, and while doing what.
pub(crate) trait Call<T> {
    /// The value, or the fault.
    fn call(self, phase: Phase, call: &'static str) -> Result<T, Fault>;
}

impl<T> Call<T> for windows::core::Result<T> {
    fn call(self, phase: Phase, call: &'static str) -> Result<T, Fault> {
        self.map_err(|error| {
            let code = code(&error);
            if tells_of_removal(code) {
                Fault::Removed { phase, reason: code }
            } else {
                Fault::Failed { phase, call, code }
            }
        })
    }
}

/// An interface that a call promised and did not give.
pub(crate) fn given<T>(interface: Option<T>) -> windows::core::Result<T> {
    const E_POINTER: HRESULT = HRESULT(ErrorCode::POINTER.0 as i32);
    interface.ok_or_else(|| Error::from_hresult(E_POINTER))
}
