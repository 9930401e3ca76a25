//! Errors of opening DirectML.

use dmlcts_model::ErrorCode;

/// Why DirectML cannot be used here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// The system is not Windows.
    #[error(
        "DirectML is a part of Windows, and this program was built for {}: build and run it on Windows to ask DirectML itself",
        std::env::consts::OS
    )]
    NotWindows,
    /// There is no adapter.
    #[error("Direct3D 12 finds no GPU here; `directml:warp` computes on the processor instead")]
    NoAdapter,
    /// No adapter has this name.
    #[error("no adapter's name contains `{part}`; there are: {}", names.join(", "))]
    NoSuchAdapter {
        /// The name that was asked for.
        part: String,
        /// The names of all adapters.
        names: Vec<String>,
    },
    /// There are fewer adapters.
    #[error("there is no adapter #{number}; there are: {}", names.join(", "))]
    NoSuchNumber {
        /// The number that was asked for.
        number: usize,
        /// The names of all adapters, from number 0 on.
        names: Vec<String>,
    },
    /// The library could not be loaded.
    #[error(
        "no DirectML.dll could be loaded ({what}: {error}); put the redistributable's for this processor beside the program, \
         or name it in DMLCTS_DIRECTML"
    )]
    NoLibrary {
        /// Its path, or "the system's".
        what: String,
        /// The message of Windows.
        error: String,
    },
    /// The library lacks the function that creates devices.
    #[error("`{path}` has no function DMLCreateDevice, so it is not DirectML")]
    NoFunction {
        /// The path of the library.
        path: String,
    },
    /// Debug layers were requested, but none is installed.
    #[error(
        "no debug layer is installed, neither Direct3D 12's ({direct3d}), which the optional feature Graphics Tools of Windows \
         brings, nor DirectML's ({directml}), which is DirectML.Debug.dll beside DirectML.dll and needs the developer mode; leave out \
         `debug`"
    )]
    NoDebugLayer {
        /// The error of the request for Direct3D's debug layer.
        direct3d: ErrorCode,
        /// The error of creating a device with DirectML's debug layer.
        directml: ErrorCode,
    },
    /// A call on the way to a device failed.
    #[error("{step} failed on the adapter `{adapter}`: {code}")]
    NoDevice {
        /// The call.
        step: &'static str,
        /// The adapter's name.
        adapter: String,
        /// The error.
        code: ErrorCode,
    },
}
