//! Backends whose library works on packed arrays. Checks, views of memory and declarations are done here, so
//! that an author writes two methods. The names are those of `ArrayBackend` in the Python module.

use std::{error::Error, ops::Range};

use dmlcts_model::{BindingOffsets, DataType, Desc, Offsets, Tensor, named_enum};

use crate::{Capabilities, Lack, Operators, Refusal, RunError, check_padding, check_slice, check_tensors};

pub use crate::with_type;

/// Elements are copied, so a tensor that repeats its elements by a stride of 0 may be too large.
const MOST_ELEMENTS: u64 = 1 << 24;

/// A tensor without gaps, innermost axis last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PackedArray {
    /// The type of the elements.
    pub data_type: DataType,
    /// A size for each axis, in elements.
    pub sizes: Vec<usize>,
    /// The elements, little-endian.
    pub bytes: Vec<u8>,
}

impl PackedArray {
    /// An array of elements in the order of their coordinates, such as
    /// `PackedArray::new(data_type, &[2], [1.0_f32, 2.0].map(f32::to_le_bytes))`.
    pub fn new<const WIDTH: usize>(
        data_type: DataType,
        sizes: &[usize],
        elements: impl IntoIterator<Item = [u8; WIDTH]>,
    ) -> Self {
        Self { data_type, sizes: sizes.to_vec(), bytes: elements.into_iter().flatten().collect() }
    }

    /// The elements as numbers, such as `array.elements(f32::from_le_bytes)`.
    pub fn elements<T, const WIDTH: usize>(&self, number: impl FnMut([u8; WIDTH]) -> T) -> Vec<T> {
        self.bytes.as_chunks().0.iter().copied().map(number).collect()
    }
}

/// The result of a library's function. `?` takes every error, and a text becomes one with `into`.
pub type ArrayResult = Result<PackedArray, Box<dyn Error>>;

named_enum! {
    /// `DML_PADDING_MODE`, each mode at the place of its number. [`check_padding`] shows what each mode adds.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum PaddingMode: name {
        /// A constant value.
        Constant = "CONSTANT",
        /// The first or last element.
        Edge = "EDGE",
        /// The elements mirrored at the first or last one, which is not repeated.
        Reflection = "REFLECTION",
        /// The elements mirrored behind the first or last one, which is repeated.
        Symmetric = "SYMMETRIC",
        /// The elements from the other end.
        Wrap = "WRAP",
    }
}

/// A backend whose library works on packed arrays. [`Arrays`] makes [`Operators`] of it.
///
/// Invalid descs are refused before the library sees them. It runs on a copy of the input. Its result
/// is compared with the output's sizes and data type, and then copied into the output.
///
/// ```
/// use std::ops::Range;
///
/// use dmlcts_backend::{
///     Capabilities, Operators,
///     arrays::{ArrayBackend, ArrayResult, Arrays, PackedArray, PaddingMode, with_type},
/// };
///
/// struct Mine;
///
/// impl ArrayBackend for Mine {
///     const MODES: &[PaddingMode] = &[PaddingMode::Constant, PaddingMode::Edge];
///
///     fn capabilities(&self) -> Capabilities {
///         Capabilities::new("mine", "0.1")
///     }
///
///     fn slice(&mut self, array: &PackedArray, ranges: &[Range<usize>], steps: &[isize])
///         -> ArrayResult
///     {
///         # type F16 = f32;
///         # struct Matrix<T>(Vec<usize>, Vec<T>);
///         # impl<T> Matrix<T> { fn slice(self, _: &[Range<usize>], _: &[isize]) -> Self { self } }
///         // F16 is `half::f16`, or the library's own type. T becomes the type of the elements.
///         with_type!(array.data_type, F16, T => {
///             let matrix = Matrix(array.sizes.clone(), array.elements(T::from_le_bytes));
///             let Matrix(sizes, elements) = matrix.slice(ranges, steps);
///             Ok(PackedArray::new(array.data_type, &sizes, elements.into_iter().map(T::to_le_bytes)))
///         })
///     }
///
///     fn pad(&mut self, array: &PackedArray, widths: &[[usize; 2]], mode: PaddingMode, value: &PackedArray)
///         -> ArrayResult
///     {
///         Err("not there yet".into())
///     }
/// }
///
/// assert_eq!(Arrays::new(Mine).capabilities().lacks[0].condition, "PaddingMode == REFLECTION");
/// ```
pub trait ArrayBackend: Send {
    /// The padding modes that the library has. The others are lacks.
    const MODES: &'static [PaddingMode] = &PaddingMode::ALL;

