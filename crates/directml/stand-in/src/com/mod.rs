//! The functions that the library exports, and the COM objects behind them.
//!
//! Every object holds a reference to its device, so a device lives at least as long as the objects that it
//! created. As in the real library, invalid pointers from a client cannot be detected. All other misuse is
//! checked.

#![expect(clippy::inline_always, clippy::ref_as_ptr, reason = "it is in what `implement` makes")]
#![expect(unreachable_pub, reason = "what is exported is found by its name")]

mod device;
mod initializer;
mod messages;
mod operator;
mod record;
mod removal;
mod table;
mod watch;

use std::{
    ffi::{c_char, c_void},
    sync::{Arc, OnceLock},
};

use windows::{
    Win32::{
        AI::MachineLearning::DirectML::{DML_CREATE_DEVICE_FLAGS, DML_FEATURE_LEVEL, IDMLDevice1},
        Foundation::{E_FAIL, E_INVALIDARG, E_OUTOFMEMORY, E_POINTER},
        Graphics::{
            Direct3D12::ID3D12Device,
            Dxgi::{DXGI_ERROR_DEVICE_REMOVED, DXGI_ERROR_SDK_COMPONENT_MISSING, DXGI_ERROR_UNSUPPORTED},
        },
    },
    core::{ComObject, GUID, HRESULT, Interface, Result},
};

use self::device::Device;
use crate::{
    DESCRIPTION,
    misbehaviour::{Call, Fault, Misbehaviour},
};

/// Implements `IDMLObject`, which every object needs and dmlcts does not use.
macro_rules! object {
    ($object:ident) => {
        impl windows::Win32::AI::MachineLearning::DirectML::IDMLObject_Impl for $object {
            fn GetPrivateData(
                &self,
                _: *const windows::core::GUID,
                _: *mut u32,
                _: *mut std::ffi::c_void,
            ) -> windows::core::Result<()> {
                Err(windows::Win32::Foundation::E_NOTIMPL.into())
            }

            fn SetPrivateData(
                &self,
                _: *const windows::core::GUID,
                _: u32,
                _: *const std::ffi::c_void,
            ) -> windows::core::Result<()> {
                Err(windows::Win32::Foundation::E_NOTIMPL.into())
            }

            fn SetPrivateDataInterface(
                &self,
                _: *const windows::core::GUID,
                _: windows::core::Ref<windows::core::IUnknown>,
            ) -> windows::core::Result<()> {
                Err(windows::Win32::Foundation::E_NOTIMPL.into())
            }

            /// Does nothing: names are only for debuggers.
            fn SetName(&self, _: &windows::core::PCWSTR) -> windows::core::Result<()> {
                Ok(())
            }
        }
    };
}

/// Implements `IDMLObject` and `IDMLDeviceChild` for an object that a device creates.
macro_rules! child {
    ($object:ident) => {
        $crate::com::object!($object);

        impl windows::Win32::AI::MachineLearning::DirectML::IDMLDeviceChild_Impl for $object {
            fn GetDevice(
                &self,
                interface: *const windows::core::GUID,
                device: *mut *mut std::ffi::c_void,
            ) -> windows::core::Result<()> {
                let own =
                    self.device.to_interface::<windows::Win32::AI::MachineLearning::DirectML::IDMLDevice1>();
                // SAFETY: the client guarantees that both pointers are null or valid.
                unsafe { $crate::com::hand_over(&own, interface, device) }
            }
        }
    };
}

use {child, object};

/// Queries `object` for the interface that a client requests, and stores the pointer in `place`.
///
/// # Safety
///
/// `interface` is null or valid for reads, and `place` is null or valid for writes.
unsafe fn hand_over(object: &impl Interface, interface: *const GUID, place: *mut *mut c_void) -> Result<()> {
    if interface.is_null() || place.is_null() {
        return Err(E_POINTER.into());
    }
    // SAFETY: neither pointer is null, so the caller guarantees that both are valid.
    unsafe { object.query(interface, place) }.ok()
}

/// The misbehaviour that the environment variable `DMLCTS_STAND_IN` requests, parsed once per process.
fn requested() -> Result<&'static Arc<Misbehaviour>> {
    static REQUESTED: OnceLock<std::result::Result<Arc<Misbehaviour>, String>> = OnceLock::new();
    let requested = REQUESTED.get_or_init(|| {
        say(format_args!("{}", DESCRIPTION.to_string_lossy()));
        let text = std::env::var("DMLCTS_STAND_IN").unwrap_or_default();
        Misbehaviour::parse(&text).map(Arc::new)
    });
    requested.as_ref().map_err(|mistake| {
        say(format_args!("DMLCTS_STAND_IN: {mistake}"));
        E_INVALIDARG.into()
    })
}

fn hang() -> ! {
    say(format_args!("a call hangs: it was told to do so"));
    loop {
        std::thread::sleep(std::time::Duration::from_secs(60));
    }
}

