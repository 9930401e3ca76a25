//! The backends that this program knows, by the name on the command line.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use dmlcts_backend::process::{Command, Incidents, Launcher};
use dmlcts_reference::Reference;
use dmlcts_runner::Factory;

use crate::{arguments::unknown, problem::Problem};

/// Every name.
const NAMES: &[&str] = &[
    "reference",
    #[cfg(feature = "directml")]
    "directml",
    #[cfg(feature = "wgpu")]
    "wgpu",
    "exec:<command>",
];

/// What makes backends of this name, which may be followed by a colon and which of several is meant. A process that is
/// silent for as long as `case_timeout` while it has cases is ended, and so is one that has not said hello at the deadline.
/// What happens to it is told to `incidents`.
pub(crate) fn factory(
    name: &str,
    case_timeout: Duration,
    deadline: Option<Instant>,
    incidents: &Incidents,
) -> Result<Arc<Factory>, Problem> {
    match name.split_once(':').unwrap_or((name, "")) {
        ("reference", "") => Ok(Arc::new(|| Ok(Box::new(Reference::backend())))),
        #[cfg(feature = "directml")]
        ("directml", words) => {
            let options: dmlcts_directml::Options = words.parse().map_err(|error| {
                Problem::usage(
                    format!("`--backend {name}`: {error}"),
                    "write words with commas between them, as in --backend directml:warp,no-metacommands",
                )
            })?;
            let directml = dmlcts_directml::DirectMl::open(&options)
                .map_err(|error| dmlcts_runner::RunError::Backend(error.to_string()))?;
            Ok(Arc::new(move || Ok(Box::new(directml.backend()))))
        }
        #[cfg(not(feature = "directml"))]
        ("directml", _) => Err(left_out("directml")),
        #[cfg(feature = "wgpu")]
        ("wgpu", adapter) => {
            let gpu = dmlcts_wgpu::Gpu::open(adapter)
                .map_err(|error| dmlcts_runner::RunError::Backend(error.to_string()))?;
            Ok(Arc::new(move || Ok(Box::new(gpu.backend()))))
        }
        #[cfg(not(feature = "wgpu"))]
        ("wgpu", _) => Err(left_out("wgpu")),
        ("exec", command) => {
            let command = Command::parse(command).map_err(|error| {
                Problem::usage(
                    format!("`--backend {name}`: {error}"),
                    "write the command behind the colon, and quotes around both: --backend 'exec:python3 mine.py'",
                )
            })?;
            let launcher = Launcher::new(command, case_timeout).until(deadline).telling(incidents.clone());
            let launcher = Arc::new(launcher);
            Ok(Arc::new(move || Ok(Box::new(launcher.host()?))))
        }
        _ => Err(Problem::usage(unknown("backend", name, NAMES), "name one of them behind --backend")),
    }
}

/// That a backend is not in this program.
#[cfg(not(all(feature = "directml", feature = "wgpu")))]
fn left_out(name: &str) -> Problem {
    Problem::usage(
        format!("this program was built without the backend `{name}`"),
        "build it with its default features: cargo run --release -- …, or cargo install --path crates/cli",
    )
}
