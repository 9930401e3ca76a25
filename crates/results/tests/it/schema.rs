//! The JSON Schema in `crates/results/schema/` equals that of the form. `DMLCTS_BLESS=1
//! cargo test -p dmlcts-results schema` writes it.

use dmlcts_results::Line;

use crate::blessed;

#[test]
fn the_schema_of_a_line_is_current() {
    blessed::compare::<Line<'static>>("crates/results/schema/line.json");
}
