//! `cases/suites/<name>.yaml` as plain structs: what can be written, field by field. Unknown keys are denied,
//! and no form is tagged, untagged or flattened, so that a mistake keeps its place.

use schemars::JsonSchema;
use serde::Deserialize;

/// A named recipe: the parts of a suite, in the order in which they run.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuiteForm {
    /// The suite's name, which is the file's too.
    pub suite: String,
    /// What the suite is for, and when to run it.
    pub purpose: String,
    /// What it expands to.
    pub parts: Vec<PartForm>,
}

/// One strategy at work within bounds.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartForm {
    /// Lower case, words joined by hyphens; unique in the file. Part of every seed that the part draws from.
    pub id: String,
    /// Which way to expand.
    pub strategy: Strategy,
    /// What the part is for.
    #[serde(default)]
    pub note: Option<String>,
    /// The operators; all where absent.
    #[serde(default)]
    pub operators: Option<Vec<String>>,
    /// How many dimensions; all that are supported where absent.
    #[serde(default)]
    pub ranks: Option<RanksForm>,
    /// The data types; all that are supported where absent.
    #[serde(default)]
    pub types: Option<Vec<String>>,
    /// What the inputs hold, each in turn: `iota`, `coordinates`, `random`, `special`. Where absent, random
    /// parts draw one, and others use `coordinates`.
    #[serde(default)]
    pub fills: Option<Vec<FillForm>>,
    /// `random` and `layout`: how many cases; without end where absent.
    #[serde(default)]
    pub count: Option<u64>,
    /// `negative`: how many descs to find for each clause, their valid twins not counted. `boundary`: how many for each comparison, variable
    /// and side. 4 where absent.
    #[serde(default)]
    pub each: Option<u32>,
    /// `covering`: how many values meet in every combination, from 2 to 4; 2 where absent.
    #[serde(default)]
    pub strength: Option<u32>,
    /// `random` and `layout`: how many elements a tensor has at most; 64 where absent.
    #[serde(default)]
    pub elements: Option<u32>,
    /// `exhaustive`: what every axis keeps. Where absent, nothing bounds the search, which is an error.
    #[serde(default)]
    pub bounds: Option<Vec<BoundForm>>,
}

/// A range of ranks, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RanksForm {
    /// At least so many dimensions.
    pub min: u32,
    /// At most so many.
    pub max: u32,
}

/// One bound.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoundForm {
    /// The operator that it bounds; where absent, all that have the names in it.
    #[serde(default)]
    pub operator: Option<String>,
    /// A condition in the language of the specs that every axis must keep, such as `InputTensor.Sizes <= 8`. On
    /// an axis, a list stands for its value there.
    pub that: String,
}

/// A way to expand a spec to cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Strategy {
    /// Every example of every page, on every type and rank that can hold it.
    Documented,
    /// Every valid desc within bounds.
    Exhaustive,
    /// At equality and one step to each side of every comparison, and where a sum would wrap around.
    Boundary,
    /// For each clause, descs that break it and as little else as can be, each with a valid twin.
    Negative,
    /// Every few values of type, rank, mode, fill, layout and class of an axis together in some case.
    Covering,
    /// Seeded draws, valid by construction.
    Random,
    /// Strides, padded rows, broadcasts, permutations and binding offsets.
    Layout,
    /// Sizes at the limits of dispatches, counters and memory.
    Large,
}

impl Strategy {
    /// Every strategy, in the order of the documentation.
    pub const ALL: [Self; 8] = [
        Self::Documented,
        Self::Exhaustive,
        Self::Boundary,
        Self::Negative,
        Self::Covering,
        Self::Random,
        Self::Layout,
        Self::Large,
    ];

    /// As suites and the command line spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Documented => "documented",
            Self::Exhaustive => "exhaustive",
            Self::Boundary => "boundary",
            Self::Negative => "negative",
            Self::Covering => "covering",
            Self::Random => "random",
            Self::Layout => "layout",
            Self::Large => "large",
        }
    }

    /// The strategy of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|strategy| strategy.name() == name)
    }
}

impl std::fmt::Display for Strategy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A kind of fill; what a seed is for, the case draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FillForm {
    /// 1, 2, 3 …
    Iota,
    /// Each element's own index; one case for each pass that the type needs.
    Coordinates,
    /// Every bit drawn.
    Random,
    /// NaNs with payloads, infinities, −0, denormals, extremes.
    Special,
}
