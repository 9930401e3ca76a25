//! The messages of the debug layer, and the info queue from which a client reads them. The debug layer exists
//! only if `DMLCTS_STAND_IN` requests it.
//!
//! The real debug layer writes to the `ID3D12InfoQueue` of the Direct3D device. That queue belongs to
//! Direct3D's own debug layer, which Wine lacks. A client therefore queries the stand-in's DirectML device
//! for this queue.

use std::sync::{Mutex, MutexGuard, PoisonError};

use windows::{
    Win32::{
        Foundation::{E_INVALIDARG, E_POINTER},
        Graphics::Direct3D12::{
            D3D12_MESSAGE, D3D12_MESSAGE_CATEGORY_EXECUTION, D3D12_MESSAGE_ID, D3D12_MESSAGE_SEVERITY_ERROR,
        },
    },
    core::Result,
};

/// The messages of one device, each null-terminated.
pub(super) struct Messages {
    times: usize,
    stored: Mutex<Vec<String>>,
}

impl Messages {
    pub(super) fn new(times: usize) -> Self {
        Self { times, stored: Mutex::default() }
    }

    fn stored(&self) -> MutexGuard<'_, Vec<String>> {
        self.stored.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores a message `times` times. Without a debug layer, `times` is 0.
    pub(super) fn add(&self, what: &str) {
        let mut stored = self.stored();
        for time in 1..=self.times {
            stored.push(format!("{what} ({time} of {})\0", self.times));
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.stored().len() as u64
    }

    pub(super) fn clear(&self) {
        self.stored().clear();
    }

    /// Writes a message, followed by its text. If `message` is null, writes their total size in bytes to
    /// `length` instead.
    ///
    /// # Safety
    ///
    /// `length` is null or valid for reads and writes. `message` is null or valid for writes of `*length`
    /// bytes.
    pub(super) unsafe fn get(
        &self,
        index: u64,
        message: *mut D3D12_MESSAGE,
        length: *mut usize,
    ) -> Result<()> {
        let stored = self.stored();
        let text = stored.get(index as usize).ok_or(E_INVALIDARG)?;
        let needed = size_of::<D3D12_MESSAGE>() + text.len();
        // SAFETY: the caller guarantees that `length` is null or valid.
        let length = unsafe { length.as_mut() }.ok_or(E_POINTER)?;
        if message.is_null() {
            *length = needed;
            return Ok(());
        }
        if *length < needed {
            return Err(E_INVALIDARG.into());
        }
        // SAFETY: `*length` bytes are writable, and they have room for the struct and the text after it.
        unsafe {
            let place = message.add(1).cast::<u8>();
            place.copy_from_nonoverlapping(text.as_ptr(), text.len());
            message.write_unaligned(D3D12_MESSAGE {
                Category: D3D12_MESSAGE_CATEGORY_EXECUTION,
                Severity: D3D12_MESSAGE_SEVERITY_ERROR,
                ID: D3D12_MESSAGE_ID(0),
                pDescription: place,
                DescriptionByteLength: text.len(),
            });
        }
        Ok(())
    }
}

/// Implements `ID3D12InfoQueue` for an object that has [`Messages`]. Messages can be read and cleared;
/// filters are not implemented.
macro_rules! queue {
    ($object:ident) => {
        $crate::com::messages::queue! {
            $object
            fails {
                SetMessageCountLimit(u64),
                AddStorageFilterEntries(*const direct3d::D3D12_INFO_QUEUE_FILTER),
                GetStorageFilter(*mut direct3d::D3D12_INFO_QUEUE_FILTER, *mut usize),
                PushEmptyStorageFilter(),
                PushCopyOfStorageFilter(),
                PushStorageFilter(*const direct3d::D3D12_INFO_QUEUE_FILTER),
                AddRetrievalFilterEntries(*const direct3d::D3D12_INFO_QUEUE_FILTER),
                GetRetrievalFilter(*mut direct3d::D3D12_INFO_QUEUE_FILTER, *mut usize),
                PushEmptyRetrievalFilter(),
                PushCopyOfRetrievalFilter(),
                PushRetrievalFilter(*const direct3d::D3D12_INFO_QUEUE_FILTER),
                AddMessage(
                    direct3d::D3D12_MESSAGE_CATEGORY,
                    direct3d::D3D12_MESSAGE_SEVERITY,
                    direct3d::D3D12_MESSAGE_ID,
                    &windows::core::PCSTR
                ),
                AddApplicationMessage(direct3d::D3D12_MESSAGE_SEVERITY, &windows::core::PCSTR),
                SetBreakOnCategory(direct3d::D3D12_MESSAGE_CATEGORY, windows::core::BOOL),
                SetBreakOnSeverity(direct3d::D3D12_MESSAGE_SEVERITY, windows::core::BOOL),
                SetBreakOnID(direct3d::D3D12_MESSAGE_ID, windows::core::BOOL),
            }
            nothing {
                ClearStorageFilter() -> (),
                PopStorageFilter() -> (),
                ClearRetrievalFilter() -> (),
                PopRetrievalFilter() -> (),
                SetMuteDebugOutput(windows::core::BOOL) -> (),
                GetNumMessagesDeniedByStorageFilter() -> u64,
                GetNumMessagesDiscardedByMessageCountLimit() -> u64,
                GetStorageFilterStackSize() -> u32,
                GetRetrievalFilterStackSize() -> u32,
                GetBreakOnCategory(direct3d::D3D12_MESSAGE_CATEGORY) -> windows::core::BOOL,
                GetBreakOnSeverity(direct3d::D3D12_MESSAGE_SEVERITY) -> windows::core::BOOL,
                GetBreakOnID(direct3d::D3D12_MESSAGE_ID) -> windows::core::BOOL,
                GetMuteDebugOutput() -> windows::core::BOOL,
            }
        }
    };
    (
        $object:ident
        fails { $($failing:ident($($taken:ty),*),)* }
        nothing { $($empty:ident($($given:ty),*) -> $answer:ty,)* }
    ) => {
        const _: () = {
            use windows::Win32::Graphics::Direct3D12 as direct3d;

            impl direct3d::ID3D12InfoQueue_Impl for $object {
                $(fn $failing(&self, $(_: $taken),*) -> windows::core::Result<()> {
                    Err(windows::Win32::Foundation::E_NOTIMPL.into())
                })*

                $(fn $empty(&self, $(_: $given),*) -> $answer {
                    <$answer>::default()
                })*

                fn GetMessageCountLimit(&self) -> u64 {
                    u64::MAX
                }

                fn GetNumMessagesAllowedByStorageFilter(&self) -> u64 {
                    self.messages.count()
                }

                fn GetNumStoredMessages(&self) -> u64 {
                    self.messages.count()
                }

                fn GetNumStoredMessagesAllowedByRetrievalFilter(&self) -> u64 {
                    self.messages.count()
                }

                fn ClearStoredMessages(&self) {
                    self.messages.clear();
                }

                fn GetMessage(
                    &self,
                    index: u64,
                    message: *mut direct3d::D3D12_MESSAGE,
                    length: *mut usize,
                ) -> windows::core::Result<()> {
                    // SAFETY: the client guarantees that `length` is null or valid, and that `message` is
                    // null or has `*length` bytes.
                    unsafe { self.messages.get(index, message, length) }
                }
            }
        };
    };
}

pub(super) use queue;
