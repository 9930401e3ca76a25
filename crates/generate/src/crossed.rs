//! The factors that ways to break a clause are crossed with, and which of their values cases have met.

use dmlcts_model::{Case, DataType, FeatureLevel};
use dmlcts_spec::{IdSet, Operator, Scope, Scratch, Truth};

use crate::{
    space::{MOST_AXES, Space},
    suite::Cross,
};

/// The factors of each way.
const FACTORS: [Cross; 5] = [Cross::Type, Cross::Width, Cross::Mode, Cross::Rank, Cross::Axis];

/// The first, an inner or the last axis. The only axis of a tensor is its last.
pub(crate) const FIRST: usize = 0;
/// An axis that is neither the first nor the last.
pub(crate) const INNER: usize = 1;
/// The last axis.
pub(crate) const LAST: usize = 2;
const AXES: [&str; 3] = ["the first axis", "an inner axis", "the last axis"];
/// The place that stands for no value.
const NONE: usize = 63;
/// The widths of elements in bytes.
const WIDTHS: [usize; 4] = [1, 2, 4, 8];

/// For each [way](dmlcts_spec::Way) to break a clause of an operator, the data types, modes, ranks and axes
/// with which a case has broken it.
#[derive(Debug, Clone)]
pub struct Crossed<'lib> {
    operator: &'lib Operator,
    types: Vec<DataType>,
    ranks: Vec<usize>,
    /// The settings: the member's index and value, and the name, of each.
    modes: Vec<(Vec<(usize, i64)>, String)>,
    /// For each way, the values of each factor that were met, as bits.
    met: Vec<[u64; FACTORS.len()]>,
    truths: Vec<Truth>,
}

/// The pairs of a way and the values of a factor that no case has met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmet {
    /// The index of the clause.
    pub clause: usize,
    /// The way, as text.
    pub way: String,
    /// The number of these pairs.
    pub count: usize,
    /// The values, such as `FLOAT16`, `rank 8` or `the last axis`; empty if no case took the way at all.
    pub values: Vec<String>,
}

impl<'lib> Crossed<'lib> {
    /// Nothing is met. `None` if the operator is not supported at the level.
    pub fn new(operator: &'lib Operator, level: FeatureLevel) -> Option<Self> {
        let space = Space::new(operator, level)?;
        Some(Self::of(&space, space.types.clone(), (space.ranks.0..=space.ranks.1).collect()))
    }

    /// Nothing is met. The types and ranks are those that count.
    pub(crate) fn of(space: &Space<'lib>, types: Vec<DataType>, ranks: Vec<usize>) -> Self {
        let operator = space.operator;
        let decided = operator.modes();
        let modes = space.settings.iter().map(|setting| {
            let members: Vec<(usize, i64)> = setting.values.iter().copied().enumerate().collect();
            let of_modes =
                members.into_iter().filter(|(member, _)| decided.iter().any(|mode| mode.member == *member));
            (of_modes.collect(), setting.name.clone())
        });
        let modes = modes.collect();
        let met = vec![[0; FACTORS.len()]; operator.ways().all().len()];
        Self { operator, types, ranks, modes, met, truths: Vec::new() }
    }

