//! The support of each feature level: the tables at the end of each operator's page.

use std::ops::RangeInclusive;

use dmlcts_backend::Refusal;
use dmlcts_model::DataType;

use crate::Checks;

/// One "Tensor support" table of an operator's page. Input and output have the same row everywhere.
pub(crate) struct SupportRow {
    /// The code of the feature level since which the table applies.
    pub(crate) since: u32,
    /// Supported dimension counts.
    pub(crate) dimensions: RangeInclusive<u32>,
    /// Supported data types.
    pub(crate) types: Types,
}

/// A set of data types, with one bit for each code.
#[derive(Clone, Copy)]
pub(crate) struct Types(u32);

impl Types {
    /// A set of these types. Their codes must be below 32.
    pub(crate) const fn new(types: &[DataType]) -> Self {
        let mut bits = 0;
        let mut place = 0;
        // Iterators do not work in constants.
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

/// The eleven data types of the newest tables.
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

/// [`EVERY_TYPE`] as a set.
pub(crate) const EVERY: Types = Types::new(EVERY_TYPE);

/// The data types of the tables for levels 2.1 and 3.0, which lack those of 64 bits.
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

/// The table for a feature level: the last one that is not newer. The rows are sorted by level. Without the
/// check that there is one, the first table.
pub(crate) fn at(checks: Checks<'_>, rows: &'static [SupportRow]) -> Result<&'static SupportRow, Refusal> {
    if let Some(row) = rows.iter().rev().find(|row| row.since <= checks.level.code()) {
        return Ok(row);
    }
    checks.refuse("the operator is not part of this feature level")?;
    Ok(&rows[0])
}
