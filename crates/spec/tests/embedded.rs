//! The specs that the program carries are those of `spec/`, and they load, completely checked.

use std::{collections::BTreeSet, fs, path::Path};

use dmlcts_spec::Library;

#[test]
fn every_file_of_the_folder_is_embedded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec");
    let entries = fs::read_dir(folder).expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    let names = paths.filter(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    let files: BTreeSet<String> =
        names.map(|path| format!("spec/{}", path.file_name().unwrap_or_default().display())).collect();
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
