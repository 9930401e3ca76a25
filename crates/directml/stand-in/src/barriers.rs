//! Whether a client's command list has the barriers that it needs: in which state each buffer is, and what
//! has to be ordered.
//!
//! The rules are those of two pages, as far as buffers go: "Using Resource Barriers to Synchronize Resource
//! States in Direct3D 12"
//! (<https://learn.microsoft.com/windows/win32/direct3d12/using-resource-barriers-to-synchronize-resource-states-in-direct3d-12>)
//! and "UAV barriers and resource state barriers in DirectML"
//! (<https://learn.microsoft.com/windows/ai/directml/dml-barriers>).
//!
//! - Buffers decay to COMMON where lists end that are executed together; so each is in COMMON where a list
//!   begins. (A client that executes several lists at once would have to be followed from list to list.)
//! - From COMMON, the first access takes a buffer to the state that it needs, and a transition may name any
//!   state as the one before.
//! - Whatever comes then needs a transition where it needs another state, and a transition names the state
//!   that there is.
//! - Buffers of upload heaps are in GENERIC_READ, those of readback heaps in COPY_DEST, and stay so.
//! - Copies read in COPY_SOURCE and write in COPY_DEST, dispatches do both in UNORDERED_ACCESS.
//! - Dispatches may run side by side unless a UAV barrier or a transition of the buffer lies between them: so
//!   what one writes, no other may read or write. That counts by bytes: parts of a buffer that do not overlap
//!   have nothing to do with each other.
//!
//! What it does not see: halves of a split barrier (the second is taken for the whole), aliasing barriers,
//! and the newer `ID3D12GraphicsCommandList7::Barrier`.

use std::{
    collections::BTreeMap,
    fmt::{self, Display, Formatter},
    ops,
};

/// A set of `D3D12_RESOURCE_STATES`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct States(pub i32);

impl States {
    /// `D3D12_RESOURCE_STATE_COMMON`.
    pub const COMMON: Self = Self(0);
    /// `D3D12_RESOURCE_STATE_UNORDERED_ACCESS`.
    pub const UNORDERED_ACCESS: Self = Self(0x8);
    /// `D3D12_RESOURCE_STATE_COPY_DEST`.
    pub const COPY_DEST: Self = Self(0x400);
    /// `D3D12_RESOURCE_STATE_COPY_SOURCE`.
    pub const COPY_SOURCE: Self = Self(0x800);
    /// `D3D12_RESOURCE_STATE_GENERIC_READ`, which has COPY_SOURCE and others that read.
    pub const GENERIC_READ: Self = Self(0xAC3);

    fn has(self, needed: Self) -> bool {
        self.0 & needed.0 == needed.0
    }
}

impl Display for States {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Self::COMMON => f.write_str("COMMON"),
            Self::UNORDERED_ACCESS => f.write_str("UNORDERED_ACCESS"),
            Self::COPY_DEST => f.write_str("COPY_DEST"),
            Self::COPY_SOURCE => f.write_str("COPY_SOURCE"),
            Self::GENERIC_READ => f.write_str("GENERIC_READ"),
            Self(other) => write!(f, "{other:#x}"),
        }
    }
}

/// Where a buffer lies, which says whether its state can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heap {
    /// Where the device alone gets at it, or a heap of the client's own kind.
    Default,
    /// Where the host writes.
    Upload,
    /// Where the host reads.
    Readback,
}

/// A buffer that a list uses.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    /// The resource's address, by which it is known.
    pub address: usize,
    /// Where it lies.
    pub heap: Heap,
}

/// A part of a buffer that is bound for a dispatch.
#[derive(Clone, Debug)]
pub struct Use {
    /// As what it is bound, such as "the input".
    pub what: &'static str,
    /// The buffer.
    pub buffer: Buffer,
    /// Which bytes of it.
    pub bytes: ops::Range<u64>,
    /// Whether the dispatch writes there; else it reads.
    pub writes: bool,
}

/// What a list has recorded so far.
#[derive(Debug, Default)]
pub struct Recorded {
    buffers: BTreeMap<usize, Followed>,
}

