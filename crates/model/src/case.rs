//! A case: a desc, where its buffers are bound, and what its input holds. Parameters, not bytes.

use std::sync::Arc;

use crate::Desc;

/// One thing to try on a backend. Its text form rebuilds it exactly.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    /// The operator description, valid or not. It takes a kilobyte, which is not to be moved when it changes hands.
    pub desc: Box<Desc>,
    /// Where the tensors lie in their buffers.
    pub binding: BindingOffsets,
    /// What the input holds.
    pub fill: Fill,
}

/// `DML_BUFFER_BINDING.Offset` of each tensor, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BindingOffsets {
    /// Of the input.
    pub input: u64,
    /// Of the output.
    pub output: u64,
}

/// What the input's memory holds, element by element in the order of memory, holes of a strided input
/// included: element `i` is the one at `i` times the element size from the tensor's start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fill {
    /// The numbers 1, 2, 3 …: exact in floats, starting again where the type is too narrow to count on.
    Iota,
    /// The bits of `i`, so that an element tells where it came from. A type narrower than `i` needs several
    /// passes: pass `p` holds the `p`-th group of bits, as wide as the type.
    Coordinates {
        /// 0 holds the lowest bits; one beyond the 64 bits of `i` is all zero.
        pass: u8,
    },
    /// Every bit drawn by this seed.
    Random {
        /// The seed.
        seed: u64,
    },
    /// Values that conversions destroy, drawn by this seed: signalling and quiet NaNs with payloads,
    /// infinities, −0, denormals, extremes.
    Special {
        /// The seed.
        seed: u64,
    },
    /// These bytes, however many: what lies beyond them is zero, and those beyond the memory are not used.
    Explicit(Arc<[u8]>),
}
