//! `dmlcts backends`: the backends of this program, with their devices and limits.

use std::io::Write;

use crate::{exit::Exit, output, problem::Problem};

/// Lists every backend that the program was built with, and every adapter of a GPU backend.
pub(crate) fn backends() -> Result<Exit, Problem> {
    let mut out = output::stdout();
    writeln!(
        out,
        "reference   written by hand for the CPU; feature levels 1.0 to 6.4, data types of 8 to 64 bits"
    )?;
    #[cfg(feature = "directml")]
    directml(&mut out)?;
    #[cfg(not(feature = "directml"))]
    writeln!(out, "directml    not in this program, which was built without its default features")?;
    #[cfg(feature = "wgpu")]
    wgpu(&mut out)?;
    #[cfg(not(feature = "wgpu"))]
    writeln!(out, "wgpu        not in this program, which was built without its default features")?;
    writeln!(
        out,
        "dylib:<...> a shared library that speaks the ABI of crates/backend/include/dmlcts_backend.h"
    )?;
    writeln!(out, "exec:<...>  a process that speaks the protocol of crates/backend/PROTOCOL.md")?;
    writeln!(
        out,
        "mutant:<...> the reference with a planted fault, to measure suites, or with several: mutant:A+B; \
         see `dmlcts mutants --list`"
    )?;
    out.flush()?;
    Ok(Exit::Success)
}

#[cfg(feature = "directml")]
fn directml(out: &mut impl Write) -> std::io::Result<()> {
    use dmlcts_directml::{DirectMl, Options};
    use dmlcts_model::escaped;
    let adapters = match DirectMl::adapters() {
        Ok(adapters) => adapters,
        Err(error) => return writeln!(out, "directml    {}", escaped(&error.to_string())),
    };
    for (adapter, name) in adapters {
        let word = format!("directml:{adapter}");
        let directml = match DirectMl::open(&Options { adapter, ..Options::default() }) {
            Ok(directml) => directml,
            Err(error) => {
                writeln!(out, "{word:<11} {}", escaped(&format!("{name}: {error}")))?;
                continue;
            }
        };
        let capabilities = directml.capabilities();
        let types: Vec<String> = capabilities.data_types.iter().map(ToString::to_string).collect();
        writeln!(out, "{word:<11} {}", escaped(&capabilities.device))?;
        let version = format!("{} {}", capabilities.name, capabilities.version);
        writeln!(out, "            version: {}", escaped(&version))?;
        writeln!(out, "            driver: {}", escaped(&capabilities.driver))?;
        writeln!(out, "            data types: {}", types.join(", "))?;
    }
    Ok(())
}

#[cfg(feature = "wgpu")]
fn wgpu(out: &mut impl Write) -> std::io::Result<()> {
    use dmlcts_model::escaped;
    let adapters = dmlcts_wgpu::Gpu::all();
    if adapters.is_empty() {
        return writeln!(out, "wgpu        {}", dmlcts_wgpu::OpenError::NoAdapter);
    }
    for adapter in adapters {
        let gpu = match adapter {
            Ok(gpu) => gpu,
            Err(error) => {
                writeln!(out, "wgpu        {}", escaped(&error.to_string()))?;
                continue;
            }
        };
        let capabilities = gpu.capabilities();
        let (binding, workgroups) = gpu.binding_limits();
        writeln!(out, "wgpu        {}", escaped(&capabilities.device))?;
        writeln!(out, "            driver: {}", escaped(&capabilities.driver))?;
        writeln!(
            out,
            "            limits: {} MiB in a binding, {workgroups} workgroups in a dimension, {} MiB in a tensor",
            binding >> 20,
            capabilities.limits.tensor_bytes >> 20
        )?;
        writeln!(out, "            self-test: {}", gpu.findings())?;
    }
    Ok(())
}
