//! What each feature level supports: the tables at the end of each operator's page.

use std::ops::RangeInclusive;

use dmlcts_backend::Refusal;
use dmlcts_model::{DataType, FeatureLevel};

use crate::invalid;

/// One table of an operator's page, "Tensor support". Input and output have the same row everywhere.
pub(crate) struct Row {
    /// The code of the level from which the table holds.
    pub(crate) since: u32,
    /// Supported dimension counts.
    pub(crate) dimensions: RangeInclusive<u32>,
    /// Supported data types.
    pub(crate) types: Types,
}

/// Data types: a bit for each one's code.
#[derive(Clone, Copy)]
pub(crate) struct Types(u32);

impl Types {
    /// These, whose codes are below 32.
    pub(crate) const fn new(types: &[DataType]) -> Self {
        let mut bits = 0;
        let mut place = 0;
        // A constant cannot be made by an iterator.
        while place < types.len() {
            bits |= 1 << types[place].0;
            place += 1;
        }
        Self(bits)
    }

    #[inline]
    pub(crate) fn contains(self, data_type: DataType) -> bool {
        self.0.checked_shr(data_type.0).is_some_and(|bits| bits & 1 == 1)
    }
}

/// The eleven types of the newest tables.
pub(crate) const EVERY_TYPE: &[DataType] = &[
    DataType::FLOAT64,
    DataType::FLOAT32,
    DataType::FLOAT16,
    DataType::INT64,
    DataType::INT32,
    DataType::INT16,
    DataType::INT8,
    DataType::UINT64,
    DataType::UINT32,
    DataType::UINT16,
    DataType::UINT8,
];

/// The same as a set.
pub(crate) const EVERY: Types = Types::new(EVERY_TYPE);

/// The types of the tables of levels 2.1 and 3.0, which have none of 64 bits.
pub(crate) const UP_TO_32_BITS: Types = Types::new(&[
    DataType::FLOAT32,
    DataType::FLOAT16,
    DataType::INT32,
    DataType::INT16,
    DataType::INT8,
    DataType::UINT32,
    DataType::UINT16,
    DataType::UINT8,
]);

/// The table that holds at a level: the last one that is no younger. The rows are ordered by age.
pub(crate) fn at(level: FeatureLevel, rows: &'static [Row]) -> Result<&'static Row, Refusal> {
    rows.iter()
        .rev()
        .find(|row| row.since <= level.code())
        .ok_or_else(|| invalid("the operator is not part of this feature level"))
}
