//! Moves the elements of one row or of many short rows. Bounds are checked once per row or block, and the
//! inner loops run over known lengths, so that the compiler can unroll them.

/// An element of a tensor, as bytes without alignment.
pub(super) type Element<const N: usize> = [u8; N];

/// Once this many bytes are repeated, further copies use only these bytes, which stay in the cache.
const REPEATED_BYTES: usize = 128 << 10;

/// Repeats the first `unit` elements over the rest of the output.
pub(super) fn repeat<T: Copy>(output: &mut [T], unit: usize) {
    let enough = (REPEATED_BYTES / size_of::<T>() / unit.max(1)).max(1) * unit;
    let mut filled = unit;
    while filled < output.len() && unit > 0 {
        let (source, rest) = output.split_at_mut(filled);
        let taken = filled.min(enough).min(rest.len());
        rest[..taken].copy_from_slice(&source[..taken]);
        filled += taken;
    }
}

/// The number of elements that are reversed at once, in registers.
const REVERSED_CHUNK: usize = 8;

/// The least length of a row that is worth a call of [`copy_reversed`].
pub(super) const FEW_REVERSED: usize = REVERSED_CHUNK / 2;

/// Copies `input` in reverse order.
#[inline]
pub(super) fn copy_reversed<T: Copy>(output: &mut [T], input: &[T]) {
    const CHUNK: usize = REVERSED_CHUNK;
    let (chunks, rest) = output.as_chunks_mut::<CHUNK>();
    let (first, backwards) = input.as_rchunks::<CHUNK>();
    for (output, input) in chunks.iter_mut().zip(backwards.iter().rev()) {
        for i in 0..CHUNK {
            output[i] = input[CHUNK - 1 - i];
        }
    }
    // Half a chunk more leaves fewer elements for the slow loop.
    let (halves, rest) = rest.as_chunks_mut::<FEW_REVERSED>();
    let (first, backwards) = first.as_rchunks::<FEW_REVERSED>();
    for (output, input) in halves.iter_mut().zip(backwards.iter().rev()) {
        for i in 0..FEW_REVERSED {
            output[i] = input[FEW_REVERSED - 1 - i];
        }
    }
    for (output, &input) in rest.iter_mut().zip(first.iter().rev()) {
        *output = input;
    }
}

/// Rows of equal length. The same part of each row is written, from the input or with one of its elements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strip {
    /// The number of rows.
    pub(super) rows: usize,
    /// The length of the part, in bytes.
    pub(super) bytes: usize,
    /// The distance between rows in the output, in bytes.
    pub(super) output_step: usize,
    /// The input offset of the first row, in bytes.
    pub(super) input_start: usize,
    /// The distance between rows in the input, in bytes.
    pub(super) input_step: isize,
}

impl Strip {
    /// Parts of up to this many bytes are written by two moves of a constant length, which may overlap. They
    /// are faster than a call of `memcpy`.
    pub(super) const SHORT: usize = 128;
    /// Parts of up to this many bytes are written by a few moves of 64 bytes, for the same reason.
    const FEW_MOVES: usize = 512;

    /// Copies the part of every row from the input.
    pub(super) fn copy(self, output: &mut [u8], input: &[u8]) {
        match self.bytes {
            1 => self.copy_by::<1>(output, input),
            2..=3 => self.copy_by::<2>(output, input),
            4..=7 => self.copy_by::<4>(output, input),
            8..=15 => self.copy_by::<8>(output, input),
            16..=31 => self.copy_by::<16>(output, input),
            32..=63 => self.copy_by::<32>(output, input),
            64..=Self::FEW_MOVES => self.copy_by::<64>(output, input),
            bytes => self.for_each(output, input, bytes, <[u8]>::copy_from_slice),
        }
    }

