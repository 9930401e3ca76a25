//! The library as a client loads it: what it exports, and the COM objects behind that.
//!
//! Every object holds its device, so that a device lives as long as what was made by it. Whatever a client
//! may do wrong with a pointer that it hands over is beyond what can be checked, here as in the real library;
//! all else is.

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

/// Implements what every object has and dmlcts does not use.
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

            /// A name is for debuggers.
            fn SetName(&self, _: &windows::core::PCWSTR) -> windows::core::Result<()> {
                Ok(())
            }
        }
    };
}

/// The same for what a device made.
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
                // SAFETY: the client asks for an interface by pointers that are good for it.
                unsafe { $crate::com::hand_over(&own, interface, device) }
            }
        }
    };
}

use {child, object};

/// Gives a client the interface of an object that it asks for.
///
/// # Safety
///
/// `interface` is null or good for reading, and `place` is null or good for writing.
unsafe fn hand_over(object: &impl Interface, interface: *const GUID, place: *mut *mut c_void) -> Result<()> {
    if interface.is_null() || place.is_null() {
        return Err(E_POINTER.into());
    }
    // SAFETY: neither is null, and the caller says the rest.
    unsafe { object.query(interface, place) }.ok()
}

/// The misbehaviour that the environment variable requests.
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

/// Never returns.
fn hang() -> ! {
    say(format_args!("a call hangs: it was told to do so"));
    loop {
        std::thread::sleep(std::time::Duration::from_secs(60));
    }
}

/// Prints to standard output, in both ways that libraries do: to the handle that Windows names, and to the
/// descriptor of C.
fn print() {
    println!("directml_stand_in.dll prints to the handle");
    let words = b"directml_stand_in.dll prints to the descriptor\n";
    // SAFETY: so many bytes lie there. Who has no standard output has none to write to, and is told so.
    unsafe { _write(1, words.as_ptr().cast(), words.len() as u32) };
}

unsafe extern "C" {
    /// Of C's runtime on Windows: writes to a file that is open there.
    fn _write(file: i32, bytes: *const c_void, count: u32) -> i32;
}

/// Writes to standard error.
fn say(what: std::fmt::Arguments<'_>) {
    eprintln!("directml_stand_in.dll: {what}");
}

/// That there is a function of this name tells a client that this is not DirectML. It returns
/// [`DESCRIPTION`], with a zero behind it.
#[unsafe(no_mangle)]
pub extern "system" fn dmlcts_stand_in() -> *const c_char {
    DESCRIPTION.as_ptr()
}

/// `DMLCreateDevice` of `DirectML.h`.
///
/// # Safety
///
/// As there: `d3d12_device` is a device of Direct3D 12, `interface` is good for reading and `device` for
/// writing, or they are null.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn DMLCreateDevice(
    d3d12_device: *mut c_void,
    flags: DML_CREATE_DEVICE_FLAGS,
    interface: *const GUID,
    device: *mut *mut c_void,
) -> HRESULT {
    // SAFETY: the same is asked there.
    unsafe { DMLCreateDevice1(d3d12_device, flags, DML_FEATURE_LEVEL(0), interface, device) }
}

/// `DMLCreateDevice1` of `DirectML.h`.
///
/// # Safety
///
/// As [`DMLCreateDevice`].
#[unsafe(no_mangle)]
pub unsafe extern "system" fn DMLCreateDevice1(
    d3d12_device: *mut c_void,
    flags: DML_CREATE_DEVICE_FLAGS,
    least: DML_FEATURE_LEVEL,
    interface: *const GUID,
    device: *mut *mut c_void,
) -> HRESULT {
    // SAFETY: the caller says so.
    let create = || unsafe {
        let d3d12 = ID3D12Device::from_raw_borrowed(&d3d12_device).ok_or(E_INVALIDARG)?;
        match create_device(d3d12, flags, least)? {
            Some(created) => hand_over(&created.to_interface::<IDMLDevice1>(), interface, device),
            None => Ok(()),
        }
    };
    create().into()
}

/// A device; nothing where that was told to be given.
fn create_device(
    d3d12: &ID3D12Device,
    flags: DML_CREATE_DEVICE_FLAGS,
    least: DML_FEATURE_LEVEL,
) -> Result<Option<ComObject<Device>>> {
    let told = requested()?;
    if removal::is_held() {
        say(format_args!("no device is created while a removed one is held"));
        return Err(DXGI_ERROR_DEVICE_REMOVED.into());
    }
    let fault = ended(Call::Device, told.next(Call::Device))?;
    // There is a debug layer to ask for only where it was told so.
    let debug_layer = match flags.0 {
        0 => 0,
        _ if told.debug_layer > 0 => told.debug_layer,
        _ => return Err(DXGI_ERROR_SDK_COMPONENT_MISSING.into()),
    };
    if least.0 > told.abilities.level.0 {
        return Err(DXGI_ERROR_UNSUPPORTED.into());
    }
    if let Err(error) = watch::begin(d3d12) {
        say(format_args!("barriers are not judged: {error}"));
    }
    let device = || ComObject::new(Device::new(d3d12.clone(), Arc::clone(told), debug_layer));
    Ok((fault != Some(Fault::Nothing)).then(device))
}

/// The end of a call that was told to fail, as far as failing is all that it was told; else what is left to
/// do wrong.
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
        // What a dispatch has recorded comes later.
        Some(Fault::Hang) if call != Call::Dispatch => hang(),
        fault => return Ok(fault),
    }
    .into())
}
