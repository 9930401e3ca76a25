//! The JSON Schema in `cases/schema/` equals that of the form. `DMLCTS_BLESS=1 cargo test -p dmlcts-generate
//! schema` writes it.

use dmlcts_generate::{
    ImpossibleForm, Suite,
    suite::SuiteForm,
    vectors::{Vectors, VectorsForm},
};

use crate::blessed;

#[test]
fn the_schema_of_suites_is_current() {
    blessed::compare::<SuiteForm>("cases/schema/suite.json");
}

#[test]
fn the_schema_of_impossible_pairs_is_current() {
    blessed::compare::<ImpossibleForm>("cases/schema/impossible.json");
}

#[test]
fn the_schema_of_vectors_is_current() {
    blessed::compare::<VectorsForm>("cases/schema/vectors.json");
}

#[test]
fn every_file_of_vectors_names_its_schema_and_itself() {
    let files = Vectors::embedded(dmlcts_spec::Library::embedded()).unwrap_or_else(|error| panic!("{error}"));
    for (file, (name, text)) in files.iter().zip(dmlcts_case_files::VECTORS) {
        assert_eq!(file.form().vectors, name);
        let modeline = "# yaml-language-server: $schema=../schema/vectors.json";
        assert_eq!(text.lines().next(), Some(modeline), "{name}");
        let license = format!("# SPDX-License-Identifier: {}", file.form().source.license);
        assert!(text.lines().any(|line| line == license), "{name}");
    }
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
