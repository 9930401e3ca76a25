//! candle, held to the documentation of `Tensor`: `narrow`, `flip`, `index_select`, `cat`, `pad_with_same`.

mod packed;

use bytemuck::Pod;
use candle_core::{Device, Result, Tensor, WithDType};
use dmlcts_kit::{BindingOffsets, Capabilities, DataType, Desc, Lack, Operators, Refusal, RunError, Walk};
use ndarray::ArrayD;
use packed::{Moved, Operator, read};

struct Candle(Capabilities);

impl Operators for Candle {
    type Operator = Operator;

    fn capabilities(&self) -> &Capabilities {
        &self.0
    }

    fn create(&mut self, desc: &Desc) -> std::result::Result<Operator, Refusal> {
        let made = Operator::new(desc)?;
        if matches!(made.moved, Moved::Pad { mode: 2.., .. }) {
            return Err(Refusal::Unsupported("only constant and edge".into()));
        }
        Ok(made)
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
    made.run(input, output, |array, moved| move_as::<T>(array, moved).map_err(|error| error.to_string()))
}

fn move_as<T: Pod + WithDType>(array: ArrayD<T>, moved: &Moved) -> Result<ArrayD<T>> {
    let sizes = array.shape().to_vec();
    let array = Tensor::from_vec(array.into_raw_vec_and_offset().0, sizes, &Device::Cpu)?;
    let result = match moved {
        Moved::Slice(walks) => walks.iter().enumerate().try_fold(array, slice),
        Moved::Pad { widths, mode, value } => {
            widths.iter().enumerate().try_fold(array, |array, (axis, &[before, after])| match mode {
                1 => array.pad_with_same(axis, before, after),
                _ => pad(&array, axis, [before, after], read::<T>(value)),
            })
        }
    }?;
    let (sizes, elements) = (result.dims().to_vec(), result.flatten_all()?.to_vec1()?);
    ArrayD::from_shape_vec(sizes, elements).map_err(candle_core::Error::wrap)
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
