//! A case: a desc, the offsets of its buffers, and the fill of its input. It holds parameters instead of
//! bytes.

use std::sync::Arc;

use crate::Desc;

/// One input to test a backend with. Its text form rebuilds it exactly.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    /// The operator description, valid or not. It is boxed because it takes about a kilobyte, and cases are
    /// moved often.
    pub desc: Box<Desc>,
    /// The offsets of the tensors in their buffers.
    pub binding: BindingOffsets,
    /// The content of the input.
    pub fill: Fill,
}

/// `DML_BUFFER_BINDING.Offset` of each tensor, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BindingOffsets {
    /// The input's offset.
    pub input: u64,
    /// The output's offset.
    pub output: u64,
}

/// The content of the input's memory, including the holes of a strided input. Element `i` is the one at `i`
/// times the element size from the tensor's start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fill {
    /// The numbers 1, 2, 3 and so on. They are exact in floats, and restart when the type can count no
    /// further.
    Iota,
    /// The bits of `i`, so that an element identifies its index. A type narrower than `i` needs several
    /// passes: pass `p` holds the group of bits at index `p`, as wide as the type.
    Coordinates {
        /// 0 is the group of the lowest bits; a group beyond the 64 bits of `i` is all zero.
        pass: u8,
    },
    /// Random bits of this seed.
    Random {
        /// The seed.
        seed: u64,
    },
    /// Values that conversions change, chosen by this seed: signalling and quiet NaNs with payloads,
    /// infinities, −0, denormals, extremes.
    Special {
        /// The seed.
        seed: u64,
    },
    /// Any number of bytes. Bytes beyond the memory are ignored, and missing bytes are zero.
    Explicit(Arc<[u8]>),
}
