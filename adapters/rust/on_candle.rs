//! candle, held to the documentation of `Tensor`: `narrow`, `flip`, `index_select`, `cat`, `pad_with_same`.

use bytemuck::Pod;
use candle_core::{Device, Result, Tensor, WithDType};
use dmlcts_kit::{
    BindingOffsets, Capabilities, DataType, Desc, Lack, List, Operators, Refusal, RunError, Walk,
    byte_strides, check_padding, check_slice, check_tensors,
};
use ndarray::{ArrayD, Dimension, IxDyn};

struct Candle(Capabilities);

enum Moved {
    Slice(Vec<Walk>),
    Pad { widths: Vec<[usize; 2]>, is_edge: bool, value: [u8; 8] },
}

struct Operator {
    data_type: DataType,
    moved: Moved,
    /// Of the input and the output.
    sizes: [Vec<usize>; 2],
    /// In bytes.
    strides: [List; 2],
}

impl Operators for Candle {
    type Operator = Operator;

    fn capabilities(&self) -> &Capabilities {
        &self.0
    }

    fn create(&mut self, desc: &Desc) -> std::result::Result<Operator, Refusal> {
        let (input, output) = check_tensors(desc)?;
        let moved = if desc.signature.operator == "PADDING1" {
            let widths = check_padding(desc, input, output)?;
            let mode = desc.integer("PaddingMode").unwrap_or_default();
            if mode > 1 {
                return Err(Refusal::Unsupported("only constant and edge".into()));
            }
            Moved::Pad {
                widths: widths.iter().map(|&(before, after)| [before as usize, after as usize]).collect(),
                is_edge: mode == 1,
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
    ) -> std::result::Result<(), RunError> {
        match made.data_type {
            DataType::FLOAT32 => run::<f32>(made, input, output),
            DataType::FLOAT16 => run::<half::f16>(made, input, output),
            DataType::FLOAT64 => run::<f64>(made, input, output),
            DataType::UINT32 => run::<u32>(made, input, output),
            DataType::UINT8 => run::<u8>(made, input, output),
            DataType::INT64 => run::<i64>(made, input, output),
            DataType::INT32 => run::<i32>(made, input, output),
            _ => run::<i16>(made, input, output),
        }
    }
}

fn run<T: Pod + WithDType>(
    made: &Operator,
    input: &[u8],
    output: &mut [u8],
) -> std::result::Result<(), RunError> {
    let read = |bytes: &[u8]| bytemuck::pod_read_unaligned::<T>(&bytes[..size_of::<T>()]);
    let [from, to] = [0, 1].map(|side| {
        move |at: &[usize]| {
            at.iter().zip(&made.strides[side]).map(|(at, stride)| at * *stride as usize).sum::<usize>()
        }
    });
    let elements = ArrayD::from_shape_fn(IxDyn(&made.sizes[0]), |at| read(&input[from(at.slice())..]));
    let moved = || {
        let array = Tensor::from_vec(elements.into_raw_vec_and_offset().0, &*made.sizes[0], &Device::Cpu)?;
        let result = match &made.moved {
            Moved::Slice(walks) => walks.iter().enumerate().try_fold(array, slice),
            Moved::Pad { widths, is_edge: true, .. } => {
                let mut axes = widths.iter().enumerate();
                axes.try_fold(array, |array, (axis, &[before, after])| {
                    array.pad_with_same(axis, before, after)
                })
            }
            Moved::Pad { widths, value, .. } => {
                let value: T = read(value);
                widths
                    .iter()
                    .enumerate()
                    .try_fold(array, |array, (axis, widths)| pad(&array, axis, *widths, value))
            }
        }?;
        Ok((result.dims().to_vec(), result.flatten_all()?.to_vec1::<T>()?))
    };
    let (sizes, elements) =
        moved().map_err(|error: candle_core::Error| RunError::Failed(error.to_string().into()))?;
    if sizes != made.sizes[1] {
        return Err(RunError::WrongShape(format!("{sizes:?}, expected {:?}", made.sizes[1]).into()));
    }
    for (at, element) in ndarray::indices(IxDyn(&sizes)).into_iter().zip(&elements) {
        output[to(at.slice())..][..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(element));
    }
    Ok(())
}

fn slice(array: Tensor, (axis, walk): (usize, &Walk)) -> Result<Tensor> {
    let (first, length) = (walk.first as usize, walk.length as usize);
    if walk.step == 1 {
        return array.narrow(axis, first, length);
    }
    // `flip` and `index_select` refuse a tensor that `narrow` has made a view.
    let array = array.contiguous()?;
    // Backwards from the first element is forwards in the reverse.
    let (array, first) =
        if walk.step < 0 { (array.flip(&[axis])?, array.dim(axis)? - 1 - first) } else { (array, first) };
    let step = walk.step.unsigned_abs() as usize;
    let places: Vec<i64> = (0..length).map(|place| (first + place * step) as i64).collect();
    array.index_select(&Tensor::new(places, &Device::Cpu)?, axis)
}

fn pad<T: WithDType>(array: &Tensor, axis: usize, widths: [usize; 2], value: T) -> Result<Tensor> {
    let [before, after] = widths.map(|width| {
        let mut sizes = array.dims().to_vec();
        sizes[axis] = width;
        Tensor::full(value, sizes, &Device::Cpu)
    });
    Tensor::cat(&[&before?, array, &after?], axis)
}

fn main() -> std::process::ExitCode {
    let mut capabilities = Capabilities::new("candle", "0.11.1");
    capabilities.data_types.retain(|one| ![DataType::INT8, DataType::UINT16, DataType::UINT64].contains(one));
    // Elements are copied, so a tensor that repeats its elements by a stride of 0 may be too large.
    capabilities.limits.elements = 1 << 24;
    capabilities.lacks = vec![Lack {
        operator: "PADDING1".to_owned(),
        condition: "PaddingMode in [REFLECTION, SYMMETRIC, WRAP]".to_owned(),
        reason: "candle pads with a constant or the edge alone".to_owned(),
    }];
    dmlcts_kit::serve(|| Ok::<_, String>(Candle(capabilities)))
}
