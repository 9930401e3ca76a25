//! Finds adapters: lists them, and selects one by name.

use wgpu::{AdapterInfo, Backends, DeviceType, Instance, InstanceDescriptor};

/// The APIs with the most direct access. OpenGL is only used if none of them finds an adapter, because it
/// reaches the same devices indirectly.
const DIRECT: Backends = Backends::VULKAN.union(Backends::METAL).union(Backends::DX12);

/// Why no adapter can be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// The machine has no adapter.
    #[error(
        "no GPU adapter was found, not even one in software; install a Vulkan driver (on Debian or Ubuntu, \
         `apt-get install mesa-vulkan-drivers` has one that needs no GPU)"
    )]
    NoAdapter,
    /// No adapter has this name.
    #[error("no adapter's name contains `{part}`; `dmlcts backends` lists them, and there are: {}", names.join(", "))]
    NoSuchAdapter {
        /// The name that was asked for.
        part: String,
        /// The names of all adapters.
        names: Vec<String>,
    },
    /// The adapter could not open a device.
    #[error("the adapter `{adapter}` gives no device: {reason}")]
    NoDevice {
        /// The adapter's name.
        adapter: String,
        /// The driver's message.
        reason: String,
    },
    /// The device lacks something that every case needs.
    #[error("the adapter `{adapter}` cannot be used: {reason}")]
    Unfit {
        /// The adapter's name.
        adapter: String,
        /// The finding of the self-test.
        reason: String,
    },
}

/// All adapters, the most powerful kind first.
pub(crate) fn all() -> Vec<wgpu::Adapter> {
    // wgpu's own environment variable, such as WGPU_BACKEND=gl, overrides the choice of APIs.
    let asked = Backends::from_env();
    let mut adapters = of(asked.unwrap_or(DIRECT));
    if adapters.is_empty() && asked.is_none() {
        adapters = of(Backends::GL);
    }
    adapters.sort_by_key(|adapter| match adapter.get_info().device_type {
        DeviceType::DiscreteGpu => 0,
        DeviceType::IntegratedGpu => 1,
        DeviceType::VirtualGpu => 2,
        DeviceType::Other => 3,
        DeviceType::Cpu => 4,
    });
    adapters
}

fn of(backends: Backends) -> Vec<wgpu::Adapter> {
    let descriptor = InstanceDescriptor { backends, ..InstanceDescriptor::new_without_display_handle() };
    pollster::block_on(Instance::new(descriptor).enumerate_adapters(backends))
}

/// The first adapter whose name contains `part`, regardless of case.
pub(crate) fn find(part: &str) -> Result<wgpu::Adapter, OpenError> {
    let adapters = all();
    if adapters.is_empty() {
        return Err(OpenError::NoAdapter);
    }
    let wanted = part.to_lowercase();
    let names = adapters.iter().map(|adapter| adapter.get_info().name).collect();
    let mut matching = adapters.into_iter();
    matching
        .find(|adapter| adapter.get_info().name.to_lowercase().contains(&wanted))
        .ok_or_else(|| OpenError::NoSuchAdapter { part: part.to_owned(), names })
}

/// A driver's name and version.
pub(crate) fn driver(info: &AdapterInfo) -> String {
    let words = [info.driver.as_str(), info.driver_info.as_str()];
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    format!("{} ({})", words.join(" "), info.backend)
}
