//! The model of one operator for a covering array: its parameters, and the values that can occur together.

use super::{
    array::{ANY, Model},
    axes::Axes,
};
use crate::{space::Space, suite::FillForm};

/// The layout of a tensor in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CoveredLayout {
    /// Without explicit strides.
    Packed,
    /// The axes in another order.
    Permuted,
    /// With gaps between rows.
    Padded,
    /// With one repeated axis; inputs only.
    Broadcast,
}

/// The layouts of an input. An output can have all but the last.
pub(super) const LAYOUTS: [CoveredLayout; 4] =
    [CoveredLayout::Packed, CoveredLayout::Permuted, CoveredLayout::Padded, CoveredLayout::Broadcast];

/// The indices of the parameters that every operator has. The parameters of its axes follow.
pub(super) const RANK: usize = 0;
pub(super) const TYPE: usize = 1;
pub(super) const SETTING: usize = 2;
pub(super) const FILL: usize = 3;
pub(super) const INPUT_LAYOUT: usize = 4;
pub(super) const OUTPUT_LAYOUT: usize = 5;
/// Whether tensors have a binding offset and larger total sizes than necessary.
pub(super) const BINDING: usize = 6;
/// The invalid value of a row. The array of valid descs has a single value for it.
pub(super) const INVALID: usize = 7;
const COMMON: usize = 8;

/// The invalid value in a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Invalid {
    /// The row is valid.
    Nothing,
    /// A data type that is not supported.
    Type(dmlcts_model::DataType),
    /// A rank that is not supported.
    Rank(usize),
    /// An unnamed code for the enumeration member at this index.
    Code(usize, i64),
    /// The innermost axis violates the clause at this index of [`Axes::broken`].
    Axis(usize),
}

/// The parameters of one operator, with its axes.
pub(super) struct Parameters<'a, 'lib> {
    pub(super) space: &'a Space<'lib>,
    pub(super) axes: &'a Axes,
    pub(super) types: Vec<dmlcts_model::DataType>,
    pub(super) ranks: Vec<usize>,
    pub(super) invalid: Vec<Invalid>,
    domains: Vec<usize>,
    /// For each feature, the codes of its values.
    codes: Vec<Vec<u8>>,
    /// For each feature and value, the bits of the kinds that have it. Kinds are numbered across all
    /// settings.
    having: Vec<Vec<Bits>>,
    /// For each setting, the bits of its kinds.
    of_setting: Vec<Bits>,
}

type Bits = Vec<u64>;

impl<'a, 'lib> Parameters<'a, 'lib> {
    pub(super) fn new(
        space: &'a Space<'lib>,
        axes: &'a Axes,
        types: Vec<dmlcts_model::DataType>,
        ranks: Vec<usize>,
        invalid: Vec<Invalid>,
    ) -> Self {
        let codes: Vec<Vec<u8>> = (0..axes.features.len()).map(|feature| axes.values(feature)).collect();
        let count: usize = axes.valid.iter().map(Vec::len).sum();
        let empty = vec![0_u64; count.div_ceil(64)];
        let mut having: Vec<Vec<Bits>> = codes.iter().map(|codes| vec![empty.clone(); codes.len()]).collect();
        let mut of_setting = vec![empty; axes.valid.len()];
        let kinds = axes.valid.iter().enumerate();
        let kinds = kinds.flat_map(|(setting, kinds)| kinds.iter().map(move |kind| (setting, kind)));
        for (number, (setting, kind)) in kinds.enumerate() {
            let (word, bit) = (number / 64, 1 << (number % 64));
            of_setting[setting][word] |= bit;
            for (feature, code) in kind.codes.iter().enumerate() {
                if let Some(value) = codes[feature].iter().position(|known| known == code) {
                    having[feature][value][word] |= bit;
                }
            }
        }
        let mut domains = vec![0; COMMON];
        domains[RANK] = ranks.len();
        domains[TYPE] = types.len();
        domains[SETTING] = space.settings.len();
        domains[FILL] = FillForm::ALL.len();
        domains[INPUT_LAYOUT] = LAYOUTS.len();
        domains[OUTPUT_LAYOUT] = LAYOUTS.len() - 1;
        domains[BINDING] = 2;
        domains[INVALID] = invalid.len();
        for _axis in 0..2 {
            domains.extend(codes.iter().map(Vec::len));
        }
        Self { space, axes, types, ranks, invalid, domains, codes, having, of_setting }
    }

