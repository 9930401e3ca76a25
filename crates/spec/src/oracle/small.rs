//! The short way for tensors of a few elements: one list of what each output element reads, in the order of
//! the output's coordinates. Making it costs less than arranging loops would, and it is made once a plan.

use super::{
    layout::Axis,
    map::{FILL, Run},
    movement::Reach,
    rows::Element,
};
use crate::program::MAXIMUM_AXES;

/// Outputs of up to this many elements go this way.
pub(super) const MOST: u64 = 256;

/// Says that an element reads nothing. It exceeds every length of memory, and so do the sums of eight of them.
const NOTHING: usize = 1 << 59;

/// The lists, kept from one plan to the next.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// What each coordinate reads, axis after axis; [`FILL`] is nothing.
    coordinates: Vec<u32>,
    /// The greatest coordinate that each axis reads; [`FILL`] where it reads none.
    greatest: [u32; MAXIMUM_AXES],
    /// What each element reads, in elements.
    reads: Vec<usize>,
    /// Where each element is written, in elements; empty where that is in order without holes.
    writes: Vec<usize>,
}

impl Memory {
    /// Forgets the last plan.
    pub(super) fn clear(&mut self) {
        self.coordinates.clear();
        self.greatest = [FILL; MAXIMUM_AXES];
    }

    /// Adds a run to an axis; it lies inside the input. Axes are added one after the other.
    #[inline]
    pub(super) fn push(&mut self, axis: usize, run: Run) {
        let Some(line) = run.line else {
            return self.coordinates.extend((0..run.length).map(|_| FILL));
        };
        let (read, step) = (line.start as u32, line.step as u32);
        let last = line.at(run.length - 1) as u32;
        let greatest = &mut self.greatest[axis % MAXIMUM_AXES];
        // Adding one takes the word for nothing below every coordinate.
        *greatest = greatest.wrapping_add(1).max(read.max(last) + 1) - 1;
        let indices = 0..run.length as u32;
        self.coordinates.extend(indices.map(|index| read.wrapping_add(step.wrapping_mul(index))));
    }

    /// What a coordinate of an axis reads.
    pub(super) fn source(&self, axes: &[Axis], axis: usize, coordinate: u64) -> Option<i64> {
        let first: u64 = axes[..axis].iter().map(|axis| axis.size).sum();
        let read = self.coordinates.get((first + coordinate) as usize)?;
        (*read != FILL).then_some(i64::from(*read))
    }

    /// Lists the elements, once the coordinates of every axis are there. `None` where the tensors span more than
    /// an address can say.
    pub(super) fn list(&mut self, axes: &[Axis]) -> Option<Reach> {
        let mut reach = Reach::START;
        let mut packed = 1;
        let mut is_packed = true;
        for (axis, &greatest) in axes.iter().zip(&self.greatest).rev() {
            reach = reach.with(axis, (greatest != FILL).then_some(greatest.into()));
            is_packed &= axis.size == 1 || axis.output_stride == packed;
            packed *= axis.size;
        }
        if reach.input >= NOTHING as u64 || reach.output >= NOTHING as u64 {
            return None;
        }
        self.reads.clear();
        self.reads.push(0);
        self.writes.clear();
        if !is_packed {
            self.writes.push(0);
        }
        let mut rest = self.coordinates.as_slice();
        for axis in axes.iter().rev() {
            let (outer, reads) = rest.split_at(rest.len().saturating_sub(axis.size as usize));
            rest = outer;
            expand(&mut self.reads, reads.iter().map(|&read| offset(read, axis)));
            if !is_packed {
                let writes = (0..axis.size as usize).map(|c| c * axis.output_stride as usize);
                expand(&mut self.writes, writes);
            }
        }
        Some(reach)
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

fn offset(read: u32, axis: &Axis) -> usize {
    if read == FILL { NOTHING } else { (read as usize).wrapping_mul(axis.input_stride as usize) }
}

/// Each of the offsets plus each of the list, in order: the list is the inner one.
#[inline]
fn expand(list: &mut Vec<usize>, mut offsets: impl ExactSizeIterator<Item = usize>) {
    let count = list.len();
    if let [only] = **list {
        list.clear();
        return list.extend(offsets.map(|offset| offset.wrapping_add(only)));
    }
    let Some(first) = offsets.next() else { return };
    let mut done = count;
    list.resize(count * (offsets.len() + 1), 0);
    for offset in offsets {
        // Relative to the first, which is added to all of them below.
        let offset = offset.wrapping_sub(first);
        let (inner, rest) = list.split_at_mut(done);
        for (place, inner) in rest.iter_mut().zip(&inner[..count]) {
            *place = inner.wrapping_add(offset);
        }
        done += count;
    }
    if first != 0 {
        list.iter_mut().for_each(|place| *place = place.wrapping_add(first));
    }
}
