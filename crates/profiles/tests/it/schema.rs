//! The JSON Schema of profiles equals that of the form. `DMLCTS_BLESS=1 cargo test -p dmlcts-profiles` writes
//! it.

use dmlcts_profiles::ProfileForm;

use crate::blessed;

#[test]
fn the_schema_of_profiles_is_current() {
    blessed::compare::<ProfileForm>("cases/schema/profile.json");
}