    /// Copies each row in moves of `HALF` bytes; the last move ends at the row's end and may overlap the one
    /// before.
    fn copy_by<const HALF: usize>(self, output: &mut [u8], input: &[u8]) {
        let last = self.bytes - HALF;
        if !self.lies_inside(output.len(), input.len()) {
            return;
        }
        // SAFETY: `lies_inside` has shown that every row's bytes are inside both slices, and a move ends with
        // the row's last byte or before it. Bounds checks per row are slower: single elements take 1.1 ns
        // instead of 0.26 ns each (64 MiB of 8-byte rows, reversed), and rows padded from 8 to 10 bytes take
        // 0.37 ns instead of 0.14 ns per byte.
        let move_bytes = |to: usize, from: usize, output: &mut [u8]| unsafe {
            let value = input.as_ptr().add(from).cast::<[u8; HALF]>().read();
            output.as_mut_ptr().add(to).cast::<[u8; HALF]>().write(value);
        };
        // One loop for each number of moves, because the compiler does not unroll a loop with a variable
        // count.
        if last == 0 {
            // Four rows per iteration, because the loop itself costs as much as a move.
            let (mut to, mut from) = (0, self.input_start);
            let step = |to: &mut usize, from: &mut usize| {
                *to = to.wrapping_add(self.output_step);
                *from = from.wrapping_add_signed(self.input_step);
            };
            for _ in 0..self.rows / 4 {
                for _ in 0..4 {
                    move_bytes(to, from, output);
                    step(&mut to, &mut from);
                }
            }
            for _ in 0..self.rows % 4 {
                move_bytes(to, from, output);
                step(&mut to, &mut from);
            }
        } else if last <= HALF {
            self.for_each_place(|to, from| {
                move_bytes(to, from, output);
                move_bytes(to + last, from + last, output);
            });
        } else {
            self.for_each_place(|to, from| {
                (0..last).step_by(HALF).for_each(|done| move_bytes(to + done, from + done, output));
                move_bytes(to + last, from + last, output);
            });
        }
    }

    /// Calls `then` with the output and input offsets of every row.
    #[inline]
    fn for_each_place(self, mut then: impl FnMut(usize, usize)) {
        let (mut to, mut from) = (0, self.input_start);
        for _ in 0..self.rows {
            then(to, from);
            to = to.wrapping_add(self.output_step);
            from = from.wrapping_add_signed(self.input_step);
        }
    }

    /// Whether all rows are inside both memories. It suffices to check the first and the last row.
    fn lies_inside(self, output: usize, input: usize) -> bool {
        let inside = || {
            let rounds = self.rows.checked_sub(1)?;
            let written = rounds.checked_mul(self.output_step)?.checked_add(self.bytes)?;
            let away = isize::try_from(rounds).ok()?.checked_mul(self.input_step)?;
            let last = self.input_start.checked_add_signed(away)?;
            let read = self.input_start.max(last).checked_add(self.bytes)?;
            Some(written <= output && read <= input)
        };
        let inside = inside().unwrap_or(false);
        debug_assert!(inside || self.rows == 0, "a plan has proven that its strips are inside: {self:?}");
        inside
    }

    /// Repeats one element of the input over the part of every row.
    pub(super) fn splat<const N: usize>(self, output: &mut [u8], input: &[u8]) {
        match self.bytes {
            ..=15 => self.splat_by::<N, 8>(output, input),
            16..=31 => self.splat_by::<N, 16>(output, input),
            32..=63 => self.splat_by::<N, 32>(output, input),
            64..=Self::SHORT => self.splat_by::<N, 64>(output, input),
            _ => self.for_each(output, input, N, |_, _| ()),
        }
    }

    fn splat_by<const N: usize, const HALF: usize>(self, output: &mut [u8], input: &[u8]) {
        self.for_each(output, input, N, |output, input| {
            let Some(element) = first::<N>(input) else { return };
            if self.bytes < HALF {
                output[..self.bytes].as_chunks_mut::<N>().0.fill(element);
                return;
            }
            let mut wide = [0; HALF];
            wide.as_chunks_mut::<N>().0.fill(element);
            write_first(output, Some(wide));
            write_last(&mut output[..self.bytes], Some(wide));
        });
    }

    #[inline]
    fn for_each(self, output: &mut [u8], input: &[u8], read: usize, copy: impl Fn(&mut [u8], &[u8])) {
        let mut at = self.input_start;
        for output in output.chunks_mut(self.output_step).take(self.rows) {
            copy(&mut output[..self.bytes], &input[at..at + read]);
            at = at.wrapping_add_signed(self.input_step);
        }
    }
}

#[inline]
fn first<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.first_chunk().copied()
}

#[inline]
fn write_first<const N: usize>(output: &mut [u8], value: Option<[u8; N]>) {
    if let (Some(output), Some(value)) = (output.first_chunk_mut(), value) {
        *output = value;
    }
}

#[inline]
fn write_last<const N: usize>(output: &mut [u8], value: Option<[u8; N]>) {
    if let (Some(output), Some(value)) = (output.last_chunk_mut(), value) {
        *output = value;
    }
}

/// A block that is transposed between input and output. Columns are `column_step` apart in the input, and
/// rows are neighbouring elements.
#[derive(Clone, Copy)]
pub(super) struct Transposed {
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// The distance between rows in the output, in elements.
    pub(super) output_step: usize,
    /// The input offset of the first element of the first row.
    pub(super) input_start: usize,
    /// The distance between rows in the input: 1 or -1.
    pub(super) row_step: isize,
    /// The distance between columns in the input.
    pub(super) column_step: isize,
}

