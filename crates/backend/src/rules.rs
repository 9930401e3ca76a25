//! What the pages ask of a desc at feature level 6.4, written from them by hand: independent of the spec, the
//! oracle and the reference.
//!
//! The functions have the names that they have in the Python module. A backend whose library asks for less
//! than DirectML calls them. They would hide the mistakes of a validation that is itself under test.

use dmlcts_model::{Desc, List, Tensor, packed_strides};

use crate::Refusal;

/// A tensor has at most this many elements, from the first to the last one that it reaches.
const MOST_ELEMENTS: i64 = u32::MAX as i64;
/// Modes that DML_PADDING_MODE has: CONSTANT, EDGE, REFLECTION, SYMMETRIC, WRAP.
const MODES: i64 = 5;
/// The steps of the search for elements of an output that share memory.
const MOST_TRIED: u32 = 1 << 20;

/// The elements that are read along an axis: `length` of them, from `first` on, `step` apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Walk {
    /// The place of the first one on the axis.
    pub first: i64,
    /// Their number.
    pub length: i64,
    /// The distance from one to the next, which may be negative. If the length is 1, it may be any number.
    pub step: i64,
    /// The place at which the walk ends, without the element there; `None` if that is before the first
    /// element of the axis. It is the end of the window of SLICE1 if everything that the window reaches is
    /// read, and one step behind the last element otherwise.
    pub stop: Option<i64>,
}

/// Checks that both tensors are there, agree in type and dimension count, and keep what every operator asks
/// of its tensors. Returns the input and the output, or [`Refusal::Invalid`].
///
/// An output whose axes interleave in too many ways is [`Refusal::Unsupported`]. Pages:
/// DML_BUFFER_TENSOR_DESC, DML_TENSOR_FLAGS.
pub fn check_tensors(desc: &Desc) -> Result<(&Tensor, &Tensor), Refusal> {
    let input = desc.input.as_ref().ok_or_else(|| invalid("InputTensor is null"))?;
    let output = desc.output.as_ref().ok_or_else(|| invalid("OutputTensor is null"))?;
    let is_same = (input.data_type, input.dimension_count) == (output.data_type, output.dimension_count);
    ensure(is_same, "the tensors' types or dimension counts differ")?;
    ensure((1..=8).contains(&input.dimension_count), "the dimension count is not supported")?;
    check_tensor(input, 1)?;
    check_tensor(output, 0)?;
    let sizes = output.sizes.as_deref().unwrap_or_default();
    let overlaps = output.strides.as_deref().map_or(Ok(false), |strides| overlaps(sizes, strides))?;
    ensure(!overlaps, "OutputTensor overlaps itself")?;
    Ok((input, output))
}

/// Checks that SLICE or SLICE1 can be created of a desc, whose tensors [`check_tensors`] has returned.
/// Returns what is read on each axis, or [`Refusal::Invalid`].
///
/// Pages: DML_SLICE_OPERATOR_DESC, DML_SLICE1_OPERATOR_DESC.
pub fn check_slice(desc: &Desc, input: &Tensor, output: &Tensor) -> Result<Vec<Walk>, Refusal> {
    let operator = desc.signature.operator.as_str();
    let [offsets, sizes, strides] = match operator {
        "SLICE" => ["Offsets", "Sizes", "Strides"],
        "SLICE1" => ["InputWindowOffsets", "InputWindowSizes", "InputWindowStrides"],
        _ => return Err(Refusal::Unsupported(format!("{operator} is no slice").into())),
    }
    .map(|name| member(desc, input, name));
    let (offsets, sizes, strides) = (offsets?, sizes?, strides?);
    let [from, to] = [input, output].map(|tensor| axes(tensor.sizes.as_deref(), input));
    let (from, to) = (from?, to?);
    ensure(operator != "SLICE" || to == sizes, "OutputTensor.Sizes are not Sizes")?;
    let walk = |axis: usize| {
        let (n, length) = (from[axis], to[axis]);
        let (offset, size, step) = (offsets[axis], sizes[axis], strides[axis]);
        if operator == "SLICE" {
            // The page is silent about a stride of 0, and about one that no INT holds: refusing is allowed.
            ensure((1..1 << 31).contains(&step), "a stride is 0, or above INT_MAX")?;
            let last = (length - 1).saturating_mul(step).saturating_add(offset);
            ensure(offset >= 0 && last < n, "the slice reads outside of the input")?;
            return Ok(Walk { first: offset, length, step, stop: Some(last.saturating_add(step)) });
        }
        let is_inside = offset >= 0 && size >= 1 && offset.saturating_add(size) <= n;
        ensure(step != 0 && is_inside, "a window is empty or outside of the input, or its stride is 0")?;
        let reached = 1 + (size - 1) as u64 / step.unsigned_abs();
        ensure(length as u64 <= reached, "the output is larger than what the window holds")?;
        // A negative stride begins at the far end of the window.
        let (first, end) = if step > 0 { (offset, offset + size) } else { (offset + size - 1, offset - 1) };
        let stop =
            if length as u64 == reached { end } else { first.saturating_add(length.saturating_mul(step)) };
        Ok(Walk { first, length, step, stop: Some(stop).filter(|stop| *stop >= 0) })
    };
    (0..from.len()).map(walk).collect()
}

