//! Sizes and strides of a desc's two tensors, by axis.

use dmlcts_model::{Desc, Side};

use super::{OracleError, read::FILL};
use crate::program::MAXIMUM_AXES;

/// One axis of both tensors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    /// The number of output coordinates; at least one.
    pub(crate) size: u64,
    /// The number of input coordinates; at least one.
    pub(crate) input_size: u64,
    /// The distance between neighbouring output coordinates, in elements.
    pub(crate) output_stride: u64,
    /// The distance between neighbouring input coordinates, in elements.
    pub(crate) input_stride: u64,
}

/// Lays out the axes of a desc, outermost first. This fails for a valid desc only if the spec lacks a clause.
pub(super) fn lay_out(desc: &Desc, axes: &mut Vec<Axis>) -> Result<(), OracleError> {
    axes.clear();
    let [(input, input_strides), (output, output_strides)] =
        [tensor(desc, Side::Input)?, tensor(desc, Side::Output)?];
    if input.len() != output.len() || output.len() > MAXIMUM_AXES {
        return Err(OracleError::NotExecutable("its tensors disagree on the number of axes"));
    }
    let (mut read, mut written) = (1_i64, 1_i64);
    for (axis, (&input_size, &size)) in input.iter().zip(output).enumerate().rev() {
        let input_stride = input_strides.map_or(read, |strides| strides[axis]);
        let output_stride = output_strides.map_or(written, |strides| strides[axis]);
        read = read.saturating_mul(input_size);
        written = written.saturating_mul(size);
        let is_size = |size: i64| (1..=i64::from(FILL)).contains(&size);
        if !is_size(size) || !is_size(input_size) || input_stride < 0 || output_stride < 0 {
            return Err(OracleError::NotExecutable("a size or stride is out of its range"));
        }
        if output_stride == 0 && size > 1 {
            return Err(OracleError::NotExecutable("its output overlaps itself"));
        }
        axes.push(Axis {
            size: size as u64,
            input_size: input_size as u64,
            output_stride: output_stride as u64,
            input_stride: input_stride as u64,
        });
    }
    axes.reverse();
    Ok(())
}

/// The sizes, and the strides if they are not null; both have the same length.
type Lists<'a> = (&'a [i64], Option<&'a [i64]>);

fn tensor(desc: &Desc, side: Side) -> Result<Lists<'_>, OracleError> {
    let tensor = desc.tensor(side).ok_or(OracleError::NotExecutable("a tensor is null"))?;
    let sizes = tensor.sizes.as_deref().ok_or(OracleError::NotExecutable("a tensor has no sizes"))?;
    let strides = tensor.strides.as_deref();
    if strides.is_some_and(|strides| strides.len() != sizes.len()) {
        return Err(OracleError::NotExecutable("a tensor's strides are not as many as its sizes"));
    }
    Ok((sizes, strides))
}