impl Transposed {
    /// Copies the block in square tiles, so that every cache line is accessed once on either side.
    pub(super) fn copy<const N: usize>(self, output: &mut [Element<N>], input: &[Element<N>]) {
        if N == 1 { self.copy_by::<N, 32>(output, input) } else { self.copy_by::<N, 16>(output, input) }
    }

    fn copy_by<const N: usize, const TILE: usize>(self, output: &mut [Element<N>], input: &[Element<N>]) {
        let mut tile = [[[0; N]; TILE]; TILE];
        for row in (0..self.rows).step_by(TILE) {
            let rows = TILE.min(self.rows - row);
            for column in (0..self.columns).step_by(TILE) {
                let columns = TILE.min(self.columns - column);
                let corner = self
                    .input_start
                    .wrapping_add_signed(self.row_step * row as isize)
                    .wrapping_add_signed(self.column_step * column as isize);
                // If rows are reversed, the tile is read from its last row.
                let lowest = if self.row_step < 0 { corner + 1 - rows } else { corner };
                for (index, tile) in tile.iter_mut().enumerate().take(columns) {
                    let from = lowest.wrapping_add_signed(self.column_step * index as isize);
                    match (rows == TILE).then(|| input[from..].first_chunk::<TILE>()).flatten() {
                        Some(input) => *tile = *input,
                        None => tile[..rows].copy_from_slice(&input[from..from + rows]),
                    }
                }
                for index in 0..rows {
                    let from = if self.row_step < 0 { rows - 1 - index } else { index };
                    let to = (row + index) * self.output_step + column;
                    match (columns == TILE).then(|| output[to..].first_chunk_mut::<TILE>()).flatten() {
                        Some(output) => (0..TILE).for_each(|i| output[i] = tile[i][from]),
                        None => (0..columns).for_each(|i| output[to + i] = tile[i][from]),
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(count: usize) -> Vec<[u8; 2]> {
        (0..count).map(|number| (number as u16).to_le_bytes()).collect()
    }

    #[test]
    fn reversed_rows_of_every_length_start_at_the_end() {
        for length in 0..70 {
            let input = numbered(length);
            let mut output = vec![[0xAA; 2]; length];
            copy_reversed(&mut output, &input);
            assert!(output.iter().eq(input.iter().rev()), "length {length}");
        }
    }

    #[test]
    fn a_unit_repeats_to_the_end() {
        for (unit, length) in [(1, 1), (3, 3), (3, 100), (7, 300_000), (200_000, 450_000)] {
            let mut output = numbered(unit);
            output.resize(length, [0xAA; 2]);
            let expected: Vec<_> = numbered(unit).into_iter().cycle().take(length).collect();
            repeat(&mut output, unit);
            assert!(output == expected, "unit {unit}, length {length}");
        }
    }

    #[test]
    fn short_rows_of_every_length_arrive_and_touch_nothing_else() {
        let input: Vec<u8> = (0..1024).map(|place| (place * 7 / 3) as u8).collect();
        for bytes in (1..=140).chain([255, 256, 257, 511, 512, 513]) {
            for input_step in [-3, 0, 5] {
                let rows = Strip { rows: 4, bytes, output_step: bytes + 2, input_start: 100, input_step };
                let mut output = vec![0xEE; 4 * (bytes + 2) - 2];
                rows.copy(&mut output, &input);
                for (row, output) in output.chunks(bytes + 2).enumerate() {
                    let start = 100_usize.wrapping_add_signed(row as isize * input_step);
                    assert_eq!(output[..bytes], input[start..start + bytes]);
                    assert!(output[bytes..].iter().all(|&byte| byte == 0xEE));
                }
            }
        }
    }

    #[test]
    fn tiles_transpose_blocks_of_every_size() {
        let input = numbered(100 * 100);
        for (rows, columns) in [(1, 1), (16, 16), (17, 33), (50, 15), (64, 100)] {
            for (row_step, column_step, input_start) in [(1, 100, 0), (-1, 100, 99), (1, -100, 9900)] {
                let block = Transposed {
                    rows,
                    columns,
                    output_step: columns + 3,
                    input_start,
                    row_step,
                    column_step,
                };
                let mut output = vec![[0xEE; 2]; rows * (columns + 3)];
                block.copy(&mut output, &input);
                for (place, &found) in output.iter().enumerate() {
                    let (row, column) = (place / (columns + 3), place % (columns + 3));
                    let from = input_start
                        .wrapping_add_signed(row_step * row as isize)
                        .wrapping_add_signed(column_step * column as isize);
                    let expected = if column < columns { input[from] } else { [0xEE; 2] };
                    assert_eq!(found, expected);
                }
            }
        }
    }
}
