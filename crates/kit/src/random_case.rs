//! Cases from numbers. Random descs are almost never valid, and would test little but refusals. So the
//! generator draws a valid or open case, and half of the cases are then mutated.

use std::sync::LazyLock;

use dmlcts_generate::{Expansion, Suite, draw::Draws, mutate};
use dmlcts_model::Case;
use dmlcts_spec::{Library, Source};

/// The generator's random cases of every operator, type, rank and layout.
const SUITE: &str = "\
suite: arbitrary
purpose: A case for every number.
parts:
  - id: random
    strategy: random
";

static CASES: LazyLock<Expansion<'static>> = LazyLock::new(|| {
    let suite = Suite::parse(&Source::new("arbitrary.yaml", SUITE)).map_err(Into::into);
    suite
        .and_then(|suite| suite.expand(Library::embedded(), 0))
        .unwrap_or_else(|error| panic!("the suite `arbitrary` does not expand: {error}"))
});

/// The case of one of the embedded operators with this number, changed as often as `mutations` says.
pub(crate) fn random_case(index: u64, mutations: u32, seed: u64) -> Option<Case> {
    let mut case = CASES.blank()?;
    CASES.case(index.into(), &mut case)?;
    let mut draws = Draws::new(seed);
    for _ in 0..mutations {
        mutate(&mut case, &mut draws);
    }
    Some(case)
}
