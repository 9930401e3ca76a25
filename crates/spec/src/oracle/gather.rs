//! The loops of an execution. They write every output element once, from the input or with the fill, in the
//! order of the output's memory. Repeated parts are written once and then copied from the output.

use smallvec::{SmallVec, smallvec};

use super::{
    level::{Level, LevelMap, Levels, period},
    map::Line,
    rows::{Element, FEW_REVERSED, Strip, Transposed, copy_reversed, repeat},
};

/// The offset of an element that reads nothing. It exceeds the length of any memory, even when an offset is
/// added to it.
pub(super) const NOTHING: usize = 1 << 60;

/// The largest innermost block, in elements, that is executed by pieces.
const PIECED: usize = 64;

/// With more pieces than this, most of them single elements, reversed or strided rows are faster.
const MANY_PIECES: usize = 16;

/// Pieces are executed strip by strip, in blocks of rows of about this size, so that a block stays in the
/// cache.
const BLOCK_BYTES: usize = 16 << 10;

/// A part of an innermost block that reads one contiguous part of the input, or nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// The offset in the block, in elements.
    to: usize,
    /// The offset of its read, in elements relative to the block's read; [`NOTHING`] for fill.
    from: usize,
    /// The number of elements.
    length: usize,
}

/// The innermost loops as one list of pieces, if they are small.
#[derive(Debug)]
pub(super) struct Pieces {
    /// The list replaces the loops from this index inwards; `usize::MAX` if there is no list.
    depth: usize,
    /// The pieces of one block.
    pieces: Vec<Piece>,
}

impl Pieces {
    /// Chooses between pieces and loops.
    pub(super) fn choose(levels: &Levels) -> Self {
        let loops = &levels.loops;
        let mut found = Self { depth: usize::MAX, pieces: Vec::new() };
        let Some(innermost) = loops.last() else { return found };
        if !innermost.dense || innermost.size > PIECED || levels.base.is_none() || is_one_piece(innermost) {
            return found;
        }
        let mut offsets: SmallVec<[usize; PIECED]> = smallvec![0];
        found.depth = loops.len();
        while let Some(level) = found.depth.checked_sub(1).map(|place| &loops[place]) {
            if !level.dense || level.size * offsets.len() > PIECED {
                break;
            }
            let inner = std::mem::take(&mut offsets);
            level.map.for_each(level.size, |read| {
                let base = read.unwrap_or(NOTHING);
                offsets.extend(inner.iter().map(|&offset| (base + offset).min(NOTHING)));
            });
            found.depth -= 1;
        }
        for (to, &from) in offsets.iter().enumerate() {
            match found.pieces.last_mut() {
                Some(last) if follows(*last, from) => last.length += 1,
                _ => found.pieces.push(Piece { to, from, length: 1 }),
            }
        }
        // Long rows that are strided or reversed are faster as loops.
        let few_runs = matches!(&innermost.map, LevelMap::Runs(runs) if runs.len() <= 3);
        if found.pieces.len() > MANY_PIECES && few_runs && innermost.size > MANY_PIECES {
            found.depth = usize::MAX;
        }
        found
    }
}

fn follows(piece: Piece, from: usize) -> bool {
    if piece.from == NOTHING { from == NOTHING } else { from == piece.from + piece.length }
}

/// Whether the level reads one contiguous part, one element, or a reversed part that is long enough for a
/// loop.
fn is_one_piece(level: &Level) -> bool {
    let run = level.map.single(level.size);
    run.is_some_and(|run| {
        run.line
            .is_none_or(|line| matches!(line.step, 0 | 1) || line.step == -1 && level.size >= FEW_REVERSED)
    })
}

/// One execution.
pub(super) struct Gather<'a, const N: usize> {
    pub(super) loops: &'a [Level],
    pub(super) pieces: &'a Pieces,
    pub(super) input: &'a [Element<N>],
    pub(super) fill: Element<N>,
}