/// Checks that PADDING1 can be created of a desc, whose tensors [`check_tensors`] has returned. Returns how
/// many elements are added before and behind the input on each axis, or [`Refusal::Invalid`].
///
/// Their elements follow from `desc.integer("PaddingMode")`. For paddings of 2 around 1 2 3:
///
/// | number | mode | output |
/// |---|---|---|
/// | 0 | CONSTANT | `v v 1 2 3 v v`, for a `PaddingValue` of v |
/// | 1 | EDGE | `1 1 1 2 3 3 3` |
/// | 2 | REFLECTION | `3 2 1 2 3 2 1` |
/// | 3 | SYMMETRIC | `2 1 1 2 3 3 2` |
/// | 4 | WRAP | `2 3 1 2 3 1 2` |
///
/// Beyond the size of the input, the modes go on in the same way: paddings of 5 in front of 1 2 3 are
/// `2 1 2 3 2` in REFLECTION and `2 3 3 2 1` in SYMMETRIC.
///
/// Page: DML_PADDING1_OPERATOR_DESC.
pub fn check_padding(desc: &Desc, input: &Tensor, output: &Tensor) -> Result<Vec<(i64, i64)>, Refusal> {
    let mode = desc.integer("PaddingMode");
    ensure(mode.is_some_and(|mode| (0..MODES).contains(&mode)), "PaddingMode is no mode")?;
    let is_same = desc.integer("PaddingValueDataType") == Some(input.data_type.0.into());
    ensure(is_same, "PaddingValueDataType is not that of the tensors")?;
    let (start, end) = (member(desc, input, "StartPadding")?, member(desc, input, "EndPadding")?);
    let (from, to) = (axes(input.sizes.as_deref(), input)?, axes(output.sizes.as_deref(), input)?);
    let widths: Vec<(i64, i64)> = start.iter().copied().zip(end.iter().copied()).collect();
    let is_sum = |((n, m), (before, after)): ((&i64, &i64), &(i64, i64))| {
        i128::from(*n) + i128::from(*before) + i128::from(*after) == i128::from(*m)
    };
    let are_sums = from.iter().zip(to).zip(&widths).all(is_sum);
    ensure(are_sums, "OutputTensor.Sizes are not the input's with both paddings")?;
    Ok(widths)
}

/// The strides of a tensor in bytes, packed ones if it has none. It is [`Refusal::Invalid`] if its elements
/// are not whole bytes.
pub fn byte_strides(tensor: &Tensor) -> Result<List, Refusal> {
    let width = element_size(tensor)? as i64;
    let packed = || packed_strides(tensor.sizes.as_deref().unwrap_or_default());
    let strides = tensor.strides.clone().unwrap_or_else(packed);
    Ok(strides.into_iter().map(|stride| stride.saturating_mul(width)).collect())
}

fn element_size(tensor: &Tensor) -> Result<u64, Refusal> {
    let size = tensor.data_type.element_size();
    size.map(|size| size as u64).ok_or_else(|| invalid("DataType is none whose elements are whole bytes"))
}

