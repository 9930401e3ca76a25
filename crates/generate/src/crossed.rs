//! Notes with which values of each factor cases have broken a clause in each way.

use std::collections::BTreeSet;

use dmlcts_model::{Case, DataType, FeatureLevel};
use dmlcts_spec::{Clause, IdSet, Operator, Scope, Scratch, Truth};

use crate::{
    impossible::Impossible,
    space::{MOST_AXES, Space},
    suite::Cross,
};

/// The factors of each way.
const FACTORS: [Cross; 5] = [Cross::Type, Cross::Width, Cross::Mode, Cross::Rank, Cross::Axis];

/// The first of several axes. The only axis of a tensor is its last.
pub(crate) const FIRST: usize = 0;
/// An axis that is neither the first nor the last.
pub(crate) const INNER: usize = 1;
/// The last axis.
pub(crate) const LAST: usize = 2;
const AXES: [&str; 3] = ["the first axis", "an inner axis", "the last axis"];
/// The bit that stands for no value.
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
    /// For each setting, the indices and values of the members that are modes, and its name.
    modes: Vec<(Vec<(usize, i64)>, String)>,
    /// For each way, the values of each factor that were met, as bits.
    met: Vec<[u64; FACTORS.len()]>,
    truths: Vec<Truth>,
}

/// The values of a way's factors that no case has met, for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmet {
    /// The index of the clause.
    pub clause: usize,
    /// The way, as text.
    pub way: String,
    /// The values, such as `FLOAT16`, `rank 8` or `the last axis`.
    pub values: Vec<String>,
    /// Whether no case took the way with any value.
    pub is_never_taken: bool,
    /// The reason why no desc shows these pairs; `None` if a desc may exist.
    pub because: Option<&'static str>,
}

impl<'lib> Crossed<'lib> {
    /// Starts with nothing met. `None` if the operator is not supported at the level.
    pub fn new(operator: &'lib Operator, level: FeatureLevel) -> Option<Self> {
        let space = Space::new(operator, level)?;
        Some(Self::of(&space, space.types.clone(), (space.ranks.0..=space.ranks.1).collect()))
    }

