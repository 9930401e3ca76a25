//! Which bytes an operator moves where: neighbours that stay neighbours go together.

use dmlcts_directml::raw::{
    DML_PADDING_MODE_CONSTANT, DML_PADDING_MODE_EDGE, DML_PADDING_MODE_REFLECTION, DML_PADDING_MODE_SYMMETRIC,
};

use crate::operator::{Axis, Operator};

/// An operator that takes more moves than this is too large to compile: each becomes a command of its own in
/// a list. Every element of a tensor may be one, so that the numbers just above 2^16 that clients are tried
/// with are well below.
pub const MOST_MOVES: usize = 1 << 20;

/// Some bytes that become part of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// Where they come from.
    pub source: Source,
    /// Where they go, in bytes from the output's start.
    pub to: u64,
    /// How many.
    pub length: u64,
}

/// Where bytes come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// So many bytes behind the input's start.
    Input(u64),
    /// PADDING1's value, over and over.
    Value,
}

impl Axis {
    /// The input's coordinate, or `None` for the value.
    pub fn reads(&self, c: u32) -> Option<u64> {
        let c = i64::from(c);
        let read = match *self {
            // Inside, as was checked when the operator was made; with one element, the step is never taken.
            Self::Steps { start, step } => start + step * c,
            Self::Padding { mode, before, size } => {
                let at = c - before;
                match mode {
                    DML_PADDING_MODE_CONSTANT if at < 0 || at >= size => return None,
                    DML_PADDING_MODE_CONSTANT => at,
                    DML_PADDING_MODE_EDGE => at.clamp(0, size - 1),
                    // To the last element and back to the first, which is not repeated; a single one has no
                    // other.
                    DML_PADDING_MODE_REFLECTION if size == 1 => 0,
                    DML_PADDING_MODE_REFLECTION => {
                        let folded = at.rem_euclid(2 * size - 2);
                        if folded < size { folded } else { 2 * size - 2 - folded }
                    }
                    DML_PADDING_MODE_SYMMETRIC => {
                        let folded = at.rem_euclid(2 * size);
                        if folded < size { folded } else { 2 * size - 1 - folded }
                    }
                    _ => at.rem_euclid(size),
                }
            }
        };
        Some(read as u64)
    }
}

impl Operator {
    /// Whether it takes more moves than [`MOST_MOVES`].
    pub fn is_too_large(&self) -> bool {
        let elements =
            self.output.sizes.iter().fold(1, |all: u64, size| all.saturating_mul(u64::from(*size)));
        // No element takes more than one, and whoever has few need not be asked.
        elements > MOST_MOVES as u64 && self.moves(MOST_MOVES).is_none()
    }

    /// Every move, in the output's order; `None` where there are more than `most`.
    pub fn moves(&self, most: usize) -> Option<Vec<Move>> {
        let rank = self.axes.len();
        let element = self.output.element;
        let mut moves: Vec<Move> = Vec::new();
        let mut at = vec![0_u32; rank];
        loop {
            let mut from = Some(0);
            let mut to = 0;
            for (axis, c) in at.iter().enumerate() {
                to += u64::from(*c) * self.output.strides[axis] * element;
                let step = self.input.strides[axis] * element;
                from = from.zip(self.axes[axis].reads(*c)).map(|(from, read)| from + read * step);
            }
            let source = from.map_or(Source::Value, Source::Input);
            match moves.last_mut() {
                Some(last) if last.to + last.length == to && last.goes_on_with(source) => {
                    last.length += element;
                }
                _ => moves.push(Move { source, to, length: element }),
            }
            if moves.len() > most {
                return None;
            }
            // The next coordinates, the last axis first.
            let Some(axis) = (0..rank).rev().find(|axis| at[*axis] + 1 < self.output.sizes[*axis]) else {
                return Some(moves);
            };
            at[axis] += 1;
            at[axis + 1..].fill(0);
        }
    }
}

