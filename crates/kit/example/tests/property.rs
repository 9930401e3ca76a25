use dmlcts_kit::{case, check};
use dmlcts_kit_example::Slices;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn agrees_with_the_spec(case in case()) {
        check(&case, &mut Slices::open().map_err(TestCaseError::fail)?)?;
    }
}