    /// The modes that reach across one axis at most. Wider paddings are lacks.
    const NARROW_MODES: &'static [PaddingMode] = &[];

    /// What the backend is and what it supports, as [`Operators::capabilities`]. [`Arrays`] adds the lacks of
    /// modes, and lowers `limits.elements` to 2^24, since each element is copied. A library with one of the
    /// two methods declares the `operators` that it has.
    fn capabilities(&self) -> Capabilities {
        Capabilities::of_program().clone()
    }

    /// The elements of a range on each axis, `step` apart. A step is not 0. A negative one reads the range
    /// from its last element to its first. The ranges lie inside the array, and none is empty.
    fn slice(&mut self, array: &PackedArray, ranges: &[Range<usize>], steps: &[isize]) -> ArrayResult;

    /// The array with this many elements before and behind it on each axis. `value`, for
    /// [`PaddingMode::Constant`], is an array of one element and no axis.
    fn pad(
        &mut self,
        array: &PackedArray,
        widths: &[[usize; 2]],
        mode: PaddingMode,
        value: &PackedArray,
    ) -> ArrayResult;
}

/// Evaluates an expression in which a name stands for the Rust type of a data type: `with_type!(data_type,
/// half::f16, T => …)`. It is a `Result` whose error can be made of a text.
///
/// The second argument is the type of FLOAT16, for which the standard library has none.
#[macro_export]
macro_rules! with_type {
    ($data_type:expr, $half:ty, $element:ident => $body:expr) => {
        $crate::with_type!(@ $data_type, $element, $body,
            "FLOAT32" f32, "FLOAT16" $half, "UINT32" u32, "UINT16" u16, "UINT8" u8, "INT32" i32,
            "INT16" i16, "INT8" i8, "FLOAT64" f64, "UINT64" u64, "INT64" i64)
    };
    (@ $data_type:expr, $element:ident, $body:expr, $($name:literal $type:ty),*) => {
        match $data_type.name() {
            $(Some($name) => {
                type $element = $type;
                $body
            })*
            _ => Err("the elements of this data type are not whole bytes".into()),
        }
    };
}

/// [`Operators`] on packed arrays, made of an [`ArrayBackend`].
#[derive(Debug)]
pub struct Arrays<T> {
    library: T,
    capabilities: Capabilities,
}

/// A created operator of [`Arrays`].
#[derive(Debug)]
pub struct ArrayOperator {
    input: Tensor,
    output: Tensor,
    call: Call,
}

/// The arguments of the library's function.
#[derive(Debug)]
enum Call {
    Slice { ranges: Vec<Range<usize>>, steps: Vec<isize> },
    Pad { widths: Vec<[usize; 2]>, mode: PaddingMode, value: PackedArray },
}

impl<T: ArrayBackend> Arrays<T> {
    /// Adds to the declaration of a backend what follows from its modes.
    pub fn new(library: T) -> Self {
        let mut capabilities = library.capabilities();
        let has_padding = |names: &Vec<String>| names.iter().any(|name| name == "PADDING1");
        if capabilities.operators.as_ref().is_none_or(has_padding) {
            capabilities.lacks.extend(lacks::<T>());
        }
        capabilities.limits.elements = capabilities.limits.elements.min(MOST_ELEMENTS);
        Self { library, capabilities }
    }
}

fn lacks<T: ArrayBackend>() -> impl Iterator<Item = Lack> {
    let missing = PaddingMode::ALL
        .into_iter()
        .filter(|mode| !T::MODES.contains(mode))
        .map(|mode| (format!("PaddingMode == {}", mode.name()), "there is no such mode"));
    let wide = T::NARROW_MODES.iter().map(|&mode| {
        let above = if mode == PaddingMode::Reflection { ">=" } else { ">" };
        let width = format!("any axis max(StartPadding, EndPadding) {above} InputTensor.Sizes");
        (format!("PaddingMode == {} and {width}", mode.name()), "paddings reach across one axis at most")
    });
    missing.chain(wide).map(|(condition, reason)| Lack {
        operator: "PADDING1".to_owned(),
        condition,
        reason: reason.to_owned(),
    })
}

