//! Evaluates a read at the coordinates of the axes, eight at a time.
//!
//! A long axis is evaluated at few coordinates: between two of them, most reads are a line
//! ([`Evaluation::on_line`]), and many repeat after a period ([`Evaluation::period`]).

use std::{ops::Range, sync::Arc};

use dmlcts_model::Signature;

use super::{OracleError, layout::Axis};
use crate::{
    expression::Term,
    program::{Builder, Evaluation, Inputs, MAXIMUM_AXES, Mask, OpId, Points, Program, Read, Values},
};

/// What a coordinate reads if it is fill. It differs from every input coordinate, since a size is a `u32`.
pub(super) const FILL: u32 = u32::MAX;

/// A range of fewer coordinates is evaluated point by point.
const SHORT: u64 = 64;

/// Where a line may end, counted from its first coordinate.
const ENDS: [u64; MAXIMUM_AXES] = [0, 7, 31, 127, 511, 2047, 8191, 32767];

/// The program of one read.
#[derive(Debug)]
pub(super) struct CompiledRead {
    program: Program,
    result: Read,
    /// The condition for the axes on which the read applies; `None` if it applies to all.
    when: Option<OpId>,
}

impl CompiledRead {
    /// Compiles a read, and the condition for the axes on which it applies.
    pub(super) fn new(signature: &Arc<Signature>, read: &Term, when: Option<&Term>) -> Self {
        let mut builder = Builder::new(Arc::clone(signature));
        let when = when.map(|when| builder.add(when));
        let result = builder.add_read(read);
        Self { program: builder.finish(), result, when }
    }

    /// A bit for each axis on which the read applies.
    pub(super) fn applies(&self, inputs: Inputs<'_>, values: &mut Values) -> u8 {
        let Some(when) = self.when else { return u8::MAX };
        let evaluation = self.program.evaluate(inputs, values);
        match evaluation.mask(when).truth {
            0 => 0,
            _ if evaluation.lanes(when) == Some(1) => u8::MAX,
            truth => truth,
        }
    }

    /// Adds to the list what these output coordinates of the axes read: an input coordinate or [`FILL`].
    pub(super) fn list(
        &self,
        inputs: Inputs<'_>,
        values: &mut Values,
        axes: &[Axis],
        coordinates: impl Iterator<Item = (usize, Range<u64>)>,
        list: &mut Vec<u32>,
    ) -> Result<(), OracleError> {
        let evaluation = self.program.evaluate(inputs, values);
        let mut listing = Listing { read: self, evaluation, axes, points: Points::default(), count: 0, list };
        for (axis, range) in coordinates {
            if range.end - range.start < SHORT {
                range.into_iter().try_for_each(|coordinate| listing.push(axis, coordinate))?;
            } else {
                listing.finish()?;
                listing.long(axis, range)?;
            }
        }
        listing.finish()
    }

    /// What the points read that were evaluated last.
    fn reads<'a>(&self, evaluation: &'a Evaluation<'_>, points: &'a Points, axes: &'a [Axis]) -> Reads<'a> {
        let Read { coordinate: read, fill } = self.result;
        let fill =
            fill.map_or(Mask { truth: 0, defined: u8::MAX }, |fill| self.mask(fill, evaluation, points));
        let defined = fill.defined & (fill.truth | self.mask(read, evaluation, points).defined);
        let row = evaluation.row(read).filter(|_| self.program.op(read).uses_coordinate);
        let row = row.copied().unwrap_or_else(|| {
            std::array::from_fn(|point| {
                let value =
                    evaluation.integer(read, self.lane(read, evaluation, points, point)).unwrap_or(-1);
                i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX })
            })
        });
        Reads { defined, fill: fill.truth, row, points, axes }
    }

    /// The lane of an operation for a point: a point has one only if the operation depends on `c`.
    fn lane(&self, id: OpId, evaluation: &Evaluation<'_>, points: &Points, point: usize) -> usize {
        match evaluation.lanes(id) {
            _ if self.program.op(id).uses_coordinate => point,
            Some(1) => 0,
            _ => usize::from(points.axes[point]),
        }
    }

    /// Where an operation is defined and true, with a bit for each point.
    fn mask(&self, id: OpId, evaluation: &Evaluation<'_>, points: &Points) -> Mask {
        let mask = evaluation.mask(id);
        if self.program.op(id).uses_coordinate {
            return mask;
        }
        let mut of_points = Mask::default();
        for point in 0..MAXIMUM_AXES {
            let lane = self.lane(id, evaluation, points, point);
            of_points.truth |= (mask.truth >> lane & 1) << point;
            of_points.defined |= (mask.defined >> lane & 1) << point;
        }
        of_points
    }
}

