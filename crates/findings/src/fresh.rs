//! Fresh cases of one operator, which no suite has: random shapes, larger tensors and other layouts.

use dmlcts_generate::{
    Expansion, Length, Suite, SuiteError,
    draw::{Draws, derive},
};
use dmlcts_model::Case;
use dmlcts_spec::{Library, Operator, Source};

/// A stream of fresh cases.
pub struct Fresh<'lib> {
    cases: Expansion<'lib>,
    draws: Draws,
}

impl<'lib> Fresh<'lib> {
    /// The fresh cases of an operator and a seed.
    pub fn new(library: &'lib Library, operator: &Operator, seed: u64) -> Result<Self, SuiteError> {
        let name = operator.name();
        let suite = format!(
            "suite: fresh\npurpose: Fresh cases.\nparts:\n  \
             - {{id: small, strategy: random, operators: [{name}], count: 1000000}}\n  \
             - {{id: larger, strategy: random, operators: [{name}], elements: 1024, count: 1000000}}\n  \
             - {{id: layouts, strategy: layout, operators: [{name}], count: 1000000}}\n"
        );
        let seed = derive(seed, "fresh cases");
        let cases = Suite::parse(&Source::new("fresh", suite))?.expand(library, seed)?;
        Ok(Self { cases, draws: Draws::new(seed) })
    }
}

impl Iterator for Fresh<'_> {
    type Item = Case;

    /// The next case; `None` if the operator has none.
    fn next(&mut self) -> Option<Case> {
        let part = self.draws.pick(self.cases.parts())?;
        let Length::Finite(length) = part.length() else { return None };
        let mut case = self.cases.blank()?;
        part.case(self.draws.below(length as u64).into(), &mut case).then_some(case)
    }
}
