//! The JSON Schemas in `cases/schema/` equal those of the forms. `DMLCTS_BLESS=1 cargo test -p dmlcts-runner
//! schema` writes them.

use dmlcts_runner::{KnownFailuresForm, ProfileForm};

use crate::blessed;

#[test]
fn the_schema_of_known_failures_is_current() {
    blessed::compare::<KnownFailuresForm>("cases/schema/known-failures.json");
}

#[test]
fn the_schema_of_profiles_is_current() {
    blessed::compare::<ProfileForm>("cases/schema/profile.json");
}
