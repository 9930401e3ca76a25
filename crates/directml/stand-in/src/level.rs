//! What an operator takes, by feature level: the tables of its page.

use dmlcts_directml::raw::{
    DML_FEATURE_LEVEL, DML_FEATURE_LEVEL_1_0, DML_FEATURE_LEVEL_2_1, DML_FEATURE_LEVEL_3_0,
    DML_FEATURE_LEVEL_4_1, DML_FEATURE_LEVEL_5_0, DML_FEATURE_LEVEL_6_4, DML_OPERATOR_PADDING1,
    DML_OPERATOR_SLICE, DML_OPERATOR_SLICE1, DML_OPERATOR_TYPE, DML_PADDING_MODE, DML_PADDING_MODE_SYMMETRIC,
    DML_PADDING_MODE_WRAP, DML_TENSOR_DATA_TYPE, DML_TENSOR_DATA_TYPE_FLOAT64, DML_TENSOR_DATA_TYPE_INT8,
    DML_TENSOR_DATA_TYPE_INT64, DML_TENSOR_DATA_TYPE_UINT8,
};

/// What a device is able to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// The highest feature level that it has.
    pub level: DML_FEATURE_LEVEL,
    /// The highest feature level that the library has heard of.
    pub known: DML_FEATURE_LEVEL,
    /// Data types that its level would give and that it lacks.
    pub lacking: Vec<DML_TENSOR_DATA_TYPE>,
}

impl Default for Abilities {
    fn default() -> Self {
        Self { level: DML_FEATURE_LEVEL_6_4, known: DML_FEATURE_LEVEL_6_4, lacking: Vec::new() }
    }
}

impl Abilities {
    /// Whether the level is at least this one.
    pub fn has(&self, level: DML_FEATURE_LEVEL) -> bool {
        self.level.0 >= level.0
    }

    /// Whether tensors of a type may exist at all.
    pub fn supports(&self, data_type: DML_TENSOR_DATA_TYPE) -> bool {
        let named = (1..=DML_TENSOR_DATA_TYPE_INT64.0).contains(&data_type.0);
        let wide = data_type.0 >= DML_TENSOR_DATA_TYPE_FLOAT64.0;
        named && (!wide || self.has(DML_FEATURE_LEVEL_4_1)) && !self.lacking.contains(&data_type)
    }

    /// Whether an operator exists.
    pub fn knows(&self, operator: DML_OPERATOR_TYPE) -> bool {
        match operator {
            DML_OPERATOR_SLICE => self.has(DML_FEATURE_LEVEL_1_0),
            DML_OPERATOR_SLICE1 => self.has(DML_FEATURE_LEVEL_2_1),
            DML_OPERATOR_PADDING1 => self.has(DML_FEATURE_LEVEL_5_0),
            _ => false,
        }
    }

    /// Whether its operators take tensors of a type. Bytes came to SLICE after it; the other operators never
    /// lacked them.
    pub fn takes_type(&self, data_type: DML_TENSOR_DATA_TYPE) -> bool {
        let byte = data_type == DML_TENSOR_DATA_TYPE_INT8 || data_type == DML_TENSOR_DATA_TYPE_UINT8;
        self.supports(data_type) && (!byte || self.has(DML_FEATURE_LEVEL_2_1))
    }

    /// Whether its operators take tensors with so many dimensions.
    pub fn takes_dimensions(&self, count: usize) -> bool {
        if self.has(DML_FEATURE_LEVEL_3_0) { (1..=8).contains(&count) } else { (4..=5).contains(&count) }
    }

    /// Whether a padding mode exists.
    pub fn has_mode(&self, mode: DML_PADDING_MODE) -> bool {
        match mode {
            DML_PADDING_MODE_WRAP => self.has(DML_FEATURE_LEVEL_6_4),
            mode => (0..=DML_PADDING_MODE_SYMMETRIC.0).contains(&mode.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use dmlcts_directml::raw::{DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_DATA_TYPE_UINT4};

    use super::*;

    #[test]
    fn levels_bring_operators_types_dimensions_and_modes() {
        let at = |level| Abilities { level, ..Abilities::default() };
        assert!(at(DML_FEATURE_LEVEL_1_0).knows(DML_OPERATOR_SLICE));
        assert!(!at(DML_FEATURE_LEVEL_1_0).knows(DML_OPERATOR_SLICE1));
        assert!(!at(DML_FEATURE_LEVEL_4_1).knows(DML_OPERATOR_PADDING1));
        assert!(!at(DML_FEATURE_LEVEL_6_4).knows(DML_OPERATOR_TYPE(1)));
        assert!(!at(DML_FEATURE_LEVEL_1_0).takes_type(DML_TENSOR_DATA_TYPE_UINT8));
        assert!(at(DML_FEATURE_LEVEL_2_1).takes_type(DML_TENSOR_DATA_TYPE_UINT8));
        assert!(!at(DML_FEATURE_LEVEL_3_0).takes_type(DML_TENSOR_DATA_TYPE_FLOAT64));
        assert!(!at(DML_FEATURE_LEVEL_6_4).takes_type(DML_TENSOR_DATA_TYPE_UINT4));
        let counts = |level| (0..10).filter(|count| at(level).takes_dimensions(*count)).collect::<Vec<_>>();
        assert_eq!(counts(DML_FEATURE_LEVEL_2_1), [4, 5]);
        assert_eq!(counts(DML_FEATURE_LEVEL_3_0), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert!(!at(DML_FEATURE_LEVEL_5_0).has_mode(DML_PADDING_MODE_WRAP));
        assert!(!at(DML_FEATURE_LEVEL_6_4).has_mode(DML_PADDING_MODE(-1)));
        let lacking = Abilities { lacking: vec![DML_TENSOR_DATA_TYPE_FLOAT32], ..Abilities::default() };
        assert!(!lacking.takes_type(DML_TENSOR_DATA_TYPE_FLOAT32));
    }
}
