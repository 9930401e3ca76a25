//! ndarray, held to the documentation of `Slice`, and ndarray-ndimage, held to that of `PadMode`.

use std::{ops::Range, process::ExitCode};

use dmlcts_kit::{
    Capabilities,
    arrays::{ArrayBackend, ArrayResult, Arrays, PackedArray, PaddingMode, with_type},
};
use ndarray::{ArrayD, Slice};
use ndarray_ndimage::{PadMode, pad};

struct Ndarray;

impl ArrayBackend for Ndarray {
    // Wider paddings panic, or leave zeros.
    const NARROW_MODES: &[PaddingMode] =
        &[PaddingMode::Reflection, PaddingMode::Symmetric, PaddingMode::Wrap];

    fn capabilities(&self) -> Capabilities {
        Capabilities::new("ndarray", "0.17.2, ndarray-ndimage 0.6.0")
    }

    fn slice(&mut self, array: &PackedArray, ranges: &[Range<usize>], steps: &[isize]) -> ArrayResult {
        with_type!(array.data_type, half::f16, T => {
            let input = ArrayD::from_shape_vec(&*array.sizes, array.elements(T::from_le_bytes))?;
            let made = input.slice_each_axis(|axis| {
                let axis = axis.axis.index();
                Slice::from(ranges[axis].clone()).step_by(steps[axis])
            });
            Ok(PackedArray::new(array.data_type, made.shape(), made.iter().map(|one| one.to_le_bytes())))
        })
    }

    fn pad(
        &mut self,
        array: &PackedArray,
        widths: &[[usize; 2]],
        mode: PaddingMode,
        value: &PackedArray,
    ) -> ArrayResult {
        with_type!(array.data_type, half::f16, T => {
            let input = ArrayD::from_shape_vec(&*array.sizes, array.elements(T::from_le_bytes))?;
            let mode = match mode {
                PaddingMode::Constant => PadMode::Constant(value.elements(T::from_le_bytes)[0]),
                PaddingMode::Edge => PadMode::Edge,
                PaddingMode::Reflection => PadMode::Reflect,
                PaddingMode::Symmetric => PadMode::Symmetric,
                PaddingMode::Wrap => PadMode::Wrap,
            };
            let made = pad(&input, widths, mode);
            Ok(PackedArray::new(array.data_type, made.shape(), made.iter().map(|one| one.to_le_bytes())))
        })
    }
}

fn main() -> ExitCode {
    dmlcts_kit::serve(|| Ok::<_, String>(Arrays::new(Ndarray)))
}
