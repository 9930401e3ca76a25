//! Cases from bytes. Random descs are almost never valid, and would test little but refusals. So the
//! generator draws a valid or open case, and half of the cases are then mutated.

use std::sync::LazyLock;

use arbitrary::{Error, Result, Unstructured};
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

/// A case of one of the embedded operators.
pub fn arbitrary_case(bytes: &mut Unstructured<'_>) -> Result<Case> {
    let mut case = CASES.blank().ok_or(Error::IncorrectFormat)?;
    let index: u64 = bytes.arbitrary()?;
    CASES.case(index.into(), &mut case).ok_or(Error::IncorrectFormat)?;
    let mutations = if bytes.ratio(1, 2)? { bytes.int_in_range(1..=3)? } else { 0 };
    let mut draws = Draws::new(bytes.arbitrary()?);
    for _ in 0..mutations {
        mutate(&mut case, &mut draws);
    }
    Ok(case)
}
