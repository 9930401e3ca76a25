//! A plan: the input elements that one desc's output elements read. It is made once and executed on any
//! number of inputs.

use dmlcts_model::{Desc, FeatureLevel, List, Value};
use smallvec::SmallVec;

use super::{
    Memory, Oracle, OracleError,
    layout::{Axis, lay_out},
    map::{AxisMap, FILL, Line, Run, Runs, push_run},
    movement::{Movement, Reach},
    read::{CompiledRead, RangeRead, ReadValues},
    small,
};
use crate::program::{Inputs, MAXIMUM_AXES};

/// A map with more runs than this becomes a table.
const MOST_RUNS: usize = 64;

/// Tables of up to this many coordinates are made with the plan. Longer ones are made at execution, when the
/// even longer output exists.
const EARLY_TABLE: u64 = 1 << 16;

/// The execution of a valid desc. A plan takes little memory for any sizes. Execution of piecewise linear
/// reads takes no memory beyond the output; other reads take four bytes per coordinate of their axis.
#[derive(Debug)]
pub struct Plan<'a> {
    reads: Reads<'a>,
    memory: &'a mut Memory,
    pub(super) body: Body,
    element_size: usize,
    pub(super) fill: [u8; 8],
}

#[derive(Debug)]
pub(super) enum Body {
    /// The list of elements is in the memory.
    Small(Reach),
    Loops(Box<Loops>),
    /// Some maps are neither a few runs nor a short table. They are `None` until execution makes them.
    Late(Box<SmallVec<[Option<AxisMap>; MAXIMUM_AXES]>>),
}

#[derive(Debug)]
pub(super) struct Loops {
    maps: SmallVec<[AxisMap; MAXIMUM_AXES]>,
    movement: Movement,
}

impl Loops {
    fn body(axes: &[Axis], maps: SmallVec<[AxisMap; MAXIMUM_AXES]>) -> Body {
        let movement = Movement::new(axes, &maps);
        Body::Loops(Box::new(Self { maps, movement }))
    }
}

impl Oracle {
    /// Plans a desc of the operator that was judged valid or open. Reading 0 is the semantics, and reading
    /// `n` is the `n`-th alternative reading.
    pub(crate) fn plan<'a>(
        &'a self,
        desc: &Desc,
        level: FeatureLevel,
        reading: usize,
        memory: &'a mut Memory,
    ) -> Result<Plan<'a>, OracleError> {
        lay_out(desc, &mut memory.axes)?;
        let size = desc.output.as_ref().and_then(|tensor| tensor.data_type.element_size());
        let element_size = size.ok_or(OracleError::NotExecutable("its elements are not whole bytes"))?;
        let fill = match self.fill.and_then(|place| desc.members.get(place)) {
            Some(Value::Scalar(bytes)) => *bytes,
            _ => [0; 8],
        };
        let reads = self.reads(desc, reading)?;
        let inputs = Inputs::new(desc, level);
        if let Some(reach) = reads.points(inputs, memory) {
            return Ok(Plan { reads, memory, body: Body::Small(reach), element_size, fill });
        }
        reads.usual.load(inputs, &mut memory.values, &mut memory.usual);
        memory.other.axes = 0;
        if let Some(other) = reads.other {
            other.load(inputs, &mut memory.values, &mut memory.other);
        }
        let body = reads.body(memory)?;
        Ok(Plan { reads, memory, body, element_size, fill })
    }

    fn reads(&self, desc: &Desc, reading: usize) -> Result<Reads<'_>, OracleError> {
        let mode = self.by.map(|place| match desc.members.get(place) {
            Some(Value::Integer(mode)) => *mode,
            _ => 0,
        });
        let branch = self.branches.iter().find(|(value, _)| *value == mode);
        let (_, usual) = branch.ok_or(OracleError::NoBranch(mode.unwrap_or(0)))?;
        let other = match reading.checked_sub(1) {
            None => None,
            Some(number) => Some(self.alternatives.get(number).ok_or(OracleError::NoReading(reading))?),
        };
        Ok(Reads { usual, other })
    }
}

/// The reads of a plan. On the axes that raise its question, an alternative reading replaces the usual read.
#[derive(Clone, Copy, Debug)]
struct Reads<'a> {
    usual: &'a CompiledRead,
    other: Option<&'a CompiledRead>,
}

