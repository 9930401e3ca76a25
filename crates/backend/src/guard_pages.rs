//! Memory between two pages that end the process when they are read or written. Only the system can protect
//! pages, so this file maps memory itself.

use std::{
    ffi::{c_int, c_void},
    ptr, slice,
};

use libc::{
    MAP_ANON, MAP_FAILED, MAP_PRIVATE, PROT_NONE, PROT_READ, PROT_WRITE, mmap, mprotect, munmap, sysconf,
};

/// Whole pages, with a guard page before and behind them.
#[derive(Debug)]
pub(crate) struct GuardPages {
    /// The first guard page.
    mapped: *mut c_void,
    /// The number of bytes between the guard pages.
    bytes: usize,
}

// SAFETY: the mapping belongs to this value alone, and memory is not bound to a thread.
unsafe impl Send for GuardPages {}

impl GuardPages {
    /// Maps at least this many bytes; `None` if the system has no memory for them.
    pub(crate) fn new(bytes: usize) -> Option<Self> {
        let page = page_size();
        let bytes = bytes.max(1).checked_next_multiple_of(page)?;
        let length = bytes.checked_add(2 * page)?;
        // SAFETY: the system chooses the address, so no memory in use is replaced.
        let mapped = unsafe { mmap(ptr::null_mut(), length, PROT_NONE, MAP_PRIVATE | MAP_ANON, -1, 0) };
        if mapped == MAP_FAILED {
            return None;
        }
        // From here on, dropping `pages` unmaps them.
        let pages = Self { mapped, bytes };
        pages.protect(PROT_READ | PROT_WRITE).then_some(pages)
    }

    /// The memory between the guard pages. Its start and its end are those of pages.
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: these bytes are mapped and zero at first. They can be read and written, because `read_only`
        // takes the value, and `protect` is called nowhere else. The borrow keeps them from being unmapped.
        unsafe { slice::from_raw_parts_mut(self.first().cast(), self.bytes) }
    }

    /// Calls a function while the memory can only be read. Returns `None` beside its result if the memory
    /// stays so. If the system cannot protect the memory, the function is called all the same.
    pub(crate) fn read_only<R>(self, work: impl FnOnce(&[u8]) -> R) -> (R, Option<Self>) {
        self.protect(PROT_READ);
        // SAFETY: as in `bytes`, and nothing writes to the memory before the call returns.
        let result = work(unsafe { slice::from_raw_parts(self.first().cast(), self.bytes) });
        let is_writable = self.protect(PROT_READ | PROT_WRITE);
        (result, is_writable.then_some(self))
    }

    /// The first byte behind the first guard page.
    fn first(&self) -> *mut c_void {
        self.mapped.wrapping_byte_add(page_size())
    }

    /// Sets what the memory between the guard pages permits. Returns whether the system did so.
    fn protect(&self, permitted: c_int) -> bool {
        // SAFETY: these pages belong to this value. Callers borrow or own it, and hold no slice of them.
        unsafe { mprotect(self.first(), self.bytes, permitted) == 0 }
    }
}

impl Drop for GuardPages {
    fn drop(&mut self) {
        // SAFETY: the mapping belongs to this value, and no slice of it outlives the value.
        let _ = unsafe { munmap(self.mapped, self.bytes + 2 * page_size()) };
    }
}

/// The size of a page, in bytes.
fn page_size() -> usize {
    // SAFETY: it reads a constant of the system, which every Unix has.
    unsafe { sysconf(libc::_SC_PAGESIZE) as usize }
}
