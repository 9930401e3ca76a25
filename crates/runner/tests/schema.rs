//! The JSON Schema in `cases/schema/` is that of the form. `DMLCTS_BLESS=1 cargo test -p dmlcts-runner --test schema` writes
//! it anew.

#[path = "../../spec/tests/blessed/mod.rs"]
mod blessed;

use dmlcts_runner::KnownFailuresForm;

#[test]
fn the_schema_of_known_failures_is_current() {
    blessed::compare::<KnownFailuresForm>("cases/schema/known-failures.json");
}
