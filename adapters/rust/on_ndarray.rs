//! ndarray, held to the documentation of `Slice`, and ndarray-ndimage, held to that of `PadMode`.

use bytemuck::Pod;
use dmlcts_kit::{
    BindingOffsets, Capabilities, DataType, Desc, Lack, List, Operators, Refusal, RunError, Walk,
    byte_strides, check_padding, check_slice, check_tensors,
};
use ndarray::{ArrayD, Dimension, IxDyn, Slice};
use ndarray_ndimage::{PadMode, pad};
use num_traits::{FromPrimitive, Num};

struct Ndarray(Capabilities);

enum Moved {
    Slice(Vec<Walk>),
    Pad { widths: Vec<[usize; 2]>, mode: i64, value: [u8; 8] },
}

struct Operator {
    data_type: DataType,
    moved: Moved,
    /// Of the input and the output.
    sizes: [Vec<usize>; 2],
    /// In bytes.
    strides: [List; 2],
}

impl Operators for Ndarray {
    type Operator = Operator;

    fn capabilities(&self) -> &Capabilities {
        &self.0
    }

    fn create(&mut self, desc: &Desc) -> Result<Operator, Refusal> {
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
        Ok(Operator { data_type: input.data_type, moved, sizes, strides })
    }

    fn run(
        &mut self,
        made: &mut Operator,
        _: BindingOffsets,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), RunError> {
        match made.data_type.0 {
            1 => run::<f32>(made, input, output),
            2 => run::<half::f16>(made, input, output),
            3 => run::<u32>(made, input, output),
            4 => run::<u16>(made, input, output),
            5 => run::<u8>(made, input, output),
            6 => run::<i32>(made, input, output),
            7 => run::<i16>(made, input, output),
            8 => run::<i8>(made, input, output),
            9 => run::<f64>(made, input, output),
            10 => run::<u64>(made, input, output),
            _ => run::<i64>(made, input, output),
        }
    }
}

fn run<T>(made: &Operator, input: &[u8], output: &mut [u8]) -> Result<(), RunError>
where
    T: Pod + FromPrimitive + Num + PartialOrd,
{
    let read = |bytes: &[u8]| bytemuck::pod_read_unaligned::<T>(&bytes[..size_of::<T>()]);
    let [from, to] = [0, 1].map(|side| {
        move |at: &[usize]| {
            at.iter().zip(&made.strides[side]).map(|(at, stride)| at * *stride as usize).sum::<usize>()
        }
    });
    let array = ArrayD::from_shape_fn(IxDyn(&made.sizes[0]), |at| read(&input[from(at.slice())..]));
    let result = match &made.moved {
        Moved::Slice(walks) => array.slice_each_axis(|axis| slice(walks[axis.axis.index()])).to_owned(),
        Moved::Pad { widths, mode, value } => {
            let modes = [
                PadMode::Constant(read(value)),
                PadMode::Edge,
                PadMode::Reflect,
                PadMode::Symmetric,
                PadMode::Wrap,
            ];
            pad(&array, widths, modes[*mode as usize])
        }
    };
    if result.shape() != made.sizes[1] {
        return Err(RunError::WrongShape(
            format!("{:?}, expected {:?}", result.shape(), made.sizes[1]).into(),
        ));
    }
    for (at, element) in result.indexed_iter() {
        output[to(at.slice())..][..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(element));
    }
    Ok(())
}

/// A range of indices. A negative step reads it from its end.
fn slice(walk: Walk) -> Slice {
    let last = walk.first + walk.step * (walk.length - 1);
    let (low, high) = (walk.first.min(last) as isize, walk.first.max(last) as isize);
    Slice::new(low, Some(high + 1), walk.step as isize)
}

fn main() -> std::process::ExitCode {
    let mut capabilities = Capabilities::new("ndarray", "0.17.2, ndarray-ndimage 0.6.0");
    // Elements are copied, so a tensor that repeats its elements by a stride of 0 may be too large.
    capabilities.limits.elements = 1 << 24;
    let widest = "any axis max(StartPadding, EndPadding)";
    capabilities.lacks = [
        format!("PaddingMode == REFLECTION and {widest} >= InputTensor.Sizes"),
        format!("PaddingMode in [SYMMETRIC, WRAP] and {widest} > InputTensor.Sizes"),
    ]
    .map(|condition| Lack {
        operator: "PADDING1".to_owned(),
        condition,
        reason: "wider paddings panic, or leave zeros".to_owned(),
    })
    .into();
    dmlcts_kit::serve(|| Ok::<_, String>(Ndarray(capabilities)))
}
