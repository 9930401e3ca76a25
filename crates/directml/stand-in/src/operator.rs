//! The three operators: how their structs are read, and what is refused of them.

use std::fmt;

use dmlcts_directml::raw::{
    DML_OPERATOR_DESC, DML_OPERATOR_PADDING1, DML_OPERATOR_SLICE, DML_OPERATOR_SLICE1, DML_PADDING_MODE,
    DML_PADDING1_OPERATOR_DESC, DML_SLICE_OPERATOR_DESC, DML_SLICE1_OPERATOR_DESC, DML_TENSOR_DESC,
};

use crate::{
    level::Abilities,
    tensor::{Tensor, list},
};

/// An operator that may be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operator {
    /// What is read.
    pub input: Tensor,
    /// What is written; it has as many axes.
    pub output: Tensor,
    /// How each axis is read.
    pub axes: Vec<Axis>,
    /// The bytes of PADDING1's value, the lowest first, as many as an element has. Empty where none can be
    /// needed.
    pub value: Vec<u8>,
    /// Whether its input goes through a temporary resource.
    pub temporary: bool,
}

/// Which coordinate of the input an output's coordinate reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// `start + step * c`, which is inside.
    Steps {
        /// What 0 reads.
        start: i64,
        /// What one more adds.
        step: i64,
    },
    /// `c - before` where that is inside, and what a mode says where it is not.
    Padding {
        /// What lies outside.
        mode: DML_PADDING_MODE,
        /// Elements before the first.
        before: i64,
        /// Elements of the input.
        size: i64,
    },
}

/// Why a desc is refused, for whoever looks for the reason: the library's answer is E_INVALIDARG.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(String);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Refuses.
pub(crate) fn refuse<T>(why: &str) -> Result<T, Refusal> {
    Err(Refusal(why.to_owned()))
}

impl Operator {
    /// Copies what a desc points at, if an operator can be made of it.
    ///
    /// # Safety
    ///
    /// `desc` is null, or good for reading; so are the pointers in it. Each array holds as many values as the
    /// greatest of the desc's counts says, or eight where they say more.
    pub unsafe fn read(desc: *const DML_OPERATOR_DESC, abilities: &Abilities) -> Result<Self, Refusal> {
        // SAFETY: the caller says so.
        let Some(desc) = (unsafe { desc.as_ref() }) else { return refuse("the desc is null") };
        if desc.Desc.is_null() {
            return refuse("the operator's desc is null");
        }
        if !abilities.knows(desc.Type) {
            return refuse("no such operator is known at this feature level");
        }
        // SAFETY: the caller says so, and the type says which struct it is.
        unsafe {
            match desc.Type {
                DML_OPERATOR_SLICE => slice(&*desc.Desc.cast(), abilities),
                DML_OPERATOR_SLICE1 => slice1(&*desc.Desc.cast(), abilities),
                DML_OPERATOR_PADDING1 => padding1(&*desc.Desc.cast(), abilities),
                _ => refuse("no such operator is known"),
            }
        }
    }
}

/// What the operators here have in common: two tensors of one type and rank, whose rank is also the
/// operator's count.
///
/// # Safety
///
/// As [`Operator::read`].
unsafe fn tensors(
    [input, output]: [*const DML_TENSOR_DESC; 2],
    count: u32,
    abilities: &Abilities,
) -> Result<(Tensor, Tensor), Refusal> {
    // SAFETY: the caller says so.
    let (input, output) = unsafe { (Tensor::read(input), Tensor::read(output)) };
    let input = input.map_err(|why| Refusal(format!("InputTensor: {why}")))?;
    let output = output.map_err(|why| Refusal(format!("OutputTensor: {why}")))?;
    if input.data_type != output.data_type {
        return refuse("the tensors differ in type");
    }
    if !abilities.takes_type(input.data_type) {
        return refuse("the type is not supported");
    }
    if input.sizes.len() != output.sizes.len() || input.sizes.len() != count as usize {
        return refuse("the tensors and the operator differ in their counts of dimensions");
    }
    if !abilities.takes_dimensions(input.sizes.len()) {
        return refuse("so many dimensions are not supported");
    }
    if output.owned {
        return refuse("OutputTensor: only an input can be owned");
    }
    if output.overlaps() {
        return refuse("OutputTensor: two elements share a place");
    }
    Ok((input, output))
}

