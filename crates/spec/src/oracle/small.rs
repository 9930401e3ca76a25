//! The path for tensors with few elements: a list of the input elements, in the order of the output's
//! coordinates. Making it costs less than arranging loops. It is made once per plan.

use super::{gather::Element, layout::Axis, map::FILL, movement::Reach};
use crate::program::{MAXIMUM_AXES, Points};

/// The largest number of output elements for this path.
pub(super) const MOST: u64 = 256;

/// The offset of an element that reads nothing. It exceeds every offset. The sum of eight of them fits a word
/// and also exceeds every offset.
const NOTHING: u32 = 1 << 28;

/// The capacity for the coordinates of all axes. A single axis has at most [`MOST`] coordinates. Several axes
/// have fewer, and axes of size 1 add one each. Unused lanes of the last points need room, too.
const COORDINATES: usize = MOST as usize + 2 * MAXIMUM_AXES;

/// The lists, reused from plan to plan.
#[derive(Debug)]
pub(super) struct Memory {
    /// Every coordinate of every axis, axis by axis, in groups of eight.
    points: [Points; COORDINATES / MAXIMUM_AXES],
    /// The input coordinate that each of them reads; [`FILL`] for fill.
    coordinates: [u32; COORDINATES],
    /// The number of coordinates, and the number of them whose reads are known.
    count: usize,
    known: usize,
    /// The input offset of each element, in elements, relative to `base`.
    reads: Vec<u32>,
    base: u32,
    /// The output offset of each element, in elements; empty if the output is packed in order.
    writes: Vec<u32>,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            points: [Points::default(); COORDINATES / MAXIMUM_AXES],
            coordinates: [0; COORDINATES],
            count: 0,
            known: 0,
            reads: Vec::new(),
            base: 0,
            writes: Vec::new(),
        }
    }
}

impl Memory {
    /// Starts on the axes of an output with at most [`MOST`] elements.
    pub(super) fn start(&mut self, axes: &[Axis]) {
        self.known = 0;
        let mut count = 0;
        let mut last = (0, 0);
        for (place, axis) in (0..).zip(axes) {
            for coordinate in 0..axis.size as i64 {
                self.set_point(count, (place, coordinate));
                count += 1;
            }
            last = (place, axis.size as i64 - 1);
        }
        self.count = count;
        // The unused lanes repeat the last point, so that they cause no further errors.
        for left_over in count..count.next_multiple_of(MAXIMUM_AXES) {
            self.set_point(left_over, last);
        }
    }

    fn set_point(&mut self, at: usize, (place, coordinate): (u8, i64)) {
        if let Some(eight) = self.points.get_mut(at / MAXIMUM_AXES) {
            eight.axes[at % MAXIMUM_AXES] = place;
            eight.coordinates[at % MAXIMUM_AXES] = coordinate;
        }
    }

    /// The next eight coordinates; `None` if all are known.
    pub(super) fn next_points(&self) -> Option<&Points> {
        let points = (self.known < self.count).then(|| self.points.get(self.known / MAXIMUM_AXES));
        points.flatten()
    }

    /// Adds the reads of the next eight coordinates, with a bit for each that is fill. `None` if one of them
    /// cannot be a coordinate of an input.
    pub(super) fn push(&mut self, reads: &[i64; MAXIMUM_AXES], fill: u8) -> Option<()> {
        let known = self.coordinates.get_mut(self.known..)?.first_chunk_mut::<MAXIMUM_AXES>()?;
        let mut is_coordinate = true;
        for (lane, (known, &read)) in known.iter_mut().zip(reads).enumerate() {
            let is_fill = fill >> lane & 1 == 1;
            // As an unsigned number, a negative coordinate is greater than every size.
            is_coordinate &= is_fill || (read as u64) < u64::from(FILL);
            *known = if is_fill { FILL } else { read as u32 };
        }
        self.known += MAXIMUM_AXES;
        is_coordinate.then_some(())
    }

    /// The input coordinate that a coordinate of an axis reads; `None` is fill.
    pub(super) fn source(&self, axes: &[Axis], place: usize, coordinate: u64) -> Option<i64> {
        let first: u64 = axes[..place].iter().map(|axis| axis.size).sum();
        let read = self.coordinates.get((first + coordinate) as usize)?;
        (*read != FILL).then_some(i64::from(*read))
    }

    /// Whether a coordinate of any axis is fill.
    pub(super) fn has_fill(&self, axes: &[Axis]) -> bool {
        let count: u64 = axes.iter().map(|axis| axis.size).sum();
        self.coordinates.iter().take(count as usize).any(|read| *read == FILL)
    }

    /// Lists the elements, once all reads are known. `None` if a read is outside the input or the tensors
    /// span too much memory.
    #[inline]
    pub(super) fn list(&mut self, axes: &[Axis]) -> Option<Reach> {
        let mut reach = Reach::START;
        let mut packed = 1;
        let mut is_packed = true;
        self.base = 0;
        self.reads.clear();
        self.reads.push(0);
        let mut rest = self.coordinates.get(..self.count)?;
        for axis in axes.iter().rev() {
            let (outer, reads) = rest.split_at_checked(rest.len().checked_sub(axis.size as usize)?)?;
            rest = outer;
            // Adding one makes [`FILL`] wrap to 0, below every coordinate.
            let most = reads.iter().fold(0, |most, read| read.wrapping_add(1).max(most));
            if u64::from(most) > axis.input_size {
                return None;
            }
            reach = reach.with(axis, most.checked_sub(1).map(u64::from));
            let (&first, others) = reads.split_first()?;
            let first = offset(first, axis);
            self.base = self.base.wrapping_add(first);
            if !others.is_empty() {
                is_packed &= axis.output_stride == packed;
                packed *= axis.size;
                expand(&mut self.reads, others.iter().map(|&read| offset(read, axis).wrapping_sub(first)));
            }
        }
        if reach.input >= NOTHING.into() || reach.output >= NOTHING.into() {
            return None;
        }
        self.writes.clear();
        if !is_packed {
            self.writes.push(0);
            for axis in axes.iter().rev().filter(|axis| axis.size > 1) {
                let stride = axis.output_stride as u32;
                expand(&mut self.writes, (1..axis.size as u32).map(|c| c * stride));
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
        // The plan has checked that every read is inside the input, so only fill is out of bounds.
        let read = |offset: u32| input.get(offset.wrapping_add(self.base) as usize).copied().unwrap_or(low);
        if self.writes.is_empty() {
            for (output, &offset) in output.iter_mut().zip(&self.reads) {
                *output = read(offset);
            }
        } else {
            for (&to, &offset) in self.writes.iter().zip(&self.reads) {
                output[to as usize] = read(offset);
            }
        }
    }
}

#[inline]
fn offset(read: u32, axis: &Axis) -> u32 {
    if read == FILL { NOTHING } else { read.wrapping_mul(axis.input_stride as u32) }
}

/// Extends the list by one copy of itself per offset, each with that offset added.
#[inline]
fn expand(list: &mut Vec<u32>, offsets: impl ExactSizeIterator<Item = u32>) {
    if list.len() == 1 {
        return list.extend(offsets);
    }
    let count = list.len();
    let mut done = count;
    list.resize(count * (offsets.len() + 1), 0);
    for offset in offsets {
        let (inner, rest) = list.split_at_mut(done);
        for (place, inner) in rest.iter_mut().zip(&inner[..count]) {
            *place = inner.wrapping_add(offset);
        }
        done += count;
    }
}
