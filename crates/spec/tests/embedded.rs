//! The specs that the program carries are those of `spec/`, and they load, completely checked.

use std::{collections::BTreeSet, fs, path::Path};

use dmlcts_spec::Library;

#[test]
fn every_file_of_the_folder_is_embedded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec");
    let entries = fs::read_dir(folder).expect("the folder is there");
    let names = entries.map(|entry| entry.expect("it can be read").file_name().into_string().expect("text"));
    let files: BTreeSet<String> =
        names.filter(|name| name.ends_with(".yaml")).map(|name| format!("spec/{name}")).collect();
    let sources = Library::embedded_sources();
    assert_eq!(sources.iter().map(|source| source.name.clone()).collect::<BTreeSet<_>>(), files);
    assert_eq!(sources[0].name, "spec/common.yaml");
}

#[test]
fn embedded_specs_pass_every_check() {
    match Library::load(&Library::embedded_sources()) {
        Ok(library) => {
            let names: Vec<&str> = library.operators().iter().map(dmlcts_spec::Operator::name).collect();
            assert_eq!(names, ["SLICE", "SLICE1", "PADDING1"], "oldest first");
        }
        Err(error) => panic!("{error}"),
    }
}
