//! The JSON Schemas in `crates/results/schema/` and `cases/schema/` equal those of the forms. `DMLCTS_BLESS=1
//! cargo test -p dmlcts-results --test schema` writes them.

#[path = "../../spec/tests/blessed/mod.rs"]
mod blessed;

use dmlcts_results::{LedgerForm, Line};

#[test]
fn the_schema_of_a_line_is_current() {
    blessed::compare::<Line<'static>>("crates/results/schema/line.json");
}

#[test]
fn the_schema_of_a_ledger_is_current() {
    blessed::compare::<LedgerForm>("cases/schema/ledger.json");
}