impl<'a> Reads<'a> {
    /// Prepares the values of an axis for its read.
    fn prepare<'b>(&self, place: usize, memory: &'b mut Memory) -> AxisRead<'b>
    where
        'a: 'b,
    {
        let Memory { usual, other, read: values, axes, .. } = memory;
        let (read, fixed) = match self.other {
            Some(read) if other.axes >> place & 1 == 1 => (read, &*other),
            _ => (self.usual, &*usual),
        };
        read.prepare(fixed, place, values);
        AxisRead { read, values, axis: axes[place], place }
    }

    /// Lists a small output, evaluating eight points at a time. `None` if the output is not small or an error
    /// occurs. The evaluation by ranges then reports the error.
    fn points(&self, inputs: Inputs<'_>, memory: &mut Memory) -> Option<Reach> {
        let count = memory.axes.iter().fold(1_u64, |count, axis| count.saturating_mul(axis.size));
        if count > small::MOST || self.other.is_some() {
            return None;
        }
        let Memory { values, axes, small, .. } = memory;
        let mut evaluation = self.usual.evaluate(inputs, values)?;
        small.start(axes);
        while let Some(points) = small.next_points() {
            evaluation.at_points(points);
            let (reads, fill) = self.usual.lanes(&evaluation)?;
            small.push(reads, fill)?;
        }
        small.list(axes)
    }

    fn body(&self, memory: &mut Memory) -> Result<Body, OracleError> {
        let mut maps: SmallVec<[Option<AxisMap>; MAXIMUM_AXES]> = SmallVec::new();
        for place in 0..memory.axes.len() {
            maps.push(self.prepare(place, memory).map()?);
        }
        if maps.iter().all(Option::is_some) {
            return Ok(Loops::body(&memory.axes, maps.into_iter().flatten().collect()));
        }
        Ok(Body::Late(Box::new(maps)))
    }
}

/// A read on one axis of one desc.
struct AxisRead<'a> {
    read: &'a CompiledRead,
    values: &'a mut ReadValues,
    axis: Axis,
    place: usize,
}

impl AxisRead<'_> {
    /// The map: runs if there are few, otherwise a table if it is short, otherwise `None`.
    fn map(mut self) -> Result<Option<AxisMap>, OracleError> {
        let size = self.axis.size;
        let period = self.read.period(self.values).map_or(size, |period| period.clamp(1, size));
        let mut runs = Runs::new();
        let mut done = 0;
        while done < period {
            let run = self.run(done, period - done)?;
            done += run.length;
            push_run(&mut runs, run);
            if runs.len() > MOST_RUNS {
                return if size <= EARLY_TABLE { self.table().map(Some) } else { Ok(None) };
            }
        }
        Ok(Some(AxisMap::Runs(runs)))
    }

    /// The map as a table, coordinate by coordinate.
    fn table(mut self) -> Result<AxisMap, OracleError> {
        let mut table = Vec::with_capacity(self.axis.size as usize);
        while (table.len() as u64) < self.axis.size {
            let done = table.len() as u64;
            let run = self.run(done, self.axis.size - done)?;
            match run.line {
                None => table.resize(table.len() + run.length as usize, FILL),
                Some(line) => table.extend((0..run.length).map(|index| line.at(index) as u32)),
            }
        }
        Ok(AxisMap::Table(table.into()))
    }

    /// The reads of at most `most` coordinates from `first` on. They are checked to be inside the input.
    #[inline]
    fn run(&mut self, first: u64, most: u64) -> Result<Run, OracleError> {
        let (stretch, length) = self.read.stretch(first, self.values);
        let length = length.min(most);
        let line = match stretch {
            RangeRead::Fill => return Ok(Run { length, line: None }),
            RangeRead::Undefined => {
                return Err(OracleError::Undefined { axis: self.place, coordinate: first });
            }
            RangeRead::Line(line) => line,
        };
        let input_size = self.axis.input_size;
        let last = line.step.checked_mul(length as i64 - 1).and_then(|way| way.checked_add(line.start));
        // As an unsigned number, a negative coordinate is greater than every size.
        if let Some(last) = last
            && (line.start as u64) < input_size
            && (last as u64) < input_size
        {
            return Ok(Run { length, line: Some(line) });
        }
        Err(self.outside(first, line))
    }

    /// The error for the first coordinate of a line that is outside the input. A line does not return to the
    /// input once it has left it.
    #[cold]
    fn outside(&self, first: u64, line: Line) -> OracleError {
        let input_size = self.axis.input_size;
        let inside = |read: i64| read >= 0 && (read as u64) < input_size;
        let room = match (inside(line.start), line.step) {
            (false, _) => 0,
            (true, 0..) => (input_size - 1 - line.start as u64) / line.step.max(1) as u64 + 1,
            (true, _) => line.start as u64 / line.step.unsigned_abs() + 1,
        };
        let read = i128::from(line.start) + i128::from(line.step) * i128::from(room);
        OracleError::OutsideInput {
            axis: self.place,
            coordinate: first + room,
            read: i64::try_from(read).unwrap_or(if read < 0 { i64::MIN } else { i64::MAX }),
            size: input_size,
        }
    }
}