impl<T: ArrayBackend> Operators for Arrays<T> {
    type Operator = ArrayOperator;

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn create(&mut self, desc: &Desc) -> Result<ArrayOperator, Refusal> {
        let (input, output) = check_tensors(desc)?;
        let call = if desc.signature.operator == "PADDING1" {
            padding::<T>(desc, input, output)?
        } else {
            slice(desc, input, output)?
        };
        Ok(ArrayOperator { input: input.clone(), output: output.clone(), call })
    }

    fn run(
        &mut self,
        ArrayOperator { input: source, output: target, call }: &mut ArrayOperator,
        _: BindingOffsets,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), RunError> {
        let array = gather(source, input)?;
        let made = match call {
            Call::Slice { ranges, steps } => self.library.slice(&array, ranges, steps),
            Call::Pad { widths, mode, value } => self.library.pad(&array, widths, *mode, value),
        };
        scatter(&made.map_err(|error| RunError::Failed(error.to_string().into()))?, target, output)
    }
}

fn slice(desc: &Desc, input: &Tensor, output: &Tensor) -> Result<Call, Refusal> {
    let (mut ranges, mut steps) = (Vec::new(), Vec::new());
    for (walk, &size) in check_slice(desc, input, output)?.iter().zip(input.sizes.iter().flatten()) {
        let (low, high) = if walk.step > 0 {
            (walk.first, walk.stop.unwrap_or(size).min(size))
        } else {
            (walk.stop.map_or(0, |stop| stop + 1), walk.first + 1)
        };
        ranges.push(number(low)?..number(high)?);
        steps.push(number(walk.step)?);
    }
    Ok(Call::Slice { ranges, steps })
}

fn padding<T: ArrayBackend>(desc: &Desc, input: &Tensor, output: &Tensor) -> Result<Call, Refusal> {
    let widths = check_padding(desc, input, output)?;
    let widths: Result<Vec<_>, _> =
        widths.into_iter().map(|(before, behind)| Ok([number(before)?, number(behind)?])).collect();
    let mode = desc.integer("PaddingMode").and_then(|mode| PaddingMode::ALL.get(usize::try_from(mode).ok()?));
    let mode = mode.filter(|mode| T::MODES.contains(mode));
    let mode = *mode.ok_or(Refusal::Unsupported("there is no such mode".into()))?;
    let value = desc.scalar("PaddingValue").unwrap_or_default();
    let bytes = value.into_iter().take(input.data_type.element_size().unwrap_or_default()).collect();
    let value = PackedArray { data_type: input.data_type, sizes: Vec::new(), bytes };
    Ok(Call::Pad { widths: widths?, mode, value })
}

/// A number of a checked desc, which fits on any machine with the memory for its tensors.
fn number<T: TryFrom<i64>>(value: i64) -> Result<T, Refusal> {
    T::try_from(value).map_err(|_| Refusal::Unsupported(format!("{value} is beyond this machine").into()))
}

/// Copies a tensor out of its memory.
fn gather(tensor: &Tensor, memory: &[u8]) -> Result<PackedArray, RunError> {
    let (sizes, width) = (sizes(tensor), width(tensor)?);
    let mut bytes = Vec::new();
    for start in starts(tensor, width) {
        let element = start.and_then(|start| memory.get(start..)?.get(..width)).ok_or_else(outside)?;
        bytes.extend_from_slice(element);
    }
    Ok(PackedArray { data_type: tensor.data_type, sizes, bytes })
}

/// Copies a result into the memory of its tensor.
fn scatter(made: &PackedArray, tensor: &Tensor, memory: &mut [u8]) -> Result<(), RunError> {
    let (sizes, width) = (sizes(tensor), width(tensor)?);
    if made.data_type != tensor.data_type {
        return Err(RunError::WrongType(format!("{}, expected {}", made.data_type, tensor.data_type).into()));
    }
    if made.sizes != sizes {
        return Err(RunError::WrongShape(format!("{:?}, expected {sizes:?}", made.sizes).into()));
    }
    let needed = sizes.iter().fold(width, |product, size| product.saturating_mul(*size));
    if made.bytes.len() != needed {
        let reason = format!("{} bytes of sizes {sizes:?}, expected {needed}", made.bytes.len());
        return Err(RunError::WrongShape(reason.into()));
    }
    for (start, element) in starts(tensor, width).zip(made.bytes.chunks_exact(width)) {
        let place = start.and_then(|start| memory.get_mut(start..)?.get_mut(..width));
        place.ok_or_else(outside)?.copy_from_slice(element);
    }
    Ok(())
}