unsafe fn slice(desc: &DML_SLICE_OPERATOR_DESC, abilities: &Abilities) -> Result<Operator, Refusal> {
    // SAFETY: the caller says so; once the tensors are read, the count is eight at most.
    let (input, output) =
        unsafe { tensors([desc.InputTensor, desc.OutputTensor], desc.DimensionCount, abilities) }?;
    // SAFETY: as above.
    let lists =
        unsafe { [desc.Offsets, desc.Sizes, desc.Strides].map(|values| list(values, desc.DimensionCount)) };
    let [Some(offsets), Some(sizes), Some(strides)] = lists else { return refuse("a list is null") };
    let mut axes = Vec::new();
    for axis in 0..sizes.len() {
        let [offset, size, stride] = [offsets[axis], sizes[axis], strides[axis]].map(i64::from);
        if sizes[axis] != output.sizes[axis] {
            return refuse("Sizes are not the output's");
        }
        // Below 2^32 + 2^64: more than an i64 holds.
        if i128::from(offset) + i128::from(size - 1) * i128::from(stride) >= i128::from(input.sizes[axis]) {
            return refuse("it reads beyond the input");
        }
        axes.push(Axis::Steps { start: offset, step: stride });
    }
    Ok(Operator { input, output, axes, value: Vec::new(), temporary: false })
}

unsafe fn slice1(desc: &DML_SLICE1_OPERATOR_DESC, abilities: &Abilities) -> Result<Operator, Refusal> {
    // SAFETY: the caller says so; once the tensors are read, the count is eight at most.
    let (input, output) =
        unsafe { tensors([desc.InputTensor, desc.OutputTensor], desc.DimensionCount, abilities) }?;
    // SAFETY: as above.
    let lists = unsafe {
        (
            list(desc.InputWindowOffsets, desc.DimensionCount),
            list(desc.InputWindowSizes, desc.DimensionCount),
            list(desc.InputWindowStrides, desc.DimensionCount),
        )
    };
    let (Some(offsets), Some(windows), Some(strides)) = lists else { return refuse("a list is null") };
    let mut axes = Vec::new();
    for axis in 0..windows.len() {
        let (offset, window, stride) =
            (i64::from(offsets[axis]), i64::from(windows[axis]), i64::from(strides[axis]));
        if window == 0 {
            return refuse("a window is empty");
        }
        if offset + window > i64::from(input.sizes[axis]) {
            return refuse("a window ends beyond the input");
        }
        if stride == 0 {
            return refuse("a stride is 0");
        }
        if i64::from(output.sizes[axis]) > 1 + (window - 1) / stride.abs() {
            return refuse("the output is larger than its window allows");
        }
        let start = if stride < 0 { offset + window - 1 } else { offset };
        axes.push(Axis::Steps { start, step: stride });
    }
    let temporary = !input.owned;
    Ok(Operator { input, output, axes, value: Vec::new(), temporary })
}

unsafe fn padding1(desc: &DML_PADDING1_OPERATOR_DESC, abilities: &Abilities) -> Result<Operator, Refusal> {
    // SAFETY: the caller says so; once the tensors are read, the count is eight at most.
    let (input, output) =
        unsafe { tensors([desc.InputTensor, desc.OutputTensor], desc.DimensionCount, abilities) }?;
    // SAFETY: as above.
    let lists =
        unsafe { [desc.StartPadding, desc.EndPadding].map(|values| list(values, desc.DimensionCount)) };
    let [Some(starts), Some(ends)] = lists else { return refuse("a list is null") };
    if !abilities.has_mode(desc.PaddingMode) {
        return refuse("no such mode is known at this feature level");
    }
    if desc.PaddingValueDataType != input.data_type {
        return refuse("the value has another type than the tensors");
    }
    let mut axes = Vec::new();
    for axis in 0..starts.len() {
        let [before, size, after] = [starts[axis], input.sizes[axis], ends[axis]].map(i64::from);
        if i64::from(output.sizes[axis]) != before + size + after {
            return refuse("the output is not the padded input");
        }
        axes.push(Axis::Padding { mode: desc.PaddingMode, before, size });
    }
    let value = desc.PaddingValue.Bytes[..input.element as usize].to_vec();
    let temporary = !input.owned;
    Ok(Operator { input, output, axes, value, temporary })
}

#[cfg(test)]
mod tests;
