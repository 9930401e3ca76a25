//! Writes an output: loops over its axes, outermost in memory first, and a row of the innermost at a time.

use smallvec::SmallVec;

use super::{layout::Axis, read::FILL};

/// An element of a tensor, as bytes without alignment.
type Element<const N: usize> = [u8; N];

/// Neighbouring elements of a row that are fill, or read elements at equal distances.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    length: usize,
    /// The offset of the first element that is read, and the distance to the next one, in elements.
    from: Option<(usize, isize)>,
}

/// Writes every element once. Each axis comes with what its coordinates read: an input coordinate or
/// [`FILL`]. Every element that is read or written must be inside its memory.
pub(super) fn write<const N: usize>(
    axes: &[(Axis, &[u32])],
    segments: &mut Vec<Segment>,
    (input, output): (&[u8], &mut [u8]),
    fill: [u8; 8],
) {
    let mut loops: SmallVec<[(Axis, &[u32]); 8]> = axes.into();
    loops.sort_by_key(|(axis, reads)| (reads.len() > 1, std::cmp::Reverse(axis.output_stride)));
    let stride = match loops.pop() {
        Some((axis, reads)) => {
            divide(reads, axis.input_stride as usize, segments);
            axis.output_stride as usize
        }
        None => return,
    };
    let mut low = [0; N];
    low.copy_from_slice(&fill[..N]);
    let (input, output) = (input.as_chunks().0, output.as_chunks_mut().0);
    Rows { loops: &loops, segments, stride, input, output, fill: low }.write(0, 0, Some(0));
}

/// Divides a row into segments.
fn divide(mut reads: &[u32], stride: usize, segments: &mut Vec<Segment>) {
    segments.clear();
    while let Some(&first) = reads.first() {
        let second = reads.get(1).filter(|&&read| read != FILL && first != FILL);
        let step = second.map_or(0, |&second| i64::from(second) - i64::from(first));
        let mut next = i64::from(first);
        let continues = |read: &&u32| {
            let continues = i64::from(**read) == next && (**read == FILL) == (first == FILL);
            next += step;
            continues
        };
        let length = reads.iter().take_while(continues).count();
        let start = (first as usize).wrapping_mul(stride);
        let from = (first != FILL).then(|| (start, (step as isize).wrapping_mul(stride as isize)));
        segments.push(Segment { length, from });
        reads = &reads[length..];
    }
}

struct Rows<'a, const N: usize> {
    loops: &'a [(Axis, &'a [u32])],
    segments: &'a [Segment],
    /// The distance between neighbouring elements of a row in the output, in elements.
    stride: usize,
    input: &'a [Element<N>],
    output: &'a mut [Element<N>],
    fill: Element<N>,
}

impl<const N: usize> Rows<'_, N> {
    /// Writes the loops from `depth` inwards, from the output offset `to` on. `from` is the input offset;
    /// `None` if an outer coordinate is fill, so that all is.
    fn write(&mut self, depth: usize, to: usize, from: Option<usize>) {
        let Some(&(axis, reads)) = self.loops.get(depth) else { return self.row(to, from) };
        for (round, &read) in reads.iter().enumerate() {
            let way = (read as usize).wrapping_mul(axis.input_stride as usize);
            let from = from.filter(|_| read != FILL).map(|from| from.wrapping_add(way));
            self.write(depth + 1, to + round * axis.output_stride as usize, from);
        }
    }

    #[inline]
    fn row(&mut self, mut to: usize, from: Option<usize>) {
        for &Segment { length, from: segment } in self.segments {
            let source = from.zip(segment).map(|(from, (start, step))| (from.wrapping_add(start), step));
            match (source, self.stride) {
                (None, 1) => self.output[to..to + length].fill(self.fill),
                (None, stride) => (0..length).for_each(|index| self.output[to + index * stride] = self.fill),
                (Some((start, 1)), 1) => {
                    self.output[to..to + length].copy_from_slice(&self.input[start..start + length]);
                }
                (Some((start, step)), stride) => {
                    for index in 0..length {
                        let read = start.wrapping_add_signed(step.wrapping_mul(index as isize));
                        self.output[to + index * stride] = self.input[read];
                    }
                }
            }
            to += length * self.stride;
        }
    }
}
