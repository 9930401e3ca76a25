//! The JSON Schema in `cases/schema/` is that of the form. `DMLCTS_BLESS=1 cargo test -p dmlcts-generate --test
//! schema` writes it anew.

use std::{fs, path::Path};

use dmlcts_generate::{Suite, suite::SuiteForm};
use schemars::SchemaGenerator;

#[test]
fn the_schema_of_suites_is_current() {
    let schema = SchemaGenerator::default().into_root_schema_for::<SuiteForm>();
    let generated = serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases/schema/suite.json");
    if std::env::var_os("DMLCTS_BLESS").is_some() {
        fs::create_dir_all(path.parent().expect("it has a folder")).expect("the folder can be made");
        fs::write(&path, &generated).expect("the schema can be written");
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == generated,
        "cases/schema/suite.json is not the schema of the form: run this test with DMLCTS_BLESS=1 and commit what it wrote"
    );
}

#[test]
fn every_suite_names_its_schema_and_itself() {
    for name in Suite::names() {
        let suite = Suite::load(name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(suite.name(), name);
        assert!(!suite.purpose().is_empty());
        let modeline = "# yaml-language-server: $schema=../schema/suite.json";
        assert_eq!(suite.source().text.lines().next(), Some(modeline), "{name}");
    }
}
