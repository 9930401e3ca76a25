//! The short way for tensors of a few elements: one list of what each output element reads, in the order of
//! the output's coordinates. Making it costs less than arranging loops would, and it is made once a plan.

use super::{layout::Axis, map::FILL, movement::Reach, rows::Element};
use crate::program::{MAXIMUM_AXES, Points};

/// Outputs of up to this many elements go this way.
pub(super) const MOST: u64 = 256;

/// Says that an element reads nothing. It exceeds every offset, and so do the sums of eight of them, which a word
/// holds.
const NOTHING: u32 = 1 << 28;

/// Room for the coordinates of all axes: as many as elements where there is one axis, and few where there are
/// more; then one a further axis, and the last points' lanes that are left over.
const COORDINATES: usize = MOST as usize + 2 * MAXIMUM_AXES;

/// The lists, kept from one plan to the next.
#[derive(Debug)]
pub(super) struct Memory {
    /// Every coordinate of every axis, axis after axis, in eights.
    points: [Points; COORDINATES / MAXIMUM_AXES],
    /// What each of them reads; [`FILL`] is nothing.
    coordinates: [u32; COORDINATES],
    /// How many there are, and how many of them are known.
    count: usize,
    known: usize,
    /// What each element reads, in elements, relative to `base`.
    reads: Vec<u32>,
    base: u32,
    /// Where each element is written, in elements; empty where that is in order without holes.
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
    /// Starts on the axes of an output of at most [`MOST`] elements.
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
        // The lanes that are left over repeat the last point: they find nothing wrong that it does not.
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

    /// The next eight coordinates; `None` where all are known.
    pub(super) fn next_points(&self) -> Option<&Points> {
        let points = (self.known < self.count).then(|| self.points.get(self.known / MAXIMUM_AXES));
        points.flatten()
    }

    /// What they read, with a bit for each that is fill. `None` where one is no coordinate of any input.
    pub(super) fn push(&mut self, reads: &[i64; MAXIMUM_AXES], fill: u8) -> Option<()> {
        let known = self.coordinates.get_mut(self.known..)?.first_chunk_mut::<MAXIMUM_AXES>()?;
        let mut is_coordinate = true;
        for (lane, (known, &read)) in known.iter_mut().zip(reads).enumerate() {
            let is_fill = fill >> lane & 1 == 1;
            // A negative coordinate, read as unsigned, is greater than every size.
            is_coordinate &= is_fill || (read as u64) < u64::from(FILL);
            *known = if is_fill { FILL } else { read as u32 };
        }
        self.known += MAXIMUM_AXES;
        is_coordinate.then_some(())
    }

    /// Where to put what the coordinates of all axes read, axis after axis.
    pub(super) fn coordinates_mut(&mut self) -> &mut [u32] {
        &mut self.coordinates
    }

    /// What they read, once all are known.
    pub(super) fn known(&self) -> &[u32] {
        self.coordinates.get(..self.count).unwrap_or_default()
    }

    /// What a coordinate of an axis reads.
    pub(super) fn source(&self, axes: &[Axis], place: usize, coordinate: u64) -> Option<i64> {
        let first: u64 = axes[..place].iter().map(|axis| axis.size).sum();
        let read = self.coordinates.get((first + coordinate) as usize)?;
        (*read != FILL).then_some(i64::from(*read))
    }

    /// Lists the elements from what so many coordinates read. `None` where one of them reads outside of the input, or
    /// the tensors span too much.
    #[inline]
    pub(super) fn list(&mut self, axes: &[Axis], count: usize) -> Option<Reach> {
        let mut reach = Reach::START;
        let mut packed = 1;
        let mut is_packed = true;
        self.base = 0;
        self.reads.clear();
        self.reads.push(0);
        let mut rest = self.coordinates.get(..count)?;
        for axis in axes.iter().rev() {
            let (outer, reads) = rest.split_at_checked(rest.len().checked_sub(axis.size as usize)?)?;
            rest = outer;
            // Adding one takes the word for nothing below every coordinate.
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
        // What is read lies inside the input, as the plan has proven: only fill is out of it.
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

/// The list, and behind it the list plus each of the offsets: the list is the inner one.
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