/// A buffer, at the present end of the list.
#[derive(Debug)]
struct Followed {
    state: States,
    heap: Heap,
    /// What dispatches read and wrote since the last barrier.
    read: Bytes,
    written: Bytes,
}

impl Recorded {
    /// A copy from one buffer to another. The error says which barrier is missing.
    pub fn copy(&mut self, to: Option<Buffer>, from: Option<Buffer>) -> Result<(), String> {
        for (buffer, state, what) in
            [(from, States::COPY_SOURCE, "a copy reads"), (to, States::COPY_DEST, "a copy writes")]
        {
            let Some(buffer) = buffer else { continue };
            self.follow(buffer).access(state).map_err(|is| {
                format!("{what} a buffer in the state {is}, not {state}: a transition is missing")
            })?;
        }
        Ok(())
    }

    /// A dispatch, with all that is bound for it.
    pub fn dispatch(&mut self, uses: &[Use]) -> Result<(), String> {
        for Use { what, buffer, bytes, writes } in uses {
            let needed = States::UNORDERED_ACCESS;
            let followed = self.follow(*buffer);
            followed.access(needed).map_err(|is| {
                format!("{what} is in the state {is}, not {needed}: a transition is missing")
            })?;
            if followed.written.overlap(bytes) {
                return Err(format!("a dispatch before it writes {what}: a UAV barrier is missing"));
            }
            if *writes && followed.read.overlap(bytes) {
                return Err(format!("a dispatch before it reads {what}: a UAV barrier is missing"));
            }
        }
        for Use { buffer, bytes, writes, .. } in uses {
            let followed = self.follow(*buffer);
            if *writes { &mut followed.written } else { &mut followed.read }.add(bytes);
        }
        Ok(())
    }

    /// A transition.
    pub fn transition(&mut self, buffer: Buffer, before: States, after: States) -> Result<(), String> {
        let followed = self.follow(buffer);
        let is = followed.state;
        if followed.heap != Heap::Default {
            return Err(format!(
                "a transition takes a buffer from the state {is}, which its heap keeps it in"
            ));
        }
        if before == after {
            return Err(format!("a transition takes a buffer from the state {before} to the same"));
        }
        if is != States::COMMON && is != before {
            return Err(format!("a transition takes a buffer from the state {before}, and it is in {is}"));
        }
        followed.state = after;
        followed.is_ordered();
        Ok(())
    }

    /// A UAV barrier, of one buffer or, without one, of all.
    pub fn unordered_access_barrier(&mut self, buffer: Option<usize>) {
        for (address, followed) in &mut self.buffers {
            if buffer.is_none_or(|one| one == *address) {
                followed.is_ordered();
            }
        }
    }

    fn follow(&mut self, buffer: Buffer) -> &mut Followed {
        self.buffers.entry(buffer.address).or_insert_with(|| Followed {
            state: match buffer.heap {
                Heap::Default => States::COMMON,
                Heap::Upload => States::GENERIC_READ,
                Heap::Readback => States::COPY_DEST,
            },
            heap: buffer.heap,
            read: Bytes::default(),
            written: Bytes::default(),
        })
    }
}

impl Followed {
    /// Something that needs a state, which the buffer is promoted to from COMMON. The error is the state that
    /// it is in instead.
    fn access(&mut self, needed: States) -> Result<(), States> {
        if self.state == States::COMMON {
            self.state = needed;
        }
        if self.state.has(needed) { Ok(()) } else { Err(self.state) }
    }

    /// All that was read and written comes before what follows.
    fn is_ordered(&mut self) {
        self.read = Bytes::default();
        self.written = Bytes::default();
    }
}

/// Some bytes of a buffer: parts that neither overlap nor touch, by where they start, with where they end.
#[derive(Debug, Default)]
struct Bytes(BTreeMap<u64, u64>);

impl Bytes {
    /// Whether it has any of these.
    fn overlap(&self, bytes: &ops::Range<u64>) -> bool {
        let last = self.0.range(..bytes.end).next_back();
        !bytes.is_empty() && last.is_some_and(|(_, end)| *end > bytes.start)
    }

