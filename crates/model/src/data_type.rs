//! `DML_TENSOR_DATA_TYPE`: the code in a desc, and the properties of the codes that have names.

use std::fmt;

use crate::named_enum;

/// A `DML_TENSOR_DATA_TYPE` in a desc. It can hold any 32-bit code, since a desc with a code that does not
/// exist is also a case. The codes of `DirectML.h` have names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DataType(pub u32);

named_enum! {
    /// How the bits of an element represent a number.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum NumberKind: name {
        /// An IEEE 754 binary format.
        Float = "float",
        /// An unsigned integer.
        Unsigned = "unsigned",
        /// A two's complement integer.
        Signed = "signed",
    }
}

/// Name, code, bits per element and kind: one row for each data type of `DirectML.h`.
const TABLE: [(&str, DataType, u32, NumberKind); 13] = [
    ("FLOAT32", DataType::FLOAT32, 32, NumberKind::Float),
    ("FLOAT16", DataType::FLOAT16, 16, NumberKind::Float),
    ("UINT32", DataType::UINT32, 32, NumberKind::Unsigned),
    ("UINT16", DataType::UINT16, 16, NumberKind::Unsigned),
    ("UINT8", DataType::UINT8, 8, NumberKind::Unsigned),
    ("INT32", DataType::INT32, 32, NumberKind::Signed),
    ("INT16", DataType::INT16, 16, NumberKind::Signed),
    ("INT8", DataType::INT8, 8, NumberKind::Signed),
    ("FLOAT64", DataType::FLOAT64, 64, NumberKind::Float),
    ("UINT64", DataType::UINT64, 64, NumberKind::Unsigned),
    ("INT64", DataType::INT64, 64, NumberKind::Signed),
    ("UINT4", DataType::UINT4, 4, NumberKind::Unsigned),
    ("INT4", DataType::INT4, 4, NumberKind::Signed),
];

impl DataType {
    /// No data type; never valid in a desc.
    pub const UNKNOWN: Self = Self(0);
    /// IEEE 754 binary32.
    pub const FLOAT32: Self = Self(1);
    /// IEEE 754 binary16.
    pub const FLOAT16: Self = Self(2);
    /// Unsigned, 32 bits.
    pub const UINT32: Self = Self(3);
    /// Unsigned, 16 bits.
    pub const UINT16: Self = Self(4);
    /// Unsigned, 8 bits.
    pub const UINT8: Self = Self(5);
    /// Signed, 32 bits.
    pub const INT32: Self = Self(6);
    /// Signed, 16 bits.
    pub const INT16: Self = Self(7);
    /// Signed, 8 bits.
    pub const INT8: Self = Self(8);
    /// IEEE 754 binary64.
    pub const FLOAT64: Self = Self(9);
    /// Unsigned, 64 bits.
    pub const UINT64: Self = Self(10);
    /// Signed, 64 bits.
    pub const INT64: Self = Self(11);
    /// Unsigned, 4 bits; only for quantisation.
    pub const UINT4: Self = Self(12);
    /// Signed, 4 bits; only for quantisation.
    pub const INT4: Self = Self(13);

    /// Every data type of `DirectML.h` except UNKNOWN, by code.
    pub fn all() -> impl ExactSizeIterator<Item = Self> {
        TABLE.iter().map(|row| row.1)
    }

    fn row(self) -> Option<&'static (&'static str, Self, u32, NumberKind)> {
        TABLE.get((self.0 as usize).checked_sub(1)?)
    }

    /// The name as the pages spell it, without `DML_TENSOR_DATA_TYPE_`; `None` for a code without a name.
    pub fn name(self) -> Option<&'static str> {
        if self == Self::UNKNOWN { Some("UNKNOWN") } else { self.row().map(|row| row.0) }
    }

    /// The data type with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        if name == "UNKNOWN" {
            return Some(Self::UNKNOWN);
        }
        TABLE.iter().find(|row| row.0 == name).map(|row| row.1)
    }

    /// The bits per element; `None` for UNKNOWN and for codes without a name.
    pub fn bits(self) -> Option<u32> {
        self.row().map(|row| row.2)
    }

    /// The bytes per element; `None` if that is not a whole number, or the code has no name.
    pub fn element_size(self) -> Option<usize> {
        self.bits().filter(|bits| bits % 8 == 0).map(|bits| bits as usize / 8)
    }

    /// How an element represents a number.
    pub fn number_kind(self) -> Option<NumberKind> {
        self.row().map(|row| row.3)
    }
}

/// The name, or the bare code if it has none.
impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => self.0.fmt(f),
        }
    }
}

impl fmt::Debug for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_stands_at_its_code_and_its_name_leads_back() {
        for (index, row) in TABLE.iter().enumerate() {
            assert_eq!(row.1.0 as usize, index + 1);
            assert_eq!(DataType::from_name(row.0), Some(row.1));
        }
    }

    #[test]
    fn codes_without_a_name_have_no_size() {
        for code in [0, 14, u32::MAX] {
            assert_eq!(DataType(code).bits(), None);
        }
        assert_eq!(DataType::INT4.element_size(), None);
        assert_eq!(DataType(14).to_string(), "14");
    }
}
