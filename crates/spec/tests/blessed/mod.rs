//! Compares a committed JSON Schema with the one that its form generates, or writes it. Tests of other crates
//! with forms use it, too.

use std::{fs, path::Path};

use schemars::{JsonSchema, SchemaGenerator};

/// Compares the schema of a form with the file at `path`, relative to the root of the repository. With
/// `DMLCTS_BLESS`, writes the file first.
pub(crate) fn compare<T: JsonSchema>(path: &str) {
    let schema = SchemaGenerator::default().into_root_schema_for::<T>();
    let generated = serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n";
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    if std::env::var_os("DMLCTS_BLESS").is_some() {
        fs::create_dir_all(file.parent().expect("it has a folder")).expect("the folder can be made");
        fs::write(&file, &generated).expect("the schema can be written");
    }
    let committed = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        committed == generated,
        "{path} is not the schema of the form: run this test with DMLCTS_BLESS=1 and commit what it wrote"
    );
}
