//! Sources of cases: streams that any thread can read from any index.

use dmlcts_generate::{Expansion, Length, Order, Part, Sequence, suite::Strategy};
use dmlcts_model::{Case, FeatureLevel};
use dmlcts_spec::{Predicate, Scratch, program::Values};

/// A stream of cases by index. Case `i` is the same for every reader, in any order of reading.
pub trait CaseSource: Send + Sync {
    /// The number of cases; `None` for an endless stream.
    fn count(&self) -> Option<u64>;

    /// The names of the strategies that [`Cursor::read`] refers to.
    fn strategies(&self) -> Vec<String>;

    /// Makes a reader for one thread, with the memory that it needs.
    fn cursor(&self) -> Box<dyn Cursor + '_>;
}

/// One thread's reader of a [`CaseSource`].
pub trait Cursor {
    /// Writes the case at an index below [`CaseSource::count`] over `case`. Returns the index of its strategy
    /// in [`CaseSource::strategies`].
    fn read(&mut self, index: u64, case: &mut Case) -> usize;
}

/// A fixed list of cases.
#[derive(Debug, Clone)]
pub struct Listed {
    cases: Vec<Case>,
    strategy: String,
}

impl Listed {
    /// These cases, in this order. Summaries name their strategy `strategy`.
    pub fn new(cases: Vec<Case>, strategy: impl Into<String>) -> Self {
        Self { cases, strategy: strategy.into() }
    }
}

impl CaseSource for Listed {
    fn count(&self) -> Option<u64> {
        Some(self.cases.len() as u64)
    }

    fn strategies(&self) -> Vec<String> {
        vec![self.strategy.clone()]
    }

    fn cursor(&self) -> Box<dyn Cursor + '_> {
        Box::new(self.cases.as_slice())
    }
}

impl Cursor for &[Case] {
    fn read(&mut self, index: u64, case: &mut Case) -> usize {
        let listed = &self[index as usize];
        case.desc.clone_from(&listed.desc);
        case.binding = listed.binding;
        case.fill.clone_from(&listed.fill);
        0
    }
}

/// All parts of a suite, or some of them.
pub struct SuiteSource {
    expansion: Expansion<'static>,
    sequence: Sequence,
}

impl SuiteSource {
    /// The parts that these strategies make. Without strategies, all parts. No other part is searched.
    pub fn new(expansion: Expansion<'static>, strategies: &[Strategy]) -> Self {
        Self::in_order(None, expansion, strategies, (None, None))
    }

    /// As [`Self::new`], in this order or else in that of the suite. The order by obligations begins with
    /// cases that this filter and this feature level do not leave out.
    pub fn in_order(
        order: Option<Order>,
        expansion: Expansion<'static>,
        strategies: &[Strategy],
        (filter, level): (Option<&Predicate>, Option<FeatureLevel>),
    ) -> Self {
        let (newest, library) = (FeatureLevel::NEWEST, expansion.library());
        let (mut values, mut scratch) = (Values::default(), Scratch::default());
        let runs = |case: &Case| {
            filter.is_none_or(|filter| filter.holds(case, newest, &mut values))
                && level.is_none_or(|level| {
                    let operator = library.operator(&case.desc.signature.operator);
                    operator.is_some_and(|operator| {
                        operator.judge_valid(&case.desc, level, &mut scratch).is_ok()
                            || operator.judge_valid(&case.desc, newest, &mut scratch).is_err()
                    })
                })
        };
        let is_chosen = |part: &Part<'_>| strategies.is_empty() || strategies.contains(&part.strategy());
        let sequence = expansion.sequence_of(order, is_chosen, runs);
        Self { expansion, sequence }
    }

    /// The expanded suite.
    pub fn expansion(&self) -> &Expansion<'static> {
        &self.expansion
    }
}

impl std::fmt::Debug for SuiteSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SuiteSource").field("sequence", &self.sequence).finish_non_exhaustive()
    }
}

impl CaseSource for SuiteSource {
    fn count(&self) -> Option<u64> {
        match self.sequence.length() {
            // A suite of more than 2^64 cases counts as endless.
            Length::Finite(length) => u64::try_from(length).ok(),
            Length::Endless => None,
        }
    }

    fn strategies(&self) -> Vec<String> {
        Strategy::ALL.iter().map(|strategy| strategy.name().to_owned()).collect()
    }

    fn cursor(&self) -> Box<dyn Cursor + '_> {
        Box::new(self)
    }
}

impl Cursor for &SuiteSource {
    fn read(&mut self, index: u64, case: &mut Case) -> usize {
        let Some((part, within)) = self.sequence.place(index.into()) else { return 0 };
        let part = &self.expansion.parts()[part];
        part.case(within, case);
        part.strategy() as usize
    }
}
