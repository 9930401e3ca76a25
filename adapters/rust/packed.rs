//! Shared by the adapters: reads a tensor as an array without gaps, and writes such an array into a tensor.

use bytemuck::Pod;
use dmlcts_kit::{
    DataType, Desc, List, Refusal, RunError, Walk, byte_strides, check_padding, check_slice, check_tensors,
};
use ndarray::{ArrayD, Dimension, IxDyn};

pub enum Moved {
    Slice(Vec<Walk>),
    /// Two widths for each axis, and the bytes of the value.
    Pad {
        widths: Vec<[usize; 2]>,
        mode: i64,
        value: [u8; 8],
    },
}

pub struct Operator {
    pub data_type: DataType,
    pub moved: Moved,
    /// Of the input and the output.
    sizes: [Vec<usize>; 2],
    /// In bytes.
    strides: [List; 2],
}

impl Operator {
    pub fn new(desc: &Desc) -> Result<Self, Refusal> {
        let (input, output) = check_tensors(desc)?;
        let moved = if desc.signature.operator == "PADDING1" {
            let widths = check_padding(desc, input, output)?;
            Moved::Pad {
                widths: widths.iter().map(|&(before, after)| [before as usize, after as usize]).collect(),
                mode: desc.integer("PaddingMode").unwrap_or_default(),
                value: desc.scalar("PaddingValue").unwrap_or_default(),
            }
        } else {
            Moved::Slice(check_slice(desc, input, output)?)
        };
        let sizes =
            [input, output].map(|tensor| tensor.sizes.iter().flatten().map(|&size| size as usize).collect());
        let strides = [byte_strides(input)?, byte_strides(output)?];
        Ok(Self { data_type: input.data_type, moved, sizes, strides })
    }

    /// Writes into the output what `work` makes of the input.
    pub fn run<T: Pod>(
        &self,
        input: &[u8],
        output: &mut [u8],
        work: impl FnOnce(ArrayD<T>, &Moved) -> Result<ArrayD<T>, String>,
    ) -> Result<(), RunError> {
        let [from, to] = [0, 1].map(|side| {
            move |at: &[usize]| {
                at.iter().zip(&self.strides[side]).map(|(at, stride)| at * *stride as usize).sum::<usize>()
            }
        });
        let array = ArrayD::from_shape_fn(IxDyn(&self.sizes[0]), |at| read(&input[from(at.slice())..]));
        let result = work(array, &self.moved).map_err(|error| RunError::Failed(error.into()))?;
        if result.shape() != self.sizes[1] {
            let shapes = format!("{:?}, expected {:?}", result.shape(), self.sizes[1]);
            return Err(RunError::WrongShape(shapes.into()));
        }
        for (at, element) in result.indexed_iter() {
            output[to(at.slice())..][..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(element));
        }
        Ok(())
    }
}

/// The element at the start of some bytes.
pub fn read<T: Pod>(bytes: &[u8]) -> T {
    bytemuck::pod_read_unaligned(&bytes[..size_of::<T>()])
}
