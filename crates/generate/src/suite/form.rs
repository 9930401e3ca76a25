//! `cases/suites/<name>.yaml` as plain structs, field by field. Unknown keys are denied, and no form is a
//! tagged, untagged or flattened enum, so that every mistake has a position.

use dmlcts_model::named_enum;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Order;

/// A named recipe: the parts of a suite.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuiteForm {
    /// The suite's name, which is also the file's.
    pub suite: String,
    /// The purpose of the suite, and when to run it.
    pub purpose: String,
    /// The order of the cases; by default `sequential`.
    #[serde(default)]
    pub order: Order,
    /// The parts of the suite.
    pub parts: Vec<PartForm>,
}

/// One strategy within bounds.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartForm {
    /// Lower-case words joined by hyphens; unique in the file. Every seed of the part depends on it.
    pub id: String,
    /// The strategy that generates the cases.
    pub strategy: Strategy,
    /// The purpose of the part.
    pub note: Option<String>,
    /// The operators; by default all.
    pub operators: Option<Vec<String>>,
    /// The numbers of dimensions; by default all that are supported.
    pub ranks: Option<RanksForm>,
    /// The data types; by default all that are supported.
    pub types: Option<Vec<String>>,
    /// The fills of the inputs, in turn: `iota`, `coordinates`, `random`, `special`. By default, random parts
    /// draw any of them, and other parts use `coordinates`.
    pub fills: Option<Vec<FillForm>>,
    /// `random`, `layout` and `mutated`: the number of cases; by default without end.
    pub count: Option<u64>,
    /// `negative`: the factors whose every value occurs with every way to break a clause. The default is
    /// `type`, `mode`, `rank`, `axis` and `question`.
    pub cross: Option<Vec<Cross>>,
    /// `boundary`: the number of cases for each comparison, variable and side. The default is 4. `large`: the
    /// largest number of cases for each limit, mode and tensor. By default, all. `twins`: the number of twins
    /// for each mode and kind of change. The default is 4.
    pub each: Option<u32>,
    /// `covering`: the number of values that occur in every combination, from 2 to 4. The default is 2.
    pub strength: Option<u32>,
    /// The largest number of elements of a tensor. `random` and `layout`: the default is 64. `large`: by
    /// default, any number; tensors of 2^31 elements or more occur in any case, and are only created.
    pub elements: Option<u32>,
    /// `large`: only lengths and products above this number of elements.
    pub beyond: Option<u32>,
    /// `exhaustive`: the conditions on every axis. They are required, because the search is otherwise
    /// unbounded.
    pub bounds: Option<Vec<BoundForm>>,
}

/// A range of ranks, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RanksForm {
    /// The least number of dimensions.
    pub min: u32,
    /// The greatest number of dimensions.
    pub max: u32,
}

/// One bound.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoundForm {
    /// The operator that it bounds; by default all that have the names in it.
    pub operator: Option<String>,
    /// A condition on every axis, in the language of the specs, such as `InputTensor.Sizes <= 8`. A list's
    /// name means its value on the axis.
    pub that: String,
}

named_enum! {
    /// A way to expand a spec to cases.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum Strategy: name, from_name {
        /// Every example of every page, on every type and rank that can hold it.
        Documented = "documented",
        /// Every valid desc within bounds.
        Exhaustive = "exhaustive",
        /// At equality and one step to each side of every comparison, and where a sum would wrap around.
        Boundary = "boundary",
        /// For each clause, descs that break it and as little else as can be, each with a valid twin.
        Negative = "negative",
        /// Every few values of type, rank, mode, fill, layout and class of an axis together in some case.
        Covering = "covering",
        /// Seeded draws, valid by construction.
        Random = "random",
        /// Strides, padded rows, broadcasts, permutations and binding offsets.
        Layout = "layout",
        /// Sizes at the limits of dispatches, counters and memory.
        Large = "large",
        /// Valid descs with twins that differ in one respect: a value, a type, a special scalar.
        Twins = "twins",
        /// The test vectors of other projects, as they are.
        Vectors = "vectors",
        /// One to three random changes to a case of the parts before.
        Mutated = "mutated",
    }
}

/// A factor that negative cases are crossed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Cross {
    /// The data type of the tensors.
    Type,
    /// The width of the data type: 1, 2, 4 or 8 bytes.
    Width,
    /// The value of each enumeration.
    Mode,
    /// The number of dimensions.
    Rank,
    /// The axis where the clause is broken: the first, an inner one, or the last.
    Axis,
    /// The questions that the desc raises besides. They are crossed with clauses, whatever the way.
    Question,
}

impl std::fmt::Display for Strategy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A kind of fill. If it needs a seed, the case draws one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FillForm {
    /// 1, 2, 3 …
    Iota,
    /// Each element's own index, with one case for each pass that the type needs.
    Coordinates,
    /// Random bits.
    Random,
    /// NaNs with payloads, infinities, −0, denormals, extremes.
    Special,
}

impl FillForm {
    pub(crate) const ALL: [Self; 4] = [Self::Iota, Self::Coordinates, Self::Random, Self::Special];
}