impl Move {
    /// Whether what comes next lies behind what this takes.
    fn goes_on_with(&self, next: Source) -> bool {
        match (self.source, next) {
            (Source::Input(from), Source::Input(next)) => from + self.length == next,
            (Source::Value, Source::Value) => true,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use dmlcts_directml::raw::{DML_PADDING_MODE, DML_PADDING_MODE_WRAP, DML_TENSOR_DATA_TYPE_UINT16};

    use super::*;
    use crate::tensor::Tensor;

    fn line(mode: DML_PADDING_MODE) -> Vec<Option<u64>> {
        let axis = Axis::Padding { mode, before: 5, size: 3 };
        (0..13).map(|c| axis.reads(c)).collect()
    }

    fn some(read: [u64; 13]) -> Vec<Option<u64>> {
        read.map(Some).to_vec()
    }

    /// Three elements, with five before them and five behind: each mode folds more than once.
    #[test]
    fn elements_outside_follow_the_mode() {
        let (none, inside) = (vec![None; 5], [Some(0), Some(1), Some(2)]);
        assert_eq!(line(DML_PADDING_MODE_CONSTANT), [&none[..], &inside, &none].concat());
        assert_eq!(line(DML_PADDING_MODE_EDGE), some([0, 0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2, 2]));
        assert_eq!(line(DML_PADDING_MODE_REFLECTION), some([1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1]));
        assert_eq!(line(DML_PADDING_MODE_SYMMETRIC), some([1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1]));
        assert_eq!(line(DML_PADDING_MODE_WRAP), some([1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1]));
        let single = Axis::Padding { mode: DML_PADDING_MODE_REFLECTION, before: 2, size: 1 };
        assert_eq!([0, 1, 2, 3].map(|c| single.reads(c)), [Some(0); 4]);
    }

    fn tensor(sizes: [u32; 2], strides: [u64; 2]) -> Tensor {
        Tensor {
            data_type: DML_TENSOR_DATA_TYPE_UINT16,
            element: 2,
            owned: false,
            sizes: sizes.to_vec(),
            strides: strides.to_vec(),
            total_size: 1000,
            alignment: 0,
        }
    }

    fn operator(output: Tensor, axes: [Axis; 2]) -> Operator {
        let input = tensor([3, 4], [4, 1]);
        Operator { input, output, axes: axes.to_vec(), value: vec![7, 0], temporary: false }
    }

    #[test]
    fn neighbours_go_together_and_holes_are_left_out() {
        let axes = [Axis::Steps { start: 2, step: -1 }, Axis::Steps { start: 1, step: 1 }];
        let reversed = operator(tensor([2, 3], [10, 1]), axes);
        let row = |from, to| Move { source: Source::Input(from), to, length: 6 };
        assert_eq!(reversed.moves(2), Some(vec![row(18, 0), row(10, 20)]));
        assert_eq!(reversed.moves(1), None);
    }

    #[test]
    fn too_many_moves_are_too_large() {
        let line = |columns, step| {
            let tensor = Tensor { sizes: vec![1, columns], ..tensor([1, 1], [1, 1]) };
            let axes = [Axis::Steps { start: 0, step: 1 }, Axis::Steps { start: 0, step }];
            Operator {
                input: tensor.clone(),
                output: tensor,
                axes: axes.to_vec(),
                value: Vec::new(),
                temporary: false,
            }
        };
        let most = 1 << 20;
        assert!(!line(most, 2).is_too_large());
        assert!(line(most + 1, 2).is_too_large());
        assert!(!line(most + 1, 1).is_too_large(), "neighbours go together");
    }

    #[test]
    fn the_value_goes_where_an_axis_is_outside() {
        let pad = |before, size| Axis::Padding { mode: DML_PADDING_MODE_CONSTANT, before, size };
        let padded = operator(tensor([4, 5], [5, 1]), [pad(1, 3), pad(1, 4)]);
        let value = |to, length| Move { source: Source::Value, to, length };
        let row = |from, to| Move { source: Source::Input(from), to, length: 8 };
        let moves = [value(0, 12), row(0, 12), value(20, 2), row(8, 22), value(30, 2), row(16, 32)];
        assert_eq!(padded.moves(100), Some(moves.to_vec()));
    }
}
