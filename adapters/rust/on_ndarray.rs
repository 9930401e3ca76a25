//! ndarray, held to the documentation of `Slice`, and ndarray-ndimage, held to that of `PadMode`.

mod packed;

use bytemuck::Pod;
use dmlcts_kit::{BindingOffsets, Capabilities, Desc, Lack, Operators, Refusal, RunError, Walk};
use ndarray::Slice;
use ndarray_ndimage::{PadMode, pad};
use num_traits::{FromPrimitive, Num};
use packed::{Moved, Operator, read};

struct Ndarray(Capabilities);

impl Operators for Ndarray {
    type Operator = Operator;

    fn capabilities(&self) -> &Capabilities {
        &self.0
    }

    fn create(&mut self, desc: &Desc) -> Result<Operator, Refusal> {
        Operator::new(desc)
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
    made.run(input, output, |array: ndarray::ArrayD<T>, moved| {
        Ok(match moved {
            Moved::Slice(walks) => array.slice_each_axis(|axis| slice(walks[axis.axis.index()])).to_owned(),
            Moved::Pad { widths, mode, value } => {
                let constant = PadMode::Constant(read(value));
                let modes = [constant, PadMode::Edge, PadMode::Reflect, PadMode::Symmetric, PadMode::Wrap];
                pad(&array, widths, modes[*mode as usize])
            }
        })
    })
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