impl Plan<'_> {
    /// Writes every element of the output, and no bytes between them. Both slices start at their tensor's
    /// first element. It is an error if a slice ends before the last element that is read or written.
    pub fn execute(&mut self, input: &[u8], output: &mut [u8]) -> Result<(), OracleError> {
        if let Body::Late(maps) = &mut self.body {
            // The output must be present before the tables are made, because it is longer than any of them.
            let reach = self.memory.axes.iter().fold(Reach::START, |reach, axis| reach.with(axis, None));
            reach.check(self.element_size, input.len(), output.len())?;
            for (place, map) in maps.iter_mut().enumerate() {
                if map.is_none() {
                    *map = Some(self.reads.prepare(place, self.memory).table()?);
                }
            }
            let maps = std::mem::take(&mut **maps);
            self.body = Loops::body(&self.memory.axes, maps.into_iter().flatten().collect());
        }
        match &self.body {
            Body::Loops(loops) => loops.movement.execute(self.element_size, input, output, self.fill),
            Body::Small(reach) => {
                reach.check(self.element_size, input.len(), output.len())?;
                // Cuts the input to the elements that are read, so that the offsets of fill are out of
                // bounds.
                let input = &input[..reach.input as usize * self.element_size];
                self.memory.small.execute(self.element_size, input, output, self.fill);
                Ok(())
            }
            Body::Late(_) => Err(OracleError::NotExecutable("its tables are missing")),
        }
    }

    /// Whether an output element reads no input element. The plan must have been executed.
    pub(crate) fn has_fill(&self) -> bool {
        match &self.body {
            Body::Small(_) => self.memory.small.has_fill(&self.memory.axes),
            Body::Loops(loops) => loops.maps.iter().any(AxisMap::has_fill),
            Body::Late(maps) => maps.iter().flatten().any(AxisMap::has_fill),
        }
    }

    /// The content of such elements: their bytes are the first of these.
    pub(crate) fn fill_bytes(&self) -> [u8; 8] {
        self.fill
    }

    /// The input coordinates that an output element reads; `None` if it is fill or outside the output.
    pub fn source(&mut self, coordinates: &[i64]) -> Result<Option<List>, OracleError> {
        if coordinates.len() != self.memory.axes.len() {
            return Ok(None);
        }
        let mut sources = List::new();
        for (place, &coordinate) in coordinates.iter().enumerate() {
            let size = self.memory.axes[place].size;
            let Some(coordinate) = u64::try_from(coordinate).ok().filter(|&c| c < size) else {
                return Ok(None);
            };
            let map = match &self.body {
                Body::Small(_) => None,
                Body::Loops(loops) => loops.maps.get(place),
                Body::Late(maps) => maps.get(place).and_then(Option::as_ref),
            };
            let source = match (&self.body, map) {
                (Body::Small(_), _) => self.memory.small.source(&self.memory.axes, place, coordinate),
                (_, Some(map)) => map.at(coordinate),
                (_, None) => {
                    let run = self.reads.prepare(place, self.memory).run(coordinate, 1)?;
                    run.line.map(|line| line.start)
                }
            };
            let Some(source) = source else { return Ok(None) };
            sources.push(source);
        }
        Ok(Some(sources))
    }
}