fn check_tensor(tensor: &Tensor, most_flags: u32) -> Result<(), Refusal> {
    let width = element_size(tensor)?;
    let sizes = axes(tensor.sizes.as_deref(), tensor)?;
    let count = sizes.iter().try_fold(1_i64, |count, size| count.checked_mul(*size).filter(|_| *size > 0));
    let count = count.filter(|count| *count <= MOST_ELEMENTS);
    let mut span = count.ok_or_else(|| invalid("a tensor has no element, or more than 2^32 - 1"))?;
    if let Some(strides) = &tensor.strides {
        let strides = axes(Some(strides), tensor)?;
        ensure(strides.iter().all(|stride| *stride >= 0), "a stride of a tensor is negative")?;
        let reach = sizes.iter().zip(strides).map(|(size, stride)| (size - 1).saturating_mul(*stride));
        span = reach.fold(1, i64::saturating_add);
        ensure(span <= MOST_ELEMENTS, "a tensor spans more than 2^32 - 1 elements")?;
    }
    let needed = (span as u64 * width).next_multiple_of(4);
    ensure(tensor.total_size >= needed, "a TotalTensorSizeInBytes is too small")?;
    let alignment = tensor.alignment;
    let is_aligned = alignment == 0 || alignment.is_power_of_two() && u64::from(alignment) >= width;
    ensure(is_aligned, "a GuaranteedBaseOffsetAlignment is no power of two of the element's size or more")?;
    ensure(tensor.flags <= most_flags, "a tensor's Flags are not for it")
}

/// The values of a list member, one for each axis.
fn member<'a>(desc: &'a Desc, tensor: &Tensor, name: &str) -> Result<&'a [i64], Refusal> {
    let is_rank = desc.integer("DimensionCount") == Some(tensor.dimension_count.into());
    ensure(is_rank, "DimensionCount is not that of the tensors")?;
    axes(desc.list(name), tensor)
}

/// A list, which must have a value for each axis of the tensor.
fn axes<'a>(list: Option<&'a [i64]>, tensor: &Tensor) -> Result<&'a [i64], Refusal> {
    list.filter(|list| list.len() == tensor.dimension_count as usize)
        .ok_or_else(|| invalid("a list is null, or has not one value for each axis"))
}

/// Whether two elements share memory: whether steps along the axes, not all 0, come back to an element.
fn overlaps(sizes: &[i64], strides: &[i64]) -> Result<bool, Refusal> {
    let mut axes: Vec<(i64, i64)> = strides
        .iter()
        .zip(sizes)
        .filter(|(_, size)| **size > 1)
        .map(|(stride, size)| (*stride, size - 1))
        .collect();
    axes.sort_unstable_by(|one, other| other.cmp(one));
    if axes.iter().any(|(stride, _)| *stride == 0) {
        return Ok(true);
    }
    comes_back(&axes, 0, false, &mut 0)
}

/// Whether steps along these axes lead back over a distance. `moved` is whether a step was not 0 before.
fn comes_back(axes: &[(i64, i64)], distance: i64, moved: bool, tried: &mut u32) -> Result<bool, Refusal> {
    *tried += 1;
    if *tried > MOST_TRIED {
        return Err(Refusal::Unsupported("an output whose axes interleave in too many ways".into()));
    }
    let Some(((stride, most), inner)) = axes.split_first() else { return Ok(moved && distance == 0) };
    // How far the other axes reach.
    let reach: i64 = inner.iter().map(|(stride, most)| stride * most).sum();
    let least = (-most).max(-(distance + reach).div_euclid(*stride));
    let most = (*most).min((reach - distance).div_euclid(*stride));
    for steps in least..=most {
        if comes_back(inner, distance + steps * stride, moved || steps != 0, tried)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn ensure(holds: bool, otherwise: &'static str) -> Result<(), Refusal> {
    if holds { Ok(()) } else { Err(invalid(otherwise)) }
}

fn invalid(reason: &'static str) -> Refusal {
    Refusal::Invalid(reason.into())
}
