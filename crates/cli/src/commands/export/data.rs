//! Bytes and elements of tensors as literals.

use dmlcts_model::{DataType, List, NumberKind, Offsets, Tensor, element_to_text, packed_strides};

use super::{
    Data, ValidCase,
    operation::{Mode, Operation},
    template::{comment, fill},
};

/// The number of bytes or elements in a line of a program.
const ROW: usize = 16;

impl Data {
    pub(super) fn sizes(&self) -> &[i64] {
        self.tensor.sizes.as_deref().unwrap_or_default()
    }

    /// The strides in elements, also of a packed tensor.
    pub(super) fn strides(&self) -> List {
        self.tensor.strides.clone().unwrap_or_else(|| packed_strides(self.sizes()))
    }

    /// The bytes of an element. A valid desc has a data type of whole bytes.
    pub(super) fn element_size(&self) -> usize {
        self.tensor.data_type.element_size().unwrap_or(1)
    }

    /// Whether the elements are adjacent and in the order of coordinates. The stride of an axis of size 1 is
    /// never used.
    pub(super) fn is_packed(&self) -> bool {
        let (sizes, strides) = (self.sizes(), self.strides());
        let packed = packed_strides(sizes);
        (0..sizes.len()).all(|axis| sizes[axis] == 1 || strides[axis] == packed[axis])
    }

    /// The elements of the memory, up to the last one that the tensor has, with the holes between them.
    pub(super) fn elements_of_memory(&self) -> Vec<&[u8]> {
        let reach = |(&size, &stride): (&i64, &i64)| (size - 1) * stride;
        let last: i64 = self.sizes().iter().zip(&self.strides()).map(reach).sum();
        self.memory.chunks_exact(self.element_size()).take(last as usize + 1).collect()
    }

    /// The elements in the order of coordinates.
    pub(super) fn elements(&self) -> Vec<&[u8]> {
        let size = self.element_size();
        let Tensor { sizes, strides, .. } = &self.tensor;
        let offsets = Offsets::new(sizes.as_deref().unwrap_or_default(), strides.as_deref());
        offsets.filter_map(|offset| self.memory.get(offset as usize * size..)?.get(..size)).collect()
    }

    /// An array of NumPy with these elements.
    pub(super) fn numpy_array(&self, elements: &[&[u8]]) -> String {
        let row = match self.sizes().last() {
            Some(&inner @ 2..=16) => inner as usize,
            _ => ROW,
        };
        numpy_array(self.tensor.data_type, elements, row)
    }
}

impl ValidCase {
    /// A constant for each member that the computation may use. `list` and `scalar` write a list of integers
    /// and the bytes of an element in the program's language.
    pub(super) fn members(
        &self,
        list: fn(&str, String) -> String,
        scalar: fn(&str, String) -> String,
    ) -> String {
        let lists = self.operation.lists().into_iter();
        let mut members: Vec<String> = lists.map(|(name, values)| list(name, self::list(values))).collect();
        if let Operation::Padding1 { mode: Mode::Constant, value, .. } = &self.operation {
            members.push(scalar("PADDING_VALUE", bytes(&value[..self.input.element_size()])));
        }
        members.join("\n")
    }

    /// The program of a template in C, Rust or JavaScript, whose comments begin with `mark`. Beside `further`
    /// values, templates have the case, sizes, strides and bytes.
    pub(super) fn program(&self, template: &str, mark: &str, further: &[(&str, String)]) -> String {
        let Self { about, input, output, .. } = self;
        let values = [
            ("ABOUT", comment(mark, about)),
            ("RANK", input.sizes().len().to_string()),
            ("ELEMENT_SIZE", input.element_size().to_string()),
            ("INPUT_SIZES", list(input.sizes())),
            ("INPUT_STRIDES", list(&input.strides())),
            ("OUTPUT_SIZES", list(output.sizes())),
            ("OUTPUT_STRIDES", list(&output.strides())),
            ("INPUT", byte_rows(&input.memory)),
            ("EXPECTED", byte_rows(&output.memory)),
        ];
        fill(template, &[&values[..], further].concat())
    }
}

/// Bytes in lines, each behind four spaces.
fn byte_rows(memory: &[u8]) -> String {
    let rows: Vec<String> = memory.chunks(ROW).map(|row| format!("    {},", bytes(row))).collect();
    rows.join("\n")
}

/// Bytes with commas between them.
pub(super) fn bytes(bytes: &[u8]) -> String {
    let bytes: Vec<String> = bytes.iter().map(|byte| format!("0x{byte:02x}")).collect();
    bytes.join(", ")
}

/// Numbers with commas between them.
pub(super) fn list(values: &[i64]) -> String {
    let values: Vec<String> = values.iter().map(i64::to_string).collect();
    values.join(", ")
}

/// A tuple of Python, which has a comma after a single value.
pub(super) fn tuple(values: &[i64]) -> String {
    if let [value] = values { format!("({value},)") } else { format!("({})", list(values)) }
}

/// The type's name in NumPy.
pub(super) fn numpy_type(data_type: DataType) -> String {
    format!("np.{}", data_type.to_string().to_lowercase())
}

/// The unsigned type of the same width in NumPy. Comparing its values compares bits.
pub(super) fn numpy_bits(data_type: DataType) -> String {
    format!("np.uint{}", data_type.bits().unwrap_or(8))
}

/// An array of NumPy with these elements, with `row_length` elements in a line. Integers, and floats that are
/// small integers, are decimal. Other floats are bits, with their values in comments: Python has no literal
/// for a NaN with a payload.
fn numpy_array(data_type: DataType, elements: &[&[u8]], row_length: usize) -> String {
    let texts: Vec<String> = elements.iter().map(|element| element_to_text(data_type, element)).collect();
    let is_decimal = elements.iter().all(|element| decimal(data_type, element).is_some());
    let row = |(texts, elements): (&[String], &[&[u8]])| {
        if is_decimal {
            return format!("    {},", texts.join(", "));
        }
        let bits: Vec<String> = elements.iter().map(|element| bits(element)).collect();
        format!("    {},  # {}", bits.join(", "), texts.join(", "))
    };
    let rows: Vec<String> = texts.chunks(row_length).zip(elements.chunks(row_length)).map(row).collect();
    let rows = rows.join("\n");
    let name = numpy_type(data_type);
    if is_decimal {
        format!("np.array([\n{rows}\n], {name})")
    } else {
        format!("np.array([\n{rows}\n], {}).view({name})", numpy_bits(data_type))
    }
}

/// An element as a number of Python, if there is one with the same bits.
pub(super) fn decimal(data_type: DataType, element: &[u8]) -> Option<String> {
    let text = element_to_text(data_type, element);
    let is_float = data_type.number_kind() == Some(NumberKind::Float);
    (!is_float || is_integer(&text)).then_some(text)
}

/// Whether the text of a float is an integer that Python reads as the same float. `-0` is not: Python reads
/// an integer without a sign.
fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    text != "-0" && digits.len() <= 8 && digits.bytes().all(|digit| digit.is_ascii_digit())
}

/// The bits of an element as a hexadecimal number.
pub(super) fn bits(element: &[u8]) -> String {
    let digits: Vec<String> = element.iter().rev().map(|byte| format!("{byte:02x}")).collect();
    format!("0x{}", digits.concat())
}
