//! A plan: what each coordinate of one desc's output reads. It is executed on any number of inputs.

use std::ops::Range;

use dmlcts_model::{Desc, FeatureLevel, List, Value};
use smallvec::SmallVec;

use super::{
    Memory, Oracle, OracleError,
    layout::{Axis, lay_out},
    read::{CompiledRead, FILL},
    rows,
};
use crate::program::Inputs;

/// The number of coordinates of a long axis that are executed at a time: 256 KiB of what they read.
const BLOCK: u64 = 1 << 16;

/// The execution of a valid desc. It takes little memory for any sizes.
#[derive(Debug)]
pub struct Plan<'a> {
    usual: &'a CompiledRead,
    /// The read of an alternative reading, and a bit for each axis on which it replaces the usual one.
    other: Option<(&'a CompiledRead, u8)>,
    inputs: Inputs<'a>,
    memory: &'a mut Memory,
    /// Whether the list in the memory holds what every coordinate reads.
    is_listed: bool,
    /// Whether an output element reads no input element, after the plan was executed.
    pub(crate) has_fill: bool,
    element_size: usize,
    /// The content of such elements: their bytes are the first of these.
    pub(crate) fill: [u8; 8],
}

impl Oracle {
    /// Plans a desc of the operator that was judged valid or open. Reading 0 is the semantics, and reading
    /// `n` is the `n`-th alternative reading.
    pub(crate) fn plan<'a>(
        &'a self,
        desc: &'a Desc,
        level: FeatureLevel,
        reading: usize,
        memory: &'a mut Memory,
    ) -> Result<Plan<'a>, OracleError> {
        lay_out(desc, &mut memory.axes)?;
        let size = desc.output.as_ref().and_then(|tensor| tensor.data_type.element_size());
        let element_size = size.ok_or(OracleError::NotExecutable("its elements are not whole bytes"))?;
        let fill = self.fill.and_then(|place| desc.members.get(place)?.scalar()).unwrap_or_default();
        let mode = self.by.map(|place| desc.members.get(place).and_then(Value::integer).unwrap_or(0));
        let branch = self.branches.iter().find(|(value, _)| *value == mode);
        let (_, usual) = branch.ok_or(OracleError::NoBranch(mode.unwrap_or(0)))?;
        let inputs = Inputs::new(desc, level);
        let other = match reading.checked_sub(1) {
            None => None,
            Some(number) => {
                let other = self.alternatives.get(number).ok_or(OracleError::NoReading(reading))?;
                Some((other, other.applies(inputs, &mut memory.values)))
            }
        };
        Ok(Plan { usual, other, inputs, memory, is_listed: false, has_fill: false, element_size, fill })
    }
}

impl Plan<'_> {
    /// Lists what a range of coordinates of each axis reads, axis by axis.
    fn list(&mut self, range: impl Fn(usize, &Axis) -> Range<u64>) -> Result<(), OracleError> {
        let Memory { values, axes, list, .. } = &mut *self.memory;
        list.clear();
        let replaced = self.other.map_or(0, |(_, axes)| axes);
        let is_replaced = |place: &usize| replaced >> place & 1 == 1;
        let places: SmallVec<[usize; 8]> = (0..axes.len()).collect();
        for places in places.chunk_by(|a, b| is_replaced(a) == is_replaced(b)) {
            let read = self.other.filter(|_| is_replaced(&places[0])).map_or(self.usual, |(other, _)| other);
            let coordinates = places.iter().map(|&place| (place, range(place, &axes[place])));
            read.list(self.inputs, values, axes, coordinates, list)?;
        }
        Ok(())
    }

    /// Writes every element of the output, and no bytes between them. Both slices start at their tensor's
    /// first element. It is an error if a slice ends before the last element that is read or written.
    pub fn execute(&mut self, input: &[u8], output: &mut [u8]) -> Result<(), OracleError> {
        let axes = self.memory.axes.iter();
        let written = axes.clone().fold(1_u64, |elements, axis| {
            elements.saturating_add((axis.size - 1).saturating_mul(axis.output_stride))
        });
        let (needed, given) = (written.saturating_mul(self.element_size as u64), output.len() as u64);
        if needed > given {
            return Err(OracleError::ShortOutput { needed, given });
        }
        let longest = axes.enumerate().max_by_key(|(_, axis)| axis.size);
        let Some((longest, &Axis { size, output_stride, .. })) = longest else {
            return Err(OracleError::NotExecutable("its tensors have no axes"));
        };
        let mut first = 0;
        while first < size {
            let block = first..size.min(first + BLOCK);
            if !self.is_listed {
                self.list(|place, axis| if place == longest { block.clone() } else { 0..axis.size })?;
            }
            self.is_listed = size <= BLOCK;
            let start = (first * output_stride) as usize * self.element_size;
            self.write((longest, block.end - first), input, &mut output[start..])?;
            first = block.end;
        }
        Ok(())
    }

    /// Writes the listed coordinates: a number of the longest axis, and all of the others.
    fn write(&mut self, longest: (usize, u64), input: &[u8], output: &mut [u8]) -> Result<(), OracleError> {
        let Memory { axes, list, segments, .. } = &mut *self.memory;
        let mut parts: SmallVec<[(Axis, &[u32]); 8]> = SmallVec::new();
        let mut rest = list.as_slice();
        let mut read = Some(1_u64);
        for (place, axis) in axes.iter().enumerate() {
            let length = if place == longest.0 { longest.1 } else { axis.size };
            let (reads, further) = rest.split_at(length as usize);
            rest = further;
            // Adding one makes `FILL` wrap to 0, below every coordinate.
            let ends = reads.iter().map(|read| read.wrapping_add(1));
            let (least, most) =
                ends.fold((u32::MAX, 0), |(least, most), end| (least.min(end), most.max(end)));
            self.has_fill |= least == 0;
            read = read.zip(most.checked_sub(1)).map(|(elements, greatest)| {
                elements.saturating_add(u64::from(greatest).saturating_mul(axis.input_stride))
            });
            parts.push((*axis, reads));
        }
        let needed = read.unwrap_or(0).saturating_mul(self.element_size as u64);
        if needed > input.len() as u64 {
            return Err(OracleError::ShortInput { needed, given: input.len() as u64 });
        }
        let memories = (input, output);
        match self.element_size {
            1 => rows::write::<1>(&parts, segments, memories, self.fill),
            2 => rows::write::<2>(&parts, segments, memories, self.fill),
            4 => rows::write::<4>(&parts, segments, memories, self.fill),
            8 => rows::write::<8>(&parts, segments, memories, self.fill),
            _ => return Err(OracleError::NotExecutable("its elements are not 1, 2, 4 or 8 bytes long")),
        }
        Ok(())
    }

    /// The input coordinates that an output element reads; `None` if it is fill or outside the output.
    pub fn source(&mut self, coordinates: &[i64]) -> Result<Option<List>, OracleError> {
        let axes = &self.memory.axes;
        let is_inside = |(&coordinate, axis): (&i64, &Axis)| (0..axis.size as i64).contains(&coordinate);
        if coordinates.len() != axes.len() || !coordinates.iter().zip(axes).all(is_inside) {
            return Ok(None);
        }
        self.is_listed = false;
        self.list(|place, _| {
            let coordinate = coordinates[place] as u64;
            coordinate..coordinate + 1
        })?;
        let source = self.memory.list.iter().map(|&read| (read != FILL).then_some(i64::from(read)));
        Ok(source.collect())
    }
}
