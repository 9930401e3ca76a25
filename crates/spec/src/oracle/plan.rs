//! A plan: what one desc's output elements read, worked out once and executed on any number of inputs.

use dmlcts_model::{Desc, FeatureLevel, List, Side, Tensor, packed_strides};
use smallvec::SmallVec;

use super::{
    Memory, Oracle, OracleError,
    level::Axis,
    map::{AxisMap, FILL, Line, Run, Runs, push_run},
    movement::{AxisReach, Movement, Reach},
    read::{CompiledRead, ReadValues, Stretch},
    small,
};
use crate::program::{Evaluation, Inputs, MAXIMUM_AXES};

/// An axis map of more runs becomes a table.
const MOST_RUNS: usize = 64;

/// A table of up to this many coordinates is made with the plan; a longer one when there is an output, which
/// is longer still.
const EARLY_TABLE: u64 = 1 << 16;

/// How a valid desc is executed. Planning costs no memory to speak of, whatever the sizes; executing needs none
/// beyond the output for reads that are piecewise linear, and for others four bytes a coordinate of the axis.
#[derive(Debug)]
pub struct Plan<'a> {
    oracle: &'a Oracle,
    inputs: Inputs<'a>,
    reading: usize,
    memory: &'a mut Memory,
    axes: SmallVec<[PlannedAxis; MAXIMUM_AXES]>,
    pub(super) body: Body,
    element_size: usize,
    pub(super) fill: [u8; 8],
}

#[derive(Debug)]
struct PlannedAxis {
    size: u64,
    input_size: u64,
    output_stride: u64,
    input_stride: u64,
    map: PlannedMap,
}

#[derive(Debug)]
enum PlannedMap {
    Ready(AxisMap),
    /// Too many runs for a map, and too long for a table that is made early.
    Late,
}

#[derive(Debug)]
pub(super) enum Body {
    /// The list is in the memory.
    Small(Reach),
    Loops(Movement),
    /// Not until the tables are made.
    Late,
}

impl Oracle {
    /// Plans a desc of the operator, which was judged valid or open. Reading 0 is the semantics, `n` the `n`-th
    /// alternative reading.
    pub(crate) fn plan<'a>(
        &'a self,
        desc: &'a Desc,
        level: FeatureLevel,
        reading: usize,
        memory: &'a mut Memory,
    ) -> Result<Plan<'a>, OracleError> {
        let inputs = Inputs::new(desc, level);
        let mut axes = layout(desc)?;
        let element_size = desc.output.as_ref().and_then(|tensor| tensor.data_type.element_size());
        let element_size =
            element_size.ok_or(OracleError::NotExecutable("its elements are not whole bytes"))?;
        let fill = self.fill.and_then(|place| match desc.members.get(place)? {
            dmlcts_model::Value::Scalar(bytes) => Some(*bytes),
            _ => None,
        });
        let Memory { values, read, small } = &mut *memory;
        let evaluation = self.program.evaluate(inputs, values);
        let reads = self.reads(desc, reading, &evaluation)?;
        for (place, axis) in axes.iter_mut().enumerate() {
            let source = Source { read: reads.on(place), evaluation: &evaluation, axis: place };
            axis.map = source.map(axis, read)?;
        }
        let body = body(&axes, small);
        Ok(Plan {
            oracle: self,
            inputs,
            reading,
            memory,
            axes,
            body,
            element_size,
            fill: fill.unwrap_or_default(),
        })
    }

    /// Which read holds on which axis.
    fn reads<'a>(
        &'a self,
        desc: &Desc,
        reading: usize,
        evaluation: &Evaluation<'_>,
    ) -> Result<Reads<'a>, OracleError> {
        let mode = self.by.map(|place| match desc.members.get(place) {
            Some(dmlcts_model::Value::Integer(mode)) => *mode,
            _ => 0,
        });
        let branch = self.branches.iter().find(|(value, _)| *value == mode);
        let (_, usual) = branch.ok_or(OracleError::NoBranch(mode.unwrap_or(0)))?;
        let Some(number) = reading.checked_sub(1) else {
            return Ok(Reads { usual, other: usual, axes: 0 });
        };
        let (when, other) = self.alternatives.get(number).ok_or(OracleError::NoReading(reading))?;
        let truth = evaluation.mask(*when).truth;
        let axes = if evaluation.lanes(*when) == Some(1) && truth != 0 { u8::MAX } else { truth };
        Ok(Reads { usual, other, axes })
    }
}

/// The reads of a desc: on the axes whose bit is set, another one than usual.
#[derive(Clone, Copy)]
struct Reads<'a> {
    usual: &'a CompiledRead,
    other: &'a CompiledRead,
    axes: u8,
}

impl<'a> Reads<'a> {
    fn on(self, axis: usize) -> &'a CompiledRead {
        if self.axes >> axis & 1 == 1 { self.other } else { self.usual }
    }
}