/// Prints to standard output in both ways that libraries use: through the Windows handle and through C's file
/// descriptor.
fn print() {
    println!("directml_stand_in.dll prints to the handle");
    let words = b"directml_stand_in.dll prints to the descriptor\n";
    // SAFETY: `words` has `words.len()` bytes. Without a standard output, the function returns an error.
    unsafe { _write(1, words.as_ptr().cast(), words.len() as u32) };
}

unsafe extern "C" {
    /// A function of C's runtime on Windows: writes to an open file descriptor.
    fn _write(file: i32, bytes: *const c_void, count: u32) -> i32;
}

/// Writes to standard error.
fn say(what: std::fmt::Arguments<'_>) {
    eprintln!("directml_stand_in.dll: {what}");
}

/// The presence of this function shows a client that the library is not DirectML. It returns [`DESCRIPTION`],
/// which is null-terminated.
#[unsafe(no_mangle)]
pub extern "system" fn dmlcts_stand_in() -> *const c_char {
    DESCRIPTION.as_ptr()
}

/// `DMLCreateDevice` of `DirectML.h`.
///
/// # Safety
///
/// As in `DirectML.h`: `d3d12_device` is a Direct3D 12 device, `interface` is valid for reads and `device` is
/// valid for writes. Each pointer may also be null.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn DMLCreateDevice(
    d3d12_device: *mut c_void,
    flags: DML_CREATE_DEVICE_FLAGS,
    interface: *const GUID,
    device: *mut *mut c_void,
) -> HRESULT {
    // SAFETY: both functions have the same requirements.
    unsafe { DMLCreateDevice1(d3d12_device, flags, DML_FEATURE_LEVEL(0), interface, device) }
}

/// `DMLCreateDevice1` of `DirectML.h`.
///
/// # Safety
///
/// The requirements of [`DMLCreateDevice`] apply.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn DMLCreateDevice1(
    d3d12_device: *mut c_void,
    flags: DML_CREATE_DEVICE_FLAGS,
    least: DML_FEATURE_LEVEL,
    interface: *const GUID,
    device: *mut *mut c_void,
) -> HRESULT {
    // SAFETY: the caller guarantees that each pointer is null or valid.
    let create = || unsafe {
        let d3d12 = ID3D12Device::from_raw_borrowed(&d3d12_device).ok_or(E_INVALIDARG)?;
        match create_device(d3d12, flags, least)? {
            Some(created) => hand_over(&created.to_interface::<IDMLDevice1>(), interface, device),
            None => Ok(()),
        }
    };
    create().into()
}

/// Creates a device. Returns `None` if the fault `nothing` is configured for this call.
fn create_device(
    d3d12: &ID3D12Device,
    flags: DML_CREATE_DEVICE_FLAGS,
    least: DML_FEATURE_LEVEL,
) -> Result<Option<ComObject<Device>>> {
    let misbehaviour = requested()?;
    if removal::is_held() {
        say(format_args!("no device is created while a removed one is held"));
        return Err(DXGI_ERROR_DEVICE_REMOVED.into());
    }
    let fault = ended(Call::Device, misbehaviour.next(Call::Device))?;
    // The debug layer is available only if `DMLCTS_STAND_IN` requests it.
    let debug_layer = match flags.0 {
        0 => 0,
        _ if misbehaviour.debug_layer > 0 => misbehaviour.debug_layer,
        _ => return Err(DXGI_ERROR_SDK_COMPONENT_MISSING.into()),
    };
    if least.0 > misbehaviour.abilities.level.0 {
        return Err(DXGI_ERROR_UNSUPPORTED.into());
    }
    if let Err(error) = watch::begin(d3d12) {
        say(format_args!("barriers are not judged: {error}"));
    }
    let device = || ComObject::new(Device::new(d3d12.clone(), Arc::clone(misbehaviour), debug_layer));
    Ok((fault != Some(Fault::Nothing)).then(device))
}

/// Carries out a fault that any call can have: fails, prints, hangs or ends the process. Returns any other
/// fault, which the caller must carry out.
fn ended(call: Call, fault: Option<Fault>) -> Result<Option<Fault>> {
    if fault == Some(Fault::Print) {
        print();
        return Ok(None);
    }
    Err(match fault {
        Some(Fault::Refuse) => E_INVALIDARG,
        Some(Fault::OutOfMemory) => E_OUTOFMEMORY,
        Some(Fault::Fail) => E_FAIL,
        Some(Fault::Unsupported) => DXGI_ERROR_UNSUPPORTED,
        Some(Fault::DeviceRemoved | Fault::Direct3dRemoved) => DXGI_ERROR_DEVICE_REMOVED,
        Some(Fault::Crash) => std::process::abort(),
        // A dispatch returns. The commands that it records keep the device busy.
        Some(Fault::Hang) if call != Call::Dispatch => hang(),
        fault => return Ok(fault),
    }
    .into())
}
