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
    /// There are fewer.
    #[error("there is no adapter #{number}; there are: {}", names.join(", "))]
    NoSuchNumber {
        /// What was asked for.
        number: usize,
        /// The names of all, from number 0 on.
        names: Vec<String>,
    },
    /// The library could not be loaded.
    #[error(
        "no DirectML.dll could be loaded ({what}: {error}); put the redistributable's for this processor beside the program, \
         or name it in DMLCTS_DIRECTML"
    )]
    NoLibrary {
        /// Its path, or that it is the system's.
        what: String,
        /// What Windows says.
        error: String,
    },
    /// A library without the function that creates devices.
    #[error("`{path}` has no function DMLCreateDevice, so it is no DirectML")]
    NoFunction {
        /// Where it lies.
        path: String,
    },
    /// Debug layers were asked for, and none is installed.
    #[error(
        "no debug layer is installed, neither Direct3D 12's ({direct3d}), which the optional feature Graphics Tools of Windows \
         brings, nor DirectML's ({directml}), which is DirectML.Debug.dll beside DirectML.dll and needs the developer mode; leave out \
         `debug`"
    )]
    NoDebugLayer {
        /// How asking for the one of Direct3D ended.
        direct3d: ErrorCode,
        /// How creating a device with the one of DirectML ended.
        directml: ErrorCode,
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