/// Sizes and strides of both tensors.
fn layout(desc: &Desc) -> Result<SmallVec<[PlannedAxis; MAXIMUM_AXES]>, OracleError> {
    let sides = |side| {
        let tensor: &Tensor = desc.tensor(side).ok_or(OracleError::NotExecutable("a tensor is null"))?;
        let sizes = tensor.sizes.as_deref().ok_or(OracleError::NotExecutable("a tensor has no sizes"))?;
        let strides = tensor.strides.as_deref().map_or_else(|| packed_strides(sizes), List::from_slice);
        Ok((sizes, strides))
    };
    let (input, input_strides) = sides(Side::Input)?;
    let (output, output_strides) = sides(Side::Output)?;
    let rank = output.len();
    if input.len() != rank
        || input_strides.len() != rank
        || output_strides.len() != rank
        || rank > MAXIMUM_AXES
    {
        return Err(OracleError::NotExecutable("its lists disagree on the number of axes"));
    }
    let mut axes = SmallVec::new();
    for axis in 0..rank {
        let [size, input_size, output_stride, input_stride] =
            [output[axis], input[axis], output_strides[axis], input_strides[axis]]
                .map(|value| value.max(0) as u64);
        if size == 0 || input_size == 0 || input_size > FILL.into() || size > FILL.into() {
            return Err(OracleError::NotExecutable("a size is 0 or no UINT"));
        }
        if output_stride == 0 && size > 1 {
            return Err(OracleError::NotExecutable("its output overlaps itself"));
        }
        axes.push(PlannedAxis { size, input_size, output_stride, input_stride, map: PlannedMap::Late });
    }
    Ok(axes)
}

/// The way to go: through a list, by loops, or by loops that are known later.
fn body(axes: &[PlannedAxis], small: &mut small::Memory) -> Body {
    let count = axes.iter().fold(1_u64, |count, axis| count.saturating_mul(axis.size));
    if axes.iter().any(|axis| matches!(axis.map, PlannedMap::Late)) {
        return Body::Late;
    }
    if count <= small::MOST as u64 {
        let reach = reach(axes);
        if small::is_addressable(reach) {
            list(axes, small);
            return Body::Small(reach);
        }
    }
    Body::Loops(movement(axes))
}

fn reach(axes: &[PlannedAxis]) -> Reach {
    Reach::of(axes.iter().map(|axis| {
        let greatest = match &axis.map {
            PlannedMap::Ready(map) => map.extremes(axis.size).map(|(_, greatest)| greatest as u64),
            PlannedMap::Late => Some(axis.input_size - 1),
        };
        let PlannedAxis { size, output_stride, input_stride, .. } = *axis;
        (AxisReach { size, output_stride, input_stride }, greatest)
    }))
}

fn list(axes: &[PlannedAxis], small: &mut small::Memory) {
    let mut packed = 1;
    let is_packed = axes.iter().rev().all(|axis| {
        let fits = axis.size == 1 || axis.output_stride == packed;
        packed *= axis.size;
        fits
    });
    small.start(is_packed);
    for axis in axes.iter().rev() {
        let PlannedMap::Ready(map) = &axis.map else { continue };
        let coordinates = (0..axis.size as usize).map(|c| map.at(c as u64).map(|read| read as u32));
        small.expand(coordinates, axis.input_stride, axis.output_stride);
    }
}

fn movement(axes: &[PlannedAxis]) -> Movement {
    let axes: SmallVec<[Axis; MAXIMUM_AXES]> = axes
        .iter()
        .filter_map(|axis| match &axis.map {
            PlannedMap::Ready(map) => Some(Axis {
                size: axis.size,
                output_stride: axis.output_stride,
                input_stride: axis.input_stride,
                map: map.clone(),
            }),
            PlannedMap::Late => None,
        })
        .collect();
    Movement::new(&axes)
}

/// A read on one axis of one desc.
struct Source<'a> {
    read: &'a CompiledRead,
    evaluation: &'a Evaluation<'a>,
    axis: usize,
}