    /// The number of features of an axis.
    pub(super) fn features(&self) -> usize {
        self.codes.len()
    }

    /// The parameters of the innermost (0) or outermost (1) axis.
    pub(super) fn of_axis(&self, axis: usize) -> std::ops::Range<usize> {
        let start = COMMON + axis * self.features();
        start..start + self.features()
    }

    /// The code of a feature, for a value in a row.
    pub(super) fn code(&self, feature: usize, value: u8) -> u8 {
        self.codes[feature][usize::from(value)]
    }

    /// The kinds that an axis of a row can have, in any setting.
    fn kinds(&self, row: &[u8], axis: usize) -> Bits {
        let mut bits = vec![u64::MAX; self.of_setting.first().map_or(0, Vec::len)];
        for (feature, &value) in row[self.of_axis(axis)].iter().enumerate() {
            if value != ANY {
                let having = &self.having[feature][usize::from(value)];
                bits.iter_mut().zip(having).for_each(|(bits, having)| *bits &= having);
            }
        }
        bits
    }

    /// Whether both axes of a row are possible in one setting.
    fn has_axes(&self, row: &[u8]) -> bool {
        let (inner, outer) = (self.kinds(row, 0), self.kinds(row, 1));
        let meets = |one: &Bits, other: &Bits| one.iter().zip(other).any(|(one, other)| one & other != 0);
        let invalid = row[INVALID];
        self.of_setting.iter().enumerate().any(|(number, setting)| {
            if row[SETTING] != ANY && usize::from(row[SETTING]) != number {
                return false;
            }
            // An axis that violates a clause replaces the innermost axis.
            let breaks =
                |clause: usize| self.axes.broken[clause].1.get(number).is_some_and(|kinds| !kinds.is_empty());
            let inner = match self.invalid.get(usize::from(invalid)) {
                Some(&Invalid::Axis(clause)) => breaks(clause),
                _ => meets(&inner, setting),
            };
            inner && meets(&outer, setting)
        })
    }

    fn has_outermost(&self, row: &[u8]) -> bool {
        row[self.of_axis(1)].iter().any(|&value| value != ANY)
    }
}

impl Model for Parameters<'_, '_> {
    fn domains(&self) -> &[usize] {
        &self.domains
    }

    fn allows(&self, row: &[u8]) -> bool {
        // The invalid value replaces the value of another parameter.
        let stands_in = match self.invalid.get(usize::from(row[INVALID])) {
            None | Some(Invalid::Nothing) => 0..0,
            Some(Invalid::Type(_)) => TYPE..TYPE + 1,
            Some(Invalid::Rank(_)) => RANK..RANK + 1,
            Some(Invalid::Code(..)) => SETTING..SETTING + 1,
            Some(Invalid::Axis(_)) => self.of_axis(0),
        };
        if row[stands_in].iter().any(|&value| value != ANY) {
            return false;
        }
        let is_permuted = [INPUT_LAYOUT, OUTPUT_LAYOUT]
            .iter()
            .any(|&layout| LAYOUTS.get(usize::from(row[layout])) == Some(&CoveredLayout::Permuted));
        let needs_two = is_permuted || self.has_outermost(row);
        let ranks = row[RANK];
        let has_rank = |rank: usize| !needs_two || rank > 1;
        let rank = match self.ranks.get(usize::from(ranks)) {
            Some(&rank) => has_rank(rank),
            None => self.ranks.iter().any(|&rank| has_rank(rank)),
        };
        rank && self.has_axes(row)
    }

    /// In an array with invalid values, every wanted combination includes one.
    fn wants(&self, parameters: &[usize]) -> bool {
        self.invalid == [Invalid::Nothing] || parameters.contains(&INVALID)
    }
}
