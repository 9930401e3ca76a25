//! Shader-visible descriptors, in parts of heaps that many lanes share. Some drivers need a second and half a
//! gigabyte for a heap of any size.

use std::sync::{Mutex, PoisonError};

use dmlcts_model::Phase;
use windows::Win32::Graphics::Direct3D12::{
    D3D12_DESCRIPTOR_HEAP_DESC, D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE,
    D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, ID3D12DescriptorHeap, ID3D12Device,
};

use super::fault::{Call, FlightFault};

/// The number of descriptors in a part: enough for a batch of small cases.
const PART: u32 = 8192;
/// The number of descriptors in a shared heap.
const HEAP: u32 = 8 * PART;

/// The heaps of a device.
#[derive(Debug, Default)]
pub(super) struct Heaps {
    /// The newest shared heap, and the number of its descriptors that are in use.
    newest: Mutex<Option<(ID3D12DescriptorHeap, u32)>>,
}

/// A part of a heap, for one lane.
#[derive(Clone, Debug)]
pub(super) struct DescriptorPart {
    pub(super) heap: ID3D12DescriptorHeap,
    /// The index of its first descriptor in the heap.
    pub(super) first: u32,
    /// The number of its descriptors.
    pub(super) count: u32,
}

impl Heaps {
    /// A part with at least this many descriptors, which is not given out again.
    pub(super) fn part(&self, device: &ID3D12Device, count: u32) -> Result<DescriptorPart, FlightFault> {
        if count > PART {
            let count = count.checked_next_power_of_two().unwrap_or(count);
            return Ok(DescriptorPart { heap: heap(device, count)?, first: 0, count });
        }
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        let (heap, first) = match newest.take() {
            Some((heap, first)) if first < HEAP => (heap, first),
            _ => (heap(device, HEAP)?, 0),
        };
        *newest = Some((heap.clone(), first + PART));
        Ok(DescriptorPart { heap, first, count: PART })
    }
}

fn heap(device: &ID3D12Device, count: u32) -> Result<ID3D12DescriptorHeap, FlightFault> {
    let desc = D3D12_DESCRIPTOR_HEAP_DESC {
        Type: D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV,
        NumDescriptors: count,
        Flags: D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE,
        NodeMask: 0,
    };
    // SAFETY: the device is alive.
    unsafe { device.CreateDescriptorHeap(&raw const desc) }.call(Phase::Bind, "CreateDescriptorHeap")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::direct3d::testing::stand_in;

    #[test]
    fn descriptors_have_one_user_at_a_time() {
        let directml = stand_in();
        let gate = directml.gate.enter();
        let device = gate.device().expect("there is one");
        let heaps = Heaps::default();
        // More parts than one heap has room for, and one part with a heap of its own: only few, since a heap
        // is expensive.
        let counts = [1; 9].into_iter().chain([PART + 1, PART]);
        let parts: Vec<DescriptorPart> =
            counts.map(|count| heaps.part(&device.direct3d, count).expect("there is room")).collect();
        for (number, part) in parts.iter().enumerate() {
            // SAFETY: the heap is alive.
            let size = unsafe { part.heap.GetDesc() }.NumDescriptors;
            assert!(part.first + part.count <= size, "{part:?} of {size}");
            for other in &parts[..number] {
                let is_isolated =
                    part.first + part.count <= other.first || other.first + other.count <= part.first;
                assert!(part.heap != other.heap || is_isolated, "{part:?} and {other:?}");
            }
        }
        assert!(parts.iter().any(|part| part.heap == parts[0].heap && part.first > 0), "a heap is shared");
    }
}