    /// Starts with nothing met. Only these types and ranks count.
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
        for (way, truth) in self.taken(case, violated, level, scratch) {
            self.mark(way, truth, case);
        }
    }

    /// The ways in which a case breaks these clauses, and the axes on which it does.
    pub(crate) fn taken(
        &mut self,
        case: &Case,
        violated: IdSet,
        level: FeatureLevel,
        scratch: &mut Scratch,
    ) -> Vec<(usize, Truth)> {
        let mut taken = Vec::new();
        let memory = (scratch.values(), &mut self.truths);
        self.operator.ways().taken(violated, case, level, memory, |way, truth| taken.push((way, truth)));
        taken
    }

    /// Adds a case that takes a way on some axes.
    pub(crate) fn mark(&mut self, way: usize, truth: Truth, case: &Case) {
        let places = self.places(truth, case);
        for (met, place) in self.met[way].iter_mut().zip(places) {
            *met |= place;
        }
    }

    /// Whether a case that takes a way on some axes has a value of a factor.
    pub(crate) fn shows(&self, truth: Truth, case: &Case, factor: Cross, value: usize) -> bool {
        self.places(truth, case)[factor as usize] >> value & 1 == 1
    }

    /// The values of each factor, as bits, that a case has if it takes a way on these axes.
    fn places(&self, truth: Truth, case: &Case) -> [u64; FACTORS.len()] {
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
        let bit = |place: Option<usize>| 1 << place.unwrap_or(NONE).min(NONE);
        let mut places = [0; FACTORS.len()];
        places[Cross::Type as usize] =
            bit(data_type.and_then(|known| self.types.iter().position(|&other| other == known)));
        places[Cross::Width as usize] = bit(data_type.and_then(width));
        places[Cross::Mode as usize] = bit(self.modes.iter().position(is_mode));
        places[Cross::Rank as usize] =
            bit(rank.and_then(|rank| self.ranks.iter().position(|&known| known == rank)));
        let rank = desc.rank();
        if truth.of > 1 || rank == 1 {
            for axis in (0..rank.min(MOST_AXES)).filter(|axis| truth.on >> axis & 1 == 1) {
                let place = match axis {
                    _ if axis + 1 == rank => LAST,
                    0 => FIRST,
                    _ => INNER,
                };
                places[Cross::Axis as usize] |= 1 << place;
            }
        }
        places
    }

    /// Adds the values that another count of the same operator has met.
    pub fn merge(&mut self, other: &Self) {
        for (met, other) in self.met.iter_mut().zip(&other.met) {
            for (bits, other) in met.iter_mut().zip(other) {
                *bits |= other;
            }
        }
    }

    /// The number of pairs of a way and a value, and those that are not met.
    pub fn unmet(&self) -> (usize, Vec<Unmet>) {
        let (mut all, mut unmet) = (0, Vec::new());
        for (place, way) in self.operator.ways().all().iter().enumerate() {
            let pairs: Vec<(Cross, usize)> = FACTORS
                .into_iter()
                .filter(|&factor| self.is_crossed(place, factor))
                .flat_map(|factor| (0..self.values(factor)).map(move |value| (factor, value)))
                .collect();
            all += pairs.len();
            let (met, missing): (Vec<_>, Vec<_>) =
                pairs.into_iter().partition(|&(factor, value)| self.has(place, factor, value));
            let first = unmet.len();
            for (factor, value) in missing {
                let because = self.impossible(place, factor, value);
                let known = unmet[first..].iter_mut().find(|known: &&mut Unmet| known.because == because);
                let name = self.name(factor, value);
                match known {
                    Some(known) => known.values.push(name),
                    None => unmet.push(Unmet {
                        clause: way.clause,
                        way: way.text.clone(),
                        values: vec![name],
                        is_never_taken: met.is_empty(),
                        because,
                    }),
                }
            }
        }
        (all, unmet)
    }

    /// The met pairs that `cases/impossible.yaml` calls impossible: the clause, the way, the value and the
    /// reason. Each is a mistake in that file.
    pub fn refuted(&self) -> Vec<(usize, &str, String, &'static str)> {
        let mut refuted = Vec::new();
        for (place, way) in self.operator.ways().all().iter().enumerate() {
            for factor in FACTORS.into_iter().filter(|&factor| self.is_crossed(place, factor)) {
                let met = (0..self.values(factor)).filter(|&value| self.has(place, factor, value));
                refuted.extend(met.filter_map(|value| {
                    let because = self.impossible(place, factor, value)?;
                    Some((way.clause, way.text.as_str(), self.name(factor, value), because))
                }));
            }
        }
        refuted
    }

    /// Whether the values of a factor count for a way.
    fn is_crossed(&self, way: usize, factor: Cross) -> bool {
        // A desc of an unsupported type, rank or mode has none of the values.
        let has_none = || self.met[way][factor as usize] == 1 << NONE;
        match factor {
            // A type decides the width.
            Cross::Width | Cross::Question => false,
            Cross::Axis => self.clause(way).scope == Scope::Axis,
            Cross::Type | Cross::Rank => !self.is_decided(way, factor) && !has_none(),
            // Without modes, there is one setting, which has no name.
            Cross::Mode => self.modes.len() >= 2 && !has_none(),
        }
    }

    /// Whether a way's clause depends on this factor alone. A desc that breaks it has none of the values.
    pub(crate) fn is_decided(&self, way: usize, factor: Cross) -> bool {
        let field = match factor {
            Cross::Type | Cross::Width => ".DataType",
            Cross::Rank => ".DimensionCount",
            Cross::Mode | Cross::Axis | Cross::Question => return false,
        };
        let names = self.clause(way).expression.names();
        let fields: BTreeSet<&str> = names.into_iter().filter(|name| name.contains('.')).collect();
        fields.len() == 1 && fields.iter().all(|name| name.ends_with(field))
    }

    /// The clause that a way breaks.
    pub(crate) fn clause(&self, way: usize) -> &'lib Clause {
        &self.operator.clauses()[self.operator.ways().all()[way].clause]
    }

    /// The reason why no desc shows a way with a value of a factor, if one is known. A width is impossible if
    /// all types of this width are.
    pub(crate) fn impossible(&self, way: usize, factor: Cross, value: usize) -> Option<&'static str> {
        if factor == Cross::Width {
            let mut of_width =
                (0..self.types.len()).filter(|&place| width(self.types[place]) == Some(value)).peekable();
            let first = *of_width.peek()?;
            let reason = self.impossible(way, Cross::Type, first);
            return reason
                .filter(|_| of_width.all(|place| self.impossible(way, Cross::Type, place).is_some()));
        }
        let text = &self.operator.ways().all()[way].text;
        Impossible::reason(&self.clause(way).id, text, &self.name(factor, value))
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

/// The index of a type's width in `WIDTHS`.
pub(crate) fn width(data_type: DataType) -> Option<usize> {
    WIDTHS.iter().position(|&width| data_type.element_size() == Some(width))
}
