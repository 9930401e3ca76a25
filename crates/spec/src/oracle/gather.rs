//! The loops themselves: every element of the output is written once, from the input or with the fill, in
//! the order of the output's memory. What repeats is written once and copied from the output after that.

use smallvec::{SmallVec, smallvec};

use super::{
    level::{Level, LevelMap, Levels, period},
    map::Line,
    rows::{Element, FEW_REVERSED, Strip, Transposed, copy_reversed, repeat},
};

/// Says "nothing is read" among offsets. It exceeds every length of memory, and so does its sum with one.
pub(super) const NOTHING: usize = 1 << 60;

/// Innermost blocks of up to this many elements may be gone through by pieces.
const PIECED: usize = 64;

/// More pieces than this, of a single element most of them, cost more than rows that are reversed or strided.
const MANY_PIECES: usize = 16;

/// Rows are gone through strip by strip in blocks of about this many bytes, which the cache keeps.
const BLOCK_BYTES: usize = 16 << 10;

/// A stretch of an innermost block that reads one stretch of the input, or nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// Where it starts in the block, in elements.
    to: usize,
    /// What it reads, in elements from where the block reads; [`NOTHING`] for fill.
    from: usize,
    /// How many elements.
    length: usize,
}

/// The innermost loops as one list of pieces, where they are small.
#[derive(Debug)]
pub(super) struct Pieces {
    /// The loops from this one inwards are the list; `usize::MAX` where none are.
    depth: usize,
    /// The list.
    pieces: Vec<Piece>,
}

impl Pieces {
    /// Chooses how to go through these loops.
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
        // Long rows that jump or go backwards are gone through faster one by one.
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

/// Whether all of it reads one stretch, one element, or one stretch backwards that is worth a loop.
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
    /// Writes the output of the loops from `depth` inwards; `base` is what their first element reads. The
    /// output starts with its first element, and ends with its last one or later.
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
                        // Without holes the end is exact, and what follows is not to be seen.
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

    /// `length` rounds of a level that read on one line.
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

    /// A row of the innermost loop, without holes.
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

    /// Rounds whose whole inside is one stretch of the input, forwards or backwards, or one element of it; false
    /// where it is not.
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

    /// A strip of elements, in bytes.
    fn strip(rows: usize, elements: usize, output_step: usize, start: usize, step: isize) -> Strip {
        Strip {
            rows,
            bytes: elements * N,
            output_step: output_step * N,
            input_start: start * N,
            input_step: step * N as isize,
        }
    }

    /// Rounds that go along the input's memory while the rows inside jump through it; false where no row is
    /// long enough to be worth a tile.
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

    /// Rounds over the pieces: a block of rows at a time, one piece after the other in all of its rows. So
    /// each piece is a loop of moves of constant length, however short the rows are.
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

    /// `length` rounds of nothing but fill.
    fn fill_rounds(&self, depth: usize, length: usize, output: &mut [Element<N>]) {
        let level = &self.loops[depth];
        if level.dense {
            return output[..length * level.output_stride].fill(self.fill);
        }
        for round in 0..length {
            self.fill(depth + 1, &mut output[round * level.output_stride..]);
        }
    }

    /// The loops from `depth` inwards, filled.
    fn fill(&self, depth: usize, output: &mut [Element<N>]) {
        match self.loops.get(depth) {
            Some(level) => self.fill_rounds(depth, level.size, output),
            None => output[0] = self.fill,
        }
    }

    /// The whole output, where nothing is read.
    pub(super) fn fill_all(&self, output: &mut [Element<N>]) {
        self.fill(0, output);
    }
}