/// Lists what coordinates read, in the order in which they come.
struct Listing<'a> {
    read: &'a CompiledRead,
    evaluation: Evaluation<'a>,
    axes: &'a [Axis],
    /// The points that are not listed yet, and their number.
    points: Points,
    count: usize,
    list: &'a mut Vec<u32>,
}

impl Listing<'_> {
    #[inline]
    fn push(&mut self, axis: usize, coordinate: u64) -> Result<(), OracleError> {
        self.points.axes[self.count] = axis as u8;
        self.points.coordinates[self.count] = coordinate as i64;
        self.count += 1;
        if self.count == MAXIMUM_AXES { self.finish() } else { Ok(()) }
    }

    /// Lists the points that are not listed yet.
    fn finish(&mut self) -> Result<(), OracleError> {
        let Some(last) = self.count.checked_sub(1) else { return Ok(()) };
        // The lanes that are left over repeat the last point.
        let (axis, coordinate) = (self.points.axes[last], self.points.coordinates[last]);
        self.points.axes[self.count..].fill(axis);
        self.points.coordinates[self.count..].fill(coordinate);
        self.evaluation.at_points(&self.points);
        let reads = self.read.reads(&self.evaluation, &self.points, self.axes);
        for point in 0..self.count {
            self.list.push(reads.of(point)?);
        }
        self.count = 0;
        Ok(())
    }

    /// Lists a long range: its first period, which then repeats.
    fn long(&mut self, axis: usize, range: Range<u64>) -> Result<(), OracleError> {
        let Read { coordinate, fill } = self.read.result;
        let length = range.end - range.start;
        let period = self.evaluation.period([coordinate].into_iter().chain(fill), axis);
        let period = period.unwrap_or(length).min(length);
        let (first, end) = (self.list.len(), range.start + period);
        let mut next = range.start;
        while next < end {
            if end - next >= SHORT {
                next += self.line(axis, next..end);
            }
            let eight = next..end.min(next + MAXIMUM_AXES as u64);
            next = eight.end;
            eight.into_iter().try_for_each(|coordinate| self.push(axis, coordinate))?;
            self.finish()?;
        }
        while self.list.len() - first < length as usize {
            let listed = self.list.len() - first;
            self.list.extend_from_within(first..first + listed.min(length as usize - listed));
        }
        Ok(())
    }

    /// Lists the first coordinates of a range if they read a line of the input or are all fill, and returns
    /// their number. It is 0 if the line is short, or if what it reads is undefined or outside the input.
    fn line(&mut self, axis: usize, range: Range<u64>) -> u64 {
        let points = Points {
            axes: [axis as u8; MAXIMUM_AXES],
            coordinates: ENDS.map(|end| (range.start + end).min(range.end - 1) as i64),
        };
        self.evaluation.at_points(&points);
        let last = self.evaluation.on_line().trailing_ones().saturating_sub(1) as usize;
        let reads = self.read.reads(&self.evaluation, &points, self.axes);
        let (Ok(first), Ok(end)) = (reads.of(0), reads.of(last)) else { return 0 };
        let length = points.coordinates[last] - points.coordinates[0];
        if length == 0 {
            return 0;
        }
        let step = (i64::from(end) - i64::from(first)) / length;
        self.list.extend((0..=length).map(|way| (i64::from(first) + step * way) as u32));
        length as u64 + 1
    }
}

/// What eight points read.
struct Reads<'a> {
    /// Where the read is defined and where it is fill, with a bit for each point.
    defined: u8,
    fill: u8,
    row: [i64; MAXIMUM_AXES],
    points: &'a Points,
    axes: &'a [Axis],
}

impl Reads<'_> {
    /// The input coordinate that a point reads, or [`FILL`].
    #[inline]
    fn of(&self, point: usize) -> Result<u32, OracleError> {
        let (axis, read) = (usize::from(self.points.axes[point]), self.row[point]);
        let coordinate = self.points.coordinates[point] as u64;
        let size = self.axes[axis].input_size;
        match (self.defined >> point & 1, self.fill >> point & 1) {
            (0, _) => Err(OracleError::Undefined { axis, coordinate }),
            (_, 1) => Ok(FILL),
            // As an unsigned number, a negative coordinate is greater than every size.
            _ if read as u64 >= size => Err(OracleError::OutsideInput { axis, coordinate, read, size }),
            _ => Ok(read as u32),
        }
    }
}
