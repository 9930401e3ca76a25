//! Helpers for tests: a device, and a way to block it.

use std::{env, sync::Arc};

use windows::Win32::Graphics::Direct3D12::{D3D12_FENCE_FLAG_NONE, ID3D12Device, ID3D12Fence};

use super::{DirectMl, lane::Lane, library::Library};
use crate::Options;

/// Options for WARP, which every Windows has, or for the adapter in a variable, which `.ci/wine` sets.
pub(super) fn options() -> Options {
    let words = env::var("DMLCTS_TEST_ADAPTER").unwrap_or_else(|_| "warp".to_owned());
    words.parse().expect("an adapter")
}

/// DirectML with the stand-in library, which Cargo builds next to this program.
pub(super) fn stand_in() -> Arc<DirectMl> {
    let program = env::current_exe().expect("a program has a file");
    let library = Library::at(&program.with_file_name("directml_stand_in.dll")).expect("it can be loaded");
    assert!(library.is_stand_in);
    DirectMl::with(library, &options()).expect("there is a device")
}

/// Blocks everything that a lane submits from now on, and nothing else.
pub(super) struct LaneBlock(ID3D12Fence);

impl LaneBlock {
    pub(super) fn on(lane: &Lane, device: &ID3D12Device) -> Self {
        // SAFETY: the device is alive.
        let fence: ID3D12Fence =
            unsafe { device.CreateFence(0, D3D12_FENCE_FLAG_NONE) }.expect("there is room");
        // SAFETY: queue and fence are alive.
        unsafe { lane.queue.Wait(&fence, 1) }.expect("a queue waits");
        Self(fence)
    }

    pub(super) fn release(&self) {
        // SAFETY: the fence is alive.
        unsafe { self.0.Signal(1) }.expect("the device is there");
    }
}
