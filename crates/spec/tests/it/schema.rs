//! The JSON Schemas in `spec/schema/` equal those of the forms. `DMLCTS_BLESS=1 cargo test -p dmlcts-spec
//! schema` writes them.

use dmlcts_spec::form::{CommonForm, OperatorForm};

use crate::blessed;

#[test]
fn the_schema_of_operators_is_current() {
    blessed::compare::<OperatorForm>("spec/schema/operator.json");
}

#[test]
fn the_schema_of_what_they_share_is_current() {
    blessed::compare::<CommonForm>("spec/schema/common.json");
}

#[test]
fn every_spec_names_its_schema() {
    for source in dmlcts_spec::Library::embedded_sources() {
        let schema = if source.name == "spec/common.yaml" { "common" } else { "operator" };
        let modeline = format!("# yaml-language-server: $schema=schema/{schema}.json");
        assert_eq!(source.text.lines().next(), Some(modeline.as_str()), "{}", source.name);
    }
}