/// The first byte of each element; `None` if no memory is so large.
fn starts(tensor: &Tensor, width: usize) -> impl Iterator<Item = Option<usize>> {
    let sizes = tensor.sizes.as_deref().unwrap_or_default();
    Offsets::new(sizes, tensor.strides.as_deref())
        .map(move |offset| usize::try_from(offset).ok()?.checked_mul(width))
}

fn sizes(tensor: &Tensor) -> Vec<usize> {
    tensor.sizes.iter().flatten().map(|size| usize::try_from(*size).unwrap_or_default()).collect()
}

fn width(tensor: &Tensor) -> Result<usize, RunError> {
    tensor.data_type.element_size().ok_or(RunError::Failed("the elements are not whole bytes".into()))
}

fn outside() -> RunError {
    RunError::Failed("an element is outside of its tensor".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(sizes: &[i64], strides: &[i64]) -> Tensor {
        let strides = Some(strides.into());
        Tensor { strides, ..Tensor::packed(DataType::UINT16, sizes.into()) }
    }

    #[test]
    fn elements_come_out_of_strided_memory_and_go_back() {
        let tensor = tensor(&[2, 2], &[1, 3]);
        let memory = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
        let array = gather(&tensor, &memory).expect("an array");
        assert_eq!(array.bytes, [1, 2, 7, 8, 3, 4, 9, 10]);
        let mut written = [0; 10];
        scatter(&array, &tensor, &mut written).expect("a result of the tensor's sizes");
        assert_eq!(written, [1, 2, 3, 4, 0, 0, 7, 8, 9, 10]);
    }

    #[test]
    fn no_stride_reaches_outside_of_the_memory() {
        let array = PackedArray { data_type: DataType::UINT16, sizes: vec![2], bytes: vec![0; 4] };
        for stride in [2, i64::MAX, -1] {
            let tensor = tensor(&[2], &[stride]);
            assert_eq!(gather(&tensor, &[0; 5]), Err(outside()));
            assert_eq!(scatter(&array, &tensor, &mut [0; 5]), Err(outside()));
        }
    }

    #[test]
    fn a_result_has_the_type_the_sizes_and_the_bytes_of_the_output() {
        let right = PackedArray { data_type: DataType::UINT16, sizes: vec![2], bytes: vec![0; 4] };
        let write = |made: &PackedArray| scatter(made, &tensor(&[2], &[1]), &mut [0; 4]);
        assert_eq!(write(&right), Ok(()));
        let typed = PackedArray { data_type: DataType::INT16, ..right.clone() };
        assert!(matches!(write(&typed), Err(RunError::WrongType(_))));
        let sized = PackedArray { sizes: vec![1, 2], ..right.clone() };
        assert!(matches!(write(&sized), Err(RunError::WrongShape(_))));
        let cut = PackedArray { bytes: vec![0; 3], ..right };
        assert!(matches!(write(&cut), Err(RunError::WrongShape(_))));
    }

    struct Narrow;

    impl ArrayBackend for Narrow {
        const MODES: &[PaddingMode] = &[PaddingMode::Reflection, PaddingMode::Symmetric, PaddingMode::Wrap];
        const NARROW_MODES: &[PaddingMode] = &[PaddingMode::Reflection, PaddingMode::Wrap];

        fn slice(&mut self, _: &PackedArray, _: &[Range<usize>], _: &[isize]) -> ArrayResult {
            Err("no slice".into())
        }

        fn pad(&mut self, _: &PackedArray, _: &[[usize; 2]], _: PaddingMode, _: &PackedArray) -> ArrayResult {
            Err("no pad".into())
        }
    }

    #[test]
    fn lacks_follow_from_the_modes() {
        let arrays = Arrays::new(Narrow);
        let conditions: Vec<&str> =
            arrays.capabilities().lacks.iter().map(|lack| lack.condition.as_str()).collect();
        let width = "any axis max(StartPadding, EndPadding)";
        let expected = [
            "PaddingMode == CONSTANT".to_owned(),
            "PaddingMode == EDGE".to_owned(),
            format!("PaddingMode == REFLECTION and {width} >= InputTensor.Sizes"),
            format!("PaddingMode == WRAP and {width} > InputTensor.Sizes"),
        ];
        assert_eq!(conditions, expected);
        assert_eq!(arrays.capabilities().limits.elements, MOST_ELEMENTS);
    }
}
