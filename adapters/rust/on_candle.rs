//! candle, held to the documentation of `Tensor`: `narrow`, `flip`, `index_select`, `cat`, `pad_with_same`.

use std::{error::Error, ops::Range, process::ExitCode};

use candle_core::{DType, Device, Tensor};
use dmlcts_kit::{
    Capabilities, DataType,
    arrays::{ArrayBackend, ArrayResult, Arrays, PackedArray, PaddingMode},
};

struct Candle;

impl ArrayBackend for Candle {
    const MODES: &[PaddingMode] = &[PaddingMode::Constant, PaddingMode::Edge];

    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::new("candle", "0.11.1");
        capabilities.data_types.retain(|data_type| dtype(*data_type).is_ok());
        capabilities
    }

    fn slice(&mut self, array: &PackedArray, ranges: &[Range<usize>], steps: &[isize]) -> ArrayResult {
        let mut made = read(array)?;
        for (axis, (range, step)) in ranges.iter().zip(steps).enumerate() {
            // `flip` and `index_select` refuse a tensor that `narrow` has made a view.
            made = made.narrow(axis, range.start, range.len())?.contiguous()?;
            if *step < 0 {
                made = made.flip(&[axis])?;
            }
            let places: Vec<i64> = (0..range.len() as i64).step_by(step.unsigned_abs()).collect();
            made = made.index_select(&Tensor::new(places, &Device::Cpu)?, axis)?;
        }
        packed(array.data_type, &made)
    }

    fn pad(
        &mut self,
        array: &PackedArray,
        widths: &[[usize; 2]],
        mode: PaddingMode,
        value: &PackedArray,
    ) -> ArrayResult {
        let (mut made, value) = (read(array)?, read(value)?);
        for (axis, &[before, behind]) in widths.iter().enumerate() {
            let mut sizes = made.dims().to_vec();
            let mut constant = |width| {
                sizes[axis] = width;
                value.broadcast_as(&*sizes)
            };
            made = match mode {
                PaddingMode::Edge => made.pad_with_same(axis, before, behind)?,
                _ => Tensor::cat(&[&constant(before)?, &made, &constant(behind)?], axis)?,
            };
        }
        packed(array.data_type, &made)
    }
}

/// candle's FLOAT32 is `f32`. It has no type for INT8, UINT16 and UINT64.
fn dtype(data_type: DataType) -> Result<DType, Box<dyn Error>> {
    let name = data_type.to_string().to_lowercase();
    Ok(name.replace("float", "f").replace("uint", "u").replace("int", "i").parse()?)
}

fn read(array: &PackedArray) -> Result<Tensor, Box<dyn Error>> {
    Ok(Tensor::from_raw_buffer(&array.bytes, dtype(array.data_type)?, &array.sizes, &Device::Cpu)?)
}

fn packed(data_type: DataType, made: &Tensor) -> ArrayResult {
    let mut bytes = Vec::new();
    made.write_bytes(&mut bytes)?;
    Ok(PackedArray { data_type, sizes: made.dims().to_vec(), bytes })
}

fn main() -> ExitCode {
    dmlcts_kit::serve(|| Ok::<_, String>(Arrays::new(Candle)))
}