    /// The operator.
    pub fn operator(&self) -> &'lib Operator {
        self.operator
    }

    /// The number of values of a factor.
    pub(crate) fn values(&self, factor: Cross) -> usize {
        match factor {
            Cross::Type => self.types.len(),
            Cross::Width => WIDTHS.len(),
            Cross::Mode => self.modes.len(),
            Cross::Rank => self.ranks.len(),
            Cross::Axis => AXES.len(),
            Cross::Question => 0,
        }
    }

    /// Whether a way was met with a value of a factor.
    pub(crate) fn has(&self, way: usize, factor: Cross, value: usize) -> bool {
        self.met[way][factor as usize] >> value & 1 == 1
    }

    /// Adds an invalid case, which breaks these clauses.
    pub fn add(&mut self, case: &Case, violated: IdSet, level: FeatureLevel, scratch: &mut Scratch) {
        let mut taken = Vec::new();
        let memory = (scratch.values(), &mut self.truths);
        self.operator.ways().taken(violated, case, level, memory, |way, truth| taken.push((way, truth)));
        for (way, truth) in taken {
            self.mark(way, truth, case);
        }
    }

    /// Adds a case that takes a way on some axes.
    pub(crate) fn mark(&mut self, way: usize, truth: Truth, case: &Case) {
        let desc = &case.desc;
        let tensors = || [desc.output.as_ref(), desc.input.as_ref()].into_iter().flatten();
        let data_type = tensors().map(|tensor| tensor.data_type).find(|known| self.types.contains(known));
        let rank =
            tensors().map(|tensor| tensor.dimension_count as usize).find(|rank| self.ranks.contains(rank));
        let is_mode = |(values, _): &(Vec<(usize, i64)>, String)| {
            values.iter().all(|(member, value)| {
                desc.members.get(*member) == Some(&dmlcts_model::Value::Integer(*value))
            })
        };
        let places = [
            (Cross::Type, data_type.and_then(|known| self.types.iter().position(|&other| other == known))),
            (Cross::Width, data_type.and_then(width)),
            (Cross::Mode, self.modes.iter().position(is_mode)),
            (Cross::Rank, rank.and_then(|rank| self.ranks.iter().position(|&known| known == rank))),
        ];
        let met = &mut self.met[way];
        for (factor, place) in places {
            met[factor as usize] |= 1 << place.unwrap_or(NONE).min(NONE);
        }
        let rank = desc.rank();
        if truth.of > 1 || rank == 1 {
            for axis in (0..rank.min(MOST_AXES)).filter(|axis| truth.on >> axis & 1 == 1) {
                let place = if axis + 1 == rank {
                    LAST
                } else if axis == 0 {
                    FIRST
                } else {
                    INNER
                };
                met[Cross::Axis as usize] |= 1 << place;
            }
        }
    }

    /// Adds what another count of the same operator has met.
    pub fn merge(&mut self, other: &Self) {
        for (met, other) in self.met.iter_mut().zip(&other.met) {
            for (bits, other) in met.iter_mut().zip(other) {
                *bits |= other;
            }
        }
    }

    /// The number of pairs of a way and a value that can be met, and those that are not.
    pub fn unmet(&self) -> (usize, Vec<Unmet>) {
        let (mut all, mut unmet) = (0, Vec::new());
        for (place, way) in self.operator.ways().all().iter().enumerate() {
            let is_on_axis = self.operator.clauses()[way.clause].scope == Scope::Axis;
            let mut missing = Vec::new();
            let mut is_met = false;
            for factor in FACTORS {
                // A type decides the width. Without modes, there is one setting, which has no name.
                let is_left_out = match factor {
                    Cross::Width | Cross::Question => true,
                    Cross::Axis => !is_on_axis,
                    Cross::Mode if self.modes.len() < 2 => true,
                    // A desc of an unsupported type, mode or rank has none of the values.
                    Cross::Type | Cross::Mode | Cross::Rank => self.met[place][factor as usize] == 1 << NONE,
                };
                if is_left_out {
                    continue;
                }
                for value in 0..self.values(factor) {
                    all += 1;
                    if self.has(place, factor, value) {
                        is_met = true;
                    } else {
                        missing.push(self.name(factor, value));
                    }
                }
            }
            if !missing.is_empty() {
                let count = missing.len();
                let values = if is_met { missing } else { Vec::new() };
                unmet.push(Unmet { clause: way.clause, way: way.text.clone(), count, values });
            }
        }
        (all, unmet)
    }

    fn name(&self, factor: Cross, value: usize) -> String {
        match factor {
            Cross::Type => self.types[value].to_string(),
            Cross::Width => format!("{} bytes", WIDTHS[value]),
            Cross::Mode => self.modes[value].1.clone(),
            Cross::Rank => format!("rank {}", self.ranks[value]),
            Cross::Axis => AXES[value].to_owned(),
            Cross::Question => String::new(),
        }
    }
}

/// The place of a type's width among 1, 2, 4 and 8 bytes.
pub(crate) fn width(data_type: DataType) -> Option<usize> {
    WIDTHS.iter().position(|&width| data_type.element_size() == Some(width))
}
