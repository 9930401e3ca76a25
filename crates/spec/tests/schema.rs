//! The JSON Schemas in `spec/schema/` are those of the forms. `DMLCTS_BLESS=1 cargo test -p dmlcts-spec --test
//! schema` writes them anew.

use std::{fs, path::Path};

use dmlcts_spec::form::{CommonForm, OperatorForm};
use schemars::{JsonSchema, SchemaGenerator};

fn compare<T: JsonSchema>(name: &str) {
    let schema = SchemaGenerator::default().into_root_schema_for::<T>();
    let generated = serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/schema").join(name);
    if std::env::var_os("DMLCTS_BLESS").is_some() {
        fs::create_dir_all(path.parent().expect("it has a folder")).expect("the folder can be made");
        fs::write(&path, &generated).expect("the schema can be written");
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == generated,
        "spec/schema/{name} is not the schema of the form: run this test with DMLCTS_BLESS=1 and commit what it wrote"
    );
}

#[test]
fn the_schema_of_operators_is_current() {
    compare::<OperatorForm>("operator.json");
}

#[test]
fn the_schema_of_what_they_share_is_current() {
    compare::<CommonForm>("common.json");
}

#[test]
fn every_spec_names_its_schema() {
    for source in dmlcts_spec::Library::embedded_sources() {
        let schema = if source.name == "spec/common.yaml" { "common" } else { "operator" };
        let modeline = format!("# yaml-language-server: $schema=schema/{schema}.json");
        assert_eq!(source.text.lines().next(), Some(modeline.as_str()), "{}", source.name);
    }
}
