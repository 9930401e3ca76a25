//! The short way for tensors of a few elements: one list of what each output element reads, in the order of
//! the output's coordinates. Making it costs less than arranging loops would, and it is made once a plan.

use super::{movement::Reach, rows::Element};

/// Outputs of up to this many elements go this way.
pub(super) const MOST: usize = 64;

/// Says that an element reads nothing. It exceeds every length of memory, and so does its sum with others.
const NOTHING: usize = 1 << 59;

/// The list, kept from one plan to the next.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// What each element reads, in elements.
    reads: Vec<usize>,
    /// Where each element is written, in elements; empty where that is in order without holes.
    writes: Vec<usize>,
    spare: Vec<usize>,
}

impl Memory {
    /// Starts a list of one element.
    pub(super) fn start(&mut self, is_packed: bool) {
        self.reads.clear();
        self.reads.push(0);
        self.writes.clear();
        if !is_packed {
            self.writes.push(0);
        }
    }

    /// Repeats the list for each coordinate of the next axis, from the innermost outwards. The coordinates are
    /// what each of them reads; `None` is fill.
    pub(super) fn expand(
        &mut self,
        coordinates: impl ExactSizeIterator<Item = Option<u32>>,
        input_stride: u64,
        output_stride: u64,
    ) {
        if !self.writes.is_empty() {
            repeat(
                &mut self.writes,
                &mut self.spare,
                (0..coordinates.len()).map(|c| c * output_stride as usize),
            );
        }
        let offset = |read: Option<u32>| read.map_or(NOTHING, |read| read as usize * input_stride as usize);
        repeat(&mut self.reads, &mut self.spare, coordinates.map(offset));
    }

    /// Writes every element of the output.
    pub(super) fn execute(&self, size: usize, input: &[u8], output: &mut [u8], fill: [u8; 8]) {
        match size {
            1 => self.execute_as::<1>(input, output, fill),
            2 => self.execute_as::<2>(input, output, fill),
            4 => self.execute_as::<4>(input, output, fill),
            _ => self.execute_as::<8>(input, output, fill),
        }
    }

    fn execute_as<const N: usize>(&self, input: &[u8], output: &mut [u8], fill: [u8; 8]) {
        let (input, _): (&[Element<N>], _) = input.as_chunks();
        let (output, _): (&mut [Element<N>], _) = output.as_chunks_mut();
        let mut low = [0; N];
        low.copy_from_slice(&fill[..N]);
        // What is read lies inside the input, as the plan has proven: only fill is out of it.
        let read = |offset: usize| input.get(offset).copied().unwrap_or(low);
        if self.writes.is_empty() {
            for (output, &offset) in output.iter_mut().zip(&self.reads) {
                *output = read(offset);
            }
        } else {
            for (&to, &offset) in self.writes.iter().zip(&self.reads) {
                output[to] = read(offset);
            }
        }
    }
}

/// Each of the offsets plus each of the list, in order.
fn repeat(list: &mut Vec<usize>, spare: &mut Vec<usize>, offsets: impl Iterator<Item = usize>) {
    spare.clear();
    for offset in offsets {
        spare.extend(list.iter().map(|inner| (offset + inner).min(NOTHING)));
    }
    std::mem::swap(list, spare);
}

/// Whether memories of so many bytes hold what the list touches; offsets that do not fit are found out here,
/// before the list is made.
pub(super) fn is_addressable(reach: Reach) -> bool {
    reach.input < NOTHING as u64 && reach.output < NOTHING as u64
}
