//! A suite applied to a spec: a stream of cases in which any index can be asked for.

use dmlcts_model::Case;
use dmlcts_spec::Library;

use crate::{
    strategy::Generator,
    suite::{PartForm, Strategy, Suite, SuiteError},
};

/// How many cases there are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Length {
    /// So many.
    Finite(u128),
    /// One after the other, without end.
    Endless,
}

impl Length {
    /// Whether there is a case at this index.
    pub fn contains(self, index: u128) -> bool {
        match self {
            Self::Finite(length) => index < length,
            Self::Endless => true,
        }
    }
}

impl std::fmt::Display for Length {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Finite(length) => length.fmt(f),
            Self::Endless => f.write_str("endless"),
        }
    }
}

/// A suite applied to a spec. Case `index` depends on the spec, the suite, the seed and `index` alone, and
/// can be asked for by several threads at once.
pub struct Expansion<'lib> {
    library: &'lib Library,
    suite: Suite,
    seed: u64,
    parts: Vec<Part<'lib>>,
}

/// One part of an expansion.
pub struct Part<'lib> {
    form: PartForm,
    generator: Box<dyn Generator + 'lib>,
}

impl Part<'_> {
    /// The part's name in the suite.
    pub fn id(&self) -> &str {
        &self.form.id
    }

    /// How it expands.
    pub fn strategy(&self) -> Strategy {
        self.form.strategy
    }

    /// What was written.
    pub fn form(&self) -> &PartForm {
        &self.form
    }

    /// How many cases it has. The first call may search, for milliseconds (smoke) up to seconds (the largest
    /// suites).
    pub fn length(&self) -> Length {
        self.generator.length()
    }

    /// What the search did not find, one sentence each: a clause that never breaks alone within the bounds,
    /// say. Empty for most parts.
    pub fn remarks(&self) -> Vec<String> {
        self.generator.remarks()
    }
}

impl<'lib> Expansion<'lib> {
    pub(crate) fn new(suite: &Suite, library: &'lib Library, seed: u64) -> Result<Self, SuiteError> {
        Ok(Self { library, suite: suite.clone(), seed, parts: Vec::new() })
    }

    /// The spec that the cases come from.
    pub fn library(&self) -> &'lib Library {
        self.library
    }

    /// The suite that was expanded.
    pub fn suite(&self) -> &Suite {
        &self.suite
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The parts, in the order in which their cases come.
    pub fn parts(&self) -> &[Part<'lib>] {
        &self.parts
    }

    /// How many cases there are in all; saturates at `u128::MAX`.
    pub fn length(&self) -> Length {
        self.parts.iter().fold(Length::Finite(0), |sum, part| match (sum, part.length()) {
            (Length::Finite(sum), Length::Finite(length)) => Length::Finite(sum.saturating_add(length)),
            _ => Length::Endless,
        })
    }

    /// The part that holds an index, and the index within the part; `None` past the end. Searches only in
    /// the parts up to that one.
    pub fn locate(&self, index: u128) -> Option<(&Part<'lib>, u128)> {
        let mut within = index;
        for part in &self.parts {
            match part.length() {
                Length::Finite(length) if within >= length => within -= length,
                _ => return Some((part, within)),
            }
        }
        None
    }

    /// Writes the case at an index over `case`, reusing its memory, and says which strategy made it. `None`
    /// past the end, with `case` as it was.
    pub fn case(&self, index: u128, case: &mut Case) -> Option<Strategy> {
        let (part, within) = self.locate(index)?;
        part.generator.case(within, case);
        Some(part.form.strategy)
    }

    /// A case to hand to [`Expansion::case`]; `None` where the spec has no operators.
    pub fn blank(&self) -> Option<Case> {
        crate::strategy::blank(self.library)
    }
}
