//! Memory of a run between guard pages. A read or write out of bounds there ends the process at once, also if
//! it leaves no trace: a read whose value is not used, or a write far away.

use std::ops::Range;

#[cfg(unix)]
use crate::guard_pages::GuardPages;
use crate::protocol::GUARD;

/// Larger tensors stay where they are, so that a process needs no second copy of a large case.
const MOST: usize = 1 << 20;
/// The alignment of a run's memory, in bytes.
const ALIGNMENT: usize = 16;
/// The bytes around an input, as those around an output.
const POISON: u8 = 0xC9;

/// Which end of its memory a tensor touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edge {
    /// The memory starts right behind a guard page.
    Start,
    /// The memory ends at a guard page. At most 15 bytes lie between, which keep its start aligned: at most
    /// 12 if its size is a multiple of 4, and none if it is a multiple of 16.
    End,
}

/// Memory for an input and an output, which grows as needed.
#[derive(Debug, Default)]
pub(crate) struct GuardedMemory {
    input: Option<GuardPages>,
    output: Option<GuardPages>,
}

impl GuardedMemory {
    /// Calls a function on copies of an input and an output, and copies the output and the bytes around it
    /// back into its arena. The input's copy can only be read. Returns `None` without a call if the memory is
    /// large, or if the system gives none.
    pub(crate) fn run<R>(
        &mut self,
        input: &[u8],
        (outputs, output): (&mut [u8], &Range<usize>),
        edge: Edge,
        work: impl FnOnce(&[u8], &mut [u8]) -> R,
    ) -> Option<R> {
        if input.len().max(output.len()) > MOST {
            return None;
        }
        let mut from = of_size(&mut self.input, input.len())?;
        let mut to = of_size(&mut self.output, output.len())?;

        let read = edge.place(from.bytes().len(), input.len());
        let near = around(&read, from.bytes().len());
        from.bytes()[near].fill(POISON);
        from.bytes()[read.clone()].copy_from_slice(input);

        let written = edge.place(to.bytes().len(), output.len());
        let near = around(&written, to.bytes().len());
        let before = (written.start - near.start).min(output.start);
        let behind = (near.end - written.end).min(outputs.len() - output.end);
        let copy = written.start - before..written.end + behind;
        let original = output.start - before..output.end + behind;
        to.bytes()[copy.clone()].copy_from_slice(&outputs[original.clone()]);

        let memory = &mut to.bytes()[written];
        let (result, from) = from.read_only(|bytes| work(&bytes[read], memory));
        outputs[original].copy_from_slice(&to.bytes()[copy]);
        (self.input, self.output) = (from, Some(to));
        Some(result)
    }
}

impl Edge {
    /// The range of a tensor in memory of this length.
    fn place(self, length: usize, bytes: usize) -> Range<usize> {
        let start = match self {
            Self::Start => 0,
            Self::End => (length - bytes) / ALIGNMENT * ALIGNMENT,
        };
        start..start + bytes
    }
}

/// A range with the guards around it, as far as the memory has room for them.
fn around(range: &Range<usize>, length: usize) -> Range<usize> {
    range.start.saturating_sub(GUARD)..(range.end + GUARD).min(length)
}

/// Takes the memory, or maps more if it is too small.
fn of_size(kept: &mut Option<GuardPages>, bytes: usize) -> Option<GuardPages> {
    let has_room = |pages: &mut GuardPages| pages.bytes().len() >= bytes;
    kept.take().and_then(|mut pages| has_room(&mut pages).then_some(pages)).or_else(|| GuardPages::new(bytes))
}

/// On systems other than Unix, this program maps no guard pages.
#[cfg(not(unix))]
#[derive(Debug)]
struct GuardPages(std::convert::Infallible);

#[cfg(not(unix))]
impl GuardPages {
    fn new(_: usize) -> Option<Self> {
        None
    }

    fn bytes(&mut self) -> &mut [u8] {
        match self.0 {}
    }

    fn read_only<R>(self, _: impl FnOnce(&[u8]) -> R) -> (R, Option<Self>) {
        match self.0 {}
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn memory_touches_the_page_that_its_edge_names() {
        let mut memory = GuardedMemory::default();
        let page = 4096;
        for (bytes, edge, gap) in [
            (64, Edge::End, 0),
            (68, Edge::End, 12),
            (72, Edge::End, 8),
            (76, Edge::End, 4),
            (100_000, Edge::End, 0),
            (68, Edge::Start, 0),
        ] {
            let (input, mut outputs) = (vec![1; bytes], vec![2; bytes + 2 * GUARD]);
            let output = GUARD..GUARD + bytes;
            let places = memory.run(&input, (&mut outputs, &output), edge, |input, output| {
                assert!(input.iter().all(|byte| *byte == 1) && output.iter().all(|byte| *byte == 2));
                output.fill(3);
                [input, output].map(<[u8]>::as_ptr_range).map(|range| match edge {
                    Edge::Start => range.start.addr() % page,
                    Edge::End => {
                        assert_eq!(range.start.addr() % ALIGNMENT, 0);
                        range.end.addr().next_multiple_of(page) - range.end.addr()
                    }
                })
            });
            assert_eq!(places, Some([gap; 2]), "{bytes} {edge:?}");
            assert!(outputs[output].iter().all(|byte| *byte == 3));
            assert!(outputs[..GUARD].iter().chain(&outputs[GUARD + bytes..]).all(|byte| *byte == 2));
        }
    }

    #[test]
    fn large_memory_is_not_copied() {
        let (input, mut outputs) = (vec![0; MOST + 1], [0; 4]);
        let called = GuardedMemory::default().run(&input, (&mut outputs, &(0..4)), Edge::End, |_, _| ());
        assert_eq!(called, None);
    }
}