impl<const N: usize> Gather<'_, N> {
    /// Writes the output of the loops from `depth` inwards. `base` is the input offset of their first
    /// element. The slice starts at their first output element, and ends at their last one or later.
    pub(super) fn run(&self, depth: usize, output: &mut [Element<N>], base: usize) {
        if depth == self.pieces.depth {
            return self.pieced(1, base, 0, output.len(), output);
        }
        let Some(level) = self.loops.get(depth) else {
            output[0] = self.input[base];
            return;
        };
        match &level.map {
            LevelMap::Table(table, stride) => {
                for (index, &read) in table.iter().enumerate() {
                    let output = &mut output[index * level.output_stride..];
                    if read == super::map::FILL {
                        self.fill(depth + 1, output);
                    } else {
                        self.run(depth + 1, output, base + read as usize * stride);
                    }
                }
            }
            LevelMap::Runs(runs) => {
                let period = period(level);
                let mut done = 0;
                while done < level.size {
                    for run in runs {
                        let length = (run.length as usize).min(level.size - done);
                        if length == 0 {
                            break;
                        }
                        let from = done * level.output_stride;
                        // Without holes the end is exact, and the elements after it belong to other rounds.
                        let to =
                            if level.dense { (done + length) * level.output_stride } else { output.len() };
                        let output = &mut output[from..to];
                        match run.line {
                            None => self.fill_rounds(depth, length, output),
                            Some(line) => self.line(depth, length, line, output, base),
                        }
                        done += length;
                    }
                    if level.dense && done < level.size {
                        let end = level.size * level.output_stride;
                        repeat(&mut output[..end], period * level.output_stride);
                        return;
                    }
                }
            }
        }
    }

    /// Executes `length` rounds of a level whose reads are on one line.
    fn line(&self, depth: usize, length: usize, line: Line, output: &mut [Element<N>], base: usize) {
        let level = &self.loops[depth];
        let start = base.wrapping_add(line.start as usize);
        let step = line.step as isize;
        let innermost = depth + 1 == self.loops.len();
        if innermost && level.output_stride == 1 {
            return self.row(length, start, step, &mut output[..length]);
        }
        if innermost {
            let strip = Self::strip(length, 1, level.output_stride, start, step);
            return strip.copy(output.as_flattened_mut(), self.input.as_flattened());
        }
        if step == 0 && length > 1 && level.dense {
            self.run(depth + 1, &mut output[..level.output_stride], start);
            return repeat(output, level.output_stride);
        }
        if depth + 1 == self.pieces.depth {
            return self.pieced(length, start, step, level.output_stride, output);
        }
        if depth + 2 == self.loops.len() && length > 1 {
            if self.one_piece_rows(length, start, step, level, output) {
                return;
            }
            if step.unsigned_abs() == 1 && self.tiles(length, start, step, level, output) {
                return;
            }
        }
        let mut from = start;
        for round in 0..length {
            self.run(depth + 1, &mut output[round * level.output_stride..], from);
            from = from.wrapping_add_signed(step);
        }
    }

    /// Executes a row of the innermost loop without holes.
    fn row(&self, length: usize, start: usize, step: isize, output: &mut [Element<N>]) {
        let reach = (length - 1) * step.unsigned_abs();
        match step {
            0 => output.fill(self.input[start]),
            1 => output.copy_from_slice(&self.input[start..start + length]),
            -1 => copy_reversed(output, &self.input[start - reach..=start]),
            _ => {
                let strip = Self::strip(length, 1, 1, start, step);
                strip.copy(output.as_flattened_mut(), self.input.as_flattened());
            }
        }
    }

    /// Executes rounds whose inner loop reads one contiguous part of the input, forwards or backwards, or
    /// repeats one element. Returns false if the inner loop is of another kind.
    fn one_piece_rows(
        &self,
        rows: usize,
        start: usize,
        step: isize,
        level: &Level,
        output: &mut [Element<N>],
    ) -> bool {
        let Some(inner) = self.loops.last().filter(|inner| inner.output_stride == 1) else { return false };
        let Some(line) = inner.map.single(inner.size).and_then(|run| run.line) else { return false };
        let start = start.wrapping_add(line.start as usize);
        let strip = Self::strip(rows, inner.size, level.output_stride, start, step);
        match line.step {
            1 => strip.copy(output.as_flattened_mut(), self.input.as_flattened()),
            0 if strip.bytes <= Strip::SHORT => {
                strip.splat::<N>(output.as_flattened_mut(), self.input.as_flattened());
            }
            -1 => {
                let mut last = start;
                for output in output.chunks_mut(level.output_stride).take(rows) {
                    let input = &self.input[last + 1 - inner.size..=last];
                    copy_reversed(&mut output[..inner.size], input);
                    last = last.wrapping_add_signed(step);
                }
            }
            _ => return false,
        }
        true
    }

    /// A strip of elements, converted to bytes.
    fn strip(rows: usize, elements: usize, output_step: usize, start: usize, step: isize) -> Strip {
        Strip {
            rows,
            bytes: elements * N,
            output_step: output_step * N,
            input_start: start * N,
            input_step: step * N as isize,
        }
    }

    /// Executes rounds that are contiguous in the input while the rows inside are strided, in tiles. Returns
    /// false if no row is long enough for a tile.
    fn tiles(
        &self,
        rows: usize,
        start: usize,
        step: isize,
        level: &Level,
        output: &mut [Element<N>],
    ) -> bool {
        let Some(inner) = self.loops.last().filter(|inner| inner.output_stride == 1) else { return false };
        let LevelMap::Runs(runs) = &inner.map else { return false };
        if !runs
            .iter()
            .any(|run| run.length >= 8 && run.line.is_some_and(|line| line.step.unsigned_abs() > 1))
        {
            return false;
        }
        let mut done = 0;
        while done < inner.size {
            for run in runs {
                let length = (run.length as usize).min(inner.size - done);
                if length == 0 {
                    break;
                }
                let column = &mut output[done..];
                match run.line {
                    Some(line) => Transposed {
                        rows,
                        columns: length,
                        output_step: level.output_stride,
                        input_start: start.wrapping_add(line.start as usize),
                        row_step: step,
                        column_step: line.step as isize,
                    }
                    .copy(column, self.input),
                    None => {
                        for row in column.chunks_mut(level.output_stride).take(rows) {
                            row[..length].fill(self.fill);
                        }
                    }
                }
                done += length;
            }
        }
        true
    }

    /// Executes rounds by pieces. It takes a block of rows at a time, and writes one piece in all rows before
    /// the next piece. Each piece is then a loop of moves of constant length, even for short rows.
    fn pieced(&self, rows: usize, start: usize, step: isize, output_step: usize, output: &mut [Element<N>]) {
        let row_bytes = output_step.max(step.unsigned_abs()).max(1) * N;
        let block = (BLOCK_BYTES / row_bytes).max(8);
        let fill = [self.fill; PIECED];
        let mut done = 0;
        while done < rows {
            let rows = block.min(rows - done);
            let start = start.wrapping_add_signed(step * done as isize);
            let output = &mut output[done * output_step..];
            for piece in &self.pieces.pieces {
                let output = output[piece.to..].as_flattened_mut();
                if piece.from == NOTHING {
                    let strip = Self::strip(rows, piece.length, output_step, 0, 0);
                    strip.copy(output, fill.as_flattened());
                } else {
                    let strip = Self::strip(rows, piece.length, output_step, start + piece.from, step);
                    strip.copy(output, self.input.as_flattened());
                }
            }
            done += rows;
        }
    }

    /// Fills `length` rounds of a level.
    fn fill_rounds(&self, depth: usize, length: usize, output: &mut [Element<N>]) {
        let level = &self.loops[depth];
        if level.dense {
            return output[..length * level.output_stride].fill(self.fill);
        }
        for round in 0..length {
            self.fill(depth + 1, &mut output[round * level.output_stride..]);
        }
    }

    /// Fills the output of the loops from `depth` inwards.
    fn fill(&self, depth: usize, output: &mut [Element<N>]) {
        match self.loops.get(depth) {
            Some(level) => self.fill_rounds(depth, level.size, output),
            None => output[0] = self.fill,
        }
    }

    /// Fills the whole output.
    pub(super) fn fill_all(&self, output: &mut [Element<N>]) {
        self.fill(0, output);
    }
}
