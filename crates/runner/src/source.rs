//! Where cases come from: a stream that any thread can enter anywhere.

use dmlcts_model::Case;

/// A stream of cases by index. Case `i` is the same whoever asks, and in whatever order.
pub trait Source: Send + Sync {
    /// How many cases there are; `None` where they never end.
    fn count(&self) -> Option<u64>;

    /// The names of the strategies that [`Cursor::read`] refers to.
    fn strategies(&self) -> Vec<String>;

    /// A reader for one thread, with the memory that it needs.
    fn cursor(&self) -> Box<dyn Cursor + '_>;
}

/// One thread's reader of a [`Source`].
pub trait Cursor {
    /// Writes the case at an index below [`Source::count`] over `case`, and returns the place of its strategy
    /// in [`Source::strategies`].
    fn read(&mut self, index: u64, case: &mut Case) -> usize;
}

/// Cases that somebody listed.
#[derive(Debug, Clone)]
pub struct Listed {
    cases: Vec<Case>,
    strategy: String,
}

impl Listed {
    /// These cases, in this order; summaries call them by `strategy`.
    pub fn new(cases: Vec<Case>, strategy: impl Into<String>) -> Self {
        Self { cases, strategy: strategy.into() }
    }
}

impl Source for Listed {
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
