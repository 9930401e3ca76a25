//! Why there is no DirectML to be had.

use dmlcts_model::ErrorCode;

/// Why DirectML cannot be used here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// The system is another.
    #[error(
        "DirectML is a part of Windows, and this program was built for {}: build and run it on Windows to ask DirectML itself",
        std::env::consts::OS
    )]
    NotWindows,
    /// No adapter at all.
    #[error("Direct3D 12 finds no GPU here; `directml:warp` computes on the processor instead")]
    NoAdapter,
    /// None has this name.
    #[error("no adapter's name contains `{part}`; there are: {}", names.join(", "))]
    NoSuchAdapter {
        /// What was asked for.
        part: String,
        /// The names of all.
        names: Vec<String>,
    },
    /// No library could be loaded.
    #[error(
        "no DirectML.dll could be loaded ({}); put the redistributable's beside the program, or name one in DMLCTS_DIRECTML",
        tried.join("; ")
    )]
    NoLibrary {
        /// What was tried, and how it ended.
        tried: Vec<String>,
    },
    /// A library without the function that creates devices.
    #[error("`{path}` has no function DMLCreateDevice, so it is no DirectML")]
    NoFunction {
        /// Where it lies.
        path: String,
    },
    /// A step towards a device failed.
    #[error("{step} failed on the adapter `{adapter}`: {code}")]
    NoDevice {
        /// The call.
        step: &'static str,
        /// Its name.
        adapter: String,
        /// How it ended.
        code: ErrorCode,
    },
}
