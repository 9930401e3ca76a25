//! Finds the selected adapter.

use windows::{
    Win32::Graphics::Dxgi::{
        CreateDXGIFactory2, DXGI_ADAPTER_FLAG_SOFTWARE, DXGI_CREATE_FACTORY_FLAGS,
        DXGI_GPU_PREFERENCE_HIGH_PERFORMANCE, IDXGIAdapter1, IDXGIDevice, IDXGIFactory4, IDXGIFactory6,
    },
    core::Interface,
};

use super::fault::code;
use crate::{Adapter, OpenError};

/// An adapter with its properties.
pub(crate) struct FoundAdapter {
    pub(crate) handle: IDXGIAdapter1,
    pub(crate) name: String,
    /// The version of its driver; empty if it is unknown.
    pub(crate) driver: String,
    is_software: bool,
}

/// The available adapters with their names: all hardware adapters, and then WARP.
pub(crate) fn names() -> Result<Vec<(Adapter, String)>, OpenError> {
    let numbered = all(&factory()?).into_iter().enumerate();
    let hardware = numbered.filter(|(_, found)| !found.is_software);
    let names = hardware.map(|(number, found)| (Adapter::Numbered(number), found.name));
    Ok(names.chain([(Adapter::Warp, "WARP".to_owned())]).collect())
}

/// Finds the selected adapter.
pub(crate) fn find(wanted: &Adapter) -> Result<FoundAdapter, OpenError> {
    let factory = factory()?;
    match wanted {
        Adapter::Warp => {
            // SAFETY: the factory is alive.
            let handle: windows::core::Result<IDXGIAdapter1> = unsafe { factory.EnumWarpAdapter() };
            handle.map(about).map_err(|error| failed("EnumWarpAdapter", "WARP", &error))
        }
        Adapter::Hardware => {
            all(&factory).into_iter().find(|found| !found.is_software).ok_or(OpenError::NoAdapter)
        }
        Adapter::Named(part) => {
            let adapters = all(&factory);
            let names = adapters.iter().map(|found| found.name.clone()).collect();
            let wanted = part.to_lowercase();
            adapters
                .into_iter()
                .find(|found| found.name.to_lowercase().contains(&wanted))
                .ok_or_else(|| OpenError::NoSuchAdapter { part: part.clone(), names })
        }
        Adapter::Numbered(number) => {
            let mut adapters = all(&factory);
            if *number >= adapters.len() {
                let names = adapters.into_iter().map(|found| found.name).collect();
                return Err(OpenError::NoSuchNumber { number: *number, names });
            }
            Ok(adapters.swap_remove(*number))
        }
    }
}

/// The error of a failed call on the way to a device.
pub(crate) fn failed(step: &'static str, adapter: &str, error: &windows::core::Error) -> OpenError {
    OpenError::NoDevice { step, adapter: adapter.to_owned(), code: code(error) }
}

fn factory() -> Result<IDXGIFactory4, OpenError> {
    // SAFETY: the call has no requirements.
    let factory = unsafe { CreateDXGIFactory2(DXGI_CREATE_FACTORY_FLAGS(0)) };
    factory.map_err(|error| failed("CreateDXGIFactory2", "any", &error))
}

/// All adapters, the most powerful first if the Windows version can sort them. Adapters with equal names get
/// their numbers as a suffix.
fn all(factory: &IDXGIFactory4) -> Vec<FoundAdapter> {
    let sorted = factory.cast::<IDXGIFactory6>().ok();
    let nth = |number| match &sorted {
        // SAFETY: the factory is alive. After the last adapter, the call fails.
        Some(sorted) => unsafe {
            sorted.EnumAdapterByGpuPreference(number, DXGI_GPU_PREFERENCE_HIGH_PERFORMANCE)
        },
        // SAFETY: as above.
        None => unsafe { factory.EnumAdapters1(number) },
    };
    let mut adapters: Vec<_> = (0..).map_while(|number| nth(number).ok()).map(about).collect();
    let names: Vec<_> = adapters.iter().map(|found| found.name.clone()).collect();
    for (number, found) in adapters.iter_mut().enumerate() {
        if names.iter().filter(|name| **name == found.name).count() > 1 {
            found.name = format!("{} (#{number})", found.name);
        }
    }
    adapters
}

fn about(handle: IDXGIAdapter1) -> FoundAdapter {
    // SAFETY: the adapter is alive.
    let (desc, driver) = unsafe { (handle.GetDesc1(), handle.CheckInterfaceSupport(&IDXGIDevice::IID)) };
    let desc = desc.unwrap_or_default();
    let length = desc.Description.iter().position(|letter| *letter == 0).unwrap_or(desc.Description.len());
    let name = String::from_utf16_lossy(&desc.Description[..length]);
    let driver = driver.map_or_else(
        |_| String::new(),
        |version| {
            let words = [48, 32, 16, 0].map(|shift| (version >> shift & 0xFFFF).to_string());
            words.join(".")
        },
    );
    let is_software = desc.Flags & DXGI_ADAPTER_FLAG_SOFTWARE.0 as u32 != 0;
    FoundAdapter { handle, name, driver, is_software }
}