    /// Adds these, together with the parts that they overlap or touch.
    fn add(&mut self, bytes: &ops::Range<u64>) {
        if bytes.is_empty() {
            return;
        }
        let (mut start, mut end) = (bytes.start, bytes.end);
        while let Some((&first, &last)) = self.0.range(..=end).next_back().filter(|(_, last)| **last >= start)
        {
            self.0.remove(&first);
            (start, end) = (start.min(first), end.max(last));
        }
        self.0.insert(start, end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INPUT: Buffer = Buffer { address: 64, heap: Heap::Default };
    const OUTPUT: Buffer = Buffer { address: 128, heap: Heap::Default };
    const UPLOAD: Buffer = Buffer { address: 192, heap: Heap::Upload };
    const READBACK: Buffer = Buffer { address: 256, heap: Heap::Readback };
    const ACCESS: States = States::UNORDERED_ACCESS;

    fn reads(buffer: Buffer, bytes: ops::Range<u64>) -> Use {
        Use { what: "the input", buffer, bytes, writes: false }
    }

    fn writes(buffer: Buffer, bytes: ops::Range<u64>) -> Use {
        Use { what: "the output", buffer, bytes, writes: true }
    }

    fn said(result: Result<(), String>) -> String {
        result.expect_err("a barrier is missing")
    }

    /// From upload to readback, as a client should.
    fn round(recorded: &mut Recorded, without: Option<usize>) -> Result<(), String> {
        recorded.copy(Some(INPUT), Some(UPLOAD))?;
        recorded.copy(Some(OUTPUT), Some(UPLOAD))?;
        let arrive = [(INPUT, States::COPY_DEST, ACCESS), (OUTPUT, States::COPY_DEST, ACCESS)];
        let leave = [(INPUT, ACCESS, States::COPY_SOURCE), (OUTPUT, ACCESS, States::COPY_SOURCE)];
        for (number, (buffer, before, after)) in arrive.into_iter().enumerate() {
            if without != Some(number) {
                recorded.transition(buffer, before, after)?;
            }
        }
        recorded.dispatch(&[reads(INPUT, 0..16), writes(OUTPUT, 0..16)])?;
        for (number, (buffer, before, after)) in leave.into_iter().enumerate() {
            if without != Some(arrive.len() + number) {
                recorded.transition(buffer, before, after)?;
            }
        }
        recorded.copy(Some(READBACK), Some(INPUT))?;
        recorded.copy(Some(READBACK), Some(OUTPUT))
    }

    #[test]
    fn each_transition_between_copies_and_dispatches_is_missed() {
        assert_eq!(round(&mut Recorded::default(), None), Ok(()));
        let reads =
            "a copy reads a buffer in the state UNORDERED_ACCESS, not COPY_SOURCE: a transition is missing";
        for (number, words) in [
            "the input is in the state COPY_DEST, not UNORDERED_ACCESS: a transition is missing",
            "the output is in the state COPY_DEST, not UNORDERED_ACCESS: a transition is missing",
            reads,
            reads,
        ]
        .into_iter()
        .enumerate()
        {
            assert_eq!(said(round(&mut Recorded::default(), Some(number))), words, "{number}");
        }
    }

    #[test]
    fn a_dispatch_that_needs_another_comes_behind_a_barrier() {
        let before = |first: &Use, then: &Use| {
            let mut recorded = Recorded::default();
            recorded.dispatch(std::slice::from_ref(first)).expect("it is the first");
            recorded.dispatch(std::slice::from_ref(then))
        };
        let (read, written) = (reads(INPUT, 16..32), writes(INPUT, 16..32));
        assert_eq!(before(&read, &read), Ok(()));
        let missing = "a UAV barrier is missing";
        assert_eq!(
            said(before(&written, &read)),
            format!("a dispatch before it writes the input: {missing}")
        );
        assert_eq!(
            said(before(&read, &written)),
            format!("a dispatch before it reads the output: {missing}")
        );
        assert_eq!(
            said(before(&written, &written)),
            format!("a dispatch before it writes the output: {missing}")
        );
        for apart in [0..16, 32..48, 20..20] {
            assert_eq!(before(&written, &reads(INPUT, apart)), Ok(()));
        }
        for overlapping in [0..17, 31..32, 31..64, 0..64, 20..24] {
            said(before(&written, &reads(INPUT, overlapping)));
        }
        assert_eq!(before(&written, &reads(OUTPUT, 16..32)), Ok(()));
    }

    #[test]
    fn a_barrier_orders_what_it_is_of() {
        for (barrier, orders) in [(None, true), (Some(INPUT.address), true), (Some(OUTPUT.address), false)] {
            let mut recorded = Recorded::default();
            recorded.dispatch(&[writes(INPUT, 0..4)]).expect("it is the first");
            recorded.unordered_access_barrier(barrier);
            assert_eq!(recorded.dispatch(&[reads(INPUT, 0..4)]).is_ok(), orders, "{barrier:?}");
        }
        let mut recorded = Recorded::default();
        recorded.dispatch(&[writes(INPUT, 0..4)]).expect("it is the first");
        for (before, after) in [(ACCESS, States::COPY_SOURCE), (States::COPY_SOURCE, ACCESS)] {
            recorded.transition(INPUT, before, after).expect("it is in that state");
        }
        assert_eq!(recorded.dispatch(&[reads(INPUT, 0..4)]), Ok(()));
    }

    #[test]
    fn a_transition_starts_where_the_buffer_is() {
        let mut recorded = Recorded::default();
        // From COMMON, every state will do.
        assert_eq!(recorded.transition(INPUT, ACCESS, States::COPY_SOURCE), Ok(()));
        assert_eq!(recorded.transition(OUTPUT, States::COMMON, ACCESS), Ok(()));
        assert_eq!(
            said(recorded.transition(OUTPUT, States::COPY_DEST, States::COPY_SOURCE)),
            "a transition takes a buffer from the state COPY_DEST, and it is in UNORDERED_ACCESS"
        );
        assert_eq!(
            said(recorded.transition(OUTPUT, ACCESS, ACCESS)),
            "a transition takes a buffer from the state UNORDERED_ACCESS to the same"
        );
    }

    #[test]
    fn upload_and_readback_buffers_keep_their_state() {
        let mut recorded = Recorded::default();
        for (to, from, words) in [
            (Some(UPLOAD), None, "a copy writes a buffer in the state GENERIC_READ, not COPY_DEST"),
            (None, Some(READBACK), "a copy reads a buffer in the state COPY_DEST, not COPY_SOURCE"),
        ] {
            assert_eq!(said(recorded.copy(to, from)), format!("{words}: a transition is missing"));
        }
        assert_eq!(
            said(recorded.transition(READBACK, States::COPY_DEST, States::COPY_SOURCE)),
            "a transition takes a buffer from the state COPY_DEST, which its heap keeps it in"
        );
    }

    /// The first access decides, and the second needs a transition, reading or not.
    #[test]
    fn a_buffer_is_promoted_once() {
        let mut recorded = Recorded::default();
        assert_eq!(recorded.copy(Some(OUTPUT), Some(INPUT)), Ok(()));
        assert_eq!(recorded.copy(Some(OUTPUT), Some(INPUT)), Ok(()));
        assert!(said(recorded.copy(Some(INPUT), None)).contains("in the state COPY_SOURCE, not COPY_DEST"));
        assert!(said(recorded.dispatch(&[reads(INPUT, 0..4)])).contains("in the state COPY_SOURCE"));
    }

    #[test]
    fn bytes_that_touch_become_one_part() {
        let mut bytes = Bytes::default();
        for part in [0..4, 8..12, 20..24, 30..30, 12..14, 3..9, 24..26] {
            bytes.add(&part);
        }
        assert_eq!(bytes.0.into_iter().collect::<Vec<_>>(), [(0, 14), (20, 26)]);
    }
}
