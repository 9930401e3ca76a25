//! Cases as a strategy of proptest, which shrinks them as `dmlcts run` does.

use std::{fmt, ops::Deref};

use dmlcts_generate::smaller;
use dmlcts_model::{Case, FeatureLevel};
use dmlcts_spec::Library;
use proptest::{
    prelude::RngExt as _,
    strategy::{NewTree, Strategy, ValueTree},
    test_runner::TestRunner,
};

use crate::random_case::random_case;

/// Valid, open and invalid cases of the generator. Half of them are changed at random. A failing case shrinks
/// to a simpler one that breaks the same clauses. In `Cargo.toml`, with the lines of the gate:
///
/// ```toml
/// [dev-dependencies]
/// dmlcts-kit = { git = "https://example.org/dmlcts.git", tag = "v0.1.0", features = ["proptest"] }
/// proptest = "1"
/// ```
///
/// A test, such as `tests/property.rs`:
///
/// ```
/// use dmlcts_kit::{case, check};
/// # use dmlcts_reference::Reference as Gpu;
/// use proptest::prelude::*;
///
/// proptest! {
///     # /*
///     #[test]
///     # */
///     fn agrees_with_the_spec(case in case()) {
///         check(&case, &mut Gpu::new())?;
///     }
/// }
/// # agrees_with_the_spec();
/// ```
///
/// proptest tries 256 cases. A case takes microseconds: `PROPTEST_CASES=10000` tries more.
pub fn case() -> AnyCase {
    case_at(FeatureLevel::NEWEST)
}

/// [`case()`] for a backend with an older feature level. A failing case shrinks to a simpler one that breaks
/// the same clauses at this level.
pub fn case_at(level: FeatureLevel) -> AnyCase {
    AnyCase { level }
}

/// The strategy of [`case()`] and [`case_at`].
#[derive(Clone, Copy, Debug)]
pub struct AnyCase {
    level: FeatureLevel,
}

/// A case that proptest prints as its line, which `dmlcts run` takes.
#[derive(Clone, PartialEq, Eq)]
pub struct CaseLine(pub Case);

impl Deref for CaseLine {
    type Target = Case;

    fn deref(&self) -> &Case {
        &self.0
    }
}

impl fmt::Debug for CaseLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Strategy for AnyCase {
    type Tree = CaseTree;
    type Value = CaseLine;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let numbers = runner.rng();
        let mutations = if numbers.random_bool(0.5) { numbers.random_range(1..=3) } else { 0 };
        let case = random_case(numbers.random(), mutations, numbers.random());
        let case = case.ok_or("the generator has no such case")?;
        let smaller = Box::new(simpler(&case, self.level));
        Ok(CaseTree { level: self.level, smaller, failed: case.clone(), current: case })
    }
}

/// A case, and the simpler ones that were not tried yet. A simpler case breaks the same clauses.
pub struct CaseTree {
    level: FeatureLevel,
    /// The smallest case that failed.
    failed: Case,
    /// The case that is tried.
    current: Case,
    /// Simpler cases than the one that failed.
    smaller: Box<dyn Iterator<Item = Case>>,
}

impl fmt::Debug for CaseTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CaseTree").field(&self.current()).finish()
    }
}

impl ValueTree for CaseTree {
    type Value = CaseLine;

    fn current(&self) -> CaseLine {
        CaseLine(self.current.clone())
    }

    /// The current case failed: tries the first simpler one.
    fn simplify(&mut self) -> bool {
        self.failed.clone_from(&self.current);
        self.smaller = Box::new(simpler(&self.failed, self.level));
        self.complicate()
    }

    /// The current case passed: tries the next one, or ends with the one that failed.
    fn complicate(&mut self) -> bool {
        let next = self.smaller.next();
        let is_there = next.is_some();
        self.current = next.unwrap_or_else(|| self.failed.clone());
        is_there
    }
}

fn simpler(case: &Case, level: FeatureLevel) -> impl Iterator<Item = Case> + use<> {
    smaller(case, Library::embedded(), level)
}

#[cfg(test)]
mod tests {
    use dmlcts_backend::{Capabilities, Operators, Refusal, RunError};
    use dmlcts_generate::shrink;
    use dmlcts_model::{BindingOffsets, Desc};
    use dmlcts_reference::{Operator, Reference};
    use proptest::test_runner::{Config, RngSeed, TestError, TestRunner};

    use super::*;
    use crate::check;

    /// A backend that computes a wrong first byte for a window stride below -1.
    #[derive(Default)]
    struct Wrong(Reference);

    impl Operators for Wrong {
        type Operator = (Operator, bool);

        fn capabilities(&self) -> &Capabilities {
            self.0.capabilities()
        }

        fn set_feature_level(&mut self, level: FeatureLevel) {
            self.0.set_feature_level(level);
        }

        fn create(&mut self, desc: &Desc) -> Result<Self::Operator, Refusal> {
            let strides = desc.list("InputWindowStrides");
            let is_wrong = strides.is_some_and(|strides| strides.iter().any(|stride| *stride < -1));
            Ok((self.0.create(desc)?, is_wrong))
        }

        fn run(
            &mut self,
            (operator, is_wrong): &mut Self::Operator,
            binding: BindingOffsets,
            input: &[u8],
            output: &mut [u8],
        ) -> Result<(), RunError> {
            self.0.run(operator, binding, input, output)?;
            if *is_wrong {
                output[0] ^= 1;
            }
            Ok(())
        }
    }

    #[test]
    fn the_reference_agrees_with_the_spec() {
        let checked = TestRunner::deterministic().run(&case(), |case| {
            check(&case, &mut Reference::new())?;
            Ok(())
        });
        assert_eq!(checked, Ok(()));
    }

    #[test]
    fn a_fault_shrinks_to_its_smallest_case() {
        let mut runner = TestRunner::new(Config {
            failure_persistence: None,
            rng_seed: RngSeed::Fixed(1),
            ..Config::default()
        });
        let Err(TestError::Fail(reason, small)) = runner.run(&case(), |case| {
            check(&case, &mut Wrong::default())?;
            Ok(())
        }) else {
            panic!("the fault was not found");
        };
        assert_eq!(
            format!("{small:?}"),
            "SLICE1 FLOAT32 in=1 out=1 InputWindowOffsets=0 InputWindowSizes=1 InputWindowStrides=-2 fill=iota"
        );
        assert!(reason.message().contains("byte 0 of the output"), "{reason}");
    }

    #[test]
    fn a_case_shrinks_as_in_a_run() {
        let old = "2.1".parse().expect("a feature level");
        for level in [old, FeatureLevel::NEWEST] {
            let mut fails = |case: &Case| check(case, &mut Wrong::default()).is_err();
            let (mut runner, mut shrunk) = (TestRunner::deterministic(), 0);
            for _ in 0..200 {
                let mut tree = case_at(level).new_tree(&mut runner).expect("a case");
                let first = tree.current();
                if !fails(&first) {
                    continue;
                }
                // As proptest does.
                while if fails(&tree.current()) { tree.simplify() } else { tree.complicate() } {}
                let wanted = shrink(&first, Library::embedded(), level, usize::MAX, &mut fails);
                assert_eq!(format!("{:?}", tree.current()), wanted.to_string());
                shrunk += usize::from(wanted != *first);
            }
            assert!(shrunk > 5, "{level}: {shrunk}");
        }
    }
}