impl Source<'_> {
    /// The map, as runs where they are few.
    fn map(&self, axis: &PlannedAxis, values: &mut ReadValues) -> Result<PlannedMap, OracleError> {
        self.read.prepare(self.evaluation, self.axis, values);
        let mut period = axis.size;
        if axis.size > small::MOST as u64 {
            period = self.read.period(values).unwrap_or(period).clamp(1, period);
        }
        let mut runs = Runs::new();
        let mut done = 0;
        while done < period {
            let run = self.run(axis, done, period - done, values)?;
            done += run.length;
            push_run(&mut runs, run);
            if runs.len() > MOST_RUNS {
                return match axis.size {
                    ..=EARLY_TABLE => self.table(axis, values).map(PlannedMap::Ready),
                    _ => Ok(PlannedMap::Late),
                };
            }
        }
        Ok(PlannedMap::Ready(AxisMap::Runs(runs)))
    }

    /// The map, coordinate by coordinate; the values are prepared.
    fn table(&self, axis: &PlannedAxis, values: &mut ReadValues) -> Result<AxisMap, OracleError> {
        let mut table = Vec::with_capacity(axis.size as usize);
        while (table.len() as u64) < axis.size {
            let done = table.len() as u64;
            let run = self.run(axis, done, axis.size - done, values)?;
            match run.line {
                None => table.resize(table.len() + run.length as usize, FILL),
                Some(line) => table.extend((0..run.length).map(|index| line.at(index) as u32)),
            }
        }
        Ok(AxisMap::Table(table.into()))
    }

    /// What the coordinates from `first` on read, at most `most` of them: proven to be inside the input.
    fn run(
        &self,
        axis: &PlannedAxis,
        first: u64,
        most: u64,
        values: &mut ReadValues,
    ) -> Result<Run, OracleError> {
        let (stretch, length) = self.read.stretch(self.evaluation, self.axis, first, values);
        let length = length.min(most);
        let line = match stretch {
            Stretch::Fill => return Ok(Run { length, line: None }),
            Stretch::Undefined => {
                return Err(OracleError::Undefined { axis: self.axis, coordinate: first });
            }
            Stretch::Line(line) => line,
        };
        let inside = |read: i128| (0..i128::from(axis.input_size)).contains(&read);
        let (least, greatest) = line.extremes(length);
        if inside(least) && inside(greatest) {
            return Ok(Run { length, line: Some(line) });
        }
        // The first one outside: the line leaves the input once, and does not come back.
        let room = match (inside(line.start.into()), line.step) {
            (false, _) => 0,
            (true, 0..) => (axis.input_size - 1 - line.start as u64) / line.step.max(1) as u64 + 1,
            (true, _) => line.start as u64 / line.step.unsigned_abs() + 1,
        };
        let read = i128::from(line.start) + i128::from(line.step) * i128::from(room);
        Err(OracleError::OutsideInput {
            axis: self.axis,
            coordinate: first + room,
            read: i64::try_from(read).unwrap_or(if read < 0 { i64::MIN } else { i64::MAX }),
            size: axis.input_size,
        })
    }
}

impl Plan<'_> {
    /// Writes every element of the output, and nothing between them. Both slices start at their tensor's first
    /// element; an input that is shorter than what is read, and an output that is shorter than what is written,
    /// are errors.
    pub fn execute(&mut self, input: &[u8], output: &mut [u8]) -> Result<(), OracleError> {
        if let Body::Late = self.body {
            // The output is there, and is longer than any table.
            let reach = Reach { input: 0, ..reach(&self.axes) };
            reach.check(self.element_size, input.len(), output.len())?;
            self.make_tables()?;
            self.body = Body::Loops(movement(&self.axes));
        }
        match &self.body {
            Body::Loops(movement) => movement.execute(self.element_size, input, output, self.fill),
            Body::Small(reach) => {
                reach.check(self.element_size, input.len(), output.len())?;
                self.memory.small.execute(self.element_size, input, output, self.fill);
                Ok(())
            }
            Body::Late => Err(OracleError::NotExecutable("its tables are missing")),
        }
    }

    /// The input coordinates that an output element reads; `None` where it is fill, or lies outside the output.
    pub fn source(&mut self, coordinates: &[i64]) -> Result<Option<List>, OracleError> {
        if coordinates.len() != self.axes.len() {
            return Ok(None);
        }
        let Memory { values, read, .. } = &mut *self.memory;
        let evaluation = self.oracle.program.evaluate(self.inputs, values);
        let reads = self.oracle.reads(self.inputs.desc, self.reading, &evaluation)?;
        let mut sources = List::new();
        for (place, (axis, &coordinate)) in self.axes.iter().zip(coordinates).enumerate() {
            let Some(coordinate) = u64::try_from(coordinate).ok().filter(|&c| c < axis.size) else {
                return Ok(None);
            };
            let source = match &axis.map {
                PlannedMap::Ready(map) => map.at(coordinate),
                PlannedMap::Late => {
                    let source = Source { read: reads.on(place), evaluation: &evaluation, axis: place };
                    source.read.prepare(&evaluation, place, read);
                    source.run(axis, coordinate, 1, read)?.line.map(|line: Line| line.start)
                }
            };
            match source {
                Some(source) => sources.push(source),
                None => return Ok(None),
            }
        }
        Ok(Some(sources))
    }

    fn make_tables(&mut self) -> Result<(), OracleError> {
        let Memory { values, read, .. } = &mut *self.memory;
        let evaluation = self.oracle.program.evaluate(self.inputs, values);
        let reads = self.oracle.reads(self.inputs.desc, self.reading, &evaluation)?;
        for place in 0..self.axes.len() {
            let axis = &self.axes[place];
            if let PlannedMap::Late = axis.map {
                let source = Source { read: reads.on(place), evaluation: &evaluation, axis: place };
                source.read.prepare(&evaluation, place, read);
                let map = source.table(axis, read)?;
                self.axes[place].map = PlannedMap::Ready(map);
            }
        }
        Ok(())
    }
}
